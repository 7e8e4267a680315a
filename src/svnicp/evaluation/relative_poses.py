# SPDX-License-Identifier: MIT
"""``relative.tum``: the pose of the body in the body of the estimate before, row by row.

A scan also tells something about the pose before it, so a step is not the difference of two rows of
trajectory.tum, and covariance.csv speaks of the step. TUM rows: stamp, position, quaternion.
"""

from pathlib import Path

from svnicp.data.trajectory import Trajectory
from svnicp.data.trajectory_files import read_tum, tum_line
from svnicp.estimate import Estimate
from svnicp.recording.growing_file import GrowingFile, end_of_lines

FILE_NAME = "relative.tum"


class RelativePoses:
    """The growing file of a run; a listener beside its ``RunFolder``, and to be told first."""

    def __init__(self, file: GrowingFile) -> None:
        self._file = file

    @classmethod
    def create(cls, folder: Path) -> "RelativePoses":
        """Start with none; a file that is there is replaced."""
        (folder / FILE_NAME).unlink(missing_ok=True)
        return cls(GrowingFile.create(folder / FILE_NAME))

    @classmethod
    def resume(cls, folder: Path, num_scans: int) -> "RelativePoses":
        """Go on behind this many rows."""
        path = folder / FILE_NAME
        rows = iter(range(num_scans))
        return cls(GrowingFile.reopen(path, end_of_lines(path, lambda _: next(rows, -1) >= 0)))

    def on_estimate(self, estimate: Estimate) -> None:
        """Append a step."""
        self._file.append(tum_line(estimate.stamp_ns, estimate.T_previous_body).encode())

    def close(self) -> None:
        """Make sure that the content is on the disk."""
        self._file.close()


def read_relative_poses(folder: Path) -> Trajectory | None:
    """Steps of a run, each as a pose in the body one row before; None if it kept none."""
    path = folder / FILE_NAME
    if not path.is_file() or path.stat().st_size == 0:
        return None
    return read_tum(path, position_only=False)
