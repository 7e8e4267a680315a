# SPDX-License-Identifier: MIT
"""A ROS 2 node over Zenoh, in the wire format of rmw_zenoh; no ROS is installed for it.

Other nodes use rmw_zenoh_cpp and the same router (``ros2 run rmw_zenoh_cpp rmw_zenohd``). Tested
with Zenoh routers and peers that speak this format, not with rmw_zenoh itself.
"""

import hashlib
import json
import re
import time
from typing import Any

from svnicp.data.ros.options import RosBagOptions
from svnicp.errors import InputError
from svnicp.extras import require
from svnicp.live.decoder import LiveDecoder
from svnicp.live.heard_topics import heard_topics
from svnicp.live.outgoing import MessageMaker, Outgoing
from svnicp.live.zenoh_names import TOKENS, NodeName, RosTopic, attachment, published_topic
from svnicp.recording.ros_messages import CLOUD, IMU

GRAPH_S = 2.0
"""How long to ask who publishes what [s]."""
NODE = "svnicp"


class Ros2Node:
    """A node that runs until it is closed.

    Parameters
    ----------
    maker
        Knows the topics to advertise.
    options
        Topics to subscribe to; those not named are looked for.
    router
        Where the Zenoh router is, such as ``tcp/127.0.0.1:7447``.
    domain
        The ROS domain.

    Raises
    ------
    MissingExtraError
        If Zenoh is not installed.
    InputError
        If there is no router.
    """

    def __init__(
        self,
        maker: MessageMaker,
        options: RosBagOptions,
        router: str = "tcp/127.0.0.1:7447",
        domain: int = 0,
    ) -> None:
        zenoh = require("zenoh", "live", "The ROS 2 node")
        self._session = _session(zenoh, router)
        self._router, self._options, self._domain = router, options, domain
        self._hash = maker.make.store.hash_rihs01
        self._name = NodeName(domain, str(self._session.zid()), NODE)
        tokens = self._session.liveliness()
        self._tokens = [tokens.declare_token(self._name.token())]
        self._subscribers: list[Any] = []
        self._publishers: dict[str, Any] = {}
        self._senders: dict[str, bytes] = {}
        self._numbers: dict[str, int] = {}
        for topic, msgtype in maker.topics().items():
            named = RosTopic(topic, msgtype, self._hash(msgtype))
            token = self._announce("MP", named)
            self._publishers[topic] = self._session.declare_publisher(
                named.key(domain), congestion_control=zenoh.CongestionControl.DROP
            )
            self._senders[topic] = hashlib.md5(token.encode(), usedforsecurity=False).digest()
            self._numbers[topic] = 0

    @property
    def address(self) -> str:
        """Router, and the domain."""
        return f"{self._router}, domain {self._domain} (connects there, and listens nowhere)"

    def listen(self, decoder: LiveDecoder) -> None:
        """Subscribe to the topics of the LiDAR and of the IMU."""
        published = {topic.name: topic.msgtype for topic in self._published()}
        topics = heard_topics(
            published.items(), self._options, uses_imu=decoder.uses_imu, where=self._router
        )
        self._subscribe(decoder, topics.lidar, published.get(topics.lidar, CLOUD))
        if topics.imu is not None:
            self._subscribe(decoder, topics.imu, published.get(topics.imu, IMU))

    def publish(self, message: Outgoing) -> None:
        """Send a message to all who subscribe; it is dropped where there is no room."""
        topic = message.topic
        self._numbers[topic] += 1
        extra = attachment(self._numbers[topic], time.time_ns(), self._senders[topic])
        self._publishers[topic].put(message.data, attachment=extra)

    def close(self) -> None:
        """Leave the graph and the router."""
        self._session.close()

    def _published(self) -> list[RosTopic]:
        """What is published in the domain now."""
        replies = self._session.liveliness().get(f"{TOKENS}/{self._domain}/**", timeout=GRAPH_S)
        tokens = [str(reply.ok.key_expr) for reply in replies if reply.ok is not None]
        return [topic for topic in map(published_topic, tokens) if topic is not None]

    def _subscribe(self, decoder: LiveDecoder, topic: str, msgtype: str) -> None:
        """Hand the messages of a topic to a decoder, whatever hash their type has."""
        self._announce("MS", RosTopic(topic, msgtype, self._hash(msgtype)))

        def on_sample(sample: Any) -> None:  # noqa: ANN401
            decoder.on_message(topic, msgtype, sample.payload.to_bytes())

        key = RosTopic(topic, msgtype, "*").key(self._domain)
        self._subscribers.append(self._session.declare_subscriber(key, on_sample))

    def _announce(self, kind: str, topic: RosTopic) -> str:
        """Announce an endpoint to the graph, and return its token."""
        token = self._name.endpoint_token(len(self._tokens), kind, topic)
        self._tokens.append(self._session.liveliness().declare_token(token))
        return token


def _session(zenoh: Any, router: str) -> Any:  # noqa: ANN401
    """Connect to a router, and to nobody else."""
    config = zenoh.Config()
    config.insert_json5("mode", '"client"')
    config.insert_json5("scouting/multicast/enabled", "false")
    try:
        config.insert_json5("connect/endpoints", json.dumps([router]))
        return zenoh.open(config)
    except zenoh.ZError as error:
        reason = re.sub(r"\s+at \S+\.rs:\d+\.?", "", str(error).splitlines()[0])
        raise InputError(
            f"{router}: there is no Zenoh router ({reason}); start one (ros2 run rmw_zenoh_cpp "
            "rmw_zenohd), or name another by --router."
        ) from None
