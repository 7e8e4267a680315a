# SPDX-License-Identifier: MIT
"""The error of the map itself, which no scan that is matched to it can see.

New surfaces enter the map at a pose that is wrong by some error, and later scans are matched to
them: the map's error is handed on and grows as the map renews itself. Scans that see the same
surfaces share their errors, so that a filter does not average them away however many it fuses:
while the map renews itself once it takes over about one scan's error, per scan in proportion to the
share of new surfaces. A part of that error is the same again and again (normals that lean, a range
that is off), and adds up with the way instead of its root. A body at rest renews nothing and does
not drift.

Along a direction that scans hardly show they also hold the body back, by a few thousandths of its
way: the part of the map that they match was made by the scans just before, with their errors. No
single scan shows it, steps are all too short alike, and a filter takes them to be right.
"""

import numpy as np

from svnicp.arrays import Covariance, Floats, Transform
from svnicp.config import DriftConfig
from svnicp.lie import se3_adjoint, se3_inverse

SHOWN = np.array([0.002, 0.0003])
"""A scan that does not know a direction to this does not decide it [m], [rad]."""
ROUNDING = 2e-15
"""Share of the largest variance that is rounding."""


class MapDrift:
    """Covariance of the map around the body, in the body tangent."""

    def __init__(self, config: DriftConfig) -> None:
        self._config = config
        self._by_chance: Covariance = np.zeros((6, 6))
        self._alike: Floats = np.zeros((6, 6))
        self._held_back: Floats = np.zeros((6, 3))

    @property
    def covariance(self) -> Covariance:
        """(6, 6) of the map around the body."""
        alike = self._config.systematic * self._alike
        return self._by_chance + alike @ alike.T + self._held_back @ self._held_back.T

    def move(self, T_previous_body: Transform) -> None:
        """Carry the error along with the body."""
        A = se3_adjoint(se3_inverse(T_previous_body))
        self._by_chance = A @ self._by_chance @ A.T
        self._alike = A @ self._alike
        self._held_back = A @ self._held_back

    def begin(self, scan_cov: Covariance) -> None:
        """Let a new map take over the error of its first scan, as one like it has (6, 6).

        All later scans are found where that one seemed to be, and average its error not away. What
        a scan hardly shows they are not found by.
        """
        shown = np.diag(np.repeat(SHOWN, 3) ** 2)
        taken = scan_cov @ np.linalg.solve(scan_cov + shown, shown)
        self._by_chance = self._by_chance + 0.5 * (taken + taken.T)

    def hold_back(self, T_previous_body: Transform, scan_cov: Covariance) -> Covariance:
        """Covariance (6, 6) by which a step (4, 4) may be too short, which the map takes over.

        ``scan_cov`` (6, 6): of the pose by the scan alone, which says what it hardly shows.
        """
        values, axes = np.linalg.eigh(scan_cov[:3, :3])
        hidden = values / (values + self._config.hidden_m**2)
        way_m = float(np.linalg.norm(T_previous_body[:3, 3]))
        root = np.zeros((6, 3))
        root[:3] = self._config.held_back * way_m * (axes * hidden) @ axes.T
        self._held_back = self._held_back + root
        return root @ root.T

    def renew(self, share: float, scan_cov: Covariance, predicted_cov: Covariance) -> Covariance:
        """Let a share of the map take over the error of a scan, as far as scans decide the pose.

        Returns the covariance (6, 6) of what the map took over, where its error grew: after a turn
        new errors may also undo old ones.

        Parameters
        ----------
        share
            Share of new surfaces among those that the scan reached.
        scan_cov
            (6, 6) of the pose by the scan alone.
        predicted_cov
            (6, 6) of the prediction: where it is much better than all scans of one renewal
            together, they decide nothing.
        """
        if share <= 0.0:
            return np.zeros((6, 6))
        together = scan_cov * min(share, 1.0)
        gain = np.linalg.solve(predicted_cov + together, predicted_cov).T
        before = self.covariance
        # Beside a direction that a scan does not see at all, the others drown in rounding.
        seen = scan_cov + np.eye(6) * ROUNDING * np.trace(scan_cov)
        root = np.sqrt(self._config.renewal) * gain @ np.linalg.cholesky(seen)
        self._by_chance = self._by_chance + share * root @ root.T
        self._alike = self._alike + share * root
        values, vectors = np.linalg.eigh(self.covariance - before)
        return (vectors * np.maximum(values, 0.0)) @ vectors.T
