# SPDX-License-Identifier: MIT
"""Stein ICP of 2021, the paper's predecessor: State, Info, init, step.

Mini-batches of source points, Euler angles, SVGD with Adam; frame to frame when the target is one
scan. Particles are (x, y, z, roll, pitch, yaw) with R = Rz(yaw) Ry(pitch) Rx(roll) around the
reference pose. The mini-batch gradient is scaled to the whole cloud, as in Eq. (8).
"""

from typing import NamedTuple

import numpy as np

from svnicp.arrays import Floats
from svnicp.config import SteinConfig
from svnicp.registration.backend import Array, Backend, Loaded
from svnicp.registration.euler_chart import rotation_chart
from svnicp.registration.stein_kernel import isotropic_metric
from svnicp.registration.svgd import SvgdState, adam_step
from svnicp.registration.svn import SvnInfo


class SteinIcpState(NamedTuple):
    """What is carried from step to step."""

    offsets: Array
    """(K, 6) particles: translation and Euler angles."""
    iteration: int
    first: Array
    """(K, 6) Adam's running mean of the force."""
    second: Array
    """(K, 6) Adam's running mean of the squared force."""


def init(backend: Backend, offsets: Floats, config: SteinConfig) -> SteinIcpState:  # noqa: ARG001
    """Return the state with particles at these small offsets (K, 6) and Adam at rest."""
    zeros = np.zeros_like(offsets)
    return SteinIcpState(
        offsets=backend.put(offsets),
        iteration=0,
        first=backend.put(zeros),
        second=backend.put(zeros),
    )


def step(
    state: SteinIcpState,
    problem: Loaded,
    backend: Backend,
    config: SteinConfig,
) -> tuple[SteinIcpState, SvnInfo]:
    """Move all particles once on the next mini-batch."""
    batch = backend.mini_batch(problem, state.iteration, config.batch_size)  # Eq. (8)
    vectors, chain = backend.rotation_chart(state.offsets)
    gradients, hessians = backend.linearise(batch, vectors)
    gradients = (gradients[:, None, :] @ chain)[:, 0, :]
    mean_hessian = hessians.mean(0)
    metric = isotropic_metric(backend, state.offsets)
    force = backend.stein_force(state.offsets, gradients, metric)
    first, second, moved = adam_step(SvgdState(*state), force, config.learning_rate)
    info = SvnInfo(
        step_norm=(moved**2).sum(-1).mean() ** 0.5,
        step_sigma=(((moved @ mean_hessian) * moved).sum(-1).mean() / 6.0) ** 0.5,
        kernel_trace=metric.trace(),
        mean_hessian=mean_hessian,
    )
    return SteinIcpState(state.offsets + moved, state.iteration + 1, first, second), info


def rotation_vectors(offsets: Floats) -> Floats:
    """Offsets (K, 6) with Euler angles as offsets with rotation vectors."""
    return rotation_chart(offsets)[0]
