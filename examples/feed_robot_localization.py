# SPDX-License-Identifier: MIT
"""Messages for robot_localization: each scan as a velocity that is as sure as the scan was.

Run it with ``python examples/feed_robot_localization.py``. The filter should not get our absolute
pose: its covariance only grows, and the errors of two poses are nearly the same, which the filter
cannot know. Its ``differential`` mode subtracts two poses for that reason, but has to make up the
covariance of the difference from two absolute ones. We know it: the step since the last scan, over
its time, is a mean velocity with covariance ``relative_covariance / dt^2``. So the twist is filled
with that, and the filter is told to fuse velocities only. Leave the raw IMU out of the filter if
the odometry has used it: nothing should be counted twice.
"""

import numpy as np
import yaml

import svnicp
from svnicp.arrays import Covariance, Floats
from svnicp.estimate import Estimate
from svnicp.exchange import ros_odometry
from svnicp.lie import se3_log

SETTINGS = """\
ekf_filter_node:
  ros__parameters:
    odom_frame: odom
    base_link_frame: base_link
    world_frame: odom
    odom0: /odometry
    odom0_config: [false, false, false,  # x y z
                   false, false, false,  # roll pitch yaw
                   true,  true,  true,   # their velocities, in base_link
                   true,  true,  true,
                   false, false, false]  # accelerations
    odom0_differential: false  # the messages are differences already
    odom0_queue_size: 10
"""


def step_twist(estimate: Estimate, seconds: float) -> tuple[Floats, Covariance]:
    """Mean velocity (6,) since the last scan in axes of the body, and its covariance (6, 6)."""
    return se3_log(estimate.T_previous_body) / seconds, estimate.relative_covariance / seconds**2


before, messages = None, []
for estimate in svnicp.run(svnicp.simulate("street", duration_s=4.5, rig="alpha"), imu=False):
    if before is not None:
        twist, covariance = step_twist(estimate, 1e-9 * (estimate.stamp_ns - before.stamp_ns))
        message = ros_odometry(
            estimate.stamp_ns, estimate.pose, twist, covariance,
            frame_id="odom", child_frame_id="base_link", version=2,
        )  # fmt: skip
        messages.append(message)
        sigmas = np.sqrt(np.diagonal(np.reshape(message["twist"]["covariance"], (6, 6))))
        linear = message["twist"]["twist"]["linear"]
        print(
            f"{message['header']['stamp']['sec']}.{message['header']['stamp']['nanosec']:09}: "
            f"forward {linear['x']:+.3f} m/s, sigma x y z {np.round(sigmas[:3], 3)}"
        )
    before = estimate

print("\nThe last one, for `ros2 topic pub /odometry nav_msgs/msg/Odometry ...`:")
print(yaml.safe_dump(messages[-1], default_flow_style=None, sort_keys=False, width=100))
print("Settings of robot_localization (ROS 2):")
print(SETTINGS)
assert yaml.safe_load(SETTINGS)["ekf_filter_node"]["ros__parameters"]["odom0"] == "/odometry"
