# SPDX-License-Identifier: MIT
"""The paper's claims about others: judged by the peers that are installed, in tables 1 and 2."""

from svnicp.peers.registry import PEERS
from svnicp.studies.claim import KALMAN, OPEN, SVGD, SVN, Claim, Verdict, metres
from svnicp.studies.evidence import Evidence
from svnicp.studies.split import DEGENERATE, PAPER_SCENARIOS

FAILED = float("inf")


def _others_fail(evidence: Evidence) -> Verdict:
    peers = [name for name in evidence.plan.peers if not PEERS[name].uses_imu]
    datasets = evidence.datasets(PAPER_SCENARIOS)
    failures, shown = {}, []
    for method, preset in [(SVGD, None), (SVN, None), *((peer, "peer") for peer in peers)]:
        apes = [evidence.ape(method, dataset, preset) for dataset in datasets]
        known = [ape for ape in apes if ape is not None]
        if known:
            failures[method] = sum(ape == FAILED for ape in known) / len(known)
            shown.append(f"{method} {sum(ape == FAILED for ape in known)} of {len(known)}")
    others = [share for method, share in failures.items() if method in peers]
    if not others or SVN not in failures:
        return OPEN
    ours = max(failures[SVN], failures.get(SVGD, 0.0))
    return Verdict(max(others) > ours, f"failed: {', '.join(shown)}")


def _ours_is_best(evidence: Evidence) -> Verdict:
    best, shown = [], []
    for dataset in evidence.datasets(DEGENERATE):
        ours = evidence.ape(KALMAN, dataset)
        apes = {peer: evidence.ape(peer, dataset, "peer") for peer in evidence.plan.peers}
        known = {peer: ape for peer, ape in apes.items() if ape is not None}
        if ours is not None and known:
            peer = min(known, key=lambda name: known[name])
            best.append(ours < known[peer])
            shown.append(f"{dataset} {metres(ours)} / {peer} {metres(known[peer])}")
    if not best:
        return OPEN
    return Verdict(sum(best) > len(best) / 2, f"{sum(best)} of {len(best)}: {'; '.join(shown)}")


def _bridge(evidence: Evidence) -> Verdict:
    ours = evidence.ape(KALMAN, "bridge")
    peers = {peer: evidence.ape(peer, "bridge", "peer") for peer in evidence.plan.peers}
    known = {peer: ape for peer, ape in peers.items() if ape is not None}
    if ours is None or not known:
        return OPEN
    words = ", ".join(f"{name} {metres(ape)}" for name, ape in [("ours", ours), *known.items()])
    return Verdict(ours < 100.0 and all(ape == FAILED for ape in known.values()), words)


def _closed_loops(evidence: Evidence) -> Verdict:  # noqa: ARG001
    return Verdict(None, "not computed: no system that closes loops is among the peers")


CLAIMS: tuple[Claim, ...] = (
    Claim("lidar-only", "Other odometry with LiDAR alone fails more often than SVGD and SVN.",
          "KISS-ICP fails on 3, GenZ-ICP on 4, SVN on 2 of 11", _others_fail),
    Claim("best", "With the filter ours outperforms the best others in challenging places (lower "
          "APE on more than half).", "0.650 / 1.746 m on long_corridor", _ours_is_best),
    Claim("systems", "It comes near to systems that close loops.", "1.369 / 0.588 m on average",
          _closed_loops),
    Claim("bridge", "On the bridge all others fail, and ours does not diverge.", "44.27 m",
          _bridge),
)  # fmt: skip
