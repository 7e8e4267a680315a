# SPDX-License-Identifier: MIT
"""How much of the information along each direction is signal, and how much is noisy normals.

A normal that is only noisy still has a component along a corridor, and thousands of squares of
noise add up to information that does not exist. Two steps take it away.

Facing. A surface tells about an axis that it faces, and nothing about one that it runs along: the
small component of its normal is mostly error, which no count of points averages out (too few rings
on it, an edge near, somebody who walked by). And such errors move with the sensor: a patch is
where a ring was, and holds the next ring back. Along each axis of the scan (``scan_axes``) the
component a of every normal is shrunk to s a, with s = a² / (a² + facing²); of information and
gradient s² is left.

Errors in variables. With H = Σ AA'/V of what is left and the covariance of every normal,
E = Σ B cov(n) B' / V of it is fake. What is real is H - E, the share ρ = 1 - E/H; of the gradient
the same share. A residual is made with the same noisy normal as its row, so that least squares is
not attenuated, as it would be in regression with noisy regressors, and nothing has to be stretched
back: ρ once, not twice.

The likelihood is then looked at in ``seen @ offset``, so that seen' H seen is what is real: an
offset along a direction that is not seen at all is held by the prior only, for every particle
alike.
"""

from svnicp.kernels.curvature import seen_offsets
from svnicp.kernels.facing import reliable_part

__all__ = ["reliable_part", "seen_offsets"]
