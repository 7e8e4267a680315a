# SPDX-License-Identifier: MIT
"""The work of ``svnicp info``: open a recording, look at it, and say what was understood."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from svnicp import __version__
from svnicp.cli import show
from svnicp.cli.info import InfoCommand
from svnicp.cli.json_target import JsonTarget
from svnicp.data.dataset import Dataset, DatasetInfo, Finding
from svnicp.data.measurements import Scan
from svnicp.errors import DatasetError
from svnicp.simulation.scenarios import SCENARIOS


def run(command: InfoCommand) -> int:
    """Look at the recording, write and print; returns the exit code."""
    target = JsonTarget(command.json)
    _refuse_scenarios(command)
    dataset = command.open()
    info = dataset.info()
    first = next(dataset.scans(), None)
    if target.wanted:
        content = document([str(path) for path in command.data], dataset, info, first)
        target.write(json.dumps(content, indent=1) + "\n")
    console = show.console(target.words_to, quiet=command.quiet)
    console.print(f"{dataset.name}: {info.kind}", style="bold")
    console.print(overview(dataset, info, first))
    console.print()
    console.print(findings_table(info.findings))
    return 0


def _refuse_scenarios(command: InfoCommand) -> None:
    """Say what becomes of the name of a scenario, which svnicp run takes, and which is no file."""
    for path in command.data:
        if str(path) in SCENARIOS and not Path(path).exists():
            raise DatasetError(
                f"{path} is a simulated scenario and no recording; write one first: "
                f"svnicp simulate {path} --out {path}.mcap"
            )


def overview(dataset: Dataset, info: DatasetInfo, first: Scan | None) -> Table:
    """Return what there is: scans, IMU, ground truth."""
    table = show.plain_table()
    table.show_header = False
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    rows = {
        "duration": "unknown" if info.duration_s is None else f"{info.duration_s:.1f} s",
        "scans": _rate(_count(info.num_scans), info.scan_period_s),
        "first scan": "none" if first is None else _scan_in_words(first),
        "LiDAR": info.sensor or "not known",
        "IMU": "none" if info.imu_period_s is None else _rate(info.imu, info.imu_period_s),
        "ground truth": _truth_in_words(dataset),
    }
    for what, words in rows.items():
        table.add_row(what, words)
    return table


def findings_table(findings: tuple[Finding, ...]) -> Table:
    """Return everything that was detected, what from, and what overrides it."""
    table = show.plain_table()
    table.add_column("detected", no_wrap=True)
    table.add_column("", overflow="fold")
    for finding in findings:
        table.add_row(finding.what, finding.value)
        if finding.evidence:
            table.add_row("", f"from: {finding.evidence}", style="dim")
        if finding.override:
            table.add_row("", f"flag: {finding.override}", style="dim")
    return table


def document(
    paths: list[str], dataset: Dataset, info: DatasetInfo, first: Scan | None
) -> dict[str, Any]:
    """Return the same as plain values for JSON."""
    truth = dataset.ground_truth
    return {
        "svnicp": __version__,
        "data": paths,
        "name": dataset.name,
        **asdict(info),
        "first_scan": None
        if first is None
        else {
            "stamp_ns": first.stamp_ns,
            "num_points": len(first.points),
            "has_point_times": first.point_times_ns is not None,
            "duration_s": 1e-9 * (first.end_ns - first.stamp_ns),
        },
        "T_body_lidar": dataset.T_body_lidar.tolist(),
        "ground_truth": None
        if truth is None
        else {
            "num_poses": len(truth),
            "length_m": truth.length_m,
            "duration_s": truth.duration_s,
            "position_only": truth.position_only,
        },
    }


def _count(number: int | None) -> str:
    return "number unknown" if number is None else str(number)


def _rate(what: str, period_s: float | None) -> str:
    """Return what there is with its rate."""
    rate = f"{1.0 / period_s:.1f} Hz" if period_s else ""
    return " at ".join(filter(None, (what, rate)))


def _scan_in_words(scan: Scan) -> str:
    """Return the size, reach and duration of a scan."""
    if len(scan.points) == 0:
        return "no points"
    ranges = np.linalg.norm(scan.points, axis=1)
    times = "no point times"
    if scan.point_times_ns is not None:
        times = f"taken within {1e-6 * (scan.end_ns - scan.stamp_ns):.1f} ms"
    return f"{len(scan.points)} points, {ranges.min():.1f} to {ranges.max():.1f} m away, {times}"


def _truth_in_words(dataset: Dataset) -> str:
    """Return how much ground truth there is."""
    truth = dataset.ground_truth
    if truth is None:
        return "none"
    kind = "positions" if truth.position_only else "poses"
    return f"{len(truth)} {kind}, {truth.length_m:.1f} m in {truth.duration_s:.1f} s"
