# SPDX-License-Identifier: MIT
"""The files of a study: tables as Markdown, CSV and JSON, and figures, in a folder of its own."""

import importlib.metadata
import os
import platform
from collections.abc import Iterable
from pathlib import Path

import svnicp
from svnicp.studies.job import Job
from svnicp.studies.plan import Plan, Study
from svnicp.studies.results_page import FILE
from svnicp.studies.store import Results
from svnicp.studies.tables import Origin, Table, csv_text, json_text, markdown

PACKAGES = ("numpy", "numba", "scipy", "evo", "distributed")


def write_study(
    folder: Path, study: Study, plan: Plan, results: Results, command: str
) -> tuple[list[Table], list[Path]]:
    """Write all tables and figures of a study; returns the tables and the files."""
    folder.mkdir(parents=True, exist_ok=True)
    origin = origin_of(study.jobs(plan), plan, results, command)
    tables = study.tables(plan, results)
    paths = [folder / FILE]
    (folder / FILE).write_text(json_text(tables, origin), encoding="utf-8")
    for table in tables:
        for suffix, text in (("md", markdown(table, origin)), ("csv", csv_text(table))):
            paths.append(folder / f"{table.name}.{suffix}")
            paths[-1].write_text(text, encoding="utf-8")
    for drawn in study.figures(plan, results, folder):
        paths += [drawn.with_name(drawn.name + suffix) for suffix in (".png", ".svg")]
    return tables, paths


def origin_of(jobs: Iterable[Job], plan: Plan, results: Results, command: str) -> Origin:
    """Where the numbers of these jobs come from."""
    distinct = list({job.key: job for job in jobs}.values())
    done = [job for job in distinct if results.record(job) is not None]
    seeds = {job.inputs["source"]["seed"] for job in done if "source" in job.inputs}
    return Origin(
        command, versions(), os.cpu_count() or 1, plan.quick, round(results.seconds(done), 1),
        len(done), results.codes(done), tuple(sorted(seeds)),
    )  # fmt: skip


def versions() -> dict[str, str]:
    """Versions of what took part, as far as it is installed."""
    out = {"svnicp": svnicp.__version__, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            out[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return out
