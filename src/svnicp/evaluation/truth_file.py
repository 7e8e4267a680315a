# SPDX-License-Identifier: MIT
"""``ground_truth.tum``: the truth beside a run, so that the run can be compared without its data.

What TUM cannot say is in run.yaml: whether rotations are known, and what point of the body the
truth is about.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from svnicp.arrays import Transform
from svnicp.data.trajectory import Trajectory
from svnicp.data.trajectory_files import read_tum, write_tum
from svnicp.recording import read_description
from svnicp.recording.run_files import TRUTH


class Truth(NamedTuple):
    """What the truth is, and what it is about."""

    trajectory: Trajectory
    T_body_truth: Transform
    """(4, 4) place on the body of the point or frame that the truth is about."""


def about_truth(truth: Truth | None) -> dict[str, object]:
    """Return what run.yaml has to say about the truth; plain YAML values."""
    if truth is None:
        return {"truth": None}
    kind = "positions" if truth.trajectory.position_only else "poses"
    return {"truth": kind, "T_body_truth": truth.T_body_truth.tolist()}


def write_truth(folder: Path, truth: Truth | None) -> None:
    """Put the truth beside a run, or remove that of an earlier one."""
    if truth is None:
        (folder / TRUTH).unlink(missing_ok=True)
    else:
        write_tum(folder / TRUTH, truth.trajectory)


def read_truth(folder: Path) -> Truth | None:
    """Read the truth beside a run; None if there is none."""
    path = folder / TRUTH
    if not path.is_file():
        return None
    about = read_description(folder).more
    known = about.get("truth")
    trajectory = read_tum(path, position_only=None if known is None else known == "positions")
    return Truth(trajectory, np.array(about.get("T_body_truth", np.eye(4)), dtype=np.float64))
