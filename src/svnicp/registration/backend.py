# SPDX-License-Identifier: MIT
"""The verbs that the Stein algorithms need, and their compiled CPU version.

An algorithm is written once, on arrays that support ``+ - * / @``, ``.mean``, ``.sum`` and
``.clip``; what differs between NumPy with Numba and PyTorch is behind these verbs.
``registration.torch_backend`` has the other version, imported only when it is asked for.
"""

from typing import Any, Protocol

import numpy as np

from svnicp.arrays import Floats
from svnicp.config import BackendConfig
from svnicp.kernels import linearise as compiled
from svnicp.kernels import stein
from svnicp.registration.euler_chart import rotation_chart
from svnicp.registration.problem import Problem
from svnicp.registration.robust import Efficiency

Array = Any
"""A NumPy array or a torch tensor."""

Loaded = Any
"""A problem on the backend's device."""


class Backend(Protocol):
    """What an algorithm may ask for; arrays stay on the backend's device."""

    def load(self, problem: Problem) -> Loaded:
        """Bring a problem to the device."""
        ...

    def put(self, array: Floats) -> Array:
        """Bring an array to the device."""
        ...

    def get(self, array: Array) -> Floats:
        """Bring an array back as NumPy."""
        ...

    def linearise(self, problem: Loaded, offsets: Array) -> tuple[Array, Array]:
        """Gradient (K, 6) and Hessian (K, 6, 6) of the negative log posterior."""
        ...

    def mini_batch(self, problem: Loaded, number: int, size: int) -> Loaded:
        """The problem on every so-many-th point, starting at ``number``, weighed as the whole."""
        ...

    def stein_newton(
        self, offsets: Array, gradients: Array, hessians: Array, metric: Array, damping: float
    ) -> tuple[Array, Array]:
        """Stein force (K, 6) and Newton direction (K, 6)."""
        ...

    def stein_force(self, offsets: Array, gradients: Array, metric: Array) -> Array:
        """Stein force (K, 6)."""
        ...

    def median_squared_distance(self, offsets: Array) -> Array:
        """Median squared Euclidean distance between different particles (K, 6)."""
        ...

    def identity(self) -> Array:
        """The identity (6, 6)."""
        ...

    def rotation_chart(self, offsets: Array) -> tuple[Array, Array]:
        """Offsets (K, 6) with Euler angles in the rotation-vector chart, and the derivative."""
        ...

    def numbers(self, *scalars: Array) -> list[float]:
        """Scalars as Python numbers, waiting for the device once."""
        ...


class NumbaBackend:
    """Compiled for the CPU; float32 coordinates, float64 sums."""

    def load(self, problem: Problem) -> Problem:
        """Return the problem as it is."""
        return problem

    def put(self, array: Floats) -> Floats:
        """Return the array as float64, contiguous."""
        return np.ascontiguousarray(array, dtype=np.float64)

    def get(self, array: Floats) -> Floats:
        """Return the array as it is."""
        return array

    def linearise(self, problem: Problem, offsets: Floats) -> tuple[Floats, Floats]:
        """Gradient (K, 6) and Hessian (K, 6, 6) of the negative log posterior."""
        gradients, hessians, _, _ = compiled.linearise(
            problem.T_reference, offsets, problem.seen, problem.points, problem.rows,
            problem.max_distance_m**2, problem.weight, problem.weight_width,
        )  # fmt: skip
        gradients *= problem.efficiency.gradient
        hessians *= problem.efficiency.hessian
        return gradients + problem.prior.gradient(offsets), hessians + problem.prior.hessian

    def mini_batch(self, problem: Problem, number: int, size: int) -> Problem:
        """The problem on every so-many-th point, starting at ``number``, weighed as the whole."""
        batch = mini_batch(problem, number, size)
        points, rows = np.ascontiguousarray(batch.points), np.ascontiguousarray(batch.rows)
        return batch._replace(points=points, rows=rows)

    def stein_newton(
        self, offsets: Floats, gradients: Floats, hessians: Floats, metric: Floats, damping: float
    ) -> tuple[Floats, Floats]:
        """Stein force (K, 6) and Newton direction (K, 6)."""
        return stein.stein_newton(offsets, gradients, hessians, metric, damping)

    def stein_force(self, offsets: Floats, gradients: Floats, metric: Floats) -> Floats:
        """Stein force (K, 6)."""
        return stein.stein_force(offsets, gradients, metric)

    def median_squared_distance(self, offsets: Floats) -> Floats:
        """Median squared Euclidean distance between different particles (K, 6)."""
        first, second = np.triu_indices(len(offsets), k=1)
        return np.median(((offsets[first] - offsets[second]) ** 2).sum(axis=1))

    def identity(self) -> Floats:
        """The identity (6, 6)."""
        return np.eye(6)

    def rotation_chart(self, offsets: Floats) -> tuple[Floats, Floats]:
        """Offsets (K, 6) with Euler angles in the rotation-vector chart, and the derivative."""
        return rotation_chart(offsets)

    def numbers(self, *scalars: Floats) -> list[float]:
        """Scalars as Python numbers."""
        return [float(scalar) for scalar in scalars]


def mini_batch(problem: Loaded, number: int, size: int) -> Loaded:
    """Every so-many-th point of a problem, weighed as if they were all.

    Consecutive batches take turns through the cloud; source points come in scan order, so that each
    batch is spread over the scan.
    """
    stride = max(1, len(problem.points) // size)
    rows = slice(number % stride, None, stride)
    points = problem.points[rows]
    whole = len(problem.points) / max(len(points), 1)
    factors = Efficiency(*(whole * factor for factor in problem.efficiency))
    return problem._replace(points=points, rows=problem.rows[rows], efficiency=factors)


def make_backend(config: BackendConfig) -> Backend:
    """Return the backend that the configuration names."""
    if config.name == "numba":
        return NumbaBackend()
    from svnicp.registration.torch_backend import TorchBackend  # noqa: PLC0415

    return TorchBackend(config.device, config.precision)
