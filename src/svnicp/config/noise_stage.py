# SPDX-License-Identifier: MIT
"""Parameters of what a match tells: its noise, robust weights, and what slips."""

from dataclasses import dataclass
from typing import Literal

from svnicp.config.checks import require, require_kinds


@dataclass(frozen=True, kw_only=True)
class NoiseConfig:
    """What a residual's variance is made of."""

    variance: Literal["physical", "unit"] = "physical"
    """Per-point variance from sensor, surface and plane fit, or 1 m² for all (the paper)."""
    range_noise_m: float = 0.02
    """Standard deviation of one range measurement, from the data sheet [m]."""
    floor_m: float = 0.001
    """No residual is trusted better than this [m]."""
    scale: Literal["residuals", "fixed"] = "residuals"
    """Multiply all variances by one factor per scan, estimated from the residuals."""
    weight: Literal["geman_mcclure", "cauchy_norm", "none"] = "geman_mcclure"
    """Robust weight: of the normalised square, (w/(w+|e|))² as in the release, or none."""
    weight_width: float = 3.0
    """Width of the robust weight, in standard deviations (physical) or metres (unit)."""
    debias_normals: bool = True
    """Discount information that noise in the normals fakes (errors in variables)."""
    facing: float = 0.1
    """A surface tells about an axis of the scan when the cosine between its normal and the axis is
    larger than this; smaller ones are taken for errors of the normal. 0: all count."""
    vouching: float = 0.0
    """Surfaces that run along an axis count after all as far as surfaces that face it vouch for
    them: by this many times the share of the information along it that comes from those, at most
    wholly. 0: nobody vouches. Odometry sets it: see ``odometry.vouching_with_imu``."""
    shared_tilt_rad: float = 0.0
    """All normals of a map may be tilted by this, because the scans that made it are not placed
    exactly [rad]. Odometry sets it, larger for a young map: see ``odometry.map_tilt_rad``."""
    slip_m: float = 0.0
    """A scan is moved this far along directions that it hardly knows and matched anew, to see
    whether it fits worse there [m]. 0: no. Odometry sets it: see ``odometry.slip_m``."""
    slip_from_m: float = 0.005
    """Directions that a scan knows better than this are not asked about [m]."""
    effective_points: float = 12000.0
    """Points beyond which a scan's errors stop averaging out, because the map is shared."""

    def __post_init__(self) -> None:
        require_kinds("noise", self)
        require(self.range_noise_m > 0, "noise.range_noise_m", "positive", self.range_noise_m)
        require(self.floor_m >= 0, "noise.floor_m", "not negative", self.floor_m)
        tilt = self.shared_tilt_rad
        require(tilt >= 0, "noise.shared_tilt_rad", "not negative", tilt)
        require(0 <= self.facing < 1, "noise.facing", "from 0 to 1", self.facing)
        require(self.vouching >= 0, "noise.vouching", "not negative", self.vouching)
        require(self.slip_m >= 0, "noise.slip_m", "not negative", self.slip_m)
        require(self.slip_from_m > 0, "noise.slip_from_m", "positive", self.slip_from_m)
        require(self.weight_width > 0, "noise.weight_width", "positive", self.weight_width)
        require(
            self.effective_points > 0, "noise.effective_points", "positive", self.effective_points
        )
