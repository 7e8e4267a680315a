# SPDX-License-Identifier: MIT
"""Checks of what users hand to odometry: one clear sentence, or a scan that can be used."""

import numpy as np
import numpy.typing as npt

from svnicp.arrays import Points, Transform
from svnicp.config import OdometryConfig
from svnicp.data.extrinsics import checked_extrinsics
from svnicp.data.imu_noise import ImuNoise
from svnicp.data.measurements import Scan
from svnicp.errors import DatasetError, InputError
from svnicp.kernels.thinning import num_leaves

PLACE_M = 0.05
"""Points nearer to each other than this count as one place [m]."""
PLACES_ASKED = 2000
FARTHEST_MOUNT_M = 1000.0
"""No LiDAR is mounted farther from its IMU than this [m]."""
LONGEST_SCAN_S = 10.0
"""No point of a scan is farther from its stamp than this [s]."""


def check_extrinsics(T_body_lidar: npt.ArrayLike | None) -> Transform:
    """Rigid (4, 4) extrinsics; the identity when left out.

    Raises
    ------
    InputError
        If they are something else.
    """
    if T_body_lidar is None:
        return np.eye(4)
    try:
        given = np.asarray(T_body_lidar, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "T_body_lidar must be a (4, 4) matrix of numbers, not this "
            f"{type(T_body_lidar).__name__}."
        ) from None
    try:
        rigid = checked_extrinsics(given, "T_body_lidar")[0]
    except DatasetError as error:  # the same sentence, about an argument instead of a recording
        raise InputError(str(error)) from None
    away_m = float(np.linalg.norm(rigid[:3, 3]))
    if away_m > FARTHEST_MOUNT_M:
        raise InputError(
            f"T_body_lidar puts the LiDAR {away_m:.4g} m away from the IMU; give metres."
        )
    return rigid


def check_has_witness(config: OdometryConfig, imu: ImuNoise | None) -> None:
    """Refuse to navigate with neither scans nor readings."""
    if config.noise == "none" and imu is None:
        raise InputError(
            'odometry.noise = "none" navigates by the IMU alone; give an IMU, or choose adaptive, '
            "fixed or smoothed."
        )


def check_imu_noise(imu: object) -> ImuNoise | None:
    """Noise of an IMU, or None; anything else gets a sentence."""
    if imu is None or isinstance(imu, ImuNoise):
        return imu
    raise InputError(
        f"imu must be an ImuNoise, not {imu!r}; use ImuNoise(gyroscope=..., accelerometer=...), "
        "ImuNoise.model('xsens_mti30'), or None for LiDAR alone."
    )


def check_is_scan(scan: object) -> None:
    """Refuse what is not a ``Scan``."""
    if not isinstance(scan, Scan):
        raise InputError(
            f"process() takes a svnicp Scan, not a {type(scan).__name__}; hand arrays to "
            "add_scan(points, stamp_ns)."
        )


def num_places(points: Points) -> int:
    """Distinct places among the points (n, 3) of a scan, or of about 2000 of them."""
    some = points[:: -(-len(points) // PLACES_ASKED)] if len(points) else points
    return int(num_leaves(np.ascontiguousarray(some), PLACE_M))


def check_scan(points: npt.ArrayLike, stamp_ns: int, point_times_ns: npt.ArrayLike | None) -> Scan:
    """Scan of arrays; points that are not finite are left out together with their times."""
    try:
        cloud = np.asarray(points)
    except ValueError:
        raise InputError(
            "points must be numbers of shape (n, 3), but its rows differ in length."
        ) from None
    if cloud.ndim != 2 or cloud.shape[1] != 3 or cloud.dtype.kind not in "fiu":
        raise InputError(
            f"points must be numbers of shape (n, 3), not {cloud.dtype} of shape {cloud.shape}."
        )
    whole = isinstance(stamp_ns, int | np.integer) and not isinstance(stamp_ns, bool)
    if not whole or abs(int(stamp_ns)) > np.iinfo(np.int64).max:
        raise InputError(f"stamp_ns must be whole nanoseconds of 64 bits, not {stamp_ns!r}.")
    times = None if point_times_ns is None else _check_times(point_times_ns, len(cloud))
    cloud = np.ascontiguousarray(cloud, dtype=np.float32 if cloud.dtype == np.float32 else float)
    finite = np.isfinite(cloud).all(axis=1)
    if not finite.all():
        cloud, times = cloud[finite], None if times is None else times[finite]
    if times is not None:
        _check_near(times, stamp_ns)
    return Scan(int(stamp_ns), cloud, times)


def _check_times(point_times_ns: npt.ArrayLike, count: int) -> npt.NDArray[np.int64]:
    """Times of points as int64."""
    times = np.asarray(point_times_ns)
    if times.shape != (count,):
        raise InputError(
            f"point_times_ns must have one time for each of the {count} points, "
            f"not shape {times.shape}."
        )
    if times.dtype.kind not in "iu":
        raise InputError(
            f"point_times_ns must be whole nanoseconds (int64), not {times.dtype}: seconds in "
            "floating point cannot resolve them."
        )
    return times.astype(np.int64)


def _check_near(times: npt.NDArray[np.int64], stamp_ns: int) -> None:
    """Refuse times of points that are far from the stamp of their scan."""
    ends = [int(times.min()), int(times.max())] if len(times) else []
    away_s = max((abs(end - int(stamp_ns)) for end in ends), default=0) * 1e-9
    if away_s > LONGEST_SCAN_S:
        raise InputError(
            f"point_times_ns must be absolute times near stamp_ns, but they are {away_s:.3g} s "
            "away from it; add stamp_ns if they count from the beginning of the scan."
        )
