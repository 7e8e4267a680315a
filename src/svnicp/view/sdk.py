# SPDX-License-Identifier: MIT
"""Access to rerun's SDK, which is an extra, and the part of its streams that is used here."""

import os
from types import ModuleType
from typing import Protocol

from svnicp.extras import require


class Stream(Protocol):
    """What is drawn goes in here: rerun's RecordingStream."""

    def log(self, entity_path: str, *entity: object, static: bool = False) -> None:
        """Put something at a place in the tree of entities, at the present time."""
        ...

    def set_time(
        self, timeline: str, *, sequence: int | None = None, duration: float | None = None
    ) -> None:
        """Say what time it is on a timeline: a number, or seconds."""
        ...

    def flush(self, *, timeout_sec: float) -> None:
        """Wait until everything has arrived."""
        ...

    def disconnect(self) -> None:
        """Close connections and files."""
        ...


def rerun() -> ModuleType:
    """Return the SDK, or raise a MissingExtraError.

    Its own log, which would run over several lines when a viewer goes away, is off unless the user
    has asked for it: what happened becomes one sentence of ours.
    """
    os.environ.setdefault("RUST_LOG", "off")
    return require("rerun", "view", "The viewer")


def blueprint() -> ModuleType:
    """Return the part of the SDK that arranges views."""
    rerun()
    return require("rerun.blueprint", "view", "The viewer")
