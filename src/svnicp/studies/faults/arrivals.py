# SPDX-License-Identifier: MIT
"""What reaches odometry, in the order in which it arrives, and how a fault changes that.

In: the measurements of a dataset. Out: the same stream with something wrong for some time. Every
arrival knows by how much its clock is off, so that the truth is still known.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from svnicp.data.dataset import Dataset, DatasetInfo
from svnicp.data.measurements import ImuSample, Scan

Measurement = Scan | ImuSample


class Arrival(NamedTuple):
    """One measurement as it arrives."""

    measurement: Measurement | None
    """None if it was lost on the way."""
    shift_ns: int = 0
    """What is to be added to its stamps to get the time at which it was really taken [ns]."""
    faulty: bool = False
    """Whether the fault has touched it."""

    @property
    def true_ns(self) -> int:
        """When it was really complete: at the last point of a scan [ns]."""
        assert self.measurement is not None, "a lost measurement has no time"
        return complete_ns(self.measurement) + self.shift_ns


def complete_ns(measurement: Measurement) -> int:
    """Stamp at which a measurement is complete [ns]."""
    return measurement.end_ns if isinstance(measurement, Scan) else measurement.stamp_ns


class Window(NamedTuple):
    """When a fault is there: from begin to end, by the true clock [ns]."""

    begin_ns: int
    end_ns: int

    def holds(self, arrival: Arrival) -> bool:
        """Whether a measurement is complete within the window."""
        return arrival.measurement is not None and self.begin_ns <= arrival.true_ns < self.end_ns


Arrivals = Iterable[Arrival]
Inject = Callable[[Arrivals, Window, np.random.Generator], Iterator[Arrival]]
"""Changes the arrivals within a window; randomness only by the generator."""


@dataclass(frozen=True)
class Fault:
    """Something that goes wrong."""

    name: str
    inject: Inject
    happens: str
    """What odometry does then, in a sentence or two."""
    begin_s: float = 8.0
    """When it begins, from the start of the recording [s]."""
    duration_s: float = 4.0
    """How long it lasts [s]."""
    imu_only: bool = False
    """Whether it is about the IMU, so that LiDAR alone does not notice."""


class FaultyDataset(Dataset):
    """A recording with a fault in it."""

    def __init__(self, inner: Dataset, fault: Fault, start_ns: int, seed: int = 0) -> None:
        self._inner, self._fault, self._seed = inner, fault, seed
        self.name, self.T_body_lidar = inner.name, inner.T_body_lidar
        self.ground_truth = inner.ground_truth
        begin_ns = start_ns + round(fault.begin_s * 1e9)
        self.window = Window(begin_ns, begin_ns + round(fault.duration_s * 1e9))

    def info(self) -> DatasetInfo:
        """Return what is known about the recording; how many scans will arrive is not."""
        return replace(self._inner.info(), num_scans=None)

    def arrivals(self) -> Iterator[Arrival]:
        """Yield everything as it arrives, what is lost on the way included."""
        as_taken = (Arrival(measurement) for measurement in self._inner.measurements())
        return self._fault.inject(as_taken, self.window, np.random.default_rng(self._seed))

    def measurements(self) -> Iterator[Measurement]:
        """Yield what arrives."""
        for arrival in self.arrivals():
            if arrival.measurement is not None:
                yield arrival.measurement

    def scans(self) -> Iterator[Scan]:
        """Yield the scans that arrive."""
        return (one for one in self.measurements() if isinstance(one, Scan))

    def imu_samples(self) -> Iterator[ImuSample]:
        """Yield the readings that arrive."""
        return (one for one in self.measurements() if isinstance(one, ImuSample))
