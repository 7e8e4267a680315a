# SPDX-License-Identifier: MIT
"""Stamps of scans: any unit, from files or names, exact to the nanosecond."""

from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svnicp.data.folders.find_files import natural_key
from svnicp.data.folders.scan_times import timed_files
from svnicp.data.stamps import (
    UNITS_NS,
    parse_date_ns,
    parse_number,
    seconds_text,
    time_unit,
    to_ns,
)
from svnicp.errors import DatasetError

START_NS = 1_647_090_478_710_633_039


def touched(folder: Path, names: list[str]) -> list[Path]:
    """Create files of these names and return them in natural order."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).touch()
    return sorted(folder.iterdir(), key=natural_key)


def in_unit(stamp_ns: int, unit: str) -> str:
    """Write a stamp in a unit, without loss."""
    return f"{Decimal(stamp_ns) / UNITS_NS[unit]:f}"


@pytest.mark.parametrize("text", ["1e2745918662", "-1e99999999999999999", "1e30", "inf", "nan", ""])
def test_numbers_without_measure_are_none(text: str):
    """Exponents that arithmetic cannot bear are no numbers of a recording, and no crash."""
    assert parse_number(text) is None
    assert parse_number("1e-99999999999999999") is not None


@given(stamp_ns=st.integers(-(2**63) + 1, 2**63 - 1))
def test_seconds_as_text_lose_nothing(stamp_ns: int):
    """Every int64 survives being written in seconds, with exactly nine decimals."""
    text = seconds_text(stamp_ns)
    assert to_ns(Decimal(text), UNITS_NS["s"]) == stamp_ns
    assert len(text.split(".")[1]) == 9


@given(
    unit=st.sampled_from(sorted(UNITS_NS)),
    start_s=st.sampled_from([0.0, 3.7, 1e9, 1.65e9]),
    period_s=st.floats(0.02, 1.0),
)
def test_units_of_scan_times_are_told(unit: str, start_s: float, period_s: float):
    """The unit of 1 to 50 Hz scans is found, be it since 1970 or since the start."""
    values = [Decimal((start_s + k * period_s) * 1e9) / UNITS_NS[unit] for k in range(10)]
    assert time_unit(values, 0.1).name == unit


@pytest.mark.parametrize("unit", sorted(UNITS_NS))
def test_times_file_is_read_in_any_unit(tmp_path: Path, unit: str):
    """Stamps of a times file are exact, whatever its unit."""
    paths = touched(tmp_path / "scans", [f"{k}.pcd" for k in range(12)])
    stamps_ns = [START_NS // 1000 * 1000 + k * 100_000_000 for k in range(12)]
    times = tmp_path / "times.txt"
    times.write_text("\n".join(in_unit(stamp_ns, unit) for stamp_ns in stamps_ns))
    files = timed_files(paths, times)
    assert files.stamps_ns.tolist() == stamps_ns
    assert [path.stem for path in files.paths] == [str(k) for k in range(12)]


@pytest.mark.parametrize("unit", sorted(UNITS_NS))
def test_names_that_are_stamps_are_used(tmp_path: Path, unit: str):
    """File names in any unit since 1970 give the stamps and the order."""
    stamps_ns = [START_NS // 10**6 * 10**6 + k * 100_000_000 for k in range(8)]
    names = [f"{in_unit(stamp_ns, unit)}.ply" for stamp_ns in stamps_ns]
    files = timed_files(touched(tmp_path / "scans", names), None)
    assert files.stamps_ns.tolist() == stamps_ns
    assert not files.assumed


def test_names_that_are_milliseconds_of_a_day_are_used(tmp_path: Path):
    """Large numbers a few hundred apart are times, not running numbers."""
    files = timed_files(touched(tmp_path / "s", ["251370668.pcd", "251371071.pcd"]), None)
    assert np.diff(files.stamps_ns).tolist() == [403_000_000]


def test_running_numbers_are_no_times(tmp_path: Path):
    """Numbered files without times are 10 Hz, or what was given, and that is said."""
    paths = touched(tmp_path / "s", [f"scan{k}.bin" for k in range(12)])
    assumed = timed_files(paths, None)
    assert [path.name for path in assumed.paths][:3] == ["scan0.bin", "scan1.bin", "scan2.bin"]
    assert assumed.stamps_ns.tolist() == [k * 100_000_000 for k in range(12)]
    assert assumed.assumed
    assert "10 Hz assumed" in assumed.findings[0].value
    given_rate = timed_files(paths, None, scan_rate_hz=20.0)
    assert given_rate.stamps_ns[1] == 50_000_000
    assert "20 Hz as given" in given_rate.findings[0].value


def test_names_with_their_times_are_matched(tmp_path: Path):
    """A times file may name the scans, in another order and with more than there are."""
    paths = touched(tmp_path / "s", ["a.pcd", "b.pcd"])
    times = tmp_path / "timestamps.txt"
    times.write_text("b.pcd 1647090478.2\na.pcd 1647090478.1\nlost.pcd 1647090478.3\n")
    assert timed_files(paths, times).stamps_ns.tolist() == [
        1_647_090_478_100_000_000,
        1_647_090_478_200_000_000,
    ]


def test_lost_scans_keep_their_stamps(tmp_path: Path):
    """Numbered scans with gaps take the stamp of their number, as KITTI has it."""
    paths = touched(tmp_path / "s", ["0000.bin", "0001.bin", "0004.bin"])
    times = tmp_path / "times.txt"
    times.write_text("\n".join(f"{0.1 * k:.6e}" for k in range(5)))
    files = timed_files(paths, times)
    assert files.stamps_ns.tolist() == [0, 100_000_000, 400_000_000]
    assert [finding.what for finding in files.findings] == ["scan times", "missing scans"]


def test_scans_that_go_back_are_left_out_and_said(tmp_path: Path, caplog):
    """A stamp that repeats or goes back costs its scan, not the recording."""
    paths = touched(tmp_path / "s", [f"{k}.bin" for k in range(6)])
    times = tmp_path / "times.txt"
    times.write_text("1.0\n1.1\n1.1\n1.05\n1.2\n1.3\n")
    files = timed_files(paths, times)
    assert [path.stem for path in files.paths] == ["0", "1", "4", "5"]
    assert "2 of 6 scans are left out" in caplog.text
    assert files.findings[-1].value == "2 scans whose time does not go forward"


BAD_TIMES = {
    "number": ("1.0\n1.1\n", "2 times for 3 scans"),
    "word": ("1.0\nsoon\n1.2\n", "line 2: the time 'soon' is not a number"),
    "columns": ("1.0 2 3\n1.1 2 3\n1.2 2 3\n", "line 1: 3 words"),
    "empty": ("\n", "no times in it"),
    "constant": ("1\n1\n1\n", "2 of 3 times do not go forward"),
    "date": (
        "2011-09-26 13:02:25.95\nsoon\n2011-09-26 13:02:26.05\n",
        "line 2: this is not a date",
    ),
}


@pytest.mark.parametrize("case", BAD_TIMES)
def test_times_that_do_not_fit_are_refused(tmp_path: Path, case: str):
    """One sentence names the file and what is wrong with it."""
    text, message = BAD_TIMES[case]
    times = tmp_path / "times.txt"
    times.write_text(text)
    paths = touched(tmp_path / "s", ["a.bin", "b.bin", "c.bin"])
    with pytest.raises(DatasetError, match=message) as caught:
        timed_files(paths, times)
    assert "times.txt" in str(caught.value)


def test_dates_are_read_to_the_nanosecond():
    """KITTI's dates are UTC with nine decimals; fewer are filled up."""
    assert parse_date_ns("1970-01-02 00:00:01.000000007") == 86_401_000_000_007
    assert parse_date_ns("2011-09-26 13:02:25.5") == 1_317_042_145_500_000_000
    assert parse_date_ns("2011-13-26 13:02:25.5") is None
