# SPDX-License-Identifier: MIT
"""The scenario suite as a table: one row per sequence of the paper, and four plain worlds.

A scenario is a world, a platform and a rig. It carries the name of the sequence it stands for and
degrades in the same way; durations are those of the paper, lengths those of the datasets. GEODE
does not publish lengths, so there they follow from a typical speed.
"""

import difflib
from dataclasses import dataclass

from svnicp.errors import InputError
from svnicp.simulation.platforms import PLATFORMS, Platform
from svnicp.simulation.rigs import RIGS, Rig
from svnicp.simulation.worlds import corridors, halls, outdoors, stairs, underground, water
from svnicp.simulation.worlds.world import Builder


@dataclass(frozen=True)
class Scenario:
    """What is simulated under a name."""

    name: str
    suite: str
    """Dataset whose sequence it stands for, or "plain"."""
    degrades: str
    """What makes it hard, in a few words."""
    build: Builder
    """Makes the world."""
    platform_name: str
    """Who carries the sensors, a name in ``PLATFORMS``."""
    rig_name: str
    """Which sensors, a name in ``RIGS``."""
    length_m: float
    """Length of the default run, to about a tenth [m]."""
    full_length_m: float
    """Length of the full run [m]."""
    full_duration_s: float
    """Time of the full run [s]."""
    duration_s: float = 60.0
    """Time of the default run, which is the beginning of the full one [s]."""
    wander_m: float = 0.15
    """How far the platform strays from the middle of its way [m]."""
    seen_from: str = "above"
    """Where a picture of it is taken from: "above" or the "side"."""

    @property
    def platform(self) -> Platform:
        """Who carries the sensors."""
        return PLATFORMS[self.platform_name]

    @property
    def rig(self) -> Rig:
        """Which sensors, and how they are mounted."""
        return RIGS[self.rig_name]

    @property
    def sensor(self) -> str:
        """Name of the LiDAR."""
        return self.rig.sensor

    @property
    def imu(self) -> str:
        """Name of the IMU."""
        return self.rig.imu


_SUBT_MRS = (
    Scenario(
        "urban", "SubT-MRS", "plain corridors, rows of equal shelves, people walking",
        corridors.urban, "ugv", "subt_ugv", 30.0, 441.9, 1680.2,
    ),
    Scenario(
        "tunnel", "SubT-MRS", "long drift, equal frames every 2.5 m",
        underground.tunnel, "ugv", "subt_ugv", 30.0, 493.7, 3425.4,
    ),
    Scenario(
        "cave", "SubT-MRS", "rough rock without a plane, thin dust",
        underground.cave, "ugv", "subt_ugv", 30.0, 593.8, 1786.1,
    ),
    Scenario(
        "nuclear1", "SubT-MRS", "plain concrete gallery, then a hall of equal columns",
        halls.nuclear1, "ugv", "subt_ugv", 30.0, 124.9, 513.0,
    ),
    Scenario(
        "nuclear2", "SubT-MRS", "long plain galleries, equal halls",
        halls.nuclear2, "ugv", "subt_ugv", 30.0, 1377.4, 3177.0,
    ),
    Scenario(
        "factory", "SubT-MRS", "fast flight, noisy IMU, no point times",
        halls.factory, "fast_drone", "tartanair", 160.0, 640.0, 160.6, 45.0, 0.4,
    ),
    Scenario(
        "ocean", "SubT-MRS", "few things in sight over a smooth bed, murky, noisy IMU",
        water.ocean, "drone", "tartanair", 140.0, 425.0, 127.4, 45.0, 0.4,
    ),
    Scenario(
        "sewerage", "SubT-MRS", "smooth pipe, inlets far apart, noisy IMU",
        underground.sewerage, "drone", "tartanair", 140.0, 426.0, 130.9, 45.0, 0.2,
    ),
    Scenario(
        "laurel_caverns", "SubT-MRS", "rough rock, sensor swung about",
        underground.laurel_caverns, "shaken_handheld", "subt_handheld", 40.0, 490.0, 955.3,
    ),
    Scenario(
        "long_corridor", "SubT-MRS", "only door recesses of 10 cm along the axis, none for 40 m",
        corridors.long_corridor, "rc_car", "subt_hawkins", 120.0, 616.0, 280.1,
    ),
    Scenario(
        "multi_floor", "SubT-MRS", "equal floors, narrow staircase, trotting gait",
        stairs.multi_floor, "legged", "subt_hawkins", 40.0, 270.0, 417.6, 60.0, 0.05, "side",
    ),
)  # fmt: skip

_GEODE = (
    Scenario(
        "offroad", "GEODE", "uneven ground, scattered trees, no walls",
        outdoors.offroad, "rough_ugv", "alpha", 55.0, 410.0, 426.6, 60.0, 0.3,
    ),
    Scenario(
        "uneven_tunnel", "GEODE", "smooth bore with equal arches, strong vibration, dust",
        underground.uneven_tunnel, "rough_ugv", "alpha", 55.0, 180.0, 244.3,
    ),
    Scenario(
        "waterway_short", "GEODE", "straight banks bare for 90 m, water without returns",
        water.waterway_short, "boat", "alpha", 105.0, 900.0, 472.0, 60.0, 3.0,
    ),
    Scenario(
        "waterway_long", "GEODE", "far banks bare for 300 m, water without returns",
        water.waterway_long, "boat", "alpha", 105.0, 3100.0, 1616.7, 60.0, 5.0,
    ),
    Scenario(
        "stair", "GEODE", "narrow staircase, every storey alike",
        stairs.stair, "handheld", "alpha", 35.0, 190.0, 345.5, 60.0, 0.05, "side",
    ),
    Scenario(
        "bridge", "GEODE", "equal panels every 8 m, fast, cars around",
        outdoors.bridge, "car", "alpha", 520.0, 5500.0, 382.5, 45.0, 0.4,
    ),
)  # fmt: skip

_PLAIN = (
    Scenario(
        "room", "plain", "nothing: every direction is well seen",
        halls.room, "handheld", "beta", 25.0, 80.0, 120.0, 40.0, 0.1,
    ),
    Scenario(
        "bare_corridor", "plain", "nothing to see along the axis",
        corridors.bare_corridor, "ugv", "beta", 20.0, 60.0, 120.0, 40.0,
    ),
    Scenario(
        "street", "plain", "people walking; otherwise well seen",
        outdoors.street, "rc_car", "beta", 80.0, 160.0, 80.0, 40.0, 0.5,
    ),
    Scenario(
        "flat_field", "plain", "a plane: position and heading are not seen",
        outdoors.flat_field, "rough_ugv", "beta", 35.0, 110.0, 120.0, 40.0, 0.5,
    ),
)  # fmt: skip

SCENARIOS: dict[str, Scenario] = {row.name: row for row in (*_SUBT_MRS, *_GEODE, *_PLAIN)}
"""Every scenario by name, in the order of the paper's tables."""


def scenario(name: str) -> Scenario:
    """Return the scenario of this name, or say which one may have been meant."""
    if name in SCENARIOS:
        return SCENARIOS[name]
    close = difflib.get_close_matches(name, SCENARIOS, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"choose one of {', '.join(SCENARIOS)}."
    raise InputError(f"There is no scenario {name!r}; {hint}")
