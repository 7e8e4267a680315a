# SPDX-License-Identifier: MIT
"""``svnicp register``: its options, checked for contradictions before anything heavy is loaded.

What the options mean is in ``register_inputs``, the work in ``register_run``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from svnicp.cli.arguments import SixNumbers, UsageError, option, parse, six_numbers

DESCRIPTION = """\
Pose of SOURCE in TARGET, with its uncertainty. Both are point clouds in metres
(.ply .pcd .bin .npy .npz): SOURCE a scan in its sensor's frame, TARGET a scan or a map.

examples:
  svnicp register scan.ply map.ply --guess 1.5 0 0 0 0 90
  svnicp register scan.ply map.ply --prior-std 0.1 0.1 0.1 2 2 2
  svnicp register scan.bin map.npy --set noise.range_noise_m=0.01
  svnicp register scan.ply map.ply --json - | jq .status
"""


@dataclass(frozen=True, kw_only=True)
class RegisterCommand:
    """What ``svnicp register`` is asked to do."""

    source: Annotated[Path, tyro.conf.Positional, option("SOURCE")]
    """Cloud whose pose is wanted."""
    target: Annotated[Path, tyro.conf.Positional, option("TARGET")]
    """Cloud or map in which it is wanted."""
    guess: Annotated[SixNumbers | None, six_numbers("X Y Z ROLL PITCH YAW"), option()] = None
    """Guess of the pose [m, deg], R = Rz(yaw) Ry(pitch) Rx(roll); without it, the identity."""
    guess_file: Annotated[Path | None, option("FILE")] = None
    """The same as a text file with the 4 x 4 matrix."""
    prior_std: Annotated[SixNumbers | None, six_numbers("M M M DEG DEG DEG"), option()] = None
    """Standard deviation of the guess along and about the source's axes; by default 1 m, 6 deg."""
    preset: Annotated[str | None, option("NAME")] = None
    """All parameters: default, as measurements chose them, or paper, as published."""
    config: Annotated[Path | None, option("FILE")] = None
    """All parameters from a YAML file, instead of a preset."""
    set: Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], option("KEY=VALUE")] = ()
    """Change single parameters, such as stein.num_particles=50; may be repeated."""
    bin_columns: Annotated[int | None, option("N")] = None
    """Values per point in a .bin file: 4 for KITTI, the default, 5 for nuScenes."""
    seed: Annotated[int, option("N")] = 0
    """Seed of the particles' start; the same seed gives the same result."""
    json: Annotated[str | None, option("FILE")] = None
    """Write everything to this file; - is standard output, with nothing else on it."""
    quiet: Annotated[bool, option()] = False
    """Print nothing but errors and warnings."""
    debug: Annotated[bool, option()] = False
    """Show the traceback of an error."""


def main(words: Sequence[str]) -> int:
    """Run the command with the words after its name; returns the exit code."""
    command = parse(RegisterCommand, "svnicp register", DESCRIPTION, words)
    if command.guess is not None and command.guess_file is not None:
        raise UsageError("give either --guess or --guess-file, not both.")
    if command.preset is not None and command.config is not None:
        raise UsageError("give either --preset or --config, not both; --set changes either.")
    if command.seed < 0:
        raise UsageError(f"--seed must not be negative, got {command.seed}.")
    if command.bin_columns is not None and ".bin" not in {
        path.suffix.lower() for path in (command.source, command.target)
    }:
        raise UsageError(
            "--bin-columns is about .bin files, and neither cloud is one; leave it out."
        )
    from svnicp.cli.register_run import run  # noqa: PLC0415

    return run(command)
