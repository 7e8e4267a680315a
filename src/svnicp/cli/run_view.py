# SPDX-License-Identifier: MIT
"""The viewer of ``svnicp run``: opened before the run, told about, and let go of after it.

A viewer that cannot be opened is one warning, and the run goes on. A page that is served on a port
is served until Ctrl-C where there is a terminal, so that the end of the run can be looked at.
"""

import logging
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from svnicp.cli.output_files import check_writable
from svnicp.cli.run import RunCommand
from svnicp.cli.run_inputs import RunInputs
from svnicp.errors import InputError
from svnicp.view import RunViewer, Screen, file_screen, web_screen, window_screen
from svnicp.view.sdk import rerun
from svnicp.view.viewer_process import LOOPBACK, ViewerError

log = logging.getLogger(__name__)

LOCAL = ("127.", "::1", "localhost")
"""How addresses begin that only this machine reaches."""


@contextmanager
def viewing(command: RunCommand, inputs: RunInputs, told: Console) -> Iterator[Sequence[RunViewer]]:
    """Open what a command asks to be seen on; yields who listens to the run.

    Raises
    ------
    MissingExtraError
        If rerun is not installed.
    InputError
        If the file cannot be written.
    """
    if command.view is None and command.save_view is None:
        yield ()
        return
    rerun()
    if command.save_view is not None:
        check_writable(command.save_view)
    viewer = RunViewer(_screens(command, inputs, told), inputs.dataset.T_body_lidar, inputs.truth)
    try:
        yield (viewer,)
    finally:
        viewer.close()


def _screens(command: RunCommand, inputs: RunInputs, told: Console) -> Iterator[Screen]:
    """Open the screens that can be opened."""
    name, imu = inputs.dataset.name, inputs.imu is not None
    if command.save_view is not None:
        yield _file(name, command.save_view, imu=imu)
        told.print(f"viewer: rerun {command.save_view} shows the run, also while it goes")
    if command.view == "window":
        yield from _opened(lambda: window_screen(name, imu=imu), "--view web serves a page instead")
    if command.view == "web":
        host, port = command.view_host or LOOPBACK, command.view_port
        found = _opened(lambda: web_screen(name, host, port, imu=imu), "try another --view-port")
        for screen in found:
            told.print(f"viewer: {screen.address}")
            told.print(f"  {reach_in_words(host)}; data on port {port + 1}", style="dim")
            yield screen


def _file(name: str, path: Path, *, imu: bool) -> Screen:
    """Open the file that was asked for, which must work."""
    try:
        return file_screen(name, path, imu=imu)
    except ViewerError as error:
        raise InputError(f"{path}: the file cannot be written ({error}); choose another.") from None


def reach_in_words(host: str) -> str:
    """Say who can look at what is served."""
    if host.startswith(LOCAL):
        return "seen from this machine only; --view-host ADDRESS lets others in"
    return f"served on {host}: whoever reaches it can look, without a password"


def _opened(opening: Callable[[], Screen], hint: str) -> list[Screen]:
    """Return the screen, or none and a warning."""
    try:
        return [opening()]
    except ViewerError as error:
        log.warning("the viewer could not be opened: %s; the run goes on, and %s.", error, hint)
        return []


def hold(viewers: Sequence[RunViewer], told: Console) -> None:
    """Keep a page up until Ctrl-C, where someone can press it."""
    pages = [screen for viewer in viewers for screen in viewer.screens if screen.address]
    if not pages or not sys.stdin.isatty() or not told.is_terminal:
        return
    told.print(f"the viewer stays at {pages[0].address} until Ctrl-C")
    try:
        while pages[0].alive:
            time.sleep(0.2)
    except KeyboardInterrupt:
        return
