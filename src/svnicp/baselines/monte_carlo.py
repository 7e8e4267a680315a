# SPDX-License-Identifier: MIT
"""Many registrations of one scan: a covariance that is counted, not derived.

Two protocols. ``spread_over_starts`` is that of 3d-icp-cov: the same clouds in every run, only the
start changes, so that it sees local minima and no sensor noise, and tends to 0 in a good scene.
``spread_over_redraws`` is the honest one: noise, bias and choice of points are redrawn as well.
With few runs either is a baseline, with a thousand it is the pseudo-truth.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from svnicp.arrays import Covariance, Floats, Points, Transform
from svnicp.baselines.cov3d import START_STD
from svnicp.baselines.scan_in_map import ScanInMap, registered, registered_mode
from svnicp.config import Config
from svnicp.errors import InputError
from svnicp.lie import se3_exp, se3_inverse, se3_log
from svnicp.local_map import VoxelMap
from svnicp.registration import RegistrationResult
from svnicp.registration.posterior import mean_and_scatter

Estimator = Callable[[ScanInMap, np.random.Generator], RegistrationResult]
"""A registration from the scan's guess: ``registered`` or ``registered_mode``."""

Progress = Callable[[int, int], None]
"""Called after every run with the number of runs done and the number of all."""

Redraw = Callable[[np.random.Generator], tuple[Points, VoxelMap]]
"""A new source (n, 3) in the sensor's frame and a new map, with noise of their own."""

PROTOCOL_RUNS, FEW_RUNS = 1000, 65
"""Runs of the published pseudo-truth, and of the published Monte-Carlo baseline."""


@dataclass(frozen=True, eq=False)
class PoseSamples:
    """Where the runs ended."""

    T_target_source: Transform
    """(n, 4, 4) estimates."""
    errors: Floats
    """(n, 6) Log(T_reference⁻¹ T): about the truth, so that a common bias is in them."""
    T_mean: Transform
    """(4, 4) mean on the manifold."""
    covariance: Covariance
    """(6, 6) unbiased, about the mean and in its body tangent: a bias is not in it."""
    ok: npt.NDArray[np.bool_]
    """(n,) which runs say of themselves that they may be used; all of them are counted."""

    @property
    def error_covariance(self) -> Covariance:
        """(6, 6) mean of e e' about the truth: spread and bias together."""
        return self.errors.T @ self.errors / len(self.errors)


def spread_over_starts(
    scan: ScanInMap,
    T_reference: Transform,
    rng: np.random.Generator,
    *,
    runs: int = PROTOCOL_RUNS,
    start_covariance: Covariance | None = None,
    estimator: Estimator = registered_mode,
    progress: Progress | None = None,
) -> PoseSamples:
    """Register the same clouds from many starts around a reference pose.

    Parameters
    ----------
    scan
        Source, map and configuration; its guess is replaced in every run.
    T_reference
        (4, 4) the truth, or the best that is known of it: starts are spread around it.
    rng
        Draws the starts.
    runs
        Number of registrations.
    start_covariance
        (6, 6) of the starts, and of the prior if the configuration uses one; the published one of
        0.115 m and 0.101 rad per axis if left out.
    estimator
        How a run registers.
    progress
        Told after every run.
    """
    covariance = np.diag(START_STD**2) if start_covariance is None else start_covariance
    return _collect(lambda _: scan, T_reference, covariance, rng, runs, estimator, progress)


def spread_over_redraws(
    redraw: Redraw,
    T_reference: Transform,
    prior_covariance: Covariance,
    config: Config,
    rng: np.random.Generator,
    *,
    runs: int = PROTOCOL_RUNS,
    estimator: Estimator = registered,
    progress: Progress | None = None,
) -> PoseSamples:
    """Register newly drawn clouds from newly drawn starts: the truth about the estimator.

    Parameters
    ----------
    redraw
        Makes source and map of a run, e.g. ``RayRedraw`` of simulated rays.
    T_reference
        (4, 4) the true pose of the source in the map.
    prior_covariance
        (6, 6) of the starts, and of the prior if the configuration uses one.
    config
        The estimator's configuration.
    estimator
        How a run registers: our own registration if left out, whose covariance is to be judged.
    rng, runs, progress
        As in ``spread_over_starts``.
    """

    def new_scan(rng: np.random.Generator) -> ScanInMap:
        source, local_map = redraw(rng)
        return ScanInMap(source, local_map, T_reference, T_reference, prior_covariance, config)

    return _collect(new_scan, T_reference, prior_covariance, rng, runs, estimator, progress)


def monte_carlo(
    scan: ScanInMap,
    rng: np.random.Generator,
    *,
    runs: int = FEW_RUNS,
    start_covariance: Covariance | None = None,
    estimator: Estimator = registered_mode,
) -> Covariance:
    """The baseline: covariance (6, 6) of a scan over 65 starts around its guess."""
    samples = spread_over_starts(
        scan, scan.T_guess, rng, runs=runs, start_covariance=start_covariance, estimator=estimator
    )
    return samples.covariance


def summarise(
    T_target_source: Transform, T_reference: Transform, ok: npt.NDArray[np.bool_]
) -> PoseSamples:
    """Mean, covariance and errors of estimates (n, 4, 4) about a reference (4, 4)."""
    T_mean, scatter = mean_and_scatter(T_target_source)
    count = len(T_target_source)
    errors = se3_log(se3_inverse(T_reference) @ T_target_source)
    return PoseSamples(T_target_source, errors, T_mean, scatter * count / (count - 1), ok)


def _collect(
    next_scan: Callable[[np.random.Generator], ScanInMap], T_reference: Transform,
    covariance: Covariance, rng: np.random.Generator, runs: int, estimator: Estimator,
    progress: Progress | None,
) -> PoseSamples:  # fmt: skip
    """Runs with starts from N(T_reference, covariance), summarised."""
    if runs < 2:
        raise InputError(f"A spread needs at least 2 runs, got {runs}.")
    root = np.linalg.cholesky(covariance)
    poses, ok = np.empty((runs, 4, 4)), np.empty(runs, dtype=np.bool_)
    for run in range(runs):
        T_start = T_reference @ se3_exp(root @ rng.standard_normal(6))
        result = estimator(next_scan(rng).started_from(T_start, covariance), rng)
        poses[run], ok[run] = result.T_target_source, result.status.ok
        if progress is not None:
            progress(run + 1, runs)
    return summarise(poses, T_reference, ok)
