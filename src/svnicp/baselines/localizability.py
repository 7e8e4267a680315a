# SPDX-License-Identifier: MIT
"""Which directions a scan can fix at all, by counting: localizability in the manner of X-ICP.

Translation and rotation have three principal axes each, those of the Hessian's blocks. Along an
axis every match contributes how well its normal, or its lever arm, is aligned with it. Where the
sum over well-aligned matches is small, the axis is not localizable. Counts, not a covariance; with
the prior for what cannot be localized one can be made of them.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from svnicp.arrays import Covariance, Floats
from svnicp.baselines.laplace import information, residual_variance
from svnicp.baselines.matches import Matches, find_matches
from svnicp.baselines.sandwich import covariance_of
from svnicp.baselines.scan_in_map import ScanInMap
from svnicp.lie import ROTATION, TRANSLATION

Category = Literal["full", "partial", "none"]


@dataclass(frozen=True)
class Thresholds:
    """When an axis counts as localizable; the published defaults."""

    combined: float = 300.0
    """Sum over all matches that are not nearly across the axis, for a full axis."""
    strong: float = 150.0
    """Sum over matches that point along the axis, for a full axis."""
    partial: float = 35.0
    """Sum over matches that point along the axis, for one that is fixed by few of them (our own
    choice: it only tells ``partial`` from ``none``, and neither is trusted)."""
    combined_deg: float = 80.0
    """Matches at less than this angle from the axis are counted [deg]."""
    strong_deg: float = 45.0
    """Matches at less than this angle from the axis point along it [deg]."""


@dataclass(frozen=True)
class AxisLocalizability:
    """What a scan knows along, or about, one axis."""

    kind: Literal["translation", "rotation"]
    direction: Floats
    """(3,) unit vector in body axes."""
    combined: float
    strong: float
    category: Category

    @property
    def localizable(self) -> bool:
        """Whether the scan fixes the pose along this axis."""
        return self.category == "full"


def localizability(
    scan: ScanInMap, thresholds: Thresholds | None = None
) -> list[AxisLocalizability]:
    """The six axes of a scan, translation first, each half from weakest to strongest.

    Without enough matches no axis is localizable, and the body's own axes are returned.
    """
    matches = find_matches(scan, "plane")
    if matches is None:
        matches = _no_matches()
    return axes_of(matches, Thresholds() if thresholds is None else thresholds)


def axes_of(matches: Matches, thresholds: Thresholds) -> list[AxisLocalizability]:
    """Localizability of the principal axes of these matches."""
    hessian = information(matches)
    arms = np.cross(matches.points, matches.normals)
    lengths = np.linalg.norm(arms, axis=1, keepdims=True)
    turning = np.divide(arms, lengths, out=np.zeros_like(arms), where=lengths > 0.0)
    found: list[AxisLocalizability] = []
    halves: list[tuple[Literal["translation", "rotation"], slice, Floats]] = [
        ("translation", TRANSLATION, matches.normals), ("rotation", ROTATION, turning),
    ]  # fmt: skip
    for kind, block, vectors in halves:
        for direction in np.linalg.eigh(hessian[block, block])[1].T:
            aligned = np.abs(vectors @ direction)
            combined = _sum_above(aligned, thresholds.combined_deg)
            strong = _sum_above(aligned, thresholds.strong_deg)
            category = _category(combined, strong, thresholds)
            found.append(AxisLocalizability(kind, direction, combined, strong, category))
    return found


def weakest_share(scan: ScanInMap, kind: Literal["translation", "rotation"]) -> float:
    """Smallest combined contribution of the three axes, for each match: 0 where nothing is fixed.

    Minus this is a degeneracy score for ``scores.degeneracy_auc``.
    """
    matches = find_matches(scan, "plane")
    if matches is None:
        return 0.0
    axes = axes_of(matches, Thresholds())
    return min(axis.combined for axis in axes if axis.kind == kind) / len(matches.points)


def localizability_covariance(scan: ScanInMap, thresholds: Thresholds | None = None) -> Covariance:
    """Laplace covariance (6, 6) of localizable axes, and the prior along the others."""
    matches = find_matches(scan, "plane")
    if matches is None:
        return scan.prior_covariance
    keep = np.zeros((6, 6))
    for axis in axes_of(matches, Thresholds() if thresholds is None else thresholds):
        block = TRANSLATION if axis.kind == "translation" else ROTATION
        if axis.localizable:
            keep[block, block] += np.outer(axis.direction, axis.direction)
    trusted = keep @ information(matches) @ keep
    return covariance_of(scan, trusted / residual_variance(matches))


def _category(combined: float, strong: float, thresholds: Thresholds) -> Category:
    """Full with many contributions or enough strong ones, partial with a few strong ones."""
    if combined >= thresholds.combined or strong >= thresholds.strong:
        return "full"
    return "partial" if strong >= thresholds.partial else "none"


def _sum_above(aligned: Floats, angle_deg: float) -> float:
    """Sum of the alignments (n,) nearer to the axis than an angle [deg]."""
    return float(aligned[aligned >= np.cos(np.radians(angle_deg))].sum())


def _no_matches() -> Matches:
    nothing, none = np.zeros((0, 3)), np.zeros(0)
    return Matches(nothing, nothing, nothing, none, np.zeros(0, dtype=np.int64), none)
