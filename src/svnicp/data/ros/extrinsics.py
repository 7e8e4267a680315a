# SPDX-License-Identifier: MIT
"""Where the LiDAR sits on the body: as given, or from the static transforms of a recording.

``/tf_static`` is a tree of frames. The way from the LiDAR's frame to the IMU's is looked for in it;
a matrix that is given is checked for being a rigid transform.
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from svnicp.arrays import Transform
from svnicp.data.dataset import Finding
from svnicp.data.quaternions import quat_to_rotation
from svnicp.data.ros.wire import MessageReader
from svnicp.errors import ConfigError
from svnicp.lie import make_transform, orthonormalise, se3_inverse

logger = logging.getLogger(__name__)

ROUNDING = 1e-6
"""Deviation from a rotation that is not worth a word."""
ROUNDED_TO_DIGITS = 0.02
"""Deviation up to which a matrix is a rotation written with few digits."""

Edges = dict[str, dict[str, Transform]]
"""``edges[a][b]`` is ``T_a_b``, for frames that are connected directly."""


@dataclass(frozen=True, eq=False)
class Extrinsics:
    """Place of the LiDAR on the body, and where it is known from."""

    T_body_lidar: Transform
    source: str

    def finding(self) -> Finding:
        """Return the place in words."""
        x, y, z = self.T_body_lidar[:3, 3]
        angle = np.arccos(np.clip((np.trace(self.T_body_lidar[:3, :3]) - 1.0) / 2.0, -1.0, 1.0))
        place = f"LiDAR at ({x:.3f}, {y:.3f}, {z:.3f}) m on the body"
        value = f"{place}, turned by {np.degrees(angle):.1f} degrees"
        return Finding("extrinsics", value, self.source, "--extrinsics")


def checked(T_body_lidar: Transform) -> Transform:
    """Rigid transform nearest to a given matrix, if it is near one.

    Raises
    ------
    ConfigError
        If the matrix has another shape, is not finite, or is far from a rigid transform.
    """
    T_body_lidar = np.asarray(T_body_lidar, dtype=np.float64)
    if T_body_lidar.shape != (4, 4) or not np.isfinite(T_body_lidar).all():
        raise ConfigError("T_body_lidar must be a (4, 4) matrix of finite numbers.")
    rotation = T_body_lidar[:3, :3]
    deviation = float(np.abs(rotation @ rotation.T - np.eye(3)).max())
    bottom_is_right = np.allclose(T_body_lidar[3], [0.0, 0.0, 0.0, 1.0])
    if deviation > ROUNDED_TO_DIGITS or np.linalg.det(rotation) < 0.0 or not bottom_is_right:
        raise ConfigError(
            f"T_body_lidar is not a rigid transform: R R^T is off the identity by {deviation:.2g} "
            f"and det R is {np.linalg.det(rotation):.3g}; check its numbers and their order."
        )
    if deviation > ROUNDING:
        logger.warning(
            "T_body_lidar is a rotation only up to %.1g; the nearest rotation is used.", deviation
        )
    return orthonormalise(T_body_lidar)


def decode_tf(message: MessageReader) -> Iterable[tuple[str, str, Transform]]:
    """Yield (parent, child, T_parent_child) of every transform in a TFMessage."""
    for _ in range(message.number("I")):
        parent = message.header().frame_id
        child = message.text().lstrip("/")
        values = message.numbers("f8", 7).astype(np.float64)
        if not np.linalg.norm(values[3:]) > 0.0:  # never filled in, so no rotation
            continue
        yield parent, child, make_transform(quat_to_rotation(values[3:]), values[:3])


def tf_edges(messages: Iterable[MessageReader]) -> Edges:
    """Connections between frames, in both directions, of all messages of /tf_static."""
    edges: Edges = {}
    for message in messages:
        for parent, child, T_parent_child in decode_tf(message):
            edges.setdefault(parent, {})[child] = T_parent_child
            edges.setdefault(child, {})[parent] = se3_inverse(T_parent_child)
    return edges


def find_extrinsics(edges: Edges, imu_frame: str, lidar_frame: str) -> Extrinsics:
    """Place of the LiDAR on the IMU, or at its origin if the frames are not connected."""
    if imu_frame == lidar_frame:
        return Extrinsics(np.eye(4), f'IMU and LiDAR share the frame "{imu_frame}"')
    found: dict[str, Transform] = {imu_frame: np.eye(4)}
    waiting = [imu_frame]
    while waiting:
        frame = waiting.pop(0)
        for neighbour, T_frame_neighbour in edges.get(frame, {}).items():
            if neighbour not in found:
                found[neighbour] = found[frame] @ T_frame_neighbour
                waiting.append(neighbour)
    frames = f'"{imu_frame}" and "{lidar_frame}"'
    if lidar_frame in found:
        return Extrinsics(found[lidar_frame], f"/tf_static, between {frames}")
    return Extrinsics(np.eye(4), f"assumed: /tf_static does not connect {frames}")
