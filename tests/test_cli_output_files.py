# SPDX-License-Identifier: MIT
"""Where the text of ``--json`` ends up: files, links, pipes, and outputs that are full."""

import os
import threading
from pathlib import Path

import pytest

from svnicp.cli.output_files import check_writable, write_text
from svnicp.errors import InputError


def test_a_link_stays_and_its_file_gets_the_text(tmp_path):
    """What a link leads to is replaced, even across folders and where it is not there yet."""
    (tmp_path / "disk").mkdir()
    for name in ("old", "new"):
        real, link = tmp_path / "disk" / f"{name}.json", tmp_path / f"{name}.json"
        link.symlink_to(real)
        if name == "old":
            real.write_text("before")
        check_writable(link)
        write_text(link, "text\n")
        assert link.is_symlink()
        assert real.read_text() == "text\n"
    assert len(list((tmp_path / "disk").iterdir())) == 2


def test_a_pipe_is_written_to(tmp_path):
    """The reader of a named pipe gets the text, and the pipe is still one afterwards."""
    pipe, got = tmp_path / "pipe", []
    os.mkfifo(pipe)
    check_writable(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()), daemon=True)
    reader.start()
    write_text(pipe, "text\n")
    reader.join(10.0)
    assert got == ["text\n"]
    assert pipe.is_fifo()


def test_a_link_into_nowhere_is_refused_before_the_work(tmp_path):
    """A link into a folder that is not there cannot be written, and that is said at once."""
    (tmp_path / "link").symlink_to(Path("nowhere") / "a.json")
    with pytest.raises(InputError, match="create it first"):
        check_writable(tmp_path / "link")
