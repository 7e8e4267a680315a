# SPDX-License-Identifier: MIT
"""The estimate of a scan, put together from filter, drift and what became of the scan."""

import numpy as np

from svnicp.estimate import Estimate
from svnicp.odometry.clock import Clock
from svnicp.odometry.drift import MapDrift
from svnicp.odometry.motion import MotionModel
from svnicp.odometry.outcome import Outcome, weak_alone
from svnicp.pose_gaussian import PoseGaussian


def summarise(
    motion: MotionModel, drift: MapDrift, step: PoseGaussian, outcome: Outcome, num_points: int,
    clock: Clock,
) -> Estimate:  # fmt: skip
    """Estimate after a scan; ``step`` is the pose in that of the scan before."""
    assert motion.stamp_ns is not None
    moving = motion.moving()
    result, correction = outcome.result, outcome.correction
    return Estimate(
        stamp_ns=motion.stamp_ns,
        T_world_body=motion.T_world_body,
        covariance=motion.absolute_covariance + drift.covariance,
        T_previous_body=step.T_world_body,
        relative_covariance=step.covariance,
        twist=moving.twist,
        twist_covariance=moving.twist_covariance,
        velocity_world=moving.velocity_world,
        gyroscope_bias=moving.gyro_bias,
        accelerometer_bias=moving.accel_bias,
        weak_directions=weak_alone(result) if result is not None else [],
        status=outcome.fate.name.lower(),
        message=outcome.fate.value,
        ok=outcome.fate.mapped,
        timing_s=clock.laps_s,
        num_points=num_points,
        num_matches=result.num_matches if result is not None else 0,
        nis=correction.nis if correction is not None else None,
        kalman_gain=np.diag(correction.gain).copy() if correction is not None else None,
        innovation=correction.innovation if correction is not None else None,
        particles=result.particles if result is not None else None,
    )
