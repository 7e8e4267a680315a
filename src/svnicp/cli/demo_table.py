# SPDX-License-Identifier: MIT
"""The table of the demo: ours beside a peer, in as few numbers as tell the story."""

from rich.table import Table

from svnicp.cli import show
from svnicp.cli.wording import length_in_words, time_in_words
from svnicp.evaluation import Consistency, Evaluation
from svnicp.peers.process import OK
from svnicp.peers.row import Row
from svnicp.report.numbers import three_digits
from svnicp.report.run_series import RunSeries
from svnicp.report.summary import sigmas_along_across

NOTHING = "-"
UNSTATED = "not stated"


def demo_table(series: RunSeries, beside: Row, mean_s: float | None) -> Table:
    """Return the table; ``mean_s`` is our mean time per scan [s]."""
    table = show.plain_table()
    table.add_column("")
    table.add_column("svnicp: LiDAR, IMU", justify="right")
    shown = beside.status == OK
    if shown:
        table.add_column(f"{beside.label}: LiDAR", justify="right")
    table.add_column("")
    for name, ours, theirs, remark in _rows(series, beside, mean_s):
        table.add_row(name, ours, *([theirs] if shown else []), remark)
    return table


def _rows(series: RunSeries, beside: Row, mean_s: float | None) -> list[tuple[str, str, str, str]]:
    """Name, ours, theirs, and a remark for people who are new to it."""
    rows = [("path", f"{series.path_m:.1f} m", NOTHING, _true_path(series.evaluation))]
    if series.evaluation is not None:
        rows += _errors(series.evaluation, beside)
    ways = sigmas_along_across(series.scans)
    if ways is not None:
        along, across = map(length_in_words, ways)
        rows.append(("sigma along", along, UNSTATED, "at the end"))
        rows.append(("sigma across", across, UNSTATED, "the largest"))
    if series.evaluation is not None:
        steps, poses = series.evaluation.relative, series.evaluation.absolute
        rows.append(("ANEES, steps", _anees(steps), UNSTATED, "1 is calibrated"))
        rows.append(("ANEES, since start", _anees(poses), UNSTATED, ""))
    rows.append(("time per scan", _time(mean_s), _time(beside.mean_s), "mean"))
    return rows


def _errors(found: Evaluation, beside: Row) -> list[tuple[str, str, str, str]]:
    """Errors against the truth."""
    errors, how = found.ape, "rmse, aligned"
    if errors is None:
        errors, how = found.ape_origin, "rmse, start aligned"
    ape = NOTHING if errors is None else length_in_words(errors.translation.rmse)
    theirs = NOTHING if beside.ape_m is None else length_in_words(beside.ape_m)
    return [
        ("APE", ape, theirs, how),
        (
            "error at the end",
            _end(found.end.translation_m, found.end.share),
            _end(beside.end_m, beside.end_share),
            "start aligned",
        ),
    ]


def _true_path(found: Evaluation | None) -> str:
    return "" if found is None else f"in truth {found.true_path_m:.1f} m"


def _end(metres: float | None, share: float | None) -> str:
    if metres is None:
        return NOTHING
    part = "" if share is None else f" ({three_digits(100.0 * share)} %)"
    return f"{length_in_words(metres)}{part}"


def _anees(found: Consistency | None) -> str:
    if found is None:
        return NOTHING
    return f"{(found.pose or found.translation).anees:.2f}"


def _time(seconds: float | None) -> str:
    return NOTHING if seconds is None else time_in_words(seconds)
