# SPDX-License-Identifier: MIT
"""Feed every reader with thousands of spoilt files, and count what must never happen.

A reader may read a spoilt file or refuse it with a sentence (an ``SvnicpError``). Everything else
is a crash: another exception, a warning of NumPy, the end of the process; and so is a hang. Inputs
are numbered and made again from their number. Run ``python -m benchmarks.fuzz --inputs 10000``.
"""

import argparse
import json
import logging
import multiprocessing
import os
import resource
import shutil
import sys
import tempfile
import time
import traceback
import warnings
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.fuzz_mutations import mutated
from benchmarks.fuzz_readers import READERS, Reader, Sample
from svnicp.errors import SvnicpError

LIMIT_S = 5.0
"""An input that takes more time of a processor than this hangs [s]; a good file takes
milliseconds."""
IDLE_LIMITS = 12
"""One that waits for something hangs after this many times as long on the clock."""
MEMORY_BYTES = 3 * 2**30
"""More than this must not be asked for by a file of kilobytes."""
SHOWN_FRAMES = 3


@dataclass
class Tally:
    """What became of the inputs of a reader."""

    inputs: int = 0
    read: int = 0
    refused: int = 0
    crashes: dict[str, list[int]] = field(default_factory=dict)
    """Numbers of the inputs by what went wrong and where."""
    hangs: list[int] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, message: tuple[str, Any]) -> None:
        """Count what a worker says about an input."""
        kind, value = message
        self.inputs += 1
        if kind == "crash":
            number, words = value
            self.crashes.setdefault(words, []).append(number)
        else:
            self.read += kind == "read"
            self.refused += kind == "refused"


def spoilt(reader: Reader, number: int) -> tuple[Sample, str]:
    """Files of an input, and which of them is spoilt."""
    rng = np.random.default_rng([zlib.crc32(reader.name.encode()), number])
    samples = reader.samples()
    sample = samples[int(rng.integers(len(samples)))]
    name = sorted(sample)[int(rng.integers(len(sample)))]
    return {**sample, name: mutated(sample[name], rng)}, name


def put(folder: Path, sample: Sample) -> None:
    """Make a folder hold these files and nothing else."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, content in sample.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def outcome(reader: Reader, number: int, folder: Path) -> tuple[str, Any]:
    """Read one input: "read", "refused", or "crash" with what went wrong and where."""
    put(folder, spoilt(reader, number)[0])
    try:
        reader.read(folder)
    except SvnicpError:
        return "refused", None
    except Exception as error:  # what is looked for
        frames = [
            f"{Path(frame.filename).name}:{frame.lineno}"
            for frame in traceback.extract_tb(error.__traceback__)[-SHOWN_FRAMES:]
        ]
        words = f"{type(error).__name__} at {' > '.join(frames)}: {str(error)[:120]}"
        return "crash", (number, words)
    return "read", None


def work(name: str, numbers: Sequence[int], at: Any, pipe: Any) -> None:  # noqa: ANN401
    """Read inputs in a process of its own, and tell about each."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", ResourceWarning)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    with tempfile.TemporaryDirectory(dir=_fast_place()) as place:
        for number in numbers:
            at.value = number
            pipe.send(outcome(READERS[name], number, Path(place) / "input"))
    pipe.close()


def _fast_place() -> str | None:
    """A folder in memory, if there is one."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def fuzz(reader: Reader, num_inputs: int, limit_s: float = LIMIT_S) -> Tally:
    """Feed a reader, in a process that may die or hang."""
    reader.samples()  # made once, before the processes are forked
    context, tally, first = multiprocessing.get_context("fork"), Tally(), 0
    start = time.monotonic()
    while first < num_inputs:
        at = context.Value("q", first)
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(
            target=work, args=(reader.name, range(first, num_inputs), at, theirs)
        )
        process.start()
        theirs.close()
        hung = _listen(ours, tally, limit_s, process.pid or 0)
        if hung:
            process.kill()
        process.join()
        first = at.value + 1
        if hung:
            tally.hangs.append(at.value)
        elif process.exitcode != 0:
            tally.add(("crash", (at.value, f"the process ended with {process.exitcode}")))
    tally.inputs += len(tally.hangs)
    tally.seconds = time.monotonic() - start
    return tally


def _listen(pipe: Any, tally: Tally, limit_s: float, pid: int) -> bool:  # noqa: ANN401
    """Count what a process says until it is done; returns whether it hangs instead.

    The clock alone would call it a hang when other programs have the processor.
    """
    silent, used_s = 0, _used_s(pid)
    while silent < IDLE_LIMITS and _used_s(pid) - used_s < limit_s:
        if not pipe.poll(limit_s):
            silent += 1
            continue
        try:
            tally.add(pipe.recv())
        except EOFError:
            return False
        silent, used_s = 0, _used_s(pid)
    return True


def _used_s(pid: int) -> float:
    """Time of a processor that a process has used [s]; that of the clock where it is not told."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return time.monotonic()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> int:
    """Fuzz all readers, or some; returns 1 if anything went wrong."""
    parser = argparse.ArgumentParser(description="Spoil files and read them.")
    parser.add_argument("--inputs", type=int, default=10_000, help="spoilt files for each reader")
    parser.add_argument("--limit", type=float, default=LIMIT_S, help="most CPU time of one [s]")
    parser.add_argument("--readers", nargs="+", choices=READERS, default=list(READERS))
    parser.add_argument("--only", type=int, help="show what becomes of one input, by its number")
    parser.add_argument("--keep", type=Path, help="folder for the files of --only")
    parser.add_argument(
        "--out", type=Path, help="JSON file for the counts; those of other readers in it are kept"
    )
    asked = parser.parse_args()
    if asked.only is not None:
        return show(READERS[asked.readers[0]], asked.only, asked.keep)
    found: dict[str, Any] = {}
    for name in asked.readers:
        tally = fuzz(READERS[name], asked.inputs, asked.limit)
        found[name] = vars(tally)
        crashes = sum(map(len, tally.crashes.values()))
        print(
            f"{name:18s} {tally.inputs:6d} inputs: {tally.read:6d} read, {tally.refused:6d} "
            f"refused, {crashes} crashes, {len(tally.hangs)} hangs, {tally.seconds:.0f} s",
            flush=True,
        )  # fmt: skip
        for words, numbers in tally.crashes.items():
            print(f"    {len(numbers)} x {words} (first: {numbers[0]})")
        if tally.hangs:
            print(f"    hangs: {tally.hangs[:5]}")
        if asked.out is not None:
            write_counts(asked.out, found, f"python -m benchmarks.fuzz --inputs {asked.inputs}")
    return int(any(one["crashes"] or one["hangs"] for one in found.values()))


def write_counts(path: Path, found: dict[str, Any], command: str) -> None:
    """Write the counts of some readers, beside those of others that are there already."""
    known = json.loads(path.read_text())["readers"] if path.exists() else {}
    merged = {**known, **found}
    readers = {name: merged[name] for name in READERS if name in merged}
    path.write_text(json.dumps({"command": command, "readers": readers}, indent=1) + "\n")


def show(reader: Reader, number: int, keep: Path | None) -> int:
    """Read one input in this process, with its traceback."""
    sample, name = spoilt(reader, number)
    folder = keep if keep is not None else Path(tempfile.mkdtemp())
    put(folder, sample)
    print(f"{folder}: {name} is spoilt")
    warnings.simplefilter("error")
    reader.read(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
