# SPDX-License-Identifier: MIT
"""What a motion model answers that has no IMU: there are no readings to doubt, or to leave out."""

from svnicp.arrays import Covariance, Floats
from svnicp.data.measurements import Scan
from svnicp.odometry.motion import Prediction


class NoReadings:
    """The part of a ``MotionModel`` that is about readings, for one without."""

    def without_readings(self, scan: Scan) -> Prediction | None:  # noqa: ARG002
        """Nothing: there are no readings that a scan could contradict."""
        return None

    def with_readings(self) -> None:
        """Nothing to take back."""

    def doubt_readings(self, innovation: Floats) -> None:
        """Nothing: there are none."""

    def mapped_wrong(self, shifted_m: float, turned_rad: float) -> None:
        """Nothing: no readings can have done it."""

    def map_turned(self, turn_cov: Covariance) -> None:
        """Nothing: gravity is not known in the map's axes."""

    def surrender(self) -> bool:
        """No: without readings a model gives way long before."""
        return False
