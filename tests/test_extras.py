# SPDX-License-Identifier: MIT
"""A missing optional dependency is one line with the command that installs it."""

import json
from pathlib import Path

import pytest

from svnicp.errors import MissingExtraError, SvnicpError
from svnicp.extras import require


def test_an_installed_module_is_returned():
    """What is installed comes back as the module itself."""
    assert require("json", "torch", "The test") is json


def test_a_submodule_is_returned_itself():
    """A dotted name gives the submodule, not its package."""
    assert require("json.decoder", "torch", "The test") is json.decoder


@pytest.mark.parametrize("module", ["no_such_module", "no_such_module.part", "json.no_such_part"])
def test_a_missing_module_names_the_purpose_and_the_command(module: str):
    """The message is one line: what needs the module, and the exact command."""
    with pytest.raises(MissingExtraError) as caught:
        require(module, "torch", "The torch backend")
    assert str(caught.value) == (
        f'The torch backend needs {module}, which is not installed: pip install "svnicp[torch]"'
    )
    assert isinstance(caught.value, SvnicpError)
    assert isinstance(caught.value, ImportError)
    assert caught.value.__suppress_context__


def test_a_broken_module_is_not_called_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A module that is there and fails to import another one raises that error unchanged."""
    (tmp_path / "broken_extra.py").write_text("import no_such_dependency\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="no_such_dependency") as caught:
        require("broken_extra", "torch", "The torch backend")
    assert not isinstance(caught.value, MissingExtraError)
