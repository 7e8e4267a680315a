# SPDX-License-Identifier: MIT
"""The paper's claims, one row each: holds or not, with the number, from the other studies' jobs."""

from svnicp.studies import (
    ablation,
    accuracy_claims,
    kl_nne,
    particle_claims,
    peer_claims,
    uncertainty_claims,
)
from svnicp.studies.ape_tables import TABLE1, TABLE2
from svnicp.studies.claim import Verdict
from svnicp.studies.evidence import Evidence, localizable_job_of, louder_jobs, paths_job_of
from svnicp.studies.job import Job
from svnicp.studies.plan import Plan, Study
from svnicp.studies.store import Results
from svnicp.studies.tables import Table

CLAIMS = (
    accuracy_claims.CLAIMS + peer_claims.CLAIMS + uncertainty_claims.CLAIMS + particle_claims.CLAIMS
)
"""All of them, in the order of the paper."""
WORDS = {True: "holds", False: "does not hold", None: "open"}


def jobs(plan: Plan) -> list[Job]:
    """Everything that the claims are about."""
    out = [*TABLE1.jobs(plan), *TABLE2.jobs(plan), *ablation.jobs(plan), *kl_nne.STUDY.jobs(plan)]
    for preset in plan.presets:
        out += [*louder_jobs(plan, preset), paths_job_of(plan, preset)]
    return [*out, localizable_job_of(plan)]


def tables(plan: Plan, results: Results) -> list[Table]:
    """One row for each claim, with a verdict for each preset."""
    columns = ["claim", "the paper's number"]
    for preset in plan.presets:
        columns += [preset, f"{preset}: number"]
    table = Table("claims", "The paper's claims", columns)
    evidence = {preset: Evidence(plan, results, preset) for preset in plan.presets}
    counts = dict.fromkeys(plan.presets, 0)
    for claim in CLAIMS:
        row = {"claim": claim.words, "the paper's number": claim.paper}
        for preset in plan.presets:
            verdict: Verdict = claim.judge(evidence[preset])
            row[preset] = WORDS[verdict.holds]
            row[f"{preset}: number"] = verdict.number
            counts[preset] += verdict.holds is True
        table.add(dict(row))
    shares = ", ".join(f"{counts[p]} of {len(CLAIMS)} hold for {p}" for p in plan.presets)
    table.notes.append(
        f"{shares}. Ours are simulated scenarios named after the paper's sequences, not its "
        "recordings: a claim that does not hold here may hold there. Pairs of numbers are in the "
        "order in which the claim names the methods, KL and NNE against the honest Monte Carlo. "
        "Open: the study that was asked for has no numbers about it."
    )
    return [table]


STUDY = Study("claims", "every claim of the paper: holds, or not, with the number", jobs, tables)
