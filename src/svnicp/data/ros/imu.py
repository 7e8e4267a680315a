# SPDX-License-Identifier: MIT
"""sensor_msgs/Imu: the samples of an IMU in SI units, whatever unit their driver writes.

Drivers should write accelerations in m/s^2; Livox and some others write them in g. The unit is told
from their typical length in the first second, which is that of gravity unless it was removed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from svnicp.data.dataset import Finding
from svnicp.data.measurements import ImuSample
from svnicp.data.ros.wire import Header, MessageReader
from svnicp.errors import InputError

STANDARD_GRAVITY = 9.80665
"""Acceleration that is called 1 g [m/s^2]."""

ImuUnit = Literal["m/s^2", "g"]

GRAVITY_RANGE = (0.7, 1.4)
"""Lengths, as a share of gravity's, that the median over a second may have on a moving robot."""

ANGULAR_VELOCITY = slice(13, 16)
LINEAR_ACCELERATION = slice(25, 28)
"""Where they are among the 37 numbers of a message: the others are orientation and covariances."""


@dataclass(frozen=True)
class AccelerationUnit:
    """Unit of a driver's accelerations, and what it was told from."""

    unit: ImuUnit
    doubt: str = ""
    """What their length says against it, empty if it is that of gravity."""
    evidence: str = ""

    def sample(self, reading: ImuSample) -> ImuSample:
        """Return a reading in SI units."""
        if self.unit == "m/s^2":
            return reading
        acceleration = reading.linear_acceleration * STANDARD_GRAVITY
        return ImuSample(reading.stamp_ns, reading.angular_velocity, acceleration)

    def finding(self) -> Finding:
        """Return the unit in words."""
        value = self.unit if self.unit == "m/s^2" else f"g, multiplied by {STANDARD_GRAVITY}"
        if self.doubt:
            value += f"; {self.doubt}, so inertial odometry will fail"
        return Finding("IMU acceleration unit", value, self.evidence, "--imu-unit")


def decode_imu(message: MessageReader) -> tuple[Header, ImuSample]:
    """Header and reading of one message, in the units of its driver.

    Raises
    ------
    InputError
        If the message is cut off or its values are not finite.
    """
    header = message.header()
    values = message.numbers("f8", 37).astype(np.float64)
    rate, acceleration = values[ANGULAR_VELOCITY], values[LINEAR_ACCELERATION]
    if not (np.isfinite(rate).all() and np.isfinite(acceleration).all()):
        raise InputError("its angular velocity or acceleration is not finite.")
    return header, ImuSample(header.stamp_ns, rate, acceleration)


def acceleration_unit(readings: Sequence[ImuSample], given: ImuUnit | None) -> AccelerationUnit:
    """Unit of accelerations, from the readings of the first second or as it is given."""
    if not readings:
        return AccelerationUnit(given or "m/s^2", evidence="there are no samples")
    with np.errstate(over="ignore"):  # an absurd length is infinite
        lengths = np.linalg.norm([reading.linear_acceleration for reading in readings], axis=1)
    length = float(np.median(lengths))
    evidence = f"median length {length:.3g} over the first {len(readings)} samples"

    def in_gravities(unit: ImuUnit) -> float:
        return length if unit == "g" else length / STANDARD_GRAVITY

    def is_gravity(unit: ImuUnit) -> bool:
        return GRAVITY_RANGE[0] <= in_gravities(unit) <= GRAVITY_RANGE[1]

    unit: ImuUnit = given or ("g" if is_gravity("g") else "m/s^2")
    other: ImuUnit = "m/s^2" if unit == "g" else "g"
    doubt = ""
    if not is_gravity(unit):
        share = in_gravities(unit)
        doubt = "gravity seems to have been removed"
        if is_gravity(other):
            doubt = f"they are {share:.2g} times as long as gravity, and would fit in {other}"
        elif share > GRAVITY_RANGE[1]:
            doubt = f"they are {share:.2g} times as long as gravity, in whatever unit that is"
    return AccelerationUnit(unit, doubt, evidence)
