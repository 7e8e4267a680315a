# SPDX-License-Identifier: MIT
"""Compiled 3 x 3 eigenvalues against LAPACK, and where Jacobi rotations could go wrong."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from svnicp.arrays import Floats
from svnicp.kernels.eigen3 import eigh3
from svnicp.lie import so3_exp

UPPER = np.triu_indices(3)

# Moments come from float32: smaller numbers than 1e-45 do not occur, and squares must not vanish.
entries = st.floats(-1.0, 1.0).map(lambda value: value if abs(value) > 1e-60 else 0.0)
rotations = st.tuples(entries, entries, entries).map(lambda v: so3_exp(3.0 * np.array(v)))
spectra = st.one_of(
    st.tuples(entries, entries, entries),
    entries.map(lambda value: (value, value, value)),
    st.tuples(entries, entries).map(lambda pair: (pair[0], pair[0], pair[1])),
    st.tuples(entries, entries).map(lambda pair: (pair[0], pair[0] + 1e-9 * pair[1], pair[1])),
).map(np.array)
scales = st.sampled_from([1e-30, 1e-12, 1e-3, 1.0, 1e6, 1e30])


def eigh(matrix: Floats) -> tuple[Floats, Floats]:
    """Compiled eigenvalues and eigenvectors of a symmetric matrix (3, 3)."""
    values, vectors = np.empty(3), np.empty((3, 3))
    xx, xy, xz, yy, yz, zz = matrix[UPPER]
    eigh3(xx, xy, xz, yy, yz, zz, values, vectors)
    return values, vectors


@given(spectra, rotations, scales)
def test_eigenvalues_agree_with_lapack(spectrum: Floats, R: Floats, scale: float):
    """Ascending eigenvalues equal LAPACK's to rounding, repeated ones and tiny scales included."""
    matrix = scale * (R * spectrum) @ R.T
    matrix = 0.5 * (matrix + matrix.T)
    values, _ = eigh(matrix)
    expected = np.linalg.eigvalsh(matrix)
    assert_allclose(values, expected, rtol=0.0, atol=1e-13 * np.abs(expected).max())


@example(np.array([6.8e-51, 6.8e-51, 0.0]), so3_exp(np.array([0.0, 3.0, 0.0])), 1e-30)
@given(spectra, rotations, scales)
def test_eigenvectors_are_orthonormal_and_rebuild_the_matrix(
    spectrum: Floats, R: Floats, scale: float
):
    """V is orthogonal and V diag(values) V' is the matrix, for any spectrum and scale."""
    matrix = scale * (R * spectrum) @ R.T
    matrix = 0.5 * (matrix + matrix.T)
    values, vectors = eigh(matrix)
    assert_allclose(vectors.T @ vectors, np.eye(3), rtol=0.0, atol=1e-14)
    rebuilt = (vectors * values) @ vectors.T
    assert_allclose(rebuilt, matrix, rtol=0.0, atol=1e-13 * np.abs(matrix).max())


@pytest.mark.parametrize("matrix", [np.zeros((3, 3)), np.eye(3), np.diag([3.0, 1.0, 2.0])])
def test_diagonal_matrices_are_exact(matrix: Floats):
    """Zero, the identity and a diagonal need no rotation: sorted values, unit axes, no NaN."""
    values, vectors = eigh(matrix)
    assert_array_equal(values, np.sort(np.diag(matrix)))
    assert_array_equal(matrix @ vectors, vectors * values)
    assert_array_equal(np.abs(vectors).sum(axis=0), np.ones(3))


def test_a_thin_slab_keeps_its_normal(rng: np.random.Generator):
    """The smallest eigenvector of a slab a million times wider than thick is its normal."""
    for phi in rng.normal(size=(50, 3)):
        R = so3_exp(phi)
        _, vectors = eigh((R * [1e-12, 1.0, 2.0]) @ R.T)
        assert abs(vectors[:, 0] @ R[:, 0]) > 1.0 - 1e-14
