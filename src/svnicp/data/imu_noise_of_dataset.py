# SPDX-License-Identifier: MIT
"""The noise of a dataset's IMU: by its model, else from rest at the start, else generic.

In: a dataset with an IMU. Out: the noise, and where it is from in words, which belong into a
summary: a generic noise is a guess.
"""

from itertools import takewhile

import numpy as np

from svnicp.data.dataset import Dataset
from svnicp.data.imu_noise import ImuNoise, known_imu
from svnicp.data.imu_rest import MIN_REST_S
from svnicp.errors import InputError

GENERIC = "generic"
"""The model of an IMU about which nothing is known."""
LONGEST_REST_S = 10
"""More rest at the start than this is not looked at [s]."""


def imu_noise_of(dataset: Dataset) -> tuple[ImuNoise, str]:
    """Noise of the IMU of a dataset, and where it is from."""
    named = dataset.info().imu
    known = known_imu(named)
    if known is not None:
        return ImuNoise.model(known), f"noise of {named}"
    measured = noise_at_start(dataset)
    if measured is not None:
        return measured
    return ImuNoise.model(GENERIC), "noise of a generic one, because no model is known"


def noise_at_start(dataset: Dataset) -> tuple[ImuNoise, str] | None:
    """Noise measured in the rest with which a dataset begins, and words; None without rest."""
    samples = dataset.imu_samples()
    first = next(samples, None)
    if first is None:
        return None
    last_ns = first.stamp_ns + LONGEST_REST_S * 1_000_000_000
    readings = [first, *takewhile(lambda one: one.stamp_ns <= last_ns, samples)]
    stamps_ns = np.array([one.stamp_ns for one in readings])
    rates = np.array([one.angular_velocity for one in readings])
    forces = np.array([one.linear_acceleration for one in readings])
    for seconds in range(LONGEST_REST_S, int(MIN_REST_S) - 1, -1):
        kept = stamps_ns <= first.stamp_ns + seconds * 1_000_000_000
        try:
            noise = ImuNoise.from_rest(stamps_ns[kept], rates[kept], forces[kept])
        except InputError:  # it moves sooner, or there is less of it
            continue
        rest_s = round((stamps_ns[kept][-1] - stamps_ns[0]) * 1e-9, 1)  # a recording may be shorter
        words = (
            f"noise measured at rest in the first {rest_s:g} s: "
            f"{noise.gyroscope:.2g} rad/s/sqrt(Hz), {noise.accelerometer:.2g} m/s^2/sqrt(Hz)"
        )
        return noise, words
    return None
