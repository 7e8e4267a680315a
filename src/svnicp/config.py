# SPDX-License-Identifier: MIT
"""Every parameter, one frozen dataclass per stage, and the presets made of them.

``Config.preset("default")`` is what measurements chose; ``Config.preset("paper")`` is the published
method. YAML goes in and out through ``Config.from_yaml`` and ``Config.to_yaml``; an unknown key is
an error that names the nearest known one.
"""

import dataclasses
import difflib
import math
import types
import typing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import yaml

from svnicp.errors import ConfigError


def _require(holds: bool, name: str, wanted: str, value: object) -> None:
    """Raise a ConfigError that says which parameter must be what."""
    if not holds:
        raise ConfigError(f"{name} must be {wanted}, got {value}")


def _require_finite(stage: str, values: Any) -> None:  # noqa: ANN401
    """Raise a ConfigError when a number of this stage is NaN or infinite."""
    for item in dataclasses.fields(values):
        value = getattr(values, item.name)
        finite = not isinstance(value, float) or math.isfinite(value)
        _require(finite, f"{stage}.{item.name}", "finite", value)


@dataclass(frozen=True, kw_only=True)
class MapConfig:
    """Voxel hash map and its plane fits."""

    voxel_size_m: float = 0.5
    """Edge of a voxel [m]."""
    cells_per_voxel_edge: int = 5
    """A voxel is divided into this many cells per edge, one stored point each; 0: no cells."""
    max_points_per_voxel: int = 60
    """Stored points per voxel at most."""
    plane_radius_m: float = 0.25
    """A plane is fitted to everything within this distance of a stored point [m]."""
    max_residual_std_m: float = 0.06
    """Patches whose residuals scatter more than this are no planes [m]."""
    min_width_m: float = 0.06
    """Patches narrower than this (standard deviation) are no planes [m]."""
    min_aspect: float = 0.04
    """Smallest variance of a plane's width over that of its length."""
    max_normal_std_rad: float = 0.2
    """Patches whose normal is less certain than this are no planes [rad]."""
    min_cells: int = 10
    """Fewest cells in a plane fit."""
    blocks_per_voxel_edge: int = 3
    """A voxel is divided into this many blocks per edge; points of a block share a fit where they
    lie on it. 0: every point has its own."""
    refit_growth: float = 1.6
    """A fit is renewed when its own cell has grown by this factor."""
    refit_epochs: int = 20
    """A fit is renewed after this many insertions anyway."""

    def __post_init__(self) -> None:
        _require(self.voxel_size_m > 0, "map.voxel_size_m", "positive", self.voxel_size_m)
        _require(
            0 <= self.cells_per_voxel_edge <= 16, "map.cells_per_voxel_edge", "0 to 16",
            self.cells_per_voxel_edge,
        )  # fmt: skip
        _require(
            1 <= self.max_points_per_voxel <= 127, "map.max_points_per_voxel", "1 to 127",
            self.max_points_per_voxel,
        )  # fmt: skip
        _require(
            0 < self.plane_radius_m <= self.voxel_size_m, "map.plane_radius_m",
            "positive and at most voxel_size_m", self.plane_radius_m,
        )  # fmt: skip
        _require(self.min_cells >= 5, "map.min_cells", "at least 5", self.min_cells)
        _require(
            0 <= self.blocks_per_voxel_edge <= 16, "map.blocks_per_voxel_edge", "0 to 16",
            self.blocks_per_voxel_edge,
        )  # fmt: skip
        _require(self.refit_growth >= 1, "map.refit_growth", "at least 1", self.refit_growth)
        _require(self.refit_epochs >= 1, "map.refit_epochs", "at least 1", self.refit_epochs)
        for name in ("max_residual_std_m", "min_width_m", "min_aspect", "max_normal_std_rad"):
            value = getattr(self, name)
            _require(value > 0, f"map.{name}", "positive", value)
        _require_finite("map", self)


@dataclass(frozen=True, kw_only=True)
class SourceConfig:
    """Which points of the source cloud are used."""

    max_points: int = 1500
    """Points that enter the likelihood: more add no information, only over-confidence."""
    search_factor: float = 2.0
    """This many times more points look for a plane, so that rare normals can be kept."""
    scan_points: int = 20000
    """A larger cloud is first thinned evenly in its order to about this many points."""
    spread_leaf_m: float = 0.5
    """Neighbourhood in which the crowd of points is counted for even spreading [m]."""
    keep_rare_normals: bool = True
    """Keep rare directions of the normal whole and thin the common ones."""

    def __post_init__(self) -> None:
        _require(self.max_points >= 20, "source.max_points", "at least 20", self.max_points)
        _require(self.search_factor >= 1, "source.search_factor", "at least 1", self.search_factor)
        _require(self.spread_leaf_m > 0, "source.spread_leaf_m", "positive", self.spread_leaf_m)
        _require_finite("source", self)


@dataclass(frozen=True, kw_only=True)
class MatchConfig:
    """How source points find their map points."""

    metric: Literal["plane", "point"] = "plane"
    """Residual: plane where the map is planar, or point to point everywhere (the paper)."""
    non_planar: Literal["drop", "point"] = "drop"
    """With the plane metric, a map point without a plane is left out, or a point with variance."""
    num_candidates: int = 3
    """Map points among which every particle chooses the nearest."""
    max_distance_m: float = 0.5
    """Farther matches are rejected [m]: a distance, not its square."""
    max_first_distance_m: float = 4.0
    """The search starts this wide at most when the prior is wide [m]."""
    min_matches: int = 30
    """Fewer matched points give no estimate."""

    def __post_init__(self) -> None:
        _require(
            1 <= self.num_candidates <= 200, "match.num_candidates", "1 to 200", self.num_candidates
        )
        _require(self.max_distance_m > 0, "match.max_distance_m", "positive", self.max_distance_m)
        _require(self.min_matches >= 6, "match.min_matches", "at least 6", self.min_matches)
        _require_finite("match", self)


@dataclass(frozen=True, kw_only=True)
class NoiseConfig:
    """What a residual's variance is made of."""

    variance: Literal["physical", "unit"] = "physical"
    """Per-point variance from sensor, surface and plane fit, or 1 m² for all (the paper)."""
    range_noise_m: float = 0.02
    """Standard deviation of one range measurement, from the data sheet [m]."""
    floor_m: float = 0.001
    """No residual is trusted better than this [m]."""
    scale: Literal["residuals", "fixed"] = "residuals"
    """Multiply all variances by one factor per scan, estimated from the residuals."""
    weight: Literal["geman_mcclure", "cauchy_norm", "none"] = "geman_mcclure"
    """Robust weight: of the normalised square, (w/(w+|e|))² as in the release, or none."""
    weight_width: float = 3.0
    """Width of the robust weight, in standard deviations (physical) or metres (unit)."""
    debias_normals: bool = True
    """Discount information that noise in the normals fakes (errors in variables)."""
    effective_points: float = 12000.0
    """Points beyond which a scan's errors stop averaging out, because the map is shared."""

    def __post_init__(self) -> None:
        _require(self.range_noise_m > 0, "noise.range_noise_m", "positive", self.range_noise_m)
        _require(self.floor_m >= 0, "noise.floor_m", "not negative", self.floor_m)
        _require(self.weight_width > 0, "noise.weight_width", "positive", self.weight_width)
        _require(
            self.effective_points > 0, "noise.effective_points", "positive", self.effective_points
        )
        _require_finite("noise", self)


@dataclass(frozen=True, kw_only=True)
class PriorConfig:
    """The Gaussian prior when no covariance is handed in, and whether it is used at all."""

    use: bool = True
    """Put the prior into the posterior; the paper does not."""
    translation_std_m: float = 1.0
    """Standard deviation of the guess per axis when nothing is known about it [m]."""
    rotation_std_rad: float = 0.1
    """Standard deviation of the guess per axis when nothing is known about it [rad]."""

    def __post_init__(self) -> None:
        _require(
            self.translation_std_m > 0,
            "prior.translation_std_m",
            "positive",
            self.translation_std_m,
        )
        _require(
            self.rotation_std_rad > 0, "prior.rotation_std_rad", "positive", self.rotation_std_rad
        )
        _require_finite("prior", self)


@dataclass(frozen=True, kw_only=True)
class SteinConfig:
    """Particles and how they move."""

    algorithm: Literal["svn", "svgd", "gauss_newton", "stein_icp"] = "svn"
    """Stein variational Newton, SVGD with Adam, one particle, or Stein ICP of 2021."""
    num_particles: int = 30
    """Number of particles K."""
    max_iterations: int = 10
    """Iterations at most."""
    kernel: Literal["whitened", "isotropic"] = "whitened"
    """exp(-½ d'H̄d / 6), or an isotropic one with median bandwidth (the paper)."""
    start: Literal["laplace", "box"] = "laplace"
    """Particles start around the Gauss-Newton solution, or in the release's box at the guess."""
    step_size: float = 0.7
    """Fraction of the Newton step that is taken; a whole one overshoots a common shift."""
    damping: float = 1e-3
    """Relative damping of the Newton system's diagonal."""
    max_step_sigma: float = 3.0
    """Longest step of a particle in standard deviations of the mean Hessian; 0: no limit."""
    stop: Literal["sigma", "norm"] = "sigma"
    """Stop on the step in posterior standard deviations, or on the paper's mixed norm."""
    tolerance: float = 0.05
    """Stop below this root-mean-square step."""
    learning_rate: float = 0.03
    """Adam's learning rate (SVGD and Stein ICP)."""
    batch_size: int = 150
    """Points per mini-batch (Stein ICP)."""
    record: bool = False
    """Keep the particles of every iteration in the result."""

    def __post_init__(self) -> None:
        _require(
            1 <= self.num_particles <= 100_000, "stein.num_particles", "1 to 100000",
            self.num_particles,
        )  # fmt: skip
        _require(
            self.max_iterations >= 1, "stein.max_iterations", "at least 1", self.max_iterations
        )
        _require(0 < self.step_size <= 1, "stein.step_size", "in (0, 1]", self.step_size)
        _require(self.damping >= 0, "stein.damping", "not negative", self.damping)
        _require(self.tolerance >= 0, "stein.tolerance", "not negative", self.tolerance)
        _require(
            self.max_step_sigma >= 0, "stein.max_step_sigma", "not negative", self.max_step_sigma
        )
        _require_finite("stein", self)
        _require(self.learning_rate > 0, "stein.learning_rate", "positive", self.learning_rate)
        _require(self.batch_size >= 6, "stein.batch_size", "at least 6", self.batch_size)


@dataclass(frozen=True, kw_only=True)
class BackendConfig:
    """Where the particles are computed."""

    name: Literal["numba", "torch"] = "numba"
    """Compiled for the CPU, or PyTorch (extra ``torch``)."""
    device: Literal["cpu", "cuda", "mps"] = "cpu"
    """Device of the torch backend."""
    precision: Literal["float64", "float32"] = "float64"
    """Floating-point type of the torch backend; mps needs float32."""

    def __post_init__(self) -> None:
        for name, choices in (
            ("name", ("numba", "torch")), ("device", ("cpu", "cuda", "mps")),
            ("precision", ("float64", "float32")),
        ):  # fmt: skip
            value = getattr(self, name)
            _require(value in choices, f"backend.{name}", f"one of {', '.join(choices)}", value)


@dataclass(frozen=True, kw_only=True)
class Config:
    """All parameters of a registration."""

    map: MapConfig = field(default_factory=MapConfig)
    source: SourceConfig = field(default_factory=SourceConfig)
    match: MatchConfig = field(default_factory=MatchConfig)
    noise: NoiseConfig = field(default_factory=NoiseConfig)
    prior: PriorConfig = field(default_factory=PriorConfig)
    stein: SteinConfig = field(default_factory=SteinConfig)
    backend: BackendConfig = field(default_factory=BackendConfig)

    @staticmethod
    def preset(name: str) -> "Config":
        """Return the named preset, ``default`` or ``paper``."""
        if name not in PRESETS:
            raise ConfigError(f"there is no preset '{name}'; choose one of {', '.join(PRESETS)}")
        return PRESETS[name]

    @staticmethod
    def from_dict(values: dict[str, Any]) -> "Config":
        """Build a configuration from nested dictionaries; what is left out keeps its default."""
        return _build(Config, values, "")

    def to_dict(self) -> dict[str, Any]:
        """Nested dictionaries of plain values."""
        return dataclasses.asdict(self)

    @staticmethod
    def from_yaml(path: str | Path) -> "Config":
        """Read a YAML file; an empty one is the default configuration."""
        try:
            values = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise ConfigError(f"cannot read configuration {path}: {error.strerror}") from error
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            summary = " ".join(str(error).split())
            raise ConfigError(f"{path} is not valid YAML: {summary}") from error
        return Config.from_dict({} if values is None else values)

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
    ),
}  # fmt: skip


def _build(cls: Any, values: Any, path: str) -> Any:  # noqa: ANN401
    """Dataclass from a dictionary, checking every key and type on the way."""
    if not isinstance(values, dict):
        raise ConfigError(f"{path or 'the configuration'} must be a mapping, got {values!r}")
    hints = typing.get_type_hints(cls)
    arguments: dict[str, Any] = {}
    for key, value in values.items():
        name = f"{path}.{key}" if path else str(key)
        if key not in hints:
            near = difflib.get_close_matches(str(key), hints, n=1)
            advice = f"; did you mean '{near[0]}'?" if near else f"; known: {', '.join(hints)}"
            raise ConfigError(f"unknown configuration key '{name}'{advice}")
        kind = hints[key]
        is_stage = dataclasses.is_dataclass(kind)
        arguments[key] = _build(kind, value, name) if is_stage else _checked(kind, value, name)
    return cls(**arguments)


def _as_float(value: float | str, name: str) -> float:
    """The number; YAML reads 1e-3 (without a point) as text."""
    try:
        return float(value)
    except ValueError as error:
        raise ConfigError(f"{name} must be a number, got {value!r}") from error


def _checked(kind: Any, value: Any, name: str) -> Any:  # noqa: ANN401
    """The value as the annotated type, or a ConfigError."""
    if typing.get_origin(kind) is Literal:
        choices = typing.get_args(kind)
        if value not in choices:
            raise ConfigError(
                f"{name} must be one of {', '.join(map(str, choices))}, got {value!r}"
            )
        return value
    if isinstance(kind, types.UnionType):
        return value
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind is float and (number or isinstance(value, str)):
        return _as_float(value, name)
    if type(value) is not kind:
        raise ConfigError(f"{name} must be {kind.__name__}, got {value!r}")
    return value
