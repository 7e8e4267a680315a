# SPDX-License-Identifier: MIT
"""The folder of a run, written as the run goes: a killed run leaves valid files up to its end.

A listener: it takes every estimate and appends it to trajectory.tum, trajectory.kitti,
relative.tum, covariance.csv, scans.csv, timing.csv, odometry.mcap and, if asked, the particles. To
go on with a run, all of them are cut off behind a given stamp and appended to again.
"""

import os
from collections.abc import Iterable
from pathlib import Path

import numpy.typing as npt

from svnicp.arrays import Transform
from svnicp.cloud_files import write_ply
from svnicp.data.measurements import Scan
from svnicp.data.trajectory_files import kitti_line, tum_line
from svnicp.errors import DatasetError, InputError
from svnicp.estimate import Estimate
from svnicp.recording import particle_file, run_description
from svnicp.recording.covariance_file import covariance_row
from svnicp.recording.cut_off import line_keeper, num_poses_until
from svnicp.recording.empty_run import ended_without_a_pose
from svnicp.recording.growing_file import GrowingFile, end_of_lines
from svnicp.recording.mcap_log import McapLog
from svnicp.recording.mcap_records import Topic
from svnicp.recording.odometry_messages import TOPICS, odometry_messages
from svnicp.recording.particle_file import ParticleFile
from svnicp.recording.ros_messages import RosMessages
from svnicp.recording.run_description import RunDescription, read_description
from svnicp.recording.run_files import (
    ALL_NAMES,
    HEADERS,
    IMU_RATE,
    KITTI,
    MAP,
    MCAP,
    RELATIVE,
    TRAJECTORY,
)
from svnicp.recording.scan_tables import scan_row, timing_rows


class RunFolder:
    """Files of one run; made by ``open`` or ``resume``, used in a ``with`` statement or closed."""

    def __init__(
        self,
        path: Path,
        description: RunDescription,
        texts: dict[str, GrowingFile],
        log: McapLog,
        particles: ParticleFile | None,
    ) -> None:
        self.path = path
        self.num_scans = 0
        """Number of estimates in the files."""
        self._description = description
        self._texts = texts
        self._log = log
        self._particles = particles
        self._last_stamp_ns: int | None = None
        self._messages = RosMessages(2)
        self._closed = False

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        description: RunDescription,
        *,
        overwrite: bool = False,
        particles: bool = False,
        imu_rate: bool = False,
    ) -> "RunFolder":
        """Start a run in a folder, which is created if need be.

        Parameters
        ----------
        path
            The folder; other files in it are left alone.
        description
            What the run is made with, for run.yaml.
        overwrite
            Whether to delete the files of a run that is there.
        particles
            Whether to keep the particles of every scan.
        imu_rate
            Whether poses between scans will be handed to ``add_imu_poses``.

        Raises
        ------
        InputError
            If there is a run in the folder that has a pose or still goes on, or the folder cannot
            be written.
        """
        path = Path(path)
        _make_room(path, overwrite=overwrite)
        description = description.at_start()
        description.write(path)
        headers = HEADERS | ({IMU_RATE: ""} if imu_rate else {})
        texts = {
            name: GrowingFile.create(path / name, header.encode())
            for name, header in headers.items()
        }
        log = McapLog.create(path / MCAP, _topics())
        kept = ParticleFile.create(path) if particles else None
        return cls(path, description, texts, log, kept)

    @classmethod
    def resume(cls, path: str | os.PathLike[str], last_stamp_ns: int) -> "RunFolder":
        """Go on with a run, killed or ended, behind the scan of a stamp; later ones are cut off.

        Parameters
        ----------
        path
            The folder of the run.
        last_stamp_ns
            Stamp of the last estimate to keep [ns], such as that of a saved state.

        Raises
        ------
        DatasetError
            If there is no run in the folder, or it has no estimate of this stamp.
        """
        path = Path(path)
        description = read_description(path)
        missing = [name for name in (*HEADERS, MCAP) if not (path / name).is_file()]
        if missing:
            raise DatasetError(
                f"{path}: {missing[0]} is missing, so the run cannot be continued; start it again."
            )
        num_scans = num_poses_until(path / TRAJECTORY, last_stamp_ns)
        names = [*HEADERS, IMU_RATE] if (path / IMU_RATE).is_file() else [*HEADERS]
        ends = {
            name: end_of_lines(path / name, line_keeper(name, last_stamp_ns, num_scans))
            for name in names
        }
        log = McapLog.reopen(path / MCAP, _topics(), last_stamp_ns)
        texts = {name: GrowingFile.reopen(path / name, end) for name, end in ends.items()}
        kept = None
        if particle_file.has_particles(path):
            kept = ParticleFile.reopen(path, last_stamp_ns)
        description = description.at_start()
        description.write(path)
        run = cls(path, description, texts, log, kept)
        run.num_scans, run._last_stamp_ns = num_scans, last_stamp_ns
        return run

    def on_estimate(self, estimate: Estimate, scan: Scan | None = None) -> None:  # noqa: ARG002
        """Append an estimate to all files; when this returns, a kill does not lose it."""
        last = self._last_stamp_ns
        if last is not None and estimate.stamp_ns <= last:
            raise InputError(
                f"{self.path}: an estimate of {estimate.stamp_ns} ns came after one of {last} ns; "
                "a run is written in the order of time."
            )
        rows = {
            TRAJECTORY: tum_line(estimate.stamp_ns, estimate.T_world_body),
            KITTI: kitti_line(estimate.T_world_body),
            RELATIVE: tum_line(estimate.stamp_ns, estimate.T_previous_body),
            "covariance.csv": covariance_row(estimate),
            "scans.csv": scan_row(estimate),
            "timing.csv": timing_rows(estimate),
        }
        messages = {
            topic: self._messages.serialise(message)
            for topic, message in odometry_messages(self._messages, estimate).items()
        }
        # The trajectory comes last: where it has a pose, all other files have their part.
        self._log.write(estimate.stamp_ns, messages)
        if self._particles is not None and estimate.particles is not None:
            self._particles.write(estimate.stamp_ns, estimate.particles)
        for name in reversed(HEADERS):
            self._texts[name].append(rows[name].encode())
        self._last_stamp_ns = estimate.stamp_ns
        self.num_scans += 1

    def add_imu_poses(self, stamps_ns: Iterable[int], T_world_body: Iterable[Transform]) -> None:
        """Append poses (4, 4) between scans to imu_rate.tum, before the estimate behind them."""
        rows = zip(stamps_ns, T_world_body, strict=True)
        text = "".join(tum_line(stamp_ns, T) for stamp_ns, T in rows)
        self._texts[IMU_RATE].append(text.encode())

    def write_map(self, points_world: npt.ArrayLike) -> None:
        """Write the points (n, 3) of the map in the world [m] as map.ply."""
        write_ply(self.path / MAP, points_world)

    def close(self, state: str = run_description.FINISHED) -> None:
        """End the run: add what files have at their end, and how it ended to run.yaml."""
        if self._closed:
            return
        self._closed = True
        for file in (*self._texts.values(), self._log, self._particles):
            if file is not None:
                file.close()
        self._description.at_end(state, self.num_scans).write(self.path)

    def __enter__(self) -> "RunFolder":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close(run_description.FINISHED if kind is None else run_description.INTERRUPTED)


def _make_room(path: Path, *, overwrite: bool) -> None:
    """Create the folder, and refuse or delete the files of a run in it."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        taken = [path / name for name in ALL_NAMES if (path / name).exists()]
        if taken and not overwrite and not ended_without_a_pose(path, taken, _topics()):
            raise InputError(
                f"{path}: there is a run in this folder already ({taken[0].name}); "
                "choose another folder, or overwrite or resume the run (--overwrite, --resume)."
            )
        for file in taken:
            file.unlink()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"{path}: the folder cannot be used ({reason}); choose another.") from None


def _topics() -> list[Topic]:
    """Return what odometry.mcap says about its topics."""
    store = RosMessages(2).store
    return [
        Topic(name, kind, store.generate_msgdef(kind, ros_version=2)[0], store.hash_rihs01(kind))
        for name, kind in TOPICS.items()
    ]
