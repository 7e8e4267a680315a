# SPDX-License-Identifier: MIT
"""A map of a scenario as an SVG: what is solid at the height of the sensor, and the way through it.

The signed-distance function is sampled at the height of the nearest point of the way, so that
slopes and floors show what the sensor passes; what stands lower or a little higher is drawn
lighter. A world seen from the side is cut along the way likewise.
"""

import base64
import struct
import zlib
from typing import NamedTuple

import numpy as np
from scipy.spatial import KDTree

from svnicp.arrays import Floats, Points
from svnicp.simulation.geometry import Scene
from svnicp.simulation.simulate import Stage

WIDTH, MIN_HEIGHT, MAX_HEIGHT, HEADER = 800, 140, 600, 58
"""Size of a picture, and of the words above the map [pixels]."""
MARGIN_M, OPEN_MARGIN_M = 5.0, 32.0
"""What is shown around the way at least, indoors and under the sky [m]."""
BLOCK = 4
"""Side of a block of pixels that is asked for its distance first [pixels]."""
SAMPLE_S = 0.1
"""Time between two points of the way as drawn [s]."""
MARK_S = 10.0
"""Time between two marks on the way [s]."""
FREE, ELSEWHERE, SOLID = 250.0, 195.0, 70.0
"""Grey levels: free, solid at another height, solid at the height of the sensor."""
BETWEEN = (0.2, 0.5)
"""Other heights, as fractions of the way from the floor to the sensor."""
ABOVE_M = 0.6
"""Another height, above the sensor [m]."""
NO_FLOOR_M = 2.0
"""Where nothing is below, as over water, the floor is taken to be this far down [m]."""
STYLE = """\
text { font: 15px system-ui, sans-serif; fill: #1c2430; } .faint { fill: #5d6878; }
.way { fill: none; stroke: #d4570a; stroke-width: 2.2; } .mark { fill: #d4570a; }
.start { fill: #08784a; } .bar { stroke: #1c2430; stroke-width: 3; }
"""


class _View(NamedTuple):
    """Which part of the world is drawn, and how large."""

    axes: tuple[int, int]
    """World axes to the right and up."""
    lower: Floats
    """(2,) world coordinates of the lower left corner [m]."""
    size: tuple[int, int]
    """Width and height [pixels]."""
    pixel_m: float

    def place(self, points: Points) -> Floats:
        """Return (n, 2) pixels of (n, 3) positions."""
        flat = (points[:, self.axes] - self.lower) / self.pixel_m
        return np.column_stack([flat[:, 0], self.size[1] - flat[:, 1]])


def picture(stage: Stage) -> str:
    """Return the map of a staged scenario as an SVG document."""
    motion = stage.motion
    times_s = np.arange(0.0, motion.duration_s, SAMPLE_S)
    positions = motion.position(times_s)
    scene = stage.world.scene
    axes = (0, 1) if stage.scenario.seen_from == "above" else (0, 2)
    enclosed = len(scene.free_boxes) + len(scene.free_tubes) > 0
    view = _view(positions, axes, MARGIN_M if enclosed else OPEN_MARGIN_M)
    marks = positions[:: round(MARK_S / SAMPLE_S)]
    width, height = view.size
    image = base64.b64encode(_png(_shades(scene, positions, view))).decode()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height + HEADER}" '
        f'width="{width}" height="{height + HEADER}"><style>{STYLE}</style>'
        f'<rect width="{width}" height="{height + HEADER}" fill="#ffffff"/>'
        f"{_header(stage, times_s[-1], positions)}"
        f'<g transform="translate(0 {HEADER})">'
        f'<image width="{width}" height="{height}" href="data:image/png;base64,{image}"/>'
        f"{_way(view.place(positions), view.place(marks))}{_scale_bar(view)}</g></svg>\n"
    )


def _view(positions: Points, axes: tuple[int, int], margin_m: float) -> _View:
    """Return the view that shows the way and some of what is around it, ``WIDTH`` pixels wide."""
    flat = positions[:, axes]
    lower, upper = flat.min(axis=0), flat.max(axis=0)
    margin = max(margin_m, 0.06 * float((upper - lower).max()))
    lower, upper = lower - margin, upper + margin
    extent = upper - lower
    pixel_m = float(max(extent[0] / WIDTH, extent[1] / MAX_HEIGHT))
    size = WIDTH, max(MIN_HEIGHT, int(np.ceil(extent[1] / pixel_m)))
    lower -= 0.5 * (np.array(size) * pixel_m - extent)
    return _View(axes, lower, size, pixel_m)


def _shades(scene: Scene, positions: Points, view: _View) -> Floats:
    """Return (height, width) grey levels, the upper row first; edges are one pixel soft."""
    width, height = view.size
    across = view.lower[0] + (np.arange(width) + 0.5) * view.pixel_m
    up = view.lower[1] + (height - 0.5 - np.arange(height)) * view.pixel_m
    grid = np.stack(np.meshgrid(across, up), axis=-1)
    nearest = KDTree(positions[:, view.axes]).query(grid)[1]
    points = positions[nearest]
    points[..., view.axes] = grid
    shades = FREE + (SOLID - FREE) * _solid(scene, points, view.pixel_m)
    if view.axes == (0, 1):
        drop = _height_above_floor(scene, positions)[nearest]
        for lift in (*((fraction - 1.0) * drop for fraction in BETWEEN), ABOVE_M):
            points[..., 2] = positions[nearest, 2] + lift
            other = _solid(scene, points, view.pixel_m)
            shades = np.minimum(shades, FREE + (ELSEWHERE - FREE) * other)
    return shades


def _solid(scene: Scene, points: Floats, pixel_m: float) -> Floats:
    """Return how much of each pixel is solid, from 0 to 1, of (height, width, 3) positions [m].

    Most of a map is far from any surface: blocks of pixels are asked first, and only those whose
    middle is near one are looked at pixel by pixel.
    """
    height, width = points.shape[:2]
    rows = np.minimum(np.arange(0, height, BLOCK) + BLOCK // 2, height - 1)
    columns = np.minimum(np.arange(0, width, BLOCK) + BLOCK // 2, width - 1)
    middles = points[np.ix_(rows, columns)]
    coarse = scene.distance(middles.reshape(-1, 3)).reshape(middles.shape[:2])
    distances = coarse.repeat(BLOCK, axis=0)[:height].repeat(BLOCK, axis=1)[:, :width]
    near = np.abs(distances) < 3 * BLOCK * pixel_m
    distances[near] = scene.distance(points[near])
    return np.clip(0.5 - distances / pixel_m, 0.0, 1.0)


def _height_above_floor(scene: Scene, positions: Points) -> Floats:
    """Return how far below each position something solid is; ``NO_FLOOR_M`` if nothing is [m]."""
    points = positions.copy()
    for _ in range(60):
        points[:, 2] -= np.clip(scene.distance(points), 0.0, None)
    drop = positions[:, 2] - points[:, 2]
    return np.where(np.abs(scene.distance(points)) < 0.05, drop, NO_FLOOR_M)


def _header(stage: Stage, last_s: float, positions: Points) -> str:
    """Return the words above the map."""
    scenario = stage.scenario
    length_m = np.linalg.norm(np.diff(positions[::10], axis=0), axis=1).sum()
    view = "" if scenario.seen_from == "above" else ", seen from the side"
    facts = f"{scenario.platform.name}, {scenario.sensor}, {scenario.imu}, {length_m:.0f} m, "
    facts += f"{last_s:.0f} s{view}; a mark every {MARK_S:.0f} s"
    return (
        f'<text x="12" y="22"><tspan font-weight="bold">{scenario.name}</tspan>: '
        f"{scenario.degrades}</text>"
        f'<text class="faint" x="12" y="44">{facts}</text>'
    )


def _way(pixels: Floats, marks: Floats) -> str:
    """Return the way as a line with a mark at equal times and a disc at its start."""
    line = "L".join(f"{x:.1f} {y:.1f}" for x, y in pixels)
    dots = "".join(f'<circle class="mark" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>' for x, y in marks)
    x, y = pixels[0]
    start = f'<circle class="start" cx="{x:.1f}" cy="{y:.1f}" r="6"/>'
    return f'<path class="way" d="M{line}"/>{dots}{start}'


def _scale_bar(view: _View) -> str:
    """Return a bar of a round length in the lower right corner."""
    limit_m = 0.2 * view.size[0] * view.pixel_m
    power = 10.0 ** np.floor(np.log10(limit_m))
    length_m = max(step * power for step in (1.0, 2.0, 5.0) if step * power <= limit_m)
    right, y = view.size[0] - 14.0, view.size[1] - 12.0
    left = right - length_m / view.pixel_m
    back = f'<rect x="{left - 6:.0f}" y="{y - 26:.0f}" width="{right - left + 14:.0f}" height="34"'
    return (
        f'{back} fill="#ffffff" fill-opacity="0.8"/>'
        f'<path class="bar" d="M{left:.1f} {y}H{right}"/>'
        f'<text x="{right}" y="{y - 8}" text-anchor="end">{length_m:g} m</text>'
    )


def _png(shades: Floats) -> bytes:
    """Return (height, width) grey levels from 0 to 255 as the bytes of a PNG file."""
    height, width = shades.shape
    rows = np.zeros((height, width + 1), dtype=np.uint8)  # each row starts with its filter, none
    rows[:, 1:] = np.round(shades)
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in (
            (b"IHDR", header),
            (b"IDAT", zlib.compress(rows.tobytes(), 9)),
            (b"IEND", b""),
        )
    )
