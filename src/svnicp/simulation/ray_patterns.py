# SPDX-License-Identifier: MIT
"""LiDARs as data: which rays a sensor sends in each scan, and when.

``SpinningLidar`` turns a column of rings about z, ``RosetteLidar`` steers one bundle of beams
through two turning prisms so that no scan repeats another. Frames: x forward, y left, z up.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from svnicp.arrays import Floats, Integers, Points
from svnicp.errors import ConfigError


@dataclass(frozen=True, eq=False)
class Shots:
    """The rays of one scan, in the order in which they are fired."""

    directions: Points
    """(n, 3) unit vectors in the LiDAR frame."""
    times_s: Floats
    """(n,) after the start of the scan [s]."""
    rings: Integers
    """(n,) number of the laser, counted from the lowest."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Lidar(ABC):
    """What all LiDARs have."""

    name: str
    """What the sensor is called."""
    rate_hz: float = 10.0
    """Scans per second [Hz]."""
    min_range_m: float
    """Nearer than this nothing is measured [m]."""
    max_range_m: float
    """A surface at right angles returns half of the beams at this range [m]."""
    range_noise_m: float
    """Standard deviation of a range [m]."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.min_range_m < self.max_range_m:
            raise ConfigError(
                f"The ranges of {self.name} must satisfy 0 <= min_range_m < max_range_m, "
                f"got {self.min_range_m} and {self.max_range_m}."
            )
        if not self.rate_hz > 0.0 or self.range_noise_m < 0.0:
            raise ConfigError(
                f"{self.name} needs a positive rate_hz and a range_noise_m that is not negative."
            )

    @abstractmethod
    def shots(self, scan: int) -> Shots:
        """Return the rays of a scan, counted from 0."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SpinningLidar(Lidar):
    """A column of rings that turns about z, clockwise as seen from above."""

    elevations_rad: Floats
    """(num_rings,) from the lowest ring to the highest [rad]."""
    num_columns: int
    """Firings of all rings per turn."""
    ring_delays_s: Floats
    """(num_rings,) when a ring fires within its column [s]."""
    ring_azimuths_rad: Floats
    """(num_rings,) by how much a ring looks to the left of its column [rad]."""

    @cached_property
    def _turn(self) -> Shots:
        """All turns are alike."""
        column_s = 1.0 / (self.rate_hz * self.num_columns)
        rings = np.argsort(self.ring_delays_s, kind="stable")
        starts = np.arange(self.num_columns)[:, None] * column_s
        times = (starts + self.ring_delays_s[rings]).ravel()
        rings = np.tile(rings, self.num_columns)
        turned = -2.0 * np.pi * self.rate_hz * times
        azimuths = turned + self.ring_azimuths_rad[rings]
        elevations = self.elevations_rad[rings]
        horizontal = np.cos(elevations)
        directions = np.column_stack(
            [horizontal * np.cos(azimuths), horizontal * np.sin(azimuths), np.sin(elevations)]
        )
        return Shots(directions, times, rings)

    def shots(self, scan: int) -> Shots:
        """Return the rays of a scan; every turn has the same."""
        del scan
        return self._turn


@dataclass(frozen=True, eq=False, kw_only=True)
class RosetteLidar(Lidar):
    """A bundle of beams, steered along a rosette by two prisms that turn at unrelated speeds.

    Each prism bends the beam by its own angle, so the beam wanders between their difference and
    their sum off the axis. The bundle itself is a short row of beams across the forward axis.
    """

    num_beams: int
    """Beams that fire together."""
    firings_per_s: float
    """How often they fire [Hz]."""
    prism_rad: tuple[float, float]
    """How much each prism bends the beam [rad]."""
    prism_hz: tuple[float, float]
    """Turns per second of each prism; opposite signs turn against each other [Hz]."""
    beam_step_rad: float
    """Angle from one beam of the row to the next, upwards [rad]."""
    stretch: tuple[float, float] = (1.0, 1.0)
    """Factors on the horizontal and the vertical angle, as the field of view is not quite round."""

    def shots(self, scan: int) -> Shots:
        """Return the rays of a scan; the rosette goes on where the scan before left it."""
        per_scan = round(self.firings_per_s / self.rate_hz)
        firing_times = np.arange(per_scan) / self.firings_per_s
        times = scan / self.rate_hz + firing_times
        horizontal, vertical = np.zeros(per_scan), np.zeros(per_scan)
        for bend, speed in zip(self.prism_rad, self.prism_hz, strict=True):
            phase = 2.0 * np.pi * np.mod(speed * times, 1.0)
            horizontal += self.stretch[0] * bend * np.cos(phase)
            vertical += self.stretch[1] * bend * np.sin(phase)
        row = (np.arange(self.num_beams) - 0.5 * (self.num_beams - 1)) * self.beam_step_rad
        vertical = (vertical[:, None] + row).ravel()
        horizontal = np.repeat(horizontal, self.num_beams)
        directions = np.column_stack(
            [
                np.cos(vertical) * np.cos(horizontal),
                np.cos(vertical) * np.sin(horizontal),
                np.sin(vertical),
            ]
        )
        rings = np.tile(np.arange(self.num_beams), per_scan)
        return Shots(directions, np.repeat(firing_times, self.num_beams), rings)
