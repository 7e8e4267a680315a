# SPDX-License-Identifier: MIT
"""What the options of ``svnicp register`` mean: the guess and its covariance."""

from pathlib import Path

import numpy as np

from svnicp.arrays import Covariance, Floats, Transform
from svnicp.cli.arguments import SixNumbers, UsageError
from svnicp.cli.euler import rotation_from_rpy
from svnicp.cli.register import RegisterCommand
from svnicp.errors import InputError
from svnicp.lie import make_transform, orthonormalise
from svnicp.registration.inputs import check_transform


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
