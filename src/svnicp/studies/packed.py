# SPDX-License-Identifier: MIT
"""Arrays in JSON: numbers with seven digits, and of covariances only the upper triangle."""

from typing import Any

import numpy as np
import numpy.typing as npt

from svnicp.arrays import Covariance, Floats

_ROWS, _COLUMNS = np.triu_indices(6)


def plain(values: npt.ArrayLike) -> list[Any]:
    """Nested lists of an array, rounded to seven digits; what is not finite is None."""
    array = np.asarray(values, dtype=np.float64)
    flat = [float(f"{value:.7g}") if np.isfinite(value) else None for value in array.ravel()]
    return np.array(flat, dtype=object).reshape(array.shape).tolist()


def plain_covariances(covariances: Covariance) -> list[list[float]]:
    """Upper triangles (n, 21) of covariances (n, 6, 6)."""
    covariances = np.asarray(covariances, dtype=np.float64).reshape(-1, 6, 6)
    return plain(covariances[:, _ROWS, _COLUMNS])


def array_of(values: list[Any], *shape: int) -> Floats:
    """Array of nested lists; None becomes not-a-number. ``shape`` is that of one row."""
    return np.array(values, dtype=np.float64).reshape(-1, *shape)


def covariances_of(triangles: list[list[float]]) -> Covariance:
    """Covariances (n, 6, 6) of their upper triangles."""
    found = np.zeros((len(triangles), 6, 6))
    values = array_of(triangles, len(_ROWS))
    found[:, _ROWS, _COLUMNS] = values
    found[:, _COLUMNS, _ROWS] = values
    return found
