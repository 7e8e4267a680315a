# SPDX-License-Identifier: MIT
"""A patch as the parabola that it is, rather than the plane through it.

Rock, pipes and dunes bend by centimetres within a patch. Matched with its plane, every point is off
by what the surface bends there, and all points alike: that does not average out. So the quadratic
part of the fit is kept. A point's height is taken over the parabola wherever that is known better
than one beam measures, for a bias of all heights is worse than a little noise in each. Its normal
is that of the tangent plane as far as neither noise nor a third order (an edge) explains the bend:
what noise bends must not face along a corridor.
"""

import numpy as np

from svnicp.kernels.bending import NUM_QUADRATIC, SLOPES, SOLUTION
from svnicp.kernels.njit import njit

AXIS, SLOPE, CURVE, SQUARES, CURVE_COV, SHARE = 17, 20, 22, 25, 27, 33
"""Fields of a plane record: axis along the width (3,), w; v is the normal times that. Slope of the
parabola at the centroid along w and v (2,), half its second derivatives w w, w v, v v (3,) [1/m],
mean squares of w and v over all arrivals (2,) [m²], covariance of the second derivatives by noise,
upper triangle (6,) [1/m²], and the share of the bend that the normal follows."""
NUM_FIELDS = 34
NOISY, FEW = 6.0, 25.0
"""To turn normals, curvature must explain this many times the noise, and with few degrees of
freedom, of which the noise is known little, more by this over their number: no plane must seem to
be bent by chance."""
DOUBT = 16.0
"""Variance of a slope by curvature over what independent noise would leave: noise moves points
along their beams, and with them a whole ring uphill or downhill."""
CUBIC = 0.5
"""Share of what the third order explains that counts against a parabola."""
LINES = 0.25
"""Shares of squares that must be their own: lines that are too few for a parabola have less."""
STEEPEST = 0.3
"""A surface that turns by more than this [rad] within its patch (root mean square) is no parabola:
a bar, an edge."""
BEAM_SHARE = 0.1
"""Variance of a parabola's height, over that of one beam, up to which most of it is used whether
or not noise explains it."""
WITHIN = 2.0
"""Standard deviations of a patch up to which its parabola goes; beyond it goes on straight."""


@njit()
def write_bend(plane, work, vectors, radius, values, count, told):
    """Write the parabola of a patch into its record; returns the share that its normals follow.

    What turns too much is left a plane, whose lack of fit says how bad a one it is.

    ``work`` as ``bending`` and then ``solve_quadratic`` leave it; ``vectors`` (3, 3) the patch's
    axes (normal, width, length) in columns; ``values`` (3,) are the sums of squares of all
    ``count`` arrivals along them; ``told`` the lesser of the shares of squares that are their own.
    """
    share, noise_var = _share(work, values[0], count)
    share = max(share, 0.0) if told >= LINES else 0.0
    for field in range(SLOPE, NUM_FIELDS):
        plane[field] = 0.0
    for i in range(3):
        plane[AXIS + i] = vectors[i, 1]
    if share * share * _turning(work, values, count, radius) > STEEPEST * STEEPEST:
        return 0.0
    plane[SHARE] = share
    sign = _handedness(vectors)
    scale = 1.0 / radius
    plane[SLOPE], plane[SLOPE + 1] = scale * work[1, SLOPES], sign * scale * work[2, SLOPES]
    scale *= scale
    plane[CURVE], plane[CURVE + 2] = scale * work[3, SLOPES], scale * work[5, SLOPES]
    plane[CURVE + 1] = sign * scale * work[4, SLOPES]
    plane[SQUARES], plane[SQUARES + 1] = values[1] / count, values[2] / count
    # By the triangular factor in ``work``, whose diagonal is inverted.
    a, b, c = work[3, 3], work[4, 4], work[5, 5]
    along, mixed = work[3, 4] * b, work[4, 5] * c
    far = along * mixed - work[3, 5] * c
    var = noise_var * scale * scale
    plane[CURVE_COV] = var * a * a * (1.0 + along * along + far * far)
    plane[CURVE_COV + 1] = -sign * var * a * b * (along + far * mixed)
    plane[CURVE_COV + 2] = var * a * c * far
    plane[CURVE_COV + 3] = var * b * b * (1.0 + mixed * mixed)
    plane[CURVE_COV + 4] = -sign * var * b * c * mixed
    plane[CURVE_COV + 5] = var * c * c
    return share


@njit()
def _handedness(vectors):
    """1 if the third column is the first one times the second, -1 if it is against that."""
    out = 0.0
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        out += (vectors[j, 0] * vectors[k, 1] - vectors[k, 0] * vectors[j, 1]) * vectors[i, 2]
    return 1.0 if out > 0.0 else -1.0


@njit()
def _turning(work, values, count, radius):
    """Mean square of the change of a parabola's slope within its patch."""
    a, b, c = work[3, SLOPES], work[4, SLOPES], work[5, SLOPES]
    turns = (4.0 * a * a + b * b) * values[1] + (b * b + 4.0 * c * c) * values[2]
    return turns / (count * radius**4)


@njit()
def _share(work, scatter, count):
    """How much of the quadratic terms is neither noise nor an edge, and the noise's variance."""
    squared = work[3, SOLUTION] ** 2 + work[4, SOLUTION] ** 2 + work[5, SOLUTION] ** 2
    cubed = work[6, SOLUTION] ** 2 + work[7, SOLUTION] ** 2
    cubed += work[8, SOLUTION] ** 2 + work[9, SOLUTION] ** 2
    freedom = max(count - NUM_QUADRATIC, 1.0)
    noise_var = max(scatter - squared, 1e-12) / freedom
    against = NOISY * (1.0 + FEW / freedom) * noise_var + CUBIC * cubed / 4.0
    return 1.0 - against / max(squared / 3.0, 1e-12), noise_var


@njit()
def bend_row(plane, centre, away, beam_var, row, normal_cov):
    """Turn normal and offset of a row (8,) into those of the parabola's tangent plane.

    ``centre`` (3,) is the patch's centroid and ``away`` (3,) where the point lies from there;
    ``beam_var`` the variance of one beam's height [m²]. Adds what curvature brings to the
    covariance of the normal (6,) [rad²], and returns the variance of the height by it [m²].
    """
    nx, ny, nz = row[3], row[4], row[5]
    wx, wy, wz = plane[AXIS], plane[AXIS + 1], plane[AXIS + 2]
    vx, vy, vz = ny * wz - nz * wy, nz * wx - nx * wz, nx * wy - ny * wx
    end_w, end_v = WITHIN * np.sqrt(plane[SQUARES]), WITHIN * np.sqrt(plane[SQUARES + 1])
    w = min(max(wx * away[0] + wy * away[1] + wz * away[2], -end_w), end_w)
    v = min(max(vx * away[0] + vy * away[1] + vz * away[2], -end_v), end_v)
    a, b, c = plane[CURVE], plane[CURVE + 1], plane[CURVE + 2]
    slope_w, slope_v, share = plane[SLOPE], plane[SLOPE + 1], plane[SHARE]
    # Cells bend as well, so that their means are off the surface. The mean of all arrivals is
    # that of the plane: hence heights over their mean square, not over the fit to the cells.
    p, q, r = w * w - plane[SQUARES], w * v, v * v - plane[SQUARES + 1]
    aa, ab, ac = plane[CURVE_COV], plane[CURVE_COV + 1], plane[CURVE_COV + 2]
    bb, bc, cc = plane[CURVE_COV + 3], plane[CURVE_COV + 4], plane[CURVE_COV + 5]
    height_var = p * p * aa + q * q * bb + r * r * cc + 2.0 * (p * q * ab + p * r * ac + q * r * bc)
    used = max(share, BEAM_SHARE * beam_var / (BEAM_SHARE * beam_var + height_var))
    height = used * (slope_w * w + slope_v * v + a * p + b * q + c * r)
    gw = share * (slope_w + 2.0 * a * w + b * v)
    gv = share * (slope_v + b * w + 2.0 * c * v)
    tx, ty, tz = nx - gw * wx - gv * vx, ny - gw * wy - gv * vy, nz - gw * wz - gv * vz
    length = np.sqrt(tx * tx + ty * ty + tz * tz)
    row[3], row[4], row[5] = tx / length, ty / length, tz / length
    row[6] = (
        tx * (centre[0] + w * wx + v * vx + height * nx)
        + ty * (centre[1] + w * wy + v * vy + height * ny)
        + tz * (centre[2] + w * wz + v * vz + height * nz)
    ) / length
    if share > 0.0:
        doubt = DOUBT * share * share
        ww = doubt * (4.0 * w * w * aa + 4.0 * w * v * ab + v * v * bb)
        wv = doubt * (2.0 * w * w * ab + w * v * (4.0 * ac + bb) + 2.0 * v * v * bc)
        vv = doubt * (w * w * bb + 4.0 * w * v * bc + 4.0 * v * v * cc)
        _add_slopes(normal_cov, ww, wv, vv, (wx, wy, wz), (vx, vy, vz))
    return used * used * height_var


@njit(inlined=True)
def _add_slopes(normal_cov, ww, wv, vv, w, v):
    """Add the covariance of slopes along two axes to that of a normal (6,)."""
    field = 0
    for i in range(3):
        along_w, along_v = ww * w[i] + wv * v[i], wv * w[i] + vv * v[i]
        for j in range(i, 3):
            normal_cov[field] += along_w * w[j] + along_v * v[j]
            field += 1
