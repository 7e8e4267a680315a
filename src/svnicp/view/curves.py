# SPDX-License-Identifier: MIT
"""What is drawn over time: sigma of each axis, NIS, biases, and the time of each stage."""

import numpy as np

from svnicp.arrays import Floats
from svnicp.estimate import Estimate
from svnicp.view.layout import (
    ACCELEROMETER,
    GYROSCOPE,
    NIS,
    POSITION,
    ROTATION,
    STAGES,
    Plot,
)
from svnicp.view.sdk import Stream, rerun

EXPECTED_NIS = 6.0


def draw_curves(stream: Stream, estimate: Estimate) -> None:
    """Add one estimate to all curves."""
    _add(stream, POSITION, 1e3 * estimate.sigmas[:3])
    _add(stream, ROTATION, 1e3 * np.degrees(estimate.sigmas[3:]))
    if estimate.nis is not None:
        _add(stream, NIS, np.array([estimate.nis, EXPECTED_NIS]))
    if estimate.gyroscope_bias is not None:
        _add(stream, GYROSCOPE, np.degrees(estimate.gyroscope_bias))
    if estimate.accelerometer_bias is not None:
        _add(stream, ACCELEROMETER, estimate.accelerometer_bias)
    for stage, seconds in estimate.timing_s.items():
        stream.log(f"{STAGES.entity}/{stage}", rerun().Scalars([1e3 * seconds]))


def _add(stream: Stream, plot: Plot, values: Floats) -> None:
    stream.log(plot.entity, rerun().Scalars(values))
