# SPDX-License-Identifier: MIT
"""The whole configuration, and the presets made of its stages."""

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from svnicp.config.build import build, load_yaml
from svnicp.config.noise_stage import NoiseConfig
from svnicp.config.odometry_stages import (
    DriftConfig,
    InertialConfig,
    MotionConfig,
    OdometryConfig,
    PreprocessConfig,
)
from svnicp.config.registration_stages import (
    BackendConfig,
    MapConfig,
    MatchConfig,
    PriorConfig,
    SourceConfig,
    SteinConfig,
)
from svnicp.config.variants import variant
from svnicp.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Config:
    """All parameters of registration and odometry."""

    map: MapConfig = field(default_factory=MapConfig)
    source: SourceConfig = field(default_factory=SourceConfig)
    match: MatchConfig = field(default_factory=MatchConfig)
    noise: NoiseConfig = field(default_factory=NoiseConfig)
    prior: PriorConfig = field(default_factory=PriorConfig)
    stein: SteinConfig = field(default_factory=SteinConfig)
    backend: BackendConfig = field(default_factory=BackendConfig)
    preprocess: PreprocessConfig = field(default_factory=PreprocessConfig)
    motion: MotionConfig = field(default_factory=MotionConfig)
    inertial: InertialConfig = field(default_factory=InertialConfig)
    drift: DriftConfig = field(default_factory=DriftConfig)
    odometry: OdometryConfig = field(default_factory=OdometryConfig)

    @staticmethod
    def preset(name: str) -> "Config":
        """Return the named preset, ``default`` or ``paper``."""
        if name not in PRESETS:
            raise ConfigError(f"there is no preset '{name}'; choose one of {', '.join(PRESETS)}")
        return PRESETS[name]

    @staticmethod
    def variant(name: str, preset: str = "default") -> "Config":
        """Return a preset made one row of the paper's tables; ``config.VARIANTS`` has the names.

        Whether the row uses an IMU is for odometry to know: pass it ``imu=None`` where
        ``VARIANTS[name].uses_imu`` is False.
        """
        row, config = variant(name), Config.preset(preset)
        changes: dict[str, Any] = row.slower if preset == "default" else {}
        odometry = dataclasses.replace(config.odometry, noise=row.noise)
        if row.frame_to_frame:  # every map is one scan old, and that is no reason to doubt it
            odometry = dataclasses.replace(odometry, frame_to_frame=True, warm_up_scans=0)
        return dataclasses.replace(
            config,
            stein=dataclasses.replace(config.stein, algorithm=row.algorithm, **changes),
            odometry=odometry,
        )

    @staticmethod
    def from_dict(values: dict[str, Any]) -> "Config":
        """Build a configuration from nested dictionaries; what is left out keeps its default."""
        return build(Config, values, "")

    def to_dict(self) -> dict[str, Any]:
        """Nested dictionaries of plain values."""
        return dataclasses.asdict(self)

    @staticmethod
    def from_yaml(path: str | Path) -> "Config":
        """Read a YAML file; an empty one is the default configuration."""
        try:
            values = load_yaml(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise ConfigError(f"cannot read configuration {path}: {error.strerror}") from error
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            summary = " ".join(str(error).split())
            raise ConfigError(f"{path} is not valid YAML: {summary}") from error
        try:
            return Config.from_dict({} if values is None else values)
        except ConfigError as error:
            raise ConfigError(f"{path}: {error}") from None

    def to_yaml(self) -> str:
        """YAML text that ``from_yaml`` reads back to an equal configuration."""
        return yaml.safe_dump(self.to_dict(), sort_keys=False)


PRESETS = {
    "default": Config(),
    "paper": Config(
        map=MapConfig(voxel_size_m=1.0, cells_per_voxel_edge=0, max_points_per_voxel=20),
        source=SourceConfig(max_points=3000, search_factor=1.0, keep_rare_normals=False),
        match=MatchConfig(metric="point", num_candidates=20, max_distance_m=3.0),
        noise=NoiseConfig(
            variance="unit", scale="fixed", weight="cauchy_norm", weight_width=1.0,
            debias_normals=False,
        ),
        prior=PriorConfig(use=False),
        stein=SteinConfig(
            max_iterations=100, kernel="isotropic", start="box", damping=1e-6, stop="norm",
            tolerance=1e-4, max_step_sigma=0.0, step_size=1.0,
        ),
        odometry=OdometryConfig(
            persistent_scans=1, surprising_scans=0, known_m=0.0, slip_m=0.0, second_look=False,
            map_floor_m=0.0, map_floor_rad=0.0,
        ),
        drift=DriftConfig(held_back=0.0),
    ),
}  # fmt: skip
