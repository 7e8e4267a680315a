# SPDX-License-Identifier: MIT
"""The examples run as they are, from anywhere."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).resolve().parents[1] / "examples").glob("*.py"))
NEEDS = {"gtsam_pose_graph": "gtsam"}
"""Extras that an example is about."""
SAYS = {
    "feed_robot_localization": r"odom0_differential: false",
    "lio_from_bag": r"ROS 1 bag: 50 scans(.|\n)*estimates, the last one ok",
    "read_covariances_with_pandas": r"least known direction: \[1\. +0\. +0\. *\]",
}
"""What the output of an example has to hold to be right."""


def test_there_are_examples():
    """The folder is where this test thinks it is."""
    assert EXAMPLES


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path, tmp_path):
    """An example ends without an error or a warning, says what it should, and leaves nothing."""
    need = NEEDS.get(path.stem)
    if need is not None and importlib.util.find_spec(need) is None:
        pytest.skip(f'pip install "svnicp[{need}]" to run this')
    run = subprocess.run(
        [sys.executable, "-W", "error", str(path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert re.search(SAYS.get(path.stem, r"\S"), run.stdout)
    assert run.stderr == ""
    assert list(tmp_path.iterdir()) == []
    if path.stem == "gtsam_pose_graph":
        assert_ours_is_better(run.stdout)


def assert_ours_is_better(printed: str) -> None:
    """With our covariances the graph is nearer to the truth, in every seed and altogether."""
    errors = [re.findall(r"(\d+) mm", line) for line in printed.splitlines()]
    assert len(errors) == 5
    assert all(int(ours) < int(constant) for ours, constant in errors)
