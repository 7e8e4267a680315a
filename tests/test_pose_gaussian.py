# SPDX-License-Identifier: MIT
"""Laws of a pose with uncertainty: propagation against sampling, conventions, refusals."""

import dataclasses
from types import ModuleType

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation
from scipy.stats import chi2

from svnicp.arrays import Covariance, Floats, Tangent, Transform
from svnicp.errors import InputError
from svnicp.lie import ROTATION, TRANSLATION, se3_adjoint, se3_exp, se3_inverse, se3_log
from svnicp.pose_gaussian import PoseGaussian

NUM_SAMPLES = 20_000
# Eigenvalues of a whitened 6x6 sample covariance scatter by 2 sqrt(6 / n) = 3.5 %.
SAMPLING_TOLERANCE = 0.06

T_A_B = se3_exp(np.array([3.0, -1.0, 0.5, 0.4, -0.9, 1.2]))
T_B_C = se3_exp(np.array([-0.5, 2.0, 1.5, -1.1, 0.3, 0.7]))


def random_covariance(seed: int) -> Covariance:
    """Full covariance with standard deviations of some centimetres and some milliradians."""
    root = np.random.default_rng(seed).normal(size=(6, 6)) / np.sqrt(6.0)
    size = np.array([0.03, 0.06, 0.02, 0.006, 0.003, 0.009])
    return size[:, None] * (root @ root.T + 0.2 * np.eye(6)) * size


@pytest.fixture
def a_b() -> PoseGaussian:
    return PoseGaussian(T_A_B, random_covariance(1))


@pytest.fixture
def b_c() -> PoseGaussian:
    return PoseGaussian(T_B_C, random_covariance(2))


def assert_describes(gaussian: PoseGaussian, samples: Transform) -> None:
    """Compare mean and covariance with those of the samples, in every direction."""
    xi = se3_log(se3_inverse(gaussian.T_world_body) @ samples)
    whitened = np.linalg.solve(np.linalg.cholesky(gaussian.covariance), xi.T)
    assert_allclose(whitened.mean(axis=1), np.zeros(6), atol=SAMPLING_TOLERANCE)
    assert_allclose(np.linalg.eigvalsh(np.cov(whitened)), np.ones(6), atol=SAMPLING_TOLERANCE)


def assert_same(first: PoseGaussian, second: PoseGaussian) -> None:
    assert_allclose(first.T_world_body, second.T_world_body, atol=1e-12)
    assert_allclose(first.covariance, second.covariance, rtol=1e-9, atol=1e-15)


# Propagation against sampling


def test_samples_follow_the_gaussian(a_b: PoseGaussian, rng: np.random.Generator):
    """Samples have the mean and the covariance in the body tangent that the type promises."""
    samples = a_b.sample(rng, NUM_SAMPLES)
    assert samples.shape == (NUM_SAMPLES, 4, 4)
    assert_describes(a_b, samples)


def test_compose_matches_sampling(a_b: PoseGaussian, b_c: PoseGaussian, rng: np.random.Generator):
    """Chaining two uncertain poses gives the covariance of chained samples."""
    chained = a_b.sample(rng, NUM_SAMPLES) @ b_c.sample(rng, NUM_SAMPLES)
    assert_describes(a_b.compose(b_c), chained)


def test_inverse_matches_sampling(a_b: PoseGaussian, rng: np.random.Generator):
    """Inverting an uncertain pose gives the covariance of inverted samples."""
    assert_describes(a_b.inverse(), se3_inverse(a_b.sample(rng, NUM_SAMPLES)))


def test_between_matches_sampling(a_b: PoseGaussian, b_c: PoseGaussian, rng: np.random.Generator):
    """The pose of one uncertain frame in another has the covariance of relative samples."""
    relative = se3_inverse(a_b.sample(rng, NUM_SAMPLES)) @ b_c.sample(rng, NUM_SAMPLES)
    assert_describes(a_b.between(b_c), relative)


def test_change_of_body_frame_matches_sampling(a_b: PoseGaussian, rng: np.random.Generator):
    """Another frame on the same body moves rigidly with each sample."""
    assert_describes(a_b.change_body_frame(T_B_C), a_b.sample(rng, NUM_SAMPLES) @ T_B_C)


def test_change_of_world_frame_matches_sampling(a_b: PoseGaussian, rng: np.random.Generator):
    """Seen from another world each sample is moved from the left."""
    assert_describes(a_b.change_world_frame(T_B_C), T_B_C @ a_b.sample(rng, NUM_SAMPLES))


def test_left_covariance_matches_sampling(a_b: PoseGaussian, rng: np.random.Generator):
    """The paper's global-frame covariance is that of xi in Exp(xi) T."""
    xi = se3_log(a_b.sample(rng, NUM_SAMPLES) @ se3_inverse(T_A_B))
    whitened = np.linalg.solve(np.linalg.cholesky(a_b.left_covariance()), xi.T)
    assert_allclose(np.linalg.eigvalsh(np.cov(whitened)), np.ones(6), atol=SAMPLING_TOLERANCE)


def test_distances_of_samples_are_chi_squared(a_b: PoseGaussian, rng: np.random.Generator):
    """The squared distance of a sample is below the p-quantile of chi2(6) a share p of the time."""
    distances = a_b.mahalanobis_squared(a_b.sample(rng, NUM_SAMPLES))
    for share in (0.1, 0.5, 0.9, 0.99):
        assert np.mean(distances < chi2.ppf(share, df=6)) == pytest.approx(share, abs=0.015)


# Algebra of the operations


def test_inverse_twice_is_the_original(a_b: PoseGaussian):
    """Inverting twice changes neither mean nor covariance."""
    assert_same(a_b.inverse().inverse(), a_b)


def test_compose_is_associative(a_b: PoseGaussian, b_c: PoseGaussian):
    """Brackets do not matter in a chain of uncertain poses."""
    c_d = PoseGaussian(se3_exp(np.array([1.0, 0.0, 2.0, 0.1, 0.2, -0.3])), random_covariance(3))
    assert_same(a_b.compose(b_c).compose(c_d), a_b.compose(b_c.compose(c_d)))


def test_between_is_inverse_then_compose(a_b: PoseGaussian, b_c: PoseGaussian):
    """The relative pose is the inverse of the first composed with the second."""
    assert_same(a_b.between(b_c), a_b.inverse().compose(b_c))


def test_between_does_not_see_the_world(a_b: PoseGaussian, b_c: PoseGaussian):
    """Moving the world, even by a thousand kilometres, leaves the relative pose as it is."""
    T_new_world = se3_exp(np.array([5e5, -8e5, 2e2, 0.2, 0.1, -2.0]))
    moved = a_b.change_world_frame(T_new_world).between(b_c.change_world_frame(T_new_world))
    original = a_b.between(b_c)
    assert_allclose(moved.T_world_body, original.T_world_body, atol=1e-8)
    assert_allclose(moved.covariance, original.covariance, rtol=1e-7, atol=1e-12)


def test_a_certain_pose_composes_as_a_change_of_frame(a_b: PoseGaussian):
    """With zero covariance on one side compose is a change of body or world frame."""
    certain = PoseGaussian(T_B_C, np.zeros((6, 6)))
    assert_same(a_b.compose(certain), a_b.change_body_frame(T_B_C))
    assert_same(certain.compose(a_b), a_b.change_world_frame(T_B_C))


def test_a_lever_arm_turns_rotation_into_translation():
    """A sensor 2 m ahead of a body with only yaw noise moves sideways by 2 m times the yaw."""
    yaw_only = PoseGaussian(np.eye(4), np.diag([0.0, 0.0, 0.0, 0.0, 0.0, 0.01**2]))
    ahead = np.eye(4)
    ahead[0, 3] = 2.0
    expected = np.zeros((6, 6))
    expected[1, 1], expected[1, 5], expected[5, 1], expected[5, 5] = 4e-4, 2e-4, 2e-4, 1e-4
    assert_allclose(yaw_only.change_body_frame(ahead).covariance, expected, atol=1e-18)


# Sampling and distance at the edges


def test_a_certain_pose_has_one_sample(rng: np.random.Generator):
    """With zero covariance every sample is the mean."""
    samples = PoseGaussian(T_A_B, np.zeros((6, 6))).sample(rng, 3)
    assert_allclose(samples, np.stack([T_A_B] * 3), atol=1e-15)


def test_unknown_translation_does_not_blur_the_rotation(rng: np.random.Generator):
    """Samples keep a rotation of a microradian beside a translation of a thousand metres."""
    sigma = np.array([1e3, 1e3, 1e3, 1e-6, 1e-6, 1e-6])
    samples = PoseGaussian(np.eye(4), np.diag(sigma**2)).sample(rng, NUM_SAMPLES)
    assert_allclose(se3_log(samples).std(axis=0), sigma, rtol=0.03)


def test_the_same_seed_gives_the_same_samples(a_b: PoseGaussian):
    """Randomness comes only from the generator that is handed in."""
    first, second = (a_b.sample(np.random.default_rng(5), 4) for _ in range(2))
    assert_array_equal(first, second)


def test_distance_counts_standard_deviations():
    """Two standard deviations along one axis are a squared distance of four."""
    sigma = np.array([0.1, 0.2, 0.3, 0.01, 0.02, 0.03])
    gaussian = PoseGaussian(T_A_B, np.diag(sigma**2))
    poses = T_A_B @ se3_exp(2.0 * np.diag(sigma))
    assert_allclose(gaussian.mahalanobis_squared(poses), np.full(6, 4.0), rtol=1e-9)
    assert gaussian.mahalanobis_squared(poses[0]).shape == ()


def test_distance_does_not_depend_on_the_frames(a_b: PoseGaussian):
    """Moving world or body moves the pose and its Gaussian together: the distance stays."""
    pose = T_A_B @ se3_exp(np.array([0.02, -0.05, 0.01, 0.004, 0.002, -0.006]))
    original = a_b.mahalanobis_squared(pose)
    world = a_b.change_world_frame(T_B_C).mahalanobis_squared(T_B_C @ pose)
    body = a_b.change_body_frame(T_B_C).mahalanobis_squared(pose @ T_B_C)
    assert_allclose([world, body], [original, original], rtol=1e-9)


@pytest.mark.parametrize("T_body_new", [np.eye(4), T_B_C], ids=["plain", "turned"])
def test_distance_needs_a_regular_covariance(T_body_new: Transform):
    """A direction without variance has no distance, also when no single axis shows it."""
    flat = PoseGaussian(T_A_B, np.diag([1.0, 1.0, 0.0, 1.0, 1.0, 1.0]))
    with pytest.raises(InputError, match="singular"):
        flat.change_body_frame(T_body_new).mahalanobis_squared(T_A_B)


# ROS and GTSAM


def test_ros_round_trip(a_b: PoseGaussian):
    """Out to ROS and back gives the same Gaussian."""
    assert_same(PoseGaussian.from_ros(*a_b.to_ros()), a_b)


def test_ros_covariance_is_about_fixed_world_axes(a_b: PoseGaussian, rng: np.random.Generator):
    """It is the covariance of world position and of the world-axis rotation that remains."""
    mean, covariance = a_b.to_ros()
    assert_array_equal(mean, T_A_B)
    samples = a_b.sample(rng, NUM_SAMPLES)
    shift = samples[:, :3, 3] - T_A_B[:3, 3]
    turn = Rotation.from_matrix(samples[:, :3, :3]) * Rotation.from_matrix(T_A_B[:3, :3]).inv()
    errors = np.hstack([shift, turn.as_rotvec()])
    whitened = np.linalg.solve(np.linalg.cholesky(covariance), errors.T)
    assert_allclose(np.linalg.eigvalsh(np.cov(whitened)), np.ones(6), atol=SAMPLING_TOLERANCE)


def test_gtsam_round_trip(a_b: PoseGaussian):
    """Out to GTSAM's order and back gives the same Gaussian."""
    assert_same(PoseGaussian.from_gtsam_covariance(T_A_B, a_b.to_gtsam_covariance()), a_b)


def test_gtsam_covariance_puts_rotation_first():
    """The first three variances are those of the rotation, the last those of the translation."""
    gaussian = PoseGaussian(T_A_B, np.diag([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
    assert_array_equal(np.diagonal(gaussian.to_gtsam_covariance()), [4.0, 5.0, 6.0, 1.0, 2.0, 3.0])


@pytest.fixture
def gtsam() -> ModuleType:
    return pytest.importorskip("gtsam", reason="pip install gtsam to run this")


def rotation_first(xi: Tangent) -> Tangent:
    return np.concatenate([xi[ROTATION], xi[TRANSLATION]])


@pytest.mark.parametrize("angle", [0.0, 1e-3, 1.0, 3.0])
def test_exp_and_log_agree_with_gtsam(angle: float, gtsam: ModuleType):
    """Pose3.Expmap and Logmap are our exp and log with the two halves swapped."""
    xi = np.concatenate([[1.0, -2.0, 0.5], angle * np.array([0.6, 0.0, -0.8])])
    theirs = gtsam.Pose3.Expmap(rotation_first(xi))
    assert_allclose(se3_exp(xi), theirs.matrix(), atol=1e-12)
    assert_allclose(rotation_first(se3_log(theirs.matrix())), gtsam.Pose3.Logmap(theirs), atol=1e-9)


def test_adjoint_agrees_with_gtsam(gtsam: ModuleType):
    """Pose3.AdjointMap is our adjoint with the two halves swapped."""
    swap = np.roll(np.eye(6), 3, axis=0)
    theirs = gtsam.Pose3(T_A_B).AdjointMap()
    assert_allclose(swap @ se3_adjoint(T_A_B) @ swap.T, theirs, atol=1e-12)


def test_a_gtsam_prior_factor_measures_the_same_distance(a_b: PoseGaussian, gtsam: ModuleType):
    """With our covariance a prior factor's error is half our squared distance."""
    pose = T_A_B @ se3_exp(np.array([0.02, -0.05, 0.01, 0.004, 0.002, -0.006]))
    noise = gtsam.noiseModel.Gaussian.Covariance(a_b.to_gtsam_covariance())
    factor = gtsam.PriorFactorPose3(0, gtsam.Pose3(T_A_B), noise)
    values = gtsam.Values()
    values.insert(0, gtsam.Pose3(pose))
    assert_allclose(2.0 * factor.error(values), a_b.mahalanobis_squared(pose), rtol=1e-9)


def test_gtsam_propagates_as_compose_does(a_b: PoseGaussian, b_c: PoseGaussian, gtsam: ModuleType):
    """A prior and a between factor have the marginal that compose predicts."""
    noise = gtsam.noiseModel.Gaussian.Covariance
    graph, values = gtsam.NonlinearFactorGraph(), gtsam.Values()
    first, second = gtsam.Pose3(T_A_B), gtsam.Pose3(T_B_C)
    graph.add(gtsam.PriorFactorPose3(0, first, noise(a_b.to_gtsam_covariance())))
    graph.add(gtsam.BetweenFactorPose3(0, 1, second, noise(b_c.to_gtsam_covariance())))
    values.insert(0, first)
    values.insert(1, first.compose(second))
    marginal = gtsam.Marginals(graph, values).marginalCovariance(1)
    composed = a_b.compose(b_c)
    assert_same(PoseGaussian.from_gtsam_covariance(composed.T_world_body, marginal), composed)


# What the constructor refuses and what it forgives


def changed(matrix: Floats, index: tuple[int, int], value: float) -> Floats:
    copy = matrix.copy()
    copy[index] = value
    return copy


@pytest.mark.parametrize(
    ("covariance", "complaint"),
    [
        (np.eye(5), r"shape \(6, 6\), got \(5, 5\)"),
        (np.stack([np.eye(6)] * 2), r"shape \(6, 6\), got \(2, 6, 6\)"),
        (changed(np.eye(6), (2, 2), np.nan), "finite"),
        (changed(np.eye(6), (2, 2), np.inf), "finite"),
        (changed(np.eye(6), (0, 1), 0.1), "symmetric"),
        (np.diag([1.0, 1.0, -0.1, 1.0, 1.0, 1.0]), "positive semi-definite"),
        (np.diag([1e6, 1e6, 1e6, 1e-8, 1e-8, -1e-8]), "positive semi-definite"),
        (-np.eye(6), "positive semi-definite"),
        (np.full((6, 6), 2.0) - np.eye(6), "positive semi-definite"),
    ],
)
def test_a_matrix_that_is_no_covariance_is_refused(covariance: Floats, complaint: str):
    """Wrong shape, NaN, infinity, asymmetry and negative variance are told apart in one line."""
    with pytest.raises(InputError, match=complaint) as caught:
        PoseGaussian(np.eye(4), covariance)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("T_world_body", "complaint"),
    [
        (np.eye(3), r"T_world_body must have shape \(4, 4\), got \(3, 3\)"),
        (changed(np.eye(4), (0, 3), np.nan), "finite"),
        (np.diag([2.0, 1.0, 1.0, 1.0]), "not a rotation"),
        (np.diag([-1.0, 1.0, 1.0, 1.0]), "not a rotation"),
        (changed(np.eye(4), (3, 0), 1.0), "last row"),
    ],
)
def test_a_matrix_that_is_no_pose_is_refused(T_world_body: Floats, complaint: str):
    """Wrong shape, NaN, scale, reflection and a projective row are told apart in one line."""
    with pytest.raises(InputError, match=complaint) as caught:
        PoseGaussian(T_world_body, np.eye(6))
    assert "\n" not in str(caught.value)


def test_a_wrong_frame_is_called_by_its_name(a_b: PoseGaussian):
    """The message names the argument that is wrong, not the field it would end up in."""
    with pytest.raises(InputError, match="T_body_new"):
        a_b.change_body_frame(2.0 * np.eye(4))
    with pytest.raises(InputError, match="T_new_world"):
        a_b.change_world_frame(np.eye(3))


def test_rounding_is_forgiven():
    """A pose from float32 passes, and so does a flat covariance whatever way it is turned."""
    single = T_A_B.astype(np.float32).astype(np.float64)
    flat = PoseGaussian(single, np.diag([1e6, 0.0, 0.0, 1.0, 0.0, 0.0]))
    returned = flat.change_body_frame(T_B_C).change_body_frame(se3_inverse(T_B_C))
    assert_allclose(returned.covariance, flat.covariance, atol=1e-8)


def test_the_stored_covariance_is_exactly_symmetric():
    """Asymmetry from rounding is averaged away, so that later code need not care."""
    covariance = changed(np.eye(6), (0, 1), 1e-12)
    stored = PoseGaussian(np.eye(4), covariance).covariance
    assert_array_equal(stored, stored.T)
    assert stored[0, 1] == 0.5e-12


def test_a_gaussian_cannot_be_changed_from_outside():
    """Fields and arrays are read-only, and the arrays handed in stay the caller's own."""
    T, covariance = T_A_B.copy(), random_covariance(1)
    gaussian = PoseGaussian(T, covariance)
    T[0, 3] = covariance[0, 0] = 99.0
    assert gaussian.T_world_body[0, 3] == T_A_B[0, 3]
    assert gaussian.covariance[0, 0] < 1.0
    with pytest.raises(ValueError, match="read-only"):
        gaussian.covariance[0, 0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        gaussian.T_world_body[0, 0] = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        gaussian.covariance = covariance  # pyright: ignore[reportAttributeAccessIssue]
