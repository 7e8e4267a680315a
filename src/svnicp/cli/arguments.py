# SPDX-License-Identifier: MIT
"""From the words of a command line to a dataclass, or to one sentence that says what is wrong.

The dataclass of a command is its interface: tyro makes an option of every field, and ``help_text``
its help. tyro draws boxes around its complaints; here they become a sentence.
"""

import contextlib
import difflib
import io
import re
from collections.abc import Sequence
from typing import Any, TypeAlias, TypeVar

import tyro

from svnicp.cli.help_text import help_text
from svnicp.cli.interface import interface
from svnicp.errors import SvnicpError

SixNumbers: TypeAlias = tuple[float, float, float, float, float, float]

Command = TypeVar("Command")

_MISSING_VALUE = re.compile(r"missing value for argument '(\w+)'")
_MISSING_VALUES = re.compile(r"missing value for argument '(--[\w-]+)'\. Expected (\d+) values")
_SETTING = re.compile(r"[A-Za-z_]+(\.[A-Za-z_]+)*=")
_BOX = str.maketrans(dict.fromkeys("╭╮╰╯│┃┏┓┗┛", ""))
_RULE = re.compile(r"^[\s─━-]{8,}$", re.MULTILINE)
_CHOICES = re.compile(r"Expected one of \(([^)]*)\)")
_NO_NUMBER = re.compile(
    r"Error parsing (\S+): .*?(?:(invalid literal for int\(\) with base 10)"
    r"|could not convert string to float): ('.*'|\".*\")$",
    re.IGNORECASE,
)


class UsageError(SvnicpError):
    """The command line cannot be understood."""


def option(metavar: str | None = None) -> Any:  # noqa: ANN401
    """Return the tyro rule for an option: a name for its value, no hint behind its help."""
    return tyro.conf.arg(metavar=metavar, help_behavior_hint="")


def six_numbers(metavar: str) -> Any:  # noqa: ANN401
    """Return the tyro rule for an option that takes six numbers, or is left out (None)."""
    return tyro.constructors.PrimitiveConstructorSpec(
        nargs=6,
        metavar=metavar,
        instance_from_str=lambda words: tuple(float(word) for word in words),
        is_instance=lambda value: value is None or isinstance(value, tuple),
        str_from_instance=lambda value: [] if value is None else [str(number) for number in value],
    )


def parse(command: type[Command], prog: str, description: str, words: Sequence[str]) -> Command:
    """Return the command's dataclass filled from the words of its command line.

    Raises
    ------
    UsageError
        If the words do not fit; ``--help`` prints the help and exits with code 0 instead.
    """
    if {"-h", "--help"} & set(words):
        print(help_text(command, prog, description))
        raise SystemExit(0)
    complaint = io.StringIO()
    try:
        with contextlib.redirect_stderr(complaint):
            return tyro.cli(
                command,
                prog=prog,
                args=_one_setting_each(words),
                config=(tyro.conf.FlagCreatePairsOff,),
            )
    except SystemExit as exit_:
        if not exit_.code:
            raise
    said = _what_is_missing(command, _sentence(complaint.getvalue()))
    raise UsageError(f"{said}{_nearest(command, words, said)}; see {prog} --help.") from None


def _one_setting_each(words: Sequence[str]) -> list[str]:
    """Write ``--set a=1 b=2`` as ``--set a=1 --set b=2``, so that files may follow."""
    out: list[str] = []
    after_setting = False
    for word in words:
        is_setting = _SETTING.match(word) is not None
        if is_setting and after_setting and out[-1] != "--set":
            out.append("--set")
        out.append(word)
        after_setting = word == "--set" or (after_setting and is_setting)
    return out


def _sentence(boxed: str) -> str:
    """Return what tyro says inside its box, without the box, titles and pointers to the help."""
    lines = boxed.strip("\n").splitlines()[1:]  # the title, without a box where UTF-8 is none
    lines = [line for line in lines if not line.startswith(("╭", "╰"))]
    blocks = _RULE.split("\n".join(line.translate(_BOX) for line in lines))
    said = [" ".join(block.split()).rstrip(".:;") for block in blocks]
    said = [text for text in said if text and not text.startswith(("For full", "Argument help"))]
    text = "; ".join(_without_help(text) for text in said) or "the arguments make no sense"
    text = _NO_NUMBER.sub(_must_be_a_number, _CHOICES.sub(_in_order, text))
    return text[0].lower() + text[1:]


def _what_is_missing(command: type, said: str) -> str:
    """Return a complaint about missing arguments with their names only: the help has the rest."""
    if one := _MISSING_VALUE.match(said):
        return f"give {one[1].upper()}"
    if some := _MISSING_VALUES.match(said):
        return f"{some[1]} needs {'a value' if some[2] == '1' else f'{some[2]} values'}"
    if not said.startswith("missing from"):
        return said
    required = (f"{one.flag} {one.metavar}".strip() for one in interface(command) if one.required)
    names = [name for name in required if re.search(rf"(?<!\S){re.escape(name)}(?!\S)", said)]
    return f"give {' and '.join(names)}" if names else said


def _must_be_a_number(complaint: re.Match[str]) -> str:
    """Return what an option takes instead of how Python failed to read it."""
    flag, whole, value = complaint.groups()
    return f"{flag} must be a {'whole ' if whole else ''}number, not {value}"


def _nearest(command: type, words: Sequence[str], said: str) -> str:
    """Return the nearest option to the first unknown one, unless tyro has told it."""
    flags = [one.flag for one in interface(command) if one.flag]
    unknown = [word for word in words if word.startswith("--") and word.split("=")[0] not in flags]
    near = [found for word in unknown for found in difflib.get_close_matches(word, flags, 1, 0.75)]
    return f"; perhaps you meant: {near[0]}" if near and "perhaps you meant" not in said else ""


def _in_order(choices: re.Match[str]) -> str:
    """Return a list of choices, which tyro keeps in a set, in the order of the alphabet."""
    names = sorted(name.strip(" '") for name in choices[1].split(","))
    return f"Expected one of {', '.join(name for name in names if name != 'None')}"


def _without_help(text: str) -> str:
    """Leave only names of options in a list of options with their help."""
    lead, colon, options = text.partition(":")
    if lead not in {"Perhaps you meant", "perhaps you meant"}:
        return text
    return f"perhaps you meant{colon} {' or '.join(re.findall(r'--[a-z][a-z-]*', options))}"
