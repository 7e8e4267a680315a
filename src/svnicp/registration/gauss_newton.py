# SPDX-License-Identifier: MIT
"""Weighted Gauss-Newton: one particle that walks to the mode. State, Info, init, step.

It finds where the particles start, and is an algorithm of its own: the plain point estimate with
the Laplace covariance.
"""

from typing import NamedTuple

from svnicp.arrays import Floats
from svnicp.config import SteinConfig
from svnicp.registration import svn
from svnicp.registration.backend import Array, Backend, Loaded
from svnicp.registration.svn import SvnInfo


class GaussNewtonState(NamedTuple):
    """What is carried from step to step."""

    offsets: Array
    """(1, 6) the particle as an offset from the reference pose."""
    iteration: int


def init(backend: Backend, offsets: Floats, config: SteinConfig) -> GaussNewtonState:  # noqa: ARG001
    """Return the state with one particle at the mean of these offsets (K, 6)."""
    return GaussNewtonState(offsets=backend.put(offsets.mean(axis=0)[None, :]), iteration=0)


def step(
    state: GaussNewtonState,
    problem: Loaded,
    backend: Backend,
    config: SteinConfig,
) -> tuple[GaussNewtonState, SvnInfo]:
    """One step H δ = -g, which is what SVN does with a single particle."""
    moved, info = svn.step(svn.SvnState(*state), problem, backend, config)  # Eq. (12)
    return GaussNewtonState(*moved), info


def rotation_vectors(offsets: Floats) -> Floats:
    """Offsets (K, 6) as translation and rotation vector, which they are already."""
    return offsets
