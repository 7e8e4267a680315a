# SPDX-License-Identifier: MIT
"""An estimate as ROS messages: nav_msgs/Odometry, tf, and diagnostics.

The pose's covariance is turned into the fixed axes of the world, as PoseWithCovariance asks for;
the twist stays in the axes of the child frame, as Odometry asks for.
"""

import numpy as np

from svnicp.arrays import Covariance, Floats
from svnicp.estimate import Estimate
from svnicp.recording.ros_messages import BODY_FRAME, TF, WORLD_FRAME, Message, RosMessages

ODOMETRY = "nav_msgs/msg/Odometry"
DIAGNOSTICS = "diagnostic_msgs/msg/DiagnosticArray"

TOPICS = {"/odometry": ODOMETRY, "/tf": TF, "/diagnostics": DIAGNOSTICS}
"""Topics of a run and the types of their messages."""

SMALLEST_VARIANCE = 1e-12
"""Added to every variance: the first pose is exact, and filters refuse a singular matrix."""

_OK, _WARN, _ERROR = range(3)


def odometry_messages(make: RosMessages, estimate: Estimate) -> dict[str, Message]:
    """Return the messages of one estimate by their topics."""
    return {
        "/odometry": odometry(make, estimate),
        "/tf": make.transform(estimate.stamp_ns, WORLD_FRAME, BODY_FRAME, estimate.T_world_body),
        "/diagnostics": diagnostics(make, estimate),
    }


def odometry(make: RosMessages, estimate: Estimate) -> Message:
    """Return pose and twist with their covariances."""
    T_world_body, covariance = estimate.pose.to_ros()
    pose = make.make(
        "geometry_msgs/msg/Pose",
        position=make.vector(T_world_body[:3, 3], "geometry_msgs/msg/Point"),
        orientation=make.quaternion(T_world_body[:3, :3]),
    )
    twist = make.make(
        "geometry_msgs/msg/Twist",
        linear=make.vector(estimate.twist[:3]),
        angular=make.vector(estimate.twist[3:]),
    )
    return make.make(
        ODOMETRY,
        header=make.header(estimate.stamp_ns, WORLD_FRAME),
        child_frame_id=BODY_FRAME,
        pose=make.make(
            "geometry_msgs/msg/PoseWithCovariance", pose=pose, covariance=_row_major(covariance)
        ),
        twist=make.make(
            "geometry_msgs/msg/TwistWithCovariance",
            twist=twist, covariance=_row_major(estimate.twist_covariance),
        ),
    )  # fmt: skip


def diagnostics(make: RosMessages, estimate: Estimate) -> Message:
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
    header = make.header(estimate.stamp_ns, WORLD_FRAME)
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


def _row_major(covariance: Covariance) -> Floats:
    """(36,) row by row, and not singular."""
    return (covariance + SMALLEST_VARIANCE * np.eye(6)).ravel()
