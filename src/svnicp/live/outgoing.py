# SPDX-License-Identifier: MIT
"""What is published of an estimate: ROS messages as bytes, by their topics.

In: live estimates. Out: nav_msgs/Odometry, diagnostics with weak directions and the health of the
run and, on request, tf and the scan as a cloud, serialised for ROS 1 or ROS 2. A connection sends
them.
"""

import dataclasses
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from svnicp.arrays import Points, Transform
from svnicp.config import PreprocessConfig
from svnicp.data.measurements import Scan
from svnicp.estimate import Estimate
from svnicp.lie import se3_exp
from svnicp.live.live_odometry import LiveEstimate
from svnicp.live.statistics import LiveStatistics
from svnicp.preprocess import PoseTrack, body_points
from svnicp.recording.odometry_messages import DIAGNOSTICS, ODOMETRY, Frames, diagnostics, odometry
from svnicp.recording.ros_messages import CLOUD, TF, Message, RosMessages

NUM_NODES = 17
"""Poses during a scan from which its points are moved to one time."""

_FINE, _WARN = 0, 1


@dataclass(frozen=True, kw_only=True)
class OutputConfig:
    """What is published, under which names."""

    frames: Frames = dataclasses.field(default_factory=Frames)
    prefix: str = ""
    """Put before the topics odometry and cloud, such as /svnicp."""
    tf: bool = False
    """Whether to publish the transform from the world to the body."""
    cloud: bool = False
    """Whether to publish the points of each scan, without the distortion by motion."""


class Outgoing(NamedTuple):
    """One message to send."""

    topic: str
    msgtype: str
    """Such as ``nav_msgs/msg/Odometry``."""
    data: bytes
    """Serialised for the version of ROS."""
    stamp_ns: int
    """Time that it is about [ns]."""


class MessageMaker:
    """Turns live estimates into messages of one version of ROS."""

    def __init__(
        self, version: Literal[1, 2], config: OutputConfig, T_body_lidar: Transform
    ) -> None:
        self.make = RosMessages(version)
        self._config = config
        self._T_body_lidar = T_body_lidar
        self._num_dropped = 0

    def topics(self) -> dict[str, str]:
        """Types of the messages that are published, by their topics."""
        config = self._config
        topics = {f"{config.prefix}/odometry": ODOMETRY, "/diagnostics": DIAGNOSTICS}
        if config.tf:
            topics["/tf"] = TF
        if config.cloud:
            topics[f"{config.prefix}/cloud"] = CLOUD
        return topics

    def messages(self, live: LiveEstimate) -> list[Outgoing]:
        """Messages of one estimate, in the order in which they are sent."""
        estimate, frames = live.estimate, self._config.frames
        made: dict[str, Message] = {ODOMETRY: odometry(self.make, estimate, frames)}
        if self._config.tf:
            made[TF] = self.make.transform(
                estimate.stamp_ns, frames.world, frames.body, estimate.T_world_body
            )
        made[DIAGNOSTICS] = self._diagnostics(estimate, live.statistics)
        if self._config.cloud:
            points = points_at_estimate(live.scan, estimate, self._T_body_lidar)
            cloud = self.make.cloud(Scan(estimate.stamp_ns, points))
            header = self.make.header(estimate.stamp_ns, frames.body)
            made[CLOUD] = dataclasses.replace(cloud, header=header)
        return [
            Outgoing(topic, msgtype, self.make.serialise(made[msgtype]), estimate.stamp_ns)
            for topic, msgtype in self.topics().items()
        ]

    def _diagnostics(self, estimate: Estimate, statistics: LiveStatistics) -> Message:
        """Health of the odometry, and of the live run."""
        dropped = statistics.num_dropped > self._num_dropped
        self._num_dropped = statistics.num_dropped
        message = "scans are dropped: the machine is too slow for them" if dropped else "keeping up"
        values = [
            self.make.make("diagnostic_msgs/msg/KeyValue", key=key, value=str(value))
            for key, value in dataclasses.asdict(statistics).items()
        ]
        status = self.make.make(
            "diagnostic_msgs/msg/DiagnosticStatus",
            level=_WARN if dropped else _FINE, name="svnicp: live", message=message,
            hardware_id="", values=values,
        )  # fmt: skip
        array = diagnostics(self.make, estimate, self._config.frames)
        return dataclasses.replace(array, status=[*array.status, status])


def points_at_estimate(scan: Scan, estimate: Estimate, T_body_lidar: Transform) -> Points:
    """Points (n, 3) of a scan in the body at the time of its estimate, moved there by its twist."""
    track = None
    if scan.end_ns > scan.stamp_ns:
        stamps_ns = np.linspace(scan.stamp_ns, scan.end_ns, NUM_NODES).round().astype(np.int64)
        seconds = (stamps_ns - estimate.stamp_ns) * 1e-9
        poses = se3_exp(seconds[:, None] * estimate.twist)
        nodes = np.concatenate([poses[:, :3, :3].reshape(-1, 9), poses[:, :3, 3]], axis=1)
        track = PoseTrack(estimate.stamp_ns, stamps_ns, nodes)
    return body_points(scan, track, T_body_lidar, PreprocessConfig()).points
