# SPDX-License-Identifier: MIT
"""Torch is imported when its backend is asked for, and only then."""

import subprocess
import sys

import pytest

from svnicp.config import BackendConfig
from svnicp.errors import MissingExtraError
from svnicp.registration.backend import make_backend

pytest.importorskip("torch", reason="pip install 'svnicp[torch]' to run this")


def test_a_missing_torch_says_how_to_install_it(monkeypatch):
    """Without torch, asking for its backend gives the command that installs it."""
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "svnicp.registration.torch_backend", raising=False)
    with pytest.raises(MissingExtraError, match=r'torch backend .* pip install "svnicp\[torch\]"'):
        make_backend(BackendConfig(name="torch"))


def test_torch_is_imported_only_on_request():
    """Importing the package and using its compiled backend leaves torch alone."""
    code = (
        "import sys; import svnicp.registration as r; from svnicp.config import BackendConfig\n"
        "from svnicp.registration.backend import make_backend\n"
        "make_backend(BackendConfig()); assert 'torch' not in sys.modules\n"
        "make_backend(BackendConfig(name='torch')); assert 'torch' in sys.modules\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
