# SPDX-License-Identifier: MIT
"""A pose with its uncertainty, and how both move through frames and conventions.

The random pose is ``T_world_body @ Exp(xi)`` with xi ~ N(0, covariance): the covariance lives in
the right (body) tangent, translation [m] before rotation [rad]. Registration returns this type;
ROS, GTSAM and the paper's global-frame form are reached from here and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svnicp.arrays import Covariance, Floats, Transform
from svnicp.errors import InputError
from svnicp.lie import ROTATION, TRANSLATION, se3_adjoint, se3_exp, se3_inverse, se3_log

_RIGID_TOLERANCE = 1e-6  # a pose that went through float32 is still rigid
_ROUNDING = 1e-9  # asymmetry or negative variance below this share of the block's largest is noise
_SINGULAR = 1e-13  # share of a variance left once the other components are known
_ROTATION_FIRST = np.array([3, 4, 5, 0, 1, 2])  # its own inverse


@dataclass(frozen=True, eq=False)
class PoseGaussian:
    """Gaussian over poses: ``T_world_body @ Exp(xi)``, xi ~ N(0, covariance).

    Errors of two different instances are taken as independent wherever they are combined, and
    covariances are propagated to first order. Both arrays are copied and read-only.

    Raises
    ------
    InputError
        If the pose is not rigid or the covariance not symmetric, finite and positive semi-definite.

    """

    T_world_body: Transform
    """(4, 4) mean pose; maps body coordinates into the world [m]."""
    covariance: Covariance
    """(6, 6) covariance in the body tangent: translation [m], then rotation [rad]."""

    def __post_init__(self) -> None:
        T_world_body = _checked_transform("T_world_body", self.T_world_body).copy()
        covariance = _checked_covariance(self.covariance)
        for name, array in (("T_world_body", T_world_body), ("covariance", covariance)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    def compose(self, other: PoseGaussian) -> PoseGaussian:
        """Pose of c in a, from ``self`` = T_a_b and ``other`` = T_b_c with independent errors."""
        carried = _carried(self.covariance, se3_adjoint(se3_inverse(other.T_world_body)))
        return PoseGaussian(self.T_world_body @ other.T_world_body, carried + other.covariance)

    def inverse(self) -> PoseGaussian:
        """Pose of a in b, from ``self`` = T_a_b."""
        return PoseGaussian(se3_inverse(self.T_world_body), self.left_covariance())

    def between(self, other: PoseGaussian) -> PoseGaussian:
        """Pose of c in b, from ``self`` = T_a_b and ``other`` = T_a_c with independent errors.

        Two poses of one odometry run share most of their error: this result is then too wide.
        """
        T_b_c = se3_inverse(self.T_world_body) @ other.T_world_body
        # Not inverse() then compose(): far from the origin its lever arm would cost all digits.
        carried = _carried(self.covariance, se3_adjoint(se3_inverse(T_b_c)))
        return PoseGaussian(T_b_c, carried + other.covariance)

    def change_body_frame(self, T_body_new: Transform) -> PoseGaussian:
        """Pose of another frame on the same rigid body; (4, 4) from new into body coordinates."""
        T_body_new = _checked_transform("T_body_new", T_body_new)
        carried = _carried(self.covariance, se3_adjoint(se3_inverse(T_body_new)))
        return PoseGaussian(self.T_world_body @ T_body_new, carried)

    def change_world_frame(self, T_new_world: Transform) -> PoseGaussian:
        """Pose in another world; (4, 4) from world into new. The body tangent does not change."""
        T_new_world = _checked_transform("T_new_world", T_new_world)
        return PoseGaussian(T_new_world @ self.T_world_body, self.covariance)

    def sample(self, rng: np.random.Generator, count: int) -> Transform:
        """Draw independent poses; (count, 4, 4)."""
        scale = _block_scale(self.covariance)
        variances, axes = np.linalg.eigh(self.covariance / np.outer(scale, scale))
        root = scale[:, None] * axes * np.sqrt(np.maximum(variances, 0.0))
        return self.T_world_body @ se3_exp(rng.standard_normal((count, 6)) @ root.T)

    def mahalanobis_squared(self, T_world_body: Transform) -> Floats:
        """Squared distance of poses from the mean in standard deviations; (..., 4, 4) to (...).

        Chi-squared with six degrees of freedom if the poses are drawn from this Gaussian.

        Raises
        ------
        InputError
            If the covariance is singular, so that some distances would be infinite.

        """
        xi = se3_log(se3_inverse(self.T_world_body) @ T_world_body)
        root = _cholesky(self.covariance)
        whitened = np.linalg.solve(root, xi[..., None])[..., 0]
        return np.sum(whitened**2, axis=-1)

    def left_covariance(self) -> Covariance:
        """(6, 6) ``Ad S Ad^T``: error on the left, ``Exp(xi) @ T``, the paper's global frame."""
        return _carried(self.covariance, se3_adjoint(self.T_world_body))

    def to_ros(self) -> tuple[Transform, Covariance]:
        """Mean and covariance as in ``geometry_msgs/PoseWithCovariance``.

        Returns
        -------
        tuple
            The (4, 4) mean and a (6, 6) covariance of x, y, z [m] and the rotations about the
            fixed x, y, z axes [rad] of the world; ``covariance.ravel()`` is the message's array.

        """
        return self.T_world_body.copy(), _carried(self.covariance, _axes(self.T_world_body))

    @classmethod
    def from_ros(cls, T_world_body: Transform, covariance: Covariance) -> PoseGaussian:
        """Read a pose (4, 4) and a (6, 6) covariance about fixed world axes [m, rad]."""
        T_world_body = _checked_transform("T_world_body", T_world_body)
        covariance = _checked_covariance(covariance)
        return cls(T_world_body, _carried(covariance, _axes(T_world_body).T))

    def to_gtsam_covariance(self) -> Covariance:
        """(6, 6) covariance for ``gtsam.noiseModel.Gaussian.Covariance`` of a ``Pose3``.

        GTSAM perturbs on the right too, but puts rotation [rad] before translation [m].
        """
        return self.covariance[np.ix_(_ROTATION_FIRST, _ROTATION_FIRST)]

    @classmethod
    def from_gtsam_covariance(cls, T_world_body: Transform, covariance: Covariance) -> PoseGaussian:
        """Read a pose (4, 4) and a GTSAM (6, 6) covariance: body tangent, rotation first."""
        covariance = _checked_covariance(covariance)
        return cls(T_world_body, covariance[np.ix_(_ROTATION_FIRST, _ROTATION_FIRST)])


def _carried(covariance: Covariance, J: Floats) -> Covariance:
    """``J S J^T``, exactly symmetric."""
    product = J @ covariance @ J.T
    return 0.5 * (product + product.T)


def _axes(T_world_body: Transform) -> Floats:
    """Rotation of both halves of a tangent from body axes to world axes; (6, 6)."""
    turn = np.zeros((6, 6))
    turn[TRANSLATION, TRANSLATION] = turn[ROTATION, ROTATION] = T_world_body[:3, :3]
    return turn


def _block_scale(covariance: Covariance) -> Floats:
    """(6,) largest standard deviation of the translation and of the rotation, thrice each.

    Metres and radians have no common size: without it the larger block would drown the other.
    """
    variances = np.maximum(np.diagonal(covariance), 0.0)
    scale = np.ones(6)
    for block in (TRANSLATION, ROTATION):
        if (largest := variances[block].max()) > 0.0:
            scale[block] = np.sqrt(largest)
    return scale


def _cholesky(covariance: Covariance) -> Floats:
    singular = InputError(
        "The covariance is singular, so no distance is defined along some direction; "
        "give every direction a positive variance."
    )
    try:
        root = np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        raise singular from None
    if np.any(np.diagonal(root) ** 2 <= _SINGULAR * np.diagonal(covariance)):
        raise singular
    return np.asarray(root, dtype=np.float64)


def _checked_transform(name: str, T_a_b: Transform) -> Transform:
    T_a_b = np.asarray(T_a_b, dtype=np.float64)
    if T_a_b.shape != (4, 4):
        raise InputError(f"{name} must have shape (4, 4), got {T_a_b.shape}.")
    if not np.all(np.isfinite(T_a_b)):
        raise InputError(f"{name} must be finite, but it contains NaN or infinity.")
    R = T_a_b[:3, :3]
    orthonormal = np.allclose(R @ R.T, np.eye(3), rtol=0.0, atol=_RIGID_TOLERANCE)
    if not orthonormal or np.linalg.det(R) < 0.0:
        raise InputError(
            f"{name} must be a rigid transform, but its 3x3 block is not a rotation; "
            "svnicp.lie.orthonormalise repairs one that is nearly so."
        )
    if not np.array_equal(T_a_b[3], (0.0, 0.0, 0.0, 1.0)):
        raise InputError(f"{name} must be a rigid transform, but its last row is not 0, 0, 0, 1.")
    return T_a_b


def _checked_covariance(covariance: Covariance) -> Covariance:
    """Exactly symmetric copy of a covariance that is one up to rounding."""
    covariance = np.asarray(covariance, dtype=np.float64)
    if covariance.shape != (6, 6):
        raise InputError(f"The covariance must have shape (6, 6), got {covariance.shape}.")
    if not np.all(np.isfinite(covariance)):
        raise InputError("The covariance must be finite, but it contains NaN or infinity.")
    scale = _block_scale(covariance)
    scaled = covariance / np.outer(scale, scale)
    if not np.allclose(scaled, scaled.T, rtol=0.0, atol=_ROUNDING):
        raise InputError("The covariance must be symmetric, but it differs from its transpose.")
    smallest = np.linalg.eigvalsh(0.5 * (scaled + scaled.T))[0]
    if smallest < -_ROUNDING:
        raise InputError(
            "The covariance must be positive semi-definite, but it has a negative eigenvalue."
        )
    return 0.5 * (covariance + covariance.T)
