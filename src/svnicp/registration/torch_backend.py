# SPDX-License-Identifier: MIT
"""The Stein algorithms' verbs on PyTorch, for a GPU or for comparison on the CPU.

In: a ``Problem`` and particles (K, 6). Out: the same numbers as ``NumbaBackend``, as tensors that
stay on the device: no verb looks at a tensor's value, so a GPU is never waited for. Vectorised over
particles, points and candidates, with arrays of K x N x M numbers. Imported only when asked for.
"""

from typing import Any

import numpy as np

from svnicp.arrays import Floats
from svnicp.errors import ConfigError
from svnicp.extras import require
from svnicp.kernels.weights import CAUCHY_NORM, GEMAN_MCCLURE
from svnicp.registration.backend import Array, mini_batch
from svnicp.registration.prior import Prior
from svnicp.registration.problem import Problem
from svnicp.registration.torch_chart import (
    exp_and_right_jacobian,
    hat,
    identity3,
    rotation_chart,
)

torch: Any = require("torch", extra="torch", purpose="The torch backend")

PIVOT_FLOOR = {"float64": 1e-12, "float32": 1e-6}
"""Smallest pivot of a system scaled to unit diagonal; below it there is only rounding."""


class TorchBackend:
    """PyTorch on one device.

    With float64 it answers as ``NumbaBackend`` does: coordinates are float32, the nearest candidate
    is looked for in float32, everything else is float64.

    Parameters
    ----------
    device
        ``cpu``, ``cuda`` or ``mps``.
    precision
        ``float64`` or ``float32``; mps knows only the latter.
    """

    def __init__(self, device: str, precision: str) -> None:
        _check_available(device, precision)
        self.device = torch.device(device)
        self.dtype = getattr(torch, precision)
        self.pivot_floor = PIVOT_FLOOR[precision]

    def load(self, problem: Problem) -> Any:  # noqa: ANN401
        """Return the problem with tensors for arrays; points and candidates stay float32."""
        return problem._replace(
            T_reference=self.put(problem.T_reference),
            points=torch.tensor(problem.points, dtype=torch.float32, device=self.device),
            rows=torch.tensor(problem.rows, dtype=torch.float32, device=self.device),
            seen=self.put(problem.seen),
            prior=Prior(self.put(problem.prior.hessian), self.put(problem.prior.slope)),
        )

    def put(self, array: Floats) -> Array:
        """Return a copy of the array as a tensor of the backend's precision."""
        return torch.tensor(array, dtype=self.dtype, device=self.device)

    def get(self, array: Array) -> Floats:
        """Return the tensor as a float64 array."""
        return array.cpu().to(torch.float64).numpy()

    def linearise(self, problem: Any, offsets: Array) -> tuple[Array, Array]:  # noqa: ANN401
        """Gradient (K, 6) and Hessian (K, 6, 6) of the negative log posterior."""
        seen_offsets = offsets @ problem.seen.mT
        turns, jacobians = exp_and_right_jacobian(seen_offsets[:, 3:])
        reference = problem.T_reference[:3, :3]
        rotations = reference @ turns
        positions = seen_offsets[:, :3] @ reference.mT + problem.T_reference[:3, 3]
        points = problem.points.to(self.dtype)
        places = points @ rotations.mT + positions[:, None]
        matched = _matched_rows(problem.rows, places, problem.max_distance_m).to(self.dtype)
        residuals, weights, planar = _residuals(matched, places, problem)
        gradients = _gradients(points, rotations, residuals, weights)
        hessians = _hessians(points, rotations, matched[..., 3:6], weights, planar)
        # What kernels.lie.pull_back does, times ``seen``: from an offset to the body tangent.
        chain = torch.cat([turns.mT @ problem.seen[:3], jacobians @ problem.seen[3:]], dim=1)
        gradients = problem.efficiency.gradient * (chain.mT @ gradients[..., None])[..., 0]
        hessians = problem.efficiency.hessian * (chain.mT @ hessians @ chain)
        return gradients + problem.prior.gradient(offsets), hessians + problem.prior.hessian

    def mini_batch(self, problem: Any, number: int, size: int) -> Any:  # noqa: ANN401
        """Return the problem on every so-many-th point from ``number`` on, weighed as the whole."""
        return mini_batch(problem, number, size)

    def stein_newton(
        self, offsets: Array, gradients: Array, hessians: Array, metric: Array, damping: float
    ) -> tuple[Array, Array]:
        """Stein force (K, 6) and Newton direction (K, 6).

        The Newton matrix of particle k is the mean over l of k_kl² H_l + ∇k_kl ∇k_kl'.
        """
        values, slopes = _stein_kernel(offsets, metric)
        force = _force(values, slopes, gradients)
        smoothed = (values**2 @ hessians.flatten(1)).unflatten(1, (6, 6))
        repulsion = (values[..., None] ** 2 * slopes).mT @ slopes
        matrices = (smoothed + repulsion) / len(offsets)  # Eq. (18)
        damped = matrices + damping * torch.diag_embed(matrices.diagonal(dim1=-2, dim2=-1))
        return force, _solve_spd(damped, force, self.pivot_floor)

    def stein_force(self, offsets: Array, gradients: Array, metric: Array) -> Array:
        """Stein force (K, 6)."""
        return _force(*_stein_kernel(offsets, metric), gradients)

    def median_squared_distance(self, offsets: Array) -> Array:
        """Median squared Euclidean distance between different particles (K, 6).

        The mean of the two in the middle, as NumPy has it; torch's own median takes the lower one.
        """
        squared = ((offsets[:, None] - offsets[None]) ** 2).sum(-1).flatten().sort().values
        # The K zeros of l = k come first; then every pair twice, which keeps the median.
        middle = (len(squared) + len(offsets)) // 2
        return 0.5 * (squared[middle - 1] + squared[middle])

    def identity(self) -> Array:
        """Return the identity (6, 6), made on the device."""
        return torch.eye(6, dtype=self.dtype, device=self.device)

    def rotation_chart(self, offsets: Array) -> tuple[Array, Array]:
        """Offsets (K, 6) with Euler angles in the rotation-vector chart, and the derivative."""
        return rotation_chart(offsets)

    def numbers(self, *scalars: Array) -> list[float]:
        """Scalars as Python numbers, waiting for the device once."""
        return torch.stack(scalars).tolist()


def _check_available(device: str, precision: str) -> None:
    """Raise a ConfigError where this machine cannot do what the configuration asks for."""
    if precision not in PIVOT_FLOOR:
        raise ConfigError(
            f"backend.precision must be one of {', '.join(PIVOT_FLOOR)}, got '{precision}'"
        )
    if device == "mps" and precision == "float64":
        raise ConfigError(
            "backend.device 'mps' has no float64: set backend.precision to 'float32', or use "
            "another device"
        )
    probes = {"cuda": torch.cuda.is_available, "mps": torch.backends.mps.is_available}
    if device != "cpu" and not (device in probes and probes[device]()):
        raise ConfigError(
            f"backend.device '{device}' is not available to torch {torch.__version__} on this "
            "machine: use 'cpu', or install a torch build and driver that support it"
        )


def _matched_rows(rows: Array, places: Array, max_distance_m: float) -> Array:
    """Row (K, N, 8) of every place's match; zeros, and so without weight, where there is none.

    As in ``kernels.linearise``: the nearest of the candidates (N, M, 8), in float32, or none
    beyond the gate or where that one must not be used.
    """
    near = places.to(torch.float32)
    dx, dy, dz = (rows[:, :, axis] - near[:, :, axis, None] for axis in range(3))
    nearest, index = (dx**2 + dy**2 + dz**2).min(-1)
    matched = rows[torch.arange(len(rows), device=rows.device), index]
    gate = float(np.float32(max_distance_m**2))
    usable = (nearest < gate) & (matched[..., 7] > 0.0)
    return torch.where(usable[..., None], matched, 0.0)


def _residuals(matched: Array, places: Array, problem: Any) -> tuple[Array, Array, Array]:  # noqa: ANN401
    """Residual vectors (K, N, 3), their weights w/V (K, N), and which of them are planes (K, N)."""
    normals, precisions = matched[..., 3:6], matched[..., 7]
    planar = (normals != 0.0).any(-1)
    heights = (normals * places).sum(-1) - matched[..., 6]
    apart = places - matched[..., :3]
    squared = torch.where(planar, heights**2, (apart**2).sum(-1))
    robust = _robust_weight(problem.weight, squared * precisions, problem.weight_width)
    residuals = torch.where(planar[..., None], heights[..., None] * normals, apart)
    return residuals, precisions * robust, planar


def _robust_weight(kind: int, squared: Array, width: float) -> Array:
    """Weight of residuals whose normalised squares are given."""
    if kind == GEMAN_MCCLURE:
        return (width**2 / (width**2 + squared)) ** 2
    if kind == CAUCHY_NORM:
        return (width / (width + squared**0.5)) ** 2
    return torch.ones_like(squared)


def _gradients(points: Array, rotations: Array, residuals: Array, weights: Array) -> Array:
    """Σ w J'r (K, 6) in the right tangent, with J = [R, -R[p]×] and r the residual vectors."""
    pulls = (weights[..., None] * residuals) @ rotations
    torques = torch.linalg.cross(points[None], pulls)
    return torch.cat([pulls.sum(1), torques.sum(1)], dim=-1)


def _hessians(
    points: Array, rotations: Array, normals: Array, weights: Array, planar: Array
) -> Array:
    """Σ w AA' over planes plus Σ w J'J over points (K, 6, 6), in the right tangent.

    A = [R'n; p × R'n] is zero where the normal is; J'J = [I, -[p]×]'[I, -[p]×] is the same for
    every particle.
    """
    directions = normals @ rotations
    slopes = torch.cat([directions, torch.linalg.cross(points[None], directions)], dim=-1)
    planes = (weights[..., None] * slopes).mT @ slopes
    arms = torch.cat([identity3(points).expand(len(points), 3, 3), -hat(points)], dim=-1)
    loose = torch.where(planar, 0.0, weights) @ (arms.mT @ arms).flatten(1)
    return planes + loose.unflatten(1, (6, 6))


def _stein_kernel(offsets: Array, metric: Array) -> tuple[Array, Array]:
    """k_kl (K, K), and G (x_k - x_l) (K, K, 6): minus the kernel's gradient in x_k over k_kl."""
    differences = offsets[:, None] - offsets[None]
    slopes = differences @ metric.mT
    return torch.exp(-0.5 * (differences * slopes).sum(-1)), slopes


def _force(values: Array, slopes: Array, gradients: Array) -> Array:
    """Kernel-smoothed descent plus repulsion (K, 6)."""
    return ((values[..., None] * slopes).sum(1) - values @ gradients) / len(values)  # Eq. (17)


def _solve_spd(matrices: Array, right: Array, pivot_floor: float) -> Array:
    """Solve symmetric positive systems (K, 6, 6); axes without curvature do not move.

    Elimination without pivoting, on the system scaled to unit diagonal and with a floor under the
    pivots: what the Cholesky of ``kernels.small.solve_spd`` computes, without a square root.
    """
    diagonals = matrices.diagonal(dim1=-2, dim2=-1)
    scales = torch.where(diagonals > 0.0, diagonals.rsqrt(), 0.0)[..., None]
    system = torch.cat([matrices * scales * scales.mT, right[..., None] * scales], dim=-1)
    for axis in range(system.shape[1]):
        pivot = system[:, axis] / system[:, axis, axis, None].clip(min=pivot_floor)
        system = system - system[:, :, axis, None] * pivot[:, None]
        system[:, axis] = pivot
    return (system[..., -1:] * scales)[..., 0]
