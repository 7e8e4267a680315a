# SPDX-License-Identifier: MIT
"""What kiss-icp does on the scans of the demo, judged as ``svnicp compare`` judges it.

It runs in its own process, if it is installed; whatever happens to it is a row of the table.
"""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from svnicp.cli.compare_progress import CompareProgress
from svnicp.cli.compare_work import NOT_INSTALLED, checked
from svnicp.cli.run_inputs import RunInputs
from svnicp.cli.run_loop import stop_on_interrupt
from svnicp.peers.peer import DEFAULT
from svnicp.peers.process import FAILED, run_peer
from svnicp.peers.registry import PEERS
from svnicp.peers.row import Row, empty_row, judge
from svnicp.peers.spool import SpoolOptions, write_spool

NAME = "kiss-icp"
LIMIT_S = 120.0
"""After this time it is given up [s]."""


def peer_row(inputs: RunInputs, told: Console) -> Row:
    """Return what kiss-icp gives on the scans of a run, or why there is nothing."""
    peer = PEERS[NAME]
    row = empty_row(inputs.dataset.name, peer, DEFAULT, NOT_INSTALLED, peer.install_command)
    if not peer.installed:
        return row
    told.print(f"{NAME} on the same scans")
    try:
        with (
            stop_on_interrupt() as stop,
            CompareProgress(told, 1) as bar,
            TemporaryDirectory(prefix="svnicp-demo-") as name,
        ):
            spool = Path(name)
            bar.begin("the same scans once more", inputs.info.num_scans)
            about = write_spool(inputs.dataset, spool, SpoolOptions(), checked(stop, bar.advance))
            bar.begin(NAME, about.num_scans)
            outcome = run_peer(peer, DEFAULT, spool, LIMIT_S, checked(stop, bar.at))
    except OSError as error:  # no room for the scans: ours is done and must not be lost
        reason = error.strerror or type(error).__name__
        return replace(row, status=FAILED, note=f"the scans could not be handed over ({reason})")
    return judge(replace(row, note=""), outcome, inputs.truth, about.num_scans)
