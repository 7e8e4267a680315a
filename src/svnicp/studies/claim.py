# SPDX-License-Identifier: MIT
"""What a claim is, what becomes of it, and the names and thresholds that claims share.

A claim is judged as it is worded, on what was computed; where the wording has no number ("similar",
"significantly") the threshold is named in the claim.
"""

from collections.abc import Callable
from dataclasses import dataclass

from svnicp.studies.evidence import Evidence
from svnicp.studies.tables import number_text

SVGD, SVN, FIXED, KALMAN = "SVGD-ICP", "SVN-ICP", "SVN-ICP + KF-fix", "SVN-ICP + KF"
RED = 1.5
"""An APE this many times the other one's is a "notable difference"."""
SIMILAR = 1.25
"""An APE at most this many times the other one's is "similar"."""


@dataclass(frozen=True)
class Verdict:
    """What became of a claim."""

    holds: bool | None
    """None if the numbers are missing."""
    number: str
    """What was found, in words."""


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper."""

    name: str
    words: str
    paper: str
    """The paper's own number."""
    judge: Callable[[Evidence], Verdict]


OPEN = Verdict(None, "not computed")


def metres(ape_m: float | None) -> str:
    """Return an APE in words: unknown, failed (infinite), or a length."""
    if ape_m is None:
        return "?"
    return "failed" if ape_m == float("inf") else f"{number_text(ape_m)} m"
