# SPDX-License-Identifier: MIT
"""The table of faults and its page, from made-up results whose cells are known."""

import json
from pathlib import Path
from typing import Any

import pytest

from svnicp.errors import InputError
from svnicp.studies.faults.catalogue import FAULTS, NONE
from svnicp.studies.faults.page import reliability_page
from svnicp.studies.faults.study import fault_cells, jobs
from svnicp.studies.plan import Plan
from svnicp.studies.tables import Origin, Table, json_text


def result(failure: str = "", end_square: float | None = 1.0) -> dict[str, Any]:
    """Return a run of four estimates, one before, two during and one after a fault."""
    rows = {
        "phase": [0, 1, 1, 2], "status": ["ok", "empty", "weak", "ok"],
        "ok": [True, False, True, True], "step_squares": [1.0, 2.0, 4.0, 1.0],
        "pose_squares": [1.0, 1.0, 1.0, end_square], "errors_m": [0.0, 0.1, 0.1, 0.2],
        "sigmas_m": [0.1, 0.2, 0.2, 0.3],
    }  # fmt: skip
    return {"failure": failure, "num_scans": 6, "num_faulty": 3, "num_refused": 0,
            "num_estimates": 5, "rows": rows}  # fmt: skip


def test_cells_count_what_happened():
    """Crashes, ends outside of sigma, lost and predicted scans each have their number."""
    cells = fault_cells([result(), result(end_square=9.0), result(failure="ValueError: x")])
    assert (cells["runs"], cells["survived"], cells["inside 3σ"]) == (3, 2, 2)
    assert (cells["injected"], cells["scans"], cells["lost"], cells["predicted"]) == (9, 18, 3, 3)
    assert (cells["ANEES before"], cells["ANEES during"], cells["ANEES after"]) == (1.0, 3.0, 1.0)
    assert cells["said"] == "ValueError: x"
    assert fault_cells([result()])["said"] == "empty 1, weak 1"
    assert fault_cells([result(end_square=None)])["inside 3σ"] == 0


def test_every_fault_has_its_jobs():
    """Faults of the IMU are tried with it alone, all others with and without, on all scenarios."""
    drives = [job for job in jobs(Plan()) if "fault" in job.inputs]
    tried = {(job.inputs["fault"], job.inputs["uses_imu"]) for job in drives}
    expected = {(name, True) for name in FAULTS}
    assert tried == expected | {(name, False) for name, one in FAULTS.items() if not one.imu_only}
    assert len(drives) == 2 * len(tried)


def test_the_page_has_tables_sentences_and_the_command(tmp_path: Path):
    """Every place for a table is filled, and numbers come with the command that makes them."""
    with pytest.raises(InputError, match="no study of faults"):
        reliability_page(tmp_path, None)
    tables = [Table(name, name, ["fault"], [{"fault": "x"}]) for name in ("faults", "programs")]
    (tmp_path / "faults").mkdir()
    origin = Origin("svnicp study faults", {}, 2, False, 60.0, 2, {"abc": 2}, (200,))
    (tmp_path / "faults" / "tables.json").write_text(json_text(tables, origin))
    counts = {"inputs": 5, "read": 1, "refused": 3, "crashes": {"E": [4]}, "hangs": []}
    fuzz = tmp_path / "fuzz.json"
    fuzz.write_text(json.dumps({"command": "the fuzz", "readers": {"pcd": counts}}))
    page = reliability_page(tmp_path, fuzz)
    assert "{{" not in page
    assert "| pcd | 5 | 1 | 3 | 1 | 0 |" in page
    for words in ("svnicp study faults", "the fuzz", *(n for n in FAULTS if n != NONE.name)):
        assert words in page
