# SPDX-License-Identifier: MIT
"""Measurements of ``svnicp bench`` as tables, a figure, and the page on performance."""

from pathlib import Path
from typing import Any

from svnicp.studies.drawing import BLUE, GREEN, ORANGE, sheet
from svnicp.studies.soak import SETTLED_MINUTES, growth

COST = """\
## What costs what

With K particles, N source points (at most 1500, found among 3000), M candidates per point, I
iterations, and P points in the raw scan:

| part of a scan | grows with | because |
|---|---|---|
| deskewing and cropping | P | points are moved by their own times, before and after matching |
| thinning | P, up to 20 000 | crowds are counted in a hash table; larger scans are strided first |
| neighbours in the map | N M | only voxels near a point are looked at, however large the map is |
| plane fits | new or grown cells | a fit is kept until its cell has grown; few are new at rest |
| particles | K N M I | every particle matches every point anew; the particles share the threads |
| Stein step | K² I | small beside the matching up to K = 100 |
| insertion | points inserted | a hash per point |
| pruning | voxels in the map | every tenth scan |

I is small because particles start around a few Gauss-Newton steps. Memory is that of the voxels
within `odometry.map_radius_m`, however long the drive is; nothing else grows.
"""

START = """\
## The first start

The first start compiles for a minute or two; `svnicp warmup` does it beforehand, and says how long
every part took. Later starts load what was compiled.
"""

FIGURE = "performance"
BUSY = 0.75
"""With more programs per core than this, times are not those of an idle machine."""


def page(numbers: dict[str, Any], path: Path) -> str:
    """Text of the page; its figure is written into ``images`` beside it."""
    lines = ["# Performance", "", *intro(numbers), "", *tables(numbers), ""]
    if "particles" in numbers:
        draw(numbers, path.parent / "images" / FIGURE)
        lines += [f"![Time of a scan against particles, points and map](images/{FIGURE}.svg)", ""]
    return "\n".join([*lines, COST, START])


def intro(numbers: dict[str, Any]) -> list[str]:
    """How the numbers came about."""
    command = numbers.get("command") or numbers["hour"]["command"]
    machine = numbers.get("machine") or numbers["hour"]["machine"]
    return [
        f"Made by `{command}`, on {machine['cores']} cores of {machine['processor']}. All methods "
        "ran one after the other in the same run, so ratios are what to compare: milliseconds",
        "depend on the machine and on what else it does. LO is LiDAR alone, LIO with the IMU.",
        *_busy(machine),
    ]


def _busy(machine: dict[str, Any]) -> list[str]:
    """A warning where other programs wanted the cores too."""
    load = machine.get("load")
    if load is None or load < BUSY * machine["cores"]:
        return []
    return [
        "",
        f"**The machine was busy: {load:.0f} programs wanted its {machine['cores']} cores at the "
        "start.** All times are too long, and 95th percentiles are those of waiting.",
    ]


def tables(numbers: dict[str, Any]) -> list[str]:
    """Every table that there are numbers for, in Markdown."""
    lines: list[str] = []
    if "methods" in numbers:
        lines += ["## Beside others", "", *_methods(numbers), ""]
        lines += ["## Particles", "", *_stages(numbers["particles"], "particles", "K"), ""]
        lines += ["## Points", "", *_stages(numbers["points"], "points", "points of a scan"), ""]
        lines += ["## Backends", "", *_stages(numbers["backends"], "backend", "backend"), ""]
        lines += ["## Map", "", *_map(numbers["map"]), ""]
    if "hour" in numbers:
        lines += ["## A long drive", "", *_hour(numbers["hour"])]
    return lines


def _methods(numbers: dict[str, Any]) -> list[str]:
    """Time and memory of every method on both scenes."""
    lines = [
        f"64 x 1024 beams at 10 Hz, {numbers['num_scans']} scans; K = 30.", "",
        "| scene | method | mean [ms] | p95 [ms] | over kiss-icp | peak memory [MB] |",
        "|---|---|---|---|---|---|",
    ]  # fmt: skip
    for row in numbers["methods"]:
        name = f"{row['method']} {row['version']}{' (IMU)' if row['imu'] else ''}"
        if "mean_ms" not in row:
            lines.append(f"| {row['scene']} | {name} | {row['status']} | | | |")
            continue
        ratio = f"{row['over_reference']:.2f}" if "over_reference" in row else ""
        peak = "" if row["peak_mb"] is None else f"{row['peak_mb']:.0f}"
        lines.append(
            f"| {row['scene']} | {name} | {row['mean_ms']:.1f} | {row['p95_ms']:.1f} | {ratio} "
            f"| {peak} |"
        )
    return lines


def _stages(rows: list[dict[str, Any]], key: str, head: str) -> list[str]:
    """Whole scans and their stages, one row per setting."""
    names = list(rows[0]["stages_ms"])
    lines = [
        f"| {head} | mean [ms] | p95 [ms] | over the first | {' | '.join(names)} |",
        "|---" * (4 + len(names)) + "|",
    ]
    for row in rows:
        stages = " | ".join(f"{row['stages_ms'][name]:.1f}" for name in names)
        ratio = row["mean_ms"] / rows[0]["mean_ms"]
        lines.append(
            f"| {row[key]} | {row['mean_ms']:.1f} | {row['p95_ms']:.1f} | {ratio:.2f} | {stages} |"
        )
    return lines


def _map(rows: list[dict[str, Any]]) -> list[str]:
    """Time and memory against the radius of the map."""
    lines = [
        "| radius [m] | stored points | occupied volume [m³] | map [MB] | kB per m³ | mean [ms] |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row['radius_m']:g} | {row['stored_points']} | {row['volume_m3']:.0f} "
        f"| {row['map_mb']:.1f} | {row['bytes_per_m3'] / 1e3:.1f} | {row['mean_ms']:.1f} |"
        for row in rows
    ]
    return lines


def _hour(run: dict[str, Any]) -> list[str]:
    """A few minutes of the long drive, and how much it grew."""
    rows = run["minutes"]
    shown = sorted({1, 2, 5, 10, 20, 30, 40, 50, len(rows)} & {row["minute"] for row in rows})
    lines = [
        f"`{run['command']}`: {600 * len(rows)} scans of 16 x 512 beams at 10 Hz in a loop, with "
        "an IMU.", "",
        "| minute | mean [ms] | p95 [ms] | resident [MB] | map [MB] |", "|---|---|---|---|---|",
    ]  # fmt: skip
    for minute in shown:
        row = rows[minute - 1]
        lines.append(
            f"| {minute} | {row['mean_ms']:.1f} | {row['p95_ms']:.1f} | {row['resident_mb']:.0f} "
            f"| {row['map_mb']:.1f} |"
        )
    if len(rows) > SETTLED_MINUTES:
        lines += [
            "",
            f"Last fifth over first fifth, after {SETTLED_MINUTES} minutes: time "
            f"{growth(rows, 'mean_ms'):.2f}, memory {growth(rows, 'resident_mb'):.3f}.",
        ]
    return lines


def draw(numbers: dict[str, Any], path: Path) -> None:
    """Time of a scan against particles, points and stored points, as PNG and SVG."""
    panels = (
        ("particles", "particles", "particles", BLUE),
        ("points", "points", "points of a scan", ORANGE),
        ("map", "stored_points", "points stored in the map", GREEN),
    )
    with sheet(path, 1, 3, (10.0, 3.2)) as (_, axes):
        for axis, (table, key, label, colour) in zip(axes[0], panels, strict=True):
            rows = numbers[table]
            places = [row[key] for row in rows]
            axis.plot(places, [row["mean_ms"] for row in rows], "o-", color=colour, label="mean")
            axis.plot(places, [row["p95_ms"] for row in rows], "--", color=colour, label="p95")
            axis.set_xlabel(label)
            axis.locator_params(axis="x", nbins=5)
            axis.set_ylim(bottom=0.0)
        axes[0, 0].set_ylabel("time of a scan [ms]")
        axes[0, 0].legend()
