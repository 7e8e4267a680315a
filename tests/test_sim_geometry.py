# SPDX-License-Identifier: MIT
"""Scenes of tubes, bars, turned boxes, rock and hills: distances and rays keep their promises."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from svnicp.errors import InputError
from svnicp.kernels.sphere_trace import trace_rays
from svnicp.lie import so3_exp
from svnicp.simulation.geometry import Scene, Terrain
from svnicp.simulation.scene import SCENES
from svnicp.simulation.shape_tables import nearby
from threads import needs_two_threads, num_threads

MAX_RANGE_M = 40.0


def hills():
    """Return rough ground of 30 x 30 m about the origin, below zero."""
    x, y = np.meshgrid(*[np.arange(-15.0, 15.1, 0.5)] * 2, indexing="ij")
    bumps = np.random.default_rng(5).uniform(0.0, 0.15, x.shape)
    return Terrain(
        0.5 * np.sin(0.7 * x) * np.cos(0.5 * y) + bumps - 1.0, origin_xy=(-15.0, -15.0), cell_m=0.5
    )


TUBES = np.array(
    [
        [-8.0, 0.0, 1.0, 0.0, 0.0, 1.0, 2.0],
        [0.0, 0.0, 1.0, 6.0, 4.0, 0.5, 1.6],
        [6.0, 4.0, 0.5, 6.0, 12.0, 2.0, 1.8],
        [0.0, 0.0, 1.0, 1.0, -7.0, 1.0, 1.2],
    ]
)
BARS = np.array([[3.0, 1.0, 0.2, 3.0, 1.0, 0.2, 0.7], [-3.0, 2.0, -1.0, -1.0, 4.0, 3.0, 0.2]])
TURNED = np.array([[2.0, -4.0, 0.0, 1.0, 0.4, 1.5, 0.6]])
POSTS = np.array([[-4.0, -3.0, 0.5, -1.0, 2.0]])
CASES = {
    "tubes": Scene("tubes", free_tubes=TUBES),
    "blended": Scene("blended", free_tubes=TUBES, blend_m=0.8),
    "rock": Scene("rock", free_tubes=TUBES, roughness_m=0.3, roughness_length_m=1.2),
    "blended_rock": Scene("blended_rock", free_tubes=TUBES, blend_m=0.5, roughness_m=0.2),
    "turned_room": Scene(
        "turned_room",
        free_yaw_boxes=np.array(
            [[0.0, 0.0, 1.0, 6.0, 2.0, 1.5, 0.4], [5.0, 3.0, 1.0, 1.0, 4.0, 1.0, -0.3]]
        ),
    ),
    "hills": Scene("hills", terrain=hills()),
    "open": Scene(
        "open", terrain=hills(), solid_bars=BARS, solid_yaw_boxes=TURNED, solid_cylinders=POSTS
    ),
    "tunnel_with_floor": Scene(
        "tunnel_with_floor", free_tubes=TUBES, terrain=hills(), roughness_m=0.05, solid_bars=BARS
    ),
}


@pytest.fixture(params=sorted(CASES))
def scene(request):
    return CASES[request.param]


def rays(num_rays, seed=0, origin=(0.0, 0.0, 1.0)):
    """Return rays into all directions from one place."""
    directions = np.random.default_rng(seed).standard_normal((num_rays, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return np.tile(origin, (num_rays, 1)), directions


def assert_first_surface(scene, origins, directions):
    """Rays end at zero distance, and all the way there they are in free space."""
    ranges, _ = trace_rays(origins, directions, MAX_RANGE_M, scene.arrays)
    hit = np.isfinite(ranges)
    assert hit.mean() > 0.4
    ends = origins[hit] + ranges[hit, None] * directions[hit]
    assert np.abs(scene.distance(ends)).max() < 1e-4
    reach = np.where(hit, ranges, MAX_RANGE_M)[:, None] - 1e-3
    for share in np.linspace(0.0, 1.0, 301):
        assert scene.distance(origins + share * reach * directions).min() > 0.0


def test_rays_end_on_the_first_surface(scene):
    """Where a ray ends the distance is zero, all the way there it is in free space."""
    assert_first_surface(scene, *rays(600))


def test_rays_see_the_seam_between_blended_tubes():
    """Between two tubes that do not touch, blending opens a slit that rays can follow."""
    pair = np.array([[0.0, 0.0, 0.0, 9.0, 0.0, 0.0, 1.0], [0.0, 2.1, 0.0, 9.0, 2.1, 0.0, 1.0]])
    scene = Scene("pair", free_tubes=pair, blend_m=0.8)
    _, directions = rays(300)
    directions = directions * [1.0, 0.02, 0.2] + [3.0, 0.0, 0.0]
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    origins = np.tile([1.0, 1.05, 0.0], (300, 1))
    assert_first_surface(scene, origins, directions)
    ranges, _ = trace_rays(origins, directions, MAX_RANGE_M, scene.arrays)
    assert ranges.min() > 1.0


def test_turning_a_box_and_the_rays_changes_nothing():
    """Rays to a turned box are as long as rays, turned back, to the same box along the axes."""
    yaw, box = 0.7, np.array([[0.0, 0.0, 0.0, 3.0, 0.1, 1.0]])
    turned = Scene("turned", solid_yaw_boxes=np.column_stack([box, [yaw]]))
    straight = Scene("straight", solid_boxes=np.array([[-3.0, -0.1, -1.0, 3.0, 0.1, 1.0]]))
    origins, directions = rays(4000, origin=(1.0, 4.0, 0.3))
    rotation = so3_exp(np.array([0.0, 0.0, yaw]))
    ranges, cosines = trace_rays(origins @ rotation.T, directions @ rotation.T, 20.0, turned.arrays)
    expected = trace_rays(origins, directions, 20.0, straight.arrays)
    assert np.isfinite(ranges).sum() > 100
    assert_allclose(ranges, expected[0], atol=1e-9)
    away_from_edges = np.abs(cosines - expected[1]) < 1e-9
    assert away_from_edges.mean() > 0.99


def test_a_ball_of_the_distance_is_free(scene):
    """From a free point, nothing nearer than its distance is solid: it is never too long."""
    rng = np.random.default_rng(1)
    points = rng.uniform((-9.0, -8.0, -1.0), (9.0, 13.0, 4.0), (30_000, 3))
    distances = scene.distance(points)
    free = distances > 0.0
    assert free.sum() > 1000
    steps = rng.standard_normal((free.sum(), 3))
    steps *= distances[free, None] / np.linalg.norm(steps, axis=1, keepdims=True)
    for share in (0.5, 0.9, 0.999):
        assert scene.distance(points[free] + share * steps).min() > 0.0


def test_distances_to_single_shapes_are_exact():
    """A bar, a ball, a turned box and a cylinder are as far as closed forms say."""
    ball = Scene("ball", solid_bars=np.array([[1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 0.5]]))
    bar = Scene("bar", solid_bars=np.array([[0.0, 0.0, 0.0, 3.0, 4.0, 0.0, 0.5]]))
    box = Scene("box", solid_yaw_boxes=np.array([[1.0, 0.0, 0.0, 2.0, 1.0, 0.5, np.pi / 2]]))
    assert_allclose(ball.distance(np.array([[1.0, 2.0, 5.0], [1.0, 2.0, 3.2]])), [1.5, -0.3])
    # Beside the bar's middle, beyond its end along the axis, on the axis.
    beside = [1.5 - 0.8, 2.0 + 0.6, 0.0]
    places = np.array([beside, [3.6, 4.8, 0.0], [1.5, 2.0, 0.0]])
    assert_allclose(bar.distance(places), [0.5, 0.5, -0.5], atol=1e-12)
    # The box is turned by a right angle: two metres along y, one along x.
    places = np.array([[1.0, 3.0, 0.0], [3.0, 0.0, 0.0], [3.0, 3.0, 0.0], [1.0, 0.0, 0.4]])
    expected = [1.0, 1.0, np.sqrt(2.0), -0.1]
    assert_allclose(box.distance(places), expected, atol=1e-12)


def test_incidence_is_the_cosine_to_the_normal():
    """In a corridor, at a ball and on a slope the cosine is that of the known normal."""
    origins, directions = rays(500, origin=(0.0, 0.0, 1.5))
    ranges, cosines = trace_rays(origins, directions, 100.0, SCENES["bare_corridor"]().arrays)
    ends = origins + ranges[:, None] * directions
    on_wall = np.abs(np.abs(ends[:, 1]) - 1.5) < 1e-6
    expected = np.where(on_wall, np.abs(directions[:, 1]), np.abs(directions[:, 2]))
    assert_allclose(cosines, expected, atol=1e-9)

    ball = Scene("ball", solid_bars=np.array([[4.0, 0.0, 1.5, 4.0, 0.0, 1.5, 1.0]]))
    ranges, cosines = trace_rays(origins, directions, 100.0, ball.arrays)
    hit = np.isfinite(ranges)
    normals = origins[hit] + ranges[hit, None] * directions[hit] - [4.0, 0.0, 1.5]
    assert_allclose(cosines[hit], np.abs(np.sum(normals * directions[hit], axis=1)), atol=1e-6)
    assert_array_equal(cosines[~hit], 0.0)

    slope = Terrain(np.array([[-5.0, -5.0], [5.0, 5.0]]) / 10.0, (-5.0, -5.0), 10.0)
    ranges, cosines = trace_rays(origins, directions, 4.0, Scene("slope", terrain=slope).arrays)
    hit = np.isfinite(ranges)
    normal = np.array([-0.1, 0.0, 1.0]) / np.hypot(0.1, 1.0)
    assert hit.sum() > 50
    assert_allclose(cosines[hit], np.abs(directions[hit] @ normal), atol=1e-6)


def test_rock_narrows_a_tunnel_by_no_more_than_its_roughness():
    """Rough walls stand between the plain wall and the roughness before it, and use the span."""
    plain, rough = CASES["tubes"], CASES["rock"]
    points = np.random.default_rng(2).uniform((-9.0, -8.0, -1.0), (9.0, 13.0, 3.0), (20_000, 3))
    depth = plain.distance(points)
    inside_rock = (depth > 0.0) & (rough.distance(points) <= 0.0)
    assert depth[inside_rock].max() < 0.3
    assert depth[inside_rock].max() > 0.2
    assert np.all(rough.distance(points)[depth <= 0.0] <= 0.0)


def test_rock_varies_over_its_length_and_with_its_seed():
    """Rock looks alike within a tenth of its length, and unlike with another seed."""
    origins, directions = rays(2000)
    cube = np.array([[-9.0, -9.0, -9.0, 9.0, 9.0, 9.0]])
    heights = []
    for seed in (1, 2):
        scene = Scene("rock", cube, roughness_m=0.3, roughness_length_m=3.0, roughness_seed=seed)
        ranges, _ = trace_rays(origins, directions, 50.0, scene.arrays)
        ends = origins + ranges[:, None] * directions
        heights.append(9.0 - np.abs(ends).max(axis=1))
    assert min(np.min(h) for h in heights) > 0.0
    assert min(np.std(h) for h in heights) > 0.03
    assert abs(np.corrcoef(heights)[0, 1]) < 0.3


def test_blending_widens_junctions_only():
    """A smooth union contains the plain one and equals it far from where tubes meet."""
    plain, blended = CASES["tubes"], CASES["blended"]
    points = np.random.default_rng(3).uniform((-9.0, -8.0, -1.0), (9.0, 13.0, 4.0), (20_000, 3))
    gain = blended.distance(points) - plain.distance(points)
    assert gain.min() >= 0.0
    assert 0.1 < gain.max() <= 0.2 + 1e-12
    alone = (points[:, 0] < -5.0) & (plain.distance(points) > 0.0)
    assert_allclose(gain[alone], 0.0, atol=1e-12)


def test_ground_agrees_with_interpolation_and_goes_on_outside():
    """Points at the interpolated height are at zero distance, beyond the grid too."""
    scene, rng = CASES["hills"], np.random.default_rng(4)
    xy = rng.uniform(-25.0, 25.0, (5000, 2))
    heights = scene.ground_height(xy)
    assert_allclose(scene.distance(np.column_stack([xy, heights])), 0.0, atol=1e-12)
    clamped = scene.ground_height(np.clip(xy, -15.0, 15.0))
    assert_array_equal(heights, clamped)
    terrain = hills()
    corners = np.array([[-15.0, -15.0], [-14.5, -15.0], [-15.0, -14.5]])
    expected = [terrain.heights[0, 0], terrain.heights[1, 0], terrain.heights[0, 1]]
    assert_allclose(scene.ground_height(corners), expected)


def test_vertical_and_level_rays_meet_the_ground():
    """Rays along the grid's axes neither hang at cell borders nor jump over the ground."""
    flat = Scene("flat", terrain=Terrain(np.zeros((40, 40)), (0.0, 0.0), 0.5))
    origins = np.array([[5.0, 5.0, 2.0], [5.0, 5.0, 2.0], [-3.0, 5.0, 2.0], [5.0, 5.0, 2.0]])
    down = np.array([-0.6, -0.8, -1.0, -0.6])
    directions = np.array(
        [[0.8, 0.0, down[0]], [0.0, -0.6, down[1]], [0.0, 0.0, down[2]], [-0.8, 1e-9, down[3]]]
    )
    ranges, _ = trace_rays(origins, directions, 50.0, flat.arrays)
    assert_allclose(ranges, -2.0 / down, atol=1e-5)
    level, _ = trace_rays(origins[:1], np.array([[1.0, 0.0, 0.0]]), 50.0, flat.arrays)
    assert_array_equal(level, np.inf)


def test_what_is_far_away_can_be_left_out(scene):
    """A scene cut down to the reach of the rays gives the same ranges, bit for bit."""
    origins, directions = rays(300)
    whole = trace_rays(origins, directions, 3.0, scene.arrays)
    near = nearby(scene.arrays, origins.min(axis=0) - 3.0, origins.max(axis=0) + 3.0)
    assert_array_equal(trace_rays(origins, directions, 3.0, near), whole)


def test_order_of_shapes_does_not_matter():
    """Hundreds of shapes in any order give the same ranges as checking them one by one."""
    rng = np.random.default_rng(6)
    places, radii = rng.uniform(-20.0, 20.0, (300, 2)), rng.uniform(0.1, 0.4, 300)
    posts = np.column_stack([places, radii, np.full(300, -2.0), np.full(300, 3.0)])
    posts = posts[np.hypot(posts[:, 0], posts[:, 1]) > 1.0]
    origins, directions = rays(400)
    whole, _ = trace_rays(
        origins, directions, 30.0, Scene("posts", solid_cylinders=posts[::-1]).arrays
    )
    single = [
        trace_rays(origins, directions, 30.0, Scene("post", solid_cylinders=post[None]).arrays)[0]
        for post in posts
    ]
    assert_array_equal(whole, np.min(single, axis=0))
    assert np.isfinite(whole).mean() > 0.1


@needs_two_threads
def test_thread_count_does_not_change_bits(scene):
    """One thread and two give the same ranges and incidences, bit for bit."""
    origins, directions = rays(2000)
    with num_threads(1):
        one = trace_rays(origins, directions, MAX_RANGE_M, scene.arrays)
    with num_threads(2):
        two = trace_rays(origins, directions, MAX_RANGE_M, scene.arrays)
    assert_array_equal(one, two)


def test_mistakes_are_reported():
    """Shapes without an inside, wrong shapes of arrays and missing ground are refused."""
    with pytest.raises(InputError, match="free_tubes of scene 'x' must have shape"):
        Scene("x", free_tubes=np.zeros((2, 6)))
    with pytest.raises(InputError, match="no inside"):
        Scene("x", solid_bars=np.array([[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]]))
    with pytest.raises(InputError, match="roughness_length_m"):
        Scene("x", roughness_m=0.1, roughness_length_m=0.0)
    with pytest.raises(InputError, match="2 x 2"):
        Terrain(np.zeros((1, 5)), (0.0, 0.0), 1.0)
    with pytest.raises(InputError, match="cell_m"):
        Terrain(np.zeros((3, 5)), (0.0, 0.0), 0.0)
    with pytest.raises(InputError, match="no terrain"):
        CASES["tubes"].ground_height(np.zeros((1, 2)))
