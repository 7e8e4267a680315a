# SPDX-License-Identifier: MIT
"""The work of ``svnicp compare``: spool each dataset once, run everybody, keep every finished row.

Tables are written anew after each row, so that an interrupted comparison leaves what is done. The
exit code is 3 when one of ours did not get through, 130 after Ctrl-C, and 143 after SIGTERM.
"""

import os
import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from svnicp import __version__
from svnicp.cli import exit_codes, show
from svnicp.cli.compare import CompareCommand
from svnicp.cli.compare_inputs import Contest, chosen_peers, contests
from svnicp.cli.compare_progress import CompareProgress
from svnicp.cli.compare_tables import show_rows
from svnicp.cli.json_target import JsonTarget
from svnicp.cli.output_files import make_folder, write_text
from svnicp.cli.run_loop import Stop, stop_on_interrupt
from svnicp.data.trajectory_files import write_tum
from svnicp.errors import InputError, MissingExtraError
from svnicp.extras import require
from svnicp.peers.ours import WARM_UP
from svnicp.peers.peer import Peer
from svnicp.peers.picture import draw
from svnicp.peers.process import OK, run_peer
from svnicp.peers.registry import OURS
from svnicp.peers.row import Row, empty_row, judge, label
from svnicp.peers.spool import About, write_spool
from svnicp.peers.store import Store, key_of
from svnicp.peers.tables import Origin, csv_text, json_text, markdown

NOT_INSTALLED = "not installed"
NEEDS_IMU = "needs an IMU"


@dataclass(frozen=True)
class Entry:
    """One row to be made: a method with a configuration on a dataset."""

    contest: Contest
    peer: Peer
    configuration: str
    key: str

    @property
    def label(self) -> str:
        """Name of the row."""
        return label(self.peer.name, self.configuration)

    def empty(self, status: str, note: str = "") -> Row:
        """Row without figures."""
        return empty_row(self.contest.name, self.peer, self.configuration, status, note)


def compare(command: CompareCommand, command_line: str) -> int:
    """Compare; returns the exit code."""
    require("evo", "peers", "A comparison")
    told, target = show.console(sys.stderr, quiet=command.quiet), JsonTarget(command.json)
    peers = chosen_peers(command.peers)
    for peer in peers:
        if not peer.installed:
            told.print(f"{peer.name} is not installed: {peer.install_command}", style="yellow")
    if not peers and command.peers is None:
        told.print('no other odometry is installed: pip install "svnicp[peers]"', style="yellow")
    all_contests = contests(command)
    make_folder(command.out)
    comparison = Comparison(command, command_line, [*OURS, *peers], told)
    with stop_on_interrupt() as stop:
        try:
            for contest in all_contests:
                comparison.run(contest, stop)
        except KeyboardInterrupt:
            told.print(f"interrupted; go on with: {command_line}", style="yellow")
            return stop.code
    target.write(comparison.json())
    show_rows(show.console(target.words_to, quiet=command.quiet), comparison.rows)
    told.print(f"\n{command.out}: {', '.join(comparison.files)}")
    failed = [row for row in comparison.rows if row.method in _OUR_NAMES and not _fine(row)]
    return exit_codes.NOT_OK if failed else 0


_OUR_NAMES = {peer.name for peer in OURS}


def _fine(row: Row) -> bool:
    return row.status in {OK, NEEDS_IMU}


class Comparison:
    """A comparison that is going on: its rows so far, and the files they are in."""

    def __init__(
        self, command: CompareCommand, command_line: str, peers: list[Peer], told: Console
    ) -> None:
        self.rows: list[Row] = []
        self.files: list[str] = ["compare.md", "compare.csv", "compare.json"]
        self._command = command
        self._peers = peers
        self._told = told
        versions = {peer.package: peer.version for peer in peers if peer.version}
        versions = {"python": platform.python_version(), **versions, "svnicp": __version__}
        self._origin = Origin(command_line, dict(sorted(versions.items())), os.cpu_count() or 1)

    def run(self, contest: Contest, stop: Stop) -> None:
        """Make all rows of one dataset, and its picture."""
        store = Store(self._command.out / contest.name)
        entries = self._entries(contest)
        known = {} if self._command.again else self._known(store, entries)
        to_do = [entry for entry in entries if entry.label not in known and _runnable(entry)]
        first = len(self.rows)
        with CompareProgress(self._told, len(to_do)) as bar, TemporaryDirectory() as spool:
            about = self._spooled(to_do, Path(spool), bar, stop) if to_do else None
            for entry in entries:
                if entry.label in known:
                    row = known[entry.label]
                elif about is None or entry not in to_do:
                    row = _not_run(entry)
                else:
                    row = self._row(entry, Path(spool), about, store, bar, stop)
                self.rows.append(row)
                self._write_tables()
        self._draw(contest, store, self.rows[first:])

    def _entries(self, contest: Contest) -> list[Entry]:
        """Everything to be tried on a dataset."""
        point_times = any(scan.end_ns > scan.stamp_ns for scan in islice(contest.dataset, 3))
        entries = []
        for peer in self._peers:
            for name in peer.configurations(contest.options.scene, point_times):
                key = key_of(contest.decides, peer, name, ours=peer in OURS)
                entries.append(Entry(contest, peer, name, key))
        return entries

    def _known(self, store: Store, entries: list[Entry]) -> dict[str, Row]:
        """Rows that are finished, by their labels."""
        found = {}
        for entry in entries:
            limit_s = self._limit_s(entry.contest.num_scans or 0)
            row = store.find(entry.label, entry.key, limit_s) if _runnable(entry) else None
            if row is not None:
                found[entry.label] = row
        return found

    def _limit_s(self, num_scans: int) -> float:
        limit_s = self._command.time_limit
        return limit_s if limit_s is not None else 60.0 + num_scans

    def _spooled(
        self, entries: list[Entry], spool: Path, bar: CompareProgress, stop: Stop
    ) -> About:
        """Write the dataset to disk, and let ours compile what is not compiled yet."""
        contest = entries[0].contest
        bar.begin(f"{contest.name}: reading", contest.num_scans)
        about = _handed_over(contest, spool, checked(stop, bar.advance))
        if contest.truth is not None:
            path = self._command.out / contest.name / "ground_truth.tum"
            write_tum(path, contest.truth.trajectory)
        for entry in entries:
            if entry.peer in OURS:
                bar.begin(f"{contest.name}: warming up {entry.label}", None)
                run_peer(entry.peer, WARM_UP, spool, 600.0, checked(stop, bar.at))
        return about

    def _row(
        self, entry: Entry, spool: Path, about: About, store: Store, bar: CompareProgress,
        stop: Stop,
    ) -> Row:  # fmt: skip
        """Run one method and keep what it gave."""
        bar.begin(f"{entry.contest.name}: {entry.label}", about.num_scans)
        limit_s = self._limit_s(about.num_scans)
        outcome = run_peer(entry.peer, entry.configuration, spool, limit_s, checked(stop, bar.at))
        row = judge(entry.empty(outcome.status), outcome, entry.contest.truth, about.num_scans)
        store.keep(row, outcome.run, entry.key, limit_s)
        bar.on_row(row)
        return row

    def json(self) -> str:
        """All rows as a document."""
        return json_text(self.rows, self._origin)

    def _write_tables(self) -> None:
        """Write all tables anew."""
        texts = {
            "compare.md": markdown(self.rows, self._origin),
            "compare.csv": csv_text(self.rows),
            "compare.json": self.json(),
        }
        for name, text in texts.items():
            write_text(self._command.out / name, text)

    def _draw(self, contest: Contest, store: Store, rows: list[Row]) -> None:
        """Draw the dataset; what keeps from it (no truth, no matplotlib) is told."""
        if contest.truth is None:
            self._told.print(f"{contest.name}: no picture, because it has no ground truth")
            return
        runs = [(row, run) for row in rows if (run := store.run(row.label)) and row.status == OK]
        path = self._command.out / contest.name
        try:
            paths = draw(path, runs, contest.truth, contest.name)
        except MissingExtraError as error:
            self._told.print(f"no picture: {error}", style="yellow")
            return
        self.files += [path.name for path in paths]


def _handed_over(contest: Contest, spool: Path, on_scan: Callable[..., None]) -> About:
    """Write the scans to where everybody reads them."""
    try:
        return write_spool(contest.dataset, spool, contest.options, on_scan)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(
            f"{spool.parent}: the scans cannot be handed over ({reason}); make room, or set TMPDIR."
        ) from None


def _with_imu(peer: Peer, contest: Contest) -> bool:
    """Whether a dataset has what a peer needs."""
    has_imu = contest.options.imu_noise is not None and contest.info.imu_period_s is not None
    return has_imu or not peer.uses_imu


def _runnable(entry: Entry) -> bool:
    return entry.peer.installed and _with_imu(entry.peer, entry.contest)


def _not_run(entry: Entry) -> Row:
    """Row of a method that cannot be run."""
    if not entry.peer.installed:
        return entry.empty(NOT_INSTALLED, entry.peer.install_command)
    return entry.empty(NEEDS_IMU)


def checked(stop: Stop, then: Callable[..., None]) -> Callable[..., None]:
    """A callback that ends everything if Ctrl-C was pressed, or SIGTERM came."""

    def look(*values: int) -> None:
        if stop.asked:
            raise exit_codes.Stopped(stop.code)
        then(*values)

    return look
