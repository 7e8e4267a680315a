# SPDX-License-Identifier: MIT
"""The viewer: what a run draws is read back with rerun's own reader, and no viewer ends a run."""

import contextlib
import logging
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import numpy as np
import pytest
from numpy.testing import assert_allclose

from browser import browser, browser_path
from recording_inputs import START_NS, make_estimate
from svnicp.cli import __main__ as cli
from svnicp.cli.run import RunCommand, contradictions, with_view_named
from svnicp.cli.run_view import reach_in_words
from svnicp.data.measurements import Scan
from svnicp.data.trajectory import Trajectory
from svnicp.evaluation import read_run
from svnicp.evaluation.truth_file import Truth
from svnicp.lie import se3_exp, se3_inverse
from svnicp.odometry import Odometry
from svnicp.view import RunViewer, Screen, file_screen, web_screen, window_screen
from svnicp.view.screens import page_address
from svnicp.view.viewer_process import ViewerError, free_port

os.environ.setdefault("RUST_LOG", "off")  # as svnicp.view does, before the first import
rerun_chunk = pytest.importorskip("rerun.chunk", reason="rerun is not installed")

ROOM = ["run", "room", "--max-scans", "11", "--duration", "1.3", "--quiet"]


class Drawn:
    """What is in an .rrd file."""

    def __init__(self, path: Path) -> None:
        reader = rerun_chunk.RrdReader(path)
        self.num_blueprints = len(reader.blueprints())
        chunks = [chunk for chunk in reader.stream() if not chunk.is_empty]
        self.rows = Counter[str]()
        self.static: set[str] = set()
        self._batches: dict[str, list] = {}
        for chunk in chunks:
            if chunk.is_static:
                self.static.add(chunk.entity_path)
                continue
            self.rows[chunk.entity_path] += chunk.num_rows
            self._batches.setdefault(chunk.entity_path, []).append(chunk.to_record_batch())

    def values(self, entity: str, component: str) -> list[np.ndarray]:
        """Return the values of a component of an entity, one array for each time."""
        found = []
        for batch in self._batches[entity]:
            (name,) = [name for name in batch.schema.names if name.endswith(component)]
            order = np.argsort(np.array(batch.column("scan")))
            rows = batch.column(name).to_pylist()
            found += [(int(batch.column("scan")[int(i)].as_py()), rows[int(i)]) for i in order]
        return [np.array(row) for _, row in sorted(found, key=lambda pair: pair[0])]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Drawn]:
    """Return the folder of a short run, and what its viewer was shown."""
    folder = tmp_path_factory.mktemp("seen")
    file = folder / "room.rrd"
    assert cli.main([*ROOM, "--out", str(folder / "run"), "--save-view", str(file)]) == 0
    return folder / "run", Drawn(file)


@pytest.fixture
def scan() -> Scan:
    """Return a scan of a few points."""
    return Scan(START_NS, np.random.default_rng(1).uniform(2.0, 9.0, (50, 3)))


def test_a_run_is_drawn_whole(seen):
    """Every scan has its cloud, body, way, particles, ellipsoid and curves; the map comes first."""
    folder, drawn = seen
    count = len(read_run(folder))
    assert count == 6
    each = ["/world/body", "/world/body/scan", "/world/way", "/world/body/weak",
            "/world/body/particles_x10", "/world/body/three_sigma_x10", "/plots/sigma_position",
            "/plots/sigma_rotation", "/plots/bias_gyroscope", "/plots/bias_accelerometer",
            "/plots/time/register"]  # fmt: skip
    assert {entity: drawn.rows[entity] for entity in each} == dict.fromkeys(each, count)
    assert drawn.rows["/plots/nis"] == count - 1
    assert drawn.rows["/world/map"] == 1
    assert drawn.rows["/world/three_sigma_x10"] == 1
    assert "/world/truth" in drawn.static
    assert drawn.num_blueprints == 1


def test_what_is_drawn_is_what_the_files_say(seen):
    """Sigmas, places and ellipsoids are those of the run's own files."""
    folder, drawn = seen
    record = read_run(folder)
    assert record.absolute is not None
    sigmas = np.sqrt(np.diagonal(record.absolute, axis1=1, axis2=2))
    shown = np.array(drawn.values("/plots/sigma_position", "Scalars:scalars"))
    assert_allclose(shown, 1e3 * sigmas[:, :3], rtol=1e-5)
    places = np.array(drawn.values("/world/body", "Transform3D:translation"))[:, 0]
    assert_allclose(places, record.trajectory.T_world_body[:, :3, 3], atol=1e-5)
    halves = drawn.values("/world/body/three_sigma_x10", "Ellipsoids3D:half_sizes")[-1]
    largest = np.sqrt(np.linalg.eigvalsh(record.absolute[-1, :3, :3]))
    assert_allclose(np.sort(halves[0]), 30.0 * largest, rtol=1e-3)


def test_weak_directions_particles_and_truth_are_in_their_places(tmp_path: Path, scan: Scan):
    """Arrows go both ways along what is weak, particles surround the body, the truth its start."""
    first, second = make_estimate(0), make_estimate(1)
    T_true_world = se3_exp(np.array([5.0, 1.0, 0.0, 0.0, 0.0, 1.0]))
    poses = T_true_world @ np.stack([first.T_world_body, second.T_world_body])
    truth = Truth(Trajectory(np.array([first.stamp_ns, second.stamp_ns]), poses), np.eye(4))
    file = tmp_path / "made.rrd"
    viewer = RunViewer([file_screen("made", file, imu=True)], np.eye(4), truth)
    for estimate in (first, second):
        viewer.on_estimate(estimate, scan, Odometry())
    viewer.close()
    drawn = Drawn(file)
    arrows = drawn.values("/world/body/weak", "Arrows3D:vectors")
    assert arrows[0].size == 0
    assert_allclose(arrows[1], [[3.0, 0.0, 0.0], [-3.0, 0.0, 0.0]], atol=1e-6)
    particles = drawn.values("/world/body/particles_x10", "Points3D:positions")[1]
    assert second.particles is not None
    offsets = (se3_inverse(second.T_world_body) @ second.particles)[:, :3, 3]
    assert_allclose(particles, 10.0 * offsets, atol=1e-5)
    (static,) = [c for c in rerun_chunk.RrdReader(file).stream() if c.entity_path == "/world/truth"]
    batch = static.to_record_batch()
    (name,) = [name for name in batch.schema.names if name.endswith("strips")]
    strip = np.array(batch.column(name)[0].as_py()[0])
    assert_allclose(strip[1], second.T_world_body[:3, 3], atol=1e-5)


def test_without_a_display_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """``--view`` on a machine without a display is one warning, and the run is all there."""
    monkeypatch.setattr("sys.platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    words = [
        "run",
        "room",
        "--no-imu",
        "--max-scans",
        "2",
        "--quiet",
        "--view",
        "--out",
        str(tmp_path / "run"),
    ]
    assert cli.main(words) == 0
    assert capsys.readouterr().err == (
        "svnicp: warning: the viewer could not be opened: there is no display; the run goes on, "
        "and --view web serves a page instead.\n"
    )
    assert len(read_run(tmp_path / "run")) == 2


def test_a_display_that_is_none_is_a_viewer_error(monkeypatch: pytest.MonkeyPatch):
    """A window that cannot open, or that opens and dies, never raises anything else."""
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("DISPLAY", ":987")
    with contextlib.suppress(ViewerError):
        screen = window_screen("none", imu=False)
        end = time.monotonic() + 20.0
        while screen.alive and time.monotonic() < end:
            time.sleep(0.1)
        assert not screen.alive
        screen.close()


@pytest.fixture
def page() -> Iterator[tuple[Screen, int]]:
    """Yield a page that is served on this machine, and its port."""
    for _ in range(5):  # the next port may be taken
        port = free_port()
        with contextlib.suppress(ViewerError):
            screen = web_screen("page", "127.0.0.1", port, imu=False)
            break
    else:
        pytest.fail("no two free ports in a row")
    yield screen, port
    assert screen.process is not None
    screen.process.end()


def test_a_page_that_dies_takes_nothing_with_it(
    page: tuple[Screen, int], tmp_path: Path, scan: Scan, caplog: pytest.LogCaptureFixture
):
    """The page is served on loopback; killed in the middle it is one warning, the file goes on."""
    screen, port = page
    assert screen.process is not None
    with urlopen(screen.address, timeout=10.0) as answer:
        assert b"Rerun" in answer.read()
    with pytest.raises(ViewerError, match=f"port {port} on 127.0.0.1 cannot be used"):
        web_screen("second", "127.0.0.1", port, imu=False)
    other = _own_address()
    if other is not None:
        with pytest.raises(OSError, match="refused"):
            socket.create_connection((other, port), 2.0)
    file = tmp_path / "kept.rrd"
    viewer = RunViewer([screen, file_screen("kept", file, imu=True)], np.eye(4))
    odometry = Odometry()
    viewer.on_estimate(make_estimate(0), scan, odometry)
    os.killpg(screen.process._process.pid, signal.SIGKILL)
    screen.process._process.wait(10.0)
    with caplog.at_level(logging.WARNING):
        for index in range(1, 4):
            viewer.on_estimate(make_estimate(index), scan, odometry)
        viewer.close()
    assert [record.getMessage() for record in caplog.records] == [
        "the page shows nothing any more (it has ended); the run goes on."
    ]
    assert Drawn(file).rows["/world/body"] == 4


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs the signals of POSIX")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"])
def test_no_signal_leaves_a_page_behind(name: str, tmp_path: Path):
    """However the program that serves a page is ended, its viewer ends too and leaves no file."""
    script = """
import sys, time
from svnicp.view import web_screen
from svnicp.view.viewer_process import ViewerError, free_port
for _ in range(5):  # the next port may be taken
    port = free_port()
    try:
        screen = web_screen("page", "127.0.0.1", port, imu=False)
        break
    except ViewerError:
        continue
print(port, flush=True)
time.sleep(600.0)
"""
    serving = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(tmp_path)}, text=True,
    )  # fmt: skip
    assert serving.stdout is not None
    port = int(serving.stdout.readline())
    with serving.stdout:
        check_listens(port, listens=True)
        serving.send_signal(getattr(signal, name))
        serving.wait(10.0)
    for each in (port, port + 1):
        check_listens(each, listens=False)
    assert list(tmp_path.iterdir()) == []


def check_listens(port: int, *, listens: bool) -> None:
    """Fail if a port does not become what it is to be."""
    end = time.monotonic() + 10.0
    while time.monotonic() < end:
        with socket.socket() as probe:
            if (probe.connect_ex(("127.0.0.1", port)) == 0) == listens:
                return
        time.sleep(0.05)
    pytest.fail(f"port {port} is {'closed' if listens else 'still served'}")


@pytest.mark.skipif(browser_path() is None, reason="there is no Chromium on this machine")
def test_the_page_opens_in_a_browser(page: tuple[Screen, int], tmp_path: Path):
    """Chromium loads the page, its script and its program, and makes a canvas to draw on."""
    screen, _ = page
    with browser(tmp_path / "profile") as tab:
        tab.call("Page.navigate", url=screen.address)
        tab.wait("document.title.includes('Rerun') && !!document.querySelector('canvas')")
        tab.wait("performance.getEntriesByType('resource').some(e => e.name.includes('.wasm'))")
        assert "Rerun" in tab.run("document.title")


def test_a_stream_that_fails_costs_its_screen_only(scan: Scan, caplog: pytest.LogCaptureFixture):
    """An error of the SDK is a warning with its reason, once."""

    class Full:
        def log(self, *_: object, **__: object) -> None:
            raise OSError("no space left")

        set_time = flush = disconnect = log

    with caplog.at_level(logging.WARNING):
        viewer = RunViewer([Screen("the file", Full())], np.eye(4))
        viewer.on_estimate(make_estimate(0), scan, Odometry())
        viewer.close()
    (record,) = caplog.records
    assert "the file shows nothing any more (OSError: no space left)" in record.getMessage()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_file_that_takes_nothing_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """A disk without room for the view is said before the run, and nothing is written."""
    file = tmp_path / "room.rrd"
    file.symlink_to("/dev/full")
    assert cli.main([*ROOM, "--save-view", str(file), "--out", str(tmp_path / "run")]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"svnicp: error: {file}: the file cannot be written (")
    assert said.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_a_missing_extra_is_said_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Without rerun, one line tells how to install it, and nothing is written."""
    monkeypatch.setitem(sys.modules, "rerun", None)
    assert cli.main([*ROOM, "--view", "web", "--out", str(tmp_path / "run")]) == 2
    assert 'pip install "svnicp[view]"' in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_view_takes_web_and_nothing_else_for_its_own():
    """What follows ``--view`` is data unless it names a kind of view."""
    assert with_view_named([]) == []
    assert with_view_named(["--view", "a.bag"]) == ["--view", "window", "a.bag"]
    assert with_view_named(["a.bag", "--view"]) == ["a.bag", "--view", "window"]
    assert with_view_named(["a.bag", "--view", "web"]) == ["a.bag", "--view", "web"]
    command = RunCommand(data=(Path("a.bag"),), view="window", view_host="0.0.0.0")
    assert contradictions(command) == ["--view-host is about a page; say --view web."]


def test_who_can_look_is_said():
    """Loopback is called this machine only; anything else says that others can look."""
    assert "this machine only" in reach_in_words("127.0.0.1")
    assert "whoever reaches it" in reach_in_words("0.0.0.0")
    assert socket.gethostname() in page_address("0.0.0.0", 9090)
    assert page_address("::1", 9090).startswith("http://[::1]:9090/?url=rerun%2Bhttp%3A%2F%2F%5B")


def _own_address() -> str | None:
    """Return an address of this machine that is not loopback; None if it has none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # nothing is sent
        except OSError:
            return None
        address = str(probe.getsockname()[0])
    return None if address.startswith("127.") else address
