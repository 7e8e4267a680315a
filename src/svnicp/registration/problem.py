# SPDX-License-Identifier: MIT
"""One registration as numbers: points, candidates, noise and prior around a reference pose.

``Problem`` is all that the Stein algorithms see, through the verbs of a backend
(``registration.backend``). The negative log posterior at offset x is

    efficiency * ½ Σ ρ(r(seen x)² / V) + prior(x).
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from svnicp.arrays import Floats, Transform
from svnicp.registration.prior import Prior
from svnicp.registration.robust import Efficiency


class Problem(NamedTuple):
    """Posterior of one scan around a reference pose."""

    T_reference: Transform
    """(4, 4) reference pose, relative to ``origin``."""
    origin: Floats
    """(3,) local origin of all coordinates in the target frame [m]."""
    points: npt.NDArray[np.float32]
    """(N, 3) source points [m]."""
    rows: npt.NDArray[np.float32]
    """(N, M, 8) candidates, see ``kernels.linearise``."""
    max_distance_m: float
    """Matches farther than this are rejected."""
    weight: int
    """Kind of robust weight."""
    weight_width: float
    """Width of the robust weight."""
    seen: Floats
    """(6, 6) what the likelihood sees of an offset, see ``registration.reliability``."""
    efficiency: Efficiency
    """Factors of gradient and Hessian."""
    prior: Prior
    """Gaussian prior seen from the reference."""
