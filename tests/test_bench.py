# SPDX-License-Identifier: MIT
"""Measurements of time and memory: what is measured, how it is told, and that nothing grows."""

import json
from pathlib import Path

import numpy as np
import pytest

from svnicp.cli import __main__ as cli
from svnicp.config import Config
from svnicp.data.measurements import Scan
from svnicp.live.warm_up import room
from svnicp.peers.registry import PEERS
from svnicp.studies import bench_page, bench_peers, soak
from svnicp.studies.bench_growth import (
    NOT_COUNTED,
    Setting,
    memory,
    row,
    side_by_side,
    thinned_scan,
    with_particles,
)

STAGES = {"predict": 1.0, "register": 7.0, "map": 2.0}


def numbers() -> dict:
    """Return made-up measurements in the form of the JSON file."""
    times = {"mean_ms": 10.0, "p95_ms": 12.0, "stages_ms": STAGES}
    method = {"version": "1.0", "imu": False, "status": "ok", "note": "", "p95_ms": 9.0}
    mapped = {"stored_points": 900, "volume_m3": 40.0, "map_mb": 2.0, "bytes_per_m3": 5e4}
    minute = {"mean_ms": 4.0, "p95_ms": 5.0, "resident_mb": 200.0, "map_mb": 7.0}
    machine = {"cores": 2, "processor": "an abacus", "system": "Linux"}
    return {
        "command": "svnicp bench", "machine": machine, "versions": {}, "num_scans": 100,
        "methods": [
            {**method, "scene": "street", "method": "svnicp-lo", "mean_ms": 15.0, "peak_mb": 210.0},
            {**method, "scene": "street", "method": "kiss-icp", "mean_ms": 10.0, "peak_mb": None},
            {"scene": "street", "method": "rko_lio", "version": "2", "imu": True,
             "status": "crashed", "note": ""},
        ],
        "particles": [{"particles": 1, **times}, {"particles": 30, **times, "mean_ms": 25.0}],
        "points": [{"points": 5000, **times}],
        "backends": [{"backend": "numba", **times}],
        "map": [{"radius_m": 10.0, **times, **mapped}],
        "hour": {"command": "svnicp bench --hour", "machine": machine,
                 "minutes": [{"minute": n + 1, **minute} for n in range(60)]},
    }  # fmt: skip


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a page that was made of a file of numbers."""
    folder = tmp_path_factory.mktemp("bench")
    (folder / "bench.json").write_text(json.dumps(numbers()), encoding="utf-8")
    words = ["bench", "--redraw", "--json", str(folder / "bench.json")]
    assert cli.main([*words, "--page", str(folder / "page.md"), "--quiet"]) == 0
    return folder / "page.md"


def test_the_page_has_every_number(page: Path) -> None:
    """Times, ratios, memory and failures of a file of numbers are on the page made of it."""
    text = page.read_text(encoding="utf-8")
    for words in (
        "Made by `svnicp bench`, on 2 cores of an abacus",
        "| street | svnicp-lo 1.0 | 15.0 | 9.0 |",
        "| street | rko_lio 2 (IMU) | crashed |",
        "| 30 | 25.0 | 12.0 | 2.50 | 1.0 | 7.0 | 2.0 |",
        "| 10 | 900 | 40 | 2.0 | 50.0 | 10.0 |",
        "time 1.00, memory 1.000",
    ):
        assert words in text


@pytest.mark.parametrize(("load", "said"), [(0.3, False), (9.0, True)])
def test_a_busy_machine_is_said(load: float, said: bool) -> None:
    """Times that were taken while other programs ran carry a warning."""
    busy = numbers()
    busy["machine"]["load"] = load
    assert ("9 programs wanted its 2 cores" in "\n".join(bench_page.intro(busy))) == said


def test_the_figure_is_beside_the_page(page: Path) -> None:
    """The page shows a figure that exists."""
    assert "](images/performance.svg)" in page.read_text(encoding="utf-8")
    assert (page.parent / "images" / "performance.svg").stat().st_size > 1000


def test_numbers_must_exist_to_be_redrawn(tmp_path: Path, capsys) -> None:
    """A page of nothing is refused with one sentence."""
    words = ["--json", str(tmp_path / "no.json"), "--page", str(tmp_path / "page.md")]
    assert cli.main(["bench", "--redraw", *words]) == 2
    assert "no numbers" in capsys.readouterr().err


def test_ratios_are_those_of_the_same_scene() -> None:
    """A method is compared with the reference on its own scene only."""
    rows = [
        {"scene": "a", "method": "kiss-icp", "mean_ms": 10.0},
        {"scene": "a", "method": "ours", "mean_ms": 15.0},
        {"scene": "b", "method": "ours", "mean_ms": 15.0},
    ]
    ratios = [one.get("over_reference") for one in bench_peers.with_ratios(rows)]
    assert ratios == [1.0, 1.5, None]


def test_settings_run_side_by_side() -> None:
    """Every setting has times of all stages for the scans that count, and its own points."""
    scans = [one for one in room() if isinstance(one, Scan)][: NOT_COUNTED + 3]
    few = Setting(with_particles(Config.preset("default"), 5), 2000)
    found = side_by_side(scans, {"few": few, "all": Setting(Config.preset("default"))})
    assert len(found["few"].stages_s) == 3
    assert found["few"].num_points == 2000
    assert found["all"].num_points == len(scans[0].points)
    told = row(found["all"])
    assert told["mean_ms"] == pytest.approx(sum(told["stages_ms"].values()))
    assert memory(found["all"])["bytes_per_m3"] > 0


def test_thinning_keeps_times_with_their_points() -> None:
    """A thinned scan has as many points as asked for, each with its own time."""
    points = np.arange(300.0).reshape(100, 3)
    thin = thinned_scan(Scan(0, points, np.arange(100)), 10)
    assert thin.point_times_ns is not None
    np.testing.assert_array_equal(thin.points[:, 0], 3.0 * thin.point_times_ns)
    assert len(thin.points) == 10


def test_growth_is_last_over_first() -> None:
    """What grows in proportion to time is seen, and the first minutes do not count."""
    rows = [{"minute": n, "mb": 100.0 if n <= 5 else 10.0 * n} for n in range(1, 16)]
    assert soak.growth(rows, "mb") == pytest.approx(14.5 / 6.5)


@pytest.mark.parametrize("content", ["{bad", "[]", ""])
def test_other_files_are_not_taken_for_numbers(content: str, tmp_path: Path, capsys) -> None:
    """A file that bench has not written is named in one sentence and left alone."""
    other = tmp_path / "other.json"
    other.write_text(content)
    words = ["bench", "--redraw", "--json", str(other), "--page", str(tmp_path / "page.md")]
    assert cli.main(words) == 2
    assert f"{other} has no numbers of svnicp bench" in capsys.readouterr().err
    assert other.read_text() == content


def test_memory_stays_flat() -> None:
    """Driving in a loop, neither the process nor its map grows after the first two laps."""
    few = with_particles(Config.preset("default"), 3)
    rows = soak.soak(2, lambda _: None, columns=24, config=few, minute_s=25.2)
    assert rows[-1]["map_mb"] == rows[0]["map_mb"]
    assert rows[-1]["resident_mb"] < 1.005 * rows[0]["resident_mb"]


def test_peers_of_the_bench_exist() -> None:
    """Every method that ours is measured beside is one that can be compared with."""
    assert {*bench_peers.BESIDE, bench_peers.REFERENCE} <= set(PEERS)
