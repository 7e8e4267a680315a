# SPDX-License-Identifier: MIT
"""Finished jobs on disk: one JSON file each, so that an interrupted study goes on where it was.

A file appears whole or not at all. One that cannot be read counts as missing and is made again.
"""

import json
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from svnicp.errors import InputError
from svnicp.studies.job import Job

Record = dict[str, Any]
"""What ``run_job`` returns, with the job's inputs."""


class Store:
    """The finished jobs in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def path(self, job: Job) -> Path:
        """Where the record of a job is."""
        return self.folder / f"{job.key}.json"

    def find(self, job: Job) -> Record | None:
        """Return the record of a finished job; None if there is none that can be read."""
        path = self.path(job)
        if not path.is_file():
            return None
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return record if isinstance(record, dict) and "result" in record else None

    def keep(self, job: Job, record: Record) -> None:
        """Put the record of a finished job in its place, whole."""
        content = {"kind": job.kind, "words": job.words, "inputs": job.inputs, **record}
        path = self.path(job)
        unfinished = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
        try:
            unfinished.write_text(json.dumps(content, allow_nan=False), encoding="utf-8")
            unfinished.replace(path)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise InputError(f"{path}: it cannot be written ({reason}); make room.") from None
        finally:
            unfinished.unlink(missing_ok=True)

    def missing(self, jobs: Iterable[Job]) -> list[Job]:
        """Jobs that are not finished, each once, in their order."""
        distinct = {job.key: job for job in jobs}
        return [job for job in distinct.values() if self.find(job) is None]


class Results:
    """What jobs gave, by job; those that failed or are not finished have nothing."""

    def __init__(self, store: Store, failed: dict[str, str] | None = None) -> None:
        self._store = store
        self._records: dict[str, Record] = {}
        self.failed = failed or {}
        """Why jobs failed, by their keys."""

    def record(self, job: Job) -> Record | None:
        """Everything that is kept about a job."""
        if job.key not in self._records:
            found = self._store.find(job)
            if found is None:
                return None
            self._records[job.key] = found
        return self._records[job.key]

    def get(self, job: Job) -> dict[str, Any] | None:
        """Result of a job."""
        record = self.record(job)
        return None if record is None else record["result"]

    def codes(self, jobs: Iterable[Job]) -> dict[str, int]:
        """How many of the jobs each state of the code has made."""
        counts: dict[str, int] = {}
        for record in (self.record(job) for job in jobs):
            if record is not None:
                counts[record["code"]] = counts.get(record["code"], 0) + 1
        return counts

    def seconds(self, jobs: Iterable[Job]) -> float:
        """Time that the jobs took together, on one core each [s]."""
        found = (self.record(job) for job in {job.key: job for job in jobs}.values())
        return float(sum(record["seconds"] for record in found if record is not None))
