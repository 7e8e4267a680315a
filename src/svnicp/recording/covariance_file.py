# SPDX-License-Identifier: MIT
"""``covariance.csv``: how sure every pose of a run is, relative and absolute; written and read.

No standard text format for covariances exists, so this one explains itself in its first lines.
Numbers are written with all their digits: reading gives back the same bits.
"""

import csv
import itertools
import logging
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from svnicp.arrays import Covariance, Floats, Integers
from svnicp.errors import DatasetError
from svnicp.estimate import Estimate

AXES = ("tx", "ty", "tz", "rx", "ry", "rz")
"""Components of a tangent: translation along [m] and rotation about [rad] the body's axes."""

PAIRS = tuple(itertools.combinations_with_replacement(range(6), 2))
"""Rows and columns of the upper triangle, in the order of the file."""

COLUMNS = (
    "stamp_ns",
    *(f"{kind}_{AXES[row]}_{AXES[col]}" for kind in ("rel", "abs") for row, col in PAIRS),
)
"""Names of the 43 columns."""

HEADER = f"""\
# Covariances of the poses in trajectory.tum, one row for each; written by svnicp, format 1.
# Of xi in T Exp(xi): in body axes, translation x y z [m], then rotation x y z [rad].
# rel: of the step in relative.tum, to the body from the body one row before as this scan corrects
# it, too. abs: of the body in the world, since the start.
# rel_tx_ry is the covariance of tx and ry; upper triangles, row by row.
# Read it with svnicp.recording.read_covariances or pandas.read_csv(path, comment="#").
{",".join(COLUMNS)}
"""

_UPPER = tuple(np.array(PAIRS).T)

log = logging.getLogger(__name__)


class Covariances(NamedTuple):
    """What a ``covariance.csv`` holds, in body tangents, translation before rotation [m, rad]."""

    stamps_ns: Integers
    """(n,) [ns]."""
    relative: Covariance
    """(n, 6, 6) of the steps in relative.tum: of the body in the body one row before, which the
    scan of this row has corrected, too."""
    absolute: Covariance
    """(n, 6, 6) of the body in the world."""


def covariance_row(estimate: Estimate) -> str:
    """Return one line of the file, with its line end."""
    numbers = np.concatenate([estimate.relative_covariance[_UPPER], estimate.covariance[_UPPER]])
    return f"{estimate.stamp_ns},{','.join(repr(float(number)) for number in numbers)}\n"


def read_covariances(path: str | os.PathLike[str]) -> Covariances:
    """Read a ``covariance.csv``; a last line that a killed run left unfinished is passed over.

    Raises
    ------
    DatasetError
        If the file cannot be read or is something else.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise DatasetError(f"{path}: the file cannot be read ({reason}); check the path.") from None
    whole, newline, rest = text.rpartition("\n")
    if rest:
        log.warning("%s: the last line is not finished and is passed over.", path)
    lines = [
        (number, line)
        for number, line in enumerate((whole + newline).splitlines(), start=1)
        if line.strip() and not line.startswith("#")
    ]
    if not lines or tuple(next(csv.reader([lines[0][1]]))) != COLUMNS:
        raise DatasetError(
            f"{path}: this is not a covariance.csv of svnicp; its columns must be "
            f"{COLUMNS[0]}, {COLUMNS[1]}, ... {COLUMNS[-1]}."
        )
    rows = [_numbers(path, number, line) for number, line in lines[1:]]
    stamps_ns = np.array([stamp_ns for stamp_ns, _ in rows], dtype=np.int64)
    values = np.array([values for _, values in rows]).reshape(len(rows), 2, len(PAIRS))
    return Covariances(stamps_ns, _full(values[:, 0]), _full(values[:, 1]))


def _numbers(path: Path, number: int, line: str) -> tuple[int, list[float]]:
    """Stamp and values of one line."""
    words = line.split(",")
    try:
        if len(words) != len(COLUMNS):
            raise ValueError
        return int(words[0]), [float(word) for word in words[1:]]
    except ValueError:
        raise DatasetError(
            f"{path}, line {number}: {len(COLUMNS)} numbers are expected; correct or remove it."
        ) from None


def _full(upper: Floats) -> Covariance:
    """Matrices (n, 6, 6) of upper triangles (n, 21)."""
    full = np.empty((len(upper), 6, 6))
    full[:, _UPPER[0], _UPPER[1]] = upper
    full[:, _UPPER[1], _UPPER[0]] = upper
    return full
