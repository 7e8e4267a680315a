# SPDX-License-Identifier: MIT
"""The job behind the split-half test: two odometries that share no point, and a third with all.

Without good truth two estimates can still be held against each other: of every scan a half of the
points goes to one odometry and the other half to another. The difference of their steps has the sum
of both covariances, if these are right. The third odometry is compared with the truth over a second
where there is one.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from svnicp.arrays import Covariance, Floats, Integers, Transform
from svnicp.baselines import censi_point_to_plane, censi_point_to_point, cov3d, laplace
from svnicp.config import Config
from svnicp.data.dataset import Dataset, DatasetInfo
from svnicp.data.measurements import Scan
from svnicp.evaluation import associate
from svnicp.evaluation.consistency import step_errors
from svnicp.evaluation.truth_file import Truth
from svnicp.lie import se3_adjoint, se3_inverse
from svnicp.studies.job import Job
from svnicp.studies.packed import plain, plain_covariances
from svnicp.studies.source import Source, truth_of
from svnicp.studies.watched import Baselines, Watched, watched_run

OURS, WITHOUT_PARTICLES = "ours", "ours without particles"
BASELINES: Baselines = {
    "Censi, point to point": censi_point_to_point,
    "Censi, point to plane": censi_point_to_plane,
    "COV-3D": lambda scan: cov3d(scan, start_covariance=scan.prior_covariance),
    "Laplace": laplace,
}
"""Other people's covariances of a pose in the map. COV-3D starts from where the guess may be."""
WINDOW_S = 1.0
"""Time over which poses are compared with the truth [s]."""
WINDOW_TOLERANCE = 0.1
"""Windows are this share longer or shorter at most: a gap makes none."""

SAME_NS = 1_000_000
"""Halves of a scan have the same mean time within this [ns]; more is another scan."""


class HalfDataset(Dataset):
    """The scans of another dataset with one half of their points; the IMU is left out.

    Of two neighbours in time one goes to each half, by a coin: both halves see the same places, and
    their mean times are the same.
    """

    def __init__(self, whole: Dataset, half: int, seed: int) -> None:
        self._whole, self._half, self._seed = whole, half, seed
        self.name, self.T_body_lidar = whole.name, whole.T_body_lidar
        self.ground_truth, self.span_ns = whole.ground_truth, whole.span_ns

    def info(self) -> DatasetInfo:
        """Return what is known about the whole, but for the IMU."""
        known = self._whole.info()
        return DatasetInfo(known.kind, known.num_scans, known.duration_s, known.scan_period_s)

    def scans(self) -> Iterator[Scan]:
        """Yield the halves of the scans."""
        for number, scan in enumerate(self._whole.scans()):
            rng = np.random.default_rng([self._seed, number])
            kept = half_of(scan, rng)[self._half]
            times = scan.point_times_ns
            yield Scan(scan.stamp_ns, scan.points[kept], None if times is None else times[kept])


def half_of(scan: Scan, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Indices (2, n // 2) of the points of both halves, in the order of time."""
    times = scan.point_times_ns
    order = np.arange(len(scan.points)) if times is None else np.argsort(times, kind="stable")
    pairs = order[: len(order) // 2 * 2].reshape(-1, 2)
    heads = rng.integers(2, size=len(pairs))
    rows = np.arange(len(pairs))
    return np.stack([pairs[rows, heads], pairs[rows, 1 - heads]]).astype(np.int64)


def halves_job(source: Source, config: Config, *, baselines: bool, words: str) -> Job:
    """Job of a source."""
    inputs = {"source": source.inputs(), "config": config.to_dict(), "baselines": baselines}
    return Job("svnicp.studies.halves.halves", inputs, f"{source.title} {source.seed} {words}")


def halves(source: dict[str, Any], config: dict[str, Any], baselines: bool) -> dict[str, Any]:
    """Differences of the halves' steps, and errors over a second; the function of the job."""
    where = Source(**source)
    asked = BASELINES if baselines else {}
    return compared(where.open(), Config.from_dict(config), where.seed, asked)


def compared(dataset: Dataset, config: Config, seed: int, baselines: Baselines) -> dict[str, Any]:
    """Run three odometries with LiDAR alone over a dataset and compare them.

    Returns ``steps`` and, with truth, ``windows``: ``errors`` (n, 6) and for every method its
    covariances (n, 21).
    """
    first, second = (
        list(watched_run(HalfDataset(dataset, half, seed), config, uses_imu=False, seed=seed + half,
                         baselines=baselines))
        for half in (0, 1)
    )  # fmt: skip
    out = {"num_scans": len(first), "steps": differences(first, second)}
    truth = truth_of(dataset)
    if truth is not None and not truth.trajectory.position_only:
        whole = list(watched_run(dataset, config, uses_imu=False, seed=seed, baselines=baselines))
        out["windows"] = windows(whole, truth)
    return out


def differences(first: list[Watched], second: list[Watched]) -> dict[str, Any]:
    """Differences of the steps of two runs, with the sums of their covariances by method."""
    errors: list[Floats] = []
    stated: dict[str, list[Covariance]] = {}
    for (a_before, a), (b_before, b) in zip(pairwise(first), pairwise(second), strict=False):
        steps = [step_covariances(*pair) for pair in ((a_before, a), (b_before, b))]
        apart_ns = abs(a.estimate.stamp_ns - b.estimate.stamp_ns)
        if not all(steps) or apart_ns > SAME_NS:
            continue
        moved = np.array([b.estimate.T_previous_body])
        errors.append(step_errors(np.array([a.estimate.T_previous_body]), moved)[0])
        for method in steps[0]:
            stated.setdefault(method, []).append(steps[0][method] + steps[1][method])
    return _packed(errors, stated)


def step_covariances(before: Watched, now: Watched) -> dict[str, Covariance]:
    """What each method states about a step (6, 6); nothing unless both scans were registered."""
    if not (before.estimate.ok and now.estimate.ok and before.result and now.result):
        return {}
    T_now_before = se3_inverse(now.estimate.T_previous_body)
    others = _by_others(before, now, T_now_before)
    return {OURS: now.estimate.relative_covariance, **others}


def windows(seen: list[Watched], truth: Truth) -> dict[str, Any]:
    """Errors of the motion over a second against the truth, with covariances by method.

    The covariance is that of both ends, and ours has what the map's error has grown by in between.
    """
    stamps_ns = np.array([one.estimate.stamp_ns for one in seen], dtype=np.int64)
    found = associate(stamps_ns, truth.trajectory)
    true = dict(zip(found.indices.tolist(), found.T_true_body, strict=True))
    poses = np.array([one.estimate.T_world_body for one in seen])
    T_truth_body = se3_inverse(truth.T_body_truth)
    errors: list[Floats] = []
    stated: dict[str, list[Covariance]] = {}
    for i, j in _a_second_apart(stamps_ns):
        usable = all(seen[k].result is not None and seen[k].estimate.ok for k in (i, j))
        if i not in true or j not in true or not usable:
            continue
        moved = se3_inverse(poses[i]) @ poses[j]
        really = truth.T_body_truth @ se3_inverse(true[i]) @ true[j] @ T_truth_body
        errors.append(step_errors(moved[None], really[None])[0])
        for method, covariance in _over(seen[i], seen[j], se3_inverse(moved)).items():
            stated.setdefault(method, []).append(covariance)
    return _packed(errors, stated)


def _over(before: Watched, now: Watched, T_now_before: Transform) -> dict[str, Covariance]:
    """What each method states about the motion between two scans that are not neighbours."""
    A = se3_adjoint(T_now_before)
    grown = now.drift_covariance - A @ before.drift_covariance @ A.T
    ends = between(before.filter_covariance, now.filter_covariance, T_now_before)
    return {OURS: ends + _not_negative(grown), **_by_others(before, now, T_now_before)}


def between(before: Covariance, now: Covariance, T_now_before: Transform) -> Covariance:
    """Covariance (6, 6) of the motion between two poses whose errors are independent."""
    A = se3_adjoint(T_now_before)
    return now + A @ before @ A.T


def _by_others(before: Watched, now: Watched, T_now_before: Transform) -> dict[str, Covariance]:
    """What others state about the motion between two registered poses; nothing if not asked."""
    assert before.result is not None
    assert now.result is not None
    if not now.others:
        return {}
    ours = before.result.laplace_covariance, now.result.laplace_covariance
    pairs = {name: (before.others[name], found) for name, found in now.others.items()}
    return {
        method: between(*pair, T_now_before)
        for method, pair in {WITHOUT_PARTICLES: ours, **pairs}.items()
    }


def _a_second_apart(stamps_ns: Integers) -> list[tuple[int, int]]:
    """Pairs of scans that are about a second apart, one for each scan that has such a partner."""
    wanted = stamps_ns + round(WINDOW_S * 1e9)
    after = np.clip(np.searchsorted(stamps_ns, wanted), 1, len(stamps_ns) - 1)
    earlier = wanted - stamps_ns[after - 1] < np.abs(stamps_ns[after] - wanted)
    partner = after - earlier
    off = np.abs(stamps_ns[partner] - wanted) * 1e-9
    return [(int(i), int(partner[i])) for i in np.flatnonzero(off < WINDOW_TOLERANCE * WINDOW_S)]


def _not_negative(matrix: Floats) -> Covariance:
    """The nearest matrix (6, 6) without a negative eigenvalue."""
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    return (vectors * np.maximum(values, 0.0)) @ vectors.T


def _packed(errors: list[Floats], stated: dict[str, list[Covariance]]) -> dict[str, Any]:
    """Plain values of errors and covariances."""
    packed = {name: plain_covariances(np.array(found)) for name, found in stated.items()}
    return {"errors": plain(np.array(errors).reshape(-1, 6)), "covariances": packed}
