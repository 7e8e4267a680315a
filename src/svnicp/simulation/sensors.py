# SPDX-License-Identifier: MIT
"""Well-known LiDARs by name, with the angles, rates and firing times of their manuals.

Range noise is the standard deviation that manuals or tests give; ``max_range_m`` is where a
surface at right angles is lost half of the time, which is nearer than what advertisements say.
"""

import numpy as np

from svnicp.arrays import Floats
from svnicp.simulation.ray_patterns import Lidar, RosetteLidar, SpinningLidar


def _vlp16() -> SpinningLidar:
    """Return a VLP-16: lasers fire one by one, a low and a high one in turn."""
    elevations = np.arange(-15.0, 16.0, 2.0)
    return SpinningLidar(
        name="VLP-16",
        elevations_rad=np.radians(elevations),
        num_columns=1808,  # a cycle of 55.296 us
        ring_delays_s=_interleaved(16) * 2.304e-6,
        ring_azimuths_rad=np.zeros(16),
        min_range_m=0.5,
        max_range_m=100.0,
        range_noise_m=0.015,
    )


def _hdl32e() -> SpinningLidar:
    """Return an HDL-32E: 32 lasers from -30.67 to 10.67 degrees, fired in turn."""
    return SpinningLidar(
        name="HDL-32E",
        elevations_rad=np.radians(np.linspace(-92.0 / 3.0, 32.0 / 3.0, 32)),
        num_columns=2170,  # a cycle of 46.08 us
        ring_delays_s=_interleaved(32) * 1.152e-6,
        ring_azimuths_rad=np.zeros(32),
        min_range_m=0.9,
        max_range_m=80.0,
        range_noise_m=0.02,
    )


def _hdl64e() -> SpinningLidar:
    """Return an HDL-64E: two blocks of 32 lasers, the lower one with wider steps."""
    lower = np.linspace(-24.33, -8.83, 32)
    upper = np.linspace(-8.33, 2.0, 32)
    return SpinningLidar(
        name="HDL-64E",
        elevations_rad=np.radians(np.concatenate([lower, upper])),
        num_columns=2083,
        ring_delays_s=np.tile(np.arange(16.0), 4) * 3.0e-6,  # four lasers at a time
        ring_azimuths_rad=np.zeros(64),
        min_range_m=0.9,
        max_range_m=120.0,
        range_noise_m=0.02,
    )


def _ouster(
    name: str, num_rings: int, half_view_deg: float, max_range_m: float, range_noise_m: float
) -> SpinningLidar:
    """Return an Ouster: all rings fire together, in four staggered columns of lasers."""
    return SpinningLidar(
        name=name,
        elevations_rad=np.radians(np.linspace(-half_view_deg, half_view_deg, num_rings)),
        num_columns=1024,
        ring_delays_s=np.zeros(num_rings),
        ring_azimuths_rad=np.radians(np.tile([3.164, 1.055, -1.055, -3.164], num_rings // 4)),
        min_range_m=0.3,
        max_range_m=max_range_m,
        range_noise_m=range_noise_m,
    )


def _livox_avia() -> RosetteLidar:
    """Return a Livox Avia: 240 000 points a second within 70.4 x 77.2 degrees, never the same."""
    return RosetteLidar(
        name="Livox Avia",
        num_beams=6,
        firings_per_s=40_000.0,
        prism_rad=(np.radians(17.6), np.radians(17.6)),
        prism_hz=(121.57, -77.81),
        beam_step_rad=np.radians(0.6),
        stretch=(1.0, 37.1 / 35.2),
        min_range_m=1.0,
        max_range_m=190.0,
        range_noise_m=0.02,
    )


def _interleaved(num_rings: int) -> Floats:
    """Return when each ring fires, as a count: ring 0, ring n/2, ring 1, ring n/2 + 1, ..."""
    rings = np.arange(num_rings)
    half = num_rings // 2
    return np.where(rings < half, 2.0 * rings, 2.0 * (rings - half) + 1.0)


SENSORS: dict[str, Lidar] = {
    "vlp16": _vlp16(),
    "hdl32e": _hdl32e(),
    "hdl64e": _hdl64e(),
    "os1_64": _ouster("OS1-64", 64, 16.6, 120.0, 0.02),
    "os0_128": _ouster("OS0-128", 128, 45.0, 50.0, 0.015),
    "livox_avia": _livox_avia(),
}
"""Every sensor by name."""
