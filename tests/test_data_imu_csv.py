# SPDX-License-Identifier: MIT
"""IMU tables: columns by header or by gravity, units detected, bad rows named."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import folder_files
from folder_files import START_NS
from svnicp.data.imu_csv import ImuCsv
from svnicp.errors import DatasetError

GRAVITY = 9.80665
HEADERS = {
    "EuRoC": "#timestamp [ns],w_RS_S_x [rad s^-1],w_RS_S_y [rad s^-1],w_RS_S_z [rad s^-1],"
    "a_RS_S_x [m s^-2],a_RS_S_y [m s^-2],a_RS_S_z [m s^-2]",
    "rko": "timestamp,gyro_x,gyro_y,gyro_z,accel_x,accel_y,accel_z",
    "ROS": "time,field.angular_velocity.x,field.angular_velocity.y,field.angular_velocity.z,"
    "field.linear_acceleration.x,field.linear_acceleration.y,field.linear_acceleration.z",
    "phone": "time_ns,rotation_rate_x,rotation_rate_y,rotation_rate_z,acceleration_x,"
    "acceleration_y,acceleration_z",
    "short": "t, wx, wy, wz, ax, ay, az",
    "SubT-MRS": "timestamp(ns), ang_vel_x, ang_vel_y, ang_vel_z, lin_acc_x, lin_acc_y, lin_acc_z",
}


def readings(count: int = 50, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return (n, 6) rates and accelerations about at rest, and their stamps at 200 Hz."""
    rng = np.random.default_rng(seed)
    rows = np.hstack([rng.normal(0, 0.1, (count, 3)), rng.normal([0, 0, GRAVITY], 0.1, (count, 3))])
    return rows, START_NS + np.arange(count) * 5_000_000


def assert_reads(imu: ImuCsv, rows: np.ndarray, stamps_ns: np.ndarray) -> None:
    """Check that all samples are there, in SI units."""
    samples = list(imu.samples())
    assert [sample.stamp_ns for sample in samples] == stamps_ns.tolist()
    np.testing.assert_array_equal([s.angular_velocity for s in samples], rows[:, :3])
    np.testing.assert_allclose([s.linear_acceleration for s in samples], rows[:, 3:], rtol=1e-15)


@pytest.mark.parametrize("case", HEADERS)
def test_headers_of_all_projects_are_understood(tmp_path: Path, case: str):
    """Every project's names lead to the same samples, to the nanosecond."""
    rows, stamps_ns = readings()
    folder_files.write_imu(tmp_path / "imu.csv", HEADERS[case], rows, stamps_ns)
    imu = ImuCsv(tmp_path / "imu.csv")
    assert_reads(imu, rows, stamps_ns)
    assert imu.period_s == pytest.approx(0.005)
    assert imu.span_ns == (stamps_ns[0], stamps_ns[-1])


@given(
    order=st.permutations(range(8)),
    case=st.sampled_from(sorted(HEADERS)),
    spaces=st.lists(st.sampled_from(["", " ", "\t"]), min_size=8, max_size=8),
)
def test_columns_may_be_in_any_order(tmp_path_factory, order, case: str, spaces: list[str]):
    """Shuffled columns, with one more that is not known and spaces in the header, read the same."""
    names = [*HEADERS[case].lstrip("#").split(","), "temperature"]
    rows, stamps_ns = readings(12)
    words = [[str(stamp), *map(repr, map(float, row)), "21.5"]
             for stamp, row in zip(stamps_ns, rows, strict=True)]  # fmt: skip
    lines = [",".join(space + names[k] for k, space in zip(order, spaces, strict=True))]
    lines += [",".join(row[k] for k in order) for row in words]
    path = tmp_path_factory.getbasetemp() / "shuffled.csv"
    path.write_text("\n".join(lines))
    assert_reads(ImuCsv(path), rows, stamps_ns)


def test_orientation_columns_are_left_alone(tmp_path: Path):
    """SubT-MRS has quaternions between the time and the rates."""
    rows, stamps_ns = readings()
    header = "timestamp(ns), q_x, q_y, q_z, q_w, " + HEADERS["SubT-MRS"].split(", ", 1)[1]
    wide = np.hstack([np.tile([0.0, 0.0, 0.0, 1.0], (len(rows), 1)), rows])
    folder_files.write_imu(tmp_path / "imu_data.csv", header, wide, stamps_ns)
    assert_reads(ImuCsv(tmp_path / "imu_data.csv"), rows, stamps_ns)


@pytest.mark.parametrize("acceleration_first", [True, False])
def test_without_header_gravity_tells_the_columns(tmp_path: Path, acceleration_first: bool):
    """The triple as long as gravity is the acceleration, wherever it is."""
    rows, stamps_ns = readings()
    written = rows[:, [3, 4, 5, 0, 1, 2]] if acceleration_first else rows
    folder_files.write_imu(tmp_path / "imu.txt", "", written, stamps_ns, separator=" ")
    imu = ImuCsv(tmp_path / "imu.txt")
    assert_reads(imu, rows, stamps_ns)
    first = "acceleration first" if acceleration_first else "angular velocity first"
    assert first in imu.findings[0].value


def test_accelerations_in_g_are_scaled_and_said(tmp_path: Path):
    """Livox writes g; the samples are in m/s^2 all the same, unless the unit is given."""
    rows, stamps_ns = readings()
    in_g = np.hstack([rows[:, :3], rows[:, 3:] / GRAVITY])
    folder_files.write_imu(tmp_path / "imu.csv", HEADERS["rko"], in_g, stamps_ns)
    samples = list(ImuCsv(tmp_path / "imu.csv").samples())
    np.testing.assert_allclose([s.linear_acceleration for s in samples], rows[:, 3:])
    assert any("g, multiplied" in f.value for f in ImuCsv(tmp_path / "imu.csv").findings)
    as_given = next(ImuCsv(tmp_path / "imu.csv", "m/s^2").samples())
    np.testing.assert_array_equal(as_given.linear_acceleration, in_g[0, 3:])


def test_seconds_are_told_from_nanoseconds(tmp_path: Path):
    """Times in seconds with nine decimals are exact."""
    rows, stamps_ns = readings()
    lines = [f"{ns // 10**9}.{ns % 10**9:09d}," + ",".join(map(repr, map(float, row)))
             for ns, row in zip(stamps_ns, rows, strict=True)]  # fmt: skip
    (tmp_path / "imu.csv").write_text("\n".join([HEADERS["rko"], *lines]))
    assert_reads(ImuCsv(tmp_path / "imu.csv"), rows, stamps_ns)


def test_samples_that_go_back_are_dropped_and_counted(tmp_path: Path, caplog):
    """Repeated and backward stamps cost their samples, and one warning says how many."""
    rows, stamps_ns = readings()
    stamps_ns[20], stamps_ns[30] = stamps_ns[19], stamps_ns[5]
    folder_files.write_imu(tmp_path / "imu.csv", HEADERS["rko"], rows, stamps_ns)
    samples = list(ImuCsv(tmp_path / "imu.csv").samples())
    assert len(samples) == 48
    assert "dropped 2 IMU samples" in caplog.text


def test_a_cut_off_row_ends_the_samples_with_its_line(tmp_path: Path):
    """What comes before the last, incomplete row is handed out."""
    rows, stamps_ns = readings(600)
    folder_files.write_imu(tmp_path / "imu.csv", HEADERS["rko"], rows, stamps_ns)
    text = (tmp_path / "imu.csv").read_text()
    (tmp_path / "imu.csv").write_text(text[: text.rindex(",", 0, -30)])
    samples = ImuCsv(tmp_path / "imu.csv").samples()
    assert len([next(samples) for _ in range(599)]) == 599
    with pytest.raises(DatasetError, match=r"imu\.csv, line 601: 7 numbers are expected and"):
        next(samples)


BAD = {
    "missing column": ("timestamp,gyro_x,gyro_y,gyro_z,accel_x,accel_y\n1,0,0,0,0,9.8\n", "for az"),
    "no header": ("1.0 0 0 0 0 0 0\n1.1 0 0 0 0 0 0\n", "there is no header"),
    "short": ("1.0 0 0 9.8\n", "7 numbers are expected and 4"),
    "word": ("t,wx,wy,wz,ax,ay,az\n1,0,0,0,0,much,9\n", "line 2: column 6 has 'much'"),
    "nothing": ("", "no rows of numbers"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_tables_are_refused_in_one_sentence(tmp_path: Path, case: str):
    """The file and what is missing are named."""
    text, message = BAD[case]
    (tmp_path / "imu.csv").write_text(text)
    with pytest.raises(DatasetError, match=message) as caught:
        ImuCsv(tmp_path / "imu.csv")
    assert "imu.csv" in str(caught.value)
