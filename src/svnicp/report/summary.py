# SPDX-License-Identifier: MIT
"""A run in a few sentences: where it was weak, what it could not use, how sure it is, how right.

The first sentence is the one to read: "Well constrained except along x between 12 s and 31 s."
Axes are those of the body; times are since the first scan.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from svnicp.arrays import Floats
from svnicp.odometry.outcome import Fate
from svnicp.report.numbers import angle, length, moment, share, three_digits
from svnicp.report.run_series import RunSeries, Scans
from svnicp.report.spells import BRIEF_SCANS, Mask, Spell, spells
from svnicp.report.truth_errors import TruthErrors

MOST = 0.95
"""A spell that takes this share of the run is called the whole of it."""
THROUGHOUT = "throughout"
MANY_AXES = 3
"""So many axes that are weak throughout are no exception any more."""
SPELLS_TOLD = 2
"""So many spells of a direction are told one by one; the rest is counted."""
GROUPS_TOLD = 2
"""So many directions are told with their times, the longest first; the rest is named."""
CALIBRATED = 1.25
"""Errors within this factor of the stated sigmas are as stated."""
MANY = 0.1
"""From this share on, scans that were not used belong into the first sentence."""
LOST = 0.5
"""A run with a larger share of scans that were not used has not been odometry."""


@dataclass(frozen=True)
class Summary:
    """What to read first."""

    verdict: str
    """One sentence on how well the scans constrained the pose."""
    level: str
    """``good``, ``weak`` or ``lost``."""
    sentences: tuple[str, ...]
    """What else there is to say, the most important first."""


def summary(series: RunSeries) -> Summary:
    """Say what there is to say about a run."""
    scans = series.scans
    verdict, level = constraint_in_words(scans.weak, scans.used, scans.seconds)
    idle = float(np.mean(~scans.used))
    if MANY < idle <= LOST:
        verdict, level = f"{verdict[:-1]}, and {share(idle)} of the scans not used.", "weak"
    sentences = [unused_in_words(scans), _sigma_in_words(series)]
    if series.truth is not None:
        sentences += [_error_in_words(series), calibration_in_words(series.truth)]
    return Summary(verdict, level, tuple(sentence for sentence in sentences if sentence))


def constraint_in_words(weak: Mask, used: Mask, seconds: Floats) -> tuple[str, str]:
    """Return when which axes were weak, in a sentence, and how bad that is in a word.

    Parameters
    ----------
    weak
        (n, 6) axes that each scan hardly constrains.
    used
        (n,) scans that told anything at all.
    seconds
        (n,) times of the scans [s].
    """
    if np.mean(~used) > LOST:
        return "Lost: most scans could not be used, and the pose is only predicted.", "lost"
    if len(used) == 1:
        return "A single scan, which begins the map and is matched with nothing.", "weak"
    found = [spells(weak[:, axis], seconds) for axis in range(6)]
    long = [[spell for spell in one if spell.num_scans >= BRIEF_SCANS] for one in found]
    if not any(long):
        brief = ", but for a few single scans" if any(found) else ""
        return f"Well constrained in all six axes{brief}.", "good"
    axes_by_time: dict[str, list[int]] = {}
    for axis in sorted(range(6), key=lambda axis: -sum(map(_length_s, long[axis]))):
        if long[axis]:
            axes_by_time.setdefault(when_in_words(long[axis], seconds), []).append(axis)
    when, first = next(iter(axes_by_time.items()))
    if len(first) == 6:
        return f"Hardly constrained in any direction {when}.", "weak"
    groups = list(axes_by_time.items())
    parts = [f"{axes_in_words(axes)} {when}" for when, axes in groups[:GROUPS_TOLD]]
    rest = [axis for _, axes in groups[GROUPS_TOLD:] for axis in axes]
    if rest:
        parts.append(f"at shorter times {axes_in_words(rest)}")
    mostly = len(axes_by_time.get(THROUGHOUT, ())) >= MANY_AXES
    lead = "Hardly constrained" if mostly else "Well constrained except"
    return f"{lead} {_list(parts, '; and ', '; ')}.", "weak"


def when_in_words(found: list[Spell], seconds: Floats) -> str:
    """Return when a list of spells was, such as ``between 12 s and 31 s``."""
    duration_s = float(seconds[-1] - seconds[0])
    if sum(map(_length_s, found)) >= MOST * duration_s:
        return THROUGHOUT
    longest = sorted(found, key=_length_s, reverse=True)[:SPELLS_TOLD]
    told = [_between(spell) for spell in sorted(longest)]
    if len(found) > len(told):
        rest = len(found) - len(told)
        told.append(f"{rest} shorter time{'s' if rest > 1 else ''}")
    return _list(told)


def axes_in_words(axes: list[int]) -> str:
    """Return axes of a tangent such as ``along x and y and about z``."""
    parts = []
    for word, kind in (("along", range(3)), ("about", range(3, 6))):
        names = ["xyz"[axis % 3] for axis in sorted(axes) if axis in kind]
        if names:
            parts.append(f"{word} {_list(names)}")
    return " and ".join(parts)


def unused_in_words(scans: Scans) -> str:
    """Return how many scans were not used, and why; empty if all were."""
    count = int(np.sum(~scans.used))
    if count == 0:
        return f"All {len(scans)} scans were used." if len(scans) > 1 else ""
    reasons = Counter(
        status for status, used in zip(scans.statuses, scans.used, strict=True) if not used
    )
    why = "; ".join(f"{number} because {because(word)}" for word, number in reasons.most_common())
    worst = max(spells(~scans.used, scans.seconds), key=lambda spell: spell.num_scans)
    where = "" if worst.num_scans < BRIEF_SCANS else f" Most of them {_between(worst)}."
    return f"{count} of {len(scans)} scans were not used: {why}.{where}"


def because(status: str) -> str:
    """Return the reason in the message of a status."""
    if status.upper() not in Fate.__members__:
        return status
    return Fate[status.upper()].value.split(":")[0]


def travel_direction(positions: Floats, reach_m: float = 1.0) -> Floats | None:
    """Unit vector (3,) from where the body was a metre before to the last of (n, 3) positions."""
    chords = positions[-1] - positions
    far = np.flatnonzero(np.linalg.norm(chords, axis=1) >= reach_m)
    if len(far) == 0:
        return None
    chord = chords[far[-1]]
    return chord / np.linalg.norm(chord)


def sigmas_along_across(scans: Scans) -> tuple[float, float] | None:
    """Sigma of the last position along the way, and the largest across it [m]; None at rest."""
    direction = travel_direction(scans.positions)
    if scans.covariances is None or direction is None:
        return None
    R = scans.T_world_body[-1, :3, :3]
    position_cov = R @ scans.covariances[-1, :3, :3] @ R.T
    along = float(np.sqrt(direction @ position_cov @ direction))
    across = np.eye(3) - np.outer(direction, direction)
    return along, float(np.sqrt(np.linalg.eigvalsh(across @ position_cov @ across)[-1]))


def calibration_in_words(truth: TruthErrors) -> str:
    """Return whether the stated sigmas keep their word; empty where they cannot be compared."""
    told = truth.steps or truth.absolute
    if told is None:
        return ""
    what = "steps from scan to scan" if truth.steps is not None else "poses"
    anees = told.whole.anees
    ratio = float(np.sqrt(anees))
    if 1.0 / CALIBRATED <= ratio <= CALIBRATED:
        judged = "as large as the stated sigmas say"
    elif ratio > 1.0:
        judged = f"{three_digits(ratio)} times as large as the stated sigmas say: over-confident"
    else:
        judged = f"only {three_digits(ratio)} times as large as the stated sigmas say: cautious"
    return f"Errors of {what} are {judged} (ANEES {three_digits(anees)}; 1 is calibrated)."


def _sigma_in_words(series: RunSeries) -> str:
    """Return how sure the last pose is."""
    scans = series.scans
    if scans.covariances is None or len(scans) < 2:
        return ""
    turn = angle(float(np.sqrt(np.linalg.eigvalsh(scans.covariances[-1, 3:, 3:])[-1])))
    ways = sigmas_along_across(scans)
    if ways is None:
        size = length(float(np.sqrt(np.linalg.eigvalsh(scans.covariances[-1, :3, :3])[-1])))
        return f"At the end, one sigma is {size} in position and {turn} in rotation."
    return (
        f"After {series.path_m:.0f} m, one sigma is {length(ways[0])} along the way, "
        f"{length(ways[1])} across it, and {turn} in rotation."
    )


def _error_in_words(series: RunSeries) -> str:
    """Return how far the last pose is from the truth, and whether that was stated."""
    errors, sigmas = series.scans.errors, series.scans.sigmas
    if errors is None:
        return ""
    known = np.flatnonzero(np.isfinite(errors[:, 0]))
    last = errors[known[-1]]
    size = float(np.linalg.norm(last[:3]))
    path_m = _true_path(series)
    part = f" ({100.0 * size / path_m:.2f} % of the path)" if path_m >= 1.0 else ""
    words = f"The true error at the end is {length(size)}{part}"
    if len(last) == 6:
        words += f" and {angle(float(np.linalg.norm(last[3:])))}"
    if sigmas is None:
        return f"{words}."
    stated = sigmas[known[-1], : len(last)]
    outside = np.flatnonzero(np.abs(last) > 3.0 * stated).tolist()
    where = f"outside 3 sigma {axes_in_words(outside)}" if outside else "inside 3 sigma in all axes"
    return f"{words}, {where}."


def _true_path(series: RunSeries) -> float:
    """Length of the true path [m]."""
    if series.truth is None:
        return 0.0
    return float(np.linalg.norm(np.diff(series.truth.true_positions, axis=0), axis=1).sum())


def _length_s(spell: Spell) -> float:
    return spell.end_s - spell.start_s


def _between(spell: Spell) -> str:
    """Return when a spell was."""
    if moment(spell.start_s) == moment(spell.end_s):
        return f"at {moment(spell.start_s)}"
    return f"between {moment(spell.start_s)} and {moment(spell.end_s)}"


def _list(parts: list[str], last: str = " and ", other: str = ", ") -> str:
    """Return words as a list."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{other.join(parts[:-1])}{last}{parts[-1]}"
