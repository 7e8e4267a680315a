# SPDX-License-Identifier: MIT
"""``svnicp live``: its options, checked for contradictions before anything heavy is loaded.

The work is in ``live_work``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from svnicp.cli.arguments import UsageError, option, parse
from svnicp.cli.data_flags import DataFlags

DESCRIPTION = """\
Odometry on live scans and IMU readings, published as nav_msgs/Odometry with covariances, with
diagnostics and, if asked, tf and the cloud. foxglove serves a WebSocket (to look at in Foxglove, no
ROS needed), ros1 is a node through rospy, ros2 is a node over Zenoh (for rmw_zenoh). --data plays a
recording or a scenario in real time instead of listening. Ctrl-C ends it with a summary.

examples:
  svnicp live foxglove --data drive.mcap --cloud --tf
  svnicp live ros1 --imu-topic /imu/data --extrinsics rig.yaml --tf
  svnicp live ros2 --lidar-topic /points --no-imu
"""


@dataclass(frozen=True, kw_only=True)
class LiveCommand(DataFlags):
    """What ``svnicp live`` is asked to do."""

    interface: Annotated[
        Literal["foxglove", "ros1", "ros2"], tyro.conf.Positional, option("INTERFACE")
    ]
    """foxglove, ros1 or ros2."""
    data: Annotated[tuple[Path, ...], option("DATA")] = ()
    """Play a bag, a folder, several bags or a scenario in real time, instead of listening."""
    rate: Annotated[float, option("X")] = 1.0
    """Seconds of it per second."""
    host: Annotated[str | None, option("ADDRESS")] = None
    """Address to listen on (foxglove, ros1), 127.0.0.1 if left out: this machine only."""
    port: Annotated[int, option("N")] = 8765
    """Port to listen on (foxglove)."""
    router: Annotated[str, option("LOCATOR")] = "tcp/127.0.0.1:7447"
    """Zenoh router to connect to (ros2)."""
    domain: Annotated[int, option("N")] = 0
    """ROS domain (ros2)."""
    no_imu: Annotated[bool, option()] = False
    """LiDAR alone."""
    imu_model: Annotated[str | None, option("NAME")] = None
    """Noise of the IMU by its model, such as xsens_mti30; a generic one if left out."""
    tf: Annotated[bool, option()] = False
    """Publish the transform from --odom-frame to --body-frame."""
    cloud: Annotated[bool, option()] = False
    """Publish the points of every scan, undistorted, in --body-frame."""
    odom_frame: Annotated[str, option("NAME")] = "odom"
    """Name of the world's frame."""
    body_frame: Annotated[str, option("NAME")] = "base_link"
    """Name of the body's frame: the IMU's, or the LiDAR's without one."""
    prefix: Annotated[str, option("PREFIX")] = ""
    """Put before the topics /odometry and /cloud, such as /svnicp."""
    queue: Annotated[int, option("N")] = 2
    """Scans that may wait; one more drops the oldest."""
    imu_wait: Annotated[float, option("S")] = 0.1
    """How long a scan waits for IMU readings that reach its end [s]."""
    preset: Annotated[str | None, option("NAME")] = None
    """All parameters: default or paper."""
    config: Annotated[Path | None, option("FILE")] = None
    """All parameters from a YAML file, instead of a preset."""
    set: Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], option("KEY=VALUE")] = ()
    """Change single parameters, such as odometry.map_radius_m=50; may be repeated."""
    max_scans: Annotated[int | None, option("N")] = None
    """End after this many scans."""
    quiet: Annotated[bool, option()] = False
    """Print nothing but errors and warnings."""
    debug: Annotated[bool, option()] = False
    """Show the traceback of an error."""


def main(words: Sequence[str]) -> int:
    """Run the command with the words after its name; returns the exit code."""
    command = parse(LiveCommand, "svnicp live", DESCRIPTION, words)
    for message in contradictions(command):
        raise UsageError(message)
    from svnicp.cli.live_work import run  # noqa: PLC0415

    return run(command)


def contradictions(command: LiveCommand) -> list[str]:
    """Sentences about options that do not go together, or cannot be."""
    checks = {
        "--no-imu leaves nothing to do for --imu-model.": command.no_imu
        and bool(command.imu_model),
        "give either --preset or --config, not both; --set changes either.": (
            command.preset is not None and command.config is not None
        ),
        "--rate must be positive.": not command.rate > 0.0,
        "--rate is about a replay; name what to play with --data.": (
            command.rate != 1.0 and not command.data
        ),
        "--max-scans must be at least 1.": command.max_scans is not None and command.max_scans < 1,
        "--queue must be at least 1.": command.queue < 1,
        "--imu-wait must not be negative.": not command.imu_wait >= 0.0,
        "--port must be between 0 and 65535.": not 0 <= command.port <= 65535,
        "--host is where foxglove and ros1 listen; ros2 connects to --router.": (
            command.host is not None and command.interface == "ros2"
        ),
        "--prefix must start with a slash and not end with one.": bool(command.prefix)
        and (not command.prefix.startswith("/") or command.prefix.endswith("/")),
    }
    return [message for message, wrong in checks.items() if wrong]
