# SPDX-License-Identifier: MIT
"""Trajectory files: what is written is read back, real layouts are understood, bad rows refused."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svnicp.data.quaternions import quat_to_rotation, rotation_to_quat
from svnicp.data.trajectory import Trajectory
from svnicp.data.trajectory_files import (
    read_kitti,
    read_trajectory,
    read_tum,
    write_kitti,
    write_tum,
)
from svnicp.errors import DatasetError
from svnicp.lie import make_transform, se3_exp, so3_exp

STAMPS = st.lists(st.integers(-(10**12), 2 * 10**18), min_size=1, max_size=20, unique=True)
ANGLES = st.tuples(*[st.floats(-3.0, 3.0) for _ in range(3)])


def wandering(rng: np.random.Generator, count: int, start_ns: int = 1_647_090_478_710_633_039):
    """Return a trajectory of random poses, 10 Hz but for odd nanoseconds."""
    stamps_ns = start_ns + np.arange(count) * 100_000_007
    return Trajectory(stamps_ns, se3_exp(rng.normal(size=(count, 6))))


@given(stamps=STAMPS, seed=st.integers(0, 1000))
def test_tum_round_trips_to_the_nanosecond(tmp_path_factory, stamps: list[int], seed: int):
    """Stamps come back exactly and poses to rounding, whatever the stamps are."""
    path = tmp_path_factory.getbasetemp() / "round_trip.tum"
    poses = se3_exp(np.random.default_rng(seed).normal(size=(len(stamps), 6)))
    written = Trajectory(np.array(sorted(stamps), dtype=np.int64), poses)
    write_tum(path, written)
    read = read_tum(path, position_only=False)
    np.testing.assert_array_equal(read.stamps_ns, written.stamps_ns)
    np.testing.assert_array_equal(read.positions, written.positions)
    np.testing.assert_allclose(read.T_world_body, written.T_world_body, atol=1e-14)


@given(phi=ANGLES, sign=st.sampled_from([-1.0, 1.0]))
def test_quaternions_are_the_rotations_they_stand_for(phi: tuple[float, ...], sign: float):
    """A rotation survives both conversions, and both signs of a quaternion mean the same."""
    rotation = so3_exp(np.array(phi))
    quat = rotation_to_quat(rotation)
    assert quat[3] >= 0.0
    assert np.linalg.norm(quat) == pytest.approx(1.0, abs=1e-14)
    np.testing.assert_allclose(quat_to_rotation(sign * quat), rotation, atol=1e-14)


def test_quaternion_of_a_quarter_turn_is_as_defined():
    """A quarter turn about z is (0, 0, sin 45°, cos 45°) and takes x to y."""
    quat = np.array([0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)])
    np.testing.assert_allclose(
        quat_to_rotation(quat) @ [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], atol=1e-15
    )
    np.testing.assert_allclose(rotation_to_quat(quat_to_rotation(quat)), quat, atol=1e-15)


def test_evo_reads_what_is_written(tmp_path: Path, rng: np.random.Generator):
    """The field's evaluation tool sees the same poses in both formats."""
    file_interface = pytest.importorskip("evo.tools.file_interface")
    trajectory = wandering(rng, 12)
    write_tum(tmp_path / "a.tum", trajectory)
    write_kitti(tmp_path / "a.kitti", trajectory)
    tum = file_interface.read_tum_trajectory_file(tmp_path / "a.tum")
    kitti = file_interface.read_kitti_poses_file(tmp_path / "a.kitti")
    for read in (tum, kitti):
        np.testing.assert_allclose(np.array(read.poses_se3), trajectory.T_world_body, atol=1e-12)
    np.testing.assert_allclose(tum.timestamps, trajectory.stamps_ns * 1e-9, atol=1e-6)


def test_kitti_round_trips_with_its_stamps(tmp_path: Path, rng: np.random.Generator):
    """Poses come back to rounding, with the stamps that were given."""
    trajectory = wandering(rng, 9)
    write_kitti(tmp_path / "poses.txt", trajectory)
    read = read_trajectory(tmp_path / "poses.txt", stamps_ns=trajectory.stamps_ns)
    np.testing.assert_array_equal(read.stamps_ns, trajectory.stamps_ns)
    np.testing.assert_allclose(read.T_world_body, trajectory.T_world_body, atol=1e-14)


def test_kitti_needs_its_stamps(tmp_path: Path, rng: np.random.Generator):
    """Without stamps, or with another number of them, the sentence says what is missing."""
    trajectory = wandering(rng, 3)
    write_kitti(tmp_path / "poses.txt", trajectory)
    with pytest.raises(DatasetError, match="no stamps"):
        read_trajectory(tmp_path / "poses.txt")
    with pytest.raises(DatasetError, match="3 poses for 2 stamps"):
        read_kitti(tmp_path / "poses.txt", trajectory.stamps_ns[:2])


def test_euroc_csv_is_read_w_first_and_in_nanoseconds(tmp_path: Path):
    """EuRoC's header, its order of the quaternion and its further columns are understood."""
    (tmp_path / "data.csv").write_text(
        "#timestamp, p_RS_R_x [m], p_RS_R_y [m], p_RS_R_z [m], q_RS_w [], q_RS_x [], q_RS_y [], "
        "q_RS_z [], v_RS_R_x [m s^-1], b_w_RS_S_x [rad s^-1], b_a_RS_S_x [m s^-2]\n"
        "1403636580838555648,4.5,-1.5,0.25,0.8,0.6,0.0,0.0,9.0,9.0,9.0\n"
        "1403636580843555648,4.6,-1.5,0.25,0.8,0.6,0.0,0.0,9.0,9.0,9.0\n"
    )
    read = read_trajectory(tmp_path / "data.csv")
    assert read.stamps_ns.tolist() == [1403636580838555648, 1403636580843555648]
    np.testing.assert_array_equal(read.positions[0], [4.5, -1.5, 0.25])
    expected = quat_to_rotation(np.array([0.6, 0.0, 0.0, 0.8]))
    np.testing.assert_allclose(read.T_world_body[0, :3, :3], expected, atol=1e-15)


def test_euroc_csv_without_header_is_read_in_its_order(tmp_path: Path):
    """The files that EuRoC users strip of their header still have w first."""
    (tmp_path / "data.csv").write_text("1403636580838555648,1,2,3,0.8,0,0,0.6\n")
    rotation = read_trajectory(tmp_path / "data.csv").T_world_body[0, :3, :3]
    np.testing.assert_allclose(rotation, quat_to_rotation(np.array([0, 0, 0.6, 0.8])), atol=1e-15)


def test_subt_mrs_csv_is_sorted_and_its_sign_flips_do_not_matter(tmp_path: Path):
    """Spaces in the header, rows out of order and flipped quaternions give one smooth path."""
    (tmp_path / "ground_truth_path.csv").write_text(
        "timestamp, p_w_b_x, p_w_b_y, p_w_b_z, q_w_b_x, q_w_b_y, q_w_b_z, q_w_b_w\n"
        "1632000000200000001, 2, 0, 0, 0, 0, -0.6, -0.8\n"
        "1632000000000000001, 0, 0, 0, 0, 0, 0.6, 0.8\n"
        "1632000000100000001, 1, 0, 0, 0, 0, 0.6, 0.8\n"
    )
    read = read_trajectory(tmp_path / "ground_truth_path.csv")
    assert read.stamps_ns.tolist() == [1632000000000000001 + k * 10**8 for k in range(3)]
    np.testing.assert_array_equal(read.positions[:, 0], [0.0, 1.0, 2.0])
    np.testing.assert_allclose(read.T_world_body[2, :3, :3], read.T_world_body[0, :3, :3])
    assert not read.position_only


POSITION_ONLY = {
    "four columns": ("1.0 0 0 0\n2.0 1 0 0\n", True),
    "zero quaternions": ("1.0 0 0 0 0 0 0 0\n2.0 1 0 0 0 0 0 0\n", True),
    "identity while moving": ("1.0 0 0 0 0 0 0 1\n2.0 1 0 0 0 0 0 1\n", True),
    "identity at rest": ("1.0 0 0 0 0 0 0 1\n2.0 0 0 0 0 0 0 1\n", False),
    "one rotation": ("1.0 0 0 0 0 0 0 1\n2.0 1 0 0 0 0 1 0\n", False),
}


@pytest.mark.parametrize("case", POSITION_ONLY)
def test_positions_without_rotations_are_recognised(tmp_path: Path, case: str):
    """A prism's track is marked, so that nobody computes rotation errors from it."""
    text, expected = POSITION_ONLY[case]
    (tmp_path / "gt.txt").write_text("# timestamp tx ty tz qx qy qz qw\n" + text)
    assert read_trajectory(tmp_path / "gt.txt").position_only is expected


def test_the_caller_may_know_better_about_rotations(tmp_path: Path):
    """A straight simulated drive has identity rotations that are meant."""
    (tmp_path / "gt.txt").write_text(POSITION_ONLY["identity while moving"][0])
    assert not read_trajectory(tmp_path / "gt.txt", position_only=False).position_only


BAD_FILES = {
    "cut off": ("1.0 0 0 0 0 0 0 1\n2.0 1 0 0 0\n", "line 2: 8 numbers are expected"),
    "word": ("1.0 0 0 zero 0 0 0 1\n", "line 1: column 4 has 'zero'"),
    "not finite": ("1.0 0 0 0 0 0 0 1\n2.0 nan 0 0 0 0 0 1\n", "line 2: column 2 has 'nan'"),
    "no time": ("1.0 0 0 0 0 0 0 1\nx 0 0 0 0 0 0 1\n", "line 2: the time 'x' is not a number"),
    "nanoseconds": ("1632000000000000000 0 0 0 0 0 0 1\n", "line 1: the time .* needs seconds"),
    "long quaternion": ("1.0 0 0 0 0 0 0 1\n2.0 1 0 0 0 0 1 1\n", "line 2: the quaternion"),
    "columns": ("1.0 0 0 0 0 0\n", "line 1: 6 numbers are in no known format"),
    "comments only": ("# nothing\n", "no rows of numbers"),
    "empty": ("", "no rows of numbers"),
    "scaled rotation": ("2 0 0 0 0 2 0 0 0 0 2 0\n", "line 1: .* not a rotation"),
    "header": ("time,x,y,z,qx,qy,qz\n1,0,0,0,0,0,0\n", "no column for qw"),
    "short csv row": ("time,x,y,z\n1,0,0,0\n2,0,0\n", "line 3: 4 numbers are expected and 3"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_rows_are_refused_with_file_and_line(tmp_path: Path, case: str):
    """One sentence names the file, the line and what is wrong with it."""
    text, message = BAD_FILES[case]
    (tmp_path / "bad.txt").write_text(text)
    with pytest.raises(DatasetError, match=message) as caught:
        read_trajectory(tmp_path / "bad.txt", stamps_ns=np.array([1]))
    assert "bad.txt" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_text_is_refused_in_short(tmp_path: Path):
    """What a recording looks like as text is not poured onto the screen."""
    file = tmp_path / "drive.mcap"
    file.write_bytes(b"\x89MCAP0\r\n" + (bytes(range(128, 256)) * 50 + b" ") * 8 + b"\n")
    with pytest.raises(DatasetError, match=r"drive\.mcap, line 2: this is not a text file"):
        read_tum(file)


def test_a_line_that_a_killed_writer_left_is_passed_over(tmp_path: Path, caplog):
    """Cut off anywhere in its last line, a trajectory is read up to it, and a warning says so."""
    whole = "1.5 1 0 0 0 0 0.6 0.8\n2.5 2 0 0 0 0 0 1\n"
    last = "3.5 3.25 0.125 0 0.5 0.5 0.5 0.5"
    for end in range(1, len(last) + 1):
        caplog.clear()
        (tmp_path / "cut.tum").write_text(whole + last[:end])
        read = read_tum(tmp_path / "cut.tum")
        assert read.stamps_ns.tolist()[:2] == [1_500_000_000, 2_500_000_000]
        assert len(read) == 2 + (end == len(last))
        assert ("line 3: the last line is not finished" in caplog.text) == (end < len(last))


def test_missing_file_is_named(tmp_path: Path):
    """A path that does not exist gives a sentence, not a traceback of the file system."""
    with pytest.raises(DatasetError, match=r"absent\.tum: there is no such file"):
        read_trajectory(tmp_path / "absent.tum")


def test_repeated_stamps_are_dropped_and_said(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    """The first pose of each stamp stays, and a warning counts the others."""
    (tmp_path / "gt.txt").write_text(
        "1.0 1 0 0 0 0 0.6 0.8\n1.0 2 0 0 0 0 0 1\n2.0 3 0 0 0 0 0 1\n"
    )
    read = read_trajectory(tmp_path / "gt.txt")
    np.testing.assert_array_equal(read.positions[:, 0], [1.0, 3.0])
    assert "1 of 3 poses repeat a stamp" in caplog.text


def test_unwritable_place_is_said(tmp_path: Path):
    """Writing into a folder that is not there names the file."""
    trajectory = Trajectory(np.array([1]), make_transform(np.eye(3), np.zeros(3))[None])
    with pytest.raises(DatasetError, match="cannot be written"):
        write_tum(tmp_path / "absent" / "a.tum", trajectory)
