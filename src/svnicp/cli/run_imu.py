# SPDX-License-Identifier: MIT
"""Whether ``svnicp run`` uses an IMU, and what noise it is taken to have."""

from dataclasses import replace

from svnicp.cli.arguments import UsageError
from svnicp.cli.run import RunCommand
from svnicp.config import VARIANTS
from svnicp.data.dataset import Dataset
from svnicp.data.imu_noise import ImuNoise
from svnicp.data.imu_noise_of_dataset import GENERIC, imu_noise_of, noise_at_start

AUTO = "auto"
"""The model that stands for measuring the noise in the recording."""


def imu_noise(command: RunCommand, dataset: Dataset) -> tuple[ImuNoise | None, str]:
    """Noise of the IMU and where it is from; None to do without an IMU."""
    variant = VARIANTS.get(command.variant or "")
    told = bool(command.imu_model or command.gyroscope_noise)
    if variant is not None and not variant.uses_imu and told:
        raise UsageError(
            f"--variant {command.variant} is LiDAR alone; leave out the options about an IMU."
        )
    if dataset.info().imu_period_s is None:
        if variant is not None and variant.uses_imu:
            raise UsageError(f"{command.variant} needs an IMU, and the recording has none.")
        if command.imu or told:
            raise UsageError("the recording has no IMU; leave out the options about one.")
        return None, "none: LiDAR alone"
    if command.no_imu or (variant is not None and not variant.uses_imu):
        return None, "left out: LiDAR alone"
    if command.imu_model == AUTO:
        return _measured(dataset)
    if command.imu_model is not None:
        return ImuNoise.model(command.imu_model), f"noise of {command.imu_model}, as told"
    if command.gyroscope_noise is not None and command.accelerometer_noise is not None:
        noise = replace(
            ImuNoise.model(GENERIC),
            gyroscope=command.gyroscope_noise,
            accelerometer=command.accelerometer_noise,
        )
        return noise, "noise as told"
    noise, words = imu_noise_of(dataset)
    guessed = noise == ImuNoise.model(GENERIC)
    return noise, f"{words}; --imu-model tells better" if guessed else words


def _measured(dataset: Dataset) -> tuple[ImuNoise, str]:
    """The noise in the rest at the start of a recording."""
    measured = noise_at_start(dataset)
    if measured is None:
        raise UsageError(
            f"{dataset.name} does not begin with two seconds of rest, so the IMU's noise cannot be "
            "measured; name its model or its densities."
        )
    return measured
