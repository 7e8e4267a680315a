# SPDX-License-Identifier: MIT
"""Stein Variational Gradient Descent with Adam, the paper's baseline: State, Info, init, step.

Same problem, kernel and particles as SVN; only the direction differs, as in the paper's SVGD-ICP.
Departure: the release lets SVGD work on Euler angles while SVN works on rotation vectors; here both
share one chart, so that a comparison compares the directions.
"""

from typing import NamedTuple

import numpy as np

from svnicp.arrays import Floats
from svnicp.config import SteinConfig
from svnicp.registration.backend import Array, Backend, Loaded
from svnicp.registration.stein_kernel import isotropic_metric, whitened_metric
from svnicp.registration.svn import SvnInfo

FIRST_DECAY, SECOND_DECAY, ADAM_FLOOR = 0.9, 0.999, 1e-8


class SvgdState(NamedTuple):
    """What is carried from step to step."""

    offsets: Array
    """(K, 6) particles as offsets from the reference pose."""
    iteration: int
    first: Array
    """(K, 6) Adam's running mean of the force."""
    second: Array
    """(K, 6) Adam's running mean of the squared force."""


def init(backend: Backend, offsets: Floats, config: SteinConfig) -> SvgdState:  # noqa: ARG001
    """Return the state with particles at these offsets (K, 6) and Adam at rest."""
    zeros = np.zeros_like(offsets)
    return SvgdState(
        offsets=backend.put(offsets),
        iteration=0,
        first=backend.put(zeros),
        second=backend.put(zeros),
    )


def step(
    state: SvgdState,
    problem: Loaded,
    backend: Backend,
    config: SteinConfig,
) -> tuple[SvgdState, SvnInfo]:
    """Move all particles once along Adam's direction of the Stein force."""
    gradients, hessians = backend.linearise(problem, state.offsets)
    mean_hessian = hessians.mean(0)
    if config.kernel == "whitened":
        metric = whitened_metric(mean_hessian)
    else:
        metric = isotropic_metric(backend, state.offsets)
    force = backend.stein_force(state.offsets, gradients, metric)  # Eq. (7)
    first, second, moved = adam_step(state, force, config.learning_rate)
    info = SvnInfo(
        step_norm=(moved**2).sum(-1).mean() ** 0.5,
        step_sigma=(((moved @ mean_hessian) * moved).sum(-1).mean() / 6.0) ** 0.5,
        kernel_trace=metric.trace(),
        mean_hessian=mean_hessian,
    )
    moved_state = SvgdState(
        offsets=state.offsets + moved, iteration=state.iteration + 1, first=first, second=second
    )
    return moved_state, info  # Eq. (4)


def adam_step(state: SvgdState, force: Array, learning_rate: float) -> tuple[Array, Array, Array]:
    """Adam's running means after this force (K, 6), and the step (K, 6) it takes."""
    count = state.iteration + 1
    first = FIRST_DECAY * state.first + (1.0 - FIRST_DECAY) * force
    second = SECOND_DECAY * state.second + (1.0 - SECOND_DECAY) * force**2
    mean = first / (1.0 - FIRST_DECAY**count)
    spread = (second / (1.0 - SECOND_DECAY**count)) ** 0.5
    return first, second, learning_rate * mean / (spread + ADAM_FLOOR)


def rotation_vectors(offsets: Floats) -> Floats:
    """Offsets (K, 6) as translation and rotation vector, which they are already."""
    return offsets
