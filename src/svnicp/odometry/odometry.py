# SPDX-License-Identifier: MIT
"""Odometry, LiDAR alone or with an IMU: one estimate per scan, a line per step of the way.

predict → deskew → register in the map → correct → insert. The two differ only in the motion model.
A scan that cannot be believed does not touch the map; after a while without any that can, a new map
is begun at the predicted pose, and the covariance keeps what is not known about it.
"""

import logging

import numpy as np
import numpy.typing as npt

from svnicp.arrays import Covariance
from svnicp.config import Config
from svnicp.data.imu_noise import ImuNoise
from svnicp.data.measurements import Scan
from svnicp.estimate import Estimate
from svnicp.local_map import VoxelMap
from svnicp.odometry.belief import is_believable, turned_otherwise
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
from svnicp.odometry.matching import matching
from svnicp.odometry.measurement import MeasurementNoise
from svnicp.odometry.motion import Prediction
from svnicp.odometry.outcome import Fate, Outcome, judge
from svnicp.odometry.scan_order import ScanOrder, Turn
from svnicp.odometry.several_starts import well_placed_start
from svnicp.odometry.summary import summarise
from svnicp.odometry.surroundings import Surroundings, scaled_to
from svnicp.odometry.wait import Wait
from svnicp.preprocess import BodyPoints, body_points
from svnicp.registration import RegistrationResult, register_in_map
from svnicp.registration.inputs import check_config, check_rng

log = logging.getLogger(__name__)

GAP_S = 0.5
"""After this long without a scan that could be believed, several places are tried [s]."""


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
        self.noise = MeasurementNoise(
            self.config.odometry, prior_used=self.config.prior.use, carried=noise is not None
        )
        self.num_scans = 0
        self._believed_ns: int | None = None
        self._first_scans = FirstScans()
        self._contradicted = False
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

    def add_imu(
        self, stamp_ns: int, angular_velocity: npt.ArrayLike, linear_acceleration: npt.ArrayLike
    ) -> None:
        """Take one IMU reading: (3,) [rad/s] and (3,) [m/s^2], in the order of time."""
        if isinstance(self.motion, InertialMotion):
            self.motion.imu.add(
                stamp_ns, np.asarray(angular_velocity), np.asarray(linear_acceleration)
            )
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
            When the scan began [ns].
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
        result = self._register(points, prediction)
        clock.lap("register")
        outcome = self._fuse(result, prediction)
        if (
            outcome.fate is Fate.UNMATCHED
            and self.has_imu
            and self.surroundings.shows_no_surface(points.points, self.motion, self.config)
        ):
            outcome = outcome._replace(fate=Fate.BLIND)
        if not outcome.fate.mapped:
            points, outcome = self._second_opinion(scan, points, outcome)
        clock.lap("correct")
        step = self.motion.step
        self.surroundings.drift.move(step.T_world_body)
        self._insert(self._better_deskewed(scan, points, outcome), outcome)
        if outcome.fate.mapped:
            begins = outcome.fate is Fate.FIRST or (
                outcome.fate is Fate.NEW_MAP and self._contradicted and self.motion.surrender()
            )
            self._first_scans.begin_with(scan if begins else None)
        self._contradicted = not outcome.fate.mapped and (
            self._contradicted
            or (outcome.contradicts and self.surroundings.is_witness(outcome, self.config))
        )
        clock.lap("map")
        self.num_scans += 1
        estimate = summarise(
            self.motion, self.surroundings.drift, step, outcome, len(scan.points), clock
        )
        self.motion.clone()
        return estimate

    def _has_begun(self, scan: Scan) -> bool:
        """Whether there is a map and a motion, or a scan that both can begin with."""
        if self.num_scans > 0:
            return True
        points = body_points(scan, None, self.T_body_lidar, self.config.preprocess).points
        if num_places(points) < self.config.match.min_matches:
            self._wait.for_points(scan, len(points), self.config.preprocess)
            return False
        ready = self.motion.ready(scan)
        if not ready and isinstance(self.motion, InertialMotion):
            self._wait.for_readings(scan, self.motion.imu, self.config.inertial)
        return ready

    def _better_deskewed(self, scan: Scan, points: BodyPoints, outcome: Outcome) -> BodyPoints:
        """The points by the velocity that the scan itself has shown, where that differs."""
        track = self.motion.track(scan)
        if track is None or not outcome.fate.used:
            return points
        return body_points(scan, track, self.T_body_lidar, self.config.preprocess)

    def _in_order(self, scan: Scan) -> bool:
        """Whether a scan comes in its turn; after the clock was set, time goes on from there."""
        last_ns = self.motion.stamp_ns
        if self.num_scans == 0 or last_ns is None:
            return True
        turn = self._order.turn(scan.mean_ns, last_ns)
        if turn is Turn.CLOCK_SET:
            log.warning(
                "The stamps of scans jumped by %.1f s: the clock was set, or the recording paused; "
                "the body is looked for where it was.", (scan.mean_ns - last_ns) * 1e-9,
            )  # fmt: skip
            self._believed_ns = scan.mean_ns - self._order.before_ns
            self.motion.set_clock(self._believed_ns)
            self._first_scans.begin_with(None)
        if turn is Turn.LATE:
            self._wait.scan_left_out(scan.mean_ns, last_ns, self.config.odometry.min_step_s)
        return turn is not Turn.LATE

    def _register(self, scan: BodyPoints, prediction: Prediction) -> RegistrationResult | None:
        """Pose of the points in the map; None when there is no map yet, or hardly any point."""
        enough = num_places(scan.points) >= self.config.match.min_matches
        if self.surroundings.is_empty or not enough or self._navigates_alone():
            return None
        T_predicted, prior, start = prediction.T_world_body, self._prior(prediction), None
        if prior is not None and self.config.prior.use and self._unseen_s > GAP_S:
            start = well_placed_start(scan.points, self.local_map, T_predicted, prior, self.config)
        return register_in_map(
            scan.points, self.local_map, T_target_source=T_predicted, prior_covariance=prior,
            config=matching(self.config, self.surroundings.views.count, self.motion), rng=self.rng,
            point_seconds=scan.seconds, start=start,
        )  # fmt: skip

    def _navigates_alone(self) -> bool:
        """Whether the IMU has to do without scans by now, as ``noise="none"`` asks."""
        config, motion = self.config.odometry, self.motion
        if config.noise != "none" or not isinstance(motion, InertialMotion):
            return False
        return not motion.has_just_begun(config.trusting_start_s)

    def _prior(self, prediction: Prediction) -> Covariance | None:
        """What the registration may assume: the prediction, or little (the paper's filter)."""
        return None if self.config.odometry.noise == "fixed" else prediction.covariance

    def _fuse(
        self, result: RegistrationResult | None, prediction: Prediction, only: Fate | None = None
    ) -> Outcome:
        """Correct the filter by a registration that can be believed, or ``only`` by such a one."""
        if self.surroundings.is_empty:
            return Outcome(Fate.FIRST)
        if self._navigates_alone():
            return Outcome(Fate.UNUSED)
        if result is None:
            return Outcome(Fate.EMPTY)
        measurement = self.noise.measure(result, prediction, self.local_map.epoch)
        fate = judge(result)
        if fate.used and not is_believable(measurement, self.motion, self.config.odometry):
            fate = Fate.REFUSED
        if not fate.used or (only is not None and fate is not only):
            return Outcome(fate, result, measurement)
        self.noise.believed(measurement, prediction)
        correction = self.motion.correct(measurement)
        return Outcome(fate, result, measurement, correction, prediction.covariance)

    def _second_opinion(
        self, scan: Scan, points: BodyPoints, outcome: Outcome
    ) -> tuple[BodyPoints, Outcome]:
        """Ask a scan that does not fit once more, without the IMU's readings.

        One bad reading must not outvote all scans to come. But only a scan that constrains every
        direction may stand against an IMU: in a corridor the IMU is the better witness. So it is
        where only the place contradicts it: things that repeat shift a scan, but do not turn it.
        """
        locked = outcome.fate is Fate.REFUSED and not turned_otherwise(
            outcome.measurement, self.motion, self.config.odometry
        )
        asked = (
            outcome.result is not None
            and not locked
            and self.surroundings.is_witness(outcome, self.config)
        )
        prediction = self.motion.without_readings(scan) if asked else None
        if prediction is None:
            return points, outcome._replace(fate=self._or_new_map(outcome.fate))
        again = body_points(scan, prediction.track, self.T_body_lidar, self.config.preprocess)
        second = self._fuse(self._register(again, prediction), prediction, only=Fate.OK)
        if second.fate is Fate.OK:
            self.noise.prediction_was_wrong()
            return again, second._replace(fate=Fate.AGAINST_IMU)
        self.motion.with_readings()
        return points, outcome._replace(fate=self._or_new_map(outcome.fate))

    def _is_witness(self, outcome: Outcome) -> bool:
        """Whether a scan may contradict an IMU."""
        return self.surroundings.is_witness(outcome, self.config)

    @property
    def _unseen_s(self) -> float:
        """How long no scan could be believed [s]."""
        assert self.motion.stamp_ns is not None, "there is a prediction"
        return (self.motion.stamp_ns - (self._believed_ns or 0)) * 1e-9

    def _or_new_map(self, fate: Fate) -> Fate:
        """The fate of a scan that was not used, or NEW_MAP when that has lasted too long."""
        lost = self._unseen_s > self.config.odometry.lost_s
        return Fate.NEW_MAP if lost and fate not in {Fate.EMPTY, Fate.UNUSED} else fate

    def _insert(self, scan: BodyPoints, outcome: Outcome) -> None:
        """Put a believed scan into the map, or begin one with it."""
        if not outcome.fate.mapped:
            return
        self._believed_ns = self.motion.stamp_ns
        if outcome.fate is Fate.FIRST:
            self.config = scaled_to(scan.points, self.config)
        if outcome.fate in {Fate.FIRST, Fate.NEW_MAP}:
            self.surroundings.begin(self.motion, self.config)
        elif self.config.odometry.frame_to_frame:
            self.surroundings.replace(self.config)
        self.surroundings.insert(scan.points, outcome, self.motion, self.config, self.num_scans)

    def _learn_speed(self, scan: Scan) -> bool:
        """With the second scan, find out how the body moved when the first was taken.

        A start at speed is no surprise then, and the first scan is deskewed after all. Returns
        whether the scan can be used.
        """
        first = self._first_scans.first
        if first is None:
            return True
        look = Look(self.motion, self.local_map, self.T_body_lidar, self.config)
        usable = not self.has_imu or self._first_scans.can_use(scan, look)
        shown = self._first_scans.show(scan, look) if usable else None
        if shown is None:
            self._wait.for_next_scan()
            return False
        track = self.motion.begin_moving(first, *shown)
        if track is not None:
            begun = body_points(first, track, self.T_body_lidar, self.config.preprocess)
            self.surroundings.begin(self.motion, self.config)
            self.surroundings.put(begun.points, self.motion, self.config)
        return True
