# SPDX-License-Identifier: MIT
"""A patch as the parabola that it is, rather than the plane through it.

Rock, pipes and dunes bend by centimetres within a patch. Matched with its plane, every point is off
by what the surface bends there, and all points alike: that does not average out. So the quadratic
part of the fit is kept, as far as noise and a third order (an edge) do not explain it, and a point
is matched with the tangent plane of the parabola where it lies.
"""

import numpy as np

from svnicp.kernels.bending import NUM_QUADRATIC, SLOPES, SOLUTION
from svnicp.kernels.njit import njit

HEIGHT, SLOPE, CURVE, CURVE_VAR = 17, 18, 21, 27
"""Fields of a plane record: height of the parabola over the plane at the centroid [m], its slope
there (3,), half its second derivatives, xx xy xz yy yz zz [1/m], and the variance of the slope that
they lead to, by the square of the distance [1/m²]."""
NUM_FIELDS = 28
NOISY, FEW = 6.0, 25.0
"""Curvature must explain this many times the noise, and with few degrees of freedom, of which the
noise is known little, more by this over their number: no plane must seem to be bent by chance."""
DOUBT = 4.0
"""Variance of a curvature over what independent noise would leave: neighbours share theirs."""
CUBIC = 0.5
"""Share of what the third order explains that counts against a parabola."""
LINES = 0.25
"""Shares of squares that must be their own: lines that are too few for a parabola have less."""
STEEPEST = 0.3
"""A parabola that is steeper than this against its plane is none."""


@njit(borrows=True)
def write_bend(plane, work, vectors, radius, scatter, count, told):
    """Write the parabola of a patch into its record; zeros where there is none.

    ``work`` as ``bending`` and then ``solve_quadratic`` leave it; ``vectors`` (3, 3) the patch's
    axes (normal, width, length) in columns; ``scatter`` is the sum of squares about the plane of
    all ``count`` arrivals; ``told`` the lesser of the shares of squares that are their own.
    """
    for field in range(HEIGHT, NUM_FIELDS):
        plane[field] = 0.0
    share, noise_var = _share(work, scatter, count)
    if share <= 0.0 or told < LINES:
        return
    plane[CURVE_VAR] = DOUBT * noise_var * _widest(work) / radius**4
    plane[HEIGHT] = share * work[0, SLOPES]
    slope, curve = share / radius, share / (radius * radius)
    field = CURVE
    for i in range(3):
        w, v = vectors[i, 1], vectors[i, 2]
        plane[SLOPE + i] = slope * (work[1, SLOPES] * w + work[2, SLOPES] * v)
        for j in range(i, 3):
            plane[field] = curve * (
                work[3, SLOPES] * w * vectors[j, 1]
                + 0.5 * work[4, SLOPES] * (w * vectors[j, 2] + v * vectors[j, 1])
                + work[5, SLOPES] * v * vectors[j, 2]
            )
            field += 1


@njit(borrows=True)
def _share(work, scatter, count):
    """How much of the quadratic terms is neither noise nor an edge, and the noise's variance."""
    squared = work[3, SOLUTION] ** 2 + work[4, SOLUTION] ** 2 + work[5, SOLUTION] ** 2
    cubed = work[6, SOLUTION] ** 2 + work[7, SOLUTION] ** 2
    cubed += work[8, SOLUTION] ** 2 + work[9, SOLUTION] ** 2
    freedom = max(count - NUM_QUADRATIC, 1.0)
    noise_var = max(scatter - squared, 1e-12) / freedom
    against = NOISY * (1.0 + FEW / freedom) * noise_var + CUBIC * cubed / 4.0
    return 1.0 - against / max(squared / 3.0, 1e-12), noise_var


@njit(borrows=True)
def _widest(work):
    """Largest variance of a second derivative (w w, w v, v v) by noise of variance one.

    By the triangular factor in ``work``, whose diagonal is inverted. Rings leave some directions
    hardly known.
    """
    a, b, c = work[3, 3], work[4, 4], work[5, 5]
    along, mixed = work[3, 4] * b, work[4, 5] * c
    far = along * mixed - work[3, 5] * c
    by_width = 4.0 * a * a * (1.0 + along * along + far * far)
    by_both = b * b * (1.0 + mixed * mixed)
    return max(by_width, by_both, 4.0 * c * c)


@njit(borrows=True)
def bend_row(plane, centre, away, row):
    """Turn normal and offset of a row (8,) into those of the parabola's tangent plane.

    ``centre`` (3,) is the patch's centroid and ``away`` (3,) where the point lies from there.
    Returns the variance of the tangent plane's slope that its curvature brings [rad²].
    """
    if plane[HEIGHT] == 0.0:
        return 0.0
    nx, ny, nz = row[3], row[4], row[5]
    across = nx * away[0] + ny * away[1] + nz * away[2]
    x, y, z = away[0] - across * nx, away[1] - across * ny, away[2] - across * nz
    c = plane[CURVE : CURVE + 6]
    cx = c[0] * x + c[1] * y + c[2] * z
    cy = c[1] * x + c[3] * y + c[4] * z
    cz = c[2] * x + c[4] * y + c[5] * z
    sx, sy, sz = plane[SLOPE], plane[SLOPE + 1], plane[SLOPE + 2]
    height = plane[HEIGHT] + (sx + cx) * x + (sy + cy) * y + (sz + cz) * z
    gx, gy, gz = sx + 2.0 * cx, sy + 2.0 * cy, sz + 2.0 * cz
    if gx * gx + gy * gy + gz * gz > STEEPEST * STEEPEST:
        return 0.0
    tx, ty, tz = nx - gx, ny - gy, nz - gz
    length = np.sqrt(tx * tx + ty * ty + tz * tz)
    row[3], row[4], row[5] = tx / length, ty / length, tz / length
    row[6] = (
        tx * (centre[0] + x + height * nx)
        + ty * (centre[1] + y + height * ny)
        + tz * (centre[2] + z + height * nz)
    ) / length
    return plane[CURVE_VAR] * (x * x + y * y + z * z)
