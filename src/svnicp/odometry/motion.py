# SPDX-License-Identifier: MIT
"""What odometry asks of a motion model: predict, correct, and tell how the body moves.

``ConstantVelocity`` and ``InertialMotion`` are the two models. Both hold the pose relative to the
map, and a clone of the pose at the last scan, so that the step in between has its own covariance.
"""

from typing import NamedTuple, Protocol

import numpy as np

from svnicp.arrays import Covariance, Floats, Transform
from svnicp.data.measurements import Scan
from svnicp.inertial.eskf import Correction
from svnicp.pose_gaussian import PoseGaussian
from svnicp.preprocess import PoseTrack

PAIR_FACTOR = 4.0
"""Variance of a pose in the map of a single scan, over what registration says: both are noisy."""
CERTAIN = np.zeros((6, 6))
AS_PREDICTED = np.zeros(6)


class Prediction(NamedTuple):
    """Where the body should be at the mean time of a scan's points."""

    T_world_body: Transform
    """(4, 4)."""
    covariance: Covariance
    """(6, 6) relative to the map, in the body tangent."""
    track: PoseTrack | None
    """Poses during the scan; None when nothing is known of the motion yet."""
    scan_noise: Covariance
    """(6, 6) of what deskewing by this track leaves in the pose that the scan shows."""
    map_doubt: Covariance = CERTAIN
    """(6, 6) of how far a map may be off that was made while hardly anything was known."""
    twist_change: Floats = AS_PREDICTED
    """(6,) by how much the track's twist differs from the predicted one [m/s, rad/s]."""
    start: Transform | None = None
    """(4, 4) where to begin looking for the body, if that is elsewhere."""


class PoseMeasurement(NamedTuple):
    """A pose by a scan alone."""

    innovation: Floats
    """(6,) distance from the prediction in the body tangent [m, rad]."""
    covariance: Covariance
    """(6, 6)."""
    lag: Floats
    """(6, 6) [s] how an error of the predicted velocity adds to the innovation."""
    scan_covariance: Covariance
    """(6, 6) of the scan's own error, which a map takes over: without doubts about that map."""

    def distance_sigma(self, predicted: Covariance) -> float:
        """Distance from a prediction of this covariance in standard deviations.

        A chi-square with six degrees of freedom, brought to one by matching mean and variance.
        """
        total = predicted + self.covariance
        squared = float(self.innovation @ np.linalg.solve(total, self.innovation))
        return max(0.0, (squared - 6.0) / np.sqrt(12.0))


class Moving(NamedTuple):
    """How the body moves at the time of the state."""

    twist: Floats
    """(6,) velocity in body axes [m/s, rad/s]."""
    twist_covariance: Covariance
    """(6, 6)."""
    velocity_world: Floats
    """(3,) [m/s]."""
    gyro_bias: Floats | None
    """(3,) [rad/s]."""
    accel_bias: Floats | None
    """(3,) [m/s^2]."""


class MotionModel(Protocol):
    """A filter over the body's motion."""

    @property
    def stamp_ns(self) -> int | None:
        """Time of the state [ns]; None before the first scan."""
        ...

    @property
    def T_world_body(self) -> Transform:
        """(4, 4) pose at that time."""
        ...

    @property
    def pose_covariance(self) -> Covariance:
        """(6, 6) of the pose relative to the map, in the body tangent."""
        ...

    @property
    def absolute_covariance(self) -> Covariance:
        """(6, 6) of the pose since the start: in the map, and the map's own."""
        ...

    @property
    def step(self) -> PoseGaussian:
        """Pose of the body in that of the last scan."""
        ...

    def ready(self, scan: Scan) -> bool:
        """Whether the model can start with this scan; asked until it says so."""
        ...

    def at_rest(self, scan: Scan) -> Transform:
        """(4, 4) where the body is at a scan if it had no velocity at the last one."""
        ...

    def begin_moving(
        self, first: Scan, second: Scan, found: PoseGaussian | None
    ) -> PoseTrack | None:
        """Start anew at the first scan, moving so that the second is where it was found.

        Returns the poses during the first scan; None when they are as they were taken to be.
        """
        ...

    def predict(self, scan: Scan) -> Prediction:
        """Go on to the mean time of a scan and say how the body should have moved during it."""
        ...

    def correct(self, measurement: PoseMeasurement) -> Correction:
        """Fuse a pose."""
        ...

    def predict_again(
        self, scan: Scan, prediction: Prediction, measurement: PoseMeasurement
    ) -> Prediction | None:
        """Return it with the track that a scan has shown; None: hardly another one."""
        ...

    def predict_stop(self, scan: Scan, prediction: Prediction) -> Prediction | None:
        """Return it for a body that has come to rest, with that doubt; None: it cannot have."""
        ...

    def track(self, scan: Scan) -> PoseTrack | None:
        """Poses during the scan by what is known after ``correct``; None: as predicted."""
        ...

    def moving(self) -> Moving:
        """Velocity and biases."""
        ...

    def give_way(self) -> bool:
        """Make the prediction less certain, for a scan that contradicts it; False: it stands."""
        ...

    def without_readings(self, scan: Scan) -> Prediction | None:
        """Predict a scan again without the readings that it contradicts; None: there are none."""
        ...

    def with_readings(self) -> None:
        """Take ``without_readings`` back."""
        ...

    def doubt_readings(self, innovation: Floats) -> None:
        """Scans were off the prediction the same way again and again, the last by this (6,)."""
        ...

    def mapped_wrong(self, shifted_m: float, turned_rad: float) -> None:
        """Take note that the last scans entered the map that far off [m], [rad]."""
        ...

    def set_clock(self, stamp_ns: int) -> None:
        """Take the state to be of another time: the clock was set [ns]."""
        ...

    def surrender(self) -> bool:
        """Scans contradicted it for long: whether it begins anew, with a velocity to be learnt."""
        ...

    def map_turned(self, turn_cov: Covariance) -> None:
        """Take note that the map has turned, by (3, 3) in the body's axes [rad^2]."""
        ...

    def hand_over(self, share: float) -> None:
        """Let this share of the map be made anew at the present pose, with the pose's error."""
        ...

    def clone(self) -> None:
        """Make the present pose the one that the next step is relative to."""
        ...
