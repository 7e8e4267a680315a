# SPDX-License-Identifier: MIT
"""Rerun's viewer as a process of its own, which listens where it is told to and may die alone.

It is started by its own program, and not through the SDK, because only that can be kept to the
loopback address. It ends with the program that started it, however that ends, unless it may stay.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import NoReturn

LOOPBACK = "127.0.0.1"
EVERYWHERE = ("0.0.0.0", "::")
START_S = 20.0
"""A viewer that does not listen after this time will not [s]."""
SETTLE_S = 1.5
"""A window that cannot open is noticed within this time after its process listens [s]."""
END_S = 5.0
ENDS_WITH_RUN = Path(__file__).with_name("ends_with_run.py")
"""Program that runs rerun's and ends with this one."""


class ViewerError(Exception):
    """A viewer cannot be started; the message says why."""


class ViewerProcess:
    """A viewer that runs, and listens for what is to be seen.

    Parameters
    ----------
    options
        Options of rerun's program.
    host, port
        Where it listens for data.
    stays
        Whether it may outlive the program that starts it.

    Raises
    ------
    ViewerError
        If it does not come up.
    """

    def __init__(
        self, options: Sequence[str], host: str, port: int, *, stays: bool = False
    ) -> None:
        self._printed = TemporaryFile()  # noqa: SIM115
        program = ["-m", "rerun_cli"] if stays else [str(ENDS_WITH_RUN)]
        self._process = subprocess.Popen(
            [sys.executable, *program, "--bind", host, "--port", str(port), *options],
            stdin=subprocess.DEVNULL if stays else subprocess.PIPE, stdout=self._printed,
            stderr=subprocess.STDOUT, start_new_session=True,
            env={**os.environ, "NO_COLOR": "1", "RUST_LOG": "warn"},
        )  # fmt: skip
        self.address = near_address(host, port)
        self._wait(near_host(host), port)

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    def settle(self) -> None:
        """Wait a moment, and raise a ViewerError if it dies in it."""
        end = time.monotonic() + SETTLE_S
        while time.monotonic() < end:
            if not self.alive:
                self._fail(self.last_words())
            time.sleep(0.05)

    def end(self) -> None:
        """End it, if it still runs."""
        if self.alive:
            self._signal(signal.SIGTERM)
            try:
                self._process.wait(END_S)
            except subprocess.TimeoutExpired:
                self._signal(getattr(signal, "SIGKILL", signal.SIGTERM))
                self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._printed.close()

    def _signal(self, number: int) -> None:
        """Send a signal to the process and to what it started."""
        if hasattr(os, "killpg"):
            os.killpg(self._process.pid, number)
        else:
            self._process.terminate()

    def last_words(self) -> str:
        """Return the last line that it printed."""
        self._printed.seek(0)
        text = self._printed.read().decode("utf-8", errors="replace")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return lines[-1][:160] if lines else "it said nothing"

    def _wait(self, host: str, port: int) -> None:
        """Wait until it listens."""
        end = time.monotonic() + START_S
        while self.alive and time.monotonic() < end:
            try:
                with socket.create_connection((host, port), 1.0):
                    return
            except OSError:
                time.sleep(0.05)
        self._fail(f"it does not listen on port {port}" if self.alive else self.last_words())

    def _fail(self, words: str) -> NoReturn:
        """Tidy up and say why."""
        self.end()
        raise ViewerError(words)


def near_host(host: str) -> str:
    """Return the address by which this machine reaches a host that listens there."""
    return LOOPBACK if host in EVERYWHERE else host


def near_address(host: str, port: int) -> str:
    """Return where this machine sends its data to."""
    return f"rerun+http://{bracketed(near_host(host))}:{port}/proxy"


def bracketed(host: str) -> str:
    """Return a host as it is written in an address."""
    return f"[{host}]" if ":" in host else host


def free_port(host: str = LOOPBACK) -> int:
    """Return a port on which nobody listens now."""
    with socket.create_server((host, 0), family=_family(host)) as server:
        return int(server.getsockname()[1])


def check_free(host: str, *ports: int) -> None:
    """Raise a ViewerError if one of these ports cannot be listened on."""
    for port in ports:
        try:
            socket.create_server((host, port), family=_family(host)).close()
        except OSError as error:
            reason = error.strerror or str(error)
            raise ViewerError(f"port {port} on {host} cannot be used ({reason})") from None


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET
