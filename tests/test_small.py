# SPDX-License-Identifier: MIT
"""Small compiled matrices against NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from svnicp.kernels.small import (
    applied,
    inverse3,
    inverse_spd,
    product,
    symmetric_eigen,
    transposed_applied,
    transposed_product,
)


def test_products_are_numpys(rng: np.random.Generator):
    """Products with matrices and vectors, transposed or not, of any shape that fits."""
    a, b, x = rng.normal(size=(4, 6)), rng.normal(size=(6, 3)), rng.normal(size=6)
    assert_allclose(product(a, b), a @ b, atol=1e-14)
    assert_allclose(transposed_product(b, a.T), b.T @ a.T, atol=1e-14)
    assert_allclose(applied(a, x), a @ x, atol=1e-14)
    assert_allclose(transposed_applied(b, x), b.T @ x, atol=1e-14)


def test_inverse_undoes(rng: np.random.Generator):
    """A matrix times its inverse is the identity."""
    a = rng.normal(size=(3, 3)) + 3.0 * np.eye(3)
    assert_allclose(inverse3(a) @ a, np.eye(3), atol=1e-14)


@pytest.mark.parametrize("size", [1, 3, 6])
def test_inverse_of_a_covariance_is_numpys(size: int, rng: np.random.Generator):
    """The inverse of a symmetric positive matrix of any size, and exactly symmetric."""
    a = rng.normal(size=(size, size))
    matrix = a @ a.T + np.eye(size)
    inverse = inverse_spd(matrix)
    assert_allclose(inverse, np.linalg.inv(matrix), rtol=0.0, atol=1e-13)
    assert_allclose(inverse, inverse.T, rtol=0.0, atol=0.0)


@given(seed=st.integers(0, 2**32 - 1), decades=st.sampled_from([0, 3, 10]))
def test_eigenvalues_agree_with_lapack(seed: int, decades: int):
    """Eigenvalues are LAPACK's, vectors orthogonal, and together they rebuild the matrix."""
    rng = np.random.default_rng(seed)
    turn, _ = np.linalg.qr(rng.normal(size=(6, 6)))
    matrix = (turn * 10.0 ** rng.uniform(-decades, 0.0, size=6)) @ turn.T
    matrix = 0.5 * (matrix + matrix.T)
    values, vectors = symmetric_eigen(matrix)
    size = np.abs(matrix).max()
    assert_allclose(np.sort(values), np.linalg.eigvalsh(matrix), rtol=0.0, atol=1e-13 * size)
    assert_allclose(vectors.T @ vectors, np.eye(6), atol=1e-13)
    assert_allclose((vectors * values) @ vectors.T, matrix, rtol=0.0, atol=1e-13 * size)


@pytest.mark.parametrize("matrix", [np.zeros((6, 6)), np.eye(6), np.diag(np.arange(6.0))])
def test_diagonal_matrices_are_exact(matrix: np.ndarray):
    """Zero, the identity and a diagonal need no rotation."""
    values, vectors = symmetric_eigen(matrix)
    assert_allclose(values, np.diag(matrix), rtol=0.0, atol=0.0)
    assert_allclose(vectors, np.eye(6), rtol=0.0, atol=0.0)
