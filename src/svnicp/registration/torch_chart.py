# SPDX-License-Identifier: MIT
"""Rotations in torch: exponential, right Jacobian, and Euler angles as rotation vectors.

Nothing here reads a number back from the device.
"""

from typing import Any

from svnicp.extras import require

torch = require("torch", "torch", "The torch backend")

Array = Any
"""A torch tensor."""


def exp_and_right_jacobian(phi: Array) -> tuple[Array, Array]:
    """Rotation (K, 3, 3) and right Jacobian (K, 3, 3) of rotation vectors (K, 3) [rad]."""
    square = (phi**2).sum(-1)[:, None, None]
    small = square < 1e-2
    safe = torch.where(small, 1.0, square)
    angle = safe**0.5
    sine, cosine = torch.sin(angle), torch.cos(angle)
    first = 1.0 - square / 6.0 * (1.0 - square / 20.0 * (1.0 - square / 42.0))
    second = 0.5 - square / 24.0 * (1.0 - square / 30.0 * (1.0 - square / 56.0))
    third = 1.0 / 6.0 - square / 120.0 * (1.0 - square / 42.0 * (1.0 - square / 72.0))
    first = torch.where(small, first, sine / angle)
    second = torch.where(small, second, (1.0 - cosine) / safe)
    third = torch.where(small, third, (angle - sine) / (safe * angle))
    identity, skew = identity3(phi), hat(phi)
    turns = identity + first * skew + second * (skew @ skew)
    return turns, identity - second * skew + third * (skew @ skew)


def hat(vectors: Array) -> Array:
    """Matrices (n, 3, 3) of the cross products v × , for vectors (n, 3)."""
    return torch.linalg.cross(vectors[:, None], identity3(vectors)[None]).mT


def identity3(like: Array) -> Array:
    """Return the identity (3, 3) of this tensor's precision, on its device."""
    return torch.eye(3, dtype=like.dtype, device=like.device)


def rotation_chart(offsets: Array) -> tuple[Array, Array]:
    """Offsets (K, 6) in the rotation-vector chart, and the derivative (K, 6, 6) of the change.

    The torch twin of ``euler_chart.rotation_chart``, for rotations well below half a turn.
    """
    roll, pitch, yaw = offsets[:, 3], offsets[:, 4], offsets[:, 5]
    zero, one = torch.zeros_like(roll), torch.ones_like(roll)
    sr, cr, sp, cp, sy, cy = (f(a) for a in (roll, pitch, yaw) for f in (torch.sin, torch.cos))
    rotation = torch.stack([
        cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr,
        sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr,
        -sp, cp * sr, cp * cr,
    ], -1).unflatten(1, (3, 3))  # fmt: skip
    rates = torch.stack([one, zero, -sp, zero, cr, cp * sr, zero, -sr, cp * cr], -1).unflatten(
        1, (3, 3)
    )
    phi = _log(rotation)
    chain = torch.zeros(len(offsets), 6, 6, dtype=offsets.dtype, device=offsets.device)
    chain[:, :3, :3] = identity3(offsets)
    chain[:, 3:, 3:] = _right_jacobian_inverse(phi) @ rates
    return torch.cat([offsets[:, :3], phi], dim=1), chain


def _log(rotation: Array) -> Array:
    """Rotation vectors (K, 3) of rotations (K, 3, 3)."""
    sine = 0.5 * torch.stack([
        rotation[:, 2, 1] - rotation[:, 1, 2],
        rotation[:, 0, 2] - rotation[:, 2, 0],
        rotation[:, 1, 0] - rotation[:, 0, 1],
    ], -1)  # fmt: skip
    square = (sine**2).sum(-1, keepdim=True)
    cosine = 0.5 * (rotation.diagonal(dim1=-2, dim2=-1).sum(-1, keepdim=True) - 1.0)
    small = square < 1e-8
    length = torch.where(small, 1.0, square) ** 0.5
    factor = torch.where(small, 1.0 + square / 6.0, torch.atan2(length, cosine) / length)
    return sine * factor


def _right_jacobian_inverse(phi: Array) -> Array:
    """Inverse right Jacobians (K, 3, 3) of rotation vectors (K, 3)."""
    square = (phi**2).sum(-1)[:, None, None]
    small = square < 1e-4
    safe = torch.where(small, 1.0, square)
    angle = safe**0.5
    quadratic = 1.0 / safe - (1.0 + torch.cos(angle)) / (2.0 * angle * torch.sin(angle))
    quadratic = torch.where(small, 1.0 / 12.0 + square / 720.0, quadratic)
    skew = hat(phi)
    return identity3(phi) + 0.5 * skew + quadratic * (skew @ skew)
