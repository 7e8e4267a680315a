# SPDX-License-Identifier: MIT
"""Claims judged by made-up jobs: each has a verdict, and the verdict follows the numbers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from study_cases import drive_result, keep, made_up_store
from svnicp.studies import ablation, claims
from svnicp.studies.claim import Verdict
from svnicp.studies.evidence import Evidence
from svnicp.studies.job import Job
from svnicp.studies.packed import plain, plain_covariances
from svnicp.studies.plan import Plan
from svnicp.studies.store import Results

PLAN = Plan(
    presets=("default",), quick=True, num_seeds=1, peers=("kiss-icp",),
    scenarios=("long_corridor", "urban", "uneven_tunnel", "waterway_long", "bridge",
               "laurel_caverns"),
)  # fmt: skip
COUNT = 60
SHARE = 0.05 + 0.04 * np.sin(np.linspace(0.0, 12.0, COUNT))
"""How much of what is seen faces along the corridor, from scan to scan."""


def drive_through(rng: np.random.Generator, job: Job, following: float) -> dict[str, Any]:
    """Made-up drive: sigma is large and the gain small where little is seen, or the other way."""
    words, config = job.words, job.inputs["config"]
    svgd, filtered = config["stein"]["algorithm"] == "svgd", job.inputs["uses_imu"]
    out = drive_result(rng, ape_m=0.4 if filtered else 0.6, count=COUNT)
    sigma = np.tile(0.01 / SHARE**following, (6, 1)).T * (1.5 if svgd else 0.5 if filtered else 1.0)
    louder = "louder" in words
    gain = np.tile(SHARE**following, (6, 1)).T * (1.2 if louder else 1.0)
    return {
        **out, "sigma": plain(sigma), "sigma_alone": plain(sigma), "sigma_filter": plain(sigma),
        "gain": plain(gain), "iterations": 90.0 if svgd else 8.0, "hit_limit": float(svgd),
        "register_s": 0.001 * config["stein"]["num_particles"] * (3.0 if svgd else 1.0),
        "mean_s": 0.05,
    }  # fmt: skip


def frame_with(particles: list[int]) -> dict[str, Any]:
    """Made-up frame in which ours are right and the more particles the better."""
    truth = np.diag([0.1**2] * 3 + [0.01**2] * 3)
    error = plain(0.9 * np.sqrt(np.diag(truth)))
    packed = plain_covariances(truth)[0]
    stated = {"Censi": 0.001, "COV-3D": 30.0, "svn+fixed": 0.01, "svn+adaptive": 1.1}
    methods = {name: {"covariance": plain_covariances(f * truth)[0], "error": error}
               for name, f in stated.items()}  # fmt: skip
    for name, base in (("svgd", 0.4), ("svn", 0.6)):
        for count in particles:
            factor = base * count / max(particles)
            covariance = plain_covariances(factor * truth)[0]
            methods[f"{name} {count}"] = {"covariance": covariance, "error": error}
    truths = {"covariance": packed, "errors": plain(np.tile(error, (20, 1)))}
    return {"truths": {"redraws": truths, "starts": truths}, "methods": methods}


def result_of(rng: np.random.Generator, job: Job, following: float) -> dict[str, Any]:
    """Made-up result of any job of the claims."""
    kind = job.kind.rpartition(".")[2]
    if kind == "drive":
        return drive_through(rng, job, following)
    if kind == "frame":
        return frame_with(job.inputs["particles"])
    if kind == "peer_drive":
        return {"status": "diverged", "ape_m": None}
    if kind == "paths":
        straight = np.linspace(1.0, 0.0, 100)[:, None, None] * np.ones((1, 5, 2))
        bent = straight + 0.2 * (np.arange(100) % 2)[:, None, None]
        norms = plain(np.geomspace(1.0, 1e-6, 100))
        return {"svgd": {"xy": plain(bent), "norms": plain(np.full(100, 0.5)), "settled": None},
                "svn": {"xy": plain(straight), "norms": norms, "settled": 40}}  # fmt: skip
    assert kind == "localizable"
    seconds = 1.0 + 0.1 * np.arange(COUNT)
    return {"seconds": plain(seconds), "share": plain(SHARE)}


def verdicts(
    folder: Path, following: float = 1.0, wanted: set[str] | None = None
) -> dict[str, Verdict]:
    """Verdicts of all claims, or of the wanted ones, on made-up jobs."""
    store, rng = made_up_store(folder), np.random.default_rng(0)
    for job in {job.key: job for job in claims.jobs(PLAN)}.values():
        keep(store, job, result_of(rng, job, following))
    evidence = Evidence(PLAN, Results(store), "default")
    chosen = [claim for claim in claims.CLAIMS if wanted is None or claim.name in wanted]
    return {claim.name: claim.judge(evidence) for claim in chosen}


def test_every_claim_has_a_verdict(tmp_path):
    """With all jobs done no claim is open, but the one about systems that nobody can install."""
    found = verdicts(tmp_path)
    assert [name for name, verdict in found.items() if verdict.holds is None] == ["systems"]
    assert all(verdict.number for verdict in found.values())
    expected = {
        "structure", "gain", "bounds", "consistent", "classical", "svn-kl", "kf-fixed", "wider",
        "converges", "iterations", "zigzag", "early-stop", "more-kl", "more-kl-svgd", "more-time",
        "accuracy", "shape", "ten", "imu-noise", "online", "lidar-only", "best", "bridge", "robust",
        "aggressive",
    }  # fmt: skip
    assert {name for name in expected if not found[name].holds} == set()


def test_a_sigma_that_does_not_follow_refutes(tmp_path):
    """Sigma that falls and gain that rises where little is seen refute both claims."""
    found = verdicts(tmp_path, following=-1.0, wanted={"structure", "gain"})
    assert found["structure"].holds is False
    assert found["gain"].holds is False


def test_without_jobs_all_claims_are_open(tmp_path):
    """An empty store judges nothing."""
    evidence = Evidence(PLAN, Results(made_up_store(tmp_path)), "default")
    assert {claim.judge(evidence).holds for claim in claims.CLAIMS} == {None}


@pytest.mark.parametrize("count", [5, 10])
def test_corridor_of_a_number_of_particles(count):
    """The claims about few particles ask for jobs that the claims run."""
    keys = {job.key for job in claims.jobs(PLAN)}
    job = ablation.particle_job(PLAN, "svn+adaptive", "default", count, PLAN.seeds(1)[0])
    assert job.key in keys
