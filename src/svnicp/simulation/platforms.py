# SPDX-License-Identifier: MIT
"""Who carries the sensors: how fast it goes, how high they sit, and how it shakes them.

Numbers only; ``travel`` makes a motion of them. Amplitudes are standard deviations in the axes of
the body (x forward, y left, z up; roll, pitch, yaw).
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

Triple: TypeAlias = tuple[float, float, float]


@dataclass(frozen=True)
class Sway:
    """One kind of shaking: a sum of sines with frequencies in a band."""

    band_hz: tuple[float, float]
    """Lowest and highest frequency [Hz]; one sine where both are the same."""
    position_m: Triple = (0.0, 0.0, 0.0)
    """Standard deviation forward, to the left, up [m]."""
    rotation_deg: Triple = (0.0, 0.0, 0.0)
    """Standard deviation of roll, pitch and yaw [deg]."""
    always: bool = False
    """Whether it goes on at rest, as for a boat; otherwise it grows with the speed."""

    @property
    def rotation_rad(self) -> Triple:
        """Standard deviation of roll, pitch and yaw [rad]."""
        roll, pitch, yaw = np.radians(self.rotation_deg)
        return float(roll), float(pitch), float(yaw)


@dataclass(frozen=True)
class Platform:
    """A vehicle, an animal of metal, or a person."""

    name: str
    speed_mps: float
    """Cruising speed; lower where the length and time of a recording ask for it [m/s]."""
    height_m: float
    """Height of the body (the IMU) above the floor; 0 for what flies, whose way is in the air."""
    sways: tuple[Sway, ...]
    ramp_s: float = 1.5
    """Time to get up to speed [s]."""
    sideways_mps2: float = 1.5
    """It slows down where a bend would ask for more acceleration than this [m/s^2]."""
    follows_slope: bool = False
    """Whether it pitches with the ground."""
    leans: bool = False
    """Whether it tilts into its acceleration, as a multicopter must."""

    @property
    def stands_still(self) -> bool:
        """Whether it is at rest at the start; what flies hovers and what floats rocks."""
        return not any(sway.always for sway in self.sways)


def _drone(speed_mps: float) -> Platform:
    sways = (
        Sway((0.2, 0.7), (0.04, 0.04, 0.03), (1.0, 1.0, 2.0), always=True),
        Sway((2.0, 6.0), (0.0005, 0.0005, 0.0005), (0.3, 0.3, 0.1), always=True),
    )
    return Platform("drone", speed_mps, 0.0, sways, 2.0, 4.0, leans=True)


PLATFORMS: dict[str, Platform] = {
    "ugv": Platform(
        "UGV",
        0.55,
        0.8,
        (
            Sway((0.3, 1.2), (0.0, 0.004, 0.002), (0.4, 0.5, 0.4)),
            Sway((5.0, 9.0), (0.0001, 0.0001, 0.0002), (0.03, 0.03, 0.01)),
        ),
        follows_slope=True,
    ),
    "rough_ugv": Platform(
        "UGV",
        1.0,
        0.9,
        (
            Sway((0.4, 2.0), (0.0, 0.01, 0.012), (1.5, 1.2, 0.6)),
            Sway((4.0, 9.0), (0.0005, 0.0005, 0.001), (0.15, 0.15, 0.06)),
        ),
        follows_slope=True,
    ),
    "rc_car": Platform(
        "RC car",
        2.3,
        0.4,
        (
            Sway((0.5, 2.0), (0.0, 0.01, 0.002), (0.5, 0.4, 0.6)),
            Sway((5.0, 9.0), (0.0002, 0.0002, 0.0004), (0.06, 0.06, 0.03)),
        ),
        sideways_mps2=2.5,
    ),
    "handheld": Platform(
        "handheld",
        0.75,
        1.3,
        (
            Sway((1.8, 1.8), (0.008, 0.006, 0.018), (0.8, 0.9, 0.6)),
            Sway((0.9, 0.9), (0.0, 0.015, 0.0), (0.8, 0.0, 0.8)),
            Sway((0.15, 0.6), (0.01, 0.02, 0.02), (3.0, 3.0, 6.0)),
        ),
    ),
    "shaken_handheld": Platform(
        "handheld",
        0.75,
        1.3,
        (
            Sway((1.8, 1.8), (0.01, 0.01, 0.022), (1.2, 1.5, 1.0)),
            Sway((0.9, 0.9), (0.0, 0.02, 0.0), (1.2, 0.0, 1.5)),
            Sway((0.2, 0.9), (0.02, 0.04, 0.03), (6.0, 7.0, 18.0)),
        ),
    ),
    "legged": Platform(
        "legged robot",
        0.75,
        0.6,
        (
            Sway((2.2, 2.2), (0.004, 0.006, 0.009), (0.8, 0.9, 0.4)),
            Sway((4.4, 4.4), (0.001, 0.001, 0.003), (0.2, 0.3, 0.1)),
            Sway((0.2, 0.8), (0.0, 0.01, 0.003), (0.7, 0.7, 1.5)),
        ),
        follows_slope=True,
    ),
    "boat": Platform(
        "sailboat",
        2.0,
        2.2,
        (
            Sway((0.18, 0.45), (0.05, 0.08, 0.06), (3.0, 1.5, 1.0), always=True),
            Sway((3.0, 8.0), (0.0001, 0.0001, 0.0001), (0.05, 0.05, 0.03), always=True),
        ),
        ramp_s=10.0,
    ),
    "car": Platform(
        "car",
        15.0,
        1.9,
        (
            Sway((0.8, 2.0), (0.0, 0.01, 0.012), (0.4, 0.4, 0.1)),
            Sway((5.0, 9.0), (0.0001, 0.0001, 0.0002), (0.03, 0.03, 0.01)),
        ),
        ramp_s=12.0,
    ),
    "fast_drone": _drone(4.2),
    "drone": _drone(3.5),
}
"""Every platform of the suite by name."""
