# SPDX-License-Identifier: MIT
"""One piece of work: a kind and its inputs, plain values both, and a key that is a hash of them.

The inputs decide the result, so that a result on disk with the same key needs no second run. Kinds
are dotted names of functions from inputs to a result; a worker on another machine imports them.
"""

import hashlib
import importlib
import json
import platform
import time
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

import svnicp

FORMAT = 2
"""Changes when results that are on disk no longer mean the same."""

NOT_DECISIVE = frozenset({"cli", "peers", "report", "recording", "studies"})
"""Parts of the package that only show what the others compute."""


@dataclass(frozen=True, eq=False)
class Job:
    """What is to be computed."""

    kind: str
    """Dotted name of the function, such as ``svnicp.studies.drive.drive``."""
    inputs: dict[str, Any]
    """Its keyword arguments; JSON values."""
    words: str
    """What it is, for people; decides nothing."""

    @cached_property
    def key(self) -> str:
        """Hash of everything that decides the result, and of the package's version."""
        decides = [FORMAT, svnicp.__version__, self.kind, self.inputs]
        text = json.dumps(decides, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:20]


def run_job(kind: str, inputs: dict[str, Any]) -> dict[str, Any]:
    """Compute a job; returns the record that is kept: result, time, and where it was made."""
    module, _, name = kind.rpartition(".")
    function = getattr(importlib.import_module(module), name)
    start = time.perf_counter()
    result = function(**inputs)
    return {
        "result": result,
        "seconds": round(time.perf_counter() - start, 3),
        "code": code_digest(),
        "versions": {"python": platform.python_version(), "numpy": np.__version__,
                     "svnicp": svnicp.__version__},
    }  # fmt: skip


@cache
def code_digest() -> str:
    """Hash of the sources that decide numbers: tables name it, so that mixed results show."""
    digest, root = hashlib.sha256(), Path(svnicp.__file__).parent
    for source in sorted(root.rglob("*.py")):
        if source.relative_to(root).parts[0] not in NOT_DECISIVE:
            digest.update(source.read_bytes())
    return digest.hexdigest()[:8]
