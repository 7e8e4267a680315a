# SPDX-License-Identifier: MIT
"""Names of all files in the folder of a run, and how those begin that are text.

relative.tum holds the steps: the pose of the body in the body of the row before. A scan also tells
something about the pose before it, so a step is not the difference of two rows of trajectory.tum;
covariance.csv speaks of the step.
"""

from svnicp.recording import particle_file, run_description
from svnicp.recording.covariance_file import HEADER
from svnicp.recording.scan_tables import SCAN_HEADER, TIMING_HEADER

TRAJECTORY = "trajectory.tum"
KITTI = "trajectory.kitti"
RELATIVE = "relative.tum"
IMU_RATE = "imu_rate.tum"
"""Poses at the rate of the IMU, if asked for."""
MCAP = "odometry.mcap"
MAP = "map.ply"
MAP_PART = "map.part"
"""The map while it grows."""
STATE = "state.npz"
"""From which a run can go on."""
TRUTH = "ground_truth.tum"
REPORT = "report.html"
"""What `svnicp report` makes of it all; it goes when the run is replaced."""

HEADERS = {
    TRAJECTORY: "",
    KITTI: "",
    RELATIVE: "",
    "covariance.csv": HEADER,
    "scans.csv": SCAN_HEADER,
    "timing.csv": TIMING_HEADER,
}
"""Text files that grow with a run, and how each begins."""

ALL_NAMES = (
    *HEADERS, IMU_RATE, MCAP, MAP, MAP_PART, STATE, TRUTH, REPORT, run_description.FILE_NAME,
    particle_file.NPZ_NAME, particle_file.PART_NAME,
)  # fmt: skip
"""Every file that a run may write."""
