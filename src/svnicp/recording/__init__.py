# SPDX-License-Identifier: MIT
"""What is written to disk: recordings of simulated worlds, and the folder of a run.

``write_dataset`` turns any dataset into a bag or folder; ``RunFolder`` listens to odometry and
writes what it says, and ``read_covariances`` and ``read_particles`` read it again.
"""

from svnicp.recording.covariance_file import Covariances, read_covariances
from svnicp.recording.particle_file import Particles, read_particles
from svnicp.recording.run_description import RunDescription, read_description
from svnicp.recording.run_folder import RunFolder
from svnicp.recording.write_dataset import FORMATS, write_dataset

__all__ = [
    "FORMATS",
    "Covariances",
    "Particles",
    "RunDescription",
    "RunFolder",
    "read_covariances",
    "read_description",
    "read_particles",
    "write_dataset",
]
