# SPDX-License-Identifier: MIT
"""ROS recordings as a dataset: ROS 1 bags, split ones too, ROS 2 bags (SQLite, MCAP), bare files.

Opening looks at the first messages, decides how everything is to be read, and says what it is not
sure of. Every walk through scans or IMU samples opens the files anew and holds one message.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TypeVar

import numpy as np

from svnicp.arrays import Transform
from svnicp.data.dataset import Dataset, DatasetInfo, Finding
from svnicp.data.extrinsics import checked_extrinsics
from svnicp.data.measurements import ImuSample, Scan
from svnicp.data.ros.bag_files import all_contents, all_messages, open_files, warn_of_overlap
from svnicp.data.ros.imu_stream import ImuStream, open_imu
from svnicp.data.ros.lidar_stream import open_lidar
from svnicp.data.ros.options import RosBagOptions
from svnicp.data.ros.raw_message import RawMessage, Topic
from svnicp.data.ros.survey import coverage, header_stamps, last_stamp_ns, survey
from svnicp.data.ros.tally import UNREADABLE, Tally
from svnicp.data.ros.tf_tree import find_transform, tf_edges
from svnicp.data.ros.topics import choose_imu, choose_lidar, static_tf_topics
from svnicp.data.ros.wire import MessageReader
from svnicp.data.warn_once import WarnOnce
from svnicp.errors import InputError

logger = logging.getLogger(__name__)

Decoded = TypeVar("Decoded")

NUM_FIRST = 20
"""Scans from which the reading of all others is decided."""


class RosBag(Dataset):
    """Scans and IMU samples of a ROS recording.

    Parameters
    ----------
    path
        A .bag, .mcap or .db3 file, a folder with split ones or with a ROS 2 bag, or a list of
        files that belong together.
    options
        What is known; the rest is detected and reported by ``info``.

    Raises
    ------
    DatasetError
        If nothing can be read, or the topics are ambiguous; then the message lists them.
    """

    def __init__(
        self, path: str | Path | Sequence[Path], options: RosBagOptions | None = None
    ) -> None:
        options = options or RosBagOptions()
        paths = [Path(path)] if isinstance(path, str | Path) else list(path)
        self.name = paths[0].stem
        self._files = open_files(paths)
        self._contents = all_contents(self._files)
        self.lidar_topic = choose_lidar(self._contents, options.lidar_topic, str(paths[0]))
        self.imu_topic = choose_imu(self._contents, options.imu_topic, str(paths[0]))
        first = list(islice(self._messages(self.lidar_topic), NUM_FIRST))
        self._lidar = open_lidar(self.lidar_topic, first, options)
        scans_ns = self._scan_span(first)
        self.span_ns = scans_ns
        warn_of_overlap(self._files, self.lidar_topic.name)
        self._imu: ImuStream | None = None
        self._coverage: Finding | None = None
        if self.imu_topic is not None:
            self._imu = open_imu(self.imu_topic, self._messages(self.imu_topic), options.imu_unit)
            self._coverage = self._imu_coverage(scans_ns, self.imu_topic, self._imu)
        T_body_lidar, source = self._find_extrinsics(options.T_body_lidar)
        self.T_body_lidar, self._extrinsics = checked_extrinsics(T_body_lidar, source)
        self._file_name = paths[0].name
        self._warn = WarnOnce(logger)
        self._scan_tally = Tally("scans")
        self._imu_tally = Tally("IMU samples")

    @property
    def dropped(self) -> dict[str, Counter[str]]:
        """What was wrong in the latest walk through "scans" and "imu", and how often."""
        return {"scans": self._scan_tally.counts, "imu": self._imu_tally.counts}

    def scans(self) -> Iterator[Scan]:
        """Yield the scans in the order of their stamps; those without valid points are empty."""
        tally = self._scan_tally = Tally(f"scans of {self.lidar_topic.name}", self._file_name)
        for cloud in self._decoded(self.lidar_topic, self._lidar.decode, tally):
            if tally.is_later(cloud.header.stamp_ns):
                yield self._lidar.scan(cloud, tally)

    def imu_samples(self) -> Iterator[ImuSample]:
        """Yield the IMU samples in the order of their stamps; none without an IMU."""
        if self.imu_topic is None or self._imu is None:
            return
        tally = self._imu_tally = Tally(f"IMU samples of {self.imu_topic.name}", self._file_name)
        for sample in self._decoded(self.imu_topic, self._imu.sample, tally):
            if tally.is_later(sample.stamp_ns):
                yield sample

    def info(self) -> DatasetInfo:
        """Return what was understood; walks through all stamps to count gaps."""
        scans = survey(self._files, self.lidar_topic.name)
        findings = [
            Finding("LiDAR topic", _described(self.lidar_topic), override="--lidar-topic"),
            scans.finding("scans"),
            *self._lidar.findings(),
        ]
        imu_period_s = None
        if self.imu_topic is None or self._imu is None:
            findings.append(Finding("IMU topic", "none", override="--imu-topic"))
        else:
            samples = survey(self._files, self.imu_topic.name)
            imu_period_s = samples.period_s
            findings += [
                Finding("IMU topic", _described(self.imu_topic), override="--imu-topic"),
                samples.finding("IMU samples"),
                *self._imu.findings(),
                *([self._coverage] if self._coverage else []),
            ]
        return DatasetInfo(
            kind=self._kind(),
            num_scans=scans.num_messages,
            duration_s=scans.duration_s,
            scan_period_s=scans.period_s,
            imu_period_s=imu_period_s,
            sensor=self._lidar.sensor,
            findings=(*findings, self._extrinsics),
        )

    def _kind(self) -> str:
        """Format in a few words, with the number of files."""
        kind = self._files[0].kind
        return kind if len(self._files) == 1 else f"{kind}, {len(self._files)} files"

    def _messages(self, topic: Topic) -> Iterator[RawMessage]:
        """Messages of one topic from all files, from the beginning."""
        return all_messages(self._files, [topic.name])

    def _decoded(
        self, topic: Topic, decode: Callable[[MessageReader], Decoded], tally: Tally
    ) -> Iterator[Decoded]:
        """Messages of one topic that can be read; what is wrong with the others is said once."""
        for message in self._messages(topic):
            tally.message()
            try:
                decoded = decode(message.reader())
            except InputError as error:
                tally.fault(UNREADABLE, str(error))
            else:
                yield decoded
        tally.report(self._warn)

    def _scan_span(self, first: Sequence[RawMessage]) -> tuple[int, int]:
        """First and last stamp of the scans [ns]."""
        first_ns = min(header_stamps(first))
        last_ns = last_stamp_ns(self._files, self.lidar_topic.name, self._contents.end_ns)
        return first_ns, last_ns or first_ns

    def _imu_coverage(
        self, scans_ns: tuple[int, int], topic: Topic, imu: ImuStream
    ) -> Finding | None:
        """Whether the IMU covers the scans; warns if it does not."""
        end_ns = self._contents.end_ns
        last_imu_ns = last_stamp_ns(self._files, topic.name, end_ns) or imu.first_ns
        found = coverage(scans_ns, (imu.first_ns, last_imu_ns), self._lidar.period_s)
        if found is not None:
            logger.warning("The IMU on %s does not cover all scans: %s.", topic.name, found.value)
        return found

    def _find_extrinsics(self, given: Transform | None) -> tuple[Transform, str]:
        """Place of the LiDAR on the body, (4, 4), and where it is known from."""
        if given is not None:
            return given, "given"
        if self._imu is None:
            return np.eye(4), "without an IMU, the LiDAR is the body"
        body, lidar = self._imu.frame_id, self._lidar.frame_id
        if body == lidar:
            return np.eye(4), f'IMU and LiDAR share the frame "{lidar}"'
        messages = all_messages(self._files, static_tf_topics(self._contents))
        edges = tf_edges(message.reader() for message in messages)
        T_body_lidar = find_transform(edges, body, lidar)
        if T_body_lidar is None:
            return np.eye(4), f'assumed: /tf_static does not connect "{body}" and "{lidar}"'
        return T_body_lidar, f'/tf_static, from "{lidar}" to "{body}"'


def _described(topic: Topic) -> str:
    """Name and type of a topic."""
    return f"{topic.name} ({topic.msgtype})"
