# SPDX-License-Identifier: MIT
"""How much of the information along each direction is signal, and how much is noisy normals.

A normal that is only noisy still has a component along a corridor, and thousands of squares of
noise add up to information that does not exist: with H = Σ AA'/V and the covariance of every
normal, E = Σ B cov(n) B' / V of H is fake. What is real is H - E, the share ρ = 1 - E/H; of the
gradient the same share. A residual is made with the same noisy normal as its row, so that least
squares is not attenuated, as it would be in regression with noisy regressors, and nothing has to be
stretched back: ρ once, not twice. No factor is tuned: the heavy tail of the normals (edges, curves)
is inside cov(n), which rests on the lack of fit between cells of a patch.

The likelihood is then looked at in ``seen @ offset``, with seen² = ρ: an offset along a direction
with ρ = 0 is not seen at all and only the prior holds it, for every particle alike.
"""

from svnicp.arrays import Floats
from svnicp.kernels import curvature


def seen_offsets(hessian: Floats, fake: Floats) -> Floats:
    """Matrix (6, 6) whose square takes from an offset what only noisy normals would see of it.

    ``hessian`` is Σ w AA'/V, ``fake`` the part of it that noise in the normals makes up; both
    (6, 6) in the same tangent.
    """
    return curvature.seen_offsets(hessian, fake)
