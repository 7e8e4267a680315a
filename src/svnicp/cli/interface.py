# SPDX-License-Identifier: MIT
"""What a command takes, read from its dataclass: for its help and for completion in the shell.

tyro parses by the same dataclass. ``Positional`` fields are arguments, all others options.
"""

import dataclasses
import inspect
import typing
from dataclasses import dataclass
from typing import Any, Literal

import tyro

from svnicp.config.field_docs import field_docs


@dataclass(frozen=True, kw_only=True)
class Argument:
    """One option, or one argument without a name."""

    flag: str
    """Such as ``--out``; empty for an argument without a name."""
    metavar: str
    """What its value is called; empty for a switch."""
    sentence: str
    """What it is for."""
    section: str
    """Where the help shows it: "arguments", "options", or what the base class says of its own."""
    required: bool
    """Whether it must be given."""
    many: bool
    """Whether it takes any number of values."""
    choices: tuple[str, ...]
    """All values that it can have; empty if there are many."""
    default: object
    """What holds if it is left out; None if it is required."""


def interface(command: type) -> list[Argument]:
    """Return what a command takes, in the order of its fields."""
    sentences, hints = field_docs(command), typing.get_type_hints(command, include_extras=True)
    return [
        _argument(command, field, hints[field.name], sentences.get(field.name, ""))
        for field in dataclasses.fields(command)
    ]


def _argument(command: type, field: Any, hint: Any, sentence: str) -> Argument:  # noqa: ANN401
    rules: tuple[Any, ...] = getattr(hint, "__metadata__", ())
    kind = typing.get_args(hint)[0] if rules else hint
    positional = tyro.conf.Positional in rules
    required = field.default is field.default_factory is dataclasses.MISSING
    name = _told(rules, "name") or field.name.replace("_", "-")
    home = next(base for base in command.__mro__ if field.name in inspect.get_annotations(base))
    section = "options" if home is command else (home.__doc__ or "").strip().rstrip(".").lower()
    return Argument(
        flag="" if positional else f"--{name}",
        metavar=_told(rules, "metavar"),
        sentence=sentence,
        section="arguments" if positional else section,
        required=required,
        many=typing.get_origin(kind) is tuple,
        choices=_choices(kind),
        default=None if required else field.default,
    )


def _told(rules: tuple[Any, ...], what: str) -> str:
    """Return what the rules for tyro say of a field, or nothing."""
    return next((found for rule in rules if (found := getattr(rule, what, None))), "")


def _choices(kind: Any) -> tuple[str, ...]:  # noqa: ANN401
    """Return the values of a Literal, also of one that may be left out."""
    if typing.get_origin(kind) is Literal:
        return typing.get_args(kind)
    return tuple(value for part in typing.get_args(kind) for value in _choices(part))
