# SPDX-License-Identifier: MIT
"""The process in which one peer runs: ``python -m svnicp.peers.worker SPOOL MODULE NAME CONF OUT``.

It reads the spool, runs the peer, and writes one file with what it gave and the most memory that it
used. Whatever happens in here, the program that started it goes on.
"""

import importlib
import os
import sys
from pathlib import Path

import numpy as np

from svnicp.errors import SvnicpError
from svnicp.peers.memory import peak_bytes
from svnicp.peers.peer import Peer, PeerRun
from svnicp.peers.spool import HANDED_OUT, Spool

NOT_FOR_IT = 2
"""Exit code of a worker whose last line says why the peer cannot take the dataset."""
OPTIONAL = ("absolute", "T_previous_body", "relative")


def main(words: list[str]) -> int:
    """Run a peer over a spool; the words are those of the command line."""
    folder, module, name, configuration, out = words
    peer = find_peer(module, name)
    try:
        run = peer.run(Spool(Path(folder), Path(out).parent / HANDED_OUT), configuration)
    except SvnicpError as error:  # said on purpose: the dataset is not for this peer
        print(error, file=sys.stderr)
        return NOT_FOR_IT
    write_run(Path(out), run)
    sys.stdout.flush()
    os._exit(0)  # some packages crash or print tables when the interpreter tidies up


def find_peer(module: str, name: str) -> Peer:
    """Return the peer of this name in a module's ``PEERS``."""
    return next(peer for peer in importlib.import_module(module).PEERS if peer.name == name)


def write_run(path: Path, run: PeerRun) -> None:
    """Write what a peer gave, and the peak memory of this process."""
    arrays = {name: value for name in OPTIONAL if (value := getattr(run, name)) is not None}
    unfinished = path.with_suffix(".unfinished.npz")
    np.savez(
        unfinished, allow_pickle=False, stamps_ns=run.stamps_ns, T_world_body=run.T_world_body,
        seconds=run.seconds, peak_bytes=np.int64(peak_bytes() or 0), **arrays,
    )  # fmt: skip
    unfinished.replace(path)


def read_run(path: Path) -> tuple[PeerRun, int | None]:
    """Read what ``write_run`` wrote: the run, and its peak memory [bytes], None if not known."""
    with np.load(path, allow_pickle=False) as arrays:
        fields = {name: arrays[name] for name in arrays.files}
    peak = int(fields.pop("peak_bytes"))
    return PeerRun(**fields), peak or None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
