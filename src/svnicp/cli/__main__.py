# SPDX-License-Identifier: MIT
"""Entry point of ``svnicp`` and ``python -m svnicp.cli``: pick the command, turn errors into codes.

An error made on purpose is one sentence on stderr; with ``--debug`` the traceback comes before it.
Any other exception is a bug and shows itself as one.
"""

import difflib
import errno
import importlib
import io
import logging
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from svnicp import __version__
from svnicp.cli.exit_codes import CLOSED_PIPE, INTERRUPTED, WRONG_INPUT, Stopped
from svnicp.cli.flag_names import FlagFormatter, in_flags
from svnicp.errors import SvnicpError

COMMANDS = {
    "run": "odometry over a recording or a simulated scenario, with uncertainty",
    "live": "odometry on live scans and IMU: Foxglove, ROS 1, ROS 2 over Zenoh",
    "evaluate": "a run against the truth: APE, RPE, and whether its sigmas hold",
    "report": "a run as one HTML page: summary, map, sigmas, errors, time",
    "compare": "ours beside other odometry on the same data: errors, time, memory",
    "study": "the paper's experiments: tables, figures, claims, with intervals",
    "calibrate": "fit the parameters that cannot be known, into a YAML file",
    "register": "pose of one cloud in another, with its uncertainty",
    "demo": "a simulated minute of odometry, beside a peer, with a report",
    "info": "what was understood about a recording, and how to override it",
    "simulate": "write a simulated scenario as a recording, with ground truth",
    "scenarios": "list the simulated scenarios and draw their maps",
    "warmup": "compile everything now, so that no later start has to",
    "bench": "how long a scan takes here, beside others, and what it grows with",
}
"""Each command, which is also the name of its module, and what it is for."""

OPTIONS = ("--help", "--version", "--completion")
"""What may be given instead of a command."""

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""Why a disk does not take what is printed into a file."""

HELP = """\
usage: svnicp COMMAND ...

LiDAR and LiDAR-inertial odometry that says how sure it is.

commands:
{commands}

examples:
  svnicp demo
  svnicp run corridor.mcap --out out/corridor
  svnicp run long_corridor --duration 20 --out out/simulated
  svnicp evaluate out/simulated
  svnicp report out/simulated
  svnicp register scan.ply map.ply
  svnicp register scan.pcd map.pcd --guess 1.5 0 0 0 0 90 --json pose.json

options:
  -h, --help          this help; svnicp COMMAND --help lists those of a command
  --version           the version
  --completion SHELL  a script for bash, zsh or fish that completes with Tab

With --quiet a command prints only errors and warnings; --json - prints what
it found for programs. NO_COLOR=1 in the environment switches colours off.
exit codes: 0 fine, 2 wrong input, 3 the pose or the run is not to be trusted,
130 interrupted, 143 terminated.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without UTF-8 gets question marks
    with _warnings_on_stderr():
        try:
            code = _dispatch(arguments)
            sys.stdout.flush()
        except SvnicpError as error:
            if "--debug" in arguments:
                traceback.print_exc()
            print(f"svnicp: error: {in_flags(str(error))}", file=sys.stderr)
            return WRONG_INPUT
        except KeyboardInterrupt as error:
            print("svnicp: interrupted", file=sys.stderr)
            return error.code if isinstance(error, Stopped) else INTERRUPTED
        except BrokenPipeError:
            _discard_stdout()
            return CLOSED_PIPE
        except OSError as error:
            if error.errno not in FULL or error.filename is not None:
                raise
            _discard_stdout()
            print(
                f"svnicp: error: the output cannot be written ({error.strerror}); make room or "
                "send it elsewhere.",
                file=sys.stderr,
            )
            return WRONG_INPUT
        return code


def _discard_stdout() -> None:
    """Let what Python flushes on exit go nowhere, instead of failing again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _warnings_on_stderr() -> Iterator[None]:
    """Show the library's warnings, such as points left out, in the style of the errors."""
    handler = logging.StreamHandler()
    handler.setFormatter(FlagFormatter("svnicp: warning: %(message)s"))
    logger = logging.getLogger("svnicp")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


def _dispatch(arguments: list[str]) -> int:
    """Run the command that is named first."""
    name = arguments[0] if arguments else "--help"
    if name in {"-h", "--help"}:
        width = max(map(len, COMMANDS))
        lines = [f"  {command:{width}}  {purpose}" for command, purpose in COMMANDS.items()]
        print(HELP.format(commands="\n".join(lines)), end="")
        return 0
    if name == "--version":
        print(f"svnicp {__version__}")
        return 0
    if name == "--completion":
        from svnicp.cli.completion import main as completion  # noqa: PLC0415

        return completion(arguments[1:], COMMANDS)
    if name.startswith("-"):
        near = difflib.get_close_matches(name, OPTIONS, n=1)
        advice = f"did you mean {near[0]}? Or" if near else "options follow the command;"
        place = "" if near else " before a command"
        raise SvnicpError(f"there is no option '{name}'{place}; {advice} see svnicp --help.")
    if name not in COMMANDS:
        raise SvnicpError(f"there is no command '{name}'; {_nearest(name)}see svnicp --help.")
    return importlib.import_module(f"svnicp.cli.{name}").main(arguments[1:])


def _nearest(name: str) -> str:
    """Say which command was perhaps meant, or which there are."""
    near = difflib.get_close_matches(name, COMMANDS, n=1)
    return f"did you mean {near[0]}? Or " if near else f"there are {', '.join(COMMANDS)}; "


if __name__ == "__main__":
    sys.exit(main())
