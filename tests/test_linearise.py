# SPDX-License-Identifier: MIT
"""The inner loop: gradients against finite differences and the twin, rejection, threads, charts."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import reference
from svnicp import lie
from svnicp.arrays import Floats, Integers, Transform
from svnicp.kernels import lie as compiled_lie
from svnicp.kernels.linearise import linearise, linearise_one
from svnicp.lie import make_transform, se3_exp, so3_exp
from svnicp.registration.robust import WEIGHT_KINDS
from threads import needs_two_threads, num_threads

seeds = st.integers(0, 2**32 - 1)
weights = st.sampled_from(sorted(WEIGHT_KINDS))
SCALE = np.array([0.3, 0.3, 0.3, 0.05, 0.05, 0.05])
EYE = np.eye(6)


class Case(NamedTuple):
    """Everything that ``linearise`` takes."""

    T_reference: Transform
    offsets: Floats
    seen: Floats
    points: Any
    rows: Any
    max_distance_m: float
    weight: str
    width: float

    def compiled(self) -> tuple[Floats, Floats, Floats, Integers]:
        """Gradients, Hessians, costs and matches of the compiled code."""
        return linearise(
            self.T_reference, self.offsets, self.seen, self.points, self.rows,
            self.max_distance_m**2, WEIGHT_KINDS[self.weight], self.width,
        )  # fmt: skip

    def twin(self) -> list[reference.Linearised]:
        """Return what the NumPy twin says, particle by particle."""
        return [
            reference.linearise(
                self.T_reference, offset, self.seen, self.points, self.rows, self.max_distance_m,
                self.weight, self.width,
            )
            for offset in self.offsets
        ]  # fmt: skip


def random_case(
    seed: int,
    kind: str = "mixed",
    weight: str = "none",
    num_points: int = 150,
    num_candidates: int = 4,
) -> Case:
    """Three particles among candidates scattered around where the points are at the reference."""
    rng = np.random.default_rng(seed)
    T_reference = make_transform(so3_exp(rng.normal(size=3)), rng.normal(size=3))
    points = (5.0 * rng.normal(size=(num_points, 3))).astype(np.float32)
    places = lie.transform_points(T_reference, points.astype(np.float64))
    rows = np.zeros((num_points, num_candidates, 8))
    rows[..., :3] = places[:, None] + 0.4 * rng.normal(size=(num_points, num_candidates, 3))
    normals = rng.normal(size=(num_points, num_candidates, 3))
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    planar = {"planes": 1.0, "points": 0.0, "mixed": 0.5}[kind]
    rows[..., 3:6] = normals * (rng.random((num_points, num_candidates, 1)) < planar)
    rows[..., 6] = np.sum(rows[..., :3] * rows[..., 3:6], axis=-1)
    rows[..., 7] = rng.uniform(1.0, 2000.0, size=(num_points, num_candidates))
    rows[rng.random((num_points, num_candidates)) < 0.1, 7] = 0.0
    rows[rng.random((num_points, num_candidates)) < 0.1, :3] = np.inf
    seen = EYE + 0.2 * rng.normal(size=(6, 6))
    offsets = rng.normal(size=(3, 6)) * SCALE
    return Case(T_reference, offsets, seen, points, rows.astype(np.float32), 1.0, weight, 2.0)


def decided(case: Case) -> Case:
    """Return the case without points whose match or gate rounding could decide at some particle."""
    keep = np.ones(len(case.points), dtype=bool)
    for offset in case.offsets:
        T = reference.offset_pose(case.T_reference, case.seen @ offset)
        places = lie.transform_points(T, case.points.astype(np.float64))
        distances = np.linalg.norm(case.rows[..., :3].astype(np.float64) - places[:, None], axis=2)
        nearest = np.sort(np.minimum(distances, 1e9), axis=1)
        keep &= (nearest[:, 0] == 1e9) | (nearest[:, 1] - nearest[:, 0] > 1e-4)
        keep &= np.abs(nearest[:, 0] - case.max_distance_m) > 1e-4
    return case._replace(points=case.points[keep], rows=case.rows[keep])


# Laws


@settings(max_examples=25)
@given(seed=seeds, kind=st.sampled_from(["planes", "points", "mixed"]))
def test_gradient_is_that_of_the_cost(seed: int, kind: str):
    """With fixed matches, gradients are finite differences of the cost in the offset's chart."""
    case = random_case(seed, kind, num_candidates=1)._replace(max_distance_m=1e6)
    gradients, *_ = case.compiled()
    step = 1e-6
    for k in range(len(case.offsets)):
        shifted = np.concatenate([case.offsets[k] + step * EYE, case.offsets[k] - step * EYE])
        costs = case._replace(offsets=shifted).compiled()[2]
        differences = (costs[:6] - costs[6:]) / (2.0 * step)
        # The step divides the rounding of the costs: some 1e-15 of them.
        assert_allclose(gradients[k], differences, rtol=0.0, atol=1e-14 * costs.max() / step)


@settings(max_examples=25)
@given(seed=seeds, kind=st.sampled_from(["planes", "points", "mixed"]))
def test_hessian_is_the_gauss_newton_product(seed: int, kind: str):
    """Without weights the Hessian is Σ J'J/V with J the finite difference of the residuals."""
    case = random_case(seed, kind, num_candidates=1)._replace(max_distance_m=1e6)
    _, hessians, _, _ = case.compiled()
    step = 1e-5
    for offset, hessian in zip(case.offsets, hessians, strict=True):
        ahead = [residuals(case, offset + step * axis) for axis in EYE]
        behind = [residuals(case, offset - step * axis) for axis in EYE]
        J = (np.array(ahead) - np.array(behind)).T / (2.0 * step)
        assert_allclose(hessian, J.T @ J, rtol=0.0, atol=1e-7 * np.abs(hessian).max())


def residuals(case: Case, offset: Floats) -> Floats:
    """All residuals over their standard deviations for a case with one candidate per point."""
    T = reference.offset_pose(case.T_reference, case.seen @ offset)
    rows = case.rows[:, 0].astype(np.float64)
    places = lie.transform_points(T, case.points.astype(np.float64))
    used = np.isfinite(rows[:, 0]) & (rows[:, 7] > 0.0)
    rows, places = rows[used], places[used]
    planar = np.any(rows[:, 3:6] != 0.0, axis=1)
    to_plane = np.sum(rows[:, 3:6] * places, axis=1) - rows[:, 6]
    to_point = (places - rows[:, :3]) * np.sqrt(rows[:, 7:])
    return np.concatenate([(to_plane * np.sqrt(rows[:, 7]))[planar], to_point[~planar].ravel()])


# Against the twin


@settings(max_examples=30)
@given(seed=seeds, kind=st.sampled_from(["planes", "points", "mixed"]), weight=weights)
def test_kernel_agrees_with_the_twin(seed: int, kind: str, weight: str):
    """Gradient, Hessian, cost and matches equal the plain loops for every metric and weight."""
    case = decided(random_case(seed, kind, weight))
    gradients, hessians, costs, matches = case.compiled()
    for k, expected in enumerate(case.twin()):
        assert matches[k] == expected.matches
        assert_allclose(costs[k], expected.cost, rtol=1e-10)
        size = np.abs(expected.hessian).max()
        assert_allclose(hessians[k], expected.hessian, rtol=0.0, atol=1e-11 * size)
        assert_allclose(gradients[k], expected.gradient, rtol=0.0, atol=1e-10 * size)


def test_cost_is_half_the_weighted_squares():
    """One point half a metre from a plane of variance 1/8 costs ½ · 0.25 · 8."""
    rows = np.array([[[0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 8.0]]], dtype=np.float32)
    points = np.array([[0.1, 0.0, 0.5]], dtype=np.float32)
    case = Case(np.eye(4), np.zeros((1, 6)), EYE, points, rows, 2.0, "none", 1.0)
    assert_allclose(case.compiled()[2], 1.0)


@pytest.mark.parametrize("num_points", [0, 1, 63, 64, 65, 200])
def test_any_number_of_points_is_summed(num_points: int):
    """The sums are right for no points, one, and where blocks of points begin and end."""
    case = decided(random_case(5, num_points=num_points))
    gradients, hessians, costs, matches = case.compiled()
    for k, expected in enumerate(case.twin()):
        assert matches[k] == expected.matches
        assert_allclose(costs[k], expected.cost, rtol=1e-10)
        assert_allclose(gradients[k], expected.gradient, rtol=1e-8, atol=1e-6)
        assert_allclose(hessians[k], expected.hessian, rtol=1e-8, atol=1e-6)


def test_one_pose_is_a_particle_at_the_reference():
    """``linearise_one`` gives what the particles' version gives at offset zero."""
    case = random_case(8)._replace(offsets=np.zeros((1, 6)), seen=EYE)
    gradients, hessians, _, _ = case.compiled()
    one = linearise_one(
        case.T_reference, case.points, case.rows, case.max_distance_m**2,
        WEIGHT_KINDS[case.weight], case.width,
    )  # fmt: skip
    assert_allclose(one[0], gradients[0], rtol=0.0, atol=1e-12 * np.abs(gradients).max())
    assert_allclose(one[1], hessians[0], rtol=0.0, atol=1e-12 * np.abs(hessians).max())


# Rejection


def beyond_the_gate(rows: Floats) -> None:
    """Move candidates out of reach."""
    rows[..., :3] += 3.0


def without_precision(rows: Floats) -> None:
    """Take candidates' precision away."""
    rows[..., 7] = 0.0


def nowhere(rows: Floats) -> None:
    """Mark candidates as missing."""
    rows[..., :3] = np.inf


@pytest.mark.parametrize("weight", sorted(WEIGHT_KINDS))
@pytest.mark.parametrize("spoil", [beyond_the_gate, without_precision, nowhere])
def test_rejected_points_change_nothing(spoil: Callable[[Floats], None], weight: str):
    """Points out of reach, without precision or candidates are as if they were not there."""
    case = random_case(11, weight=weight, num_points=200)
    rejected = np.random.default_rng(0).random(200) < 0.4
    rows = case.rows.copy()
    spoiled = rows[rejected]
    spoil(spoiled)
    rows[rejected] = spoiled
    with_them = case._replace(rows=rows).compiled()
    without = case._replace(points=case.points[~rejected], rows=rows[~rejected]).compiled()
    assert_array_equal(with_them[3], without[3])
    for one, other in zip(with_them[:3], without[:3], strict=True):
        assert_allclose(one, other, rtol=0.0, atol=1e-12 * np.abs(other).max())


def test_nearest_candidate_without_precision_is_not_replaced():
    """A point nearest to an edge is left out, not matched with the second nearest map point."""
    rows = np.zeros((1, 2, 8), dtype=np.float32)
    rows[0, :, 0], rows[0, 1, 7] = [0.1, 0.2], 1.0
    case = Case(
        np.eye(4), np.zeros((1, 6)), EYE, np.zeros((1, 3), np.float32), rows, 1.0, "none", 1.0
    )
    assert case.compiled()[3][0] == 0


@pytest.mark.parametrize(("share", "matched"), [(0.99, 1), (1.01, 0)])
@pytest.mark.parametrize("max_distance_m", [0.2, 1.0, 3.0])
def test_the_gate_is_a_distance(max_distance_m: float, share: float, matched: int):
    """A candidate at 0.99 of the largest distance matches, one at 1.01 does not."""
    rows = np.zeros((1, 1, 8), dtype=np.float32)
    rows[0, 0, :3] = share * max_distance_m * np.array([2.0, -1.0, 2.0]) / 3.0
    rows[0, 0, 7] = 1.0
    points = np.zeros((1, 3), dtype=np.float32)
    case = Case(np.eye(4), np.zeros((1, 6)), EYE, points, rows, max_distance_m, "none", 1.0)
    assert case.compiled()[3][0] == matched


# Threads


@needs_two_threads
def test_thread_count_does_not_change_bits(rng: np.random.Generator):
    """One thread and two give the same gradients, Hessians, costs and matches, bit for bit."""
    case = random_case(3)._replace(offsets=rng.normal(size=(17, 6)) * SCALE)
    with num_threads(1):
        alone = case.compiled()
    with num_threads(2):
        together = case.compiled()
    for one, two in zip(alone, together, strict=True):
        assert_array_equal(one, two)


# Charts


vectors = st.tuples(*[st.floats(-1.0, 1.0, allow_subnormal=False)] * 3).map(np.array)
angles = st.one_of(
    st.floats(0.0, 3.0), st.sampled_from([0.0, 1e-12, 1e-6, 0.0999999, 0.1, 0.1000001])
)


@given(vectors, angles)
def test_compiled_rotations_equal_their_twins(direction: Floats, angle: float):
    """so3_exp and so3_right_jacobian equal ``svnicp.lie``, at the series' border too."""
    phi = angle * direction / max(np.linalg.norm(direction), 1e-3)
    assert_allclose(compiled_lie.so3_exp(phi), lie.so3_exp(phi), rtol=0.0, atol=1e-14)
    assert_allclose(
        compiled_lie.so3_right_jacobian(phi), lie.so3_right_jacobian(phi), rtol=0.0, atol=1e-13
    )


@given(vectors, angles)
def test_compiled_log_equals_its_twin(direction: Floats, angle: float):
    """so3_log brings back the rotation vector of any rotation well below half a turn."""
    phi = angle * direction / max(np.linalg.norm(direction), 1.0)
    assert_allclose(compiled_lie.so3_log(lie.so3_exp(phi)), phi, rtol=0.0, atol=1e-12)


@given(vectors, vectors, vectors)
def test_compose_offset_equals_its_twin(t: Floats, phi: Floats, xi: Floats):
    """The pose of an offset is T_reference (Exp φ, t)."""
    T_reference, offset = se3_exp(np.concatenate([3.0 * xi, xi])), np.concatenate([t, phi])
    expected = reference.offset_pose(T_reference, offset)
    assert_allclose(compiled_lie.compose_offset(T_reference, offset), expected, atol=1e-14)


@given(vectors, vectors)
def test_pull_back_is_the_derivative_of_the_chart(t: Floats, phi: Floats):
    """A step of the offset, pulled back, is the step in the particle's own right tangent."""
    offset, step = np.concatenate([t, phi]), 1e-6
    T = reference.offset_pose(np.eye(4), offset)
    moved = [
        lie.se3_log(lie.se3_inverse(T) @ reference.offset_pose(np.eye(4), offset + step * axis))
        for axis in EYE
    ]
    back = [
        lie.se3_log(lie.se3_inverse(T) @ reference.offset_pose(np.eye(4), offset - step * axis))
        for axis in EYE
    ]
    expected = (np.array(moved) - np.array(back)).T / (2.0 * step)
    assert_allclose(compiled_lie.pull_back(offset), expected, rtol=0.0, atol=1e-8)
