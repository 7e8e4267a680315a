# SPDX-License-Identifier: MIT
"""A simulated recording whose scans are made once: many jobs look at the same one in turn.

To make a scan takes longer than to register it. The engine gives jobs of one source to one worker,
one after the other.
"""

import dataclasses
from dataclasses import dataclass, field

from svnicp.data.measurements import Scan
from svnicp.simulation.simulated import SimulatedDataset

MOST_BYTES = 1_500_000_000
"""Scans beyond this are not kept, but made again."""


@dataclass(frozen=True, eq=False)
class KeptScans(SimulatedDataset):
    """The same recording, bit by bit; its scans are not to be changed in place."""

    _scans: dict[int, Scan] = field(init=False, repr=False, default_factory=dict)

    def scan(self, number: int) -> Scan:
        """Return one scan, counted from 0."""
        if number in self._scans:
            return self._scans[number]
        scan = super().scan(number)
        if sum(map(_num_bytes, self._scans.values())) < MOST_BYTES:
            self._scans[number] = scan
        return scan


def kept(dataset: SimulatedDataset) -> KeptScans:
    """Return a recording that keeps its scans."""
    fields = dataclasses.fields(SimulatedDataset)
    return KeptScans(**{item.name: getattr(dataset, item.name) for item in fields})


def _num_bytes(scan: Scan) -> int:
    """Memory of a scan."""
    times = scan.point_times_ns
    return scan.points.nbytes + (0 if times is None else times.nbytes)
