# SPDX-License-Identifier: MIT
"""The noise of an IMU from its readings at rest: right where it can be told, refused elsewhere."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from recording_inputs import SmallDataset
from svnicp.arrays import Floats, Integers
from svnicp.cli.run import RunCommand
from svnicp.cli.run_imu import imu_noise
from svnicp.data import DatasetInfo, ImuSample
from svnicp.data.imu_noise import ImuNoise, known_imu
from svnicp.data.imu_noise_of_dataset import imu_noise_of
from svnicp.errors import InputError
from svnicp.simulation.imu import GRAVITY, IMUS, ImuModel


def resting(imu: ImuModel, seconds: float, seed: int = 0) -> tuple[Integers, Floats, Floats]:
    """Stamps and readings of an IMU that lies tilted and still."""
    rng = np.random.default_rng(seed)
    times = imu.sample_times(seconds)
    noise = np.repeat([imu.noise.gyroscope, imu.noise.accelerometer], 3) * np.sqrt(imu.rate_hz)
    readings = imu.biases(len(times), rng) + noise * rng.standard_normal((len(times), 6))
    readings[:, 3:] += GRAVITY * np.array([0.6, 0.0, 0.8])
    return np.rint(times * 1e9).astype(np.int64), readings[:, :3], readings[:, 3:]


@pytest.mark.parametrize("name", sorted(IMUS))
@pytest.mark.parametrize(("seconds", "percent"), [(2.01, 10.0), (10.0, 5.0)])
def test_the_density_of_every_model_is_found(name, seconds, percent):
    """Over 40 resting starts the typical error is what is promised, and there is no bias."""
    true = IMUS[name].noise
    found = [ImuNoise.from_rest(*resting(IMUS[name], seconds, seed)) for seed in range(40)]
    ratios = np.array(
        [[one.gyroscope / true.gyroscope, one.accelerometer / true.accelerometer] for one in found]
    )
    assert np.all(np.std(ratios, axis=0) < 0.01 * percent)
    assert_allclose(np.mean(ratios, axis=0), 1.0, atol=0.01 * percent * 4.0 / np.sqrt(40.0))
    assert np.abs(ratios - 1.0).max() < 0.035 * percent


def test_bias_and_slow_sway_do_not_count():
    """A large bias, a drift and a sway within the limits of rest leave the density as it is."""
    stamps, rates, forces = resting(IMUS["xsens_mti30"], 10.0)
    plain = ImuNoise.from_rest(stamps, rates, forces)
    seconds = (stamps - stamps[0])[:, None] * 1e-9
    sway = 0.002 * np.sin(seconds) + 0.0002 * seconds
    swayed = ImuNoise.from_rest(stamps, rates + 0.02 + sway, forces + 0.3 + 10.0 * sway)
    assert_allclose(swayed.gyroscope, plain.gyroscope, rtol=0.01)
    assert_allclose(swayed.accelerometer, plain.accelerometer, rtol=0.01)


def test_a_low_pass_filter_does_not_hide_the_noise():
    """Readings smoothed over 10 ms, as inside many IMUs, still show their density within 15 %."""
    imu = ImuModel("fast", IMUS["realsense"].noise, 1000.0, 0.0, 0.0)
    stamps, rates, forces = resting(imu, 10.0)
    windows = np.lib.stride_tricks.sliding_window_view
    smooth = [windows(part, 10, axis=0).mean(axis=-1) for part in (rates, forces)]
    found = ImuNoise.from_rest(stamps[9:], *smooth)
    assert_allclose(found.gyroscope, imu.noise.gyroscope, rtol=0.15)
    assert_allclose(found.accelerometer, imu.noise.accelerometer, rtol=0.15)


def test_readings_that_show_no_noise_are_refused():
    """Too few, in motion, with a gap, out of order, frozen, misshapen: one sentence each."""
    stamps, rates, forces = resting(IMUS["xsens_mti30"], 4.0)
    turning = rates + np.sin(3.0 * stamps[:, None] * 1e-9) * 0.05
    braking = forces + np.where(stamps[:, None] > 2e9, [0.0, 0.4, 0.0], 0.0)
    gap = np.where(stamps > 2e9, stamps + 300_000_000, stamps)
    swapped = stamps.copy()
    swapped[[7, 8]] = stamps[[8, 7]]
    bad = {
        "these are 101 in 1 s": (stamps[:101], rates[:101], forces[:101]),
        "moves": (stamps, turning, forces),
        "do not show its noise; take some": (stamps, rates, braking),
        "take some at rest": (stamps, rates + 0.2, forces),
        "some at rest": (stamps, rates, forces / GRAVITY),
        "without gaps": (gap, rates, forces),
        "order of time": (swapped, rates, forces),
        "never change": (stamps, np.full_like(rates, [0.01, 0.0, 0.02]), forces),
        "finite": (stamps, rates * np.nan, forces),
        r"not float64 \(400,\)": (stamps * 1e-9, rates, forces),
        r"\(400, 2\)": (stamps, rates[:, :2], forces),
        "arrays of numbers": ("a", "b", "c"),
        "in -4 s": (stamps[::-1].astype(np.uint64), rates, forces),
    }
    for said, readings in bad.items():
        with pytest.raises(InputError, match=said):
            ImuNoise.from_rest(*readings)


@pytest.mark.parametrize(
    ("spelt", "known"),
    [("Xsens MTi-30", "xsens_mti30"), ("Epson M-G365", "epson_m_g365"), ("OXTS RT3003", None)],
)
def test_names_of_recordings_find_their_model(spelt, known):
    """What the readers of recordings call an IMU is understood, and another is not guessed."""
    assert known_imu(spelt) == known
    if known is not None:
        assert ImuNoise.model(spelt) == ImuNoise.model(known)


class Drive(SmallDataset):
    """A recording whose IMU rests for some seconds and then turns."""

    def __init__(self, rest_s: float, imu: str = "") -> None:
        super().__init__(2)
        stamps, rates, forces = resting(IMUS["epson_m_g365"], rest_s + 2.0)
        rates[stamps > rest_s * 1e9] += 0.5
        rows = zip(stamps, rates, forces, strict=True)
        self.readings = [ImuSample(int(a), b, c) for a, b, c in rows]
        self.imu = imu

    def info(self) -> DatasetInfo:
        """Return what is known, which may include the IMU's name."""
        return DatasetInfo("made for a test", imu_period_s=0.005, imu=self.imu)

    def imu_samples(self) -> Iterator[ImuSample]:
        """Yield the readings."""
        return iter(self.readings)


def test_the_noise_of_a_recording_is_named_measured_or_generic():
    """The model in the recording counts first, then rest at the start; without both it is said."""
    true = IMUS["epson_m_g365"].noise
    noise, words = imu_noise_of(Drive(0.5, "Xsens MTi-30"))
    assert noise == ImuNoise.model("xsens_mti30")
    assert "Xsens MTi-30" in words
    noise, words = imu_noise_of(Drive(4.5))
    assert_allclose(noise.gyroscope, true.gyroscope, rtol=0.25)
    assert_allclose(noise.accelerometer, true.accelerometer, rtol=0.25)
    assert "at rest in the first 4 s" in words
    short = Drive(9.0)
    short.readings = short.readings[:500]
    assert "at rest in the first 2.5 s" in imu_noise_of(short)[1]
    noise, words = imu_noise_of(Drive(1.0))
    assert noise == ImuNoise.model("generic")
    assert "generic" in words


def test_the_command_can_measure_even_where_a_model_is_named():
    """--imu-model auto looks at the readings, and a generic noise comes with advice."""
    measured = RunCommand(data=(Path("small"),), imu_model="auto")
    assert imu_noise(measured, Drive(3.0, "Xsens MTi-30"))[0] == imu_noise_of(Drive(3.0))[0]
    plain = RunCommand(data=(Path("small"),))
    assert "--imu-model tells better" in imu_noise(plain, Drive(1.0))[1]


@pytest.mark.parametrize(("together", "left_out"), [(2, 0), (2, 1), (4, 0), (4, 1)])
def test_readings_stamped_in_bursts_are_refused(together: int, left_out: int):
    """Some at a time, as some drivers hand them over: their own times are not known."""
    stamps, rates, forces = resting(IMUS["xsens_mti30"], 4.0)
    number = np.arange(len(stamps))
    burst = stamps[number // together * together] + number % together * 100_000
    with pytest.raises(InputError, match="come in bursts"):
        ImuNoise.from_rest(burst[left_out:], rates[left_out:], forces[left_out:])
