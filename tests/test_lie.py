# SPDX-License-Identifier: MIT
"""Laws of SO(3) and SE(3): group axioms, exp and log, adjoint, Jacobians, batches."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from svnicp import lie
from svnicp.arrays import Floats, Tangent, Transform
from svnicp.lie import ROTATION, TRANSLATION, hat, make_transform, se3_exp, se3_inverse, se3_log

SHAPES = [(), (1,), (3, 1, 2), (0,)]
ANGLES = [0.0, 1e-300, 1e-12, 1e-8, 1e-4, 0.1, 0.999999, 1.000001, 2.0, 3.0, np.pi - 1e-9, np.pi]

axes = (
    st.tuples(*[st.floats(-1.0, 1.0, allow_subnormal=False)] * 3)
    .map(np.array)
    .filter(lambda v: np.linalg.norm(v) > 0.1)
    .map(lambda v: v / np.linalg.norm(v))
)
angles = st.one_of(
    st.floats(0.0, np.pi, allow_subnormal=False),
    st.floats(0.0, 1e-6, allow_subnormal=False),
    st.floats(0.0, 1e-9, allow_subnormal=False).map(lambda gap: np.pi - gap),
    st.sampled_from(ANGLES),
)
rotation_vectors = st.builds(np.multiply, axes, angles)
translations = st.tuples(*[st.floats(-100.0, 100.0)] * 3).map(np.array)
tangents = st.builds(lambda rho, phi: np.concatenate([rho, phi]), translations, rotation_vectors)
transforms = tangents.map(se3_exp)


def tangent(angle: float, axis: tuple[float, float, float] = (2.0, -1.0, 0.5)) -> Tangent:
    """Tangent with a fixed translation and a rotation by ``angle`` [rad] about ``axis``."""
    return np.concatenate([[0.7, -4.0, 2.5], angle * np.array(axis) / np.linalg.norm(axis)])


def random_tangents(rng: np.random.Generator, shape: tuple[int, ...]) -> Tangent:
    return rng.normal(size=(*shape, 6)) * [5.0, 5.0, 5.0, 0.8, 0.8, 0.8]


def algebra(xi: Tangent) -> Floats:
    """(4, 4) matrix whose matrix exponential is Exp(xi)."""
    matrix = np.zeros((4, 4))
    matrix[:3, :3] = hat(xi[ROTATION])
    matrix[:3, 3] = xi[TRANSLATION]
    return matrix


def integrated_adjoint(xi: Tangent) -> Floats:
    """Integral of Ad(Exp(-s xi)) over s in [0, 1], read off one matrix exponential; (6, 6)."""
    W, P = hat(xi[ROTATION]), hat(xi[TRANSLATION])
    generator = np.zeros((12, 12))
    generator[:6, :6] = -np.block([[W, P], [np.zeros((3, 3)), W]])
    generator[:6, 6:] = np.eye(6)
    return np.asarray(expm(generator)[:6, 6:], dtype=np.float64)


# Hat


def test_hat_is_the_cross_product(rng: np.random.Generator):
    """Multiplying by hat(v) is taking the cross product with v, and hat(v) is skew."""
    v, u = rng.normal(size=(2, 3))
    assert_allclose(hat(v) @ u, np.cross(v, u), atol=1e-15)
    assert_array_equal(hat(v), -hat(v).T)


# Group axioms


@given(transforms, transforms, transforms)
def test_composition_is_associative(T_a_b: Transform, T_b_c: Transform, T_c_d: Transform):
    """Brackets do not matter in a chain of transforms."""
    assert_allclose((T_a_b @ T_b_c) @ T_c_d, T_a_b @ (T_b_c @ T_c_d), atol=1e-11)


@given(transforms)
def test_the_inverse_undoes_a_transform_from_both_sides(T_a_b: Transform):
    """A transform times its inverse is the identity, in either order."""
    assert_allclose(T_a_b @ se3_inverse(T_a_b), np.eye(4), atol=1e-12)
    assert_allclose(se3_inverse(T_a_b) @ T_a_b, np.eye(4), atol=1e-12)


@given(transforms, transforms)
def test_the_inverse_of_a_product_is_reversed(T_a_b: Transform, T_b_c: Transform):
    """The inverse of T_a_b T_b_c is T_c_b T_b_a."""
    reversed_product = se3_inverse(T_b_c) @ se3_inverse(T_a_b)
    assert_allclose(se3_inverse(T_a_b @ T_b_c), reversed_product, atol=1e-11)


@given(tangents)
def test_exp_stays_in_the_group(xi: Tangent):
    """Exp gives a proper rotation, the last row 0, 0, 0, 1 and finite numbers."""
    T = se3_exp(xi)
    assert_allclose(T[:3, :3] @ T[:3, :3].T, np.eye(3), atol=1e-13)
    assert_allclose(np.linalg.det(T[:3, :3]), 1.0, atol=1e-13)
    assert_array_equal(T[3], [0.0, 0.0, 0.0, 1.0])


@given(tangents, st.floats(-1.0, 1.0), st.floats(-1.0, 1.0))
def test_exp_of_multiples_of_a_tangent_adds_up(xi: Tangent, first: float, second: float):
    """Along one tangent Exp turns sums into products."""
    product = se3_exp(first * xi) @ se3_exp(second * xi)
    assert_allclose(product, se3_exp((first + second) * xi), atol=1e-11)


# Exp and log


@given(rotation_vectors)
def test_rotations_agree_with_scipy(phi: Floats):
    """Exp and log of rotations are those of scipy's Rotation."""
    rotation = Rotation.from_rotvec(phi)
    assert_allclose(lie.so3_exp(phi), rotation.as_matrix(), atol=1e-13)
    turn_back = Rotation.from_rotvec(lie.so3_log(lie.so3_exp(phi))) * rotation.inv()
    assert turn_back.magnitude() < 1e-13


@given(tangents)
def test_exp_is_the_matrix_exponential(xi: Tangent):
    """The translation is V(phi) rho: Exp is the exponential of the 4x4 algebra matrix."""
    assert_allclose(se3_exp(xi), expm(algebra(xi)), atol=1e-11)


@given(axes, angles)
def test_log_undoes_exp_for_rotations(axis: Floats, angle: float):
    """Log returns the rotation vector to relative precision, up to its sign at pi."""
    phi = angle * axis
    found = lie.so3_log(lie.so3_exp(phi))
    if angle > np.pi - 1e-12 and found @ phi < 0.0:
        found = -found
    assert np.linalg.norm(found - phi) <= 1e-12 * angle + 1e-300


@given(tangents)
def test_log_undoes_exp_for_rigid_motions(xi: Tangent):
    """Log returns the tangent wherever it is unique, and always one with the same Exp."""
    found = se3_log(se3_exp(xi))
    assert_allclose(se3_exp(found), se3_exp(xi), atol=1e-11)
    if np.linalg.norm(xi[ROTATION]) < np.pi - 1e-12:
        assert_allclose(found, xi, atol=1e-11)


@pytest.mark.parametrize("gap", [1e-6, 1e-9, 1e-10, 1e-12, 1e-15, 0.0])
def test_log_is_exact_close_to_half_a_turn(gap: float, rng: np.random.Generator):
    """From pi - 1e-6 to pi the rotation vector is right to 1e-13, up to its sign at pi."""
    axis = rng.normal(size=(500, 3))
    phi = (np.pi - gap) * axis / np.linalg.norm(axis, axis=-1, keepdims=True)
    found = lie.so3_log(lie.so3_exp(phi))
    if gap < 1e-12:
        found *= np.sign(np.sum(found * phi, axis=-1, keepdims=True))
    assert_allclose(found, phi, rtol=0.0, atol=1e-13)


@pytest.mark.parametrize("axis", np.eye(3))
def test_log_of_an_exact_half_turn(axis: Floats):
    """The exact half-turn about a coordinate axis has a rotation vector of length pi along it."""
    assert_array_equal(np.abs(lie.so3_log(2.0 * np.outer(axis, axis) - np.eye(3))), np.pi * axis)


def test_log_of_the_identity_is_zero():
    """The identity has the zero tangent, exactly."""
    assert_array_equal(se3_log(np.eye(4)), np.zeros(6))


def test_log_gives_the_short_way_round():
    """A rotation by more than pi comes back as the shorter one, the other way."""
    assert_allclose(lie.so3_log(lie.so3_exp(np.array([0.0, 0.0, 4.0]))), [0, 0, 4.0 - 2.0 * np.pi])


# Adjoint


@given(transforms, tangents)
def test_the_adjoint_carries_a_perturbation_to_the_left(T_a_b: Transform, xi: Tangent):
    """T Exp(xi) = Exp(Ad xi) T."""
    carried = lie.se3_adjoint(T_a_b) @ xi
    assert_allclose(T_a_b @ se3_exp(xi), se3_exp(carried) @ T_a_b, rtol=1e-10, atol=1e-9)


@given(transforms, transforms)
def test_the_adjoint_is_a_homomorphism(T_a_b: Transform, T_b_c: Transform):
    """Ad of a product is the product of the Ads."""
    product = lie.se3_adjoint(T_a_b) @ lie.se3_adjoint(T_b_c)
    assert_allclose(lie.se3_adjoint(T_a_b @ T_b_c), product, atol=1e-10)


# Jacobians


@pytest.mark.parametrize("angle", ANGLES[:-2])
def test_the_right_jacobian_matches_finite_differences(angle: float):
    """Exp(xi + d) = Exp(xi) Exp(J d) to first order, for SO(3) and SE(3)."""
    xi, step = tangent(angle), 1e-6
    offsets = step * np.eye(6)
    ahead = se3_log(se3_inverse(se3_exp(xi)) @ se3_exp(xi + offsets))
    behind = se3_log(se3_inverse(se3_exp(xi)) @ se3_exp(xi - offsets))
    numeric = (ahead - behind).T / (2.0 * step)
    assert_allclose(lie.se3_right_jacobian(xi), numeric, atol=1e-8)
    assert_allclose(lie.so3_right_jacobian(xi[ROTATION]), numeric[3:, 3:], atol=1e-8)


@given(tangents)
def test_the_right_jacobian_is_the_integrated_adjoint(xi: Tangent):
    """To rounding, at every angle, J is the integral of Ad(Exp(-s xi)) over s in [0, 1]."""
    expected = integrated_adjoint(xi)
    assert_allclose(lie.se3_right_jacobian(xi), expected, atol=1e-11)
    assert_allclose(lie.so3_right_jacobian(xi[ROTATION]), expected[3:, 3:], atol=1e-13)


@given(tangents)
def test_the_inverse_jacobian_is_the_inverse(xi: Tangent):
    """J and its inverse multiply to the identity, for SO(3) and SE(3)."""
    phi = xi[ROTATION]
    product_so3 = lie.so3_right_jacobian(phi) @ lie.so3_right_jacobian_inverse(phi)
    product_se3 = lie.se3_right_jacobian(xi) @ lie.se3_right_jacobian_inverse(xi)
    assert_allclose(product_so3, np.eye(3), atol=1e-13)
    assert_allclose(product_se3, np.eye(6), atol=1e-11)


@pytest.mark.parametrize(
    "function",
    [
        se3_exp,
        lie.se3_right_jacobian,
        lie.se3_right_jacobian_inverse,
        lambda xi: lie.so3_right_jacobian(xi[ROTATION]),
        lambda xi: lie.so3_right_jacobian_inverse(xi[ROTATION]),
    ],
)
def test_series_and_closed_form_meet(function: Callable[[Tangent], Floats]):
    """Nothing jumps where the Taylor series hands over to the closed form."""
    below, above = np.nextafter(1.0, 0.0), np.nextafter(1.0, 2.0)
    assert_allclose(function(tangent(below)), function(tangent(above)), rtol=0.0, atol=1e-13)


def test_the_residual_jacobian_is_the_one_documented(rng: np.random.Generator):
    """The residual e = R p + t - q has the right Jacobian [R, -R hat(p)]."""
    T, step = se3_exp(random_tangents(rng, ())), 1e-6
    point = 10.0 * rng.normal(size=3)

    def moved(offset: Tangent) -> Floats:
        return lie.transform_points(T @ se3_exp(offset), point)

    numeric = np.stack([(moved(d) - moved(-d)) / (2.0 * step) for d in step * np.eye(6)], axis=1)
    R = T[:3, :3]
    assert_allclose(np.hstack([R, -R @ hat(point)]), numeric, atol=1e-7)


# Batches


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "function",
    [
        se3_exp,
        lie.se3_right_jacobian,
        lie.se3_right_jacobian_inverse,
        lambda xi: hat(xi[..., ROTATION]),
        lambda xi: lie.so3_exp(xi[..., ROTATION]),
        lambda xi: lie.so3_log(lie.so3_exp(xi[..., ROTATION])),
        lambda xi: lie.so3_right_jacobian(xi[..., ROTATION]),
        lambda xi: lie.so3_right_jacobian_inverse(xi[..., ROTATION]),
        lambda xi: se3_log(se3_exp(xi)),
        lambda xi: se3_inverse(se3_exp(xi)),
        lambda xi: lie.se3_adjoint(se3_exp(xi)),
        lambda xi: lie.orthonormalise(se3_exp(xi)),
    ],
)
def test_a_batch_is_its_elements_one_by_one(
    function: Callable[[Tangent], Floats], shape: tuple[int, ...], rng: np.random.Generator
):
    """Leading dimensions are kept, and each element is computed as if it were alone."""
    xi = random_tangents(rng, shape)
    batch = function(xi)
    single_shape = function(np.zeros(6)).shape
    assert batch.shape == (*shape, *single_shape)
    assert batch.dtype == np.float64
    for index in np.ndindex(*shape):
        assert_allclose(batch[index], function(xi[index]), rtol=0.0, atol=1e-13)


def test_one_batch_may_hold_every_kind_of_angle():
    """Zero, tiny, ordinary and half-turn angles can share a batch without disturbing each other."""
    xi = np.stack([tangent(angle) for angle in ANGLES])
    found = se3_log(se3_exp(xi))
    assert_allclose(se3_exp(found), se3_exp(xi), atol=1e-13)
    assert_allclose(found[:-1], xi[:-1], atol=1e-13)


# Points, construction, repair


@pytest.mark.parametrize("shape", SHAPES)
def test_points_move_as_homogeneous_coordinates_do(
    shape: tuple[int, ...], rng: np.random.Generator
):
    """Moving points is multiplying (p, 1) by the transform, for clouds and for one point."""
    T_a_b = se3_exp(random_tangents(rng, shape))
    cloud = rng.normal(size=(*shape, 7, 3))
    homogeneous = np.concatenate([cloud, np.ones((*shape, 7, 1))], axis=-1)
    expected = np.einsum("...ij,...nj->...ni", T_a_b, homogeneous)[..., :3]
    assert_allclose(lie.transform_points(T_a_b, cloud), expected, atol=1e-13)
    point = np.array([1.0, 2.0, 3.0])
    expected_point = (T_a_b @ np.append(point, 1.0))[..., :3]
    assert_allclose(lie.transform_points(T_a_b, point), expected_point, atol=1e-13)


def test_one_cloud_can_be_moved_by_many_transforms(rng: np.random.Generator):
    """A (n, 3) cloud broadcasts against (k, 4, 4) transforms."""
    T_a_b, cloud = se3_exp(random_tangents(rng, (5,))), rng.normal(size=(7, 3))
    one_by_one = np.stack([lie.transform_points(T, cloud) for T in T_a_b])
    assert_allclose(lie.transform_points(T_a_b, cloud), one_by_one, atol=1e-13)


def test_make_transform_broadcasts_its_parts():
    """One rotation and many translations give many transforms."""
    translation = np.arange(6.0).reshape(2, 3)
    T = make_transform(np.eye(3), translation)
    assert T.shape == (2, 4, 4)
    assert_array_equal(T[:, :3, 3], translation)
    assert_array_equal(T[:, :3, :3], np.stack([np.eye(3)] * 2))
    assert_array_equal(T[:, 3], [[0, 0, 0, 1]] * 2)


@given(transforms)
def test_orthonormalise_leaves_a_rigid_transform_alone(T_a_b: Transform):
    """The nearest rotation to a rotation is itself."""
    assert_allclose(lie.orthonormalise(T_a_b), T_a_b, atol=1e-13)


@pytest.mark.parametrize("mirrored", [False, True])
def test_orthonormalise_finds_the_nearest_rotation(mirrored: bool, rng: np.random.Generator):
    """No rotation is closer to the damaged block than the one found, even for a reflection."""
    damaged = se3_exp(random_tangents(rng, ()))
    damaged[:3, :3] += 0.1 * rng.normal(size=(3, 3))
    damaged[:3, 0] *= -1.0 if mirrored else 1.0
    repaired = lie.orthonormalise(damaged)
    R = repaired[:3, :3]
    assert_allclose(R @ R.T, np.eye(3), atol=1e-13)
    assert np.linalg.det(R) > 0.0
    assert_array_equal(repaired[:3, 3], damaged[:3, 3])
    others = np.concatenate([R @ lie.so3_exp(rng.normal(size=(200, 3)) * s) for s in (1e-3, 1.0)])
    distance = np.linalg.norm(R - damaged[:3, :3])
    assert np.all(np.linalg.norm(others - damaged[:3, :3], axis=(-2, -1)) > distance)


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("damage", [1e-15, 1e-10, 1e-9, 1e-8, 1e-7])
def test_orthonormalise_is_the_same_for_little_damage(
    mirrored: bool, damage: float, rng: np.random.Generator
):
    """What is nearly a rotation, or nearly a reflection, becomes what the SVD makes of it."""
    nearly = se3_exp(random_tangents(rng, ()))
    nearly[:3, :3] += damage * rng.normal(size=(3, 3))
    nearly[:3, 0] *= -1.0 if mirrored else 1.0
    U, _, V = np.linalg.svd(nearly[:3, :3])
    expected = U @ np.diag([1.0, 1.0, np.linalg.det(U @ V)]) @ V
    R = lie.orthonormalise(nearly)[:3, :3]
    if mirrored:  # which of the nearly equal axes is turned round is a matter of rounding
        assert np.linalg.norm(R - nearly[:3, :3]) < 2.0 + 1e-6
        assert_allclose(R @ R.T, np.eye(3), atol=1e-13)
        assert np.linalg.det(R) > 0.0
    else:
        assert_allclose(R, expected, rtol=0.0, atol=1e-14)
