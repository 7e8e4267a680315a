# SPDX-License-Identifier: MIT
"""How a filter is carried from one scan to the next: by readings, or as it went without them.

In: the filter, the buffered readings and a scan. The filter ends at the mean time of the scan. Out:
the track that deskews it, and how well the way there is known.
"""

import dataclasses

import numpy as np

from svnicp.arrays import Covariance, Floats
from svnicp.config import InertialConfig, MotionConfig
from svnicp.data.imu_noise import ImuNoise
from svnicp.data.measurements import Scan
from svnicp.inertial import Eskf, ImuBuffer
from svnicp.odometry.inertial_tracks import coast, navigate, scan_noise
from svnicp.odometry.readings import between_readings, is_slow, lost_at_ends, swinging
from svnicp.preprocess import PoseTrack


class Carrying:
    """Carries a filter on, and remembers how it did so last."""

    def __init__(self, config: InertialConfig, motion: MotionConfig, noise: ImuNoise) -> None:
        self._config, self._configured, self._noise = config, motion, noise
        self._motion = motion
        """How the body may turn where readings are missing, by those before."""
        self._swings = 0.0
        """How much it turned to and fro, by the last readings; see ``swinging``."""
        self.coasted_s = 0.0
        """How long the last step went on without readings [s]."""
        self._unseen_s = 0.0
        """How long ago the rate of turning was seen at its end [s]."""
        self.rate, self.rate_var = np.zeros(3), 0.0
        """(3,) angular rate at its end, by the readings, and its variance [rad/s]."""
        self._gyroscope_var = noise.gyroscope**2

    def missed(self, imu: ImuBuffer, begin_ns: int, end_ns: int) -> Floats:
        """What the readings of a step do not show, for ``Eskf.predict``."""
        since_ns = end_ns - int(self._config.start_s * 1e9)
        if is_slow(imu, self._config):
            return between_readings(imu, since_ns, end_ns)
        seconds = max((end_ns - begin_ns) * 1e-9, imu.period_s)
        return lost_at_ends(imu, since_ns, end_ns, self._noise) / seconds

    def navigate(self, eskf: Eskf, imu: ImuBuffer, begin_ns: int, scan: Scan) -> PoseTrack:
        """Go on through the readings."""
        self.coasted_s = self._unseen_s = 0.0
        missed = self.missed(imu, begin_ns, scan.mean_ns)
        track, rows = navigate(eskf, imu, begin_ns, scan, missed)
        self.rate = rows[-1, 1:4].copy()
        self._gyroscope_var = self._noise.gyroscope**2 + float(missed[0])
        self.rate_var = self._gyroscope_var / max(imu.period_s, 1e-4)
        self._swings = swinging(imu, scan.mean_ns - int(self._config.start_s * 1e9), scan.mean_ns)
        return track

    def coast(
        self, eskf: Eskf, begin_ns: int, scan: Scan, turning: Floats, unseen_s: float = 0.0
    ) -> PoseTrack:
        """Go on as the body went, turning at a rate (3,) [rad/s], where readings are missing.

        ``unseen_s``: how long ago, at the beginning, the rate was seen: by then it is another one.
        """
        most = max(self._configured.angular_acceleration, self._swings)
        self._motion = dataclasses.replace(self._configured, angular_acceleration=most)
        self.coasted_s = (scan.mean_ns - begin_ns) * 1e-9
        self._unseen_s = unseen_s + self.coasted_s
        self.rate, self.rate_var = turning + eskf.gyro_bias, self.turning_var
        wandered = (self._unseen_s**3 - unseen_s**3) / max(self.coasted_s, 1e-9) ** 3
        farther = float(np.sqrt(max(wandered, 1.0)))
        turns = dataclasses.replace(self._motion, angular_acceleration=most * farther)
        return coast(eskf, turns, begin_ns, scan, turning)

    def scan_noise(self, scan: Scan) -> Covariance:
        """What motion during a scan that is not known leaves in its pose, (6, 6)."""
        return scan_noise(scan, self._gyroscope_var, self._motion, self.coasted_s)

    @property
    def turning_var(self) -> float:
        """Variance of the rate of turning that a scan was deskewed by, beyond the readings'."""
        return self._motion.angular_acceleration**2 * self._unseen_s
