# SPDX-License-Identifier: MIT
"""Which topics of a recording are its LiDAR and its IMU.

They are chosen where there is one of a kind. Where there are more, or a name that was given is
wrong, the answer is an error with a table of what there is and the flag that settles it.
"""

from collections.abc import Sequence

from svnicp.data.ros.raw_message import Contents, Topic
from svnicp.errors import DatasetError

POINT_CLOUD2 = "sensor_msgs/PointCloud2"
VELODYNE_SCAN = "velodyne_msgs/VelodyneScan"
LIVOX_CLOUDS = ("livox_ros_driver/CustomMsg", "livox_ros_driver2/CustomMsg")
LIDAR_TYPES = (POINT_CLOUD2, VELODYNE_SCAN, *LIVOX_CLOUDS)
IMU_TYPES = ("sensor_msgs/Imu",)
TF_TYPE = "tf2_msgs/TFMessage"

NO_TOPIC = "none"
"""Name that means: do not use the IMU."""


def choose_lidar(contents: Contents, given: str | None, where: str) -> Topic:
    """Topic of the LiDAR.

    Raises
    ------
    DatasetError
        If there is none, more than one, or not the one that was given; lists what there is.
    """
    chosen = _choose(contents.topics, LIDAR_TYPES, given)
    if isinstance(chosen, Topic):
        return chosen
    problem = f"{chosen} for the LiDAR (PointCloud2, VelodyneScan or Livox CustomMsg)"
    raise DatasetError(_with_table(where, problem, "--lidar-topic", contents))


def choose_imu(contents: Contents, given: str | None, where: str) -> Topic | None:
    """Topic of the IMU, or None if there is none or none is wanted.

    Raises
    ------
    DatasetError
        If there is more than one, or not the one that was given; lists what there is.
    """
    if given == NO_TOPIC:
        return None
    chosen = _choose(contents.topics, IMU_TYPES, given)
    if isinstance(chosen, Topic):
        return chosen
    if given is None and not any(
        topic.msgtype in IMU_TYPES for topic in contents.topics if topic.num_messages
    ):
        return None
    problem = f"{chosen} for the IMU"
    flag = f'--imu-topic (or "{NO_TOPIC}" to do without)'
    raise DatasetError(_with_table(where, problem, flag, contents))


def static_tf_topics(contents: Contents) -> list[str]:
    """Names of the topics with transforms between frames that do not move."""
    return [
        topic.name
        for topic in contents.topics
        if topic.msgtype == TF_TYPE and topic.name.endswith("tf_static")
    ]


def _choose(topics: Sequence[Topic], types: Sequence[str], given: str | None) -> Topic | str:
    """Topic of one of the types, or what stands against choosing one."""
    candidates = [topic for topic in topics if topic.msgtype in types and topic.num_messages]
    if given is not None:
        named = [topic for topic in candidates if topic.name.lstrip("/") == given.lstrip("/")]
        return named[0] if named else f"has no topic {given}"
    if len(candidates) == 1:
        return candidates[0]
    return f"has {len(candidates)} topics" if candidates else "has no topic"


def topic_table(contents: Contents) -> str:
    """List topics with their types, numbers of messages and rates, a line each."""
    rows = [("topic", "type", "messages", "rate")]
    for topic in contents.topics:
        rate = (
            f"{topic.num_messages / contents.duration_s:.1f} Hz"
            if contents.duration_s > 0.0
            else "-"
        )
        rows.append((topic.name, topic.msgtype, str(topic.num_messages), rate))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    aligned = "<<>>"
    return "\n".join(
        "  " + "  ".join(f"{cell:{a}{w}}" for cell, a, w in zip(row, aligned, widths, strict=True))
        for row in rows
    )


def _with_table(where: str, problem: str, flag: str, contents: Contents) -> str:
    """Sentence for a topic that could not be chosen, with the table of what there is."""
    return f"{where} {problem}; choose with {flag}:\n{topic_table(contents)}"
