# SPDX-License-Identifier: MIT
"""Every parameter, one frozen dataclass per stage, and the presets made of them.

``Config.preset("default")`` is what measurements chose; ``Config.preset("paper")`` is the published
method. YAML goes in and out through ``Config.from_yaml`` and ``Config.to_yaml``; an unknown key is
an error that names the nearest known one.
"""

from svnicp.config.noise_stage import NoiseConfig
from svnicp.config.odometry_stages import (
    DriftConfig,
    InertialConfig,
    MotionConfig,
    OdometryConfig,
    PreprocessConfig,
)
from svnicp.config.presets import PRESETS, Config
from svnicp.config.registration_stages import (
    BackendConfig,
    MapConfig,
    MatchConfig,
    PriorConfig,
    SourceConfig,
    SteinConfig,
)
from svnicp.config.variants import VARIANTS, Variant

__all__ = [
    "PRESETS",
    "VARIANTS",
    "BackendConfig",
    "Config",
    "DriftConfig",
    "InertialConfig",
    "MapConfig",
    "MatchConfig",
    "MotionConfig",
    "NoiseConfig",
    "OdometryConfig",
    "PreprocessConfig",
    "PriorConfig",
    "SourceConfig",
    "SteinConfig",
    "Variant",
]
