# SPDX-License-Identifier: MIT
"""Small datasets and estimates for the tests of what is written to disk."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from rosbags.highlevel import AnyReader

from svnicp.data import Dataset, DatasetInfo, ImuSample, Scan, Trajectory
from svnicp.estimate import Estimate
from svnicp.lie import se3_exp
from svnicp.registration.posterior import WeakDirection

START_NS = 1_700_000_000_123_456_789
PERIOD_NS = 100_000_000


class SmallDataset(Dataset):
    """A few scans of different sizes, an IMU at 100 Hz, and exact poses; all in memory."""

    def __init__(
        self, num_scans: int = 5, *, times: bool = True, imu: bool = True, truth: bool = True
    ) -> None:
        rng = np.random.default_rng(5)
        self.name = "small"
        self.T_body_lidar = se3_exp(np.array([0.1, -0.2, 0.3, 0.02, -0.5, 1.2]))
        self.all_scans = [self._scan(rng, index, times=times) for index in range(num_scans)]
        self.all_samples = [
            ImuSample(START_NS + 10_000_000 * index, rng.normal(size=3), rng.normal(size=3))
            for index in range(10 * num_scans if imu else 0)
        ]
        if truth:
            stamps_ns = START_NS + 25_000_000 * np.arange(4 * num_scans + 1)
            step = np.array([0.1, 0.02, 0.01, 0.001, 0.002, 0.03])
            steps = np.arange(float(len(stamps_ns)))[:, None] * step
            self.ground_truth = Trajectory(stamps_ns, se3_exp(steps))

    def _scan(self, rng: np.random.Generator, index: int, *, times: bool) -> Scan:
        stamp_ns = START_NS + PERIOD_NS * index
        points = rng.uniform(-50.0, 50.0, (20 + index, 3)).astype(np.float32)
        point_times = stamp_ns + rng.integers(0, 99_000_000, len(points)) if times else None
        return Scan(stamp_ns, points, point_times)

    def info(self) -> DatasetInfo:
        """Return what is known."""
        return DatasetInfo("made for a test", num_scans=len(self.all_scans))

    def scans(self) -> Iterator[Scan]:
        """Yield the scans."""
        return iter(self.all_scans)

    def imu_samples(self) -> Iterator[ImuSample]:
        """Yield the samples."""
        return iter(self.all_samples)


def random_covariance(rng: np.random.Generator) -> np.ndarray:
    """Return a full (6, 6) covariance of a size that occurs."""
    root = rng.normal(size=(6, 6)) * [0.01, 0.01, 0.01, 0.001, 0.001, 0.001]
    return root.T @ root


def make_estimate(index: int, *, ok: bool = True, num_particles: int = 3) -> Estimate:
    """Return the estimate number ``index`` of a run; the same each time."""
    rng = np.random.default_rng(index)
    T_world_body = se3_exp(np.array([0.5 * index, 0.1, 0.0, 0.0, 0.01 * index, 0.1 * index]))
    weak = WeakDirection("translation", np.array([1.0, 0.0, 0.0]), 0.4, 0.5)
    return Estimate(
        stamp_ns=START_NS + PERIOD_NS * index,
        T_world_body=T_world_body,
        covariance=random_covariance(rng) * (index + 1),
        T_previous_body=se3_exp(np.array([0.5, 0.0, 0.0, 0.0, 0.01, 0.1])),
        relative_covariance=random_covariance(rng),
        twist=rng.normal(size=6),
        twist_covariance=random_covariance(rng),
        velocity_world=rng.normal(size=3),
        gyroscope_bias=rng.normal(size=3),
        accelerometer_bias=None,
        weak_directions=(weak,) if index % 2 else (),
        status="CONVERGED" if ok else "TOO_FEW_MATCHES",
        message="converged" if ok else "too few points matched, so the pose is a prediction",
        ok=ok,
        timing_s={"preprocess": 0.001 * index, "register": 0.02},
        num_points=1000 + index,
        num_matches=900 if ok else 3,
        nis=5.5,
        kalman_gain=rng.uniform(size=6),
        innovation=rng.normal(size=6),
        particles=T_world_body @ se3_exp(0.01 * rng.normal(size=(num_particles, 6))),
    )


def read_messages(path: Path) -> dict[str, list[tuple[int, Any]]]:
    """Read a bag with rosbags: times [ns] and messages by topic."""
    found: dict[str, list[tuple[int, Any]]] = {}
    with AnyReader([path]) as reader:
        for connection, time_ns, raw in reader.messages():
            message = reader.deserialize(raw, connection.msgtype)
            found.setdefault(connection.topic, []).append((time_ns, message))
    return found
