# SPDX-License-Identifier: MIT
"""What ``svnicp compare`` compares: the datasets that are named, and the methods."""

import difflib
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from svnicp.cli.arguments import UsageError
from svnicp.cli.compare import CompareCommand
from svnicp.cli.data_flags import DataFlags
from svnicp.cli.run import RunCommand
from svnicp.cli.run_inputs import configuration, ground_truth, imu_noise, open_data
from svnicp.data.dataset import Dataset, DatasetInfo
from svnicp.evaluation.truth_file import Truth
from svnicp.peers.peer import Peer
from svnicp.peers.registry import PEERS
from svnicp.peers.spool import SpoolOptions
from svnicp.peers.store import code_of

USUAL = (
    "kiss-icp", "genz-icp", "mad-icp", "rko-lio", "small-gicp", "ct-icp", "lio-sam", "dlio",
)  # fmt: skip
"""Peers that are asked when none is named."""

SCENES = {
    "long_corridor": "long_corridor", "bare_corridor": "corridor", "urban": "corridor",
    "nuclear1": "corridor", "nuclear2": "corridor", "tunnel": "corridor", "room": "indoor",
    "factory": "indoor", "multi_floor": "indoor", "stair": "indoor", "street": "outdoor",
    "bridge": "outdoor", "offroad": "outdoor", "flat_field": "outdoor",
    "waterway_short": "outdoor", "waterway_long": "outdoor",
}  # fmt: skip
"""Kind of surroundings of the scenarios, and of the sequences that they are named after."""


@dataclass(frozen=True, eq=False)
class Contest:
    """One dataset of a comparison."""

    name: str
    """Unique among the datasets of the comparison."""
    dataset: Dataset
    info: DatasetInfo
    truth: Truth | None
    options: SpoolOptions
    decides: dict[str, Any]
    """Everything about the inputs that decides a row, for its key."""

    @property
    def num_scans(self) -> int | None:
        """Scans to be used, as far as it is known before reading."""
        counts = [c for c in (self.info.num_scans, self.options.max_scans) if c is not None]
        return min(counts, default=None)


def contests(command: CompareCommand) -> list[Contest]:
    """Open all datasets of a command."""
    out: list[Contest] = []
    for path in command.data:
        contest = _contest(command, path)
        taken = sum(one.dataset.name == contest.dataset.name for one in out)
        name = contest.name if taken == 0 else f"{contest.name}-{taken + 1}"
        out.append(replace(contest, name=name))
    return out


def _contest(command: CompareCommand, path: Path) -> Contest:
    """Open one dataset."""
    reading = {field.name: getattr(command, field.name) for field in fields(DataFlags)}
    run = RunCommand(
        **{**reading, "data": (path,)},
        seed=command.seed, duration=command.duration, preset=command.preset,
        config=command.config, imu_model=command.imu_model,
    )  # fmt: skip
    config = configuration(run).to_dict()
    dataset = open_data(run)
    info = dataset.info()
    noise, _ = imu_noise(run, dataset)
    scene = command.scene or scene_of(dataset.name, info.kind)
    options = SpoolOptions(scene, noise, command.max_scans, command.seed, config)
    decides = {
        "data": _state(path), "reading": reading, "duration": command.duration,
        "seed": command.seed, "max_scans": command.max_scans, "config": config,
        "imu": noise, "scene": scene,
    }  # fmt: skip
    name = dataset.name.replace("/", "-")
    return Contest(name, dataset, info, ground_truth(dataset), options, decides)


def scene_of(name: str, kind: str) -> str:
    """Kind of surroundings by a dataset's name or format; empty if nothing tells it."""
    if kind.startswith("KITTI"):
        return "kitti"
    lower = name.lower()
    return next((scene for known, scene in SCENES.items() if lower.startswith(known)), "")


def _state(path: Path) -> list[Any]:
    """What is at a path, so that a changed recording is noticed; or a scenario, and its code."""
    if not path.exists():
        return [str(path), code_of("simulation")]
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    sizes = [(file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    digest = np.array(sizes, dtype=np.uint64).tobytes().hex() if len(sizes) < 20 else ""
    return [str(path.resolve()), len(sizes), sum(size for size, _ in sizes), digest]


def chosen_peers(names: str | None) -> list[Peer]:
    """Peers of a list of names; those that are usual and installed when none are named.

    Raises
    ------
    UsageError
        If there is no such peer.
    """
    if names is None:
        return [PEERS[name] for name in USUAL if PEERS[name].installed]
    wanted = [name.strip().lower().replace("_", "-") for name in names.split(",") if name.strip()]
    if wanted == ["none"]:
        return []
    for name in wanted:
        if name not in PEERS:
            close = difflib.get_close_matches(name, PEERS, n=1)
            hint = f"did you mean {close[0]}?" if close else f"choose from {', '.join(PEERS)}."
            raise UsageError(f"there is no peer '{name}'; {hint}")
    return [PEERS[name] for name in dict.fromkeys(wanted)]
