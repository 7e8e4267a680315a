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
    from svnicp.errors import SvnicpError
    from svnicp.local_map import VoxelMap
    from svnicp.pose_gaussian import PoseGaussian
    from svnicp.registration import RegistrationResult, Status, register, register_in_map

__version__ = "0.1.0"

__all__ = [
    "Config",
    "PoseGaussian",
    "RegistrationResult",
    "Status",
    "SvnicpError",
    "VoxelMap",
    "__version__",
    "read_cloud",
    "register",
    "register_in_map",
    "write_ply",
]

_HOMES = {
    "Config": "svnicp.config",
    "PoseGaussian": "svnicp.pose_gaussian",
    "RegistrationResult": "svnicp.registration",
    "Status": "svnicp.registration",
    "SvnicpError": "svnicp.errors",
    "VoxelMap": "svnicp.local_map",
    "read_cloud": "svnicp.cloud_files",
    "register": "svnicp.registration",
    "register_in_map": "svnicp.registration",
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
