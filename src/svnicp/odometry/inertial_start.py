# SPDX-License-Identifier: MIT
"""How the filter begins: at rest, or in motion and then with the velocity that two scans show.

An IMU cannot tell rest from a steady ride; the first two scans can. Readings that cannot be of an
accelerometer in SI units are refused with a sentence, because everything after them would be wrong.
"""

import numpy as np

from svnicp.arrays import Covariance, Floats, Transform
from svnicp.config import InertialConfig
from svnicp.data.measurements import Scan
from svnicp.errors import InputError
from svnicp.inertial import ImuBuffer, start_at_rest
from svnicp.inertial.start import Start, at_rest, start_in_motion
from svnicp.odometry.motion import PAIR_FACTOR
from svnicp.pose_gaussian import PoseGaussian

REST_SPANS = 2.0
"""Readings of so many times the shortest start have to be at rest, where there are as many."""
SLOW_M_S = 0.1
"""How fast a body may move that seems to be at rest by its IMU, before scans are asked [m/s]."""
SEEN_TO_MOVE = 3.0
"""It does move when the first two scans are apart by this many standard deviations."""
UNSEEN_SPEED_M_S = 0.3
"""A body in motion by its IMU that scans do not show to travel is about as fast as this [m/s]."""
FIRST_DOUBT = 0.3
"""Doubt about the first velocity, as a share of it."""
CLIMB_DOUBT = 0.7
"""Doubt about the part of it that goes up or down, as a share: bodies hardly do, and rings hardly
show it."""
SEEN_M = 0.01
"""A second scan that is known to this shows its place [m]: on the training seeds of boats, drones
over a sea bed and in pipes it is 19 mm and more along some direction, in a room 1 mm."""
GRAVITY_FACTORS = (0.5, 1.5)
"""The mean force of an accelerometer is gravity, within these factors."""
TURNING_RAD_S = 10.0
"""No body that carries a LiDAR turns this fast on average [rad/s]."""


def first_state(
    imu: ImuBuffer, scan: Scan, config: InertialConfig, first_speed_m_s: float
) -> tuple[Start, bool] | None:
    """State at the mean time of a scan and whether it is rest; None while it is too early."""
    end_ns = scan.mean_ns
    if len(imu) == 0:
        return None
    seconds = (end_ns - imu.first_ns) * 1e-9
    if seconds < config.start_s:
        return None
    # A body that bobs about has calm moments: what is known from before has to be rest, too.
    resting_s = min(seconds, REST_SPANS * config.start_s)
    window = imu.window(end_ns - int(resting_s * 1e9), end_ns)
    if len(window) == 0:
        return None
    resting = at_rest(window, config)
    if not resting and seconds < config.max_start_s:
        return None
    if resting:
        _check_units(window, config.gravity_m_s2)
        return start_at_rest(window, config, velocity_std=SLOW_M_S), True
    known = imu.intervals(max(imu.first_ns, end_ns - int(config.max_start_s * 1e9)), end_ns)
    _check_units(known[:, 1:], config.gravity_m_s2)
    return start_in_motion(known, first_speed_m_s, config), False


def _check_units(readings: Floats, gravity_m_s2: float) -> None:
    """Refuse readings (n, 6) whose mean force is not gravity, or that turn too fast.

    Raises
    ------
    InputError
        With the unit that they seem to have.
    """
    force = float(np.linalg.norm(readings[:, 3:].mean(axis=0)))
    rate = float(np.mean(np.linalg.norm(readings[:, :3], axis=1)))
    low, high = (factor * gravity_m_s2 for factor in GRAVITY_FACTORS)
    if not low < force < high:
        hint = _unit(force, gravity_m_s2)
        raise InputError(
            f"The IMU's mean acceleration at the start is {force:.2f} m/s^2 instead of "
            f"{gravity_m_s2:.2f} m/s^2 ({hint}?); give m/s^2 with gravity, or leave the IMU out."
        )
    if rate > TURNING_RAD_S:
        raise InputError(
            f"The IMU's mean angular rate at the start is {rate:.1f} rad/s (is it in degrees per "
            "second?); give rad/s, or leave the IMU out."
        )


def _unit(force: float, gravity_m_s2: float) -> str:
    """What readings seem to be whose mean is this, instead of gravity."""
    if 0.8 < force < 1.2:
        return "they seem to be in g"
    if 800.0 < force < 1200.0:
        return "they seem to be in thousandths of g, or in cm/s^2"
    return "is gravity taken out of them" if force < gravity_m_s2 else "what is their unit"


def place_is_seen(found: PoseGaussian) -> bool:
    """Whether a second scan was found to a centimetre, whatever the direction."""
    return float(np.linalg.eigvalsh(found.covariance[:3, :3])[-1]) < SEEN_M**2


def first_velocity(
    found: PoseGaussian | None,
    T_at_rest: Transform,
    seconds: float,
    *,
    resting: bool,
    unseen_m_s: float = UNSEEN_SPEED_M_S,
) -> tuple[Floats, Covariance] | None:
    """Velocity (3,) in the world and covariance, from where the second scan was found.

    At rest, by the IMU, and not seen to move by the scans either: None. In motion by the IMU alone,
    it hovers or bobs about: slow, as far as scans do not say otherwise.

    Parameters
    ----------
    found
        Pose of the second scan in the map of the first, if it was found.
    T_at_rest
        (4, 4) where it would be without a velocity at the first.
    seconds
        Between the two.
    resting
        Whether the IMU seemed to be at rest.
    unseen_m_s
        How fast it may be where scans do not show it [m/s].
    """
    unseen_cov = np.eye(3) * unseen_m_s**2
    if found is None:
        return None if resting else (np.zeros(3), unseen_cov)
    moved = found.T_world_body[:3, 3] - T_at_rest[:3, 3]
    R_world = found.T_world_body[:3, :3]
    moved_cov = PAIR_FACTOR * R_world @ found.covariance[:3, :3] @ R_world.T
    still_cov = moved_cov + np.eye(3) * (SLOW_M_S * seconds) ** 2
    if resting and moved @ np.linalg.solve(still_cov, moved) < SEEN_TO_MOVE**2:
        return None
    velocity = moved / seconds
    doubt = FIRST_DOUBT * np.linalg.norm(velocity) + SLOW_M_S
    seen_cov = moved_cov / seconds**2 + np.eye(3) * doubt**2
    share = np.linalg.solve(seen_cov + unseen_cov, unseen_cov).T
    slow_cov = moved_cov / seconds**2 + unseen_cov
    if velocity @ np.linalg.solve(slow_cov, velocity) < SEEN_TO_MOVE**2:
        velocity = share @ velocity
    likely_cov: Covariance = share @ seen_cov
    likely_cov = 0.5 * (likely_cov + likely_cov.T)
    likely_cov[2, 2] += (CLIMB_DOUBT * velocity[2]) ** 2
    velocity[2] *= 1.0 - CLIMB_DOUBT
    return velocity, likely_cov
