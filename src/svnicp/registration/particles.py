# SPDX-License-Identifier: MIT
"""Where the particles start: around the mode with the Laplace spread, or in the release's box."""

import numpy as np

from svnicp.arrays import Covariance, Floats
from svnicp.config import SteinConfig
from svnicp.registration.stein_kernel import settled_variance

BOX_HALF_WIDTH = np.array([0.3, 0.2, 0.1, 0.004, 0.004, 0.012])
"""The reference release's uniform start [m, m, m, rad, rad, rad]; the paper gives no number."""


def start_offsets(config: SteinConfig, laplace: Covariance, rng: np.random.Generator) -> Floats:
    """Offsets (K, 6) from the reference pose.

    The Laplace start draws standard normals, gives them exactly the mean and covariance that
    settled particles have, and stretches them by the Laplace covariance: fewer iterations, and less
    luck in the reported covariance.
    """
    count = config.num_particles
    if config.algorithm == "gauss_newton" or count == 1:
        return np.zeros((1, 6))
    if config.start == "box":
        return rng.uniform(-BOX_HALF_WIDTH, BOX_HALF_WIDTH, size=(count, 6))
    draws = rng.standard_normal((count, 6))
    draws -= draws.mean(axis=0)
    if count > 2 * draws.shape[1]:
        draws = np.linalg.solve(np.linalg.cholesky(draws.T @ draws / count), draws.T).T
    draws *= np.sqrt(settled_variance(count))
    scale = np.sqrt(np.diag(laplace))
    return draws @ (np.linalg.cholesky(laplace / np.outer(scale, scale)) * scale[:, None]).T
