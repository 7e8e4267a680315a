# SPDX-License-Identifier: MIT
"""Stein Variational Newton on the particles' chart: State, Info, init, step.

One step moves every particle along the Newton direction of the Stein functional. With one particle
there is nothing to repel and the step is the damped Gauss-Newton step.
"""

from typing import NamedTuple

from svnicp.arrays import Floats
from svnicp.config import SteinConfig
from svnicp.registration.backend import Array, Backend, Loaded
from svnicp.registration.stein_kernel import isotropic_metric, whitened_metric


class SvnState(NamedTuple):
    """What is carried from step to step."""

    offsets: Array
    """(K, 6) particles as offsets from the reference pose."""
    iteration: int


class SvnInfo(NamedTuple):
    """What one step says about itself; scalars of the backend."""

    step_norm: Array
    """Root mean square of the steps, metres and radians mixed (the paper's criterion)."""
    step_sigma: Array
    """Root mean square of the steps per axis, in standard deviations of the mean Hessian."""
    kernel_trace: Array
    """Trace of the kernel's metric: six times 2/h for the isotropic kernel."""
    mean_hessian: Array
    """(6, 6) mean Hessian of the particles before the step."""


def init(backend: Backend, offsets: Floats, config: SteinConfig) -> SvnState:  # noqa: ARG001
    """Return the state with particles at these offsets (K, 6)."""
    return SvnState(offsets=backend.put(offsets), iteration=0)


def step(
    state: SvnState,
    problem: Loaded,
    backend: Backend,
    config: SteinConfig,
) -> tuple[SvnState, SvnInfo]:
    """Move all particles once.

    Departure: the paper applies the full Newton step. Damping and a limit in standard deviations
    keep 100 particles from diverging (test_svn_is_stable_with_a_hundred_particles).
    """
    gradients, hessians = backend.linearise(problem, state.offsets)
    mean_hessian = hessians.mean(0)
    if config.kernel == "whitened":
        metric = whitened_metric(mean_hessian)
    else:
        metric = isotropic_metric(backend, state.offsets)
    _, direction = backend.stein_newton(state.offsets, gradients, hessians, metric, config.damping)
    step_size = config.step_size if len(direction) > 1 else 1.0
    moved = limited(step_size * direction, mean_hessian, config.max_step_sigma)  # Eq. (16)
    info = SvnInfo(
        step_norm=(moved**2).sum(-1).mean() ** 0.5,
        step_sigma=(((moved @ mean_hessian) * moved).sum(-1).mean() / 6.0) ** 0.5,
        kernel_trace=metric.trace(),
        mean_hessian=mean_hessian,
    )
    return SvnState(offsets=state.offsets + moved, iteration=state.iteration + 1), info


def limited(moved: Array, mean_hessian: Array, max_step_sigma: float) -> Array:
    """Steps (K, 6) shortened to at most this many standard deviations; 0 means no limit."""
    if max_step_sigma == 0.0:
        return moved
    length = ((moved @ mean_hessian) * moved).sum(-1).clip(min=1e-300) ** 0.5
    return moved * (max_step_sigma / length.clip(min=max_step_sigma))[:, None]


def rotation_vectors(offsets: Floats) -> Floats:
    """Offsets (K, 6) as translation and rotation vector, which they are already."""
    return offsets
