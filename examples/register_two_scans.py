# SPDX-License-Identifier: MIT
"""Register one simulated scan in another, and see how far off and how sure the answer is.

Run it with ``python examples/register_two_scans.py``. Replace the two scans by your own (n, 3)
arrays, or by ``svnicp.read_cloud("scan.ply")``.
"""

import numpy as np

import svnicp
from svnicp.lie import make_transform, se3_inverse, se3_log, so3_exp
from svnicp.simulation import SCENES, LidarPattern, scan

rng = np.random.default_rng(1)
room, lidar = SCENES["room"](), LidarPattern.rings(num_rings=64, num_columns=512)

# Two poses of the LiDAR in the room: 40 cm apart, and turned by 6 degrees.
T_world_target = make_transform(np.eye(3), np.array([0.0, 0.0, 1.5]))
T_world_source = make_transform(so3_exp(np.radians([0.0, 1.0, 6.0])), np.array([0.35, -0.2, 1.5]))
target = scan(room, T_world_target, lidar, rng, range_noise_m=0.02)
source = scan(room, T_world_source, lidar, rng, range_noise_m=0.02)

# Nothing is known but that the scans are less than a metre or so apart: the guess is the identity.
result = svnicp.register(source, target)

print(result.message)
print("estimated pose of the source in the target:")
print(np.round(result.T_target_source, 4))

truth = se3_inverse(T_world_target) @ T_world_source
error = se3_log(se3_inverse(result.T_target_source) @ truth)
print("error and sigma along x, y, z [mm]:")
print(np.round(1e3 * error[:3], 2), np.round(1e3 * result.sigmas[:3], 2))
print("error and sigma about x, y, z [mdeg]:")
print(np.round(1e3 * np.degrees(error[3:]), 1), np.round(1e3 * np.degrees(result.sigmas[3:]), 1))
for weak in result.weak_directions:
    print("weak:", weak)
