# SPDX-License-Identifier: MIT
"""How long a scan takes, ours beside its peers: the same scans, one after the other, in one run.

A 64 x 1024 LiDAR at 10 Hz with an IMU, in a street and in a corridor. Every method runs in a
process of its own over the same files; ours runs over a few scans before, so that nothing is
compiled while it counts. What is not installed is left out.
"""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from svnicp.data.imu_noise_of_dataset import imu_noise_of
from svnicp.peers import ours
from svnicp.peers.peer import DEFAULT, Peer
from svnicp.peers.process import OK, run_peer
from svnicp.peers.registry import OURS, PEERS
from svnicp.peers.spool import SpoolOptions, write_spool
from svnicp.simulation.simulate import simulate

SCENES = {"street": "street", "corridor": "long_corridor"}
"""What a scene is called here, and its scenario."""
RIG = "beta"
"""An OS1-64 with an IMU."""
BESIDE = ("kiss-icp", "genz-icp", "rko-lio", "small-gicp")
REFERENCE = "kiss-icp"
"""Times are given as multiples of this method's as well."""
TIME_LIMIT_S = 3600.0
NOT_COUNTED = 15
"""Scans at the beginning whose time does not count: programs load, and filters start."""


def measure_methods(num_scans: int, tell: Callable[[str], None]) -> list[dict[str, Any]]:
    """Mean and 95th percentile of the time per scan [ms] and peak memory, a row per method."""
    methods = [*OURS, *(PEERS[name] for name in BESIDE if PEERS[name].installed)]
    rows: list[dict[str, Any]] = []
    for scene, scenario in SCENES.items():
        with TemporaryDirectory(prefix="svnicp-bench-") as name:
            folder = Path(name)
            tell(f"simulating {num_scans} scans: {scene}")
            dataset = simulate(scenario, duration_s=0.1 * num_scans + 1.0, rig=RIG)
            noise, _ = imu_noise_of(dataset)
            options = SpoolOptions(imu_noise=noise, max_scans=num_scans)
            write_spool(dataset, folder, options, lambda: None)
            for peer in methods:
                tell(f"{scene}: {peer.name}")
                rows.append({"scene": scene, **_measured(peer, folder)})
    return with_ratios(rows)


def _measured(peer: Peer, spool: Path) -> dict[str, Any]:
    """Run one method over the files and sum it up."""
    if peer in OURS:
        run_peer(peer, ours.WARM_UP, spool, TIME_LIMIT_S)
    outcome = run_peer(peer, DEFAULT, spool, TIME_LIMIT_S)
    row: dict[str, Any] = {
        "method": peer.name, "version": peer.version, "imu": peer.uses_imu,
        "status": outcome.status, "note": outcome.note,
    }  # fmt: skip
    if outcome.status != OK or outcome.run is None:
        return row
    return {
        **row,
        **summed_up(outcome.run.seconds[NOT_COUNTED:]),
        "peak_mb": None if outcome.peak_bytes is None else outcome.peak_bytes / 1e6,
    }


def summed_up(seconds: np.ndarray) -> dict[str, float]:
    """Mean and 95th percentile of times [s], in milliseconds."""
    return {
        "mean_ms": 1e3 * float(np.mean(seconds)),
        "p95_ms": 1e3 * float(np.percentile(seconds, 95)),
    }


def with_ratios(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows with their mean time over that of the reference on the same scene, if there is one."""
    known = {
        row["scene"]: row["mean_ms"]
        for row in rows
        if row["method"] == REFERENCE and "mean_ms" in row
    }
    return [
        {**row, "over_reference": row["mean_ms"] / known[row["scene"]]}
        if "mean_ms" in row and row["scene"] in known
        else row
        for row in rows
    ]
