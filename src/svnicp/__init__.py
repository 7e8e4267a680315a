# SPDX-License-Identifier: MIT
"""LiDAR registration that says how sure it is: Stein Variational Newton ICP with a posterior.

The names in ``__all__`` are the public interface. They are imported on first use, so that
``import svnicp`` and the command line's help do not wait for the compiler.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from svnicp.cloud_files import read_cloud, write_ply
    from svnicp.config import Config
    from svnicp.data import Dataset, ImuSample, Scan, Trajectory
    from svnicp.data.imu_noise import ImuNoise
    from svnicp.data.open_dataset import OpenOptions, open_dataset
    from svnicp.errors import SvnicpError
    from svnicp.estimate import Estimate
    from svnicp.local_map import VoxelMap
    from svnicp.odometry import Odometry, run
    from svnicp.pose_gaussian import PoseGaussian
    from svnicp.recording import RunFolder, read_covariances, write_dataset
    from svnicp.registration import RegistrationResult, Status, register, register_in_map
    from svnicp.simulation.simulate import simulate

__version__ = "0.1.0"

__all__ = [
    "Config",
    "Dataset",
    "Estimate",
    "ImuNoise",
    "ImuSample",
    "Odometry",
    "OpenOptions",
    "PoseGaussian",
    "RegistrationResult",
    "RunFolder",
    "Scan",
    "Status",
    "SvnicpError",
    "Trajectory",
    "VoxelMap",
    "__version__",
    "open_dataset",
    "read_cloud",
    "read_covariances",
    "register",
    "register_in_map",
    "run",
    "simulate",
    "write_dataset",
    "write_ply",
]

_HOMES = {
    "Config": "svnicp.config",
    "Dataset": "svnicp.data",
    "Estimate": "svnicp.estimate",
    "ImuNoise": "svnicp.data.imu_noise",
    "ImuSample": "svnicp.data",
    "Odometry": "svnicp.odometry",
    "OpenOptions": "svnicp.data.open_dataset",
    "PoseGaussian": "svnicp.pose_gaussian",
    "RegistrationResult": "svnicp.registration",
    "RunFolder": "svnicp.recording",
    "Scan": "svnicp.data",
    "Status": "svnicp.registration",
    "SvnicpError": "svnicp.errors",
    "Trajectory": "svnicp.data",
    "VoxelMap": "svnicp.local_map",
    "open_dataset": "svnicp.data.open_dataset",
    "read_cloud": "svnicp.cloud_files",
    "read_covariances": "svnicp.recording",
    "register": "svnicp.registration",
    "register_in_map": "svnicp.registration",
    "run": "svnicp.odometry",
    "simulate": "svnicp.simulation.simulate",
    "write_dataset": "svnicp.recording",
    "write_ply": "svnicp.cloud_files",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, imported or not."""
    return sorted({*globals(), *__all__})
