# SPDX-License-Identifier: MIT
"""A run in a few lines, told from its files: so a run that was resumed is summed up whole."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
from rich.table import Table

from svnicp.cli import show
from svnicp.cli.run_progress import largest_sigmas
from svnicp.cli.wording import angle_in_words, length_in_words, time_in_words
from svnicp.evaluation import RunRecord
from svnicp.odometry.outcome import Fate
from svnicp.odometry.wait import WITHOUT_ESTIMATE

LOST_SHARE = 0.5
"""A run with more scans than this that told nothing has not been odometry."""


@dataclass(frozen=True)
class RunSummary:
    """What there is to say about a run without knowing the truth."""

    num_scans: int
    """Scans with an estimate."""
    without_estimate: dict[str, int]
    """Scans without one, by the reason, a key of ``odometry.wait.WITHOUT_ESTIMATE``."""
    num_not_used: int
    """Scans whose pose is only predicted."""
    reasons: dict[str, int]
    """Why they were not used, by the word in scans.csv."""
    path_m: float
    duration_s: float
    scan_median_s: float | None
    """Typical time to process a scan [s]."""
    scan_p95_s: float | None
    """All but one in twenty took less [s]."""
    final_sigma_m: float | None
    """Largest standard deviation of the last position [m]."""
    final_sigma_rad: float | None
    """The same for the rotation [rad]."""
    weak_share: float
    """Share of the scans that left some direction open."""
    lost: bool
    """Whether most scans were not used."""


def summarise(
    record: RunRecord, slowed_ns: Collection[int] = (), without: Mapping[str, int] | None = None
) -> RunSummary:
    """Sum up what a run has left on disk, and the scans ``without`` an estimate, by the reason.

    Scans with these stamps [ns], during which something was compiled, do not count for the time.
    """
    unused = Counter(scan.status for scan in record.scans if not Fate[scan.status.upper()].used)
    begun = unused.pop("first", 1)
    if begun > 1:  # only the last of them began the map: the others had no points for it
        unused["empty"] += begun - 1
    num_not_used = sum(unused.values())
    sigmas = (None, None) if record.absolute is None else largest_sigmas(record.absolute[-1])
    seconds = record.seconds
    if seconds is not None and len(slowed_ns) < len(seconds):
        seconds = seconds[~np.isin(record.trajectory.stamps_ns, list(slowed_ns))]
    return RunSummary(
        num_scans=len(record),
        without_estimate=dict(without or {}),
        num_not_used=num_not_used,
        reasons=dict(unused.most_common()),
        path_m=record.trajectory.length_m,
        duration_s=record.trajectory.duration_s,
        scan_median_s=None if seconds is None else float(np.median(seconds)),
        scan_p95_s=None if seconds is None else float(np.quantile(seconds, 0.95)),
        final_sigma_m=sigmas[0],
        final_sigma_rad=sigmas[1],
        weak_share=sum(bool(scan.weak_directions) for scan in record.scans) / len(record),
        lost=num_not_used > LOST_SHARE * len(record),
    )


def summary_table(summary: RunSummary, imu_words: str, map_words: str, compile_s: float) -> Table:
    """Return a summary for people."""
    table = show.plain_table()
    table.show_header = False
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("scans", f"{_counted(summary)}, {unused_in_words(summary)}")
    if summary.without_estimate:
        table.add_row("no pose", without_in_words(summary))
    table.add_row("path", f"{summary.path_m:.1f} m in {summary.duration_s:.1f} s")
    table.add_row("IMU", imu_words)
    table.add_row("map", map_words)
    if summary.scan_median_s is not None and summary.scan_p95_s is not None:
        typical, slow = time_in_words(summary.scan_median_s), time_in_words(summary.scan_p95_s)
        compiling = f", and {time_in_words(compile_s)} of compiling, once" if compile_s > 1 else ""
        table.add_row("time", f"{typical} a scan (median), {slow} (95 %){compiling}")
    if summary.final_sigma_m is not None and summary.final_sigma_rad is not None:
        position = length_in_words(summary.final_sigma_m)
        table.add_row(
            "sigma at the end", f"{position}, {angle_in_words(summary.final_sigma_rad)} (largest)"
        )
    table.add_row("weak", f"{100.0 * summary.weak_share:.0f} % of the scans leave a direction open")
    return table


def _counted(summary: RunSummary) -> str:
    """Return how many scans have a pose, among how many if it is not all of them."""
    num_read = summary.num_scans + sum(summary.without_estimate.values())
    few = num_read > summary.num_scans
    return f"{summary.num_scans} of {num_read} have a pose" if few else f"{num_read}"


def without_in_words(summary: RunSummary) -> str:
    """Return how many scans have no pose, and why."""
    counts = summary.without_estimate.items()
    return "; ".join(f"{count} {WITHOUT_ESTIMATE[reason]}" for reason, count in counts)


def unused_in_words(summary: RunSummary) -> str:
    """Return how many scans were not used, and why."""
    if summary.num_not_used == 0:
        return "all used"
    reasons = (f"{count} because {_because(status)}" for status, count in summary.reasons.items())
    return f"{summary.num_not_used} not used: {'; '.join(reasons)}"


def _because(status: str) -> str:
    """The reason in the message of a status, without what was done about it."""
    return Fate[status.upper()].value.split(":")[0]
