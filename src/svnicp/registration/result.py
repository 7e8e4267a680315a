# SPDX-License-Identifier: MIT
"""What a registration returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svnicp.arrays import Covariance, Floats, Transform
from svnicp.lie import so3_log
from svnicp.pose_gaussian import PoseGaussian
from svnicp.registration.posterior import WeakDirection
from svnicp.registration.slip import Slip
from svnicp.registration.status import Status


@dataclass(frozen=True)
class Iteration:
    """Diagnostics of one iteration."""

    step_norm: float
    """Root mean square step, metres and radians mixed (the paper's criterion)."""
    step_sigma: float
    """Root mean square step per axis in posterior standard deviations."""
    kernel_trace: float
    """Trace of the Stein kernel's metric."""
    particles: Transform | None
    """(K, 4, 4) poses after the iteration, when recording was asked for."""


@dataclass(frozen=True)
class RegistrationResult:
    """Pose of the source in the target, with its uncertainty."""

    T_target_source: Transform
    """(4, 4) mean pose: maps source coordinates into the target."""
    covariance: Covariance
    """(6, 6) posterior covariance in the right tangent: translation [m], then rotation [rad]."""
    likelihood_covariance: Covariance
    """(6, 6) what the scan alone says, for filters that hold the prior themselves."""
    laplace_covariance: Covariance
    """(6, 6) posterior covariance by curvature alone, without particles, for comparison."""
    particles: Transform
    """(K, 4, 4) poses of the particles."""
    status: Status
    """How it ended; ``message`` is that in a sentence, ``status.ok`` whether to use the pose."""
    weak_directions: list[WeakDirection]
    """Directions in which the scan adds little to the prior, weakest first."""
    iterations: int
    """Stein iterations taken."""
    num_matches: int
    """Source points in the likelihood."""
    residual_scale: float
    """Residuals over what their variances explain: 1 is as expected."""
    history: list[Iteration]
    """Diagnostics of every iteration."""
    lag: Floats | None = None
    """(6, 6) [s] how an error of the velocity used for deskewing shows in the pose, if asked."""
    slips: tuple[Slip, ...] = ()
    """Directions that the scan hardly knows, moved along and matched anew, if asked."""
    hit_limit: bool = False
    """Whether the iteration limit ended it, and not ``stein.tolerance``."""

    def __repr__(self) -> str:
        T, sigmas = self.T_target_source, self.sigmas
        return (
            f"<RegistrationResult {self.status.name}: "
            f"translation {_triple(T[:3, 3], '.4f')} m, "
            f"rotation vector {_triple(np.degrees(so3_log(T[:3, :3])), '.4f')} deg; "
            f"sigmas {_triple(1e3 * sigmas[:3], '.3g')} mm, "
            f"{_triple(np.degrees(sigmas[3:]), '.2g')} deg; "
            f"{self.num_matches} matches, {len(self.particles)} particles, "
            f"{self.iterations} iterations>"
        )

    @property
    def message(self) -> str:
        """How it ended, in a sentence; with what the limit of iterations had to do with it."""
        if not (self.hit_limit and self.status.ok):
            return self.status.message
        return (
            f"{self.status.message}; the limit of {self.iterations} iterations ended it, at steps "
            f"of {self.history[-1].step_sigma:.2g} sigma"
        )

    @property
    def pose(self) -> PoseGaussian:
        """Pose and covariance together, for composing, sampling and export."""
        return PoseGaussian(self.T_target_source, self.covariance)

    @property
    def sigmas(self) -> Floats:
        """(6,) posterior standard deviations per axis [m, rad]."""
        return self.covariance.diagonal() ** 0.5


def _triple(values: Floats, digits: str) -> str:
    """Three numbers in parentheses; what rounds to zero has no sign."""
    words = (format(value, digits) for value in values)
    return f"({', '.join(format(float(word) + 0.0, digits) for word in words)})"
