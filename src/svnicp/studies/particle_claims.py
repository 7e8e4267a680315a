# SPDX-License-Identifier: MIT
"""The paper's claims about convergence and the number of particles, judged on the corridor."""

from collections.abc import Callable

import numpy as np

from svnicp.studies.claim import KALMAN, OPEN, SIMILAR, SVGD, SVN, Claim, Verdict
from svnicp.studies.evidence import Evidence
from svnicp.studies.packed import array_of
from svnicp.studies.tables import number_text

SCAN_PERIOD_S = 0.1
"""Of the sensors in the paper: 10 scans a second."""


def _svn_converges(evidence: Evidence) -> Verdict:
    found = evidence.path_norms()
    if found is None:
        return OPEN
    norms = {name: array_of(found[name]["norms"]) for name in ("svgd", "svn")}
    at = min(29, len(norms["svn"]) - 1, len(norms["svgd"]) - 1)
    ratio = {name: float(each[at] / max(each[0], 1e-12)) for name, each in norms.items()}
    settled = {name: found[name]["settled"] or "never" for name in norms}
    words = (
        f"step at iteration {at + 1} over the first: SVN {number_text(ratio['svn'])}, SVGD "
        f"{number_text(ratio['svgd'])}; below 1e-4 at iteration {settled['svn']} and "
        f"{settled['svgd']}"
    )
    slower = found["svgd"]["settled"] is None or (
        found["svn"]["settled"] is not None and found["svgd"]["settled"] > found["svn"]["settled"]
    )
    return Verdict(ratio["svn"] < 0.1 and slower, words)


def _svgd_needs_more(evidence: Evidence) -> Verdict:
    count = evidence.plan.config(evidence.preset).stein.num_particles
    columns = ("iterations", "register [s]")
    pairs = [
        (evidence.particles(SVGD, count, c), evidence.particles(SVN, count, c)) for c in columns
    ]
    if any(a is None or b is None for a, b in pairs):
        return OPEN
    shown = (f"{c} {number_text(a or 0)} / {number_text(b or 0)}"
             for c, (a, b) in zip(columns, pairs, strict=True))  # fmt: skip
    return Verdict(all((a or 0) > (b or 0) for a, b in pairs), f"SVGD / SVN: {', '.join(shown)}")


def _trend(method: str, column: str, *, falls: bool) -> Callable[[Evidence], Verdict]:
    """Judge by the ablation: fewest against most particles."""

    def judge(evidence: Evidence) -> Verdict:
        counts = [count for count in evidence.plan.particles if count > 1]
        values = [evidence.particles(method, count, column) for count in counts]
        if any(value is None for value in values):
            return OPEN
        known = [value or 0.0 for value in values]
        shown = ", ".join(f"K={c} {number_text(v)}" for c, v in zip(counts, known, strict=True))
        return Verdict((known[-1] < known[0]) == falls, f"{column}: {shown}")

    return judge


def _accuracy_stays(evidence: Evidence) -> Verdict:
    holds, shown = True, []
    for method in (SVGD, SVN):
        values = [evidence.particles(method, count, "APE [m]") for count in evidence.plan.particles]
        known = [value for value in values if value is not None]
        if len(known) < 2:
            return OPEN
        holds = holds and max(known) <= SIMILAR * min(known)
        shown.append(f"{method} {', '.join(f'{number_text(value)} m' for value in known)}")
    return Verdict(holds, f"APE over K: {'; '.join(shown)}")


def _shape_stays(evidence: Evidence) -> Verdict:
    counts = [count for count in evidence.plan.particles if count > 1]
    found = [evidence.sigma_along("svn", count) for count in counts]
    known = [values for values in found if values is not None and len(values) > 4]
    if len(known) < 2:
        return OPEN
    quantiles = np.array([np.quantile(values, [0.5, 0.95]) for values in known])
    ratios = quantiles.max(axis=0) / np.maximum(quantiles.min(axis=0), 1e-12)
    words = f"largest over smallest: median {ratios[0]:.2f}, 95 % quantile {ratios[1]:.2f}"
    return Verdict(bool(np.all(ratios <= SIMILAR)), words)


def _zigzag(evidence: Evidence) -> Verdict:
    found = evidence.path_norms()
    if found is None:
        return OPEN
    detours = {}
    for name in ("svgd", "svn"):
        ways = np.array(found[name]["xy"], dtype=np.float64)
        walked = np.linalg.norm(np.diff(ways, axis=0), axis=2).sum(axis=0)
        direct = np.linalg.norm(ways[-1] - ways[0], axis=1)
        detours[name] = float(np.median(walked / np.maximum(direct, 1e-9)))
    words = f"way over distance: SVGD {detours['svgd']:.2f}, SVN {detours['svn']:.2f}"
    return Verdict(detours["svgd"] > detours["svn"], words)


def _svgd_never_stops(evidence: Evidence) -> Verdict:
    count = evidence.plan.config(evidence.preset).stein.num_particles
    limits = [evidence.particles(method, count, "hit the limit") for method in (SVGD, SVN)]
    if limits[0] is None or limits[1] is None:
        return OPEN
    words = f"share of scans at the limit: SVGD {limits[0]:.2f}, SVN {limits[1]:.2f}"
    return Verdict(limits[0] > 0.5 and limits[0] > limits[1], words)


def _fast_enough(evidence: Evidence) -> Verdict:
    drive = evidence.corridor("svn+adaptive", 10)
    if drive is None or drive.get("mean_s") is None:
        return OPEN
    words = f"{1e3 * drive['mean_s']:.0f} ms a scan with K = 10 on one core"
    return Verdict(drive["mean_s"] < SCAN_PERIOD_S, words)


def _ten_are_enough(evidence: Evidence) -> Verdict:
    difference = evidence.fewer_particles("svn+adaptive", 10, 30)
    many = evidence.particles(KALMAN, 30, "APE [m]")
    if difference is None or many is None:
        return OPEN
    words = (
        f"APE with 10 minus with 30: {1e3 * difference.value:.1f} mm [{1e3 * difference.low:.1f}, "
        f"{1e3 * difference.high:.1f}], of {1e3 * many:.0f} mm"
    )
    return Verdict(difference.high < (SIMILAR - 1.0) * many, words)


CLAIMS: tuple[Claim, ...] = (
    Claim("converges", "SVN converges within 30 iterations (step a tenth of the first); SVGD still "
          "moves later.", "59 to 75 iterations; never", _svn_converges),
    Claim("iterations", "SVGD needs more iterations and time.", "99 / 65, 0.611 / 0.469 s",
          _svgd_needs_more),
    Claim("zigzag", "Particles of SVGD go in zigzags (longer ways than SVN's).", "a figure",
          _zigzag),
    Claim("early-stop", "SVGD often fails to meet the early stop (more than half), SVN less.",
          "96 to 99 of 100 iterations", _svgd_never_stops),
    Claim("more-kl", "With more particles KL of the rotation falls.", "1073 to 13.7",
          _trend(SVN, "KL rot.", falls=True)),
    Claim("more-nne", "With more particles NNE falls.", "1.37 to 0.88",
          _trend(SVN, "NNE trans.", falls=True)),
    Claim("more-kl-svgd", "The same for SVGD's KL of the rotation.", "928.5 to 7.28",
          _trend(SVGD, "KL rot.", falls=True)),
    Claim("more-nne-svgd", "The same for SVGD's NNE.", "1.30 to 0.88",
          _trend(SVGD, "NNE trans.", falls=True)),
    Claim("more-time", "With more particles a registration takes longer.", "0.337 to 0.691 s",
          _trend(SVN, "register [s]", falls=False)),
    Claim("accuracy", f"Accuracy does not depend on the number of particles (APE within {SIMILAR} "
          "times).", "1.21 to 1.38 m", _accuracy_stays),
    Claim("shape", f"The distribution of sigma does not depend on the number of particles (median "
          f"and 95 % quantile within {SIMILAR} times).", "a figure", _shape_stays),
    Claim("ten", "Ten particles are enough for fusion (APE at most a quarter above 30).",
          "a figure", _ten_are_enough),
    Claim("online", "With 5 to 10 particles it is fast enough to be used online (0.1 s a scan).",
          "0.369 s on a GPU", _fast_enough),
)  # fmt: skip
