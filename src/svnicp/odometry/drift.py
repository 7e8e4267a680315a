# SPDX-License-Identifier: MIT
"""The error of the map itself, which no scan that is matched to it can see.

New surfaces enter the map at a pose that is wrong by some error, and later scans are matched to
them: the map's error is handed on and grows as the map renews itself. When all of it is renewed it
has taken over about one scan's error; per scan, in proportion to the share of new surfaces. A body
at rest renews nothing and does not drift.
"""

import numpy as np

from svnicp.arrays import Covariance, Transform
from svnicp.config import DriftConfig
from svnicp.lie import se3_adjoint, se3_inverse


class MapDrift:
    """Covariance of the map around the body, in the body tangent."""

    def __init__(self, config: DriftConfig) -> None:
        self._config = config
        self.covariance: Covariance = np.zeros((6, 6))

    def move(self, T_previous_body: Transform) -> None:
        """Carry the error along with the body."""
        A = se3_adjoint(se3_inverse(T_previous_body))
        self.covariance = A @ self.covariance @ A.T

    def renew(self, share: float, scan_covariance: Covariance) -> None:
        """Let a share of the map take over the error of a scan, what the scan itself decided."""
        self.covariance = self.covariance + self._config.renewal * share * scan_covariance

    def restart(self, covariance: Covariance) -> None:
        """Begin a new map whose place is this uncertain."""
        self.covariance = covariance.copy()
