# SPDX-License-Identifier: MIT
"""A plain rospy program, for the test of the ROS 1 node: publishes a drive, and hears odometry.

Run as ``python ros1_peer.py MESSAGES COUNT``; MESSAGES is a file of topics, types and bytes. It
prints one line of JSON per odometry message: position, covariance, frames, and its stamp.
"""

import json
import pickle
import sys
import time
from pathlib import Path

import roslib.message  # pyright: ignore[reportMissingImports]
import rospy  # pyright: ignore[reportMissingImports]
from nav_msgs.msg import Odometry  # pyright: ignore[reportMissingImports]

messages = pickle.loads(Path(sys.argv[1]).read_bytes())
received: list[Odometry] = []
rospy.init_node("driver", disable_signals=True)
rospy.Subscriber("/odometry", Odometry, received.append, queue_size=1000)
classes = {topic: roslib.message.get_message_class(kind) for topic, kind, _ in messages}
publishers = {
    topic: rospy.Publisher(topic, kind, queue_size=1000) for topic, kind in classes.items()
}
end = time.monotonic() + 30.0
while any(one.get_num_connections() == 0 for one in publishers.values()):
    assert time.monotonic() < end, "nobody subscribes"
    time.sleep(0.05)
for topic, _, data in messages:
    publishers[topic].publish(classes[topic]().deserialize(data))
while len(received) < int(sys.argv[2]):
    assert time.monotonic() < end, f"only {len(received)} messages came back"
    time.sleep(0.05)
for one in received:
    at = one.pose.pose.position
    print(
        json.dumps(
            {
                "position": [at.x, at.y, at.z],
                "covariance": one.pose.covariance,
                "frames": [one.header.frame_id, one.child_frame_id],
                "stamp_ns": one.header.stamp.to_nsec(),
            }
        )
    )
