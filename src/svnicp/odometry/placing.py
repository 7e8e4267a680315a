# SPDX-License-Identifier: MIT
"""One scan in the map: registered, judged, and believed or not.

In: a scan's points and where they should be. Out: what became of the scan, by which the motion
model is corrected where the scan can be believed. A scan that does not fit is asked a second time,
without the IMU's readings.
"""

from typing import NamedTuple

import numpy as np

from svnicp.arrays import Covariance, Transform
from svnicp.config import Config
from svnicp.data.measurements import Scan
from svnicp.odometry.belief import is_believable, is_near, turned_otherwise
from svnicp.odometry.constant_velocity import ConstantVelocity
from svnicp.odometry.inertial_motion import InertialMotion
from svnicp.odometry.inputs import num_places
from svnicp.odometry.matching import matching
from svnicp.odometry.measurement import MeasurementNoise, by_itself
from svnicp.odometry.motion import Prediction
from svnicp.odometry.outcome import Fate, Outcome, are_apart, judge
from svnicp.odometry.several_starts import well_placed_start
from svnicp.odometry.surroundings import Surroundings
from svnicp.preprocess import BodyPoints, body_points
from svnicp.registration import RegistrationResult, register_in_map

GAP_S = 0.5
"""After this long without a scan that could be believed, several places are tried [s]."""


class Found(NamedTuple):
    """A scan's points, where they were found in the map, and by which prediction."""

    points: BodyPoints
    result: RegistrationResult | None
    """None when there is no map yet, or hardly any point."""
    prediction: Prediction

    @property
    def fits(self) -> bool:
        """Whether the registration is good enough in itself."""
        return self.result is not None and judge(self.result).used


class Placing(NamedTuple):
    """What a scan is placed in the map with, after the motion model has predicted it."""

    config: Config
    motion: ConstantVelocity | InertialMotion
    surroundings: Surroundings
    noise: MeasurementNoise
    T_body_lidar: Transform
    rng: np.random.Generator
    believed_ns: int | None
    """Mean time of the last scan that could be believed [ns]."""

    def register(self, scan: BodyPoints, prediction: Prediction) -> Found:
        """Pose of the points in the map."""
        enough = num_places(scan.points) >= self.config.match.min_matches
        if self.surroundings.is_empty or not enough or self._navigates_alone():
            return Found(scan, None, prediction)
        T_predicted, start = prediction.T_world_body, prediction.start
        prior = self._prior(prediction)
        local_map, views = self.surroundings.local_map, self.surroundings.views
        is_gap = start is None and self._unseen_s > GAP_S
        if is_gap and prior is not None and self.config.prior.use:
            start = well_placed_start(scan.points, local_map, T_predicted, prior, self.config)
        result = register_in_map(
            scan.points, local_map, T_target_source=T_predicted, prior_covariance=prior,
            config=matching(self.config, views.count, self.motion), rng=self.rng,
            point_seconds=scan.seconds, start=start,
        )  # fmt: skip
        return Found(scan, result, prediction)

    def look_again(self, scan: Scan, found: Found) -> Found:
        """Deskew and register a scan once more, by the motion that it has shown itself.

        One that does not fit where the motion leads is first asked whether that has ended.
        """
        if not self.config.odometry.second_look:
            return found
        if found.result is not None and not found.fits:
            found = self._or_by(self.motion.predict_stop(scan, found.prediction), scan, found)
        if found.result is None or found.result.lag is None or not found.fits:
            return found
        shown = by_itself(found.result, found.prediction, prior_used=self.config.prior.use)
        prediction = found.prediction._replace(start=found.result.T_target_source)
        return self._or_by(self.motion.predict_again(scan, prediction, shown), scan, found)

    def _or_by(self, prediction: Prediction | None, scan: Scan, found: Found) -> Found:
        """Where a scan is by another prediction; ``found``, if it does not fit there."""
        if prediction is None:
            return found
        points = body_points(scan, prediction.track, self.T_body_lidar, self.config.preprocess)
        other = self.register(points, prediction)
        return other if other.fits else found

    def correct(self, scan: Scan, found: Found) -> tuple[BodyPoints, Outcome]:
        """Believe a registration or not; returns the outcome, and the points that it is about."""
        points, result, prediction = found
        if result is not None and self._lost_sight(result):
            second = self._without_readings(scan, instead_of=result)
            if second is not None:
                return second
        knew = self.noise.knew_its_place  # the scans before this one
        outcome = self._fuse(result, prediction)
        if (
            outcome.fate is Fate.UNMATCHED
            and not knew
            and isinstance(self.motion, InertialMotion)
            and self.surroundings.shows_no_surface(points.points, self.motion, self.config)
        ):
            outcome = outcome._replace(fate=Fate.BLIND)
        if outcome.fate.mapped:
            return points, outcome
        return self._ask_again(scan, points, outcome, knew=knew)

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
        epoch = self.surroundings.local_map.epoch
        measurement = self.noise.measure(result, prediction, epoch)
        fate = judge(result)
        if fate.used and not is_believable(measurement, self.motion, self.config.odometry):
            fate = Fate.REFUSED
        outcome = Outcome(fate, result, measurement, None, prediction.covariance)
        if not fate.used or (only is not None and fate is not only):
            return outcome
        self.noise.believed(measurement, prediction)
        if self._is_pushed_off(outcome):
            outcome = outcome._replace(fate=Fate.AGAINST_IMU)
            self.noise.prediction_was_wrong()
            self.motion.doubt_readings(measurement.innovation)
        return outcome._replace(correction=self.motion.correct(measurement))

    def _is_pushed_off(self, outcome: Outcome) -> bool:
        """Whether readings push the prediction off a scan that may contradict them."""
        return (
            outcome.fate is Fate.OK
            and self.noise.readings_push
            and self.surroundings.is_witness(outcome, self.config)
        )

    def _ask_again(
        self, scan: Scan, points: BodyPoints, outcome: Outcome, *, knew: bool
    ) -> tuple[BodyPoints, Outcome]:
        """Ask a scan that does not fit once more, without the IMU's readings.

        ``knew``: whether the scans before knew their place, so that this one should fit somewhere.
        """
        nowhere = knew and outcome.fate in {Fate.UNMATCHED, Fate.POOR_FIT}
        asks = nowhere or self._may_contradict(outcome)
        second = self._without_readings(scan) if asks else None
        if second is not None:
            return second
        return points, outcome._replace(fate=self._or_new_map(outcome.fate))

    def _without_readings(
        self, scan: Scan, instead_of: RegistrationResult | None = None
    ) -> tuple[BodyPoints, Outcome] | None:
        """Believe a scan without the IMU's readings; None where it does not fit so, either.

        ``instead_of``: it must be found elsewhere than here.
        """
        prediction = self.motion.without_readings(scan)
        if prediction is None:
            return None
        points = body_points(scan, prediction.track, self.T_body_lidar, self.config.preprocess)
        result = self.register(points, prediction).result
        if instead_of is None or (result is not None and are_apart(result, instead_of)):
            outcome = self._fuse(result, prediction, only=Fate.OK)
            if outcome.correction is not None:
                self.noise.prediction_was_wrong()
                odometry = self.config.odometry
                self.motion.mapped_wrong(odometry.gate_floor_m, odometry.gate_floor_rad)
                return points, outcome._replace(fate=Fate.AGAINST_IMU)
        self.motion.with_readings()
        return None

    def _lost_sight(self, result: RegistrationResult) -> bool:
        """Whether a scan is blind along a direction that the scans before it all knew.

        To a prediction that is sure and wrong, the surfaces that contradict it are outliers.
        """
        return judge(result) is Fate.WEAK and self.noise.knew_its_place

    def _may_contradict(self, outcome: Outcome) -> bool:
        """Whether a scan that does not fit may stand against the IMU.

        One bad reading must not outvote all scans to come. But only a scan that constrains every
        direction may stand against an IMU: in a corridor the IMU is the better witness. So it is
        where only a place farther away contradicts it: things that repeat shift a scan, by as far
        as they are apart, but do not turn it.
        """
        if outcome.result is None or not self.surroundings.is_witness(outcome, self.config):
            return False
        if outcome.fate is not Fate.REFUSED or (
            outcome.contradicts and is_near(outcome.measurement)
        ):
            return True
        return turned_otherwise(outcome.measurement, self.motion, self.config.odometry)

    def _navigates_alone(self) -> bool:
        """Whether the IMU has to do without scans by now, as ``noise="none"`` asks."""
        config, motion = self.config.odometry, self.motion
        if config.noise != "none" or not isinstance(motion, InertialMotion):
            return False
        return not motion.has_just_begun(self.config.inertial.first_map_s)

    def _prior(self, prediction: Prediction) -> Covariance | None:
        """What the registration may assume: the prediction, or little (the paper's filter)."""
        return None if self.config.odometry.noise == "fixed" else prediction.covariance

    @property
    def _unseen_s(self) -> float:
        """How long no scan could be believed [s]."""
        assert self.motion.stamp_ns is not None, "there is a prediction"
        return (self.motion.stamp_ns - (self.believed_ns or 0)) * 1e-9

    def _or_new_map(self, fate: Fate) -> Fate:
        """The fate of a scan that was not used, or NEW_MAP when that has lasted too long."""
        lost = self._unseen_s > self.config.odometry.lost_s
        return Fate.NEW_MAP if lost and fate not in {Fate.EMPTY, Fate.UNUSED} else fate
