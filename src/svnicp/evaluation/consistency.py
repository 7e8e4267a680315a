# SPDX-License-Identifier: MIT
"""Do covariances keep their word? Errors in units of the standard deviations that were stated.

Pure functions on arrays: errors (n, 6) in body tangents, translation before rotation, and the
covariances that odometry stated for them. 1 is calibrated, more is over-confident.
"""

from dataclasses import dataclass

from svnicp.arrays import Covariance, Floats, Transform
from svnicp.lie import se3_inverse, se3_log
from svnicp.scores.blocks import BLOCKS, check_pairs
from svnicp.scores.coverage import component_shares
from svnicp.scores.nees import chi_square_band, normalised_squares


@dataclass(frozen=True)
class Calibration:
    """How a list of errors compares with their covariances."""

    count: int
    """Number of errors."""
    anees: float
    """Mean squared error in standard deviations, per component: 1 is calibrated."""
    band: tuple[float, float]
    """Between these lie 95 of 100 values of ``anees``, if the errors are independent."""
    coverage: tuple[float, float, float]
    """Share of single components within 1, 2 and 3 sigma; a Gaussian has 0.683, 0.954, 0.997."""


@dataclass(frozen=True)
class Consistency:
    """Calibration of the whole pose and of its parts, as far as the truth is known."""

    pose: Calibration | None
    """All six components; None without true rotations."""
    translation: Calibration
    rotation: Calibration | None


def step_errors(T_previous_body: Transform, T_true_previous_body: Transform) -> Floats:
    """Errors (n, 6) of steps (n, 4, 4) against the true steps: Log(T⁻¹ T_true)."""
    return se3_log(se3_inverse(T_previous_body) @ T_true_previous_body)


def pose_errors(T_world_body: Transform, T_true_body: Transform) -> Floats:
    """Errors (n, 6) of poses (n, 4, 4) in a world of their own, aligned at the first pose."""
    T_true_world = T_true_body[0] @ se3_inverse(T_world_body[0])
    return se3_log(se3_inverse(T_world_body) @ se3_inverse(T_true_world) @ T_true_body)


def true_steps(T_true_body: Transform) -> Transform:
    """Pose of each of (n, 4, 4) bodies in the one before; (n - 1, 4, 4)."""
    return se3_inverse(T_true_body[:-1]) @ T_true_body[1:]


def calibration(errors: Floats, covariances: Covariance) -> Calibration:
    """Compare errors (n, d) with their covariances (n, d, d).

    Raises
    ------
    InputError
        If there is no error, or the shapes do not fit.
    """
    check_pairs(errors, covariances)
    count, size = errors.shape
    squares = normalised_squares(errors, covariances)
    one, two, three = component_shares(errors, covariances)
    return Calibration(
        count, float(squares.mean()) / size, chi_square_band(count, size), (one, two, three)
    )


def consistency(errors: Floats, covariances: Covariance) -> Consistency:
    """Compare errors (n, 6) with their covariances (n, 6, 6), whole and in parts."""
    parts = {
        part: calibration(errors[:, block], covariances[:, block, block])
        for part, block in BLOCKS.items()
    }
    return Consistency(**parts)
