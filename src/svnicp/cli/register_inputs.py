# SPDX-License-Identifier: MIT
"""What the options of ``svnicp register`` mean: parameters, the guess and its covariance."""

from pathlib import Path
from typing import Any

import numpy as np

from svnicp.arrays import Covariance, Floats, Transform
from svnicp.cli.arguments import SixNumbers, UsageError
from svnicp.cli.euler import rotation_from_rpy
from svnicp.cli.register import RegisterCommand
from svnicp.config import Config
from svnicp.errors import InputError
from svnicp.lie import make_transform, orthonormalise
from svnicp.registration.inputs import check_transform


def configuration(command: RegisterCommand) -> Config:
    """Parameters of the preset or file, with the single changes on top."""
    if command.config is not None:
        config = Config.from_yaml(command.config)
    else:
        config = Config.preset(command.preset or "default")
    values = config.to_dict()
    for setting in command.set:
        _change(values, setting)
    return Config.from_dict(values)


def guessed_pose(command: RegisterCommand) -> Transform:
    """(4, 4) guess of the source's pose in the target [m]."""
    if command.guess_file is not None:
        return _read_transform(command.guess_file)
    if command.guess is None:
        return np.eye(4)
    numbers = _finite("--guess", command.guess)
    return make_transform(rotation_from_rpy(np.radians(numbers[3:])), numbers[:3])


def prior_covariance(prior_std: SixNumbers | None) -> Covariance | None:
    """(6, 6) covariance of the guess from standard deviations [m, deg]; None if not given."""
    if prior_std is None:
        return None
    numbers = _finite("--prior-std", prior_std)
    if np.any(numbers <= 0.0):
        raise UsageError("--prior-std must be six positive numbers: metres, then degrees.")
    return np.diag(np.concatenate([numbers[:3], np.radians(numbers[3:])]) ** 2)


def _finite(option: str, numbers: SixNumbers) -> Floats:
    """Numbers (6,) of an option, or a complaint."""
    array = np.array(numbers, dtype=np.float64)
    if not np.isfinite(array).all():
        raise UsageError(f"{option} must be six finite numbers, got {' '.join(map(str, numbers))}.")
    return array


def _read_transform(path: Path) -> Transform:
    """(4, 4) rigid transform from a text file; commas, semicolons and brackets are passed over."""
    try:
        words = path.read_text(encoding="utf-8").translate(str.maketrans(",;[]", "    ")).split()
        numbers = np.array([float(word) for word in words])
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"{path}: the file cannot be read ({reason}); check the path.") from None
    except ValueError:
        raise InputError(
            f"{path}: this is not a text file of numbers; write the 4 x 4 matrix in it."
        ) from None
    if len(numbers) != 16:
        raise InputError(f"{path}: a 4 x 4 matrix has 16 numbers, and here are {len(numbers)}.")
    # Files carry few digits: what is nearly a rotation becomes one.
    return orthonormalise(check_transform(f"the guess in {path}", numbers.reshape(4, 4)))


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
