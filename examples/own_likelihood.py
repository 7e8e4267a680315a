# SPDX-License-Identifier: MIT
"""Your own likelihood: Stein variational Newton on a pose that radio ranges tell instead of scans.

Run it with ``python examples/own_likelihood.py``. The algorithms see a posterior only through the
verbs of a backend; ``linearise`` is the one to replace. You write residuals in standard deviations,
and derivatives are taken numerically here. For scans, ``Config`` chooses between the likelihoods
that come with the package: ``match.metric``, ``noise.variance``, ``noise.weight``.
"""

from typing import NamedTuple

import numpy as np

from svnicp.arrays import Floats, Transform
from svnicp.config import SteinConfig
from svnicp.lie import make_transform, so3_exp
from svnicp.pose_gaussian import PoseGaussian
from svnicp.registration import svn
from svnicp.registration.backend import NumbaBackend
from svnicp.registration.posterior import mean_and_scatter, particle_poses, whole_covariance

BEACONS = np.array([[0.0, 0.0, 3.0], [10.0, 0.0, 0.5], [10.0, 8.0, 3.0], [0.0, 8.0, 0.5]])
ANTENNAS = np.array([[0.8, 0.0, 0.2], [-0.8, 0.4, 0.2], [-0.8, -0.4, 0.9]])  # on the body [m]
SIGMA_M, TAIL, STEP = 0.02, 4.0, 1e-5  # of a range; degrees of freedom; of a difference
PRIOR = np.diag([0.3**2] * 3 + [0.1**2] * 3)


class Ranges(NamedTuple):
    """What was measured, around a first guess."""

    T_reference: Transform
    measured_m: Floats  # (antennas, beacons)

    def residuals(self, offsets: Floats) -> Floats:
        """Residuals (K, n) in standard deviations of particles (K, 6)."""
        T_world_body = particle_poses(self.T_reference, offsets)
        places = T_world_body[:, None, :3, :3] @ ANTENNAS[None, :, :, None]
        places = places[..., 0] + T_world_body[:, None, :3, 3]
        ranges = np.linalg.norm(places[:, :, None] - BEACONS, axis=-1)
        return ((ranges - self.measured_m) / SIGMA_M).reshape(len(offsets), -1)


class RangeBackend(NumbaBackend):
    """The compiled verbs, with a likelihood of Student's t, which forgives reflections."""

    def linearise(self, problem: Ranges, offsets: Floats) -> tuple[Floats, Floats]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Gradient (K, 6) and Hessian (K, 6, 6) of the negative log posterior."""
        rows = problem.residuals(offsets)
        J = np.stack([
            (problem.residuals(offsets + d) - problem.residuals(offsets - d)) / (2.0 * STEP)
            for d in STEP * np.eye(6)
        ], axis=-1)  # fmt: skip
        weights = (TAIL + 1.0) / (TAIL + rows**2)
        gradients = np.einsum("kni,kn->ki", J, weights * rows) + offsets @ np.linalg.inv(PRIOR)
        return gradients, np.einsum("kni,kn,knj->kij", J, weights, J) + np.linalg.inv(PRIOR)


rng = np.random.default_rng(2)
T_world_body = make_transform(so3_exp(np.array([0.02, -0.03, 0.7])), np.array([3.0, 4.5, 1.0]))
T_guess = PoseGaussian(T_world_body, PRIOR).sample(rng, 1)[0]
truth = Ranges(T_world_body, np.zeros((3, 4)))
measured_m = (SIGMA_M * truth.residuals(np.zeros((1, 6)))).reshape(3, 4)
measured_m += SIGMA_M * rng.standard_t(TAIL, (3, 4))

problem, backend, config = Ranges(T_guess, measured_m), RangeBackend(), SteinConfig()
state = svn.init(backend, rng.multivariate_normal(np.zeros(6), PRIOR, 30), config)
for _ in range(30):
    state, _ = svn.step(state, problem, backend, config)
_, hessians = backend.linearise(problem, state.offsets)
T_mean, scatter = mean_and_scatter(particle_poses(T_guess, state.offsets))
pose = PoseGaussian(T_mean, whole_covariance(scatter, hessians.mean(axis=0), 30))

print("position", np.round(T_mean[:3, 3], 3), "truth", T_world_body[:3, 3])
print("sigma [mm, mrad]", np.round(1e3 * np.sqrt(np.diagonal(pose.covariance)), 1))
print(f"squared error in sigmas: {pose.mahalanobis_squared(T_world_body):.1f}, 6 are expected")
