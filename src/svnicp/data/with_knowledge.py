# SPDX-License-Identifier: MIT
"""A recording together with what is known about it from elsewhere.

A bag of a published dataset does not hold its ground truth; a table or a file beside it does. The
measurements pass through unchanged.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from svnicp.arrays import Transform
from svnicp.data.dataset import Dataset, DatasetInfo, Finding
from svnicp.data.measurements import ImuSample, Scan
from svnicp.data.trajectory import Trajectory


@dataclass(frozen=True, kw_only=True, eq=False)
class Knowledge:
    """What is known about a recording beyond its own content."""

    name: str = ""
    kind: str = ""
    ground_truth: Trajectory | None = None
    T_body_truth: Transform | None = None
    """(4, 4) place on the body of the point or frame that the ground truth is about, where it
    could not be taken to the body; None if the ground truth is the body's."""
    findings: tuple[Finding, ...] = ()
    sensor: str = ""
    imu: str = ""


class KnownDataset(Dataset):
    """The measurements of a recording, with more knowledge."""

    def __init__(self, recording: Dataset, knowledge: Knowledge) -> None:
        self.name = knowledge.name or recording.name
        self.T_body_lidar = recording.T_body_lidar
        self.ground_truth = knowledge.ground_truth or recording.ground_truth
        self.T_body_truth: Transform = np.eye(4)
        """(4, 4) place of what the ground truth is about on the body: for a prism, compare
        ``T_world_body @ T_body_truth`` with it."""
        if knowledge.T_body_truth is not None:
            self.T_body_truth = knowledge.T_body_truth
        self.span_ns = recording.span_ns
        self._recording = recording
        self._knowledge = knowledge

    def info(self) -> DatasetInfo:
        """Return what the recording says about itself, and what is known beyond it."""
        info, known = self._recording.info(), self._knowledge
        better_known = {finding.what for finding in known.findings}
        others = (finding for finding in info.findings if finding.what not in better_known)
        return replace(
            info,
            kind=f"{known.kind}, {info.kind}" if known.kind else info.kind,
            sensor=known.sensor or info.sensor,
            imu=known.imu or info.imu,
            findings=(*known.findings, *others),
        )

    def scans(self) -> Iterator[Scan]:
        """Yield the scans of the recording."""
        return self._recording.scans()

    def imu_samples(self) -> Iterator[ImuSample]:
        """Yield the IMU samples of the recording."""
        return self._recording.imu_samples()
