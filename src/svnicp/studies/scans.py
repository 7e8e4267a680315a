# SPDX-License-Identifier: MIT
"""The job behind calibration: single scans in a true map, and everybody's covariance of them.

All methods see the same scans from the same guesses. Closed forms are taken at our estimate, so
that they are judged by the same errors as ours; only another preset has a map and errors of its
own.
"""

import dataclasses
import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np

from svnicp.arrays import Covariance, Floats
from svnicp.baselines import (
    ScanInMap,
    censi_point_to_plane,
    censi_point_to_point,
    cov3d,
    gicp_covariance,
    laplace,
    localizability_covariance,
    monte_carlo,
    registered,
)
from svnicp.config import Config
from svnicp.lie import se3_inverse, se3_log
from svnicp.registration import RegistrationResult
from svnicp.scores import energy_score, gaussian_energy_score, particle_tangents
from svnicp.studies.job import Job
from svnicp.studies.packed import plain, plain_covariances
from svnicp.studies.source import Source
from svnicp.studies.true_map import Place, places, prior_covariance

OURS, WITHOUT_PARTICLES = "ours", "ours without particles"
MONTE_CARLO, SMALL_GICP = "Monte Carlo, 65 starts", "small_gicp, inverse Hessian"
BASELINES: dict[str, Callable[[ScanInMap], Covariance]] = {
    "Censi, point to point": censi_point_to_point,
    "Censi, point to plane": censi_point_to_plane,
    "COV-3D": lambda scan: cov3d(scan, start_covariance=prior_covariance()),
    "Laplace": laplace,
    "localizability": localizability_covariance,
    MONTE_CARLO: lambda scan: monte_carlo(
        scan, np.random.default_rng(0), start_covariance=prior_covariance()
    ),
    SMALL_GICP: gicp_covariance,
}
"""Other people's covariances by name. COV-3D and Monte Carlo start from where our guesses are,
which is the uncertainty that they ask for."""
RARELY = {MONTE_CARLO: 4}
"""Of baselines that take long, how manieth of the scans they are asked about."""


def can_be_asked(name: str) -> bool:
    """Whether a baseline is there: small_gicp is an extra."""
    return name != SMALL_GICP or importlib.util.find_spec("small_gicp") is not None


def scans_job(source: Source, config: Config, *, baselines: bool, every: int, words: str) -> Job:
    """Job of single scans of a source, every so manieth of them."""
    inputs = {
        "source": source.inputs(), "config": config.to_dict(), "baselines": baselines,
        "every": every,
    }  # fmt: skip
    return Job("svnicp.studies.scans.scans", inputs, f"{source.title} {source.seed} {words}")


def scans(
    source: dict[str, Any], config: dict[str, Any], baselines: bool, every: int
) -> dict[str, Any]:
    """Register scans in the true map and keep errors and covariances; the function of the job."""
    where, settings = Source(**source), Config.from_dict(config)
    dataset = where.simulated()
    rng = np.random.default_rng(where.seed)
    collected = _Collected()
    numbers = []
    for place in places(dataset, settings, where.first_scan(dataset), every, where.seed):
        asked = asked_about(len(numbers)) if baselines else {}
        numbers.append(place.number)
        _judge(place, registered(place.scan, rng), collected, asked)
    return {"numbers": numbers, "methods": collected.to_plain()}


def asked_about(count: int) -> dict[str, Callable[[ScanInMap], Covariance]]:
    """Baselines that are asked about a scan before which there were so many."""
    return {
        name: ask
        for name, ask in BASELINES.items()
        if can_be_asked(name) and count % RARELY.get(name, 1) == 0
    }


class _Collected:
    """Errors, covariances and energy scores of every method."""

    def __init__(self) -> None:
        self._rows: dict[str, list[tuple[Floats, Covariance, float]]] = {}

    def add(self, method: str, error: Floats, covariance: Covariance, energy: float) -> None:
        self._rows.setdefault(method, []).append((error, covariance, energy))

    def to_plain(self) -> dict[str, Any]:
        return {
            method: {
                "errors": plain([error for error, _, _ in rows]),
                "covariances": plain_covariances(np.array([P for _, P, _ in rows])),
                "energy": plain([energy for _, _, energy in rows]),
            }
            for method, rows in self._rows.items()
        }


def _judge(
    place: Place,
    result: RegistrationResult,
    collected: _Collected,
    asked: dict[str, Callable[[ScanInMap], Covariance]],
) -> None:
    """Add what all methods say about one scan."""
    error = se3_log(se3_inverse(result.T_target_source) @ place.T_true)
    if len(result.particles) > 1:
        around = particle_tangents(result.T_target_source, result.particles)
        energy = float(energy_score(around[None], error[None])[0])
    else:
        energy = gaussian_energy(error, result.covariance)
    collected.add(OURS, error, result.covariance, energy)
    if not asked:
        return
    scan = dataclasses.replace(place.scan, T_target_source=result.T_target_source)
    stated = {name: baseline(scan) for name, baseline in asked.items()}
    stated[WITHOUT_PARTICLES] = result.laplace_covariance
    for name, covariance in stated.items():
        collected.add(name, error, covariance, gaussian_energy(error, covariance))


def gaussian_energy(error: Floats, covariance: Covariance) -> float:
    """Energy score of one error (6,) under N(0, covariance (6, 6)) [m]."""
    return float(gaussian_energy_score(error[None], covariance[None])[0])
