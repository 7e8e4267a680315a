# SPDX-License-Identifier: MIT
"""Where the real recordings are. They are not part of the repository; tests skip without them."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Folder of the real recordings: SVNICP_REAL_DATA, or shared/data beside the repository."""
    named = os.environ.get("SVNICP_REAL_DATA")
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no real recordings in {folder}; set SVNICP_REAL_DATA to their folder")
    return folder
