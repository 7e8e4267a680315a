# SPDX-License-Identifier: MIT
"""All parameters from the options of a command: a preset or a file, then single changes."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from svnicp.cli.arguments import UsageError
from svnicp.config import Config


def preset_or_file(preset: str | None, file: Path | None) -> Config:
    """Parameters of a YAML file, or of a preset: "default" when neither is named."""
    return Config.from_yaml(file) if file is not None else Config.preset(preset or "default")


def with_changes(config: Config, settings: Iterable[str]) -> Config:
    """Parameters with single ones changed by ``stage.key=value``.

    Raises
    ------
    UsageError
        If a setting has another form.
    ConfigError
        If there is no such parameter, or the value cannot be.
    """
    values = config.to_dict()
    for setting in settings:
        _change(values, setting)
    return Config.from_dict(values)


def _change(values: dict[str, Any], setting: str) -> None:
    """Put one ``stage.key=value`` into nested dictionaries; unknown keys are found out later."""
    key, equals, text = setting.partition("=")
    if not equals or not key:
        raise UsageError(f"--set needs KEY=VALUE, such as stein.num_particles=50, got '{setting}'.")
    *stages, name = key.strip().split(".")
    for stage in stages:
        inner = values.setdefault(stage, {})
        if not isinstance(inner, dict):
            raise UsageError(f"--set {setting}: '{stage}' is a value, not a group of parameters.")
        values = inner
    values[name] = _value(text.strip())


def _value(text: str) -> object:
    """Read a number, a truth value or a word."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text.lower(), text)
