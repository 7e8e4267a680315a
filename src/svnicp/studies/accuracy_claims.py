# SPDX-License-Identifier: MIT
"""The paper's claims about accuracy and robustness, judged by tables 1 and 2."""

from collections.abc import Callable

import numpy as np

from svnicp.studies.claim import (
    FIXED,
    KALMAN,
    OPEN,
    RED,
    SIMILAR,
    SVGD,
    SVN,
    Claim,
    Verdict,
    metres,
)
from svnicp.studies.evidence import Evidence
from svnicp.studies.split import AGGRESSIVE, GEODE, MIXED, PAPER_SCENARIOS, WELL_STRUCTURED
from svnicp.studies.tables import number_text


def _pairs(evidence: Evidence, first: str, second: str, names: tuple[str, ...]) -> str:
    shown = [
        f"{name} {metres(evidence.ape(first, name))} / {metres(evidence.ape(second, name))}"
        for name in evidence.datasets(names)
    ]
    return "; ".join(shown)


def _compare(
    first: str, second: str, names: tuple[str, ...], holds: Callable[[float, float], bool]
) -> Callable[[Evidence], Verdict]:
    """Judge by the APE of two methods: the claim holds if it does on all datasets."""

    def judge(evidence: Evidence) -> Verdict:
        pairs = evidence.apes(first, second, names)
        if not pairs:
            return OPEN
        count = sum(holds(a, b) for a, b in pairs)
        words = f"{count} of {len(pairs)}: {_pairs(evidence, first, second, names)}"
        return Verdict(count == len(pairs), words)

    return judge


def _stein_icp_fails(evidence: Evidence) -> Verdict:
    pairs = evidence.apes("Stein ICP", SVN, PAPER_SCENARIOS)
    if not pairs:
        return OPEN
    bad = sum(not a <= RED * b for a, b in pairs)
    return Verdict(bad > len(pairs) / 2, f"failed or {RED} times worse on {bad} of {len(pairs)}")


def _imu_helps(evidence: Evidence) -> Verdict:
    pairs = evidence.apes(SVN, KALMAN, AGGRESSIVE)
    if not pairs:
        return OPEN
    better = sum(b < a for a, b in pairs)
    words = f"better on {better} of {len(pairs)}: {_pairs(evidence, SVN, KALMAN, AGGRESSIVE)}"
    return Verdict(better > len(pairs) / 2, words)


def _fixed_noise_fails(evidence: Evidence) -> Verdict:
    pairs = evidence.apes(FIXED, KALMAN, PAPER_SCENARIOS)
    if not pairs:
        return OPEN
    red = sum(a > RED * b for a, b in pairs)
    lost = sum(b > RED * a for a, b in pairs)
    means = [float(np.mean([min(x, 100.0) for x in each])) for each in zip(*pairs, strict=True)]
    words = (
        f"fixed {number_text(means[0])} m, adaptive {number_text(means[1])} m on average; fixed is "
        f"{RED} times worse on {red} of {len(pairs)}, adaptive on {lost}"
    )
    return Verdict(means[1] < means[0] and red > lost, words)


def _never_fails(evidence: Evidence) -> Verdict:
    apes = [evidence.ape(KALMAN, name) for name in evidence.datasets(PAPER_SCENARIOS)]
    known = [ape for ape in apes if ape is not None]
    if not known:
        return OPEN
    failed = sum(ape == float("inf") for ape in known)
    return Verdict(failed == 0, f"{failed} of {len(known)} failed")


CLAIMS: tuple[Claim, ...] = (
    Claim("stein-icp", "The original Stein ICP is not suitable for odometry in such places.",
          "fails on 10 of 11", _stein_icp_fails),
    Claim("similar", f"SVGD and SVN are alike (APE within {SIMILAR} times) in good structure.",
          "0.562 / 0.551 m on urban",
          _compare(SVGD, SVN, WELL_STRUCTURED, lambda a, b: a <= SIMILAR * b and b <= SIMILAR * a)),
    Claim("mixed", "In mixed degradation SVN consistently outperforms SVGD.",
          "16.79 / 8.91 m on laurel_caverns", _compare(SVGD, SVN, MIXED, lambda a, b: b < a)),
    Claim("smooth", "LiDAR alone is comparable (APE at most 1.5 times) to LiDAR with IMU on smooth "
          "ground vehicles.", "0.551 / 0.478 m on urban",
          _compare(SVN, KALMAN, WELL_STRUCTURED, lambda a, b: a <= RED * b)),
    Claim("aggressive", "Under aggressive motion the IMU makes odometry stable and accurate.",
          "20.42 / 2.93 m on sewerage", _imu_helps),
    Claim("fixed-noise", "Fixed noise fails in several sequences, the estimated one does not.",
          "2.995 / 1.369 m on average", _fixed_noise_fails),
    Claim("robust", "With the estimated noise the filter is robust in all tested scenarios.",
          "0 of 17 failed", _never_fails),
    Claim("geode", f"On GEODE the estimated noise changes little (within {RED} times), but on the "
          "long waterway.", "36.80 / 15.58 m on waterway_long",
          _compare(FIXED, KALMAN, tuple(n for n in GEODE if n != "waterway_long"),
                   lambda a, b: a <= RED * b)),
    Claim("long-waterway", "On the long waterway the estimated noise improves the filter.",
          "36.80 / 15.58 m", _compare(FIXED, KALMAN, ("waterway_long",), lambda a, b: b < a)),
    Claim("uneven-tunnel", "In the uneven tunnel the filter does not outperform LiDAR alone.",
          "0.15 / 0.21 m", _compare(SVN, KALMAN, ("uneven_tunnel",), lambda a, b: b >= a)),
)  # fmt: skip
