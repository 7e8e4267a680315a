# SPDX-License-Identifier: MIT
"""The scenario suite: every world can be travelled, is as long as the table says, and degrades."""

import base64
import re
import struct
import xml.etree.ElementTree as ET
import zlib
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from svnicp.data import Scan
from svnicp.errors import InputError, SvnicpError
from svnicp.simulation.picture import picture
from svnicp.simulation.platforms import PLATFORMS
from svnicp.simulation.scenarios import SCENARIOS, scenario
from svnicp.simulation.seeds import SEED_SETS, TEST_SEEDS, TRAINING_SEEDS, seeds
from svnicp.simulation.simulate import Stage, simulate, stage
from svnicp.simulation.simulated import SimulatedDataset
from svnicp.simulation.travel import Trip, travel
from svnicp.simulation.worlds.corridors import BARE_STRETCH_M
from svnicp.simulation.worlds.outdoors import PANEL_M

SUBT_MRS = [
    "urban",
    "tunnel",
    "cave",
    "nuclear1",
    "nuclear2",
    "factory",
    "ocean",
    "sewerage",
    "laurel_caverns",
    "long_corridor",
    "multi_floor",
]
GEODE = ["offroad", "uneven_tunnel", "waterway_short", "waterway_long", "stair", "bridge"]
PLAIN = ["room", "bare_corridor", "street", "flat_field"]
SAMPLE_S = 0.2
EVERY = pytest.mark.parametrize("name", SCENARIOS)


@cache
def full_stage(name: str, seed: int = 0) -> Stage:
    """Return a scenario over its whole length; slow enough to be made only once."""
    return stage(name, seed, full=True)


def sampled(staged: Stage, until_s: float = np.inf) -> tuple[np.ndarray, np.ndarray]:
    """Return times and positions along a motion."""
    times_s = np.arange(0.0, min(staged.motion.duration_s, until_s), SAMPLE_S)
    return times_s, staged.motion.position(times_s)


def length_m(positions: np.ndarray) -> float:
    """Return the length of a way, from one position per second: gait is no way."""
    per_second = positions[:: round(1.0 / SAMPLE_S)]
    return float(np.linalg.norm(np.diff(per_second, axis=0), axis=1).sum())


def points_in_world(dataset: SimulatedDataset, scan: Scan) -> np.ndarray:
    """Return the points of a scan where they are in the world, each from its own pose."""
    assert scan.point_times_ns is not None
    T_world_lidar = dataset.truth_at(scan.point_times_ns).T_world_body @ dataset.T_body_lidar
    return np.einsum("nij,nj->ni", T_world_lidar[:, :3, :3], scan.points) + T_world_lidar[:, :3, 3]


def test_the_suite_has_every_sequence_of_the_paper_and_four_plain_worlds():
    """Names and suites are those of the paper's two tables, in their order."""
    assert [row.name for row in SCENARIOS.values()] == SUBT_MRS + GEODE + PLAIN
    for names, suite in ((SUBT_MRS, "SubT-MRS"), (GEODE, "GEODE"), (PLAIN, "plain")):
        assert {SCENARIOS[name].suite for name in names} == {suite}
    for row in SCENARIOS.values():
        assert 30.0 <= row.duration_s <= 60.0 <= row.full_duration_s
        assert row.length_m < row.full_length_m
    assert {SCENARIOS[name].rig_name for name in GEODE} == {"alpha"}


@EVERY
def test_the_first_scans_of_a_scenario_have_points_and_the_imu_feels_gravity(name):
    """A short run yields scans with hundreds of finite points, and a force of about 1 g upwards."""
    dataset = simulate(name, seed=1, duration_s=1.2)
    first, last = dataset.scan(0), dataset.scan(dataset.num_scans - 1)
    for scan in (first, last):
        assert len(scan.points) > 800
        assert np.isfinite(scan.points).all()
        assert (scan.point_times_ns is None) == (SCENARIOS[name].rig_name == "tartanair")
    force = np.array([sample.linear_acceleration for sample in dataset.imu_samples()])
    assert_allclose(force.mean(axis=0), [0.0, 0.0, 9.81], atol=1.2)
    assert dataset.ground_truth.duration_s == pytest.approx(1.2, abs=0.02)


@EVERY
@pytest.mark.parametrize("seed", [0, TEST_SEEDS[3]])
def test_body_and_sensor_keep_clear_of_everything_solid(name, seed):
    """Over the whole length the IMU and the LiDAR stay more than 20 cm away from any surface."""
    staged = full_stage(name, seed)
    times_s, positions = sampled(staged)
    T_world_lidar = staged.motion.T_world_body(times_s) @ staged.scenario.rig.T_body_lidar
    distance = staged.world.scene.distance
    assert distance(positions).min() > 0.2
    assert distance(np.ascontiguousarray(T_world_lidar[:, :3, 3])).min() > 0.2


@EVERY
def test_lengths_and_durations_are_those_of_the_table(name):
    """The short run is within a tenth of the stated length, the full one within three percent."""
    row, staged = SCENARIOS[name], full_stage(name)
    _, short = sampled(staged, row.duration_s)
    assert length_m(short) == pytest.approx(row.length_m, rel=0.1)
    _, full = sampled(staged)
    assert length_m(full) == pytest.approx(row.full_length_m, rel=0.03)
    assert staged.motion.duration_s == pytest.approx(row.full_duration_s, abs=0.02)


@EVERY
def test_motions_start_at_rest_and_stay_within_what_the_platform_can_do(name):
    """What stands on the ground is still for 2.4 s; speed, acceleration and tilt are plausible."""
    staged = full_stage(name)
    platform, motion = staged.scenario.platform, staged.motion
    at_start = np.linspace(0.0, 2.4, 25)
    speeds = np.linalg.norm(motion.velocity_world(at_start), axis=1)
    assert (speeds.max() < 1e-6) == platform.stands_still
    assert speeds.max() < 0.5
    times_s, _ = sampled(staged)
    assert np.linalg.norm(motion.velocity_world(times_s), axis=1).max() < 2.0 * platform.speed_mps
    assert np.linalg.norm(motion.acceleration_world(times_s), axis=1).max() < 10.0
    up = motion.T_world_body(times_s)[:, 2, 2]
    assert np.degrees(np.arccos(up.min())) < 45.0


@pytest.mark.parametrize("name", ["cave", "stair", "bridge", "factory"])
def test_the_same_seed_gives_the_same_bits_and_another_seed_another_run(name):
    """Scans and IMU samples repeat exactly; another seed changes world, motion and noise."""
    runs = [simulate(name, seed=seed, duration_s=4.0) for seed in (5, 5, 6)]
    scans = [run.scan(35) for run in runs]
    force = [next(run.imu_samples()).linear_acceleration for run in runs]
    assert_array_equal(scans[0].points, scans[1].points)
    assert_array_equal(force[0], force[1])
    assert scans[0].points.shape != scans[2].points.shape or np.any(
        scans[0].points != scans[2].points
    )
    assert np.any(force[0] != force[2])
    ends = [run.ground_truth.positions[-1] for run in runs]
    assert np.linalg.norm(ends[0] - ends[2]) > 1e-3


def test_a_shorter_run_is_the_beginning_of_a_longer_one():
    """Positions of the short and of the full run agree up to the spline's last second."""
    short, full = stage("urban", 3, 20.0), stage("urban", 3, full=True)
    times_s = np.arange(0.0, 19.0, 0.01)
    assert_allclose(short.motion.position(times_s), full.motion.position(times_s), atol=1e-9)


def test_training_and_test_seeds_are_different_sets_of_at_least_thirty():
    """No seed is in both sets, and they are found by name."""
    assert set(TRAINING_SEEDS).isdisjoint(TEST_SEEDS)
    assert min(len(TRAINING_SEEDS), len(TEST_SEEDS)) >= 30
    assert seeds("training", 3) == TRAINING_SEEDS[:3]
    assert seeds("test") == SEED_SETS["test"] == TEST_SEEDS
    with pytest.raises(InputError, match="training or test"):
        seeds("validation")
    with pytest.raises(InputError, match="were asked for"):
        seeds("test", 10_000)


@settings(max_examples=30)
@given(name=st.text("abcdeilmnorstu_1 é", max_size=12))
def test_an_unknown_name_is_refused_with_a_hint(name):
    """Whatever is not a scenario raises one sentence that names a scenario."""
    if name in SCENARIOS:
        return
    with pytest.raises(InputError, match="There is no scenario") as caught:
        scenario(name)
    assert any(known in str(caught.value) for known in SCENARIOS)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"name": "long_coridor"}, "did you mean 'long_corridor'"),
        ({"name": "room", "duration_s": 1e5}, "from 0.5 to 120 s, not 100000 s"),
        ({"name": "room", "duration_s": float("nan")}, "not nan s"),
        ({"name": "room", "duration_s": 5.0, "full": True}, "not for both"),
        ({"name": "room", "seed": -1}, "must not be negative"),
        ({"name": "room", "seed": None}, "whole number, not None"),
        ({"name": "room", "seed": 1.5}, "whole number, not 1.5"),
        ({"name": None}, "named by a text, not None"),
        ({"name": "room", "duration_s": "5"}, "number of seconds, not '5'"),
        ({"name": "room", "rig": "delta"}, "no rig 'delta'"),
    ],
)
def test_what_cannot_be_simulated_is_refused(arguments, complaint):
    """Wrong arguments raise one sentence that says what would be right."""
    with pytest.raises(SvnicpError, match=re.escape(complaint)):
        simulate(**arguments)


def test_another_rig_can_be_carried():
    """GEODE's rigs are interchangeable: the sensor and where it sits change, the motion stays."""
    alpha, gamma = simulate("stair", 2, 1.0), simulate("stair", 2, 1.0, rig="gamma")
    assert alpha.info().sensor != gamma.info().sensor
    assert np.any(alpha.T_body_lidar != gamma.T_body_lidar)
    assert_array_equal(alpha.ground_truth.positions, gamma.ground_truth.positions)


def test_a_way_that_is_too_short_is_refused():
    """A platform cannot travel farther than its way is long."""
    trip = Trip(length_m=50.0, duration_s=60.0, steady_s=60.0, wander_m=0.0)
    way = np.array([[0.0, 0.0, 0.0], [40.0, 0.0, 0.0]])
    with pytest.raises(InputError, match="shorter than the 50"):
        travel(way, 0.5, PLATFORMS["ugv"], trip, 10.0, np.random.default_rng(0))


def test_the_axis_of_the_bare_corridor_and_the_plane_of_the_field_show_nothing():
    """Moving along the corridor, or anywhere over the field, changes no distance at all."""
    for name, moves in (("bare_corridor", [[7.3, 0.0, 0.0]]), ("flat_field", [[5.0, -8.0, 0.0]])):
        _, positions = sampled(full_stage(name))
        distance = full_stage(name).world.scene.distance
        around = positions + np.array([0.0, 0.3, 0.4])
        assert_allclose(distance(around + moves), distance(around), atol=1e-9)


def test_the_bridge_looks_the_same_one_panel_further():
    """Everything that stands still on the bridge repeats with the length of a panel."""
    _, positions = sampled(full_stage("bridge"))
    distance = full_stage("bridge").world.scene.distance
    beside = positions + np.array([0.0, 15.0, 3.0])
    shifted = beside + np.array([PANEL_M, 0.0, 0.0])
    half = beside + np.array([PANEL_M / 2, 0.0, 0.0])
    assert_allclose(distance(shifted), distance(beside), atol=1e-9)
    assert np.abs(distance(half) - distance(beside)).max() > 0.1


def test_nothing_returns_from_the_water():
    """No point of the canals lies below the level of the water, and nearly none upon it."""
    for name in ("waterway_short", "waterway_long"):
        dataset = simulate(name, seed=4, duration_s=5.0)
        scan = dataset.scan(40)
        points = points_in_world(dataset, scan)
        assert points[:, 2].min() > -0.1
        on_the_water = np.abs(points[:, 1]) < 10.0
        assert on_the_water.mean() < 0.02


def test_the_long_corridor_is_weakest_along_its_axis_where_the_doors_end():
    """The information along the axis drops at least five-fold in the stretch without doors."""
    dataset = simulate("long_corridor", seed=2)
    scene = full_stage("long_corridor", 2).world.scene
    truth = dataset.ground_truth
    along = {}
    for label, x in (("doors", BARE_STRETCH_M[0] - 14.0), ("bare", np.mean(BARE_STRETCH_M))):
        reached_ns = truth.stamps_ns[np.argmin(np.abs(truth.positions[:, 0] - x))]
        scan = dataset.scan(round((reached_ns - truth.stamps_ns[0]) * 1e-8))
        points = points_in_world(dataset, scan)
        step = np.array([0.005, 0.0, 0.0])
        slope = (scene.distance(points + step) - scene.distance(points - step)) / 0.01
        along[label] = np.sum(slope**2)
    assert along["bare"] < 0.2 * along["doors"]


def test_a_picture_shows_what_is_solid_and_the_way():
    """The SVG parses; its image is dark in the room's walls, light on its way."""
    staged = stage("room", 0)
    root = ET.fromstring(picture(staged))
    image = root.find(".//{*}image")
    assert image is not None
    href = image.attrib["href"]
    png = base64.b64decode(href.removeprefix("data:image/png;base64,"))
    width, height = struct.unpack(">II", png[16:24])
    size = struct.unpack(">I", png[33:37])[0]
    assert png[37:41] == b"IDAT"
    rows = np.frombuffer(zlib.decompress(png[41 : 41 + size]), np.uint8).reshape(height, width + 1)
    assert rows[3, 3] < 100  # a corner of the map, inside the wall
    line = root.find(".//{*}path[@class='way']")
    assert line is not None
    for point in line.attrib["d"][1:].split("L")[::25]:
        x, y = map(float, point.split())
        assert rows[round(y), 1 + round(x)] > 150
    words = " ".join(root.itertext())
    assert "room" in words
    assert staged.scenario.degrades in words
