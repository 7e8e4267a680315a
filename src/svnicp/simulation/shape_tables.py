# SPDX-License-Identifier: MIT
"""Tables of shapes for the ray tracer, from primitives as users write them.

In: rows of boxes, cylinders and capsules. Out: rows of one format with bounding boxes, ordered so
that neighbours in the table are neighbours in space and share a bounding box. ``nearby`` cuts a
scene down to what a sensor can reach.
"""

from typing import NamedTuple

import numpy as np

from svnicp.arrays import Floats, Integers
from svnicp.kernels.scene_arrays import GROUP_SIZE, SceneArrays
from svnicp.kernels.shapes import BOX, CAPSULE, CYLINDER, SHAPE_WIDTH


class ShapeTable(NamedTuple):
    """Shapes in spatial order."""

    rows: Floats
    """(m, 9) as in ``svnicp.kernels.shapes``."""
    bounds: Floats
    """(m, 6) centres and half sizes of their bounding boxes [m]."""
    groups: Floats
    """(ceil(m / GROUP_SIZE), 6) the same for groups of consecutive shapes [m]."""


def box_rows(boxes: Floats) -> Floats:
    """Return the table rows of (m, 6) boxes: lower corner, upper corner [m]."""
    centres, halves = 0.5 * (boxes[:, :3] + boxes[:, 3:]), 0.5 * (boxes[:, 3:] - boxes[:, :3])
    return yaw_box_rows(np.column_stack([centres, halves, np.zeros(len(boxes))]))


def yaw_box_rows(boxes: Floats) -> Floats:
    """Return the table rows of (m, 7) boxes: centre, half sizes [m], yaw [rad]."""
    kinds = np.full(len(boxes), BOX)
    return np.column_stack([kinds, boxes[:, :6], np.cos(boxes[:, 6]), np.sin(boxes[:, 6])])


def cylinder_rows(cylinders: Floats) -> Floats:
    """Return the table rows of (m, 5) vertical cylinders: x, y, radius, bottom, top [m]."""
    x, y, radius, bottom, top = cylinders.T
    rows = np.zeros((len(cylinders), SHAPE_WIDTH))
    rows[:, :6] = np.column_stack(
        [np.full(len(x), CYLINDER), x, y, 0.5 * (bottom + top), radius, 0.5 * (top - bottom)]
    )
    return rows


def capsule_rows(capsules: Floats) -> Floats:
    """Return the table rows of (m, 7) capsules: start, end, radius [m]."""
    start, way = capsules[:, :3], capsules[:, 3:6] - capsules[:, :3]
    squared = np.sum(way * way, axis=1)
    inverse = np.divide(1.0, squared, out=np.zeros_like(squared), where=squared > 0.0)
    return np.column_stack([np.full(len(capsules), CAPSULE), start, way, capsules[:, 6], inverse])


def shape_table(rows: Floats, margin_m: float = 0.0) -> ShapeTable:
    """Return a table in spatial order, with bounding boxes that are wider by a margin [m]."""
    bounds = _bounds(rows)
    bounds[:, 3:] += margin_m
    order = np.array(_spatial_order(bounds[:, :3], np.arange(len(rows))), dtype=np.int64)
    return _grouped(rows[order], bounds[order])


def nearby(scene: SceneArrays, lower: Floats, upper: Floats) -> SceneArrays:
    """Return the scene without the shapes that do not reach into a box.

    Parameters
    ----------
    scene
        All of it.
    lower, upper
        (3,) corners of the box that contains all rays [m].
    """
    centre, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
    free = ShapeTable(scene.free_rows, scene.free_bounds, scene.free_groups)
    solid = ShapeTable(scene.solid_rows, scene.solid_bounds, scene.solid_groups)
    return SceneArrays(*_within(free, centre, half), *_within(solid, centre, half), *scene[6:])


def _within(table: ShapeTable, centre: Floats, half: Floats) -> ShapeTable:
    """Return the shapes whose bounding boxes meet a box."""
    gaps = np.abs(table.bounds[:, :3] - centre) - table.bounds[:, 3:] - half
    near = np.all(gaps <= 0.0, axis=1)
    return table if near.all() else _grouped(table.rows[near], table.bounds[near])


def _bounds(rows: Floats) -> Floats:
    """Return (m, 6) centres and half sizes of the bounding boxes of table rows [m]."""
    bounds = rows[:, 1:7].copy()
    box, cylinder, capsule = (rows[:, 0] == kind for kind in (BOX, CYLINDER, CAPSULE))
    half_x, half_y, cosine, sine = np.abs(rows[box][:, [4, 5, 7, 8]]).T
    bounds[box, 3] = half_x * cosine + half_y * sine
    bounds[box, 4] = half_x * sine + half_y * cosine
    bounds[cylinder, 3:] = rows[cylinder][:, [4, 4, 5]]
    bounds[capsule, :3] += 0.5 * rows[capsule, 4:7]
    bounds[capsule, 3:] = 0.5 * np.abs(rows[capsule, 4:7]) + rows[capsule, 7:8]
    return bounds


def _spatial_order(centres: Floats, indices: Integers) -> list[int]:
    """Return the indices in an order that keeps neighbours together: halves of halves."""
    if len(indices) <= GROUP_SIZE:
        return [int(i) for i in indices]
    axis = int(np.argmax(np.ptp(centres[indices], axis=0)))
    ordered = indices[np.argsort(centres[indices, axis], kind="stable")]
    half = GROUP_SIZE * max(1, len(ordered) // (2 * GROUP_SIZE))
    return _spatial_order(centres, ordered[:half]) + _spatial_order(centres, ordered[half:])


def _grouped(rows: Floats, bounds: Floats) -> ShapeTable:
    """Return a table with the bounding boxes of its groups."""
    starts = np.arange(0, len(rows), GROUP_SIZE)
    if len(starts) == 0:
        return ShapeTable(rows, bounds, np.empty((0, 6)))
    lower = np.minimum.reduceat(bounds[:, :3] - bounds[:, 3:], starts)
    upper = np.maximum.reduceat(bounds[:, :3] + bounds[:, 3:], starts)
    groups = np.concatenate([0.5 * (lower + upper), 0.5 * (upper - lower)], axis=1)
    return ShapeTable(np.ascontiguousarray(rows), np.ascontiguousarray(bounds), groups)
