# SPDX-License-Identifier: MIT
"""Results on the screen: colour and a narrow table in a terminal, plain text in a file.

Only ASCII is printed, so that any terminal and log file can show it.
"""

import math
import os
from typing import TextIO

import numpy as np
from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.table import Table

from svnicp.cli.euler import rpy_covariance, rpy_from_rotation
from svnicp.cli.wording import (
    angle_in_words,
    fixed,
    length_in_words,
    time_in_words,
    weak_directions_in_words,
)
from svnicp.lie import ROTATION, TRANSLATION
from svnicp.registration import RegistrationResult, Status

POSE_AXES = ("x", "y", "z", "roll", "pitch", "yaw")


class PipeConsole(Console):
    """A console that leaves a closed pipe to its caller."""

    def on_broken_pipe(self) -> None:
        """Raise instead of ending the program here."""
        raise BrokenPipeError


def console(stream: TextIO, *, quiet: bool = False) -> Console:
    """Return a console that prints words as they are; nothing if quiet, no wrapping in files."""
    width = None if stream.isatty() or "COLUMNS" in os.environ else 200
    return PipeConsole(
        file=stream,
        quiet=quiet,
        width=width,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=True,
    )


def registration(
    console: Console, result: RegistrationResult, seconds: float, compile_seconds: float
) -> None:
    """Print how a registration ended, the pose with its sigmas, and what is weak about it."""
    status = result.status
    style = "green" if status.ok and not result.weak_directions else "yellow"
    same = result.message == status.name.lower()
    words = status.name if same else f"{status.name}: {result.message}"
    console.print(words, style=style if status.ok else "bold red")
    console.print()
    console.print("pose of the source in the target, one sigma in the target's axes:")
    console.print(pose_table(result))
    if status is not Status.TOO_FEW_MATCHES:
        for words in weak_directions_in_words(result.weak_directions):
            console.print(f"weak: {words}", style="yellow")
    particles = f"{len(result.particles)} particle{_s(len(result.particles))}"
    console.print(
        f"{result.num_matches} matches, {particles}, {result.iterations} iteration"
        f"{_s(result.iterations)}, {_residuals(result.residual_scale)}"
    )
    compiling = f", after {time_in_words(compile_seconds)} of compiling, once"
    console.print(f"{time_in_words(seconds)}{compiling if compile_seconds > 0.1 else ''}")


def pose_table(result: RegistrationResult) -> Table:
    """Return the six numbers of a pose with one standard deviation each."""
    T_target_source, covariance = result.pose.to_ros()
    position = T_target_source[:3, 3]
    rpy = rpy_from_rotation(T_target_source[:3, :3])
    length_sigmas = np.sqrt(np.diag(covariance[TRANSLATION, TRANSLATION]))
    angle_sigmas = np.sqrt(np.diag(rpy_covariance(rpy, covariance[ROTATION, ROTATION])))
    table = plain_table()
    table.add_column("")
    table.add_column("estimate", justify="right")
    table.add_column("sigma", justify="right")
    for axis, value, sigma in zip(POSE_AXES[:3], position, length_sigmas, strict=True):
        table.add_row(axis, f"{fixed(value, 4)} m  ", length_in_words(sigma))
    for axis, value, sigma in zip(POSE_AXES[3:], np.degrees(rpy), angle_sigmas, strict=True):
        table.add_row(axis, f"{fixed(value, 4)} deg", angle_in_words(sigma))
    return table


class _TidyTable(Table):
    """A table whose lines end with their last word, not at the edge of the last column."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        parts = super().__rich_console__(console, options)
        for line in Segment.split_lines(part for part in parts if isinstance(part, Segment)):
            while line and not line[-1].text.rstrip():
                line.pop()
            yield from line[:-1]
            if line:
                yield Segment(line[-1].text.rstrip(), line[-1].style)
            yield Segment.line()


def plain_table() -> Table:
    """Return a table whose only line is the one below its head, in ASCII."""
    head_only = box.Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)
    return _TidyTable(box=head_only, show_edge=False, pad_edge=False, padding=(0, 1))


def _residuals(scale: float) -> str:
    """Say how large the residuals are."""
    if math.isnan(scale):
        return "no residuals"
    return f"residuals {scale:.2f} times what is expected"


def _s(count: int) -> str:
    """Return the plural's letter."""
    return "" if count == 1 else "s"
