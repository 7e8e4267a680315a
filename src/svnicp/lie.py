# SPDX-License-Identifier: MIT
"""Rotations and rigid motions: exp, log, adjoint and right Jacobians, in plain NumPy.

``T_a_b`` maps b-coordinates into a. A tangent is xi = (rho, phi), translation [m] then rotation
[rad], and perturbs on the right: ``T @ se3_exp(xi)``. Every function broadcasts over leading
dimensions and is accurate to rounding from angle 0 to angle pi.
"""

import numpy as np

from svnicp.arrays import Floats, Tangent, Transform
from svnicp.lie_series import (
    INVERSE,
    QUARTIC,
    QUINTIC,
    cubic_term,
    divided,
    sine_and_cosine_terms,
    squared_norm,
)

TRANSLATION = slice(0, 3)
"""Where the translation rho [m] sits in a tangent."""

ROTATION = slice(3, 6)
"""Where the rotation phi [rad] sits in a tangent."""

PART = 16384
"""Points of one product in ``transform_points``."""

NEARLY = 1e-8
"""A rotation that is off by less than this needs one step of Newton's to be right to rounding."""

_IDENTITY = np.eye(3)


def hat(v: Floats) -> Floats:
    """Skew-symmetric matrix of ``v``: ``hat(v) @ u == cross(v, u)``; (..., 3) to (..., 3, 3)."""
    v = np.asarray(v, dtype=np.float64)
    skew = np.zeros((*v.shape, 3))
    skew[..., 2, 1] = v[..., 0]
    skew[..., 0, 2] = v[..., 1]
    skew[..., 1, 0] = v[..., 2]
    return skew - _transposed(skew)


def so3_exp(phi: Floats) -> Floats:
    """Rotation matrix of a rotation vector; (..., 3) [rad] to (..., 3, 3)."""
    phi = np.asarray(phi, dtype=np.float64)
    skew = hat(phi)
    sine, cosine = sine_and_cosine_terms(squared_norm(phi))
    return np.eye(3) + _as_factor(sine) * skew + _as_factor(cosine) * (skew @ skew)


def so3_log(rotation: Floats) -> Floats:
    """Rotation vector, no longer than pi, of a rotation matrix; (..., 3, 3) to (..., 3) [rad].

    At an angle of exactly pi both signs are right and one of them is returned.
    """
    quat_wxyz = _quaternion(np.asarray(rotation, dtype=np.float64))
    w, v = quat_wxyz[..., 0], quat_wxyz[..., 1:]
    sine = np.sqrt(squared_norm(v))
    nonzero = sine > 0.0
    # atan2 keeps full relative precision for tiny angles and full absolute precision close to pi.
    scale = np.where(nonzero, 2.0 * np.arctan2(sine, w) / np.where(nonzero, sine, 1.0), 2.0)
    return scale[..., None] * v


def so3_right_jacobian(phi: Floats) -> Floats:
    """J with ``Exp(phi + d) = Exp(phi) Exp(J d)`` for small d; (..., 3) [rad] to (..., 3, 3)."""
    phi = np.asarray(phi, dtype=np.float64)
    angle_squared = squared_norm(phi)
    skew = hat(phi)
    _, cosine = sine_and_cosine_terms(angle_squared)
    cubic = cubic_term(angle_squared)
    return np.eye(3) - _as_factor(cosine) * skew + _as_factor(cubic) * (skew @ skew)


def so3_right_jacobian_inverse(phi: Floats) -> Floats:
    """Inverse of `so3_right_jacobian`, for angles below 2 pi; (..., 3) [rad] to (..., 3, 3)."""
    phi = np.asarray(phi, dtype=np.float64)
    angle_squared = squared_norm(phi)
    skew = hat(phi)
    sine, cosine = sine_and_cosine_terms(angle_squared)
    square = divided(cosine - 0.5 * sine, angle_squared, INVERSE) / cosine
    return np.eye(3) + 0.5 * skew + _as_factor(square) * (skew @ skew)


def se3_exp(xi: Tangent) -> Transform:
    """Rigid transform of a tangent, the true exponential; (..., 6) [m, rad] to (..., 4, 4)."""
    xi = np.asarray(xi, dtype=np.float64)
    rho, phi = xi[..., TRANSLATION], xi[..., ROTATION]
    # The left Jacobian of phi, often called V, is the right one of -phi.
    return make_transform(so3_exp(phi), _rotate(so3_right_jacobian(-phi), rho))


def se3_log(T_a_b: Transform) -> Tangent:
    """Tangent of a rigid transform, its angle at most pi; (..., 4, 4) to (..., 6) [m, rad]."""
    T_a_b = np.asarray(T_a_b, dtype=np.float64)
    phi = so3_log(T_a_b[..., :3, :3])
    rho = _rotate(so3_right_jacobian_inverse(-phi), T_a_b[..., :3, 3])
    return np.concatenate([rho, phi], axis=-1)


def se3_inverse(T_a_b: Transform) -> Transform:
    """``T_b_a``, the inverse of a rigid transform; (..., 4, 4) to (..., 4, 4)."""
    T_a_b = np.asarray(T_a_b, dtype=np.float64)
    R_b_a = _transposed(T_a_b[..., :3, :3])
    return make_transform(R_b_a, -_rotate(R_b_a, T_a_b[..., :3, 3]))


def se3_adjoint(T_a_b: Transform) -> Floats:
    """Ad with ``T Exp(xi) = Exp(Ad xi) T``: ``[[R, hat(t) R], [0, R]]``; to (..., 6, 6)."""
    T_a_b = np.asarray(T_a_b, dtype=np.float64)
    R = T_a_b[..., :3, :3]
    return _upper_blocks(R, hat(T_a_b[..., :3, 3]) @ R)


def se3_right_jacobian(xi: Tangent) -> Floats:
    """J with ``Exp(xi + d) = Exp(xi) Exp(J d)`` for small d; (..., 6) to (..., 6, 6)."""
    xi = np.asarray(xi, dtype=np.float64)
    return _upper_blocks(so3_right_jacobian(xi[..., ROTATION]), _coupling(xi))


def se3_right_jacobian_inverse(xi: Tangent) -> Floats:
    """Inverse of `se3_right_jacobian`, for angles below 2 pi; (..., 6) to (..., 6, 6)."""
    xi = np.asarray(xi, dtype=np.float64)
    inverse = so3_right_jacobian_inverse(xi[..., ROTATION])
    return _upper_blocks(inverse, -inverse @ _coupling(xi) @ inverse)


def transform_points(T_a_b: Transform, points_b: Floats) -> Floats:
    """Points in frame a from points in frame b [m].

    Parameters
    ----------
    T_a_b
        (..., 4, 4) transforms.
    points_b
        (..., n, 3) points per transform, or one point (3,).

    Returns
    -------
    Floats
        (..., n, 3), or (..., 3) for one point.

    """
    T_a_b = np.asarray(T_a_b, dtype=np.float64)
    points_b = np.asarray(points_b, dtype=np.float64)
    R, t = T_a_b[..., :3, :3], T_a_b[..., :3, 3]
    if points_b.ndim == 1:
        return _rotate(R, points_b) + t
    if points_b.ndim == 2 and R.ndim == 2:
        return _moved_in_parts(R, t, points_b)
    return points_b @ _transposed(R) + t[..., None, :]


def orthonormalise(T_a_b: Transform) -> Transform:
    """Transform whose rotation block is replaced by the nearest rotation; (..., 4, 4)."""
    T_a_b = np.asarray(T_a_b, dtype=np.float64)
    R = T_a_b[..., :3, :3]
    if R.ndim == 2:
        excess = R.T @ R - _IDENTITY
        if np.abs(excess).max() < NEARLY and _determinant(R) > 0.0:
            return make_transform(R - 0.5 * (R @ excess), T_a_b[:3, 3])
    U, _, V = np.linalg.svd(R)
    # Without the sign the nearest orthogonal matrix could be a reflection.
    U[..., :, 2] *= np.sign(np.linalg.det(U @ V))[..., None]
    return make_transform(U @ V, T_a_b[..., :3, 3])


def make_transform(rotation: Floats, translation: Floats) -> Transform:
    """Transform of a rotation (..., 3, 3) and a translation (..., 3) [m]; (..., 4, 4)."""
    rotation = np.asarray(rotation, dtype=np.float64)
    translation = np.asarray(translation, dtype=np.float64)
    batch = ()
    if rotation.ndim > 2 or translation.ndim > 1:
        batch = np.broadcast_shapes(rotation.shape[:-2], translation.shape[:-1])
    T_a_b = np.zeros((*batch, 4, 4))
    T_a_b[..., :3, :3] = rotation
    T_a_b[..., :3, 3] = translation
    T_a_b[..., 3, 3] = 1.0
    return T_a_b


def _determinant(matrix: Floats) -> float:
    """Determinant of one matrix (3, 3), without a call of LAPACK."""
    (a, b, c), (d, e, f), (g, h, i) = matrix.tolist()
    return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)


def _coupling(xi: Tangent) -> Floats:
    """Upper right block of the right Jacobian of SE(3): how phi moves the translation.

    Notation: P = hat(rho), W = hat(phi). Found by summing (-1)^n/(n+1)! of the upper right block
    of ad(xi)^n and reducing powers with W^3 = -|phi|^2 W.
    """
    angle_squared = squared_norm(xi[..., ROTATION])
    _, cosine = sine_and_cosine_terms(angle_squared)
    cubic = cubic_term(angle_squared)
    quartic = divided(0.5 - cosine, angle_squared, QUARTIC)
    quintic = divided(0.5 * (3.0 * cubic - cosine), angle_squared, QUINTIC)
    P, W = hat(xi[..., TRANSLATION]), hat(xi[..., ROTATION])
    M = W @ P @ W
    return (
        -0.5 * P
        + _as_factor(cubic) * (P @ W + W @ P - M)
        - _as_factor(quartic) * (W @ W @ P + P @ W @ W - 3.0 * M)
        + _as_factor(quintic) * (M @ W + W @ M)
    )


def _quaternion(rotation: Floats) -> Floats:
    """Quaternion wxyz of unit length, w >= 0; well conditioned at every angle."""
    difference = rotation - _transposed(rotation)
    trace = np.trace(rotation, axis1=-2, axis2=-1)
    outer = np.empty((*rotation.shape[:-2], 4, 4))  # 4 q q^T: every row is a multiple of q
    outer[..., 0, 0] = 1.0 + trace
    outer[..., 0, 1:] = outer[..., 1:, 0] = difference[..., (2, 0, 1), (1, 2, 0)]
    outer[..., 1:, 1:] = rotation + _transposed(rotation) + _as_factor(1.0 - trace) * np.eye(3)
    longest = np.argmax(np.diagonal(outer, axis1=-2, axis2=-1), axis=-1)
    quat = np.take_along_axis(outer, longest[..., None, None], axis=-2)[..., 0, :]
    quat = quat / np.sqrt(squared_norm(quat))[..., None]
    return np.where(quat[..., :1] < 0.0, -quat, quat)


def _upper_blocks(diagonal: Floats, corner: Floats) -> Floats:
    """``[[diagonal, corner], [0, diagonal]]``; (..., 3, 3) twice to (..., 6, 6)."""
    return np.block([[diagonal, corner], [np.zeros_like(diagonal), diagonal]])


def _rotate(matrix: Floats, vector: Floats) -> Floats:
    return (matrix @ vector[..., None])[..., 0]


def _moved_in_parts(R: Floats, t: Floats, points: Floats) -> Floats:
    """Points (n, 3) of one transform; one large product would wake threads that spin for long."""
    out = np.empty_like(points)
    for first in range(0, len(points), PART):
        np.matmul(points[first : first + PART], R.T, out=out[first : first + PART])
    out += t
    return out


def _transposed(matrix: Floats) -> Floats:
    return np.swapaxes(matrix, -1, -2)


def _as_factor(scalar: Floats) -> Floats:
    return scalar[..., None, None]
