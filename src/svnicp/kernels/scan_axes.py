# SPDX-License-Identifier: MIT
"""The axes of a scan, and how far what faces one of them vouches for what does not.

``kernels.facing`` takes its sums in these axes; ``registration.reliability`` says what they mean.
"""

import numpy as np

from svnicp.kernels.njit import njit
from svnicp.kernels.small import inverse3, symmetric_eigen
from svnicp.kernels.weights import robust_weight

WITNESSES = 20.0
"""As many surface points as face an axis vouch for half of what does not."""
TRACE = 1e-9
"""Share of the plain information that is left everywhere, so that nothing is singular."""


@njit()
def scan_axes(hessian):
    """Axes (3, 3), as columns, along which a scan sees positions independently, turns unknown."""
    turning = np.empty((3, 3))
    floor = TRACE * (hessian[3, 3] + hessian[4, 4] + hessian[5, 5])
    for i in range(3):
        for j in range(3):
            turning[i, j] = hessian[3 + i, 3 + j] + (floor if i == j else 0.0)
    turning = inverse3(turning)
    marginal = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            marginal[i, j] = hessian[i, j]
            for k in range(3):
                for m in range(3):
                    marginal[i, j] -= hessian[i, 3 + k] * turning[k, m] * hessian[j, 3 + m]
    for i in range(3):
        for j in range(i):
            marginal[i, j] = marginal[j, i] = 0.5 * (marginal[i, j] + marginal[j, i])
    return symmetric_eigen(marginal)[1]


@njit()
def vouched_shares(T, rows, chosen, normalised, kind, width, axes, facing, vouching):
    """How much (3,) of what does not face each axis counts because of what does.

    A few points that face it are no witnesses, however much they weigh: they may be a false plane.
    """
    from_target = axes_from_target(T, axes)
    faced, whole, squares = np.zeros(3), np.full(3, 1e-30), np.full(3, 1e-30)
    for index in range(len(chosen)):
        m = chosen[index]
        if m < 0:
            continue
        square = normalised[index] * normalised[index]
        precision = robust_weight(kind, square, width) * rows[index, m, 7]
        nx, ny, nz = rows[index, m, 3], rows[index, m, 4], rows[index, m, 5]
        for i in range(3):
            a = from_target[i, 0] * nx + from_target[i, 1] * ny + from_target[i, 2] * nz
            information, share = precision * a * a, counted_share(a, facing, 0.0)
            whole[i] += information
            faced[i] += share * share * information
            squares[i] += (share * share * information) ** 2
    for i in range(3):
        witnesses = faced[i] * faced[i] / squares[i]
        faced[i] = min(vouching * faced[i] / whole[i], 1.0) * witnesses / (witnesses + WITNESSES)
    return faced


@njit()
def axes_from_target(T, axes):
    """Rotation (3, 3) from the target's frame into the axes (3, 3) of a scan at the pose T."""
    out = np.zeros((3, 3))
    for k in range(3):
        for i in range(3):
            for j in range(3):
                out[i, j] += axes[k, i] * T[j, k]
    return out


@njit(inlined=True)
def counted_share(component, facing, vouched):
    """How much of a component of a normal counts."""
    share = component * component / (component * component + facing * facing + 1e-30)
    return share + vouched * (1.0 - share)
