# SPDX-License-Identifier: MIT
"""``evalio run -p svnicp`` with the real evalio, on a small dataset that the test makes."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from odometry_cases import drive
from svnicp.data.trajectory import Trajectory
from svnicp.evaluation.truth_file import Truth
from svnicp.peers.peer import PeerRun
from svnicp.peers.row import evaluate_run

evalio = pytest.importorskip("evalio", reason="pip install evalio")

TESTS = Path(__file__).parent
NUM_SCANS = 20
MODULES = "svnicp.peers.evalio_pipeline,evalio_case"
"""What evalio imports; its flag -M comes too late for the names after -p and -d."""
PROGRAM = """
import importlib.util
if importlib.util.find_spec("rerun"):
    import rerun.datatypes  # rerun 0.41 calls itself without end when evalio asks for it first
from evalio.cli import app
app()
"""


def run_evalio(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", PROGRAM, *words]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(TESTS), "COLUMNS": "200", "EVALIO_CUSTOM": MODULES},
    )  # fmt: skip


def read_poses(path: Path) -> Trajectory:
    """Read the csv that evalio writes: comments, then sec, nsec, x, y, z and the quaternion."""
    found = evalio.types.Trajectory.from_file(path)
    assert isinstance(found, evalio.types.Trajectory), found
    stamps_ns = np.array([stamp.to_nsec() for stamp in found.stamps], dtype=np.int64)
    return Trajectory(stamps_ns, np.array([pose.to_mat() for pose in found.poses]))


def assert_near_the_truth(path: Path, fewest: int) -> None:
    """Check the poses that evalio has written against the truth."""
    assert "status: complete" in path.read_text().lower()
    poses = read_poses(path)
    assert fewest <= len(poses) <= NUM_SCANS
    truth = Truth(drive(2.0, 0.8).ground_truth, np.eye(4))
    found = evaluate_run(PeerRun(poses.stamps_ns, poses.T_world_body, np.ones(1)), truth)
    assert found.ape_origin is not None
    assert found.ape_origin.translation.rmse < 0.03
    assert found.true_path_m > 0.5


def test_evalio_runs_ours(tmp_path):
    """``evalio run -p svnicp`` writes poses by LiDAR and IMU within centimetres of the truth."""
    words = ("-d", "simulated_room/ride", "-p", "svnicp", "-o", str(tmp_path))
    done = run_evalio("-D", str(tmp_path), "run", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert_near_the_truth(tmp_path / "simulated_room" / "ride" / "svnicp.csv", 10)


def test_evalio_runs_ours_from_a_file(tmp_path):
    """Parameters in evalio's own YAML are taken: here, the LiDAR alone."""
    experiment = tmp_path / "alone.yaml"
    experiment.write_text(
        "datasets: [{name: simulated_room/ride}]\n"
        "pipelines: [{pipeline: svnicp, name: alone, use_imu: false, num_particles: 20}]\n"
    )
    done = run_evalio("-D", ".", "run", "-c", str(experiment), cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    results = tmp_path / "evalio_results" / "alone" / "simulated_room" / "ride"
    assert_near_the_truth(results / "alone.csv", NUM_SCANS)


def test_evalio_lists_ours_with_its_parameters():
    """``evalio ls pipelines`` knows the name, the version and what can be set."""
    done = run_evalio("ls", "pipelines")
    assert done.returncode == 0, done.stderr
    for words in ("svnicp", "num_particles", "use_imu"):
        assert words in done.stdout


def test_unknown_parameters_are_handed_back():
    """As evalio wants it, what is not known is returned, and what is known is taken."""
    from svnicp.peers.evalio_pipeline import DEFAULTS, Svnicp  # noqa: PLC0415

    pipeline = Svnicp()
    assert pipeline.set_params({"num_particles": 7, "colour": "red"}) == {"colour": "red"}
    assert pipeline.default_params() == DEFAULTS
    pipeline.initialize()
    assert pipeline._odometry is not None
    assert pipeline._odometry.config.stein.num_particles == 7
