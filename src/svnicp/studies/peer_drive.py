# SPDX-License-Identifier: MIT
"""The job of a peer: another odometry on the same scans, in its own process, judged alike."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from svnicp.data.imu_noise_of_dataset import imu_noise_of
from svnicp.peers.peer import DEFAULT
from svnicp.peers.process import run_peer
from svnicp.peers.registry import PEERS
from svnicp.peers.row import empty_row, judge
from svnicp.peers.spool import SpoolOptions, write_spool
from svnicp.studies.drive import FARTHEST_M
from svnicp.studies.job import Job
from svnicp.studies.source import Source, truth_of

USUAL = ("kiss-icp", "genz-icp", "rko-lio")
"""Peers that stand in the tables, as far as they are installed: two of the paper's, and one with an
IMU."""


def installed_peers() -> list[str]:
    """Names of the peers that can be run here."""
    return [name for name in USUAL if name in PEERS and PEERS[name].installed]


def peer_job(source: Source, peer: str) -> Job:
    """Job of a peer with its own defaults on a source."""
    inputs = {"source": source.inputs(), "peer": peer, "version": PEERS[peer].version}
    words = f"{source.title} {source.seed} {peer}"
    return Job("svnicp.studies.peer_drive.peer_drive", inputs, words)


def peer_drive(source: dict[str, Any], peer: str, version: str) -> dict[str, Any]:  # noqa: ARG001
    """Run a peer; the function of the job. ``version`` only makes another job of another one."""
    where = Source(**source)
    dataset = where.open()
    found = PEERS[peer]
    has_imu = dataset.info().imu_period_s is not None
    options = SpoolOptions(imu_noise=imu_noise_of(dataset)[0] if has_imu else None, seed=where.seed)
    with TemporaryDirectory(prefix="svnicp-study-") as name:
        about = write_spool(dataset, Path(name), options, lambda: None)
        outcome = run_peer(found, DEFAULT, Path(name), 60.0 + about.num_scans)
    row = judge(
        empty_row(where.title, found, DEFAULT, ""), outcome, truth_of(dataset), about.num_scans
    )
    failed = row.ape_m is not None and row.ape_m > FARTHEST_M
    return {**row.to_dict(), "status": "diverged" if failed else row.status}
