# SPDX-License-Identifier: MIT
"""A real browser without a window, driven through its DevTools protocol over a WebSocket.

It opens pages, runs script in them, moves the mouse, prints and takes pictures, and keeps
everything that a page complains about.
"""

import base64
import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import websocket

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
COMPLAINTS = ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled")
START_S, ANSWER_S = 30.0, 60.0


def browser_path() -> str | None:
    """Return where the browser is; None if there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Tab:
    """One page of the browser."""

    def __init__(self, address: str) -> None:
        self._socket = websocket.create_connection(address, timeout=ANSWER_S, suppress_origin=True)
        self._number = 0
        self.events: list[dict[str, Any]] = []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """Ask the browser for something and wait for its answer."""
        self._number += 1
        request = {"id": self._number, "method": method, "params": parameters}
        self._socket.send(json.dumps(request))
        while True:
            message = json.loads(self._socket.recv())
            if message.get("id") == self._number:
                assert "error" not in message, message["error"]
                return message["result"]
            self.events.append(message)

    def run(self, script: str) -> Any:
        """Return the value of a script, or of the promise that it gives."""
        answer = self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def open(
        self, page: Path, *, width: int = 1400, height: int = 1000, dark: bool = False
    ) -> None:
        """Load a file and wait until its plots are drawn."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        self.scheme(dark=dark)
        self.call("Page.navigate", url=page.resolve().as_uri())
        self.wait("document.documentElement?.dataset.ready === 'yes'")

    def scheme(self, *, dark: bool) -> None:
        """Prefer dark or light."""
        feature = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[feature])

    def wait(self, condition: str) -> None:
        """Wait until a condition holds on the page."""
        end = time.monotonic() + ANSWER_S
        while not self.run(condition):
            assert time.monotonic() < end, f"never: {condition}"
            time.sleep(0.05)

    def mouse(self, kind: str, x: float, y: float) -> None:
        """Move the mouse, press or release its button at a place of the window."""
        button = {} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **button)

    def picture(self) -> bytes:
        """PNG of the whole page."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        shot = self.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
        return base64.b64decode(shot["data"])

    def pdf(self) -> bytes:
        """Return the page as it is printed."""
        printed = self.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)
        return base64.b64decode(printed["data"])

    def complaints(self) -> list[str]:
        """Errors and warnings of the page so far."""
        self.run("0")
        found = []
        for event in self.events:
            if event.get("method") in COMPLAINTS:
                params = event["params"]
                level = params.get("type") or params.get("entry", {}).get("level")
                if level not in {"log", "info", "debug", "verbose"}:
                    found.append(json.dumps(params))
        return found

    def requests(self) -> list[str]:
        """Addresses that the page has asked for."""
        sent = [e for e in self.events if e.get("method") == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]


@contextmanager
def browser(profile: Path) -> Iterator[Tab]:
    """Start the browser with a new profile; yields its one page."""
    path = browser_path()
    assert path is not None
    flags = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--hide-scrollbars", "--disable-extensions",
             "--disable-background-networking",
             "--remote-debugging-port=0", f"--user-data-dir={profile}", "about:blank")  # fmt: skip
    process = subprocess.Popen([path, *flags], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        port = _port(profile / "DevToolsActivePort")
        with urlopen(f"http://127.0.0.1:{port}/json/list", timeout=START_S) as answer:
            pages = [one for one in json.load(answer) if one["type"] == "page"]
        tab = Tab(pages[0]["webSocketDebuggerUrl"])
        yield tab
        tab._socket.close()
    finally:
        process.terminate()
        process.wait(timeout=START_S)


def _port(file: Path) -> int:
    """Port at which the browser listens, once it says so."""
    end = time.monotonic() + START_S
    while not file.is_file() or not file.read_text():
        assert time.monotonic() < end, "the browser did not start"
        time.sleep(0.05)
    return int(file.read_text().split()[0])
