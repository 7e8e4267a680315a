# SPDX-License-Identifier: MIT
"""Names for the array types that cross module borders; shapes are in the docstrings."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
"""Any float64 array."""

Points: TypeAlias = npt.NDArray[np.float64]
"""(n, 3) positions in metres."""

Transform: TypeAlias = npt.NDArray[np.float64]
"""(4, 4) or (..., 4, 4) rigid transforms; ``T_a_b`` maps b-coordinates into a."""

Tangent: TypeAlias = npt.NDArray[np.float64]
"""(6,) or (..., 6) tangent vectors: translation [m], then rotation [rad]."""

Covariance: TypeAlias = npt.NDArray[np.float64]
"""(6, 6) or (..., 6, 6) covariances in the right (body) tangent, translation first."""

Integers: TypeAlias = npt.NDArray[np.int64]
"""Any int64 array."""
