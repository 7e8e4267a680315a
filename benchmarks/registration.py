# SPDX-License-Identifier: MIT
"""How long does a registration take? Beside kiss-icp on the same scans, in the same run.

A simulated 64 x 1024 LiDAR drives through a street. Every scan is registered by kiss-icp's
``register_frame`` (which also inserts it into its map) and by svnicp with K = 1 to 100 particles
against the map so far; insertion into our map is timed on its own. Run ``make bench``.
"""

import argparse
import dataclasses
import json
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from svnicp.config import Config
from svnicp.extras import require
from svnicp.lie import make_transform, se3_exp, se3_inverse, se3_log, so3_exp, transform_points
from svnicp.local_map import VoxelMap
from svnicp.registration import register_in_map
from svnicp.simulation import LidarPattern, scan
from svnicp.simulation.scene import street

PARTICLES = (1, 5, 10, 30, 50, 100)
PRIOR_STD = np.array([0.1, 0.1, 0.1, 0.01, 0.01, 0.01])
WARM_UP_SCANS = 10
"""Scans that only build the maps (and compile): young maps are not what is measured."""


def drive(num_scans: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Poses (4, 4) and clouds (n, 3) of a drive at 1.5 m/s through a street, 10 scans a second."""
    rng = np.random.default_rng(0)
    scene, pattern = street(0), LidarPattern.rings(64, 1024, -25.0, 15.0)
    scans = []
    for i in range(num_scans):
        yaw = np.array([0.0, 0.0, 0.05 * np.sin(0.1 * i)])
        T = make_transform(so3_exp(yaw), np.array([0.15 * i - 5.0, 0.2 * np.sin(0.07 * i), 1.8]))
        scans.append((T, scan(scene, T, pattern, rng, range_noise_m=0.02)))
    return scans


def measure(num_scans: int) -> dict[str, Any]:
    """Times [ms] per method and the error of the K = 30 registrations."""
    kiss_config = require("kiss_icp.config", "bench", "the benchmark").load_config(None)
    kiss = require("kiss_icp.kiss_icp", "bench", "the benchmark").KissICP(kiss_config)
    default = Config.preset("default")
    configs = {
        k: dataclasses.replace(default, stein=dataclasses.replace(default.stein, num_particles=k))
        for k in PARTICLES
    }
    maps = {k: VoxelMap(default.map) for k in PARTICLES}
    rng = np.random.default_rng(1)
    times: dict[str, list[float]] = {}
    errors: list[float] = []

    def clock(name: str, action: Callable[[], Any], counts: bool) -> Any:  # noqa: ANN401
        start = time.perf_counter()
        outcome = action()
        if counts:
            times.setdefault(name, []).append(1e3 * (time.perf_counter() - start))
        return outcome

    for i, (T, cloud) in enumerate(drive(num_scans + WARM_UP_SCANS)):
        counts = i >= WARM_UP_SCANS
        clock("kiss-icp", lambda cloud=cloud: kiss.register_frame(cloud, np.array([])), counts)
        guess = T @ se3_exp(rng.normal(size=6) * PRIOR_STD)
        for k, config in configs.items() if i > 0 else ():
            result = clock(
                f"K = {k}",
                lambda k=k, config=config, guess=guess, cloud=cloud: register_in_map(
                    cloud, maps[k], T_target_source=guess,
                    prior_covariance=np.diag(PRIOR_STD**2), config=config,
                ),
                counts,
            )  # fmt: skip
            if counts and k == 30:
                errors.append(
                    float(np.linalg.norm(se3_log(se3_inverse(result.T_target_source) @ T)[:3]))
                )
        world = transform_points(T, cloud)
        for local_map in maps.values():
            clock("insertion", lambda m=local_map, world=world: m.insert(world), counts)
    medians = {name: float(np.median(values)) for name, values in times.items()}
    return {
        "median_ms": medians,
        "p95_ms": {name: float(np.quantile(values, 0.95)) for name, values in times.items()},
        "over_kiss_icp": {name: value / medians["kiss-icp"] for name, value in medians.items()},
        "k100_over_k1": medians["K = 100"] / medians["K = 1"],
        "translation_error_mm": 1e3 * float(np.mean(errors)),
        "num_scans": num_scans,
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
    }


def report(results: dict[str, Any]) -> str:
    """Markdown table of the measurement."""
    lines = ["| | median [ms] | p95 [ms] | over kiss-icp |", "|---|---|---|---|"]
    for name, median in results["median_ms"].items():
        label = f"svnicp {name}" if name != "kiss-icp" else "kiss-icp register_frame"
        ratio = results["over_kiss_icp"][name]
        lines.append(f"| {label} | {median:.1f} | {results['p95_ms'][name]:.1f} | {ratio:.2f} |")
    lines.append("")
    lines.append(
        f"K = 100 over K = 1: {results['k100_over_k1']:.2f}. Mean translation error at K = 30: "
        f"{results['translation_error_mm']:.1f} mm. {results['num_scans']} scans, "
        f"{results['machine']}."
    )
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scans", type=int, default=40)
    parser.add_argument("--json", type=Path, default=None, help="also write the numbers here")
    arguments = parser.parse_args()
    results = measure(arguments.scans)
    print(report(results))
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(results, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
