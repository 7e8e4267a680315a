# SPDX-License-Identifier: MIT
"""A ROS 1 node through rospy: subscribes to scans and IMU, publishes odometry.

rospy comes with ROS or with Debian (python3-rospy), not from PyPI; a virtual environment does not
see it, so the usual folders are looked through. Messages come in as bytes and go out by the message
classes of ROS.
"""

import importlib
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from svnicp.data.ros.options import RosBagOptions
from svnicp.errors import InputError, MissingExtraError
from svnicp.live.connection import who_can_reach
from svnicp.live.decoder import LiveDecoder
from svnicp.live.heard_topics import heard_topics
from svnicp.live.outgoing import MessageMaker, Outgoing

FOLDERS = ("/opt/ros/noetic/lib/python3/dist-packages", "/usr/lib/python3/dist-packages")
"""Where ROS and Debian put rospy."""
BUFFER_BYTES = 2**24
"""Room for a few clouds on their way in."""
QUEUE_IN, QUEUE_OUT = 200, 10
"""Messages that wait on their way in and out; then the oldest go."""


class Ros1Node:
    """A node that runs until it is closed; there can be one in a process.

    Parameters
    ----------
    maker
        Knows the topics to advertise.
    options
        Topics to subscribe to; those not named are looked for.
    host
        Address to listen on; None for that of the environment (ROS_HOSTNAME, ROS_IP), or else
        127.0.0.1, which only this machine reaches.

    Raises
    ------
    MissingExtraError
        If there is no rospy.
    InputError
        If there is no ROS master.
    """

    def __init__(
        self, maker: MessageMaker, options: RosBagOptions, host: str | None = None
    ) -> None:
        self._rospy = _import_from_ros("rospy")
        self._host = _listen_on(host)
        rosgraph = _import_from_ros("rosgraph")
        self._master = rosgraph.get_master_uri()
        if not rosgraph.is_master_online():
            raise InputError(
                f"{self._master}: there is no ROS master; start roscore, or set ROS_MASTER_URI."
            )
        self._options = options
        self._rospy.init_node("svnicp", anonymous=True, disable_signals=True)
        message_class = _import_from_ros("roslib.message").get_message_class
        self._classes = {}
        self._publishers = {}
        for topic, msgtype in maker.topics().items():
            name = msgtype.replace("/msg/", "/")
            found = message_class(name)
            if found is None:
                raise _missing(name.split("/", maxsplit=1)[0])
            self._classes[topic] = found
            self._publishers[topic] = self._rospy.Publisher(topic, found, queue_size=QUEUE_OUT)

    @property
    def address(self) -> str:
        """Master, and who can reach the node."""
        return f"{self._master} as {self._rospy.get_name()} ({who_can_reach(self._host)})"

    def listen(self, decoder: LiveDecoder) -> None:
        """Subscribe to the topics of the LiDAR and of the IMU."""
        published = self._rospy.get_published_topics()
        topics = heard_topics(
            published, self._options, uses_imu=decoder.uses_imu, where=self._master
        )
        for topic in filter(None, topics):

            def on_message(message: Any, topic: str = topic) -> None:  # noqa: ANN401
                decoder.on_message(topic, message._connection_header["type"], message._buff)

            self._rospy.Subscriber(
                topic, self._rospy.AnyMsg, on_message,
                queue_size=QUEUE_IN, buff_size=BUFFER_BYTES, tcp_nodelay=True,
            )  # fmt: skip

    def publish(self, message: Outgoing) -> None:
        """Send a message to all who subscribe."""
        self._publishers[message.topic].publish(
            self._classes[message.topic]().deserialize(message.data)
        )

    def close(self) -> None:
        """Leave the graph."""
        self._rospy.signal_shutdown("svnicp live has ended")


def _import_from_ros(module: str) -> ModuleType:
    """Import a module of ROS, from the path or from where ROS and Debian put it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        for folder in FOLDERS:
            if (
                Path(folder) / module.split(".", maxsplit=1)[0]
            ).is_dir() and folder not in sys.path:
                sys.path.append(folder)  # behind everything else
                return importlib.import_module(module)
        raise _missing(error.name or module) from None


def _missing(module: str) -> MissingExtraError:
    return MissingExtraError(
        f"The ROS 1 node needs {module}, which is not installed: sudo apt install python3-rospy "
        "python3-nav-msgs python3-sensor-msgs python3-tf2-msgs python3-diagnostic-msgs (Debian), "
        "or source /opt/ros/noetic/setup.bash"
    )


def _listen_on(host: str | None) -> str:
    """Tell rospy which address to listen on, and return it."""
    if host is None:
        host = os.environ.get("ROS_HOSTNAME") or os.environ.get("ROS_IP") or "127.0.0.1"
    os.environ.pop("ROS_IP", None)
    os.environ["ROS_HOSTNAME"] = host
    return host
