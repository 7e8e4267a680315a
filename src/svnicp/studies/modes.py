# SPDX-License-Identifier: MIT
"""Several modes: what particles say in a corridor of equal ribs, and what a Gaussian cannot.

Scan, map and guess are redrawn; particles are compared with the Gaussian of Gauss-Newton and with
the one that has the particles' own mean and covariance, all at the true pose.
"""

from pathlib import Path
from typing import Any

import numpy as np

from svnicp.arrays import Covariance, Floats, Transform
from svnicp.baselines import ScanInMap, registered
from svnicp.lie import se3_exp, se3_inverse, se3_log
from svnicp.scores import (
    energy_score,
    gaussian_energy_score,
    kernel_share,
    negative_log_likelihood,
    particle_negative_log_likelihood,
    particle_tangents,
)
from svnicp.studies.comb import (
    PERIOD_M,
    PRIOR_STD,
    T_TRUE,
    comb_config,
    comb_redraw,
    gaussian_config,
    prior_covariance,
)
from svnicp.studies.drawing import BLUE, GREY, ORANGE, sheet
from svnicp.studies.intervals import mean_of_runs, median_of_runs
from svnicp.studies.job import Job
from svnicp.studies.packed import array_of, plain
from svnicp.studies.plan import Plan, Study
from svnicp.studies.store import Results
from svnicp.studies.tables import Table, Value

REDRAWS, QUICK_REDRAWS, BATCH = 100, 10, 10
NEAR_M = 0.01
"""A particle this near to where a mode is belongs to it [m]."""
SMALLEST_SHARE = 0.05
"""A mode has at least this share of the particles."""
PARTICLES, MOMENTS, LAPLACE = (
    "particles", "Gaussian of the particles' mean and covariance", "Laplace at the mode found",
)  # fmt: skip
METHODS = {PARTICLES: "particles", MOMENTS: "moments", LAPLACE: "laplace"}


def jobs(plan: Plan) -> list[Job]:
    """Jobs of some redraws each."""
    count = QUICK_REDRAWS if plan.quick else REDRAWS
    return [
        Job("svnicp.studies.modes.modes", {"first": first, "redraws": BATCH}, f"comb {first}")
        for first in range(0, count, BATCH)
    ]


def modes(first: int, redraws: int) -> dict[str, Any]:
    """Scores of redraws; the function of the job."""
    found = [redrawn(number) for number in range(first, first + redraws)]
    return {name: plain([one[name] for one in found]) for name in found[0]}


def redrawn(number: int) -> dict[str, Any]:
    """Register one redraw in both ways and judge the answers at the true pose."""
    rng = np.random.default_rng([7, number])
    source, local_map = comb_redraw()(rng)
    guess = T_TRUE @ se3_exp(PRIOR_STD * rng.standard_normal(6))
    scan = ScanInMap(source, local_map, guess, guess, prior_covariance(), comb_config())
    free = registered(scan, rng)
    gaussian = ScanInMap(source, local_map, guess, guess, prior_covariance(), gaussian_config())
    mode = registered(gaussian, rng)
    particles = particle_tangents(free.T_target_source, free.particles)
    errors = {"moments": _error(free.T_target_source), "laplace": _error(mode.T_target_source)}
    stated = {"moments": free.covariance, "laplace": mode.laplace_covariance}
    kernel = kernel_share(len(particles)) * mode.laplace_covariance
    along = se3_log(se3_inverse(T_TRUE) @ free.particles)[:, 0]
    shares = mode_shares(along)
    return {
        **_scored("moments", errors, stated), **_scored("laplace", errors, stated),
        "particles_energy": energy_score(particles[None], errors["moments"][None])[0],
        "particles_nll": particle_negative_log_likelihood(
            particles[None], errors["moments"][None], kernel[None]
        )[0],
        "modes": len(shares), "found": float(0 in shares), "along": along,
        "laplace_found": float(abs(errors["laplace"][0]) < NEAR_M),
        "laplace_along": -errors["laplace"][0], "sigma_along": np.sqrt(free.covariance[0, 0]),
        "guess_along": -_error(guess)[0],
    }  # fmt: skip


def mode_shares(along: Floats) -> dict[int, float]:
    """Shares of particles (K,) at the modes that have some, by their number from the true one."""
    numbers = np.round(along / PERIOD_M).astype(int)
    at_mode = np.abs(along - PERIOD_M * numbers) < NEAR_M
    shares = {int(n): float(np.mean(at_mode & (numbers == n))) for n in np.unique(numbers)}
    return {number: share for number, share in shares.items() if share >= SMALLEST_SHARE}


def _error(T: Transform) -> Floats:
    """Tangent (6,) from a pose to the true one."""
    return se3_log(se3_inverse(T) @ T_TRUE)


def _scored(
    name: str, errors: dict[str, Floats], stated: dict[str, Covariance]
) -> dict[str, float]:
    """Both scores of a Gaussian."""
    error, covariance = errors[name][None], stated[name][None]
    return {
        f"{name}_energy": float(gaussian_energy_score(error, covariance)[0]),
        f"{name}_nll": float(negative_log_likelihood(error, covariance)[0]),
    }


def tables(plan: Plan, results: Results) -> list[Table]:
    """One row for each answer."""
    columns = ["answer", "NLL", "NLL, median", "energy score [mm]", "NLL, particles better by",
               "energy score, particles better by [mm]", "modes", "truth among them [%]",
               "redraws"]  # fmt: skip
    table = Table("modes", "A corridor of equal ribs", columns)
    found = _collected(plan, results)
    for answer, name in METHODS.items() if found else ():
        table.add({"answer": answer, **_scores(found, name), **_modes(found, name)})
    table.notes.append(_note())
    return [table]


def _scores(found: dict[str, Floats], name: str) -> dict[str, Value]:
    """Cells of both scores of an answer, and of what particles have over it."""
    nll, energy = found[f"{name}_nll"], 1e3 * found[f"{name}_energy"]
    cells: dict[str, Value] = {
        "NLL": mean_of_runs(list(nll)), "NLL, median": median_of_runs(list(nll)),
        "energy score [mm]": mean_of_runs(list(energy)), "redraws": len(nll),
    }  # fmt: skip
    if name != "particles":
        ours = found["particles_nll"], 1e3 * found["particles_energy"]
        cells["NLL, particles better by"] = mean_of_runs(list(nll - ours[0]))
        cells["energy score, particles better by [mm]"] = mean_of_runs(list(energy - ours[1]))
    return cells


def _modes(found: dict[str, Floats], name: str) -> dict[str, Value]:
    """Cells of how many modes an answer has, and how often the true one is among them."""
    if name == "moments":
        return {"modes": 1}
    kind = "found" if name == "particles" else "laplace_found"
    count = mean_of_runs(list(found["modes"])) if name == "particles" else 1
    return {"modes": count, "truth among them [%]": 100.0 * float(np.mean(found[kind]))}


def _note() -> str:
    stein, match = comb_config().stein, comb_config().match
    return (
        f"Ribs every {PERIOD_M} m, a guess that is wrong by {PRIOR_STD[0]} m along them: a scan "
        f"fits at every rib. K = {stein.num_particles}, started in the box around the guess, "
        f"{match.num_candidates} candidates for each point, no limit of steps; the density of "
        "particles is that of small Gaussians around them. A mode has 5 % of the particles within "
        "10 mm. Particles do not go from mode to mode: how many end in each is decided by where "
        "they start, and modes farther from the guess than its candidates reach are not found; "
        "there the density at the truth is next to nothing, which decides the mean of the NLL. The "
        "default preset starts its particles around one mode and shows that one."
    )


def _collected(plan: Plan, results: Results) -> dict[str, Floats]:
    """What all redraws gave, by name."""
    found = [result for job in jobs(plan) if (result := results.get(job)) is not None]
    names = found[0] if found else ()
    return {name: np.concatenate([array_of(one[name]) for one in found])
            for name in names if name != "along"}  # fmt: skip


def draw(plan: Plan, results: Results, folder: Path) -> list[Path]:
    """Draw the first redraws: particles along the corridor, and both Gaussians."""
    found = results.get(jobs(plan)[0])
    if found is None:
        return []
    with sheet(folder / "modes", 3, 1, (9.0, 6.5), sharex=True) as (figure, axes):
        for number, plot in enumerate(axes[:, 0]):
            along = array_of(found["along"][number]).ravel()
            plot.hist(1e3 * along, bins=np.arange(-600.0, 601.0, 5.0), color=BLUE, alpha=0.7,
                      label="particles")  # fmt: skip
            mean, sigma = 1e3 * along.mean(), 1e3 * found["sigma_along"][number]
            x = np.linspace(-600.0, 600.0, 500)
            bell = np.exp(-0.5 * ((x - mean) / sigma) ** 2) / (sigma * np.sqrt(2.0 * np.pi))
            plot.plot(x, len(along) * 5.0 * bell, color=GREY, label="Gaussian of the same spread")
            plot.axvline(1e3 * found["laplace_along"][number], color=ORANGE, ls="--",
                         label="Gauss-Newton")  # fmt: skip
            plot.axvline(0.0, color="black", lw=0.8, ls=":", label="truth")
            plot.set_ylabel("particles")
        axes[0, 0].legend(loc="upper right", fontsize=8)
        axes[-1, 0].set_xlabel("along the corridor [mm]")
        figure.suptitle("A corridor of equal ribs: three redraws")
    return [folder / "modes"]


STUDY = Study("modes", "what particles show where the posterior has several modes", jobs, tables,
              draw)  # fmt: skip
