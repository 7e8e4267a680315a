# SPDX-License-Identifier: MIT
"""Intervals of any score of correlated scans: the circular block bootstrap.

Errors of neighbouring scans are alike (same map, same place), so that scans drawn one by one would
make intervals far too narrow. Whole blocks of consecutive scans are drawn instead, within each run.
In: arrays with a row for each scan, and the score as a function of them. Out: score and interval.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from svnicp.arrays import Floats, Integers
from svnicp.errors import InputError


@dataclass(frozen=True)
class Interval:
    """A score and where it may lie."""

    value: float
    """The score of all scans."""
    low: float
    high: float
    """Percentiles of the score of resampled scans."""


def block_bootstrap(
    score: Callable[..., float],
    *arrays: Floats,
    rng: np.random.Generator,
    block: int | None = None,
    runs: Integers | None = None,
    resamples: int = 1000,
    level: float = 0.95,
) -> Interval:
    """Score of arrays (n, ...) with its percentile interval.

    Parameters
    ----------
    score
        Takes the arrays with their rows drawn anew, and returns a number.
    arrays
        Rows that belong together, in the order of time.
    rng
        Draws the blocks.
    block
        Consecutive rows that are drawn together; if left out, what ``block_length`` says of the
        sizes of the first array's rows, such as errors.
    runs
        (n,) label of the run that a row is from; blocks do not cross from one to another. One run
        if left out.
    resamples
        How often all rows are drawn anew.
    level
        Share of the resampled scores inside the interval.
    """
    count = len(arrays[0])
    if count == 0 or any(len(array) != count for array in arrays):
        raise InputError(
            f"A bootstrap needs arrays of the same length, at least 1, got "
            f"{', '.join(str(len(array)) for array in arrays)}."
        )
    runs = np.zeros(count, dtype=np.int64) if runs is None else runs
    members = [np.flatnonzero(runs == label) for label in np.unique(runs)]
    if block is None:
        series = np.sum(arrays[0].reshape(count, -1) ** 2, axis=1) ** 0.5
        block = max(block_length(series[rows]) for rows in members)
    drawn = np.empty(resamples)
    for number in range(resamples):
        rows = np.concatenate([run[_draw_rows(len(run), block, rng)] for run in members])
        drawn[number] = score(*(array[rows] for array in arrays))
    tail = 0.5 * (1.0 - level)
    low, high = np.quantile(drawn, [tail, 1.0 - tail])
    return Interval(float(score(*arrays)), float(low), float(high))


def block_length(series: Floats) -> int:
    """Block length that suits a series (n,), from the correlation of neighbours.

    (6 ρ² / (1 - ρ²)²)^(1/3) n^(1/3), the best one for the variance of a mean of an autoregressive
    series; 1 for independent values, and never more than a quarter of the series.
    """
    count = len(series)
    centred = series - series.mean()
    power = float(centred @ centred)
    if count < 8 or power == 0.0:
        return 1
    correlation = float(centred[1:] @ centred[:-1]) / power
    # Chance alone makes correlations of this size, which ask for no blocks.
    if correlation < 2.0 / np.sqrt(count):
        return 1
    correlation = min(correlation, 0.99)
    length = (6.0 * correlation**2 / (1.0 - correlation**2) ** 2 * count) ** (1.0 / 3.0)
    return int(np.clip(np.ceil(length), 1, max(1, count // 4)))


def _draw_rows(count: int, block: int, rng: np.random.Generator) -> Integers:
    """As many rows as there are, in blocks that begin anywhere and go round at the end."""
    block = min(block, count)
    starts = rng.integers(count, size=-(-count // block))
    return ((starts[:, None] + np.arange(block)) % count).ravel()[:count]
