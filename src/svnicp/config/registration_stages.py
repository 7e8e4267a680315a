# SPDX-License-Identifier: MIT
"""Parameters of a registration, one frozen dataclass per stage."""

from dataclasses import dataclass
from typing import Literal

from svnicp.config.checks import require, require_kinds


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
        require_kinds("map", self)
        require(self.voxel_size_m > 0, "map.voxel_size_m", "positive", self.voxel_size_m)
        require(
            0 <= self.cells_per_voxel_edge <= 16, "map.cells_per_voxel_edge", "0 to 16",
            self.cells_per_voxel_edge,
        )  # fmt: skip
        require(
            1 <= self.max_points_per_voxel <= 127, "map.max_points_per_voxel", "1 to 127",
            self.max_points_per_voxel,
        )  # fmt: skip
        require(
            0 < self.plane_radius_m <= self.voxel_size_m, "map.plane_radius_m",
            "positive and at most voxel_size_m", self.plane_radius_m,
        )  # fmt: skip
        require(self.min_cells >= 5, "map.min_cells", "at least 5", self.min_cells)
        require(
            0 <= self.blocks_per_voxel_edge <= 16, "map.blocks_per_voxel_edge", "0 to 16",
            self.blocks_per_voxel_edge,
        )  # fmt: skip
        require(self.refit_growth >= 1, "map.refit_growth", "at least 1", self.refit_growth)
        require(self.refit_epochs >= 1, "map.refit_epochs", "at least 1", self.refit_epochs)
        for name in ("max_residual_std_m", "min_width_m", "min_aspect", "max_normal_std_rad"):
            value = getattr(self, name)
            require(value > 0, f"map.{name}", "positive", value)


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
    sparse_points: float = 60.0
    """Points around which fewer are counted than this are less likely to be used: there is no
    surface to be matched."""
    keep_rare_normals: bool = True
    """Keep rare directions of the normal whole and thin the common ones."""

    def __post_init__(self) -> None:
        require_kinds("source", self)
        require(self.max_points >= 20, "source.max_points", "at least 20", self.max_points)
        require(self.search_factor >= 1, "source.search_factor", "at least 1", self.search_factor)
        require(self.spread_leaf_m > 0, "source.spread_leaf_m", "positive", self.spread_leaf_m)
        require(self.sparse_points >= 1, "source.sparse_points", "at least 1", self.sparse_points)


@dataclass(frozen=True, kw_only=True)
class MatchConfig:
    """How source points find their map points."""

    metric: Literal["plane", "point"] = "plane"
    """Residual: plane where the map is planar, or point to point everywhere (the paper)."""
    non_planar: Literal["drop", "point"] = "drop"
    """With the plane metric, a map point without a plane is left out, or a point that is known to a
    third of a voxel."""
    num_candidates: int = 3
    """Map points among which every particle chooses the nearest."""
    max_distance_m: float = 0.5
    """Farther matches are rejected [m]: a distance, not its square."""
    max_first_distance_m: float = 4.0
    """The search starts this wide at most when the prior is wide [m]."""
    min_matches: int = 30
    """Fewer matched points give no estimate."""
    settled_scans: int = 0
    """A map point is matched when this many insertions have reached its voxel, or the first did.
    Odometry sets it: see ``odometry.settled_scans``."""

    def __post_init__(self) -> None:
        require_kinds("match", self)
        require(
            1 <= self.num_candidates <= 200, "match.num_candidates", "1 to 200", self.num_candidates
        )
        require(self.max_distance_m > 0, "match.max_distance_m", "positive", self.max_distance_m)
        require(self.min_matches >= 6, "match.min_matches", "at least 6", self.min_matches)
        settled = self.settled_scans
        require(settled >= 0, "match.settled_scans", "not negative", settled)


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
        require_kinds("prior", self)
        require(
            self.translation_std_m > 0,
            "prior.translation_std_m",
            "positive",
            self.translation_std_m,
        )
        require(
            self.rotation_std_rad > 0, "prior.rotation_std_rad", "positive", self.rotation_std_rad
        )


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
        require_kinds("stein", self)
        require(
            1 <= self.num_particles <= 100_000, "stein.num_particles", "1 to 100000",
            self.num_particles,
        )  # fmt: skip
        require(self.max_iterations >= 1, "stein.max_iterations", "at least 1", self.max_iterations)
        require(0 < self.step_size <= 1, "stein.step_size", "in (0, 1]", self.step_size)
        require(self.damping >= 0, "stein.damping", "not negative", self.damping)
        require(self.tolerance >= 0, "stein.tolerance", "not negative", self.tolerance)
        require(
            self.max_step_sigma >= 0, "stein.max_step_sigma", "not negative", self.max_step_sigma
        )
        require(self.learning_rate > 0, "stein.learning_rate", "positive", self.learning_rate)
        require(self.batch_size >= 6, "stein.batch_size", "at least 6", self.batch_size)


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
            require(value in choices, f"backend.{name}", f"one of {', '.join(choices)}", value)
