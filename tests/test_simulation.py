# SPDX-License-Identifier: MIT
"""Simulated scans: exact ranges, points on surfaces, noise along beams, scenes as promised."""

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from svnicp.errors import ConfigError, InputError
from svnicp.simulation import SCENES, LidarPattern, Scene, cast, scan
from svnicp.simulation.scene import SENSOR_START, door_corridor, street

COARSE = LidarPattern.rings(32, 360)


def pose(position=SENSOR_START, yaw=0.3, pitch=0.05):
    """Return a tilted sensor, so that no beam is parallel to a wall by construction."""
    cos_yaw, sin_yaw, cos_pitch, sin_pitch = np.cos(yaw), np.sin(yaw), np.cos(pitch), np.sin(pitch)
    T_world_lidar = np.eye(4)
    T_world_lidar[:3, :3] = np.array(
        [[cos_yaw, -sin_yaw, 0.0], [sin_yaw, cos_yaw, 0.0], [0.0, 0.0, 1.0]]
    ) @ np.array([[cos_pitch, 0.0, sin_pitch], [0.0, 1.0, 0.0], [-sin_pitch, 0.0, cos_pitch]])
    T_world_lidar[:3, 3] = position
    return T_world_lidar


def points_world(scene, T_world_lidar, pattern):
    """Return the noise-free points of a scan in the world frame."""
    points_lidar = cast(scene, T_world_lidar, pattern).points()
    return points_lidar @ T_world_lidar[:3, :3].T + T_world_lidar[:3, 3]


def ray_spans(origin, directions, box):
    """Return the ranges at which rays enter and leave a box (enter > leave: missed)."""
    first, second = (box[:3] - origin) / directions, (box[3:] - origin) / directions
    return np.minimum(first, second).max(axis=1), np.maximum(first, second).min(axis=1)


def cylinder_spans(origin, directions, cylinder):
    """Return the ranges at which rays enter and leave a vertical cylinder (enter > leave: no)."""
    x, y, radius, bottom, top = cylinder
    offset = origin[:2] - (x, y)
    a = np.sum(directions[:, :2] ** 2, axis=1)
    b = directions[:, :2] @ offset
    root = b**2 - a * (offset @ offset - radius**2)
    half_chord = np.sqrt(np.where(root > 0.0, root, np.nan))
    caps = np.sort((np.array([[bottom, top]]) - origin[2]) / directions[:, 2:], axis=1)
    enter = np.maximum((-b - half_chord) / a, caps[:, 0])
    leave = np.minimum((-b + half_chord) / a, caps[:, 1])
    return np.where(root > 0.0, enter, np.inf), np.where(root > 0.0, leave, -np.inf)


def analytic_ranges(scene, origin, directions):
    """Return the range of each ray in closed form: walk the free boxes, stop at solids."""
    free = [ray_spans(origin, directions, box) for box in scene.free_boxes]
    reach = np.zeros(len(directions))
    for _ in free:
        for enter, leave in free:
            reach = np.where((enter <= reach) & (leave > reach), leave, reach)
    solids = [ray_spans(origin, directions, box) for box in scene.solid_boxes]
    solids += [cylinder_spans(origin, directions, c) for c in scene.solid_cylinders]
    for enter, leave in solids:
        reach = np.where((enter >= 0.0) & (enter < leave), np.minimum(reach, enter), reach)
    return reach


@pytest.fixture(params=sorted(SCENES))
def scene(request):
    return SCENES[request.param]()


@pytest.mark.parametrize(("dx", "dy"), [(0.0, 0.0), (0.37, -0.41), (-0.21, 0.13)])
def test_ranges_agree_with_closed_form_intersections(scene, dx, dy):
    """Every beam ends within 0.1 mm of the closed-form hit, and none is lost or invented."""
    T_world_lidar = pose(np.add(SENSOR_START, (dx, dy, 0.0)))
    pattern = LidarPattern.rings()
    rays = cast(scene, T_world_lidar, pattern)
    directions = pattern.directions()
    expected = analytic_ranges(scene, T_world_lidar[:3, 3], directions @ T_world_lidar[:3, :3].T)
    hit = (expected <= pattern.max_range_m) & (expected >= pattern.min_range_m)
    assert hit.sum() > 0.5 * len(hit)
    assert_array_equal(rays.directions, directions[hit])
    assert_allclose(rays.ranges, expected[hit], rtol=0.0, atol=1e-4)


def test_skimming_beams_keep_their_accuracy():
    """Beams that meet the wall of a corridor at a few milliradians are as exact as the others."""
    T_world_lidar = pose((0.0, 1.3, 1.5), yaw=0.0, pitch=0.0)
    azimuths = LidarPattern(np.array([1e-4]), 4096)
    rays = cast(SCENES["bare_corridor"](), T_world_lidar, azimuths)
    left = rays.directions[:, 1] > 0.0
    assert rays.directions[left, 1].min() < 4e-3
    assert_allclose(rays.ranges[left], 0.2 / rays.directions[left, 1], rtol=0.0, atol=1e-4)


def test_beams_that_just_miss_a_pole_go_on():
    """A beam that passes a pole by 0.1 µm to 1 mm reaches the wall behind it."""
    for clearance in (1e-7, 1e-6, 1e-5, 1e-3):
        pole = np.array([[5.0, 0.2 + clearance, 0.2, -1.0, 1.0]])
        space = np.array([[-1.0, -10.0, -2.0, 20.0, 10.0, 2.0]])
        beam = LidarPattern(np.array([0.0]), 1)
        ranges = cast(Scene("pole", space, solid_cylinders=pole), np.eye(4), beam).ranges
        assert_allclose(ranges, [20.0], atol=1e-4)


def test_points_lie_on_the_surface(scene):
    """A noise-free point is at zero distance, and just before it the beam is in free space."""
    T_world_lidar = pose()
    points = points_world(scene, T_world_lidar, COARSE)
    before = points + 1e-3 * (T_world_lidar[:3, 3] - points)
    assert np.abs(scene.distance(points)).max() < 1e-4
    assert scene.distance(before).min() > 0.0


def test_distance_is_never_too_long(scene):
    """The distance at a point of free space is not larger than that to any point of the surface."""
    points = points_world(scene, pose(), LidarPattern.rings(8, 90))
    rng = np.random.default_rng(0)
    inside = SENSOR_START + rng.uniform(-0.4, 0.4, (50, 3))
    nearest = np.linalg.norm(points[None] - inside[:, None], axis=2).min(axis=1)
    distance = scene.distance(inside)
    assert np.all(distance > 0.0)
    assert np.all(distance <= nearest + 1e-9)


def test_noise_is_along_the_beam_and_of_the_given_size():
    """Noise moves a point along its beam only, with the standard deviation that was asked for."""
    rays = cast(SCENES["room"](), pose(), COARSE)
    points = rays.points(np.random.default_rng(1), 0.05)
    along = np.sum(points * rays.directions, axis=1)
    across = points - along[:, None] * rays.directions
    noise = along - rays.ranges
    assert_allclose(across, 0.0, atol=1e-12)
    assert_allclose(noise.std(), 0.05, rtol=0.03)
    assert abs(noise.mean()) < 4.0 * 0.05 / np.sqrt(len(noise))


def test_noise_is_redrawn_at_each_call():
    """Two calls with one generator give independent noise on the same rays."""
    rays, rng = cast(SCENES["room"](), pose(), COARSE), np.random.default_rng(2)
    first, second = (
        np.sum((rays.points(rng, 0.02) - rays.points()) * rays.directions, axis=1) for _ in range(2)
    )
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.05


def test_bare_corridor_shows_nothing_along_its_axis():
    """All points are on the four long faces of the bare corridor, none near its ends."""
    points = points_world(SCENES["bare_corridor"](), pose(), LidarPattern.rings())
    on_side = np.abs(np.abs(points[:, 1]) - 1.5) < 1e-6
    on_floor_or_ceiling = np.minimum(np.abs(points[:, 2]), np.abs(points[:, 2] - 2.7)) < 1e-6
    assert np.all(on_side | on_floor_or_ceiling)
    assert np.abs(points[:, 0]).max() < 110.0


def test_closed_corridor_shows_both_ends():
    """Both end walls of the closed corridor are hit by many beams, and all beams return."""
    points = points_world(SCENES["closed_corridor"](), pose(), LidarPattern.rings())
    assert len(points) == 64 * 1024
    assert np.sum(np.abs(points[:, 0] - 10.0) < 1e-6) > 100
    assert np.sum(np.abs(points[:, 0] + 10.0) < 1e-6) > 100


def test_doors_alternate_between_the_sides():
    """Each side has a recess of the given depth and width per 15 m, the other side's halfway."""
    depth, probes = 0.10, np.arange(-60.0, 60.0, 0.05) + 0.01
    doors = door_corridor(recess_m=depth)
    for side, centre in ((1.0, 0.0), (-1.0, 7.5)):
        behind = np.column_stack(
            [probes, np.full_like(probes, side * (1.5 + depth / 2)), np.full_like(probes, 1.0)]
        )
        offset = (probes - centre + 7.5) % 15.0 - 7.5
        assert_array_equal(doors.distance(behind) > 0.0, np.abs(offset) < 0.5)


def test_room_is_closed_and_street_is_open():
    """Every beam returns in the room; in the street upward beams are lost, downward ones not."""
    assert len(cast(SCENES["room"](), pose(), COARSE).ranges) == 32 * 360
    upright = pose(pitch=0.0)
    up, down = np.radians([60.0, 80.0]), np.radians([-60.0, -10.0])
    assert len(cast(SCENES["street"](), upright, LidarPattern(up, 360)).ranges) == 0
    assert len(cast(SCENES["street"](), upright, LidarPattern(down, 360)).ranges) == 720


@pytest.mark.parametrize("seed", range(5))
def test_streets_are_drivable(seed):
    """Whatever the seed, the carriageway is free along the whole street."""
    x = np.linspace(-100.0, 100.0, 401)
    lane = np.column_stack([x, np.zeros_like(x), np.full_like(x, 1.5)])
    assert street(seed).distance(lane).min() > 1.0


def test_room_looks_different_from_its_mirror_images():
    """Turning or mirroring the room moves points off its surface: no pose is ambiguous."""
    room, T_world_lidar = SCENES["room"](), pose()
    points = points_world(room, T_world_lidar, COARSE)
    for x, y in ((-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0)):
        off = np.abs(room.distance(points * (x, y, 1.0))) > 0.05
        assert off.mean() > 0.05


def test_same_seed_gives_same_bits(scene):
    """A scan is a function of its arguments and the generator's seed alone."""
    first, second = (scan(scene, pose(), COARSE, np.random.default_rng(7)) for _ in range(2))
    assert_array_equal(first, second)
    assert not np.array_equal(first, scan(scene, pose(), COARSE, np.random.default_rng(8)))


def test_street_follows_its_seed():
    """The same seed builds the same street, another seed another one."""
    assert_array_equal(street(3).solid_boxes, street(3).solid_boxes)
    assert not np.array_equal(street(3).solid_cylinders, street(4).solid_cylinders)


@pytest.mark.skipif(numba.get_num_threads() < 2, reason="needs two threads")
def test_thread_count_does_not_change_bits(scene):
    """One thread and all threads give the same ranges, bit for bit."""
    num_threads = numba.get_num_threads()
    many = cast(scene, pose(), COARSE)
    numba.set_num_threads(1)
    try:
        one = cast(scene, pose(), COARSE)
    finally:
        numba.set_num_threads(num_threads)
    assert_array_equal(one.ranges, many.ranges)


def test_directions_are_unit_vectors_column_by_column():
    """The pattern gives unit vectors, all rings of a column before the next column."""
    directions = LidarPattern.rings(4, 8, -20.0, 10.0).directions()
    assert_allclose(np.linalg.norm(directions, axis=1), 1.0, rtol=1e-14)
    assert_allclose(np.degrees(np.arcsin(directions[:4, 2])), [-20.0, -10.0, 0.0, 10.0], atol=1e-12)
    assert_allclose(directions[:4, 1], 0.0, atol=1e-12)


def test_mistakes_are_reported():
    """Sensors in walls, empty boxes, wrong shapes and noise without a generator are refused."""
    room = SCENES["room"]()
    with pytest.raises(InputError, match="free space"):
        cast(room, pose((50.0, 0.0, 1.5)), COARSE)
    with pytest.raises(InputError, match="shape"):
        Scene("flat", np.zeros((1, 4)))
    with pytest.raises(InputError, match="lower corner"):
        Scene("inverted", np.array([[1.0, 1.0, 1.0, 0.0, 0.0, 0.0]]))
    with pytest.raises(InputError, match="pass rng"):
        cast(room, pose(), COARSE).points(range_noise_m=0.1)
    with pytest.raises(ConfigError, match="min_range_m"):
        LidarPattern(np.zeros(1), 8, max_range_m=0.1)
