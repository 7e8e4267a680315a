# SPDX-License-Identifier: MIT
"""COV-3D (Brossard, Bonnabel, Barrau): spread over starts, plus sensor noise, plus sensor bias.

Q = Q_start + Q_sensor. The first is an unscented transform: ICP from the guess and from twelve
starts around it. The second is σ² H⁻¹ for white noise and σ_b² H⁻¹ s s' H⁻¹ for ranges that are all
too long: a bias that no number of points averages out.
"""

import numpy as np

from svnicp.arrays import Covariance, Floats
from svnicp.baselines.matches import Matches, find_matches
from svnicp.baselines.sandwich import covariance_of
from svnicp.baselines.scan_in_map import ScanInMap, registered_mode
from svnicp.lie import se3_exp, se3_inverse, se3_log

START_STD = np.array([0.2 / np.sqrt(3.0)] * 3 + [np.radians(10.0) / np.sqrt(3.0)] * 3)
"""(6,) the published standard deviations of a start: 0.115 m and 0.101 rad per axis."""


def cov3d(
    scan: ScanInMap,
    *,
    start_covariance: Covariance | None = None,
    bias_m: float | None = None,
    rng: np.random.Generator | None = None,
) -> Covariance:
    """Covariance (6, 6) of a scan after 13 registrations.

    Parameters
    ----------
    scan
        Starts are spread around its guess.
    start_covariance
        (6, 6) uncertainty of the start; the published one if left out.
    bias_m
        Standard deviation of the range bias [m]; that of the noise if left out, as published.
    rng
        Handed to the registrations, which draw nothing.
    """
    if start_covariance is None:
        start_covariance = np.diag(START_STD**2)
    bias = scan.config.noise.range_noise_m if bias_m is None else bias_m
    return start_spread(scan, start_covariance, rng) + sensor_covariance(scan, bias)


def start_spread(
    scan: ScanInMap, start_covariance: Covariance, rng: np.random.Generator | None = None
) -> Covariance:
    """Q_start (6, 6): mean square of where twelve starts end, seen from where the guess ends."""
    rng = np.random.default_rng(0) if rng is None else rng
    centre = registered_mode(scan.started_from(scan.T_guess, start_covariance), rng)
    T_centre_target = se3_inverse(centre.T_target_source)
    ends = np.array([
        T_centre_target @ registered_mode(
            scan.started_from(scan.T_guess @ se3_exp(offset), start_covariance), rng
        ).T_target_source
        for offset in sigma_points(start_covariance)
    ])  # fmt: skip
    deviations = se3_log(ends)
    return deviations.T @ deviations / len(deviations)


def sigma_points(covariance: Covariance) -> Floats:
    """Twelve tangents (12, 6) of weight 1/12 each that have exactly this covariance."""
    columns = np.linalg.cholesky(covariance).T * np.sqrt(6.0)
    return np.concatenate([columns, -columns])


def sensor_covariance(scan: ScanInMap, bias_m: float) -> Covariance:
    """Q_sensor (6, 6): white noise and a common bias of the ranges, point to plane."""
    matches = find_matches(scan, "plane")
    if matches is None:
        return scan.prior_covariance
    sigma = scan.config.noise.range_noise_m
    curvature, white, pull = _moments(matches)
    meat = white / sigma**2 + bias_m**2 / sigma**4 * np.outer(pull, pull)
    return covariance_of(scan, curvature / sigma**2, meat)


def _moments(matches: Matches) -> tuple[Floats, Floats, Floats]:
    """H = Σ w AA' (6, 6), Σ w² AA' (6, 6) and s = Σ w A (6,); normals face the sensor."""
    A, w = matches.rows, matches.weights[:, None]
    return (w * A).T @ A, (w**2 * A).T @ A, (w * A).sum(axis=0)
