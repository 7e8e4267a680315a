# SPDX-License-Identifier: MIT
"""Finished rows on disk: one that was made from the same inputs is not computed again.

A row is a small JSON file with a key, which is a hash of all that decides it; beside it are its
trajectory as a TUM file and, for the picture, everything that the peer gave.
"""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import svnicp
from svnicp.data.trajectory import Trajectory
from svnicp.data.trajectory_files import write_tum
from svnicp.errors import InputError
from svnicp.peers.peer import Peer, PeerRun
from svnicp.peers.process import TIMED_OUT
from svnicp.peers.row import Row
from svnicp.peers.worker import read_run, write_run
from svnicp.recording.appear_whole import appear_whole

DECIDING = (
    "arrays.py", "config", "data", "estimate.py", "evaluation", "inertial", "kernels", "lie.py",
    "local_map", "odometry", "pose_gaussian.py", "preprocess", "registration", "scores",
)  # fmt: skip
"""Our packages and modules that decide what our rows say."""
FORMAT = 1
"""Changes when rows that are on disk no longer mean the same."""


def key_of(inputs: dict[str, Any], peer: Peer, configuration: str, *, ours: bool) -> str:
    """Hash of everything that decides a row; for ours, of our code, too."""
    decides = {
        "format": FORMAT, "inputs": inputs, "method": peer.name, "configuration": configuration,
        "version": peer.version, "code": code_of(*DECIDING) if ours else "",
    }  # fmt: skip
    text = json.dumps(decides, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def code_of(*packages: str) -> str:
    """Hash of the sources of some of our packages, such as "simulation"."""
    digest, root = hashlib.sha256(), Path(svnicp.__file__).parent
    for source in sorted(root.rglob("*.py")):
        if source.relative_to(root).parts[0] in packages:
            digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


class Store:
    """The finished rows of one dataset in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise InputError(f"{folder}: the folder cannot be created ({reason}).") from None

    def find(self, label: str, key: str, time_limit_s: float) -> Row | None:
        """Return a finished row with this key; one that ran out of less time is none."""
        path = self._path(label, ".json")
        if not path.is_file():
            return None
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            row, known = Row.from_dict(content["row"]), content["key"]
            too_short = row.status == TIMED_OUT and content["time_limit_s"] < time_limit_s
        except (ValueError, KeyError, TypeError):
            return None  # an old or damaged file: the row is made again
        return row if known == key and not too_short else None

    def keep(self, row: Row, run: PeerRun | None, key: str, time_limit_s: float) -> None:
        """Write a row, and the trajectory if there is one."""
        for suffix in (".npz", ".tum"):
            self._path(row.label, suffix).unlink(missing_ok=True)
        if run is not None and len(run.stamps_ns):
            write_run(self._path(row.label, ".npz"), run)
            write_tum(self._path(row.label, ".tum"), Trajectory(run.stamps_ns, run.T_world_body))
        content = {"key": key, "time_limit_s": time_limit_s, "row": row.to_dict()}
        with appear_whole(self._path(row.label, ".json")) as place:
            place.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")

    def run(self, label: str) -> PeerRun | None:
        """Return everything that the peer of a row gave."""
        path = self._path(label, ".npz")
        return read_run(path)[0] if path.is_file() else None

    def _path(self, label: str, suffix: str) -> Path:
        return self.folder / (re.sub(r"[^A-Za-z0-9._-]+", "_", label).strip("_") + suffix)
