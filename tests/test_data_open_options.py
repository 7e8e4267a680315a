# SPDX-License-Identifier: MIT
"""Options of ``open_dataset``: names, values, and those that do nothing or cannot be right."""

from pathlib import Path

import numpy as np
import pytest

import cloud_bytes
import folder_files
from recording_inputs import SmallDataset
from svnicp.cli.flag_names import in_flags
from svnicp.data.open_dataset import OpenOptions, open_dataset
from svnicp.errors import ConfigError, DatasetError
from svnicp.recording import write_dataset


@pytest.fixture(scope="module")
def bag(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a small bag."""
    path = tmp_path_factory.mktemp("bag") / "small.mcap"
    write_dataset(SmallDataset(), path)
    return path


def test_names_of_flags_are_names_of_options(bag, tmp_path):
    """What the command line calls an option, Python may call it, too."""
    (tmp_path / "rig.yaml").write_text("T_body_lidar: [1, 2, 3, 0, 0, 0, 1]\n")
    dataset = open_dataset(bag, point_time_reference="end", extrinsics=tmp_path / "rig.yaml")
    assert next(dataset.scans()).end_ns <= SmallDataset().all_scans[0].stamp_ns
    np.testing.assert_array_equal(dataset.T_body_lidar[:3, 3], [1.0, 2.0, 3.0])
    assert next(open_dataset(bag, no_point_times=True).scans()).point_times_ns is None


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("lidar_topics", "/points", "no option lidar_topics; did you mean lidar_topic\\?$"),
        ("xyz", 1, "no option xyz; there are lidar_topic, .* point_time_unit, .* extrinsics"),
        ("lidar_topic", 3, "lidar_topic must be a text, not 3"),
        ("point_time_unit", "h", "point_time_unit must be one of s, ms, us, ns, not 'h'"),
        ("point_time_reference", "middle", "must be one of absolute, start, end"),
        ("imu_unit", "ft", "imu_unit must be one of m/s\\^2, g"),
        ("bin_columns", 99, "bin_columns must be 3, 4, 5 or 6, not 99"),
        ("scan_rate_hz", -5.0, "scan_rate_hz must be between"),
    ],
)
def test_wrong_names_and_values_are_refused_even_where_they_do_not_matter(bag, name, value, said):
    """One sentence names the option and what it may be, whatever the recording."""
    with pytest.raises(ConfigError, match=said):
        open_dataset(bag, **{name: value})


def test_a_path_that_is_none_is_refused():
    """None, a number and an empty text are no paths."""
    for path in (None, 3, [None]):
        with pytest.raises(DatasetError, match="A path must be"):
            open_dataset(path)  # pyright: ignore[reportArgumentType]
    with pytest.raises(DatasetError, match="No path was given"):
        open_dataset("")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"bin_columns": 5}, "bin_columns=5 has no effect"),
        ({"scan_rate_hz": 20.0}, "scan_rate_hz=20.0 has no effect"),
        ({"velodyne_model": "VLP16"}, "velodyne_model=VLP16 has no effect"),
        ({"point_time_reference": "absolute"}, "s from their header; leave"),
        ({}, ""),
    ],
)
def test_options_that_do_nothing_for_a_bag_are_named(bag, options, said, caplog):
    """A flag that does not apply, or cannot be right, is warned of once; others are not."""
    open_dataset(bag, **options)
    assert said in caplog.text
    assert caplog.text.count("has no effect") == (1 if "effect" in said else 0)


def test_options_that_do_nothing_for_a_folder_are_named(tmp_path, rng, caplog):
    """A topic, columns of .bin files, and a rate beside known times do nothing for .npy files."""
    files = [cloud_bytes.npy(scan) for scan in folder_files.clouds(rng, 2)]
    folder_files.write_clouds(tmp_path, files, ".npy")
    (tmp_path / "times.txt").write_text("0.0\n0.1\n")
    options = OpenOptions(lidar_topic="/points", bin_columns=4, scan_rate_hz=5.0)
    open_dataset(tmp_path, options)
    for said in ("lidar_topic=/points has", "bin_columns=4 has", "scan_rate_hz=5 has"):
        assert f"{said} no effect" in caplog.text


def test_advice_names_flags_on_the_command_line():
    """Arguments of Python become flags, and nothing else changes."""
    assert in_flags("pass bin_columns=3.") == "pass --bin-columns 3."
    assert in_flags("replace it by overwrite=True.") == "replace it by --overwrite."
    assert in_flags("bin_columns must be 3.") == "--bin-columns must be 3."
    assert in_flags("use --bin-columns, lidar_topics") == "use --bin-columns, lidar_topics"
    assert (
        in_flags("/data/ground_truth.tum and imu_unit") == "/data/ground_truth.tum and --imu-unit"
    )
