# SPDX-License-Identifier: MIT
"""The loop of ``svnicp run``: measurements in, files out, a state saved every so many scans.

A run that goes on reads the data again and passes over what the saved state has seen; so the merged
order of scans and IMU readings is the same, and with it every bit of the result.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Protocol

import numpy as np

from svnicp.cli import exit_codes
from svnicp.cli.interrupts import CODES
from svnicp.cli.run_inputs import RunInputs
from svnicp.cli.run_map import LOOK_EVERY, WholeMap
from svnicp.cli.run_progress import RunProgress
from svnicp.data.measurements import Scan
from svnicp.estimate import Estimate
from svnicp.odometry import Odometry
from svnicp.odometry.imu_rate import ImuPose, imu_rate_poses
from svnicp.odometry.run import odometry_for
from svnicp.odometry.saved_state import load_state, save_state
from svnicp.recording import RunDescription, RunFolder
from svnicp.recording.run_description import INTERRUPTED
from svnicp.recording.run_files import STATE


@dataclass
class Progress:
    """How far a run is; saved with the state."""

    num_measurements: int = 0
    """Scans and IMU readings that have been read."""
    num_scans: int = 0
    """Scans among them."""
    num_estimates: int = 0
    last_stamp_ns: int = 0
    """Stamp of the last estimate [ns]."""
    num_map_points: int = 0


class Stop:
    """Whether someone pressed Ctrl-C or sent SIGTERM; the second time ends the program at once."""

    def __init__(self) -> None:
        self.asked = False
        self.code = exit_codes.INTERRUPTED
        """Exit code of a program that was asked."""

    def ask(self, number: int, *_: object) -> None:
        """Handle the signal."""
        self.code = CODES[signal.Signals(number)]
        if self.asked:
            cursor = b"\x1b[?25h\n" if sys.stderr.isatty() else b""
            os.write(sys.stderr.fileno(), cursor + b"svnicp: interrupted\n")
            os._exit(self.code)
        self.asked = True
        again = b"Ctrl-C again" if number == signal.SIGINT else b"a second signal"
        os.write(sys.stderr.fileno(), b"\nending after this scan; " + again + b" ends at once\n")


@contextmanager
def stop_on_interrupt() -> Iterator[Stop]:
    """Let Ctrl-C and SIGTERM end a loop between two scans, when all files fit each other.

    An exception in the middle of a scan would leave the state between two scans, and one that falls
    into the compiler is lost.
    """
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop  # only the main thread gets signals
        return
    before = {number: signal.signal(number, stop.ask) for number in CODES}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Listener(Protocol):
    """Someone who wants to know about every estimate, such as a viewer."""

    def on_estimate(self, estimate: Estimate, scan: Scan, odometry: Odometry) -> None:
        """Take an estimate, the scan it is from, and odometry as it is after that."""
        ...


class Session:
    """A run that is going on: odometry, the files it writes, and how far it is."""

    def __init__(
        self,
        odometry: Odometry,
        progress: Progress,
        folder: RunFolder,
        whole_map: WholeMap | None,
        *,
        imu_rate: bool,
    ) -> None:
        self.odometry = odometry
        self.progress = progress
        self.folder = folder
        self._map = whole_map
        self._imu_rate = imu_rate
        self.listeners: Sequence[Listener] = ()
        """Told about every estimate, once it is in the files."""

    @classmethod
    def start(
        cls,
        path: Path,
        inputs: RunInputs,
        description: RunDescription,
        *,
        overwrite: bool,
        particles: bool,
        with_map: bool,
        imu_rate: bool,
    ) -> "Session":
        """Begin a run in a folder; poses that are there are replaced only if told to."""
        odometry = _odometry(inputs, description.seed)
        folder = RunFolder.open(
            path, description, overwrite=overwrite, particles=particles, imu_rate=imu_rate
        )
        whole = WholeMap.create(path, inputs.config.map) if with_map else None
        return cls(odometry, Progress(), folder, whole, imu_rate=imu_rate)

    @classmethod
    def resume(
        cls,
        path: Path,
        inputs: RunInputs,
        description: RunDescription,
        *,
        with_map: bool,
        imu_rate: bool,
    ) -> "Session":
        """Go on with the run in a folder from its saved state."""
        odometry = _odometry(inputs, description.seed)
        progress = Progress(**load_state(path / STATE, odometry))
        folder = RunFolder.resume(path, progress.last_stamp_ns)
        whole = None
        if with_map:
            whole = WholeMap.resume(path, inputs.config.map, progress.num_map_points)
        return cls(odometry, progress, folder, whole, imu_rate=imu_rate)

    def go(
        self, inputs: RunInputs, bar: RunProgress, stop: Stop, max_scans: int | None, every: int
    ) -> bool:
        """Process what is left; returns whether all of it was, and not stopped before."""
        finished = self._go(inputs, bar, stop, max_scans, every)
        bar.say("saving")
        if self._imu_rate:
            self._write_imu_poses(imu_rate_poses(self.odometry))
        self.save()
        if self._map is not None:  # not in the state: a run that went on would not have looked here
            self._map.look(self.odometry.local_map)
        return finished

    def _go(
        self, inputs: RunInputs, bar: RunProgress, stop: Stop, max_scans: int | None, every: int
    ) -> bool:
        progress = self.progress
        ends = [end for end in (max_scans, inputs.info.num_scans) if end is not None]
        if progress.num_scans >= min(ends, default=progress.num_scans + 1):
            return True
        measurements = inputs.dataset.measurements()
        bar.say("finding the place" if progress.num_measurements else "reading")
        for _ in islice(measurements, progress.num_measurements):
            if stop.asked:
                return False
        for measurement in measurements:
            if stop.asked:
                return False
            progress.num_measurements += 1
            if not isinstance(measurement, Scan):
                self.odometry.add_imu(
                    measurement.stamp_ns, measurement.angular_velocity,
                    measurement.linear_acceleration,
                )  # fmt: skip
                continue
            self._on_scan(measurement, bar)
            if progress.num_scans % every == 0:
                self.save()
            if progress.num_scans == max_scans:
                return True
        return True

    def _on_scan(self, scan: Scan, bar: RunProgress) -> None:
        """Process one scan and write what it gave."""
        between = imu_rate_poses(self.odometry) if self._imu_rate else []
        estimate = self.odometry.process(scan)
        self.progress.num_scans += 1
        if estimate is not None:
            self._write_imu_poses([one for one in between if one.stamp_ns <= estimate.stamp_ns])
            self.folder.on_estimate(estimate)
            self.progress.num_estimates += 1
            self.progress.last_stamp_ns = estimate.stamp_ns
            for listener in self.listeners:
                listener.on_estimate(estimate, scan, self.odometry)
        if self._map is not None and self.progress.num_scans % LOOK_EVERY == 0:
            self._map.look(self.odometry.local_map)
        bar.on_scan(estimate)

    def _write_imu_poses(self, poses: Sequence[ImuPose]) -> None:
        """Write poses between two estimates, carried on from the first."""
        if poses:
            stamps_ns = [one.stamp_ns for one in poses]
            self.folder.add_imu_poses(stamps_ns, [one.T_world_body for one in poses])

    def save(self) -> None:
        """Save the state, once there is something to go on from."""
        if self.progress.num_estimates == 0:
            return
        if self._map is not None:
            self.progress.num_map_points = self._map.num_points
        save_state(self.folder.path / STATE, self.odometry, vars(self.progress))

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.close(INTERRUPTED)

    def close(self, state: str) -> None:
        """End the run with a word on how."""
        if self._map is not None:
            self._map.close()
        self.folder.close(state)


def _odometry(inputs: RunInputs, seed: int) -> Odometry:
    """Odometry at the start of a run."""
    noise = inputs.imu if inputs.imu is not None else False
    return odometry_for(inputs.dataset, inputs.config, imu=noise, rng=np.random.default_rng(seed))
