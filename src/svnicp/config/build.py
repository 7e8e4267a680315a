# SPDX-License-Identifier: MIT
"""Frozen dataclasses from nested dictionaries or YAML, every key and type checked on the way."""

import dataclasses
import difflib
import typing
from typing import Any

import yaml

from svnicp.config.checks import shown
from svnicp.errors import ConfigError

MAX_KEYS = 1000
"""More keys in one mapping come from references to references, which grow without end."""


class _StrictLoader(yaml.SafeLoader):
    """Reads plain values; of a key that stands twice, it is not clear which one is meant."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return the dictionary of a mapping without repeated keys."""
        seen: set[str] = set()
        for key, _ in node.value:
            name = str(key.value)
            if name in seen:
                line = key.start_mark.line + 1
                raise yaml.MarkedYAMLError(f"the key '{name}' stands there twice (line {line})")
            seen.add(name)
        return super().construct_mapping(node, deep)

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Put in what a merge key (<<) refers to, as far as there is an end to it."""
        super().flatten_mapping(node)
        if len(node.value) > MAX_KEYS:
            line = node.start_mark.line + 1
            raise yaml.MarkedYAMLError(f"line {line}: there are more than {MAX_KEYS} keys")


def load_yaml(text: str) -> Any:  # noqa: ANN401
    """Plain values in a YAML text.

    Raises
    ------
    yaml.YAMLError
        If it is no YAML, or a key stands in it twice.
    """
    try:
        return yaml.load(text, Loader=_StrictLoader)
    except RecursionError:
        raise yaml.YAMLError("it is nested too deeply") from None
    except (ValueError, OverflowError) as error:  # a date or number that cannot be
        raise yaml.YAMLError(str(error)) from None


def build(cls: Any, values: Any, path: str) -> Any:  # noqa: ANN401
    """Dataclass from a dictionary; an unknown key or a wrong type is a ConfigError."""
    if values is None and path:  # a stage of which every line is commented out
        values = {}
    if not isinstance(values, dict):
        raise ConfigError(f"{path or 'the configuration'} must be a mapping, got {shown(values)}")
    hints = typing.get_type_hints(cls)
    arguments: dict[str, Any] = {}
    for key, value in values.items():
        name = f"{path}.{key}" if path else str(key)
        if key not in hints:
            raise ConfigError(f"unknown configuration key '{name}'; {_advice(name, path, hints)}")
        kind = hints[key]
        is_stage = dataclasses.is_dataclass(kind)
        arguments[key] = build(kind, value, name) if is_stage else _as_annotated(kind, value)
    return cls(**arguments)


def _advice(name: str, path: str, hints: dict[str, Any]) -> str:
    """Name the nearest known key, also one of a stage whose name was left out, or all keys."""
    inner = {
        leaf: f"{stage}.{leaf}"
        for stage, kind in hints.items()
        if dataclasses.is_dataclass(kind)
        for leaf in typing.get_type_hints(kind)
    }
    if name in inner.values():
        stage, _, leaf = name.partition(".")
        return f"write {leaf} indented below {stage}:, on a line of its own."
    key = name.removeprefix(f"{path}.")
    near = [f"{path}.{one}" if path else one for one in difflib.get_close_matches(key, hints, n=1)]
    near += [inner[leaf] for leaf in difflib.get_close_matches(key, inner, n=1, cutoff=0.8)]
    return f"did you mean '{near[0]}'?" if near else f"known: {', '.join(hints)}"


def _as_annotated(kind: Any, value: Any) -> Any:  # noqa: ANN401
    """The value; a float also of a whole number, or of what YAML takes for text, such as 1e-3.

    Whether it may be what it is, the stage checks.
    """
    if kind is not float or isinstance(value, bool) or not isinstance(value, int | str):
        return value
    try:
        return float(value)
    except ValueError:
        return value
