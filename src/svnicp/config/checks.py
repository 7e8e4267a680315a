# SPDX-License-Identifier: MIT
"""Checks that stages of the configuration share."""

import functools
import math
import reprlib
import typing
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np

from svnicp.errors import ConfigError

_KINDS: dict[type, tuple[str, tuple[type, ...]]] = {
    bool: ("true or false", (bool, np.bool_)),
    int: ("a whole number", (Integral,)),
    float: ("a number", (Real,)),
    str: ("a text", (str,)),
}
"""What a parameter of a type is called, and what may be given for it."""


def require(holds: bool, name: str, wanted: str, value: object) -> None:
    """Raise a ConfigError that says which parameter must be what."""
    if not holds:
        raise ConfigError(f"{name} must be {wanted}, got {shown(value)}")


def require_kinds(stage: str, values: Any) -> None:  # noqa: ANN401
    """Raise a ConfigError when a parameter of this stage is of another type, or not finite."""
    for key, kind in _hints(type(values)).items():
        value, name = getattr(values, key), f"{stage}.{key}"
        if typing.get_origin(kind) is Literal:
            choices = typing.get_args(kind)
            known = isinstance(value, str) and value in choices
            require(known, name, f"one of {', '.join(choices)}", value)
        elif kind in _KINDS:
            wanted, accepted = _KINDS[kind]
            fits = isinstance(value, accepted) and (kind is bool or not isinstance(value, bool))
            require(fits, name, wanted, value)
            require(kind is not float or math.isfinite(value), name, "finite", value)


@functools.cache
def _hints(stage: type) -> dict[str, Any]:
    return typing.get_type_hints(stage)


def shown(value: object) -> str:
    """A value in a message: not all of it when it is long, or refers to itself."""
    return repr(value) if isinstance(value, int | float | str) else reprlib.repr(value)
