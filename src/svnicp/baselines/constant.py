# SPDX-License-Identifier: MIT
"""One covariance for all scans, fitted to known errors: what every method has to beat.

A filter tuned by hand does the same. It can be calibrated on average, and cannot know when a scan
is worse than usual.
"""

from dataclasses import dataclass

import numpy as np

from svnicp.arrays import Covariance, Floats
from svnicp.baselines.scan_in_map import ScanInMap
from svnicp.errors import InputError


@dataclass(frozen=True, eq=False)
class ConstantCovariance:
    """A baseline that says the same of every scan."""

    covariance: Covariance
    """(6, 6) in the body tangent."""

    def __call__(self, scan: ScanInMap) -> Covariance:  # noqa: ARG002
        """Return the covariance (6, 6)."""
        return self.covariance


def fit_constant(errors: Floats) -> ConstantCovariance:
    """Constant covariance of highest likelihood for errors (n, 6) of training scans.

    The mean of e e': about zero, not about the mean error, since a covariance is stated about the
    estimate and a bias is an error like others.

    Raises
    ------
    InputError
        If there are fewer errors than make a covariance of full rank, or one is not finite.
    """
    errors = np.asarray(errors, dtype=np.float64)
    if errors.ndim != 2 or errors.shape[1] != 6 or len(errors) < 6 or not np.isfinite(errors).all():
        raise InputError(
            f"A constant covariance needs at least 6 finite errors of 6 components, got an array "
            f"of shape {errors.shape}."
        )
    return ConstantCovariance(errors.T @ errors / len(errors))
