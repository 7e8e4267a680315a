# SPDX-License-Identifier: MIT
"""From messages of a LiDAR to scans: the decoder for their type, the convention of their times.

``open_lidar`` makes a ``LidarStream`` from the first few messages of a topic, which tell how all
others are to be read.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from svnicp.data.dataset import Finding
from svnicp.data.measurements import Scan
from svnicp.data.ros.livox import LIVOX_TIMES, POINT, decode_livox
from svnicp.data.ros.options import RosBagOptions
from svnicp.data.ros.point_cloud2 import PointCloud2, RawCloud, parse_point_cloud2, raw_cloud
from svnicp.data.ros.point_time_detection import (
    POSSIBLE_SPAN,
    TimeSample,
    detect_point_times,
    scan_period_s,
    time_fields,
)
from svnicp.data.ros.point_times import PointTimeOptions, PointTimes
from svnicp.data.ros.raw_message import RawMessage, Topic
from svnicp.data.ros.sensor_guess import guess_sensor
from svnicp.data.ros.tally import EMPTY, ODD_TIMES, Tally
from svnicp.data.ros.topics import POINT_CLOUD2, VELODYNE_SCAN
from svnicp.data.ros.velodyne import VELODYNE_TIMES, VelodyneDecoder
from svnicp.data.ros.wire import MessageReader
from svnicp.errors import DatasetError, InputError

logger = logging.getLogger(__name__)

FAR_PERIODS = 10.0
"""Points farther from their header than this many scan periods are of another clock."""

Decoder = Callable[[MessageReader], RawCloud]
Decoded = TypeVar("Decoded")


@dataclass(frozen=True)
class LidarStream:
    """How the messages of one LiDAR become scans."""

    decode: Decoder
    times: PointTimes | None
    """Convention of the times of points, None if they have none."""
    period_s: float
    """Typical time between two scans [s]."""
    frame_id: str
    """Coordinate frame of the points."""
    sensor: str
    """The LiDAR as far as it is known."""
    fields: str
    """What is known of every point, in words."""

    def scan(self, cloud: RawCloud, tally: Tally) -> Scan:
        """Scan of a decoded message; what is wrong with it is counted."""
        header_ns = cloud.header.stamp_ns
        if len(cloud.points) == 0:
            tally.fault(EMPTY)
        elif self.times is not None and cloud.raw_times is not None:
            start_ns, times_ns = self.times.apply(cloud.raw_times, header_ns)
            if np.ptp(times_ns) <= POSSIBLE_SPAN[1] * self.period_s * 1e9:
                return Scan(start_ns, cloud.points, times_ns)
            tally.fault(ODD_TIMES)
        return Scan(header_ns, cloud.points)

    def findings(self) -> list[Finding]:
        """Return what was understood about the points."""
        fields = Finding("point fields", self.fields)
        if self.times is not None:
            return [fields, self.times.finding()]
        value = "none: all points of a scan count as simultaneous, so no motion can be undone"
        return [fields, Finding("point time", value, override="--point-time-field")]


def open_lidar(topic: Topic, first: Sequence[RawMessage], options: RosBagOptions) -> LidarStream:
    """Find out from its first messages how to read a LiDAR.

    Raises
    ------
    DatasetError
        If none of them can be read, or not with the options that are given.
    """
    if not first:
        raise DatasetError(f"{topic.name} has no message that can be read; record it again.")
    openers = {POINT_CLOUD2: _open_point_cloud2, VELODYNE_SCAN: _open_velodyne}
    try:
        stream = openers.get(topic.msgtype, _open_livox)(first, options)
    except InputError as error:
        raise DatasetError(f"{topic.name}, first message: {error}") from None
    if stream.times is None:
        logger.warning("%s: points have no times, so scans cannot be undistorted.", topic.name)
    elif stream.times.doubt:
        logger.warning("%s: %s", topic.name, stream.times.doubt)
    elif options.point_times.reference is None and _recorded_too_early(stream, first):
        logger.warning(
            "%s: scans were recorded before their last points were measured, so their header may "
            "mark their end; then set --point-time-reference end.",
            topic.name,
        )
    _warn_of_options(topic, stream, first, options)
    return stream


def _warn_of_options(
    topic: Topic, stream: LidarStream, first: Sequence[RawMessage], options: RosBagOptions
) -> None:
    """Say which of the options that were given do nothing, or cannot be right."""
    if options.velodyne_model is not None and topic.msgtype != VELODYNE_SCAN:
        logger.warning(
            "%s: velodyne_model=%s has no effect, as these are no packets of a Velodyne.",
            *(topic.name, options.velodyne_model),
        )
    if options.point_times.reference == "absolute" and stream.times is not None:
        away_s = [
            1e-9 * abs(stream.scan(cloud, Tally("")).end_ns - cloud.header.stamp_ns)
            for _, cloud in _decodable(stream, first)
        ]
        if away_s and min(away_s) > FAR_PERIODS * stream.period_s:
            logger.warning(
                "%s: as absolute times, those of the points are %.3g s from their header; leave "
                "--point-time-reference out, unless the header is wrong.",
                *(topic.name, min(away_s)),
            )


def _decodable(
    stream: LidarStream, messages: Sequence[RawMessage]
) -> Iterator[tuple[RawMessage, RawCloud]]:
    """Yield the messages that can be decoded and have points, with their clouds."""
    for message in messages:
        try:
            cloud = stream.decode(message.reader())
        except InputError:  # counted when the scans are read
            continue
        if len(cloud.points):
            yield message, cloud


def _recorded_too_early(stream: LidarStream, first: Sequence[RawMessage]) -> bool:
    """Whether messages were recorded in the first half of the scans that they hold."""
    early = []
    for message, cloud in _decodable(stream, first):
        # Converters often record at the header's time, which tells nothing.
        if message.log_ns != cloud.header.stamp_ns:
            scan = stream.scan(cloud, Tally(""))
            middle_ns = (scan.stamp_ns + scan.end_ns) // 2
            early.append(scan.stamp_ns < message.log_ns < middle_ns)
    return bool(early) and all(early)


def _open_point_cloud2(first: Sequence[RawMessage], options: RosBagOptions) -> LidarStream:
    """Stream of PointCloud2 messages."""
    layouts = _readable(first, parse_point_cloud2)
    field = None if options.point_times.ignore else _time_field(layouts, options.point_times.field)

    def decode(message: MessageReader) -> RawCloud:
        return raw_cloud(parse_point_cloud2(message), field)

    clouds = _readable(first, decode)
    times = detect_point_times(field or "", _time_samples(clouds), options.point_times)
    fields = ", ".join(layouts[0].names)
    return _stream(decode, clouds, times, guess_sensor(layouts[0]), fields)


def _open_velodyne(first: Sequence[RawMessage], options: RosBagOptions) -> LidarStream:
    """Stream of VelodyneScan messages."""
    decode = VelodyneDecoder(options.velodyne_model)
    clouds = _readable(first, decode)
    times = _known_times(VELODYNE_TIMES, clouds, options.point_times)
    return _stream(decode, clouds, times, f"Velodyne {decode.model}", "packets of 1206 bytes")


def _open_livox(first: Sequence[RawMessage], options: RosBagOptions) -> LidarStream:
    """Stream of Livox's CustomMsg."""
    clouds = _readable(first, decode_livox)
    times = _known_times(LIVOX_TIMES, clouds, options.point_times)
    return _stream(decode_livox, clouds, times, "Livox", ", ".join(name for name, *_ in POINT))


def _stream(
    decode: Decoder, clouds: Sequence[RawCloud], times: PointTimes | None, sensor: str, fields: str
) -> LidarStream:
    """Stream with what its first clouds tell."""
    period_s = scan_period_s([cloud.header.stamp_ns for cloud in clouds])
    return LidarStream(decode, times, period_s, clouds[0].header.frame_id, sensor, fields)


def _readable(
    first: Sequence[RawMessage], decode: Callable[[MessageReader], Decoded]
) -> list[Decoded]:
    """Messages that can be decoded; the error of the first one if none can."""
    decoded: list[Decoded] = []
    errors: list[InputError] = []
    for message in first:
        try:
            decoded.append(decode(message.reader()))
        except InputError as error:
            errors.append(error)
    if not decoded:
        raise errors[0]
    return decoded


def _time_field(layouts: Sequence[PointCloud2], given: str | None) -> str | None:
    """Field that holds the times of points: the one that is given, or the first that varies."""
    if given is not None:
        layouts[0].values(given)  # raises if there is no such field
        return given
    for name in time_fields(layouts[0].names):
        times = [raw_cloud(layout, name).raw_times for layout in layouts]
        if any(raw is not None and len(raw) and np.ptp(raw) > 0 for raw in times):
            return name
    return None


def _time_samples(clouds: Sequence[RawCloud]) -> list[TimeSample]:
    """Headers and raw times of clouds that have times."""
    return [
        TimeSample(cloud.header.stamp_ns, cloud.raw_times)
        for cloud in clouds
        if cloud.raw_times is not None
    ]


def _known_times(
    known: PointTimes, clouds: Sequence[RawCloud], options: PointTimeOptions
) -> PointTimes | None:
    """Convention that a driver is known for, unless its times are missing or options differ."""
    given = replace(options, unit=options.unit or known.unit)
    found = detect_point_times(known.field, _time_samples(clouds), given)
    return known if found is not None and options == PointTimeOptions() else found
