# SPDX-License-Identifier: MIT
"""What the options of ``svnicp run`` mean: where data come from, and the parameters.

A name that is no path is taken for a simulated scenario. The outcome is everything that decides a
run, and a description of it for run.yaml, by which a run that goes on is recognised.
"""

import dataclasses
import difflib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from svnicp.cli.arguments import UsageError
from svnicp.cli.data_flags import DataFlags
from svnicp.cli.parameters import preset_or_file, with_changes
from svnicp.cli.run import RunCommand
from svnicp.cli.run_imu import imu_noise
from svnicp.config import Config
from svnicp.data.dataset import Dataset, DatasetInfo
from svnicp.data.imu_noise import ImuNoise
from svnicp.data.with_knowledge import KnownDataset
from svnicp.errors import DatasetError
from svnicp.evaluation.truth_file import Truth, about_truth
from svnicp.recording import RunDescription
from svnicp.simulation.scenarios import SCENARIOS
from svnicp.simulation.simulate import simulate


@dataclass(frozen=True, eq=False)
class RunInputs:
    """Everything that decides a run."""

    dataset: Dataset
    info: DatasetInfo
    config: Config
    imu: ImuNoise | None
    """None for LiDAR alone."""
    imu_words: str
    """Where the noise is from, for people."""
    truth: Truth | None
    """Ground truth, where it is known."""

    def description(self, command: RunCommand, command_line: str) -> RunDescription:
        """Return what run.yaml says about the run."""
        more: dict[str, Any] = {
            "name": self.dataset.name,
            "imu": None if self.imu is None else dataclasses.asdict(self.imu),
            "T_body_lidar": self.dataset.T_body_lidar.tolist(),
            **about_truth(self.truth),
            "duration_s": command.duration,
            "map": command.map,
            "particles": command.keep_particles,
            "imu_rate": command.imu_rate,
            "reading": _changed_flags(command),
        }
        return RunDescription(
            data=" ".join(map(str, command.data)),
            command=command_line,
            seed=command.seed,
            config=self.config.to_dict(),
            more=more,
        )


def run_inputs(command: RunCommand) -> RunInputs:
    """Open the data and gather all that the options say."""
    config = configuration(command)
    dataset = open_data(command)
    info = dataset.info()
    noise, words = imu_noise(command, dataset)
    if command.imu_rate and noise is None:
        raise UsageError("--imu-rate is about the poses of an IMU, and none is used; leave it out.")
    return RunInputs(dataset, info, config, noise, words, ground_truth(dataset))


def ground_truth(dataset: Dataset) -> Truth | None:
    """Return the truth of a dataset, and what it is about."""
    if dataset.ground_truth is None:
        return None
    known = isinstance(dataset, KnownDataset)
    return Truth(dataset.ground_truth, dataset.T_body_truth if known else np.eye(4))


def open_data(command: RunCommand) -> Dataset:
    """Open a recording, or simulate the scenario that is named."""
    path, *others = command.data
    name = str(path)
    if others or path.exists():
        return _recording(command)
    if name not in SCENARIOS:
        raise no_such_data(name)
    changed = _changed_flags(command)
    if changed:
        flag = next(iter(changed)).replace("_", "-")
        raise UsageError(f"--{flag} is about recordings, and {name} is simulated; leave it out.")
    return simulate(name, command.seed, command.duration)


def no_such_data(name: str) -> DatasetError:
    """Error about data that are neither there nor simulated."""
    close = difflib.get_close_matches(name, SCENARIOS, n=1)
    hint = f"did you mean the scenario {close[0]}?" if close else "check the path."
    return DatasetError(
        f"{name}: there is no such file or folder, and no scenario of this name; {hint}"
    )


def configuration(command: RunCommand) -> Config:
    """Parameters of the preset, variant or file, with the options on top."""
    if command.variant is not None:
        config = Config.variant(command.variant, command.preset or "default")
    else:
        config = preset_or_file(command.preset, command.config)
    if command.algorithm is not None:
        config = replace(config, stein=replace(config.stein, algorithm=command.algorithm))
    if command.particles is not None:
        config = replace(config, stein=replace(config.stein, num_particles=command.particles))
    if command.noise is not None:
        config = replace(config, odometry=replace(config.odometry, noise=command.noise))
    return with_changes(config, command.set)


def default_folder(dataset: Dataset) -> Path:
    """Return where a run is written when nothing else is said."""
    return Path(f"svnicp-run-{dataset.name.replace('/', '-')}")


def _recording(command: RunCommand) -> Dataset:
    """Open a recording."""
    if command.duration is not None:
        name, kind = str(command.data[0]), "folder" if command.data[0].is_dir() else "file"
        here = f"{name} is a {kind} here, so it is not the scenario, and "
        raise UsageError(
            f"{here if name in SCENARIOS else ''}--duration is for simulated scenarios; use "
            "--max-scans instead."
        )
    return command.open()


def _changed_flags(command: RunCommand) -> dict[str, str]:
    """Return the options about reading that are set, as text."""
    fields = [field for field in dataclasses.fields(DataFlags) if field.name != "data"]
    return {
        field.name: str(getattr(command, field.name))
        for field in fields
        if getattr(command, field.name) != field.default
    }
