# SPDX-License-Identifier: MIT
"""A packed recording as a dataset, such as ``svnicp study --data`` opens."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
from sequences import EPOCH_NS, Sequence

from svnicp.data.dataset import Dataset, DatasetInfo
from svnicp.data.measurements import Scan
from svnicp.data.trajectory import Trajectory


class PackedDataset(Dataset):
    """Scans of a packed recording with its truth."""

    def __init__(self, path: Path, most: int | None = None) -> None:
        self._sequence = Sequence(path)
        self._most = most
        self.name = path.stem
        seconds = self._sequence.stamps_s - self._sequence.stamps_s[0]
        stamps_ns = EPOCH_NS + np.round(seconds * 1e9).astype(np.int64)
        self.ground_truth = Trajectory(stamps_ns, self._sequence.T_first_lidar)

    def info(self) -> DatasetInfo:
        """Return what kind of recording it is."""
        return DatasetInfo("packed recording")

    def scans(self) -> Iterator[Scan]:
        """Yield the first scans, or all."""
        return islice(self._sequence.scans(), self._most)
