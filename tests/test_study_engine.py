# SPDX-License-Identifier: MIT
"""Jobs of studies: each runs once, what is finished stays, what fails or is cut off goes on."""

import pytest

from study_cases import RAN, Listening, made_up_store, square_job
from svnicp.errors import InputError
from svnicp.studies.engine import HERE, neighbours, run_jobs
from svnicp.studies.job import Job
from svnicp.studies.store import Results

JOBS = [square_job(number) for number in range(5)]


@pytest.fixture(autouse=True)
def _nothing_ran():
    RAN.clear()


def test_no_job_runs_twice(tmp_path):
    """A study that is run again computes nothing, and a larger one only what is new."""
    store = made_up_store(tmp_path)
    assert run_jobs(JOBS[:3], store, Listening(), HERE) == {}
    run_jobs(JOBS[:3], store, Listening(), HERE)
    run_jobs([*JOBS, *JOBS], store, Listening(), HERE)
    assert RAN == [0, 1, 2, 3, 4]
    results = Results(store)
    assert [results.get(job) for job in JOBS] == [{"square": n**2} for n in range(5)]
    assert len(list(store.folder.glob("*.json"))) == 5


def test_an_interrupted_study_goes_on(tmp_path):
    """What was finished before Ctrl-C is kept, the others are missing, and run the next time."""
    store = made_up_store(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run_jobs(JOBS, store, Listening(stop_after=2), HERE)
    assert RAN == [0, 1]
    assert [job.words for job in store.missing(JOBS)] == ["square 2", "square 3", "square 4"]
    run_jobs(JOBS, store, Listening(), HERE)
    assert RAN == [0, 1, 2, 3, 4]


def test_a_job_that_fails_is_told_and_tried_again(tmp_path):
    """The others go on; the failed one is not kept, and is named with its error."""
    store, bad = made_up_store(tmp_path), square_job(-1)
    for _ in range(2):
        listener = Listening()
        failed = run_jobs([bad, *JOBS], store, listener, HERE)
        assert failed == {bad.key: "ValueError: it is negative"}
        assert listener.failures == ["ValueError: it is negative"]
    assert RAN == [0, 1, 2, 3, 4]
    assert Results(store).get(bad) is None


def test_a_cut_off_file_counts_as_missing(tmp_path):
    """A file that is no JSON, or not the record of a job, is made again."""
    store = made_up_store(tmp_path)
    run_jobs(JOBS[:2], store, Listening(), HERE)
    store.path(JOBS[0]).write_text('{"result": {"squ', encoding="utf-8")
    store.path(JOBS[1]).write_text("[]", encoding="utf-8")
    assert len(store.missing(JOBS[:2])) == 2
    run_jobs(JOBS[:2], store, Listening(), HERE)
    assert RAN == [0, 1, 0, 1]


def test_inputs_decide_the_key_and_words_do_not():
    """Another input or kind is another job; another description is not."""
    first = Job("kind", {"a": 1, "b": [2.0]}, "one")
    assert first.key == Job("kind", {"b": [2.0], "a": 1}, "other words").key
    others = {Job("kind", {"a": 2, "b": [2.0]}, "").key, Job("other", first.inputs, "").key}
    assert first.key not in others
    assert len(others) == 2


def test_jobs_run_on_a_dask_scheduler(tmp_path):
    """Given the address of a scheduler, all jobs run there, failures are told, none runs twice."""
    distributed = pytest.importorskip("distributed", reason="needs svnicp[studies]")
    store, listener = made_up_store(tmp_path), Listening()
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0"
    ) as cluster:
        failed = run_jobs([square_job(-3), *JOBS], store, listener, cluster.scheduler_address)
        run_jobs(JOBS, store, Listening(), cluster.scheduler_address)
        with pytest.raises(KeyboardInterrupt):
            run_jobs([square_job(9)], store, Listening(stop_after=0), cluster.scheduler_address)
    assert list(failed.values()) == ["ValueError: it is negative"]
    assert sorted(RAN) == [0, 1, 2, 3, 4]
    assert sorted(listener.ended) == sorted(["square -3", *(job.words for job in JOBS)])


def part_of(source: str, part: int) -> Job:
    """A job about one of several sources."""
    inputs = {"source": {"name": source}, "part": part}
    return Job("study_cases.who_did", inputs, f"{source} {part}")


def test_jobs_of_one_source_are_neighbours():
    """They come one after the other, in the order in which sources and jobs were named."""
    mixed = [part_of(source, part) for part in range(3) for source in ("urban", "cave")]
    names = [job.words for job in neighbours([JOBS[0], *mixed, JOBS[1]])]
    cave, urban = ([f"{source} {part}" for part in range(3)] for source in ("cave", "urban"))
    assert names == ["square 0", "square 1", *urban, *cave]


def test_one_worker_does_the_jobs_of_one_source(tmp_path):
    """A simulated recording stays in the memory of the worker that made it."""
    distributed = pytest.importorskip("distributed", reason="needs svnicp[studies]")
    store = made_up_store(tmp_path)
    jobs = [part_of(source, part) for part in range(4) for source in ("urban", "cave")]
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0"
    ) as cluster:
        assert run_jobs(jobs, store, Listening(), cluster.scheduler_address) == {}
    results = Results(store)
    found = {name: set() for name in ("urban", "cave")}
    for job in jobs:
        result = results.get(job)
        assert result is not None
        found[job.inputs["source"]["name"]].add(result["worker"])
    assert [len(workers) for workers in found.values()] == [1, 1]
    assert found["urban"] != found["cave"]


def test_a_scheduler_that_is_not_there_is_one_sentence(tmp_path, monkeypatch):
    """An address that nobody answers at is an InputError that says what to do."""
    distributed = pytest.importorskip("distributed", reason="needs svnicp[studies]")

    def nobody(*_args, **_options):
        raise OSError("connection refused")

    monkeypatch.setattr(distributed, "Client", nobody)
    with pytest.raises(InputError, match="no dask scheduler at tcp://nowhere:1"):
        run_jobs(JOBS, made_up_store(tmp_path), Listening(), "tcp://nowhere:1")
