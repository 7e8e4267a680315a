# SPDX-License-Identifier: MIT
"""How a registration ended, in a word for programs and a sentence for people."""

import enum

POOR_SCALE = 5.0
"""Residuals this many times larger than their variances explain are no fit."""
LOW_OVERLAP = 0.1
"""With a smaller share of the source in the target there is nothing to go by."""
PART_OVERLAP, LOOSE_SCALE = 0.65, 1.5
"""A smaller share whose residuals are also larger than that is a wrong place."""


class Status(enum.Enum):
    """Outcome of a registration; the value is the human message."""

    CONVERGED = "converged"
    WEAK = (
        "converged, but in some directions the scan adds little to the guess: there the pose is "
        "hardly better than that"
    )
    NOT_CONVERGED = (
        "the particles were still moving at the end, by a good part of a sigma a step: allow more "
        "iterations, or trust the pose less"
    )
    POOR_FIT = (
        "residuals are far larger than the sensor noise explains: a wrong match, moving objects, "
        "or range_noise_m set too small; do not trust the pose"
    )
    LOW_OVERLAP = (
        "only a small part of the source found the target within reach: check guess and overlap; "
        "do not trust the pose"
    )
    TOO_FEW_MATCHES = (
        "too few source points matched the target to estimate a pose: the guess and its prior "
        "covariance are returned unchanged"
    )

    @property
    def ok(self) -> bool:
        """Whether pose and covariance can be used."""
        return self in {Status.CONVERGED, Status.WEAK}

    @property
    def message(self) -> str:
        """The human sentence."""
        return self.value


def is_overlapping(overlap: float, scale: float) -> bool:
    """Whether enough of a scan is in the map, for residuals of this scale."""
    return overlap >= (PART_OVERLAP if scale > LOOSE_SCALE else LOW_OVERLAP)


def is_fit(overlap: float, scale: float) -> bool:
    """Whether a scan may be where this share of it is in the map, with residuals of this scale."""
    return is_overlapping(overlap, scale) and scale <= POOR_SCALE
