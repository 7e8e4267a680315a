# SPDX-License-Identifier: MIT
"""Odometry from plain NumPy arrays: scans in one by one, poses with their uncertainty out.

Run it with ``python examples/odometry_from_numpy.py``. The loop at the end is all there is to it;
the arrays come from a simulated drive here, and from your sensor's driver in your program.
"""

from collections.abc import Iterator

import numpy as np

import svnicp
from svnicp.lie import se3_inverse

street = svnicp.simulate("street", seed=3, duration_s=8.0, rig="alpha")  # a VLP-16


def scans() -> Iterator[tuple[np.ndarray, int, np.ndarray | None]]:
    """Yield points (n, 3) [m], when the scan began [ns], and when each point was taken (n,) [ns].

    The times of points may be None; then nothing is known about how the sensor moved meanwhile.
    """
    for number in range(40, 70):  # it sets off after 3 s
        scan = street.scan(number)
        yield scan.points, scan.stamp_ns, scan.point_times_ns


# Without an IMU the body is the LiDAR itself, and the world is where it was at the first scan.
odometry = svnicp.Odometry()
estimates = []
for points, stamp_ns, point_times_ns in scans():
    estimate = odometry.add_scan(points, stamp_ns, point_times_ns)
    if estimate is None:
        continue  # the scan came out of order
    estimates.append(estimate)
    x, y, z = estimate.T_world_body[:3, 3]
    sigma_x, sigma_y, sigma_z = 1e3 * estimate.sigmas[:3]
    print(
        f"{estimate.status:6} at ({x:6.3f}, {y:6.3f}, {z:6.3f}) m, "
        f"sigma ({sigma_x:4.1f}, {sigma_y:4.1f}, {sigma_z:4.1f}) mm, "
        f"{np.linalg.norm(estimate.twist[:3]):.2f} m/s"
    )

# The simulation knows the truth, which is about its IMU: where was the LiDAR, seen from its start?
stamps_ns = np.array([estimates[0].stamp_ns, estimates[-1].stamp_ns])
T_world_lidar = street.truth_at(stamps_ns).T_world_body @ street.T_body_lidar
truth = se3_inverse(T_world_lidar[0]) @ T_world_lidar[1]
error_m = np.linalg.norm(estimates[-1].T_world_body[:3, 3] - truth[:3, 3])
way_m = np.linalg.norm(truth[:3, 3])
print(f"{way_m:.2f} m from the start, the position is off by {1e3 * error_m:.1f} mm")
