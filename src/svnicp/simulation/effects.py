# SPDX-License-Identifier: MIT
"""What happens to beams between the sensor and the world: noise, fading, fog, dust, loss.

In: exact ranges and incidences. Out: which beams return, and at which range. A beam's echo fades
with the square of the range, with the cosine of incidence, and with what it passes through twice;
a part of what fog and dust take away comes back early, as points in mid-air.
"""

from dataclasses import dataclass

import numpy as np

from svnicp.arrays import Floats, Points
from svnicp.errors import ConfigError

SHARPNESS = 3.0
"""How abruptly returns vanish: a beam with half the echo of an even chance returns 1 time in 9."""
VISIBLE_CONTRAST = 3.0
"""Visibility times extinction: contrast has dropped to 5 percent."""


@dataclass(frozen=True)
class DustCloud:
    """A ball of dust that hangs in the air."""

    centre: tuple[float, float, float]
    """In the world [m]."""
    radius_m: float
    """Size [m]."""
    visibility_m: float
    """How far one could see in such dust [m]."""


@dataclass(frozen=True)
class Effects:
    """What happens to beams.

    Parameters
    ----------
    range_noise_m
        Standard deviation of a range; None for the sensor's own [m].
    fading
        Whether weak echoes (far, grazing, through fog) get lost.
    dropout_fraction
        Share of the beams that get lost for no reason.
    fog_visibility_m
        How far one can see through the air; infinity for clear air [m].
    dust
        Clouds of dust.
    early_return_share
        Share of the beams stopped by fog or dust that come back from there as points.
    """

    range_noise_m: float | None = None
    fading: bool = True
    dropout_fraction: float = 0.0
    fog_visibility_m: float = np.inf
    dust: tuple[DustCloud, ...] = ()
    early_return_share: float = 0.05

    def __post_init__(self) -> None:
        shares = (self.dropout_fraction, self.early_return_share)
        if not all(0.0 <= share <= 1.0 for share in shares):
            raise ConfigError(
                "dropout_fraction and early_return_share must be between 0 and 1, got "
                f"{self.dropout_fraction} and {self.early_return_share}."
            )
        visibilities = [self.fog_visibility_m, *(cloud.visibility_m for cloud in self.dust)]
        if not all(visibility > 0.0 for visibility in visibilities):
            raise ConfigError("A visibility must be positive.")
        if self.range_noise_m is not None and not self.range_noise_m >= 0.0:
            raise ConfigError(f"range_noise_m must not be negative, got {self.range_noise_m}.")

    @classmethod
    def none(cls) -> "Effects":
        """Return perfect measurements: every beam that hits something returns, without noise."""
        return cls(range_noise_m=0.0, fading=False)


def measured_ranges(
    effects: Effects,
    origins_world: Points,
    directions_world: Points,
    ranges: Floats,
    cosines: Floats,
    max_range_m: float,
    range_noise_m: float,
    rng: np.random.Generator,
) -> Floats:
    """Return the (n,) ranges that are measured [m], infinity where nothing returns.

    Parameters
    ----------
    effects
        What happens to beams.
    origins_world, directions_world
        (n, 3) rays.
    ranges, cosines
        (n,) exact ranges, infinity for none [m], and cosines of incidence.
    max_range_m, range_noise_m
        Of the sensor [m].
    rng
        Source of chance; always asked for the same number of values.
    """
    num_rays = len(ranges)
    depths, early = _through_air(effects, origins_world, directions_world, ranges, rng)
    chance, chance_of_loss, noise = (
        rng.random(num_rays),
        rng.random(num_rays),
        rng.standard_normal(num_rays),
    )
    measured = ranges
    if effects.fading:
        returned = return_probability(ranges, cosines, depths, max_range_m)
        measured = np.where(chance < returned, ranges, np.inf)
    measured = np.minimum(measured, early)
    measured = np.where(chance_of_loss < effects.dropout_fraction, np.inf, measured)
    sigma = range_noise_m if effects.range_noise_m is None else effects.range_noise_m
    return measured + sigma * noise


def return_probability(
    ranges: Floats, cosines: Floats, depths: Floats, max_range_m: float
) -> Floats:
    """Return the (n,) probabilities that beams return.

    Parameters
    ----------
    ranges, cosines
        (n,) ranges [m] and cosines of incidence.
    depths
        (n,) optical depth of the air on the way there: the beam is weakened by exp(-depth).
    max_range_m
        Where half of the beams return from a surface at right angles in clear air [m].
    """
    echo = (max_range_m / np.maximum(ranges, 1e-3)) ** 2 * cosines * np.exp(-2.0 * depths)
    strength = echo**SHARPNESS
    return np.where(np.isfinite(ranges), strength / (1.0 + strength), 0.0)


def _through_air(
    effects: Effects,
    origins_world: Points,
    directions_world: Points,
    ranges: Floats,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """Return the optical depth up to each range, and the range of an early return or infinity.

    The free path in a medium is exponential, independently of the other media.
    """
    depths = np.zeros(len(ranges))
    early = np.full(len(ranges), np.inf)
    spans = [(np.zeros(len(ranges)), ranges, effects.fog_visibility_m)]
    for cloud in effects.dust:
        enter, leave = _ball_spans(cloud, origins_world, directions_world)
        spans.append((np.maximum(enter, 0.0), np.minimum(leave, ranges), cloud.visibility_m))
    for enter, leave, visibility in spans:
        if np.isinf(visibility):
            continue
        extinction = VISIBLE_CONTRAST / visibility
        inside = np.maximum(leave - enter, 0.0)
        depths += extinction * inside
        free_path = rng.standard_exponential(len(ranges)) / extinction
        seen = rng.random(len(ranges)) < effects.early_return_share
        stopped = seen & (free_path < inside)
        early = np.where(stopped, np.minimum(early, enter + free_path), early)
    return depths, early


def _ball_spans(
    cloud: DustCloud, origins_world: Points, directions_world: Points
) -> tuple[Floats, Floats]:
    """Return the (n,) ranges at which rays enter and leave a ball; both 0 when missed."""
    offset = origins_world - cloud.centre
    along = -np.sum(offset * directions_world, axis=1)
    half_squared = cloud.radius_m**2 - np.sum(offset**2, axis=1) + along**2
    half = np.sqrt(np.maximum(half_squared, 0.0))
    hit = half_squared > 0.0
    return np.where(hit, along - half, 0.0), np.where(hit, along + half, 0.0)
