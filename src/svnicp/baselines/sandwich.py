# SPDX-License-Identifier: MIT
"""From a cost's curvature and the noise of its gradient to a covariance, blind directions included.

The estimate moves by -H⁻¹ times what noise does to the gradient, so that its covariance is
H⁻¹ M H⁻¹. Where H has no curvature that cannot be inverted, and a pseudo-inverse would say 0, the
most wrong answer of all: there only the prior is known.
"""

import numpy as np

from svnicp.arrays import Covariance, Floats
from svnicp.baselines.scan_in_map import ScanInMap


def sandwich(curvature: Floats, meat: Floats, prior: Covariance, *, with_prior: bool) -> Covariance:
    """Covariance (6, 6) of the minimum of a cost in units of information.

    Parameters
    ----------
    curvature
        (6, 6) Hessian H of the cost, scaled like a negative log likelihood. It may be singular or,
        with exact second derivatives, indefinite.
    meat
        (6, 6) covariance M of the gradient; H itself if the noise is what the cost takes it for.
    prior
        (6, 6) covariance of the guess.
    with_prior
        Whether the estimate minimises cost and prior together. The guess is then one more
        measurement: (H + Λ)⁻¹ (M + Λ) (H + Λ)⁻¹ with Λ the prior's inverse. Otherwise H⁻¹ M H⁻¹
        where the scan knows more than the guess, and the prior's variance elsewhere.
    """
    root = np.linalg.cholesky(prior)
    information, axes = np.linalg.eigh(_symmetric(root.T @ curvature @ root))
    # In these axes the prior has unit variance, and the scan the information of the eigenvalue.
    noise = axes.T @ root.T @ meat @ root @ axes
    blind = information <= (0.0 if with_prior else 1.0)
    noise[blind] = noise[:, blind] = 0.0
    information = np.where(blind, 0.0, information)
    if with_prior:
        gain = 1.0 / (information + 1.0)
        spread = gain[:, None] * (noise + np.eye(6)) * gain
    else:
        gain = np.where(blind, 0.0, 1.0 / np.where(blind, 1.0, information))
        spread = gain[:, None] * noise * gain + np.diag(blind.astype(np.float64))
    carry = root @ axes
    return _symmetric(carry @ spread @ carry.T)


def covariance_of(scan: ScanInMap, curvature: Floats, meat: Floats | None = None) -> Covariance:
    """``sandwich`` with the prior of a scan; without ``meat`` the noise is what the cost says."""
    return sandwich(
        curvature, curvature if meat is None else meat, scan.prior_covariance,
        with_prior=scan.config.prior.use,
    )  # fmt: skip


def _symmetric(matrix: Floats) -> Floats:
    return 0.5 * (matrix + matrix.T)
