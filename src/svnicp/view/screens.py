# SPDX-License-Identifier: MIT
"""What a run can be seen on: a window here, a page in a browser, a file for later.

Each is a stream of its own, so that one that goes away takes nothing from the others.
"""

import os
import socket
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from svnicp.view.layout import layout
from svnicp.view.sdk import Stream, rerun
from svnicp.view.viewer_process import (
    EVERYWHERE,
    LOOPBACK,
    ViewerError,
    ViewerProcess,
    bracketed,
    check_free,
    free_port,
    near_address,
)

APPLICATION = "svnicp"
FLUSH_S = 10.0
"""How long the end of a run waits until a screen has everything [s]."""


@dataclass(frozen=True, eq=False)
class Screen:
    """Something that a run is drawn on."""

    name: str
    """For sentences about it."""
    stream: Stream
    process: ViewerProcess | None = None
    stays: bool = False
    """Whether it is left to the user when the run has ended."""
    address: str = ""
    """Where to look at it, if not here."""

    @property
    def alive(self) -> bool:
        """Whether it can still be seen."""
        return self.process is None or self.process.alive

    def close(self) -> None:
        """Hand over what is left and let go of it."""
        if self.alive:
            self.stream.flush(timeout_sec=FLUSH_S)
        self.stream.disconnect()
        self.let_go()

    def let_go(self) -> None:
        """End its process, unless that is a window for the user to look at."""
        if self.process is not None and not (self.stays and self.alive):
            self.process.end()


def window_screen(name: str, *, imu: bool) -> Screen:
    """Open a window; it stays when the run has ended.

    Raises
    ------
    ViewerError
        If there is no display, or the window does not open.
    """
    if not has_display():
        raise ViewerError("there is no display")
    port = free_port()
    options = ["--hide-welcome-screen", "--expect-data-soon"]
    process = ViewerProcess(options, LOOPBACK, port, stays=True)
    process.settle()
    stream = _stream(name)
    stream.connect_grpc(process.address, default_blueprint=layout(imu=imu))
    return Screen("the window", stream, process, stays=True)


def web_screen(name: str, host: str, port: int, *, imu: bool) -> Screen:
    """Serve a page on a port, and what it shows on the next port.

    Raises
    ------
    ViewerError
        If a port is taken, or the server does not come up.
    """
    check_free(host, port, port + 1)
    options = ["--serve-web", "--web-viewer-port", str(port)]
    options += ["--cors-allow-origin", f"http://*:{port}"]
    process = ViewerProcess(options, host, port + 1)
    stream = _stream(name)
    stream.connect_grpc(process.address, default_blueprint=layout(imu=imu))
    return Screen("the page", stream, process, address=page_address(host, port))


def file_screen(name: str, path: Path, *, imu: bool) -> Screen:
    """Write everything to an .rrd file, for ``rerun FILE``.

    Raises
    ------
    ViewerError
        If it cannot be written to.
    """
    stream = _stream(name)
    try:
        stream.save(path, default_blueprint=layout(imu=imu))
    except RuntimeError as error:  # the SDK has no other
        raise ViewerError(str(error).splitlines()[0]) from None
    return Screen(str(path), stream)


def page_address(host: str, port: int) -> str:
    """Return the address to open in a browser; elsewhere, this machine goes by its name."""
    seen = socket.gethostname() if host in EVERYWHERE else host
    data = near_address(seen, port + 1)
    return f"http://{bracketed(seen)}:{port}/?url={quote(data, safe='')}"


def has_display() -> bool:
    """Whether a window could be opened here."""
    if sys.platform in {"darwin", "win32"}:
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _stream(name: str) -> Any:  # noqa: ANN401
    stream = rerun().RecordingStream(APPLICATION)
    stream.send_recording_name(name)
    stream.set_log_time_enabled(False)
    stream.set_log_tick_enabled(False)
    return stream
