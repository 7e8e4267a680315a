# SPDX-License-Identifier: MIT
"""What surfaces tell along the axes of a scan: nothing along themselves, and no noise."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import reference
from svnicp.arrays import Floats
from svnicp.kernels import small
from svnicp.kernels.facing import facing_sums, reliable_part
from svnicp.kernels.scan_axes import WITNESSES, scan_axes, vouched_shares
from svnicp.kernels.weights import GEMAN_MCCLURE, NO_WEIGHT
from svnicp.lie import make_transform, so3_exp

NO_COVARIANCE = np.zeros(6, dtype=np.float32)


def corridor(
    rng: np.random.Generator, tilt_rad: float, facing_share: float
) -> tuple[Floats, Floats, Floats]:
    """Points (n, 3), candidate rows (n, 1, 8) and residuals (n,) of a corridor along x.

    Walls and floor, their normals tilted along x by chance, and a share of planes across. A tilted
    plane is off by its tilt times the place within its patch, which lies a little ahead of it.
    """
    count = 1500
    points = rng.uniform([-10.0, -1.0, -1.0], [10.0, 1.0, 1.0], size=(count, 3))
    normals = np.zeros((count, 3))
    normals[np.arange(count), rng.integers(1, 3, size=count)] = 1.0
    normals[:, 0] = tilt_rad * rng.standard_normal(count)
    across = rng.random(count) < facing_share
    normals[across] = [1.0, 0.0, 0.0]
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    residuals = 0.005 * rng.standard_normal(count) + np.where(across, 0.0, 0.1 * normals[:, 0])
    rows = np.zeros((count, 1, 8))
    rows[:, 0, :3] = points
    rows[:, 0, 3:6] = normals
    rows[:, 0, 7] = 0.005**-2
    return points, rows, residuals


def sums_of(points: Floats, rows: Floats, residuals: Floats) -> tuple[Floats, Floats]:
    """Plain gradient (6,) and information (6, 6) in the body, at the identity."""
    A = np.concatenate([rows[:, 0, 3:6], np.cross(points, rows[:, 0, 3:6])], axis=1)
    precision = rows[:, 0, 7]
    return (A.T * precision) @ residuals, (A.T * precision) @ A


def reliable(
    case: tuple[Floats, Floats, Floats], facing: float, vouching: float = 0.0
) -> tuple[Floats, Floats, Floats]:
    """Plain gradient, reliable gradient (6,), and reliable information (6, 6) of a case."""
    gradient, pull, information, _ = reliable_parts(case, facing, vouching)
    return gradient, pull, information


def reliable_parts(
    case: tuple[Floats, Floats, Floats], facing: float, vouching: float = 0.0
) -> tuple[Floats, Floats, Floats, Floats]:
    """As ``reliable``, and the response of the reliable gradient (6, 6)."""
    points, rows, residuals = case
    gradient, hessian = sums_of(*case)
    seen, pull, response = reliable_part(
        np.eye(4), points.astype(np.float32), rows.astype(np.float32),
        np.broadcast_to(NO_COVARIANCE, (len(points), 1, 6)), np.zeros(len(points), dtype=np.int64),
        residuals * np.sqrt(rows[:, 0, 7]), NO_WEIGHT, 1.0, hessian, facing, vouching,
    )  # fmt: skip
    return gradient, pull, seen.T @ hessian @ seen, response


@pytest.mark.parametrize("facing", [0.0, 0.1, 0.5])
def test_sums_agree_with_the_twin(facing: float, rng: np.random.Generator):
    """Shrunk normals, their noise and their gradient are those of the definition."""
    T = make_transform(so3_exp(rng.normal(size=3)), rng.normal(size=3))
    axes = so3_exp(rng.normal(size=3))
    points = rng.normal(size=(30, 3)).astype(np.float32)
    A = 0.1 * rng.normal(size=(30, 2, 3, 3))
    covs = A @ np.swapaxes(A, -1, -2)
    upper = covs.reshape(30, 2, 9)[..., [0, 1, 2, 4, 5, 8]].astype(np.float32)
    rows = rng.uniform(1.0, 2.0, size=(30, 2, 8)).astype(np.float32)
    chosen, normalised = rng.integers(-1, 2, size=30), rng.normal(size=30)
    vouched = np.array([0.0, 0.3, 1.0])
    got = facing_sums(
        T, points, rows, upper, chosen, normalised, GEMAN_MCCLURE, 3.0, axes, facing, vouched
    )
    used = np.flatnonzero(chosen >= 0)
    best = rows[used, chosen[used]].astype(np.float64)
    weights = (9.0 / (9.0 + normalised[used] ** 2)) ** 2
    expected = reference.facing_sums(
        T, points[used].astype(np.float64), best, covs[used, chosen[used]],
        normalised[used] / np.sqrt(best[:, 7]), weights, axes, facing, vouched,
    )  # fmt: skip
    for ours, theirs in zip(got, expected, strict=True):
        assert_allclose(ours, theirs, rtol=0.0, atol=1e-6 * np.abs(theirs).max())


def test_faked_information_is_what_noisy_normals_add(rng: np.random.Generator):
    """Over many draws of the normals' noise the mean Hessian exceeds the true one by E."""
    T = make_transform(so3_exp(rng.normal(size=3)), rng.normal(size=3))
    points = rng.normal(size=(20, 3)).astype(np.float32)
    normals = rng.normal(size=(20, 3))
    sigma = 0.3
    B = np.array([np.vstack([T[:3, :3].T, np.cross(p, T[:3, :3].T, axisb=0, axisc=0)])
                  for p in points.astype(np.float64)])  # fmt: skip
    noise = sigma * rng.standard_normal((4_000, 20, 3))
    draws = normals + np.concatenate([noise, -noise])
    rows_noisy = np.einsum("nij,dnj->dni", B, draws)
    rows_true = np.einsum("nij,nj->ni", B, normals)
    added = np.einsum("dni,dnj->ij", rows_noisy, rows_noisy) / len(draws) - rows_true.T @ rows_true
    ones = np.ones((20, 1, 8), dtype=np.float32)
    cov = np.tile(np.float32(sigma**2) * np.array([1, 0, 0, 1, 0, 1], np.float32), (20, 1, 1))
    _, fake, _, _ = facing_sums(
        T, points, ones, cov, np.zeros(20, dtype=np.int64), np.ones(20), NO_WEIGHT, 1.0,
        np.eye(3), 0.0, np.zeros(3),
    )  # fmt: skip
    # 4000 draws and their mirror images, sums of 20 squares: half a percent of the largest entry.
    assert_allclose(fake, added, rtol=0.0, atol=0.02 * np.abs(fake).max())


def test_axes_are_those_of_the_positions(rng: np.random.Generator):
    """Along a corridor one axis is the corridor, and it is the one with the least information."""
    _, hessian = sums_of(*corridor(rng, 0.005, 0.02))
    axes = scan_axes(hessian)
    marginal = np.linalg.inv(np.linalg.inv(hessian)[:3, :3])
    values = np.diag(axes.T @ marginal @ axes)
    assert_allclose(axes.T @ axes, np.eye(3), atol=1e-9)
    assert_allclose(axes.T @ marginal @ axes, np.diag(values), atol=1e-6 * values.max())
    assert abs(axes[0, np.argmin(values)]) > 0.999


def test_walls_tell_nothing_along_themselves(rng: np.random.Generator):
    """Tilted by a hundredth, walls claim to know the place along them; faced, they do not."""
    case = corridor(rng, 0.01, 0.0)
    _, _, plain = reliable(case, 0.0)
    gradient, pull, left = reliable(case, 0.1)
    assert np.linalg.inv(plain)[0, 0] < 0.02**2
    assert np.linalg.inv(left)[0, 0] > 0.2**2
    assert abs(pull[0]) < 0.01 * abs(gradient[0])


def test_what_faces_the_axis_decides(rng: np.random.Generator):
    """A few planes across outweigh walls that pull back, and their information is left."""
    case = corridor(rng, 0.05, 0.01)
    _, _, plain = reliable(case, 0.0)
    gradient, pull, left = reliable(case, 0.1)
    step_plain = -np.linalg.solve(plain, gradient)[0]
    step_left = -np.linalg.solve(left, pull)[0]
    across = np.abs(case[1][:, 0, 3]) == 1.0
    alone = 0.005**-2 * np.count_nonzero(across)
    assert abs(step_plain) > 0.01
    assert abs(step_left) < 0.4 * abs(step_plain)
    assert 1.0 / np.linalg.inv(left)[0, 0] == pytest.approx(alone, rel=0.2)


def test_other_axes_are_left_alone(rng: np.random.Generator):
    """Where surfaces face every axis, nearly all of the information stays."""
    case = corridor(rng, 0.0, 0.3)
    _, hessian = sums_of(*case)
    _, _, left = reliable(case, 0.1)
    ratio = np.diag(np.linalg.inv(hessian)) / np.diag(np.linalg.inv(left))
    assert np.all(ratio > 0.95)
    assert np.all(ratio <= 1.0 + 1e-6)


def test_nobody_vouches_in_a_bare_corridor(rng: np.random.Generator):
    """Where no surface faces the axis, walls that are tilted a little tell nothing about it."""
    case = corridor(rng, 0.01, 0.0)
    _, pull, left = reliable(case, 0.3, vouching=5.0)
    gradient, _ = sums_of(*case)
    assert np.linalg.inv(left)[0, 0] > 0.2**2
    assert abs(pull[0]) < 0.01 * abs(gradient[0])


def test_facing_surfaces_vouch_for_the_others(rng: np.random.Generator):
    """Where most that is known along every axis comes from surfaces facing it, nearly all stays."""
    case = corridor(rng, 0.1, 0.3)
    gradient, hessian = sums_of(*case)
    _, _, strict = reliable(case, 0.3)
    _, pull, vouched = reliable(case, 0.3, vouching=5.0)
    # Of about 500 that face each axis, the part 20 / 520 of what they vouch for is missing, twice.
    assert_allclose(vouched, hessian, rtol=0.0, atol=0.01 * hessian.max())
    assert_allclose(pull, gradient, rtol=0.0, atol=0.08 * np.abs(gradient).max())
    assert strict[0, 0] < 0.95 * hessian[0, 0] < vouched[0, 0]


@pytest.mark.parametrize("vouching", [0.0, 0.5])
def test_the_response_is_the_derivative_of_the_gradient(vouching: float, rng: np.random.Generator):
    """A step by it makes the reliable gradient vanish at once; by the information it need not.

    In a smooth pipe with a flat sole a turn about the axis and shifts across and along go together.
    """
    angles, along = rng.uniform(0.0, 2.0 * np.pi, size=1500), rng.uniform(-9.0, 9.0, size=1500)
    normals = np.stack([0.05 * np.sin(angles), np.cos(angles), np.sin(angles)], axis=1)
    points = 2.0 * normals + [0.0, 0.0, 0.6] + along[:, None] * [1.0, 0.0, 0.0]
    normals[:60], points[:60, 2] = [0.0, 0.0, 1.0], -1.0
    normals[60:100] = [1.0, 0.0, 0.0]
    _, rows, _ = corridor(rng, 0.0, 0.0)
    rows[:, 0, 3:6] = normals / np.linalg.norm(normals, axis=1)[:, None]
    A = np.concatenate([rows[:, 0, 3:6], np.cross(points, rows[:, 0, 3:6])], axis=1)
    off = np.array([0.05, -0.02, 0.03, 0.01, -0.004, 0.006])
    _, pull, information, response = reliable_parts((points, rows, A @ off), 0.1, vouching)
    assert_allclose(small.solve(response, -pull), -off, rtol=0.0, atol=1e-4)
    assert np.abs(np.linalg.solve(information, -pull) + off).max() > 5e-4


def shares(case: tuple[Floats, Floats, Floats], vouching: float) -> Floats:
    """What is vouched for (3,) along the axes of a case."""
    points, rows, residuals = case
    return vouched_shares(
        np.eye(4), rows.astype(np.float32), np.zeros(len(points), dtype=np.int64),
        residuals * np.sqrt(rows[:, 0, 7]), NO_WEIGHT, 1.0, np.eye(3), 0.3, vouching,
    )  # fmt: skip


def test_vouching_is_the_share_that_faces(rng: np.random.Generator):
    """Of what does not face an axis counts a multiple of the share of information that does."""
    case = corridor(rng, 0.1, 0.02)
    squares = case[1][:, 0, 3:6] ** 2
    faced = (squares / (squares + 0.3**2)) ** 2 * squares
    share = np.sum(faced, axis=0) / np.sum(squares, axis=0)
    witnesses = np.sum(faced, axis=0) ** 2 / np.sum(faced**2, axis=0)
    expected = np.minimum(1.2 * share, 1.0) * witnesses / (witnesses + WITNESSES)
    assert_allclose(shares(case, 1.2), expected, rtol=1e-5)
    assert 0.1 < expected[0] < 1.0


def test_one_plane_is_no_witness(rng: np.random.Generator):
    """One that faces an axis on which nothing else is seen has all the weight, and little say."""
    points, rows, residuals = corridor(rng, 0.001, 0.0)
    rows[0, 0, 3:6] = [1.0, 0.0, 0.0]
    assert shares((points, rows, residuals), 5.0)[0] < 0.05
    rows[:100, 0, 3:6] = [1.0, 0.0, 0.0]
    assert shares((points, rows, residuals), 5.0)[0] > 0.8
