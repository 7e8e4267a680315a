# SPDX-License-Identifier: MIT
"""IMU of a TartanAir scene: imu/acc, imu/gyro and imu/imu_time, as .npy or .txt arrays.

Arrays are mapped into memory, not read; samples are made when they are asked for.
"""

import logging
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from svnicp.arrays import Integers
from svnicp.data.dataset import Finding
from svnicp.data.measurements import ImuSample
from svnicp.data.ros.imu import ImuUnit, acceleration_unit
from svnicp.data.stamps import NS_PER_S, increasing, median_period_s
from svnicp.errors import DatasetError

FIRST_SAMPLES = 400
LATEST_S = 9e9
"""Times are before this: nanoseconds of later ones do not fit into 64 bits [s]."""

log = logging.getLogger(__name__)


class NpyImu:
    """Samples in three arrays beside each other.

    Parameters
    ----------
    folder
        Folder with ``acc``, ``gyro`` and ``imu_time``, each .npy or .txt; times in seconds.
    imu_unit
        Unit of the accelerations; None to detect it.

    Raises
    ------
    DatasetError
        If an array is missing, or their lengths differ.
    """

    def __init__(self, folder: Path, imu_unit: ImuUnit | None = None) -> None:
        self._acceleration, self._rate = _array(folder, "acc"), _array(folder, "gyro")
        times_s = _array(folder, "imu_time").ravel()
        shapes = {(len(times_s), 3)}
        if {self._acceleration.shape, self._rate.shape} != shapes or len(times_s) == 0:
            raise DatasetError(
                f"{folder}: acc {self._acceleration.shape}, gyro {self._rate.shape} and imu_time "
                f"{times_s.shape} do not fit each other; copy them again."
            )
        if times_s.dtype.kind not in "fiu" or not np.all(np.abs(times_s) < LATEST_S):
            raise DatasetError(
                f"{folder}: imu_time has times that are not seconds in any calendar; restore it."
            )
        self._stamps_ns: Integers = np.rint(times_s.astype(np.float64) * NS_PER_S).astype(np.int64)
        self._forward = np.flatnonzero(increasing(self._stamps_ns))
        if len(self._forward) < len(times_s):
            log.warning(
                "%s: dropped %d of %d IMU samples, whose time is not after the one before.",
                *(folder, len(times_s) - len(self._forward), len(times_s)),
            )
        self._unit = acceleration_unit(
            [self._reading(int(k)) for k in self._forward[:FIRST_SAMPLES]], imu_unit
        )
        self.period_s = median_period_s(self._stamps_ns)
        self.span_ns = int(self._stamps_ns[0]), int(self._stamps_ns.max())
        self.findings = (
            Finding("IMU", f"{len(times_s)} samples in arrays", str(folder)),
            self._unit.finding(),
        )

    def samples(self) -> Iterator[ImuSample]:
        """Yield the samples in SI units."""
        for k in self._forward:
            yield self._unit.sample(self._reading(int(k)))

    def _reading(self, k: int) -> ImuSample:
        return ImuSample(
            int(self._stamps_ns[k]),
            np.array(self._rate[k], dtype=np.float64),
            np.array(self._acceleration[k], dtype=np.float64),
        )


def _array(folder: Path, name: str) -> np.ndarray:
    """Content of NAME.npy or NAME.txt."""
    binary, text = folder / f"{name}.npy", folder / f"{name}.txt"
    path = binary if binary.is_file() else text
    try:
        if path == binary:
            return np.load(path, mmap_mode="r", allow_pickle=False)
        return np.loadtxt(path, ndmin=1)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise DatasetError(f"{path}: the array cannot be read ({reason}); restore it.") from None
