# SPDX-License-Identifier: MIT
"""The help of a command: plain text, at most 80 columns wide.

In: the dataclass whose fields are the options, and a description. Out: usage, description with
examples, and every option with its sentence and its default. There is no colour in it.
"""

import shutil
import textwrap
from pathlib import Path

from svnicp.cli.interface import Argument, interface

WIDEST = 80
"""Columns at most: longer lines are hard to read, in wide terminals too."""
COLUMN = 24
"""Where the sentences about options start."""


def help_text(command: type, prog: str, description: str) -> str:
    """Return the help of a command, as wide as the terminal allows."""
    width = max(40, min(WIDEST, shutil.get_terminal_size().columns))
    taken = interface(command)
    usage = [_invocation(one) for one in taken if not one.flag or one.required]
    parts = [" ".join([f"usage: {prog}", *usage, "[options]"]), wrapped(description, width)]
    for section in dict.fromkeys(("arguments", "options", *(one.section for one in taken))):
        rows = [
            _row(_invocation(one), (one.sentence + _default(one)).strip(), width)
            for one in taken
            if one.section == section
        ]
        if section == "options":
            rows.append(_row("-h, --help", "Show this help.", width))
        if rows:
            parts.append("\n".join([f"{section}:", *rows]))
    return "\n\n".join(parts)


def wrapped(description: str, width: int) -> str:
    """Return a text with its paragraphs wrapped, and its lists and examples as they are."""
    blocks = description.strip("\n").split("\n\n")
    return "\n\n".join(
        block if "\n  " in block else textwrap.fill(block, width, break_on_hyphens=False)
        for block in blocks
    )


def _invocation(one: Argument) -> str:
    """Return how an option is written, or the place of an argument; in brackets if it may miss."""
    if one.flag:
        return f"{one.flag} {one.metavar}".rstrip()
    if one.many:
        return f"{one.metavar} [{one.metavar} ...]" if one.required else f"[{one.metavar} ...]"
    return one.metavar if one.required else f"[{one.metavar}]"


def _default(one: Argument) -> str:
    """Return what holds if an option is left out, where its sentence does not say so."""
    if one.required:
        return " Required." if one.flag else ""
    told = "left out" in one.sentence or "default" in one.sentence
    switch = one.metavar == ""
    plain = isinstance(one.default, int | float | str | Path) and str(one.default) != ""
    return f" Default: {one.default}." if plain and not switch and not told else ""


def _row(invocation: str, sentence: str, width: int) -> str:
    """Return the lines of an option, its sentence beside it or, if it is long, below it."""
    if not sentence:
        return f"  {invocation}"
    margin = " " * COLUMN
    beside = len(invocation) + 4 <= COLUMN
    first = f"  {invocation}".ljust(COLUMN) if beside else margin
    lines = textwrap.fill(
        sentence, width, initial_indent=first, subsequent_indent=margin, break_on_hyphens=False
    )
    return lines if beside else f"  {invocation}\n{lines}"
