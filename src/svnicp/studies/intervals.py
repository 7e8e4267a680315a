# SPDX-License-Identifier: MIT
"""Means with block-bootstrap intervals, of scans of many runs and of runs."""

from collections.abc import Callable, Sequence

import numpy as np

from svnicp.arrays import Floats
from svnicp.scores import Interval, block_bootstrap

RESAMPLES = 400


def mean_of_scans(series: Sequence[Floats], *, root: bool = False) -> Interval | None:
    """Mean of values (n,) of the scans of several runs; blocks do not cross from run to run.

    ``root``: the square root of the mean, as of squared errors. None without any value.
    """
    series = [values for values in series if len(values)]
    if not series:
        return None
    values = np.concatenate(series)
    runs = np.repeat(np.arange(len(series)), [len(each) for each in series])

    def score(drawn: Floats) -> float:
        mean = float(np.mean(drawn))
        return float(np.sqrt(mean)) if root else mean

    return block_bootstrap(
        score, values, runs=runs, rng=np.random.default_rng(0), resamples=RESAMPLES
    )


def mean_of_runs(values: Sequence[float | None]) -> Interval | None:
    """Mean of one number for each run, every run a block; None without any."""
    return _of_runs(values, lambda drawn: float(np.mean(drawn)))


def median_of_runs(values: Sequence[float | None]) -> Interval | None:
    """Median of one number for each run, as ``mean_of_runs``: single disasters do not count."""
    return _of_runs(values, lambda drawn: float(np.median(drawn)))


def _of_runs(values: Sequence[float | None], score: Callable[[Floats], float]) -> Interval | None:
    """Score of the known numbers; None without any."""
    known = np.array([value for value in values if value is not None], dtype=np.float64)
    if len(known) == 0:
        return None
    if len(known) == 1:  # drawn anew it is the same again
        return Interval(*[score(known)] * 3)
    return block_bootstrap(score, known, block=1, rng=np.random.default_rng(0), resamples=RESAMPLES)


def mean_difference(
    first: Sequence[float | None], second: Sequence[float | None]
) -> Interval | None:
    """Mean of the differences of paired runs, first minus second; None without any pair."""
    pairs = zip(first, second, strict=True)
    return mean_of_runs([a - b for a, b in pairs if a is not None and b is not None])
