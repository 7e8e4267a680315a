# SPDX-License-Identifier: MIT
"""Asking for memory ahead of its use changes nothing but the time."""

import numpy as np
import pytest

from svnicp.kernels.njit import njit
from svnicp.kernels.prefetch import prefetch


@njit()
def sum_of_rows(array, order, ahead):
    """Sum of the rows of an array (n, m) in some order, each asked for ``ahead`` rows before."""
    total = np.zeros(array.shape[1])
    for n in range(len(order)):
        prefetch(array, order[n] + ahead)
        for i in range(array.shape[1]):
            total[i] += array[order[n], i]
    return total


@pytest.mark.parametrize("ahead", [0, 1, 10**6, -(10**6)])
def test_rows_that_were_asked_for_are_as_they_were(rng: np.random.Generator, ahead: int):
    """Any row may be asked for, also one that does not exist, and none changes."""
    array = rng.standard_normal((500, 7))
    before, order = array.copy(), rng.permutation(500)

    total = sum_of_rows(array, order, ahead)

    np.testing.assert_allclose(total, before.sum(axis=0), rtol=0.0, atol=1e-11)
    np.testing.assert_array_equal(array, before)


def test_rows_of_a_view_are_those_of_the_view(rng: np.random.Generator):
    """An array with gaps between its rows is read as any other."""
    array = rng.standard_normal((500, 7))[::3]

    total = sum_of_rows(array, np.arange(len(array)), 2)

    np.testing.assert_allclose(total, array.sum(axis=0), rtol=0.0, atol=1e-11)
