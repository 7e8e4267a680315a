# SPDX-License-Identifier: MIT
"""Where the LiDAR sits on the body, from the static transforms of a recording.

``/tf_static`` is a tree of frames, each with its place in its parent. The way from the IMU's frame
to the LiDAR's is looked for in it, up and down.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from svnicp.arrays import Transform
from svnicp.data.quaternions import quat_to_rotation
from svnicp.data.ros.wire import MessageReader
from svnicp.lie import make_transform, se3_inverse

Edges = dict[str, dict[str, Transform]]
"""``edges[a][b]`` is ``T_a_b``, for frames that are connected directly."""


def decode_tf(message: MessageReader) -> Iterator[tuple[str, str, Transform]]:
    """Yield (parent, child, T_parent_child) of every transform in a TFMessage."""
    for _ in range(message.number("I")):
        parent = message.header().frame_id
        child = message.text().lstrip("/")
        values = message.numbers("f8", 7).astype(np.float64)
        if np.linalg.norm(values[3:]) > 0.0:  # otherwise never filled in, so no rotation
            yield parent, child, make_transform(quat_to_rotation(values[3:]), values[:3])


def tf_edges(messages: Iterable[MessageReader]) -> Edges:
    """Connections between frames, in both directions, of all messages of /tf_static."""
    edges: Edges = {}
    for message in messages:
        for parent, child, T_parent_child in decode_tf(message):
            edges.setdefault(parent, {})[child] = T_parent_child
            edges.setdefault(child, {})[parent] = se3_inverse(T_parent_child)
    return edges


def find_transform(edges: Edges, frame_a: str, frame_b: str) -> Transform | None:
    """``T_a_b`` along the connections, (4, 4), or None if there are none."""
    found: dict[str, Transform] = {frame_a: np.eye(4)}
    waiting = [frame_a]
    while waiting:
        frame = waiting.pop(0)
        for neighbour, T_frame_neighbour in edges.get(frame, {}).items():
            if neighbour not in found:
                found[neighbour] = found[frame] @ T_frame_neighbour
                waiting.append(neighbour)
    return found.get(frame_b)
