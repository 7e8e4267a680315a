# SPDX-License-Identifier: MIT
"""What every baseline gets: a scan, the map it was registered in, the pose found, and the prior.

One type for all of them, so that they stand in one table with our own covariance, on the same
scans.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from svnicp.arrays import Covariance, Points, Transform
from svnicp.config import Config
from svnicp.local_map import VoxelMap
from svnicp.registration import RegistrationResult, register_in_map
from svnicp.registration.inputs import check_config, check_covariance, check_transform


@dataclass(frozen=True, eq=False)
class ScanInMap:
    """A registered scan.

    Raises
    ------
    InputError
        If a pose is not rigid, or the prior not a covariance.
    """

    source: Points
    """(n, 3) points in the sensor's frame [m]."""
    local_map: VoxelMap
    """What it was registered in; baselines may fit planes in it and add nothing."""
    T_target_source: Transform
    """(4, 4) the estimate, at which closed forms are taken."""
    T_guess: Transform
    """(4, 4) mean of the prior, from which a registration starts."""
    prior_covariance: Covariance
    """(6, 6) covariance of the guess in its body tangent."""
    config: Config
    """``prior.use`` says whether the estimate has the prior in it."""

    def __post_init__(self) -> None:
        checked = {
            "T_target_source": check_transform("T_target_source", self.T_target_source),
            "T_guess": check_transform("T_guess", self.T_guess),
            "prior_covariance": check_covariance("prior_covariance", self.prior_covariance),
            "config": check_config(self.config),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def started_from(self, T_guess: Transform, covariance: Covariance) -> ScanInMap:
        """The same scan with another guess (4, 4), as uncertain as the covariance (6, 6) says."""
        return dataclasses.replace(self, T_guess=T_guess, prior_covariance=covariance)


def registered(scan: ScanInMap, rng: np.random.Generator) -> RegistrationResult:
    """Our own registration of the scan from its guess, with all particles."""
    return register_in_map(
        scan.source, scan.local_map, T_target_source=scan.T_guess,
        prior_covariance=scan.prior_covariance, config=scan.config, rng=rng,
    )  # fmt: skip


def registered_mode(scan: ScanInMap, rng: np.random.Generator) -> RegistrationResult:
    """Classical ICP from the guess: Gauss-Newton on the same likelihood, without particles.

    What COV-3D and the published Monte-Carlo protocol repeat.
    """
    stein = dataclasses.replace(
        scan.config.stein, algorithm="gauss_newton", num_particles=1, start="laplace"
    )
    config = dataclasses.replace(scan.config, stein=stein)
    return registered(dataclasses.replace(scan, config=config), rng)
