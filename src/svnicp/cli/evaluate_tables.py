# SPDX-License-Identifier: MIT
"""An evaluation on the screen: errors with the digits that evo prints, and whether sigmas hold."""

from rich.console import Console
from rich.table import Table

from svnicp.cli import show
from svnicp.cli.wording import length_in_words
from svnicp.evaluation import Calibration, ErrorStatistics, Evaluation

ERRORS = {
    "ape": "evo_ape -a",
    "ape_origin": "evo_ape --align_origin",
    "ape_unaligned": "evo_ape",
    "rpe": "evo_rpe",
}
"""Trajectory errors of an evaluation, and the command that prints the same."""


def show_evaluation(console: Console, evaluation: Evaluation) -> None:
    """Print all that an evaluation says."""
    console.print(pairing_in_words(evaluation))
    console.print()
    console.print(error_table(evaluation))
    if evaluation.ape is None:
        console.print("no evo_ape -a: a path without a bend leaves the alignment open", style="dim")
    console.print()
    console.print(path_in_words(evaluation))
    console.print(end_in_words(evaluation), soft_wrap=False)
    if evaluation.relative is not None or evaluation.absolute is not None:
        console.print()
        console.print(consistency_table(evaluation))
    if evaluation.nis_mean is not None:
        console.print(f"NIS {evaluation.nis_mean:.2f} on average, and 6 if the filter is right")


def error_table(evaluation: Evaluation) -> Table:
    """Return APE and RPE; metres and degrees with six digits, as evo prints them."""
    table = show.plain_table()
    table.add_column("error", no_wrap=True)
    for name in ("rmse", "mean", "median", "max"):
        table.add_column(name, justify="right")
    for field, words in ERRORS.items():
        errors = getattr(evaluation, field)
        if errors is None:
            continue
        relation = " -r point_distance" if field == "rpe" and evaluation.position_only else ""
        table.add_row(f"{words}{relation} [m]", *_four(errors.translation))
        if errors.rotation is not None:
            table.add_row(f"{words} [deg]", *_four(errors.rotation))
    return table


def consistency_table(evaluation: Evaluation) -> Table:
    """Return how errors compare with the sigmas that were stated."""
    table = show.plain_table()
    table.add_column("stated sigmas", no_wrap=True)
    for name in ("ANEES", "95 % band", "1 sigma", "2 sigma", "3 sigma"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_row("if they are right", "1.00", "", "68 %", "95 %", "99.7 %", style="dim")
    kinds = {"step": evaluation.relative, "since start": evaluation.absolute}
    for kind, consistency in kinds.items():
        if consistency is None:
            continue
        for part in ("pose", "translation", "rotation"):
            found = getattr(consistency, part)
            if found is not None:
                words = "6-D" if part == "pose" else part
                table.add_row(f"{kind}, {words}", *_five(found))
    return table


def pairing_in_words(evaluation: Evaluation) -> str:
    """Return how many poses were compared, and how they were paired."""
    how = "nearest stamps within 10 ms, as evo does"
    if evaluation.interpolated:
        how = "ground truth interpolated, because none is within 10 ms of a scan"
    kind = "true positions (no rotations)" if evaluation.position_only else "true poses"
    return f"{evaluation.num_paired} of {evaluation.num_poses} poses against {kind}: {how}"


def path_in_words(evaluation: Evaluation) -> str:
    """Return the lengths of both paths."""
    words = f"path {evaluation.path_m:.2f} m, in truth {evaluation.true_path_m:.2f} m"
    if evaluation.end.share is not None:
        return f"{words} ({100.0 * (evaluation.path_m / evaluation.true_path_m - 1.0):+.2f} %)"
    return words


def end_in_words(evaluation: Evaluation) -> str:
    """Return the error of the last pose."""
    end = evaluation.end
    words = f"error at the end {length_in_words(end.translation_m)}"
    if end.share is not None:
        words += f" ({100.0 * end.share:.2f} % of the path)"
    if end.rotation_deg is not None:
        words += f", {end.rotation_deg:.3f} deg"
    aligned = "all positions" if evaluation.position_only else "the first pose"
    words += f", {aligned} aligned"
    return words if end.nees is None else f"{words}; NEES {end.nees:.2f}, and 1 is expected"


def _four(errors: ErrorStatistics) -> tuple[str, ...]:
    values = (errors.rmse, errors.mean, errors.median, errors.max)
    return tuple(f"{value:.6f}" for value in values)


def _five(found: Calibration) -> tuple[str, ...]:
    low, high = found.band
    shares = (f"{100.0 * share:.0f} %" for share in found.coverage)
    return (f"{found.anees:.2f}", f"{low:.2f} to {high:.2f}", *shares)
