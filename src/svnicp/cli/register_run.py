# SPDX-License-Identifier: MIT
"""The work of ``svnicp register``: files in; a pose with its uncertainty out, as text and JSON.

What is printed is in ``show``, what is written in ``result_json``. The exit code is 3 when the
result says that it is not to be used, so that scripts notice.
"""

import sys
import time

import numpy as np

from svnicp.cli import show
from svnicp.cli.exit_codes import NOT_OK
from svnicp.cli.json_target import JsonTarget
from svnicp.cli.parameters import preset_or_file, with_changes
from svnicp.cli.progress import patience
from svnicp.cli.register import RegisterCommand
from svnicp.cli.register_inputs import guessed_pose, prior_covariance
from svnicp.cli.result_json import Inputs, document
from svnicp.cloud_files import read_cloud
from svnicp.data.folders.bin_format import KITTI_COLUMNS
from svnicp.local_map.cloud_check import check_cloud
from svnicp.registration import register


def run(command: RegisterCommand) -> int:
    """Read, register, write and print; returns the exit code."""
    json_target = JsonTarget(command.json)
    config = with_changes(preset_or_file(command.preset, command.config), command.set)
    guess, prior = guessed_pose(command), prior_covariance(command.prior_std)
    columns = KITTI_COLUMNS if command.bin_columns is None else command.bin_columns
    source, target = (
        read_cloud(path, bin_columns=columns) for path in (command.source, command.target)
    )
    for role, path, cloud in (
        ("source", command.source, source),
        ("target", command.target, target),
    ):
        check_cloud(f"{path}: the {role}", cloud, config.match.min_matches)
    began = time.perf_counter()
    with patience(show.console(sys.stderr, quiet=command.quiet), "registering") as compiler:
        result = register(
            source, target, T_target_source=guess, prior_covariance=prior, config=config,
            rng=np.random.default_rng(command.seed),
        )  # fmt: skip
    seconds = time.perf_counter() - began - compiler.seconds
    if json_target.wanted:
        inputs = Inputs(
            str(command.source), str(command.target), len(source), len(target), guess, prior,
            command.seed,
        )  # fmt: skip
        json_target.write(document(result, inputs, config, seconds))
    console = show.console(json_target.words_to, quiet=command.quiet)
    show.registration(console, result, seconds, compiler.seconds)
    return 0 if result.status.ok else NOT_OK
