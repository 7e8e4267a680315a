# SPDX-License-Identifier: MIT
"""What KITTI's layout has no place for: which LiDAR it was, and whether motion is taken out.

The benchmark has one sensor and corrected scans, so a reader takes both for granted. Folders that
are written by `svnicp.recording` say in a small ``svnicp.yaml`` what holds for them instead.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import yaml

from svnicp.config.build import load_yaml
from svnicp.data.dataset import Finding
from svnicp.errors import DatasetError

NOTES_NAME = "svnicp.yaml"


@dataclass(frozen=True, kw_only=True)
class KittiNotes:
    """What is known about the scans of a folder in KITTI's layout."""

    sensor: str = ""
    """The LiDAR, empty if it is not known."""
    motion_compensated: bool | None = None
    """Whether points are where they would be had the sensor stood still; None if not known."""

    def write(self, folder: Path) -> None:
        """Put the notes into a folder."""
        text = yaml.safe_dump(asdict(self), sort_keys=False)
        (folder / NOTES_NAME).write_text(f"# written by svnicp\n{text}", encoding="utf-8")

    def finding(self, evidence: str) -> Finding:
        """Return in words whether the motion is taken out of the scans."""
        words = {
            True: "none to correct: the scans are already motion-compensated",
            False: "scans are distorted by the motion, and without point times that cannot be "
            "corrected",
            None: "not known: there are no point times to correct it by",
        }
        return Finding("motion distortion", words[self.motion_compensated], evidence)


BENCHMARK = KittiNotes(sensor="HDL-64E", motion_compensated=True)
"""What holds for the scans of the benchmark itself."""


def read_kitti_notes(folder: Path) -> tuple[KittiNotes, Finding]:
    """Notes in a folder, or what holds for the benchmark; and the finding about distortion.

    Raises
    ------
    DatasetError
        If there are notes that cannot be understood.
    """
    path = folder / NOTES_NAME
    if not path.is_file():
        return BENCHMARK, BENCHMARK.finding("KITTI odometry layout")
    try:
        content = load_yaml(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        content = None
    sensor = content.get("sensor", "") if isinstance(content, Mapping) else None
    compensated = content.get("motion_compensated") if isinstance(content, Mapping) else None
    if not isinstance(sensor, str) or not isinstance(compensated, bool | None):
        raise DatasetError(
            f"{path}: sensor must be a text and motion_compensated true or false; correct it, or "
            "delete it to have the scans read like KITTI's own."
        )
    notes = KittiNotes(sensor=sensor, motion_compensated=compensated)
    return notes, notes.finding(str(path))
