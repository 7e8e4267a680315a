# SPDX-License-Identifier: MIT
"""Baselines on simulated scans in a map: what they see, what they cannot, and who is right."""

import dataclasses
import sys
from functools import cache, partial

import numpy as np
import pytest
from numpy.testing import assert_allclose

from svnicp.baselines import (
    RayRedraw,
    ScanInMap,
    censi_point_to_plane,
    censi_point_to_point,
    cov3d,
    gicp_covariance,
    laplace,
    localizability,
    localizability_covariance,
    monte_carlo,
    rays_of,
    registered,
    registered_mode,
    spread_over_redraws,
    spread_over_starts,
    weakest_share,
)
from svnicp.baselines.cov3d import sensor_covariance, start_spread
from svnicp.baselines.gicp import gicp_hessian
from svnicp.baselines.laplace import information
from svnicp.baselines.matches import find_matches
from svnicp.baselines.monte_carlo import PoseSamples
from svnicp.config import Config, MapConfig
from svnicp.errors import InputError, MissingExtraError
from svnicp.lie import hat, make_transform, se3_exp, so3_exp, transform_points
from svnicp.local_map import VoxelMap
from svnicp.registration import RegistrationResult
from svnicp.scores import anees, variance_ratios
from svnicp.simulation import SCENES, LidarPattern, Rays, cast

PRIOR = np.diag(np.array([0.1, 0.1, 0.1, 0.01, 0.01, 0.01]) ** 2)
CONFIG = Config.preset("default")
PATTERN = LidarPattern.rings(24, 360, -25.0, 15.0, max_range_m=40.0)
CLOSED_FORMS = [
    censi_point_to_point, censi_point_to_plane, laplace, localizability_covariance,
]  # fmt: skip
ALONG = 0
"""Corridors run along x, and so does the body."""


def pose(x: float, y: float, yaw: float) -> np.ndarray:
    return make_transform(so3_exp(np.array([0.0, 0.0, yaw])), np.array([x, y, 1.2]))


T_TRUE = pose(0.15, 0.05, 0.03)


@cache
def redraw_of(scene: str, bias_m: float = 0.0) -> RayRedraw:
    """Return three map scans and one source scan of a scene; rays are cast once."""
    places = [pose(0.4 * i - 0.4, 0.1 * i, 0.05 * i) for i in range(3)]
    rays = [cast(SCENES[scene](), T, PATTERN) for T in places]
    source = cast(SCENES[scene](), T_TRUE, PATTERN)
    return RayRedraw(np.array(places), rays, source, CONFIG.map, bias_m=bias_m)


@cache
def scan_in(scene: str) -> ScanInMap:
    """Return a registered scan of a scene."""
    source, local_map = redraw_of(scene)(np.random.default_rng(5))
    guess = T_TRUE @ se3_exp(0.3 * np.sqrt(np.diag(PRIOR)))
    scan = ScanInMap(source, local_map, guess, guess, PRIOR, CONFIG)
    result = registered(scan, np.random.default_rng(0))
    return dataclasses.replace(scan, T_target_source=result.T_target_source)


@cache
def redrawn(scene: str) -> PoseSamples:
    """Return the honest Monte Carlo of a scene."""
    rng = np.random.default_rng(2)
    return spread_over_redraws(redraw_of(scene), T_TRUE, PRIOR, CONFIG, rng, runs=40)


def sigmas_mm(covariance: np.ndarray) -> np.ndarray:
    return 1e3 * np.sqrt(np.diag(covariance))


def without_prior(scan: ScanInMap) -> ScanInMap:
    prior = dataclasses.replace(scan.config.prior, use=False)
    return dataclasses.replace(scan, config=dataclasses.replace(scan.config, prior=prior))


def test_matches_are_in_body_axes_and_face_the_sensor():
    """Normals have unit length and look at the sensor; heights above the planes are the noise."""
    matches = find_matches(scan_in("room"), "plane")
    assert matches is not None
    assert_allclose(np.linalg.norm(matches.normals, axis=1), 1.0, atol=1e-5)
    assert np.all(np.sum(matches.points * matches.normals, axis=1) <= 0.0)
    # Labels are those of planes: what shares one looks the same way, but for a bend.
    assert 50 < len(np.unique(matches.shared)) < len(matches.shared)
    first = np.unique(matches.shared, return_index=True)[1][matches.shared]
    alike = np.sum(matches.normals * matches.normals[first], axis=1)
    assert alike.min() > np.cos(0.7)
    assert np.mean(alike > 0.9999) > 0.9
    # What the range noise of 20 mm along the beam is across the surface, at its incidence angle.
    beams = matches.points / np.linalg.norm(matches.points, axis=1, keepdims=True)
    across = 0.02 * np.sqrt(np.mean(np.sum(beams * matches.normals, axis=1) ** 2))
    assert_allclose(np.median(np.abs(matches.heights)) / 0.6745, across, rtol=0.25)


def test_point_to_plane_closed_form_is_right_where_ends_are_seen():
    """In a closed corridor the closed form with range noise is the spread of redrawn scans."""
    stated = censi_point_to_plane(scan_in("closed_corridor"), noise="range")
    measured = redrawn("closed_corridor")
    ratio = np.sqrt(np.diag(stated) / np.diag(measured.covariance))
    assert np.all((ratio > 0.5) & (ratio < 2.0)), ratio
    score = anees(measured.errors, np.broadcast_to(stated, (40, 6, 6)))
    assert 0.3 < score.value < 2.5


def test_closed_form_weighs_the_scan_against_the_prior():
    """With noise of the source alone it is (H/σ² + Λ)⁻¹, for a prior as sharp as the scan."""
    noise = dataclasses.replace(CONFIG.noise, weight="none")
    sharp = np.diag(np.array([1e-3] * 3 + [3e-4] * 3) ** 2)
    scan = dataclasses.replace(
        scan_in("room"), prior_covariance=sharp, config=dataclasses.replace(CONFIG, noise=noise)
    )
    matches = find_matches(scan, "plane")
    assert matches is not None
    expected = np.linalg.inv(information(matches) / noise.range_noise_m**2 + np.linalg.inv(sharp))
    found = censi_point_to_plane(scan, target_noise_m=0.0)
    assert_allclose(sigmas_mm(found), sigmas_mm(expected), rtol=0.02)


def test_point_to_point_closed_form_is_wrong_in_a_bare_corridor():
    """Along a corridor with nothing to see it states a millimetre; the truth is the prior."""
    scan = scan_in("bare_corridor")
    assert sigmas_mm(censi_point_to_point(scan))[ALONG] < 2.0
    assert sigmas_mm(redrawn("bare_corridor").covariance)[ALONG] > 50.0


def test_plain_curvature_is_too_sure_along_a_bare_corridor():
    """Noisy normals fake information: σ² H⁻¹ is far narrower there than our own covariance."""
    scan = scan_in("bare_corridor")
    ours = registered(scan, np.random.default_rng(0)).covariance
    assert sigmas_mm(ours)[ALONG] > 80.0
    assert sigmas_mm(laplace(scan))[ALONG] < 0.5 * sigmas_mm(ours)[ALONG]


@pytest.mark.parametrize("baseline", [*CLOSED_FORMS, partial(sensor_covariance, bias_m=0.02)])
@pytest.mark.parametrize(("yaw", "tolerance"), [(0.0, 1e-3), (np.pi / 2, 0.15)])
def test_baselines_do_not_depend_on_the_world(baseline, yaw, tolerance):
    """Scan, map and pose moved together leave every covariance as it was.

    By whole voxels and a quarter turn, so that the map's grid moves along. The choice of points
    with rare normals has its classes in the map's axes: a turn changes some of them.
    """
    scan = scan_in("room")
    T_new_old = make_transform(so3_exp(np.array([0.0, 0.0, yaw])), np.array([40.0, -25.5, 3.0]))
    still, moved = VoxelMap(CONFIG.map), VoxelMap(CONFIG.map)
    still.insert(scan.local_map.points())
    moved.insert(transform_points(T_new_old, scan.local_map.points()))
    expected = baseline(dataclasses.replace(scan, local_map=still))
    elsewhere = dataclasses.replace(
        scan, local_map=moved, T_target_source=T_new_old @ scan.T_target_source,
        T_guess=T_new_old @ scan.T_guess,
    )  # fmt: skip
    assert_allclose(sigmas_mm(baseline(elsewhere)), sigmas_mm(expected), rtol=tolerance)


@pytest.mark.parametrize("baseline", [*CLOSED_FORMS, cov3d])
def test_without_matches_there_is_only_the_prior(baseline):
    """A map that is elsewhere adds nothing: the covariance is the prior's, or wider."""
    elsewhere = VoxelMap(CONFIG.map)
    elsewhere.insert(scan_in("room").source + 500.0)
    scan = dataclasses.replace(scan_in("room"), local_map=elsewhere)
    found = baseline(scan)
    if baseline is cov3d:
        assert np.linalg.eigvalsh(found - PRIOR)[0] > -1e-12
    else:
        assert_allclose(found, PRIOR)


def test_localizability_names_the_corridors_axis():
    """A bare corridor has one shift that is not localizable, along it; a room has none."""
    axes = localizability(scan_in("bare_corridor"), None)
    weak = [axis for axis in axes if axis.kind == "translation" and not axis.localizable]
    assert [axis.category for axis in weak] == ["none"]
    assert abs(weak[0].direction[ALONG]) > 0.99
    room = localizability(scan_in("room"))
    assert all(axis.localizable for axis in room if axis.kind == "translation")
    shares = [weakest_share(scan_in(name), "translation") for name in ("bare_corridor", "room")]
    assert shares[0] < 0.05 < shares[1]


def test_localizability_leaves_blind_axes_to_the_prior():
    """The covariance made of categories has the prior along the corridor and millimetres across."""
    found = sigmas_mm(localizability_covariance(scan_in("bare_corridor")))
    assert_allclose(found[ALONG], 100.0, rtol=0.02)
    assert found[2] < 2.0


def test_sensor_bias_is_one_direction_that_does_not_average_out():
    """A common range bias adds a matrix of rank one, in proportion to its variance."""
    scan = without_prior(scan_in("room"))
    white = sensor_covariance(scan, 0.0)
    added, more = (sensor_covariance(scan, bias) - white for bias in (0.01, 0.02))
    scale = np.outer(1.0 / sigmas_mm(white), 1.0 / sigmas_mm(white))
    values = np.linalg.eigvalsh(added * scale)
    assert abs(values[-2]) < 1e-6 * values[-1]
    assert_allclose(more, 4.0 * added, rtol=1e-6)


def test_sensor_bias_moves_the_estimate_as_stated():
    """All heights off by one millimetre move the least squares by the stated rank-one part."""
    scan = without_prior(scan_in("room"))
    matches = find_matches(scan, "plane")
    assert matches is not None
    weights = np.sqrt(matches.weights)
    moved, *_ = np.linalg.lstsq(weights[:, None] * matches.rows, 1e-3 * weights, rcond=None)
    added = sensor_covariance(scan, 1e-3) - sensor_covariance(scan, 0.0)
    assert_allclose(added, np.outer(moved, moved), rtol=1e-4, atol=1e-6 * added.max())


def test_spread_over_starts_sees_only_the_starts():
    """In a good scene all starts end in one place; in a bare corridor they stay apart along it."""
    starts = np.diag(np.array([0.05, 0.05, 0.05, 0.01, 0.01, 0.01]) ** 2)
    closed = sigmas_mm(start_spread(without_prior(scan_in("closed_corridor")), starts))
    bare = sigmas_mm(start_spread(scan_in("bare_corridor"), starts))
    assert closed[ALONG] < 1.0
    assert 25.0 < bare[ALONG] < 100.0
    assert bare[2] < 1.0


def test_cov3d_is_the_sum_of_its_parts():
    """Starts, white noise and bias are added, with the sensor's noise for the bias."""
    scan = scan_in("closed_corridor")
    starts = np.diag(np.array([0.05, 0.05, 0.05, 0.01, 0.01, 0.01]) ** 2)
    found = cov3d(scan, start_covariance=starts)
    sensor = sensor_covariance(scan, CONFIG.noise.range_noise_m)
    assert_allclose(found, start_spread(scan, starts) + sensor, rtol=1e-9, atol=1e-18)


def test_protocol_without_noise_understates_the_truth():
    """With the same clouds in every run the spread is a fraction of that of redrawn clouds."""
    steps: list[tuple[int, int]] = []
    found = spread_over_starts(
        scan_in("closed_corridor"), T_TRUE, np.random.default_rng(1), runs=12,
        start_covariance=PRIOR, progress=lambda done, total: steps.append((done, total)),
    )  # fmt: skip
    assert steps == [(run, 12) for run in range(1, 13)]
    assert found.ok.all()
    assert found.errors.shape == (12, 6)
    measured = redrawn("closed_corridor")
    ratios = sigmas_mm(found.covariance) / sigmas_mm(measured.covariance)
    assert ratios[ALONG] < 0.2
    assert np.all(ratios < 1.0)


def test_our_covariance_is_that_of_the_honest_monte_carlo():
    """Errors of redrawn scans are calibrated under the covariance of a single registration."""
    ours = registered(scan_in("closed_corridor"), np.random.default_rng(0)).covariance
    found = anees(redrawn("closed_corridor").errors, np.broadcast_to(ours, (40, 6, 6)))
    assert 0.5 < found.value < 2.0


def test_monte_carlo_repeats_with_its_generator():
    """The same seed gives the same covariance, another one another."""
    scan = scan_in("closed_corridor")
    first, again, other = (
        monte_carlo(scan, np.random.default_rng(seed), runs=3, start_covariance=PRIOR)
        for seed in (1, 1, 2)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    with pytest.raises(InputError, match="at least 2 runs"):
        monte_carlo(scan, np.random.default_rng(0), runs=1)


def test_monte_carlo_of_an_estimator_that_stays_is_the_starts():
    """If every run ends where it began, the covariance is that of the starts."""
    scan = scan_in("room")
    ended = registered_mode(scan, np.random.default_rng(0))

    def stays(started: ScanInMap, _rng: np.random.Generator) -> RegistrationResult:
        return dataclasses.replace(ended, T_target_source=started.T_guess)

    rng = np.random.default_rng(3)
    found = monte_carlo(scan, rng, runs=800, start_covariance=PRIOR, estimator=stays)
    assert_allclose(variance_ratios(found, PRIOR), 1.0, atol=0.25)  # 1 ± 2 √(6/800), and some


def test_mode_is_where_the_particles_are():
    """The quick registration ends within a sigma of the one with all particles."""
    scan = scan_in("room")
    slow, quick = (f(scan, np.random.default_rng(0)) for f in (registered, registered_mode))
    assert len(quick.particles) == 1
    assert slow.pose.mahalanobis_squared(quick.T_target_source) < 6.0


def test_redrawn_clouds_have_noise_bias_and_gaps():
    """Ranges scatter by the noise, share a bias in each scan, and some do not return."""
    rays = redraw_of("room").source_rays
    noisy = RayRedraw(np.eye(4)[None], [rays], rays, MapConfig(), range_noise_m=0.02)
    source, local_map = noisy(np.random.default_rng(0))
    lengths = np.linalg.norm(source, axis=1) - rays.ranges
    assert_allclose([lengths.mean(), lengths.std()], [0.0, 0.02], atol=1e-3)
    assert len(local_map) > 100
    biased = dataclasses.replace(noisy, range_noise_m=0.0, bias_m=0.05)
    shifts = [
        np.linalg.norm(biased(np.random.default_rng(seed))[0], axis=1) - rays.ranges
        for seed in range(30)
    ]
    assert_allclose(np.ptp(shifts, axis=1), 0.0, atol=1e-9)
    assert 0.03 < np.std(np.mean(shifts, axis=1)) < 0.08
    sparse, _ = dataclasses.replace(noisy, kept_share=0.25)(np.random.default_rng(0))
    assert_allclose(len(sparse) / len(rays.ranges), 0.25, atol=0.03)


def test_rays_of_points_lead_back_to_them(rng):
    """Rays made of exact points end there; a point at the sensor is left out."""
    points = rng.normal(size=(50, 3))
    assert_allclose(rays_of(points).points(), points, atol=1e-12)
    assert len(rays_of(np.concatenate([points, np.zeros((1, 3))])).ranges) == 50


def test_redraws_that_cannot_be_are_refused():
    """Scans without poses and impossible shares are one sentence."""
    rays = Rays(np.eye(3), np.ones(3))
    with pytest.raises(InputError, match="a pose for each"):
        RayRedraw(np.zeros((0, 4, 4)), [], rays, MapConfig())
    for wrong in ({"kept_share": 0.0}, {"bias_m": -1.0}, {"range_noise_m": -0.1}):
        with pytest.raises(InputError, match="kept_share must be"):
            RayRedraw(np.eye(4)[None], [rays], rays, MapConfig(), **wrong)


def test_a_scan_needs_poses_and_a_prior():
    """What is no pose, or no covariance, is one sentence."""
    scan = scan_in("room")
    with pytest.raises(InputError, match="T_guess is not a rigid transform"):
        dataclasses.replace(scan, T_guess=2.0 * np.eye(4))
    with pytest.raises(InputError, match="prior_covariance must be"):
        dataclasses.replace(scan, prior_covariance=np.zeros((6, 6)))


def test_small_gicp_is_put_into_our_order():
    """Point to point, its translation block is a multiple of the identity and comes first."""
    pytest.importorskip("small_gicp")
    scan = scan_in("room")
    H = gicp_hessian(scan, "ICP", 0.25)
    count = H[0, 0]
    assert count > 100
    assert_allclose(H[:3, :3], count * np.eye(3), atol=1e-6 * count)
    # In the body tangent the lever arms are the source points, wherever the target's origin is.
    far = VoxelMap(CONFIG.map)
    far.insert(scan.local_map.points() + np.array([100.0, 0.0, 0.0]))
    T_far = scan.T_target_source.copy()
    T_far[0, 3] += 100.0
    moved = gicp_hessian(
        dataclasses.replace(scan, local_map=far, T_target_source=T_far), "ICP", 0.25
    )
    assert_allclose(np.diag(moved)[3:], np.diag(H)[3:], rtol=0.05)


def test_small_gicp_on_a_cloud_itself_is_the_sum_over_its_points():
    """Point to point on a cloud that is matched with itself, H is Σ J'J of all points."""
    pytest.importorskip("small_gicp")
    local_map = VoxelMap(CONFIG.map)
    local_map.insert(np.random.default_rng(0).uniform(-10.0, 10.0, size=(400, 3)))
    points = local_map.points()
    scan = ScanInMap(points, local_map, np.eye(4), np.eye(4), PRIOR, CONFIG)
    arms = np.concatenate([np.tile(np.eye(3), (len(points), 1, 1)), -hat(points)], axis=2)
    expected = np.einsum("nij,nik->jk", arms, arms)
    assert_allclose(gicp_hessian(scan, "ICP", 1e-3), expected, rtol=1e-3, atol=1.0)


def test_small_gicp_states_something_in_every_direction():
    """Its inverse Hessian comes with the prior, and is smaller than that."""
    pytest.importorskip("small_gicp")
    found = gicp_covariance(scan_in("room"))
    assert_allclose(found, found.T)
    assert np.all(np.linalg.eigvalsh(found) > 0.0)
    assert np.all(np.diag(found) < np.diag(PRIOR))


def test_missing_small_gicp_is_one_line(monkeypatch):
    """Without the extra the message has the command that installs it."""
    monkeypatch.setitem(sys.modules, "small_gicp", None)
    with pytest.raises(MissingExtraError, match=r'small_gicp.*pip install "svnicp\[peers\]"'):
        gicp_covariance(scan_in("room"))
