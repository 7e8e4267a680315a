# SPDX-License-Identifier: MIT
"""What every compared odometry offers: a name, what it needs, and one call over a spooled dataset.

An adapter module has a tuple ``PEERS`` of these. Its third-party package is imported only inside
``run``, in the process of its own that a peer gets.
"""

import importlib.metadata
import importlib.util
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from svnicp.arrays import Covariance, Floats, Integers, Transform
from svnicp.lie import se3_inverse
from svnicp.peers.spool import Spool

DEFAULT = "default"
"""Name of the configuration that a package has without being told anything."""


@dataclass(frozen=True, eq=False)
class PeerRun:
    """What a peer said about a dataset."""

    stamps_ns: Integers
    """(n,) times that the poses are for [ns], strictly increasing."""
    T_world_body: Transform
    """(n, 4, 4) poses of the body in a world of their own."""
    seconds: Floats
    """(m,) time that each of the scans took [s]; the reading of files is not in it."""
    absolute: Covariance | None = None
    """(n, 6, 6) of the poses, for those that state them."""
    T_previous_body: Transform | None = None
    """(n, 4, 4) each body in the body of the pose before, where that is stated."""
    relative: Covariance | None = None
    """(n, 6, 6) of these steps."""


@dataclass(frozen=True)
class Peer:
    """One odometry that can be compared."""

    name: str
    """As in ``--with``."""
    module: str
    """Module whose ``PEERS`` has it; the worker imports it by this name."""
    imports: str
    """Third-party package that must be there, as it is imported; empty for none."""
    package: str
    """The same as pip knows it."""
    uses_imu: bool
    pose_time: str
    """What time its poses are for, in words."""
    run: Callable[[Spool, str], PeerRun]
    """Odometry over a dataset with the configuration of this name."""
    configurations: Callable[[str, bool], tuple[str, ...]] = lambda _scene, _point_times: (DEFAULT,)
    """Names of the configurations to try, given the scene and whether points have times."""

    @property
    def installed(self) -> bool:
        """Whether its package can be imported."""
        return not self.imports or importlib.util.find_spec(self.imports) is not None

    @property
    def install_command(self) -> str:
        """Return the line that installs it."""
        return f"pip install {self.package}"

    @property
    def version(self) -> str:
        """Version of its package, empty if it is not installed."""
        try:
            return importlib.metadata.version(self.package)
        except importlib.metadata.PackageNotFoundError:
            return ""


class Recorder:
    """Collects the poses of a peer and the time of every scan, while it runs."""

    def __init__(self) -> None:
        self._poses: dict[int, Transform] = {}
        self._seconds: list[float] = []
        self._current_s = 0.0

    @property
    def num_scans(self) -> int:
        """Scans that are done."""
        return len(self._seconds)

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Add what happens inside to the time of the present scan."""
        start = time.perf_counter()
        yield
        self._current_s += time.perf_counter() - start

    def end_scan(self) -> None:
        """Note that the present scan is done."""
        self._seconds.append(self._current_s)
        self._current_s = 0.0

    def pose(self, stamp_ns: int, T_world_x: Transform) -> None:
        """Note a pose (4, 4); one that is not finite is left out, a later one replaces."""
        T_world_x = np.array(T_world_x, dtype=np.float64)
        if np.isfinite(T_world_x).all():
            self._poses[int(stamp_ns)] = T_world_x

    def of_lidar(self, T_body_lidar: Transform) -> PeerRun:
        """Everything, when the poses were those of the LiDAR in the LiDAR at the start."""
        return self._gathered(T_body_lidar, se3_inverse(T_body_lidar))

    def of_body(self) -> PeerRun:
        """Everything, when the poses were those of the body."""
        return self._gathered(np.eye(4), np.eye(4))

    def _gathered(self, left: Transform, right: Transform) -> PeerRun:
        stamps_ns = np.array(sorted(self._poses), dtype=np.int64)
        poses = [left @ self._poses[int(stamp_ns)] @ right for stamp_ns in stamps_ns]
        return PeerRun(stamps_ns, np.array(poses).reshape(-1, 4, 4), np.array(self._seconds))
