# SPDX-License-Identifier: MIT
"""Is the covariance right? Noise redrawn many times in simulated scenes, error against sigma.

Every trial draws new range noise for all scans of the map and for the source, and a new guess from
the prior. ANEES is the mean squared error in units of the reported covariance over the dimension:
1 is calibrated, larger is over-confident. Run ``python -m benchmarks.calibration`` for the table.
"""

import argparse
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from svnicp.arrays import Covariance, Floats, Transform
from svnicp.config import Config
from svnicp.lie import make_transform, se3_exp, se3_inverse, se3_log, so3_exp, transform_points
from svnicp.local_map import VoxelMap
from svnicp.registration import register_in_map
from svnicp.simulation import LidarPattern, Rays, Scene, cast
from svnicp.simulation.scene import bare_corridor, closed_corridor, door_corridor, room

PRIOR_STD = np.array([0.1, 0.1, 0.1, 0.01, 0.01, 0.01])
"""Standard deviation of the guess [m, rad]."""
RANGE_NOISE_M = 0.02
PATTERN = LidarPattern.rings(64, 1024, -25.0, 15.0, max_range_m=40.0)

SCENES: dict[str, Callable[[], Scene]] = {
    "room": room,
    "closed corridor": closed_corridor,
    "bare corridor": bare_corridor,
    "doors 10 cm": lambda: door_corridor(recess_m=0.10),
    "doors 25 cm": lambda: door_corridor(recess_m=0.25),
}


class Site(NamedTuple):
    """Noise-free rays of some map scans and one source scan."""

    T_world_map: list[Transform]
    map_rays: list[Rays]
    T_world_source: Transform
    source_rays: Rays


class Trial(NamedTuple):
    """One redraw: error and what was said about it."""

    error: Floats
    """(6,) log of the estimate's inverse times the truth: in the estimate's body tangent."""
    covariance: Covariance
    laplace: Covariance
    ok: bool


def prepare(scene: Scene, num_map_scans: int = 8, pattern: LidarPattern = PATTERN) -> Site:
    """Cast all rays once; noise is redrawn later."""
    T_world_map = [
        _pose(0.3 * i - 0.15 * num_map_scans, 0.1 * np.sin(i), 0.05 * np.sin(i))
        for i in range(num_map_scans)
    ]
    T_world_source = _pose(0.15, 0.05, 0.03)
    rays = [cast(scene, T, pattern) for T in T_world_map]
    return Site(T_world_map, rays, T_world_source, cast(scene, T_world_source, pattern))


def trials(
    site: Site, configs: dict[str, Config], seeds: Iterable[int]
) -> Iterator[dict[str, Trial]]:
    """One trial per seed and configuration, all configurations on the same noise and guess."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        clouds = [
            transform_points(T, rays.points(rng, RANGE_NOISE_M))
            for T, rays in zip(site.T_world_map, site.map_rays, strict=True)
        ]
        source = site.source_rays.points(rng, RANGE_NOISE_M)
        guess = site.T_world_source @ se3_exp(rng.normal(size=6) * PRIOR_STD)
        yield {
            name: _trial(site, clouds, source, guess, config, seed)
            for name, config in configs.items()
        }


def _trial(
    site: Site, clouds: list[Floats], source: Floats, guess: Transform, config: Config, seed: int
) -> Trial:
    """Build the map, register, compare with the truth."""
    local_map = VoxelMap(config.map)
    for cloud in clouds:
        local_map.insert(cloud)
    result = register_in_map(
        source, local_map, T_target_source=guess, prior_covariance=np.diag(PRIOR_STD**2),
        config=config, rng=np.random.default_rng(seed),
    )  # fmt: skip
    error = se3_log(se3_inverse(result.T_target_source) @ site.T_world_source)
    return Trial(error, result.covariance, result.laplace_covariance, result.status.ok)


def anees(errors: Floats, covariances: Covariance, axes: list[int] | None = None) -> float:
    """Average normalised estimation error squared, over the dimension; of some axes if given."""
    axes = axes if axes is not None else list(range(6))
    blocks = covariances[:, axes][:, :, axes]
    squares = np.einsum("ni,nij,nj->n", errors[:, axes], np.linalg.inv(blocks), errors[:, axes])
    return float(squares.mean() / len(axes))


def coverage(errors: Floats, covariances: Covariance) -> float:
    """Share of single-axis errors within two reported standard deviations (0.954 is right)."""
    sigmas = np.sqrt(np.einsum("nii->ni", covariances))
    return float((np.abs(errors) < 2.0 * sigmas).mean())


class Row(NamedTuple):
    """Scores of one scene and method."""

    scene: str
    method: str
    anees: float
    anees_along: float
    """Along the corridor (body x)."""
    coverage: float
    sigma_along_mm: float
    error_along_mm: float
    across_ratio: float
    """Reported sigma across the corridor (y, z) over the spread of the errors there."""


def score(scene: str, method: str, errors: Floats, covariances: Covariance) -> Row:
    """All scores of one method in one scene."""
    sigmas = np.sqrt(np.einsum("nii->ni", covariances))
    rms = np.sqrt((errors**2).mean(axis=0))
    vertical = float(np.median(sigmas[:, 2]) / rms[2])
    return Row(
        scene, method, anees(errors, covariances), anees(errors, covariances, [0]),
        coverage(errors, covariances), 1e3 * float(np.median(sigmas[:, 0])), 1e3 * float(rms[0]),
        vertical,
    )  # fmt: skip


def study(scene: str, num_trials: int, configs: dict[str, Config], num_map_scans: int) -> list[Row]:
    """Rows of one scene: each configuration by its particles, and the first one by Laplace."""
    site = prepare(SCENES[scene](), num_map_scans)
    done = list(trials(site, configs, range(num_trials)))
    rows = []
    for name in configs:
        errors = np.array([trial[name].error for trial in done])
        covariances = np.array([trial[name].covariance for trial in done])
        rows.append(score(scene, name, errors, covariances))
        if name == "default":
            laplace = np.array([trial[name].laplace for trial in done])
            rows.append(score(scene, "Laplace", errors, laplace))
    return rows


def table(rows: list[Row]) -> str:
    """Markdown table of the rows."""
    lines = [
        "| scene | method | ANEES 6-D | ANEES along x | within 2σ | σx [mm] | error x [mm] "
        "| σz/error z |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row.scene} | {row.method} | {row.anees:.2f} | {row.anees_along:.2f} "
        f"| {100 * row.coverage:.0f} % | {row.sigma_along_mm:.1f} | {row.error_along_mm:.1f} "
        f"| {row.across_ratio:.2f} |"
        for row in rows
    ]
    return "\n".join(lines)


def _pose(x: float, y: float, yaw: float) -> Transform:
    """Sensor pose 1.2 m above the floor."""
    return make_transform(so3_exp(np.array([0.0, 0.0, yaw])), np.array([x, y, 1.2]))


def _with(config: Config, name: str, value: str) -> Config:
    """The configuration with one value changed."""
    values = config.to_dict()
    stage, key = name.split(".")
    values[stage][key] = type(values[stage][key])(value)
    return Config.from_dict(values)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--map-scans", type=int, default=8)
    parser.add_argument("--scenes", nargs="*", default=list(SCENES), choices=list(SCENES))
    parser.add_argument("--no-paper", action="store_true", help="leave the paper preset out")
    parser.add_argument("--set", nargs="*", default=[], help="e.g. map.plane_radius_m=0.3")
    arguments = parser.parse_args()
    default = Config.preset("default")
    for assignment in arguments.set:
        default = _with(default, *assignment.split("="))
    configs = {"default": default}
    if not arguments.no_paper:
        configs["paper"] = Config.preset("paper")
    rows: list[Row] = []
    for scene in arguments.scenes:
        rows += study(scene, arguments.trials, configs, arguments.map_scans)
        print(table(rows[-len(configs) - 1 :]), flush=True)
    print(table(rows))


if __name__ == "__main__":
    main()
