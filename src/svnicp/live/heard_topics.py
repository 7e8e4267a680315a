# SPDX-License-Identifier: MIT
"""Which of the topics that ROS nodes publish are the LiDAR and the IMU.

In: the names and types that are published now, and what the user named. Out: two topics; where it
is not clear, an error with a table of what there is and the flag that settles it.
"""

from collections.abc import Iterable
from typing import NamedTuple

from svnicp.data.ros.options import RosBagOptions
from svnicp.data.ros.raw_message import Contents, Topic, short_type
from svnicp.data.ros.topics import choose_imu, choose_lidar, topic_table
from svnicp.errors import DatasetError


class HeardTopics(NamedTuple):
    """Names of the topics to subscribe to."""

    lidar: str
    imu: str | None
    """None without an IMU."""


def heard_topics(
    published: Iterable[tuple[str, str]], options: RosBagOptions, *, uses_imu: bool, where: str
) -> HeardTopics:
    """Topics that are named, or the only ones of their kind that are published.

    Parameters
    ----------
    published
        Names and types of topics.
    options
        Topics that are named need not be published yet.
    uses_imu
        Whether an IMU is wanted.
    where
        Who publishes, for the sentence.

    Raises
    ------
    DatasetError
        If a topic is not named, and none or several would do.
    """
    topics = [Topic(name, short_type(msgtype), 1) for name, msgtype in published]
    contents = Contents(topics, 0, 0)
    lidar = options.lidar_topic or choose_lidar(contents, None, where).name
    if not uses_imu:
        return HeardTopics(lidar, None)
    if options.imu_topic is not None:
        return HeardTopics(lidar, options.imu_topic)
    found = choose_imu(contents, None, where)
    if found is None:
        raise DatasetError(
            f"{where} has no topic for the IMU; name it with --imu-topic, or do without by "
            f"--no-imu:\n{topic_table(contents)}"
        )
    return HeardTopics(lidar, found.name)
