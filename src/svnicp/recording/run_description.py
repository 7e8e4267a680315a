# SPDX-License-Identifier: MIT
"""``run.yaml``: what a run was made with, and how far it came; enough to make it again.

It is written when the run starts, with the state "running", and again when it ends; a run that was
killed still says "running".
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import yaml

from svnicp import __version__
from svnicp.config.build import load_yaml
from svnicp.errors import DatasetError
from svnicp.recording.appear_whole import appear_whole

FILE_NAME = "run.yaml"

RUNNING = "running"
FINISHED = "finished"
INTERRUPTED = "interrupted"


@dataclass(frozen=True, kw_only=True)
class RunDescription:
    """What a run was made with, and how far it came."""

    data: str
    """The dataset: a path, or the name of a scenario."""
    command: str = ""
    """The command line that makes the run again."""
    seed: int = 0
    """Seed of the particles."""
    config: Mapping[str, Any] = field(default_factory=dict)
    """All parameters, as ``Config.to_dict`` gives them."""
    more: Mapping[str, Any] = field(default_factory=dict)
    """Anything else worth knowing, such as extrinsics or the IMU's noise; plain YAML values."""
    version: str = __version__
    """Version of svnicp."""
    state: str = RUNNING
    """``running``, ``finished`` or ``interrupted``; a killed run says ``running``."""
    started: str = ""
    """When it started, in UTC."""
    ended: str = ""
    """When it ended, in UTC."""
    num_scans: int = 0
    """Number of estimates that were written, once it has ended."""

    def at_start(self) -> "RunDescription":
        """Return the description of a run that starts now."""
        return replace(self, state=RUNNING, started=self.started or _now(), ended="")

    def at_end(self, state: str, num_scans: int) -> "RunDescription":
        """Return the description of a run that ends now."""
        return replace(self, state=state, ended=_now(), num_scans=num_scans)

    def write(self, folder: Path) -> None:
        """Write the file in one step."""
        content = {"svnicp": self.version, **self.__dict__}
        del content["version"]
        for name in ("config", "more"):
            content[name] = dict(content[name])
        text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
        with appear_whole(folder / FILE_NAME) as place:
            place.write_text(text, encoding="utf-8")


def read_description(folder: Path) -> RunDescription:
    """Read the ``run.yaml`` of a run.

    Raises
    ------
    DatasetError
        If there is none, or it is not what a run writes.
    """
    path = folder / FILE_NAME
    try:
        content = load_yaml(path.read_text(encoding="utf-8"))
        there = RunDescription(version=content.pop("svnicp"), **content)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise DatasetError(
            f"{path}: the file cannot be read ({reason}); is this the folder of a run?"
        ) from None
    except (yaml.YAMLError, UnicodeDecodeError, AttributeError, KeyError, TypeError):
        raise DatasetError(f"{path}: this is not the run.yaml of a run.") from None
    for part in dataclasses.fields(there):
        kind = Mapping if part.name in {"config", "more"} else int if part.type is int else str
        if not isinstance(getattr(there, part.name), kind):
            raise DatasetError(
                f"{path}: {part.name} is not what a run writes there; start the run again."
            )
    return there


def _now() -> str:
    return datetime.now(tz=timezone.utc).isoformat(timespec="seconds")
