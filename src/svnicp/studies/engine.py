# SPDX-License-Identifier: MIT
"""Run jobs: in this process, on a local dask cluster, or on one that is somewhere else.

Every worker is one process with one thread, and so is Numba in it: as many jobs run side by side as
there are cores. A job that fails is told and the others go on; what is finished is kept at once.
"""

import json
import logging
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from svnicp.errors import InputError
from svnicp.extras import require
from svnicp.studies.job import Job, run_job
from svnicp.studies.store import Record, Store

HERE = "here"
"""Address that means this process."""
ONE_THREAD = {"NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
LOOK_EVERY_S = 0.25
"""Time between two looks for Ctrl-C [s]."""


class Listener(Protocol):
    """Who is told how jobs go."""

    def on_job(self, job: Job, record: Record | None, failure: str) -> None:
        """Hear that a job has ended; the record is None if it failed, and ``failure`` says why."""
        ...

    def stopped(self) -> bool:
        """Whether to leave what is not finished."""
        ...


def run_jobs(
    jobs: Sequence[Job], store: Store, listener: Listener, scheduler: str | None = None
) -> dict[str, str]:
    """Run jobs and keep what they give; returns why some failed, by their keys.

    Parameters
    ----------
    jobs
        What to run; those that are in the store already are not run again.
    store
        Takes the records.
    listener
        Told about every job; may stop all.
    scheduler
        Address of a dask scheduler, ``here`` for this process, None for a cluster of this machine.

    Raises
    ------
    KeyboardInterrupt
        If the listener stopped it; what was finished is in the store.
    MissingExtraError
        If dask is not installed and needed.
    """
    to_do, failed = neighbours(store.missing(jobs)), dict[str, str]()
    if not to_do:
        return failed
    run = _here(to_do) if scheduler == HERE else _on_cluster(to_do, scheduler, listener.stopped)
    try:
        if listener.stopped():
            raise KeyboardInterrupt
        for job, record, failure in run:
            if record is None:
                failed[job.key] = failure
            else:
                store.keep(job, record)
            listener.on_job(job, record, failure)
            if listener.stopped():
                raise KeyboardInterrupt
    finally:
        run.close()
    return failed


def neighbours(jobs: Sequence[Job]) -> list[Job]:
    """Bring jobs of one source together: a simulated recording is made once for all of them."""
    by_source: dict[str, list[Job]] = {}
    for job in jobs:
        by_source.setdefault(_source(job), []).append(job)
    return [job for together in by_source.values() for job in together]


def _source(job: Job) -> str:
    """What a job looks at."""
    return json.dumps(job.inputs.get("source"), sort_keys=True)


Ended = tuple[Job, Record | None, str]
"""A job with its record, or with why it failed."""


def _here(jobs: Sequence[Job]) -> Generator[Ended, None, None]:
    """Run jobs one after the other in this process."""
    for job in jobs:
        try:
            record, failure = run_job(job.kind, job.inputs), ""
        except Exception as error:  # one bad job must not take the others along
            record, failure = None, in_words(error)
        yield job, record, failure


def _on_cluster(
    jobs: Sequence[Job], scheduler: str | None, stopped: Callable[[], bool]
) -> Generator[Ended, None, None]:
    """Run jobs on a dask cluster, and give them as they end."""
    distributed = require("distributed", "studies", "A study on several cores")
    with _client(distributed, scheduler) as client:
        futures = _submitted(client, jobs)
        waiting = set(futures)
        try:
            while waiting and not stopped():
                done = {future for future in waiting if future.done()}
                waiting -= done
                for future in done:
                    yield _ended(futures[future], future)
                if not done:
                    threading.Event().wait(LOOK_EVERY_S)
        finally:
            client.cancel(list(waiting), force=True)
        if stopped():
            raise KeyboardInterrupt


def _submitted(client: Any, jobs: Sequence[Job]) -> dict[Any, Job]:  # noqa: ANN401
    """Hand all jobs in, those of one source to the same worker as long as it has the time."""
    workers = list(client.ncores())
    places = {source: n for n, source in enumerate(dict.fromkeys(map(_source, jobs)))}
    return {
        client.submit(
            run_job, job.kind, job.inputs, key=f"{job.words} {job.key}", pure=False,
            workers=workers[places[_source(job)] % len(workers)] if workers else None,
            allow_other_workers=bool(workers),
        ): job
        for job in jobs
    }  # fmt: skip


def _ended(job: Job, future: Any) -> Ended:  # noqa: ANN401
    """Result of a finished future, or why there is none; its memory is given back."""
    error = future.exception()
    record = None if error is not None else future.result()
    future.release()
    return job, record, "" if error is None else in_words(error)


@contextmanager
def _client(distributed: Any, scheduler: str | None) -> Iterator[Any]:  # noqa: ANN401
    """Client of a scheduler that is there, or of a cluster that is started and ended here."""
    if scheduler is not None:
        try:
            client = distributed.Client(scheduler, timeout="20s")
        except (OSError, ValueError) as error:
            raise InputError(
                f"There is no dask scheduler at {scheduler} ({in_words(error)}); start one with "
                "`dask scheduler`, or leave the address out."
            ) from None
        with client:
            yield client
        return
    dask = require("dask", "studies", "A study on several cores")
    settings = {
        "distributed.nanny.pre-spawn-environ": ONE_THREAD,
        "distributed.logging.distributed": "error",
        "distributed.worker.memory.terminate": False,
    }  # fmt: skip
    with dask.config.set(settings), _deaf_to_interrupts():
        cluster = distributed.LocalCluster(
            n_workers=os.cpu_count() or 1, threads_per_worker=1, processes=True,
            dashboard_address="127.0.0.1:0", silence_logs=logging.ERROR,
        )  # fmt: skip
    with cluster, distributed.Client(cluster) as client:
        yield client


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Start processes that do not hear Ctrl-C, which the terminal sends to all: we end them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def in_words(error: BaseException) -> str:
    """One line about what went wrong."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]
