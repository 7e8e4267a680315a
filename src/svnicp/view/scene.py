# SPDX-License-Identifier: MIT
"""What is drawn in space: the scan, the map, the way, particles, ellipsoids, weak directions.

Standard deviations of millimetres cannot be seen beside walls of metres, so ellipsoids and
particles are drawn ten times too large; the names of their entities say so.
"""

import numpy as np

from svnicp.arrays import Covariance, Floats, Points, Transform
from svnicp.data.quaternions import rotation_to_quat
from svnicp.estimate import Estimate
from svnicp.preprocess import thinned
from svnicp.registration.posterior import WeakDirection
from svnicp.view.layout import BODY, WORLD
from svnicp.view.sdk import Stream, rerun

LARGER = 10.0
"""How many times too large ellipsoids and particles are drawn."""
MOST_SCAN_POINTS, MOST_MAP_POINTS = 8_000, 40_000
ARROW_M = 3.0
"""Length of the arrow along a weak direction [m]."""
SCAN_COLOUR, MAP_COLOUR, WAY_COLOUR = (86, 180, 233), (125, 135, 145), (230, 159, 0)
TRUTH_COLOUR, SIGMA_COLOUR, PARTICLE_COLOUR = (0, 200, 120), (230, 96, 28), (240, 228, 66)
WEAK_COLOURS = {"translation": (230, 60, 140), "rotation": (170, 90, 220)}


def draw_body(stream: Stream, T_world_body: Transform) -> None:
    """Put the body, and all that moves with it, in its place."""
    sdk = rerun()
    stream.log(
        BODY,
        sdk.Transform3D(translation=T_world_body[:3, 3], mat3x3=T_world_body[:3, :3]),
        sdk.TransformAxes3D(1.0),
    )


def draw_scan(stream: Stream, body_points: Points) -> None:
    """Draw the points of a scan (n, 3) in the body's frame [m]."""
    points = thinned(body_points, MOST_SCAN_POINTS)
    stream.log(f"{BODY}/scan", _points(points, SCAN_COLOUR, 1.5))


def draw_map(stream: Stream, points: Points) -> None:
    """Draw the points of the map (n, 3) in the world [m]."""
    shown = thinned(points, MOST_MAP_POINTS)
    stream.log(f"{WORLD}/map", _points(shown, MAP_COLOUR, 1.0))


def draw_way(stream: Stream, positions: Floats) -> None:
    """Draw the way so far through (n, 3) positions in the world [m]."""
    stream.log(f"{WORLD}/way", _line(positions, WAY_COLOUR))


def draw_truth(stream: Stream, positions: Floats) -> None:
    """Draw the whole true way through (n, 3) positions in the world [m]."""
    stream.log(f"{WORLD}/truth", _line(positions, TRUTH_COLOUR), static=True)


def draw_ellipsoids(
    stream: Stream, entity: str, T_entity_body: Transform, covariances: Covariance
) -> None:
    """Draw three sigma of positions, too large.

    Parameters
    ----------
    stream, entity
        Where to draw it.
    T_entity_body
        (n, 4, 4) poses of the bodies in the frame of the entity.
    covariances
        (n, 3, 3) of their positions, in body axes [m^2].
    """
    sdk = rerun()
    values, vectors = np.linalg.eigh(covariances)
    axes = T_entity_body[:, :3, :3] @ vectors
    axes[np.linalg.det(axes) < 0.0, :, 0] *= -1.0  # a rotation, not a mirror
    ellipsoids = sdk.Ellipsoids3D(
        centers=T_entity_body[:, :3, 3],
        half_sizes=3.0 * LARGER * np.sqrt(np.maximum(values, 0.0)),
        quaternions=[sdk.Quaternion(xyzw=rotation_to_quat(one)) for one in axes],
        colors=[SIGMA_COLOUR],
    )
    stream.log(f"{entity}_x{LARGER:.0f}", ellipsoids)


def draw_particles(stream: Stream, estimate: Estimate) -> None:
    """Draw where the particles of the scan are, seen from the body, too far apart."""
    offsets = np.empty((0, 3))
    if estimate.particles is not None:
        R, position = estimate.T_world_body[:3, :3], estimate.T_world_body[:3, 3]
        offsets = LARGER * (estimate.particles[:, :3, 3] - position) @ R
    points = _points(offsets, PARTICLE_COLOUR, 3.0)
    stream.log(f"{BODY}/particles_x{LARGER:.0f}", points)


def draw_weak(stream: Stream, weak: list[WeakDirection]) -> None:
    """Draw an arrow to both sides along each direction that the scan leaves open."""
    directions = np.array([sign * one.direction for one in weak for sign in (1.0, -1.0)])
    colours = [WEAK_COLOURS[one.kind] for one in weak for _ in range(2)]
    labels = [text for one in weak for text in (_in_words(one), "")]
    arrows = rerun().Arrows3D(
        vectors=ARROW_M * directions.reshape(-1, 3), colors=colours, labels=labels
    )
    stream.log(f"{BODY}/weak", arrows)


def _in_words(weak: WeakDirection) -> str:
    """A weak direction for its label."""
    if weak.kind == "rotation":
        return f"weak about here: {np.degrees(weak.sigma):.2g} deg"
    return f"weak along here: {weak.sigma:.2g} m"


def _points(positions: Floats, colour: tuple[int, int, int], size: float) -> object:
    sdk = rerun()
    return sdk.Points3D(
        positions.astype(np.float32), colors=[colour], radii=sdk.Radius.ui_points(size)
    )


def _line(positions: Floats, colour: tuple[int, int, int]) -> object:
    sdk = rerun()
    radius = sdk.Radius.ui_points(1.5)
    return sdk.LineStrips3D([positions.astype(np.float32)], colors=[colour], radii=radius)
