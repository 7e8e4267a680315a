# SPDX-License-Identifier: MIT
"""``svnicp run``: its options, checked for contradictions before anything heavy is loaded.

What the options mean is in ``run_inputs``, the work in ``run_work``.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from svnicp.cli.arguments import UsageError, option, parse
from svnicp.cli.data_flags import DataFlags

DESCRIPTION = """\
Odometry over a recording, or over a simulated scenario (see `svnicp scenarios`): a pose with its
uncertainty for every scan, written to a folder as it goes. Ctrl-C ends it with what was done, and
--resume goes on, to the same result as without a break.

examples:
  svnicp run corridor.mcap --out out/corridor
  svnicp run long_corridor --duration 20 --out out/long_corridor
  svnicp run drive.bag --variant svn+fixed --preset paper --out out/drive
  svnicp run drive.bag --no-imu --set odometry.map_radius_m=50 --out out/near
  svnicp run corridor.mcap --out out/corridor --resume
  svnicp run corridor.mcap --view
"""


@dataclass(frozen=True, kw_only=True)
class RunCommand(DataFlags):
    """What ``svnicp run`` is asked to do."""

    data: Annotated[tuple[Path, ...], tyro.conf.Positional, option("DATA")]
    """A bag, a folder, several bags that belong together, or the name of a scenario."""
    out: Annotated[Path | None, option("DIR")] = None
    """Folder for the files of the run; svnicp-run-NAME if left out."""
    resume: Annotated[bool, option()] = False
    """Go on with the run in the folder from its last saved state; begin where there is none."""
    overwrite: Annotated[bool, option()] = False
    """Replace a run that is in the folder."""
    imu: Annotated[bool, option()] = False
    """Use the IMU; a recording without one is an error. Without the flag: if there is one."""
    no_imu: Annotated[bool, option()] = False
    """LiDAR alone, even if there is an IMU."""
    imu_model: Annotated[str | None, option("NAME")] = None
    """Noise of the IMU by its model, such as xsens_mti30; auto measures it in rest at the start."""
    gyroscope_noise: Annotated[float | None, option("X")] = None
    """Noise density of the gyroscope instead [rad/s/sqrt(Hz)], together with the next."""
    accelerometer_noise: Annotated[float | None, option("Y")] = None
    """Noise density of the accelerometer [m/s^2/sqrt(Hz)]."""
    preset: Annotated[str | None, option("NAME")] = None
    """All parameters: default, as measurements chose them, or paper, as published."""
    variant: Annotated[str | None, option("NAME")] = None
    """A row of the paper's tables: svn, svgd, stein_icp, svn+fixed or svn+adaptive (with IMU); or
    inertial, the IMU alone after the start."""
    config: Annotated[Path | None, option("FILE")] = None
    """All parameters from a YAML file, instead of a preset."""
    set: Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], option("KEY=VALUE")] = ()
    """Change single parameters, such as odometry.map_radius_m=50; may be repeated."""
    algorithm: Annotated[
        Literal["svn", "svgd", "stein_icp", "gauss_newton"] | None, option("NAME")
    ] = None
    """How particles move: svn, svgd, stein_icp, or gauss_newton with a single one."""
    noise: Annotated[Literal["adaptive", "fixed", "smoothed", "none"] | None, option("KIND")] = None
    """What the filter believes of a scan: its posterior (adaptive), a constant (fixed), the
    posterior averaged over scans (smoothed), or nothing after the start (none)."""
    particles: Annotated[int | None, option("K")] = None
    """Number of particles."""
    seed: Annotated[int, option("N")] = 0
    """Seed of the particles, and of a simulated scenario."""
    duration: Annotated[float | None, option("S")] = None
    """Seconds to simulate of a scenario; its short run if left out."""
    max_scans: Annotated[int | None, option("N")] = None
    """Stop after this many scans."""
    map: Annotated[bool, option()] = False
    """Write the map of the whole run as map.ply."""
    imu_rate: Annotated[bool, option()] = False
    """Write the poses between scans, one for each IMU reading, as imu_rate.tum."""
    keep_particles: Annotated[bool, option()] = False
    """Write the particles of every scan as particles.npz."""
    view: Annotated[Literal["window", "web"] | None, option("[web]")] = None
    """Show the run as it goes in rerun's viewer: in a window, or with web on a page."""
    view_host: Annotated[str | None, option("ADDRESS")] = None
    """Address to serve the page on, 127.0.0.1 if left out: this machine only."""
    view_port: Annotated[int, option("N")] = 9090
    """Port of the page; its data come from the next one."""
    save_view: Annotated[Path | None, option("FILE")] = None
    """Write what the viewer shows to an .rrd file, for rerun FILE."""
    save_every: Annotated[int, option("N")] = 50
    """Scans between two saved states, from which a killed run can be resumed."""
    json: Annotated[str | None, option("FILE")] = None
    """Write the summary to this file; - is standard output, with nothing else on it."""
    quiet: Annotated[bool, option()] = False
    """Print nothing but errors and warnings."""
    debug: Annotated[bool, option()] = False
    """Show the traceback of an error."""


def main(words: Sequence[str]) -> int:
    """Run the command with the words after its name; returns the exit code."""
    command = parse(RunCommand, "svnicp run", DESCRIPTION, with_view_named(words))
    for message in contradictions(command):
        raise UsageError(message)
    from svnicp.cli.run_work import run  # noqa: PLC0415

    return run(command, repeatable(words))


def contradictions(command: RunCommand) -> list[str]:
    """Sentences about options that do not go together, or cannot be."""
    gyroscope, accelerometer = command.gyroscope_noise, command.accelerometer_noise
    densities = gyroscope is not None or accelerometer is not None
    told = command.imu_model is not None or densities
    checks = {
        "name a recording or a scenario, such as room.": not command.data,
        "give either --imu or --no-imu, not both.": command.imu and command.no_imu,
        "--no-imu leaves nothing to do for the noise of an IMU.": command.no_imu and told,
        "give either --imu-model or the two densities, not both.": (
            command.imu_model is not None and densities
        ),
        "give --gyroscope-noise and --accelerometer-noise together.": (
            (gyroscope is None) != (accelerometer is None)
        ),
        "the noise densities of an IMU must be positive.": any(
            value is not None and not value > 0.0 for value in (gyroscope, accelerometer)
        ),
        "give either --preset or --config, not both; --set changes either.": (
            command.preset is not None and command.config is not None
        ),
        "--variant says by itself what --config, --algorithm, --noise, --imu and --no-imu would;"
        " leave those out.": command.variant is not None
        and (
            bool(command.config or command.algorithm or command.noise)
            or command.imu
            or command.no_imu
        ),
        "give either --resume or --overwrite, not both.": command.resume and command.overwrite,
        f"--seed must not be negative, got {command.seed}.": command.seed < 0,
        "--max-scans must be at least 1.": command.max_scans is not None and command.max_scans < 1,
        "--save-every must be at least 1.": command.save_every < 1,
        "--view-host is about a page; say --view web.": (
            command.view_host is not None and command.view != "web"
        ),
        "--view-port must be between 1 and 65534.": not 1 <= command.view_port <= 65534,
    }
    return [message for message, wrong in checks.items() if wrong]


def with_view_named(words: Sequence[str]) -> list[str]:
    """Write ``--view`` alone as ``--view window``, so that what follows may be data."""
    out: list[str] = []
    for word, following in zip(words, [*words[1:], ""], strict=False):
        out.append(word)
        if word == "--view" and following not in {"window", "web"}:
            out.append("window")
    return out


def repeatable(words: Sequence[str]) -> str:
    """Return the command line that starts this run, for run.yaml and for going on with it."""
    kept = [word for word in words if word not in {"--resume", "--overwrite"}]
    return shlex.join(["svnicp", "run", *kept])
