# SPDX-License-Identifier: MIT
"""Odometry, LiDAR alone or with an IMU: one estimate per scan, a line per step of the way.

predict → deskew → register in the map → correct → insert. The two differ only in the motion model.
A scan that cannot be believed does not touch the map; after a while without any that can, a new map
is begun at the predicted pose, and the covariance keeps what is not known about it.
"""

import numpy as np
import numpy.typing as npt

from svnicp.arrays import Points
from svnicp.config import Config
from svnicp.data.imu_noise import ImuNoise
from svnicp.data.measurements import Scan
from svnicp.estimate import Estimate
from svnicp.local_map import VoxelMap
from svnicp.odometry.clock import Clock
from svnicp.odometry.constant_velocity import ConstantVelocity
from svnicp.odometry.first_scans import FirstScans, Look
from svnicp.odometry.inertial_motion import InertialMotion
from svnicp.odometry.inputs import (
    check_extrinsics,
    check_has_witness,
    check_imu_noise,
    check_is_scan,
    check_scan,
    num_places,
)
from svnicp.odometry.measurement import MeasurementNoise
from svnicp.odometry.motion import Prediction
from svnicp.odometry.outcome import Fate, Outcome
from svnicp.odometry.placing import Placing
from svnicp.odometry.scan_order import ScanOrder, Turn
from svnicp.odometry.summary import summarise
from svnicp.odometry.surroundings import Surroundings, scaled_to
from svnicp.odometry.wait import Wait
from svnicp.preprocess import BodyPoints, body_points
from svnicp.registration.inputs import check_config, check_rng


class Odometry:
    """Where the body is, scan after scan.

    Parameters
    ----------
    config
        ``Config.preset("default")`` when left out.
    imu
        Noise of the IMU; None for LiDAR alone, and then the body is the LiDAR.
    T_body_lidar
        (4, 4) where the LiDAR sits on the body, which is the IMU.
    rng
        Draws the particles; seeded with 0 when left out, so that runs repeat.
    """

    def __init__(
        self,
        config: Config | None = None,
        imu: ImuNoise | None = None,
        T_body_lidar: npt.ArrayLike | None = None,
        rng: np.random.Generator | None = None,
    ) -> None:
        self.config = check_config(config)
        self.T_body_lidar = check_extrinsics(T_body_lidar)
        self.rng = check_rng(rng)
        noise = check_imu_noise(imu)
        check_has_witness(self.config.odometry, noise)
        self.motion: ConstantVelocity | InertialMotion
        if noise is None:
            self.motion = ConstantVelocity(self.config.motion)
        else:
            self.motion = InertialMotion(self.config.inertial, self.config.motion, noise)
        self.surroundings = Surroundings(self.config)
        self._unscaled = self.config
        self.noise = MeasurementNoise(
            self.config.odometry, prior_used=self.config.prior.use, carried=noise is not None
        )
        self.num_scans = 0
        self._believed_ns: int | None = None
        self._first_scans = FirstScans()
        self._contradicted = self._begins_anew = False
        self._order = ScanOrder(self.config.odometry.min_step_s)
        self._wait = Wait()

    def __repr__(self) -> str:
        sensors = "LiDAR and IMU" if self.has_imu else "LiDAR alone"
        return (
            f"<Odometry, {sensors}: {self.num_scans} scans, {self.local_map.num_voxels} voxels in "
            "the map>"
        )

    @property
    def local_map(self) -> VoxelMap:
        """The map around the body, in the world."""
        return self.surroundings.local_map

    @property
    def has_imu(self) -> bool:
        """Whether readings carry the pose from scan to scan."""
        return isinstance(self.motion, InertialMotion)

    @property
    def without_estimate(self) -> dict[str, int]:
        """How many scans have no estimate, by the reason: ``odometry.wait.WITHOUT_ESTIMATE``."""
        return self._wait.counts

    def add_imu(
        self, stamp_ns: int, angular_velocity: npt.ArrayLike, linear_acceleration: npt.ArrayLike
    ) -> None:
        """Take one IMU reading: (3,) [rad/s] and (3,) [m/s^2], in the order of time."""
        if isinstance(self.motion, InertialMotion):
            self.motion.imu.add(stamp_ns, angular_velocity, linear_acceleration)
            self.motion.readings.hear(stamp_ns, self.motion.stamp_ns)
        else:
            self._wait.reading_unused()

    def add_scan(
        self,
        points: npt.ArrayLike,
        stamp_ns: int,
        point_times_ns: npt.ArrayLike | None = None,
    ) -> Estimate | None:
        """Take one scan and return where the body was; None until initialised.

        The estimate is for the mean time of the points, the one that a scan shows best.

        Parameters
        ----------
        points
            (n, 3) in the LiDAR frame [m].
        stamp_ns
            When the scan began [ns]; without the times of its points, the moment that its pose is
            for, best the middle of the scan.
        point_times_ns
            (n,) absolute time of every point [ns], if they are known.
        """
        return self.process(check_scan(points, stamp_ns, point_times_ns))

    def process(self, scan: Scan) -> Estimate | None:
        """``add_scan`` for a scan of a dataset."""
        clock = Clock()
        check_is_scan(scan)
        if not self._in_order(scan) or not self._has_begun(scan) or not self._learn_speed(scan):
            return None
        prediction = self.motion.predict(scan)
        clock.lap("predict")
        points = body_points(scan, prediction.track, self.T_body_lidar, self.config.preprocess)
        clock.lap("preprocess")
        points, outcome = self._place(scan, points, prediction, clock)
        step = self.surroundings.follow(self.motion.step, outcome)
        self._insert(scan, points, outcome)
        clock.lap("map")
        self.num_scans += 1
        drift, num_points = self.surroundings.drift, len(scan.points)
        estimate = summarise(self.motion, drift, step, outcome, num_points, clock)
        self.motion.clone()
        return estimate

    def _place(
        self, scan: Scan, points: BodyPoints, prediction: Prediction, clock: Clock
    ) -> tuple[BodyPoints, Outcome]:
        """Register and judge a scan, and correct the motion by it."""
        if self._begins_anew:
            return points, Outcome(Fate.NEW_MAP)
        placing = Placing(
            self.config, self.motion, self.surroundings, self.noise, self.T_body_lidar, self.rng,
            self._believed_ns,
        )  # fmt: skip
        found = placing.look_again(scan, placing.register(points, prediction))
        clock.lap("register")
        points, outcome = placing.correct(scan, found)
        clock.lap("correct")
        return points, outcome

    def _has_begun(self, scan: Scan) -> bool:
        """Whether there is a map and a motion, or a scan that both can begin with."""
        if self.num_scans > 0:
            return True
        points = body_points(scan, None, self.T_body_lidar, self.config.preprocess).points
        if num_places(points) < self.config.match.min_matches:
            self._wait.for_points(scan, len(points), self.config.preprocess)
            if isinstance(self.motion, InertialMotion):
                self.motion.wait(scan)
            return False
        ready = self.motion.ready(scan)
        if not ready and isinstance(self.motion, InertialMotion):
            self._wait.for_readings(scan, self.motion.imu, self.config.inertial)
        return ready

    def _better_deskewed(self, scan: Scan, points: BodyPoints, outcome: Outcome) -> Points:
        """Points (n, 3) by the velocity that the scan itself has shown, where that differs."""
        track = self.motion.track(scan) if outcome.fate.used else None
        if track is None:
            return points.points
        return body_points(scan, track, self.T_body_lidar, self.config.preprocess).points

    def _in_order(self, scan: Scan) -> bool:
        """Whether a scan comes in its turn; after the clock was set, time goes on from there."""
        last_ns = self.motion.stamp_ns
        if self.num_scans == 0 or last_ns is None:
            return True
        turn = self._order.turn(scan.mean_ns, last_ns)
        if turn is Turn.CLOCK_SET:
            self._wait.clock_was_set((scan.mean_ns - last_ns) * 1e-9)
            self._believed_ns = scan.mean_ns - self._order.before_ns
            self.motion.set_clock(self._believed_ns)
            self._first_scans.begin_with(None)
        if turn is Turn.LATE:
            self._wait.scan_left_out(scan.mean_ns, last_ns, self.config.odometry.min_step_s)
        return turn is not Turn.LATE

    def _insert(self, scan: Scan, points: BodyPoints, outcome: Outcome) -> None:
        """Put a believed scan into the map, or begin one with it."""
        if not outcome.fate.mapped:
            if self.has_imu:  # it has gone on from the first scan, which can show nothing any more
                self._first_scans.begin_with(None)
            witness = self.surroundings.is_witness(outcome, self.config)
            self._contradicted = self._contradicted or (outcome.contradicts and witness)
            return
        better = self._better_deskewed(scan, points, outcome)
        self._believed_ns = self.motion.stamp_ns
        if outcome.fate in {Fate.FIRST, Fate.NEW_MAP}:
            self.config = scaled_to(better, self._unscaled, carried=self.has_imu)
            self.surroundings.begin(self.motion, self.config)
        elif self.config.odometry.frame_to_frame:
            self.surroundings.replace(self.config)
        self.surroundings.insert(better, outcome, self.motion, self.config, self.num_scans)
        begins = outcome.fate is Fate.FIRST or self._begins_anew
        if not begins and outcome.fate is Fate.NEW_MAP and self._contradicted:
            begins = self.motion.surrender()
        self._first_scans.begin_with(scan if begins else None)
        self._contradicted = self._begins_anew = False

    def _learn_speed(self, scan: Scan) -> bool:
        """With the second scan, find out how the body moved when the first was taken.

        A start at speed is no surprise then, and the first scan is deskewed after all. Returns
        whether the scan can be used.
        """
        first = self._first_scans.first
        if first is None:
            return True
        look = Look(self.motion, self.local_map, self.T_body_lidar, self.config)
        if self.has_imu and not self._first_scans.can_use(scan, look):
            self._wait.for_second_scan()
            return False
        shown = self._first_scans.show(scan, look)
        if shown is None:
            self._wait.for_confirmation()
            return False
        if shown.elsewhere and isinstance(self.motion, InertialMotion):
            self.motion.begin_again()
            self._begins_anew = True
            return True
        track = self.motion.begin_moving(first, shown.second, shown.found)
        if track is not None:
            begun = body_points(first, track, self.T_body_lidar, self.config.preprocess)
            self.surroundings.begin(self.motion, self.config)
            self.surroundings.put(begun.points, self.motion, self.config)
        return True
