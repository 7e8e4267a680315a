# SPDX-License-Identifier: MIT
"""LiDAR-inertial odometry from a bag: open it, see what was understood, run, compare, keep.

Run it with ``python examples/lio_from_bag.py``. It makes a small bag of its own; put the path of
yours instead (.bag, .mcap, a ROS 2 folder). Topics, units and times of points are detected.
"""

import tempfile
from pathlib import Path

import numpy as np

import svnicp
from svnicp.lie import se3_inverse
from svnicp.recording import RunDescription

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "drive.bag"
    drive = svnicp.simulate("street", seed=5, duration_s=5.0, rig="alpha")
    svnicp.write_dataset(drive, path)

    bag = svnicp.open_dataset(path)  # the ground truth beside it, drive.gt.tum, is found, too
    info = bag.info()
    print(f"{info.kind}: {info.num_scans} scans, IMU every {1e3 * (info.imu_period_s or 0):.0f} ms")
    for finding in info.findings:
        print(f"  {finding.what}: {finding.value}")

    # The first half second gives no estimate: the filter finds gravity and the gyroscope's bias.
    description = RunDescription(data=str(path), command=__file__, seed=0, config={})
    estimates = []
    with svnicp.RunFolder.open(Path(folder) / "run", description) as run:
        for estimate in svnicp.run(bag):
            run.on_estimate(estimate)  # trajectory.tum, covariance.csv, odometry.mcap, ...
            estimates.append(estimate)
    print("written:", ", ".join(sorted(file.name for file in run.path.iterdir())))

last = estimates[-1]
print(f"{len(estimates)} estimates, the last one {last.status}")
print("sigma along x, y, z [mm]:", np.round(1e3 * last.sigmas[:3], 2))
print("gyroscope bias [mrad/s]:", np.round(1e3 * np.asarray(last.gyroscope_bias), 2))

truth = bag.ground_truth
assert truth is not None
ends = [np.abs(truth.stamps_ns - one.stamp_ns).argmin() for one in (estimates[0], last)]
T_first_last = se3_inverse(truth.T_world_body[ends[0]]) @ truth.T_world_body[ends[1]]
ours = se3_inverse(estimates[0].T_world_body) @ last.T_world_body
error_m = np.linalg.norm(ours[:3, 3] - T_first_last[:3, 3])
print(f"{np.linalg.norm(ours[:3, 3]):.2f} m from the start, off by {1e3 * error_m:.1f} mm")
