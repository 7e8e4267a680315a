# SPDX-License-Identifier: MIT
"""Packed recordings as scans: points, stamp and, where they are known, times of the points."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from svnicp.arrays import Floats, Transform
from svnicp.data.measurements import Scan

SWEEP_NS = 100_000_000
EPOCH_NS = 10**18


class Sequence:
    """Scans of one packed recording, 10 a second."""

    def __init__(self, path: Path) -> None:
        self._archive = np.load(path)
        about = json.loads(str(self._archive["meta"]))
        self.scale = float(about["scale"])
        self.distorted = about.get("motion_compensated") is False
        self.bounds = self._archive["offsets"]
        count = len(self.bounds) - 1
        self.stamps_s = self._archive["t"] if "t" in self._archive else 0.1 * np.arange(count)

    @property
    def T_first_lidar(self) -> Transform:
        """(n, 4, 4) true poses in the first one."""
        return self._archive["gt"]

    def extra(self, name: str) -> Floats:
        """A further array of the recording."""
        return self._archive[f"extra_{name}"]

    def scans(self) -> Iterator[Scan]:
        """All scans; stamps begin at EPOCH_NS."""
        axes = [self._archive[axis] for axis in "xyz"]
        tau = self._archive["tau"] if self.distorted and "tau" in self._archive else None
        starts = EPOCH_NS + np.round((self.stamps_s - self.stamps_s[0]) * 1e9).astype(np.int64)
        for index, stamp in enumerate(starts.tolist()):
            part = slice(self.bounds[index], self.bounds[index + 1])
            points = np.stack([axis[part] for axis in axes], axis=1) * np.float32(self.scale)
            times = None
            if tau is not None:
                times = stamp + (tau[part].astype(np.int64) * SWEEP_NS) // 65536
            yield Scan(stamp, points.astype(np.float32), times)
