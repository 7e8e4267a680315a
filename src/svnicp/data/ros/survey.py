# SPDX-License-Identifier: MIT
"""The stamps of a whole recording: periods, gaps, and whether the IMU covers the scans.

Only headers are looked at. ``svnicp info`` shows the result; reading scans does without it, except
for the ends of both streams, which are looked up when a recording is opened.
"""

from array import array
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from svnicp.arrays import Integers
from svnicp.data.dataset import Finding
from svnicp.data.ros.bag_files import all_messages
from svnicp.data.ros.raw_message import BagFile, RawMessage
from svnicp.data.stamps import increasing, median_period_s
from svnicp.errors import InputError

GAP_PERIODS = 3.0
"""A step between two stamps longer than this many periods is a gap."""

TAIL_NS = 2_000_000_000
"""How far from the end a last message is looked for at first [ns]."""


class StreamSurvey(NamedTuple):
    """Stamps of one topic."""

    num_messages: int
    duration_s: float
    """Time from the first to the last stamp [s]."""
    period_s: float | None
    """Typical time between two stamps [s]."""
    num_gaps: int
    longest_gap_s: float
    num_out_of_order: int
    """Stamps that are not later than all before."""

    def finding(self, what: str) -> Finding:
        """Return rate and gaps in words."""
        if self.period_s is None:
            return Finding(what, f"{self.num_messages} messages")
        words = [f"{self.num_messages} messages at {1.0 / self.period_s:.1f} Hz"]
        if self.num_gaps:
            words.append(f"{self.num_gaps} gaps, the longest {self.longest_gap_s:.2f} s")
        else:
            words.append("no gaps")
        if self.num_out_of_order:
            words.append(f"{self.num_out_of_order} with a stamp not later than those before")
        return Finding(what, ", ".join(words), f"a gap is over {GAP_PERIODS:.0f} periods")


def survey(files: Sequence[BagFile], topic: str) -> StreamSurvey:
    """Walk through all messages of a topic and look at their stamps."""
    stamps = array("q", header_stamps(all_messages(files, [topic])))
    return survey_stamps(np.array(stamps, dtype=np.int64))


def survey_stamps(stamps_ns: Integers) -> StreamSurvey:
    """Survey of stamps (n,) in the order in which they were recorded [ns]."""
    forward = increasing(stamps_ns)
    kept_ns = stamps_ns[forward]
    period_s = median_period_s(kept_ns)
    steps_s = np.diff(kept_ns) * 1e-9
    gaps_s = steps_s[steps_s > GAP_PERIODS * period_s] if period_s is not None else steps_s[:0]
    return StreamSurvey(
        num_messages=len(stamps_ns),
        duration_s=float(kept_ns[-1] - kept_ns[0]) * 1e-9 if len(kept_ns) else 0.0,
        period_s=period_s,
        num_gaps=len(gaps_s),
        longest_gap_s=float(gaps_s.max(initial=0.0)),
        num_out_of_order=int(np.count_nonzero(~forward)),
    )


def header_stamps(messages: Iterable[RawMessage]) -> Iterable[int]:
    """Yield the stamps of messages whose header can be read [ns]."""
    for message in messages:
        try:
            yield message.reader().header().stamp_ns
        except InputError:  # counted where its content is read
            continue


def last_stamp_ns(files: Sequence[BagFile], topic: str, end_ns: int) -> int | None:
    """Latest of the stamps in the last part of a recording that has any [ns]."""
    tail_ns = TAIL_NS
    while True:
        since_ns = max(end_ns - tail_ns, 0)
        stamps = list(header_stamps(all_messages(files, [topic], since_ns)))
        if stamps or since_ns == 0:
            return max(stamps, default=None)
        tail_ns *= 10


def coverage(
    scans_ns: tuple[int, int], imu_ns: tuple[int, int], scan_period_s: float
) -> Finding | None:
    """What is wrong with the time that an IMU covers, None if it covers the scans.

    Parameters
    ----------
    scans_ns
        First and last stamp of the scans [ns].
    imu_ns
        First and last stamp of the IMU [ns].
    scan_period_s
        Time between two scans, which is left to the IMU at either end [s].
    """
    late_s = (imu_ns[0] - scans_ns[0]) * 1e-9
    early_s = (scans_ns[1] - imu_ns[1]) * 1e-9
    apart_s = max(imu_ns[0] - scans_ns[1], scans_ns[0] - imu_ns[1]) * 1e-9
    if apart_s > 0.0:
        value = f"stamps never meet, {apart_s:.3g} s apart, as of different clocks"
        return Finding("IMU coverage", value)
    missing = [
        (seconds, words)
        for seconds, words in (
            (late_s, f"starts {late_s:.2f} s after the first scan"),
            (early_s, f"ends {early_s:.2f} s before the last scan"),
        )
        if seconds > 2.0 * scan_period_s
    ]
    if not missing:
        return None
    num_scans = round(sum(seconds for seconds, _ in missing) / scan_period_s)
    words = " and ".join(words for _, words in missing)
    return Finding("IMU coverage", f"{words}: about {num_scans} scans have no IMU")
