# SPDX-License-Identifier: MIT
"""What every way to the outside offers: it brings messages in, and takes messages out.

The Foxglove WebSocket server, the ROS 1 node and the ROS 2 node over Zenoh are such connections;
the command line knows no difference between them.
"""

from typing import Protocol

from svnicp.live.decoder import LiveDecoder
from svnicp.live.outgoing import Outgoing


class Connection(Protocol):
    """A way to the outside, open until it is closed."""

    @property
    def address(self) -> str:
        """Where others find it, and who can: a sentence without its full stop."""
        ...

    def listen(self, decoder: LiveDecoder) -> None:
        """Hand the messages that come in to a decoder, from now on, in other threads.

        Raises
        ------
        DatasetError
            If it cannot tell which topics are meant.
        """
        ...

    def publish(self, message: Outgoing) -> None:
        """Send one message; never waits for a slow receiver."""
        ...

    def close(self) -> None:
        """End it."""
        ...


def who_can_reach(host: str) -> str:
    """Return who can connect to a server that listens on an address."""
    if host in {"localhost", "::1"} or host.startswith("127."):
        return "this machine only; --host opens it to others"
    return "open to the network"
