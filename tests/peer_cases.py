# SPDX-License-Identifier: MIT
"""Peers for the tests, which the worker process imports: one that works and several that do not."""

import os
import signal
import sys
import time

import numpy as np

from svnicp.errors import DatasetError
from svnicp.peers.peer import Peer, PeerRun, Recorder
from svnicp.peers.spool import Spool


def stand_still(spool: Spool, _configuration: str) -> PeerRun:
    recorder = Recorder()
    for scan in spool.scans():
        with recorder.timed():
            time.sleep(0.001)
        recorder.end_scan()
        recorder.pose(scan.mean_ns, np.eye(4))
    return recorder.of_lidar(spool.T_body_lidar)


def crash(spool: Spool, _configuration: str) -> PeerRun:
    next(spool.scans())
    print("about to crash", flush=True)
    os.kill(os.getpid(), signal.SIGSEGV)
    raise AssertionError


def hang(spool: Spool, _configuration: str) -> PeerRun:
    next(spool.scans())
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(1.0)


def fail(_spool: Spool, _configuration: str) -> PeerRun:
    sys.stderr.write("\x1b[31ma table\x1b[0m\n")
    raise ValueError("the scans do not please me")


def refuse(_spool: Spool, _configuration: str) -> PeerRun:
    raise DatasetError("it takes no such data.")


def say_nothing(spool: Spool, _configuration: str) -> PeerRun:
    for _ in spool.scans():
        pass
    return Recorder().of_body()


def fly_away(spool: Spool, _configuration: str) -> PeerRun:
    recorder = Recorder()
    for number, scan in enumerate(spool.scans()):
        recorder.end_scan()
        pose = np.eye(4)
        pose[0, 3] = 10.0**number
        recorder.pose(scan.mean_ns, pose if number != 1 else np.full((4, 4), np.nan))
    return recorder.of_body()


def hold_memory(spool: Spool, _configuration: str) -> PeerRun:
    held = np.ones(25_000_000)
    recorder = Recorder()
    for scan in spool.scans():
        recorder.end_scan()
        recorder.pose(scan.mean_ns, np.eye(4) * held[0])
    return recorder.of_body()


def _peer(name: str, run, imports: str = "", package: str = "nothing") -> Peer:
    return Peer(
        name=name, module=__name__, imports=imports, package=package, uses_imu=False,
        pose_time="mean", run=run,
    )  # fmt: skip


PEERS = (
    _peer("still", stand_still),
    _peer("crash", crash),
    _peer("hang", hang),
    _peer("fail", fail),
    _peer("silent", say_nothing),
    _peer("refuse", refuse),
    _peer("away", fly_away),
    _peer("heavy", hold_memory),
    _peer("absent", fail, imports="no_such_package", package="no-such-package"),
)
