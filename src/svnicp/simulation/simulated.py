# SPDX-License-Identifier: MIT
"""A simulated recording: scans and IMU readings of a body that moves through a scene.

It is a ``Dataset`` like any recording, but with exact ground truth for pose, velocity and biases.
Measurements are made while they are read, and made again, bit by bit the same, when they are read
again: every scan has its own random numbers, derived from the seed and the scan's number.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from svnicp.arrays import Floats, Integers, Transform
from svnicp.data.dataset import Dataset, DatasetInfo
from svnicp.data.measurements import ImuSample, Scan
from svnicp.data.trajectory import Trajectory
from svnicp.errors import InputError
from svnicp.simulation.effects import Effects
from svnicp.simulation.geometry import Scene
from svnicp.simulation.imu import ImuModel
from svnicp.simulation.motion import Motion
from svnicp.simulation.movers import Mover
from svnicp.simulation.ray_patterns import Lidar
from svnicp.simulation.sweep import Surroundings, sweep

START_NS = 1_700_000_000_000_000_000
"""When simulated recordings begin: in November 2023 [ns]."""
GROUND_TRUTH_HZ = 100.0
"""Rate of the ground-truth trajectory [Hz]."""
_BIASES, _IMU_NOISE, _SCANS = range(3)


@dataclass(frozen=True, eq=False)
class Truth:
    """The exact state of the body at n times."""

    T_world_body: Transform
    """(n, 4, 4) poses."""
    velocity_world: Floats
    """(n, 3) [m/s]."""
    angular_velocity_body: Floats
    """(n, 3) [rad/s]."""
    gyroscope_bias: Floats
    """(n, 3) of the reading that is nearest in time [rad/s]."""
    accelerometer_bias: Floats
    """(n, 3) of the reading that is nearest in time [m/s^2]."""


@dataclass(frozen=True, eq=False)
class SimulatedDataset(Dataset):
    """A recording that is made while it is read.

    Parameters
    ----------
    name
        What it is called.
    scene
        What stands still.
    motion
        How the body moves; x points forward, y to the left, z up.
    sensor
        The LiDAR.
    imu
        The IMU, which is the body; None for none.
    T_body_lidar
        (4, 4) where the LiDAR sits on the body.
    effects
        What happens to beams.
    movers
        What else moves.
    seed
        Decides noise, loss and biases.
    start_ns
        Stamp of the start of the motion [ns].
    point_times
        Whether each point has its own time; otherwise a scan is of one instant.
    """

    name: str
    scene: Scene
    motion: Motion
    sensor: Lidar
    imu: ImuModel | None = None
    T_body_lidar: Transform = field(kw_only=True, default_factory=lambda: np.eye(4))
    effects: Effects = field(kw_only=True, default_factory=Effects)
    movers: tuple[Mover, ...] = field(kw_only=True, default=())
    seed: int = field(kw_only=True, default=0)
    start_ns: int = field(kw_only=True, default=START_NS)
    point_times: bool = field(kw_only=True, default=True)

    def __repr__(self) -> str:
        imu = "no IMU" if self.imu is None else f"{self.imu.name} IMU"
        return (
            f"<SimulatedDataset {self.name!r}: {self.num_scans} scans in "
            f"{self.motion.duration_s:g} s, {self.sensor.name}, {imu}>"
        )

    @cached_property
    def _surroundings(self) -> Surroundings:
        return Surroundings(
            scene=self.scene,
            motion=self.motion,
            T_body_lidar=self.T_body_lidar,
            movers=self.movers,
            effects=self.effects,
            instantaneous=not self.point_times,
        )

    @property
    def num_scans(self) -> int:
        """Number of scans that are complete within the duration."""
        return int(self.motion.duration_s * self.sensor.rate_hz + 1e-6)

    @cached_property
    def ground_truth(self) -> Trajectory:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Poses of the body over the whole duration."""
        num_steps = int(self.motion.duration_s * GROUND_TRUTH_HZ + 1e-6)
        times_s = np.arange(num_steps + 1) / GROUND_TRUTH_HZ
        return Trajectory(self._stamps(times_s), self.motion.T_world_body(times_s))

    def info(self) -> DatasetInfo:
        """Return what is known about the recording, which is everything."""
        return DatasetInfo(
            kind="simulation",
            num_scans=self.num_scans,
            duration_s=self.motion.duration_s,
            scan_period_s=1.0 / self.sensor.rate_hz,
            imu_period_s=None if self.imu is None else 1.0 / self.imu.rate_hz,
            sensor=self.sensor.name,
            imu="" if self.imu is None else self.imu.name,
        )

    def scans(self) -> Iterator[Scan]:
        """Yield the scans in the order of time, from the beginning."""
        for number in range(self.num_scans):
            yield self.scan(number)

    def scan(self, number: int) -> Scan:
        """Return one scan, counted from 0; the same as ``scans`` yields."""
        if not 0 <= number < self.num_scans:
            raise InputError(
                f"Recording {self.name!r} has scans 0 to {self.num_scans - 1}, not {number}."
            )
        made = sweep(self._surroundings, self.sensor, number, self._rng(_SCANS, number))
        start_ns = int(self._stamps(np.array([number / self.sensor.rate_hz]))[0])
        times_ns = self._stamps(made.times_s) if self.point_times else None
        return Scan(start_ns, made.points.astype(np.float32), times_ns)

    def imu_samples(self) -> Iterator[ImuSample]:
        """Yield the IMU readings in the order of time, from the beginning; none without an IMU."""
        if self.imu is None:
            return
        stamps = self._stamps(self._imu_times)
        chunks = self.imu.readings(
            self.motion, self._imu_times, self._biases, self._rng(_IMU_NOISE)
        )
        readings = (reading for chunk in chunks for reading in chunk)
        for stamp_ns, reading in zip(stamps, readings, strict=True):
            yield ImuSample(int(stamp_ns), reading[:3], reading[3:])

    def truth_at(self, stamps_ns: Integers) -> Truth:
        """Return the exact state of the body at (n,) stamps within the recording [ns]."""
        times_s = np.asarray(stamps_ns - self.start_ns, dtype=np.float64) * 1e-9
        biases = np.zeros((len(times_s), 6))
        if self.imu is not None:
            nearest = np.floor(times_s * self.imu.rate_hz).astype(np.int64)
            biases = self._biases[np.clip(nearest, 0, len(self._biases) - 1)]
        return Truth(
            self.motion.T_world_body(times_s),
            self.motion.velocity_world(times_s),
            self.motion.angular_velocity_body(times_s),
            biases[:, :3],
            biases[:, 3:],
        )

    @cached_property
    def _imu_times(self) -> Floats:
        return np.empty(0) if self.imu is None else self.imu.sample_times(self.motion.duration_s)

    @cached_property
    def _biases(self) -> Floats:
        """(n, 6) biases of all readings, gyroscope first."""
        if self.imu is None:
            return np.empty((0, 6))
        return self.imu.biases(len(self._imu_times), self._rng(_BIASES))

    def _stamps(self, times_s: Floats) -> Integers:
        """Return the stamps of times since the start of the motion [ns]."""
        return self.start_ns + np.rint(times_s * 1e9).astype(np.int64)

    def _rng(self, *purpose: int) -> np.random.Generator:
        """Return a generator of its own for one purpose."""
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=purpose))
