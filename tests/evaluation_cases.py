# SPDX-License-Identifier: MIT
"""Trajectories and runs with known errors, for the tests of evaluation."""

import itertools

import numpy as np

from svnicp.data.trajectory import Trajectory
from svnicp.evaluation import RunRecord
from svnicp.lie import se3_adjoint, se3_exp, se3_inverse

START_NS = 1_700_000_000_123_456_789
TWIST = np.array([1.0, 0.2, 0.05, 0.02, -0.03, 0.4])
"""[m/s, rad/s]"""


def curve(times_s: np.ndarray) -> np.ndarray:
    """Poses (n, 4, 4) of a body at constant twist, starting somewhere."""
    start = se3_exp(np.array([5.0, -3.0, 1.0, 0.1, 0.2, -1.0]))
    return start @ se3_exp(np.asarray(times_s)[:, None] * TWIST)


def truth(duration_s: float = 10.0, rate_hz: float = 100.0) -> Trajectory:
    """Ground truth of the curve."""
    times_s = np.arange(int(duration_s * rate_hz) + 1) / rate_hz
    return Trajectory(START_NS + np.rint(times_s * 1e9).astype(np.int64), curve(times_s))


def positions_of(trajectory: Trajectory) -> Trajectory:
    """The same without rotations."""
    poses = np.tile(np.eye(4), (len(trajectory), 1, 1))
    poses[:, :3, 3] = trajectory.positions
    return Trajectory(trajectory.stamps_ns, poses, position_only=True)


def noisy_run(rng: np.random.Generator, count: int = 90, factor: float = 1.0) -> RunRecord:
    """A run along the curve whose steps err by exactly what their covariances say, times a factor.

    Errors of steps add up, and the absolute covariances know it. The world begins at the first
    pose.
    """
    stamps_ns = START_NS + 103_000_000 * np.arange(count)
    poses = curve((stamps_ns - START_NS) * 1e-9)
    root = np.diag([0.02, 0.01, 0.01, 0.002, 0.002, 0.004]) @ (
        np.eye(6) + 0.3 * rng.normal(size=(6, 6))
    )
    step_cov = root @ root.T
    estimates, steps, absolute = [np.eye(4)], [np.eye(4)], [np.zeros((6, 6))]
    for before, after in itertools.pairwise(poses):
        true_step = se3_inverse(before) @ after
        step = true_step @ se3_exp(-factor * root @ rng.normal(size=6))
        A = se3_adjoint(se3_inverse(step))
        steps.append(step)
        estimates.append(estimates[-1] @ step)
        absolute.append(A @ absolute[-1] @ A.T + step_cov)
    relative = np.array([np.zeros((6, 6)), *[step_cov] * (count - 1)])
    return RunRecord(
        Trajectory(stamps_ns, np.array(estimates)), np.array(absolute), np.array(steps), relative
    )
