# SPDX-License-Identifier: MIT
"""Rays that end on shapes which move while the rays are sent.

In: rays with their times, ranges found in the static scene, shapes with velocities. Out: the
ranges and incidences where a moving shape is nearer. Seen from a moving shape, a ray that is sent
later starts elsewhere; nothing else changes.
"""

from svnicp.arrays import Floats, Points
from svnicp.kernels.njit import njit
from svnicp.kernels.scene_arrays import Ray
from svnicp.kernels.shapes import shape_span
from svnicp.kernels.sphere_trace import BLOCK_RAYS, shape_incidence
from svnicp.kernels.threads import share


def meet_movers(
    origins_world: Points,
    directions_world: Points,
    times_s: Floats,
    rows: Floats,
    velocities: Floats,
    ranges: Floats,
    cosines: Floats,
) -> None:
    """Shorten the ranges of rays that meet a moving shape first, and replace their incidence.

    Parameters
    ----------
    origins_world, directions_world
        (n, 3) rays.
    times_s
        (n,) when they are sent [s].
    rows, velocities
        (m, 9) shapes at time 0 and (m, 3) how they move [m/s].
    ranges, cosines
        (n,) of the static scene; changed in place.
    """
    share(
        meet_some, len(origins_world), BLOCK_RAYS, origins_world, directions_world, times_s, rows,
        velocities, ranges, cosines,
    )  # fmt: skip


@njit()
def meet_some(
    begin: int, end: int, origins_world: Points, directions_world: Points, times_s: Floats,
    rows: Floats, velocities: Floats, ranges: Floats, cosines: Floats,
) -> None:  # fmt: skip
    """``meet_movers`` for some of the rays."""
    for i in range(begin, end):
        t = times_s[i]
        ux, uy, uz = directions_world[i, 0], directions_world[i, 1], directions_world[i, 2]
        for k in range(len(rows)):
            ox = origins_world[i, 0] - t * velocities[k, 0]
            oy = origins_world[i, 1] - t * velocities[k, 1]
            oz = origins_world[i, 2] - t * velocities[k, 2]
            enter, leave = shape_span(rows, k, 0.0, ox, oy, oz, ux, uy, uz)
            if enter <= leave and 0.0 < enter < ranges[i]:
                ranges[i] = enter
                cosines[i] = shape_incidence(Ray(ox, oy, oz, ux, uy, uz), enter, rows, k)
