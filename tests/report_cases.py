# SPDX-License-Identifier: MIT
"""Folders of runs for the tests of the report, made from estimates whose errors are known."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from recording_inputs import PERIOD_NS, START_NS
from svnicp.cloud_files import write_ply
from svnicp.data.trajectory import Trajectory
from svnicp.data.trajectory_files import write_tum
from svnicp.estimate import Estimate
from svnicp.lie import se3_exp, se3_inverse
from svnicp.recording import RunDescription, RunFolder
from svnicp.registration.posterior import WeakDirection

STEP = np.array([0.2, 0.01, 0.0, 0.0, 0.0, 0.01])
SIGMAS = np.array([0.02, 0.01, 0.01, 0.001, 0.001, 0.002])
ALONG_X = WeakDirection("translation", np.array([0.97, 0.2, -0.1]), 0.4, 0.5)


@dataclass(frozen=True, kw_only=True)
class MadeRun:
    """What a run of the tests is like."""

    num_scans: int = 60
    imu: bool = True
    truth: bool = True
    with_map: bool = True
    weak: Collection[int] = ()
    """Scans that do not see along x."""
    refused: Collection[int] = ()
    """Scans that were not used."""
    refused_status: str = "refused"
    name: str = "made"
    command: str = "svnicp run made --out made"
    stage: str = "register"
    error_scale: float = 1.0
    """Size of the errors in stated standard deviations."""

    @property
    def stamps_ns(self) -> np.ndarray:
        """(n,) stamps of the scans [ns]."""
        return START_NS + PERIOD_NS * np.arange(self.num_scans)

    @property
    def T_true_body(self) -> np.ndarray:
        """(n, 4, 4) true poses."""
        return se3_exp(np.arange(float(self.num_scans))[:, None] * STEP)

    @property
    def errors(self) -> np.ndarray:
        """(n, 6) errors of the poses; none at the first."""
        errors = np.random.default_rng(3).normal(size=(self.num_scans, 6))
        errors[0] = 0.0
        return self.error_scale * errors * SIGMAS

    def write(self, folder: Path) -> Path:
        """Write the folder of the run, with truth and map where there are any."""
        description = RunDescription(
            data=self.name,
            command=self.command,
            config={"map": {"voxel_size_m": 0.5}},
            more={
                "name": self.name,
                "imu": {"gyroscope": 1e-4} if self.imu else None,
                "truth": "poses" if self.truth else None,
            },
        )
        T_world_body = self.T_true_body @ se3_inverse(se3_exp(self.errors))
        with RunFolder.open(folder, description) as run:
            for index, pose in enumerate(T_world_body):
                run.on_estimate(self._estimate(index, T_world_body[max(index - 1, 0)], pose))
        if self.truth:
            write_tum(folder / "ground_truth.tum", Trajectory(self.stamps_ns, self.T_true_body))
        if self.with_map:
            rng = np.random.default_rng(4)
            write_ply(folder / "map.ply", rng.uniform([-2, -3, 0], [14, 3, 2], (5000, 3)))
        return folder

    def _estimate(self, index: int, before: np.ndarray, pose: np.ndarray) -> Estimate:
        """One estimate; only what was fused has a gain and an innovation."""
        rng = np.random.default_rng(index)
        first, used = index == 0, index not in self.refused
        fused = used and not first
        status = "first" if first else "weak" if index in self.weak else "ok"
        return Estimate(
            stamp_ns=int(self.stamps_ns[index]),
            T_world_body=pose,
            covariance=np.diag(SIGMAS**2) * (0.0 if first else 1.0),
            T_previous_body=se3_inverse(before) @ pose,
            relative_covariance=np.diag(2.0 * SIGMAS**2) * (0.0 if first else 1.0),
            twist=10.0 * STEP,
            twist_covariance=np.eye(6),
            velocity_world=10.0 * pose[:3, :3] @ STEP[:3],
            gyroscope_bias=1e-3 * rng.normal(size=3) if self.imu else None,
            accelerometer_bias=1e-2 * rng.normal(size=3) if self.imu else None,
            weak_directions=(ALONG_X,) if index in self.weak else (),
            status=status if used else self.refused_status,
            message="",
            ok=used,
            timing_s={"predict": 0.001, self.stage: 0.02 + 0.001 * rng.uniform()},
            num_points=1000,
            num_matches=900,
            nis=float(rng.chisquare(6)) if fused else None,
            kalman_gain=rng.uniform(size=6) if fused else None,
            innovation=SIGMAS * rng.normal(size=6) if fused else None,
        )
