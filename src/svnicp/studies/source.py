# SPDX-License-Identifier: MIT
"""Where the measurements of a job come from: a simulated scenario with a seed, or a recording.

A source is plain values, because it is part of a job's inputs. A recording is named by its path,
with its size and time, so that a changed one is another source.
"""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from svnicp.data.dataset import Dataset, DatasetInfo
from svnicp.data.measurements import ImuSample, Scan
from svnicp.data.open_dataset import open_dataset
from svnicp.data.with_knowledge import KnownDataset
from svnicp.errors import InputError
from svnicp.evaluation.truth_file import Truth
from svnicp.simulation.ray_patterns import SpinningLidar
from svnicp.simulation.simulate import simulate
from svnicp.simulation.simulated import SimulatedDataset
from svnicp.studies.kept_scans import kept


@dataclass(frozen=True, kw_only=True)
class Source:
    """A dataset by its name."""

    name: str
    """Name of the scenario, or path of the recording."""
    seed: int = 0
    """Seed of the scenario, and of the particles."""
    duration_s: float | None = None
    """Time to simulate; the scenario's short run if left out [s]."""
    sparse: int = 1
    """One of so many columns of a spinning LiDAR is simulated."""
    skip_s: float = 0.0
    """Scans of a scenario before this time are left out, but not the IMU's readings [s]."""
    state: str = ""
    """Size and time of a recording; empty for scenarios."""

    @property
    def recorded(self) -> bool:
        """Whether it is a recording."""
        return self.state != ""

    @property
    def title(self) -> str:
        """Short name."""
        return Path(self.name).name if self.recorded else self.name

    def inputs(self) -> dict[str, Any]:
        """Plain values."""
        return dataclasses.asdict(self)

    def open(self) -> Dataset:
        """Open the recording, or simulate the scenario."""
        if self.recorded:
            return open_dataset(self.name)
        dataset = self.simulated()
        return LateDataset(dataset, self.first_scan(dataset)) if self.skip_s > 0.0 else dataset

    def first_scan(self, dataset: SimulatedDataset) -> int:
        """Number of the first scan that is not left out."""
        return int(np.ceil(self.skip_s * dataset.sensor.rate_hz - 1e-6))

    def simulated(self) -> SimulatedDataset:
        """Return the simulated scenario.

        Raises
        ------
        InputError
            If it is a recording, whose truth is not exact.
        """
        if self.recorded:
            raise InputError(f"{self.name}: this needs exact truth, which only scenarios have.")
        return _simulated(self.name, self.seed, self.duration_s, self.sparse)


@lru_cache(maxsize=1)
def _simulated(name: str, seed: int, duration_s: float | None, sparse: int) -> SimulatedDataset:
    """The scenario that was asked for last stays, with its scans."""
    dataset = simulate(name, seed, duration_s)
    if sparse == 1 or not isinstance(dataset.sensor, SpinningLidar):
        return kept(dataset)
    columns = dataset.sensor.num_columns // sparse
    sensor = dataclasses.replace(dataset.sensor, num_columns=columns)
    return kept(dataclasses.replace(dataset, sensor=sensor))


class LateDataset(Dataset):
    """A simulated recording whose scans begin later than its IMU: a rest costs no scans."""

    def __init__(self, inner: SimulatedDataset, first: int) -> None:
        self._inner, self._first = inner, first
        self.name, self.T_body_lidar = inner.name, inner.T_body_lidar
        self.ground_truth = inner.ground_truth

    def info(self) -> DatasetInfo:
        """Return what is known about the recording."""
        return dataclasses.replace(
            self._inner.info(), num_scans=self._inner.num_scans - self._first
        )

    def scans(self) -> Iterator[Scan]:
        """Yield the scans that are not left out."""
        for number in range(self._first, self._inner.num_scans):
            yield self._inner.scan(number)

    def imu_samples(self) -> Iterator[ImuSample]:
        """Yield all readings."""
        return self._inner.imu_samples()


def recording(path: Path) -> Source:
    """Source of a recording.

    Raises
    ------
    InputError
        If there is nothing at the path.
    """
    if not path.exists():
        raise InputError(f"{path}: there is no such recording; check the path.")
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
    size = sum(file.stat().st_size for file in files)
    newest = max((file.stat().st_mtime_ns for file in files), default=0)
    return Source(name=str(path.resolve()), state=f"{len(files)} files, {size} bytes, {newest}")


def truth_of(dataset: Dataset) -> Truth | None:
    """Return the ground truth of a dataset, and what it is about."""
    if dataset.ground_truth is None:
        return None
    known = isinstance(dataset, KnownDataset)
    return Truth(dataset.ground_truth, dataset.T_body_truth if known else np.eye(4))
