# SPDX-License-Identifier: MIT
"""How a registration ended, in a word for programs and a sentence for people."""

import enum


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
