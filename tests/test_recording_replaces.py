# SPDX-License-Identifier: MIT
"""What a recording may be written over, and what must survive it."""

import os
from pathlib import Path

import pytest

from recording_inputs import SmallDataset
from svnicp.data.open_dataset import open_dataset
from svnicp.errors import InputError
from svnicp.recording import write_dataset

FOLDERS = ["kitti", "ros2", "ros2-mcap"]


def contents(folder: Path) -> dict[str, bytes]:
    """Return all files below a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.mark.parametrize("chosen", FOLDERS)
@pytest.mark.parametrize("stranger", ["thesis.txt", "velodyne/notes.txt", "chapters/1/text.tex"])
def test_a_folder_with_anything_else_in_it_is_never_replaced(tmp_path, chosen, stranger):
    """One file that svnicp did not write keeps the whole folder from being overwritten."""
    folder = tmp_path / "p"
    write_dataset(SmallDataset(2), folder, chosen)
    (folder / stranger).parent.mkdir(parents=True, exist_ok=True)
    (folder / stranger).write_text("precious")
    before = contents(tmp_path)
    with pytest.raises(InputError, match="not replaced"):
        write_dataset(SmallDataset(2), folder, chosen, overwrite=True)
    assert contents(tmp_path) == before


def test_a_folder_of_somebody_else_in_the_same_layout_is_not_replaced(tmp_path):
    """A real KITTI sequence, which lacks the mark of svnicp, is kept."""
    write_dataset(SmallDataset(2), tmp_path / "07", "kitti")
    (tmp_path / "07" / "svnicp.yaml").unlink()
    with pytest.raises(InputError, match="not replaced"):
        write_dataset(SmallDataset(2), tmp_path / "07", "kitti", overwrite=True)
    assert (tmp_path / "07" / "times.txt").is_file()


@pytest.mark.parametrize("chosen", FOLDERS)
@pytest.mark.parametrize("before", [*FOLDERS, None])
def test_an_own_recording_or_an_empty_folder_is_replaced(tmp_path, before, chosen):
    """Folders of every format may take the place of each other and of an empty one."""
    folder = tmp_path / "p"
    write_dataset(SmallDataset(2), folder, before) if before else folder.mkdir()
    write_dataset(SmallDataset(3), folder, chosen, overwrite=True)
    assert open_dataset(folder).info().num_scans == 3
    assert sorted(tmp_path.iterdir()) == [folder, tmp_path / "p.gt.tum"]


def test_files_and_folders_do_not_replace_each_other(tmp_path):
    """A bag file is not put in place of a folder, nor a folder in place of a file."""
    (tmp_path / "d.mcap").mkdir()
    (tmp_path / "p").write_text("precious")
    (tmp_path / "q.gt.tum").mkdir()
    for name, chosen in (("d.mcap", None), ("p", "kitti"), ("q.bag", None)):
        with pytest.raises(InputError, match=r"no file|not a folder"):
            write_dataset(SmallDataset(2), tmp_path / name, chosen, overwrite=True)
    assert (tmp_path / "d.mcap").is_dir()
    assert (tmp_path / "p").read_text() == "precious"
    assert len(list(tmp_path.iterdir())) == 3


def test_links_are_followed_and_stay_links(tmp_path):
    """Writing over a link, to a file or a folder, replaces what it leads to."""
    (tmp_path / "disk").mkdir()
    for name, chosen in (("a.bag", None), ("b", "kitti")):
        write_dataset(SmallDataset(2), tmp_path / "disk" / name, chosen)
        (tmp_path / name).symlink_to(tmp_path / "disk" / name)
        write_dataset(SmallDataset(3), tmp_path / name, chosen, overwrite=True)
        assert (tmp_path / name).is_symlink()
        assert open_dataset(tmp_path / "disk" / name).info().num_scans == 3


def test_a_pipe_is_not_replaced_by_a_bag(tmp_path):
    """A recording cannot be streamed, so a pipe in its place is refused and stays."""
    os.mkfifo(tmp_path / "a.bag")
    with pytest.raises(InputError, match="no file"):
        write_dataset(SmallDataset(2), tmp_path / "a.bag", overwrite=True)
    assert (tmp_path / "a.bag").is_fifo()


def test_the_same_measurements_in_two_formats_share_their_ground_truth(tmp_path):
    """a.bag beside a.mcap is fine if the truth is the same, and refused if it is another's."""
    write_dataset(SmallDataset(2), tmp_path / "a.mcap")
    write_dataset(SmallDataset(2), tmp_path / "a.bag")
    (tmp_path / "a.bag").unlink()
    with pytest.raises(InputError, match=r"a\.gt\.tum: it exists already"):
        write_dataset(SmallDataset(3), tmp_path / "a.bag")
    assert not (tmp_path / "a.bag").exists()


@pytest.mark.parametrize("chosen", FOLDERS)
def test_the_present_folder_can_be_named_by_a_dot(tmp_path, monkeypatch, chosen):
    """A dot stands for the folder one is in, for writing and for reading."""
    write_dataset(SmallDataset(2), tmp_path / "here", chosen)
    monkeypatch.chdir(tmp_path / "here")
    write_dataset(SmallDataset(3), ".", chosen, overwrite=True)
    monkeypatch.chdir(tmp_path / "here")
    dataset = open_dataset(".")
    assert dataset.info().num_scans == 3
    assert dataset.name == open_dataset(tmp_path / "here").name
    assert dataset.ground_truth is not None


def test_a_kitti_folder_says_what_it_was_made_of(tmp_path):
    """Scans written as KITTI are not taken for compensated scans of KITTI's own LiDAR."""
    write_dataset(SmallDataset(2), tmp_path / "a", "kitti")
    write_dataset(SmallDataset(2, times=False), tmp_path / "b", "kitti")
    for name, words in (("a", "distorted by the motion"), ("b", "not known")):
        info = open_dataset(tmp_path / name).info()
        (said,) = [entry for entry in info.findings if entry.what == "motion distortion"]
        assert words in said.value
        assert info.sensor == ""
    (tmp_path / "a" / "svnicp.yaml").write_text("sensor: VLP-16\n")
    assert open_dataset(tmp_path / "a").info().sensor == "VLP-16"
