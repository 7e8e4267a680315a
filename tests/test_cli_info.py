# SPDX-License-Identifier: MIT
"""``svnicp info``: what it prints and writes about a recording, and how it refuses others."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import svnicp
from recording_inputs import SmallDataset
from svnicp.cli.arguments import UsageError
from svnicp.cli.info import main
from svnicp.data.dataset import Dataset, DatasetInfo, Finding
from svnicp.errors import DatasetError, InputError
from svnicp.recording import write_dataset


def dataset_with_gravity() -> Dataset:
    dataset = SmallDataset(30)
    for sample in dataset.all_samples:
        sample.linear_acceleration[:] = [0.0, 0.0, 9.81]
    return dataset


@pytest.fixture(scope="module")
def bag(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a bag of 30 scans with an IMU and ground truth beside it."""
    path = tmp_path_factory.mktemp("bag") / "small.mcap"
    write_dataset(dataset_with_gravity(), path)
    return str(path)


def test_it_says_what_there_is(bag, capsys):
    """Kind, rates, first scan, ground truth and extrinsics of a bag are on the screen."""
    assert main([bag]) == 0
    printed = capsys.readouterr().out
    for words in (
        "small: ROS 2 bag",
        "30 at 10.0 Hz",
        "20 points, 26.4 to 77.1 m away, taken within",
        "121 poses, 12.3 m in 3.0 s",
        "/lidar/points (sensor_msgs/PointCloud2)",
        "nanoseconds, relative to the header, which marks the start",
        "m/s^2",
        "LiDAR at (0.1145 -0.1342 0.3272) m in the body",
        "no gaps",
        "flag: --lidar-topic",
        'from: /tf_static, from "lidar" to "base_link"',
    ):
        assert words in printed


def test_every_flag_that_the_readers_name_exists(capsys):
    """Whatever flag a finding or a warning of a reader names is one that the command has."""
    flag = re.compile(r"--[a-z][a-z-]+")
    sources = (Path(svnicp.__file__).parent / "data").rglob("*.py")
    named = {name for source in sources for name in flag.findall(source.read_text())}
    with pytest.raises(SystemExit):
        main(["--help"])
    assert len(named) > 5
    assert named <= set(flag.findall(capsys.readouterr().out))


def test_json_holds_the_same(bag, tmp_path, capsys):
    """The file has the numbers, the findings with their flags, and the extrinsics."""
    assert main([bag, "--json", str(tmp_path / "info.json"), "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    content = json.loads((tmp_path / "info.json").read_text())
    assert (content["num_scans"], content["data"]) == (30, [bag])
    assert content["imu_period_s"] == pytest.approx(0.01)
    np.testing.assert_allclose(content["T_body_lidar"], SmallDataset().T_body_lidar, atol=1e-12)
    assert content["first_scan"]["num_points"] == 20
    assert content["first_scan"]["has_point_times"]
    assert content["ground_truth"]["num_poses"] == 121
    found = {finding["what"]: finding for finding in content["findings"]}
    assert found["extrinsics"]["override"] == "--extrinsics"


def test_json_on_standard_output_is_alone_there(bag, capsys):
    """With --json - the document is all of stdout, and the table goes to stderr."""
    assert main([bag, "--json", "-"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["name"] == "small"
    assert "30 at 10.0 Hz" in captured.err


def test_flags_override_what_was_detected(bag, tmp_path, capsys):
    """Every flag that fits a bag changes what is said about it."""
    extrinsics = tmp_path / "extrinsics.yaml"
    extrinsics.write_text("T_body_lidar: [[1,0,0,7],[0,1,0,8],[0,0,1,9],[0,0,0,1]]\n")
    flags = ["--extrinsics", str(extrinsics), "--no-point-times", "--imu-unit", "g"]
    assert main([bag, *flags]) == 0
    printed = capsys.readouterr().out
    assert "LiDAR at (7 8 9) m" in printed
    assert "no point times" in printed
    main([bag, "--imu-topic", "none", "--json", "-", "--quiet"])
    assert json.loads(capsys.readouterr().out)["imu_period_s"] is None


def test_it_fits_into_80_columns(bag, capsys, monkeypatch):
    """No line is wider than a terminal of 80 columns, and no word is cut off."""
    monkeypatch.setenv("COLUMNS", "80")
    main([bag])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    words = " ".join(" ".join(lines).split())
    assert "relative to the header, which marks the start of the scan" in words


class Bare(Dataset):
    """A dataset that hardly knows anything."""

    name = "bare"

    def info(self) -> DatasetInfo:
        """Return nothing but the kind, and a finding without evidence."""
        return DatasetInfo("bare", findings=(Finding("mood", "fine"),))

    def scans(self):
        """Yield none."""
        return iter(())


def test_what_is_not_known_is_said_to_be_unknown(capsys):
    """A dataset without scans, rates and ground truth gives words, not errors."""
    from svnicp.cli.info_run import document, overview  # noqa: PLC0415
    from svnicp.cli.show import plain_table  # noqa: PLC0415

    dataset = Bare()
    table = overview(dataset, dataset.info(), None)
    assert type(table) is type(plain_table())
    cells = dict(zip(*(list(column.cells) for column in table.columns), strict=True))
    assert cells == {
        "duration": "unknown", "scans": "number unknown", "first scan": "none",
        "LiDAR": "not known", "IMU": "none", "ground truth": "none",
    }  # fmt: skip
    assert json.dumps(document([], dataset, dataset.info(), None))
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("words", "kind", "said"),
    [
        ([], UsageError, "name a recording"),
        (["nowhere.bag"], DatasetError, "no such file or folder"),
        (["room"], DatasetError, "write one first: svnicp simulate room --out room.mcap"),
        (["BAG", "--imu-unit", "ft"], UsageError, "invalid choice 'ft'"),
        (["BAG", "--lidar-topic", "/other"], DatasetError, "/other"),
        (["BAG", "--json", "none/info.json"], InputError, "create it first"),
        (["BAG", "--lidar-topik", "/x"], UsageError, "perhaps you meant: --lidar-topic"),
    ],
)
def test_wrong_words_get_a_sentence(bag, words, kind, said):
    """A wrong path, value, topic or flag is refused with what to do."""
    with pytest.raises(kind, match=re.escape(said)):
        main([bag if word == "BAG" else word for word in words])
