# SPDX-License-Identifier: MIT
"""A Foxglove WebSocket server: shows live odometry, and takes measurements from its clients.

Estimates go out as ROS 2 messages (CDR), and clients may publish PointCloud2 and Imu in the same
encoding. No ROS is needed; the extra ``svnicp[live]`` brings the SDK.
"""

from typing import Any

from svnicp.errors import InputError
from svnicp.extras import require
from svnicp.live.connection import who_can_reach
from svnicp.live.decoder import LiveDecoder
from svnicp.live.outgoing import MessageMaker, Outgoing

ENCODINGS = ("cdr",)
"""Encodings that clients may publish in."""


class FoxgloveServer:
    """A server that runs until it is closed.

    Parameters
    ----------
    maker
        Knows the topics to advertise.
    host, port
        Where to listen; port 0 takes any that is free.

    Raises
    ------
    MissingExtraError
        If the SDK is not installed.
    InputError
        If nobody can listen there.
    """

    def __init__(self, maker: MessageMaker, host: str = "127.0.0.1", port: int = 8765) -> None:
        foxglove = require("foxglove", "live", "The Foxglove server")
        websocket = require("foxglove.websocket", "live", "The Foxglove server")
        self._context = context = foxglove.Context()  # kept: channels hold on to it only weakly
        self._host = host
        self._listener = ClientMessages()
        try:
            self._server = foxglove.start_server(
                name="svnicp", host=host, port=port, context=context,
                capabilities=[websocket.Capability.ClientPublish],
                supported_encodings=list(ENCODINGS), server_listener=self._listener,
            )  # fmt: skip
        except (OSError, RuntimeError, ValueError) as error:
            raise InputError(
                f"{host}, port {port}: no server can listen there ({error}); choose another --port "
                "or --host."
            ) from None
        store = maker.make.store
        self._channels = {
            topic: foxglove.Channel(
                topic,
                message_encoding="cdr",
                schema=foxglove.Schema(
                    name=msgtype,
                    encoding="ros2msg",
                    data=store.generate_msgdef(msgtype, ros_version=2)[0].encode(),
                ),
                context=context,
            )
            for topic, msgtype in maker.topics().items()
        }

    @property
    def port(self) -> int:
        """Port on which it listens."""
        return int(self._server.port)

    @property
    def address(self) -> str:
        """Where Foxglove finds it, and who can."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"ws://{host}:{self.port} ({who_can_reach(self._host)})"

    def listen(self, decoder: LiveDecoder) -> None:
        """Hand what clients publish to a decoder."""
        self._listener.decoder = decoder

    def publish(self, message: Outgoing) -> None:
        """Send a message to all clients that subscribe; a slow one loses the oldest."""
        self._channels[message.topic].log(message.data, log_time=message.stamp_ns)

    def close(self) -> None:
        """Stop the server."""
        self._server.stop()


class ClientMessages:
    """What clients advertise and publish; the SDK calls this in threads of its own."""

    def __init__(self) -> None:
        self.decoder: LiveDecoder | None = None
        self._channels: dict[tuple[int, int], Any] = {}

    def on_client_advertise(self, client: Any, channel: Any) -> None:  # noqa: ANN401
        """Note a channel that is of use."""
        wanted = self.decoder is not None and self.decoder.wants(channel.topic, channel.schema_name)
        if wanted and channel.encoding in ENCODINGS:
            self._channels[client.id, channel.id] = channel

    def on_client_unadvertise(self, client: Any, client_channel_id: int) -> None:  # noqa: ANN401
        """Forget a channel."""
        self._channels.pop((client.id, client_channel_id), None)

    def on_message_data(self, client: Any, client_channel_id: int, data: bytes) -> None:  # noqa: ANN401
        """Decode a message of a channel that was noted."""
        channel = self._channels.get((client.id, client_channel_id))
        if channel is not None and self.decoder is not None:
            self.decoder.on_message(channel.topic, channel.schema_name, data)

    def on_subscribe(self, client: Any, channel: Any) -> None:  # noqa: ANN401
        """Nothing to do: the SDK sends to those who subscribe."""

    def on_unsubscribe(self, client: Any, channel: Any) -> None:  # noqa: ANN401
        """Nothing to do."""
