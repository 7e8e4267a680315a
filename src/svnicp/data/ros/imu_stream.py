# SPDX-License-Identifier: MIT
"""From messages of an IMU to samples in SI units.

``open_imu`` makes an ``ImuStream`` from the first second of a topic, which tells the unit of all of
it.
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass

from svnicp.data.dataset import Finding
from svnicp.data.measurements import ImuSample
from svnicp.data.ros.imu import AccelerationUnit, ImuUnit, acceleration_unit, decode_imu
from svnicp.data.ros.raw_message import RawMessage, Topic
from svnicp.data.ros.wire import MessageReader
from svnicp.errors import DatasetError, InputError

logger = logging.getLogger(__name__)

LOOK_NS = 1_000_000_000
"""How much of the recording the unit is told from [ns]."""


@dataclass(frozen=True)
class ImuStream:
    """How the messages of one IMU become samples."""

    frame_id: str
    """Coordinate frame of the IMU."""
    first_ns: int
    """Stamp of the first sample [ns]."""
    unit: AccelerationUnit

    def sample(self, message: MessageReader) -> ImuSample:
        """Sample of one message, in SI units."""
        return self.unit.sample(decode_imu(message)[1])

    def findings(self) -> list[Finding]:
        """Return what was understood about the IMU."""
        return [self.unit.finding()]


def open_imu(topic: Topic, messages: Iterable[RawMessage], given: ImuUnit | None) -> ImuStream:
    """Find out from its first second how to read an IMU.

    Raises
    ------
    DatasetError
        If no message can be read.
    """
    readings: list[ImuSample] = []
    frame_id = reason = ""
    for message in messages:
        try:
            header, reading = decode_imu(message.reader())
        except InputError as error:
            reason = reason or str(error)
            continue
        frame_id = frame_id or header.frame_id
        readings.append(reading)
        if reading.stamp_ns - readings[0].stamp_ns > LOOK_NS:
            break
    if not readings:
        raise DatasetError(f"{topic.name} has no message that can be read; the first: {reason}")
    unit = acceleration_unit(readings, given)
    if unit.doubt:
        logger.warning(
            "%s: accelerations in %s (%s): %s; inertial odometry needs gravity in them, so check "
            "--imu-unit.",
            *(topic.name, unit.unit, unit.evidence, unit.doubt),
        )
    return ImuStream(frame_id, readings[0].stamp_ns, unit)
