# SPDX-License-Identifier: MIT
"""Everything compiled and loaded before the first measurement comes, so that none has to wait.

Odometry runs for a moment in a made-up room: a box, whose walls are met by a formula, so that a
robot never compiles the simulator. The same measurements serve ``svnicp warmup``.
"""

from collections.abc import Iterator

import numpy as np

from svnicp.config import Config
from svnicp.data.imu_noise import ImuNoise
from svnicp.data.imu_noise_of_dataset import GENERIC
from svnicp.data.measurements import ImuSample, Scan
from svnicp.live.inbox import InboxConfig
from svnicp.live.live_odometry import Listener, LiveOdometry
from svnicp.odometry import Odometry

SCANS, SCAN_NS, IMU_NS = 15, 100_000_000, 5_000_000
"""How much is made up: the filter starts after half a second."""
HALF_SIZE_M = np.array([5.0, 3.0, 1.5])
SPEED_MPS = 0.4
NOISE_M = 0.01
GRAVITY = 9.81


def warm_up(config: Config, imu: ImuNoise | None, listener: Listener) -> None:
    """Run odometry with these parameters through a made-up room, and show it to a listener."""
    patient = InboxConfig(max_scans=SCANS)
    with LiveOdometry(Odometry(config, imu), [listener], patient) as live:
        for one in room():
            if isinstance(one, Scan):
                live.add_scan(one)
            elif imu is not None:
                live.add_imu(one)


def warm_up_matching() -> None:
    """Compile what needs no plane fits: matching, the Stein step, deskewing, the filter.

    Plane fits take as long to compile as all of this: another process can do it meanwhile.
    """
    warm_up(Config.preset("paper"), ImuNoise.model(GENERIC), lambda _: None)


def room() -> Iterator[Scan | ImuSample]:
    """Measurements in the order of their end: straight through a box at a constant speed."""
    rng = np.random.default_rng(0)
    samples = SCAN_NS // IMU_NS
    for number in range(SCANS):
        start = number * SCAN_NS
        for stamp in range(start, start + samples * IMU_NS, IMU_NS):
            force = rng.normal((0.0, 0.0, GRAVITY), 1e-2)
            yield ImuSample(stamp, rng.normal(0.0, 1e-3, 3), force)
        yield scan_of_room(start, rng)


def scan_of_room(start_ns: int, rng: np.random.Generator) -> Scan:
    """One turn of a LiDAR with 16 rings, every column at its own time."""
    turn = np.linspace(-np.pi, np.pi, 900, endpoint=False)
    azimuth, elevation = np.meshgrid(turn, np.radians(np.linspace(-25.0, 25.0, 16)), indexing="ij")
    rays = np.stack(
        [
            np.cos(elevation) * np.cos(azimuth),
            np.cos(elevation) * np.sin(azimuth),
            np.sin(elevation),
        ],
        axis=-1,
    ).reshape(-1, 3)
    times = start_ns + np.repeat(np.arange(len(turn)) * (SCAN_NS // len(turn)), 16)
    at = np.zeros_like(rays)
    at[:, 0] = SPEED_MPS * times * 1e-9
    ranges = ((np.copysign(HALF_SIZE_M, rays) - at) / np.where(rays == 0.0, 1e-9, rays)).min(axis=1)
    ranges += rng.normal(0.0, NOISE_M, len(ranges))
    return Scan(start_ns, (ranges[:, None] * rays).astype(np.float32), times)
