# SPDX-License-Identifier: MIT
"""An estimate as ROS messages: nav_msgs/Odometry, tf, and diagnostics.

The pose's covariance is turned into the fixed axes of the world, as PoseWithCovariance asks for;
the twist stays in the axes of the child frame, as Odometry asks for.
"""

from typing import NamedTuple

import numpy as np

from svnicp.arrays import Floats
from svnicp.estimate import Estimate
from svnicp.recording.ros_messages import BODY_FRAME, TF, WORLD_FRAME, Message, RosMessages

ODOMETRY = "nav_msgs/msg/Odometry"
DIAGNOSTICS = "diagnostic_msgs/msg/DiagnosticArray"

TOPICS = {"/odometry": ODOMETRY, "/tf": TF, "/diagnostics": DIAGNOSTICS}
"""Topics of a run and the types of their messages."""


class Frames(NamedTuple):
    """Names of the coordinate frames, as in REP 105."""

    world: str = WORLD_FRAME
    body: str = BODY_FRAME


DEFAULT_FRAMES = Frames()

_OK, _WARN, _ERROR = range(3)


def odometry_messages(
    make: RosMessages, estimate: Estimate, frames: Frames = DEFAULT_FRAMES
) -> dict[str, Message]:
    """Return the messages of one estimate by their topics."""
    stamp_ns, T_world_body = estimate.stamp_ns, estimate.T_world_body
    return {
        "/odometry": odometry(make, estimate, frames),
        "/tf": make.transform(stamp_ns, frames.world, frames.body, T_world_body),
        "/diagnostics": diagnostics(make, estimate, frames),
    }


def odometry(make: RosMessages, estimate: Estimate, frames: Frames = DEFAULT_FRAMES) -> Message:
    """Return pose and twist with their covariances."""
    fields = estimate.to_ros(frame_id=frames.world, child_frame_id=frames.body)
    return make.make(
        ODOMETRY,
        header=make.header(estimate.stamp_ns, frames.world),
        child_frame_id=frames.body,
        pose=make.fill("geometry_msgs/msg/PoseWithCovariance", fields["pose"]),
        twist=make.fill("geometry_msgs/msg/TwistWithCovariance", fields["twist"]),
    )


def diagnostics(make: RosMessages, estimate: Estimate, frames: Frames = DEFAULT_FRAMES) -> Message:
    """Return the health of the odometry: an error, a warning about weak directions, or fine."""
    level = _OK if estimate.ok else _ERROR
    if estimate.ok and estimate.weak_directions:
        level = _WARN
    values = [
        make.make("diagnostic_msgs/msg/KeyValue", key=key, value=value)
        for key, value in _facts(estimate).items()
    ]
    status = make.make(
        "diagnostic_msgs/msg/DiagnosticStatus",
        level=level, name="svnicp: odometry", message=estimate.message, hardware_id="",
        values=values,
    )  # fmt: skip
    header = make.header(estimate.stamp_ns, frames.world)
    return make.make(DIAGNOSTICS, header=header, status=[status])


def _facts(estimate: Estimate) -> dict[str, str]:
    """Return what a person who looks at diagnostics wants to know."""
    sigmas = estimate.sigmas
    facts = {
        "status": estimate.status,
        "points": str(estimate.num_points),
        "matches": str(estimate.num_matches),
        "sigma x y z [m]": _digits(sigmas[:3]),
        "sigma about x y z [deg]": _digits(np.degrees(sigmas[3:])),
    }
    if estimate.nis is not None:
        facts["NIS"] = f"{estimate.nis:.3g}"
    for number, weak in enumerate(estimate.weak_directions, start=1):
        facts[f"weak direction {number}"] = str(weak)
    for stage, seconds in estimate.timing_s.items():
        facts[f"time of {stage} [ms]"] = f"{1e3 * seconds:.2f}"
    return facts


def _digits(values: Floats) -> str:
    return " ".join(f"{value:.3g}" for value in values)
