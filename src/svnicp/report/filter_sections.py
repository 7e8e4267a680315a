# SPDX-License-Identifier: MIT
"""What the filter did with each scan: gain, innovation, NIS, velocity, biases."""

import math

import numpy as np
from scipy import stats

from svnicp.arrays import Floats
from svnicp.report.figure import (
    Figure,
    Section,
    curve,
    level,
    level_label,
    shade,
    three_curves,
    time_layout,
)
from svnicp.report.numbers import angle_unit, length_unit, share
from svnicp.report.run_series import RunSeries, Scans

NIS_LIMIT = float(stats.chi2.ppf(0.95, 6))
"""Below this are 95 of 100 squared innovations of a filter that is right: chi-square, six axes."""

NOTHING_FUSED = "Left out: no scan was fused with a prediction in this run."


def gain_section(series: RunSeries, drawn: Scans) -> Section:  # noqa: ARG001
    """How much each scan was trusted, per axis."""
    title = "Kalman gain"
    if not np.isfinite(drawn.kalman_gain).any():
        return Section("gain", title, left_out=NOTHING_FUSED)
    halves = {"position": slice(0, 3), "rotation": slice(3, 6)}
    figures = []
    for name, half in halves.items():
        layout = time_layout("gain [-]", shapes=shade(~drawn.used, drawn.seconds, "--unused"))
        layout["yaxis"]["range"] = [-0.03, 1.03]
        data = three_curves(drawn.kalman_gain[:, half], "", _names(name))
        figures.append(Figure(f"gain-{name}", name.capitalize(), data, layout))
    return Section(
        "gain",
        title,
        "1 trusts the scan, 0 the prediction. Where the gain of an axis falls, the scans do not "
        "tell it any more and the motion model carries it.",
        tuple(figures),
    )


def innovation_section(series: RunSeries, drawn: Scans) -> Section:
    """How far scans were from predictions, alone and in standard deviations."""
    title = "Innovation"
    if not np.isfinite(drawn.innovation).any():
        return Section("innovation", title, left_out=NOTHING_FUSED)
    known = series.scans.nis[np.isfinite(series.scans.nis)]
    caption = "Pose by the scan minus prediction, in body axes; outliers may lie outside."
    figures = []
    if len(known):
        caption += (
            " NIS is its square in stated standard deviations: 6 is expected on average, and "
            f"{known.mean():.2f} is found; 95 % should be below {NIS_LIMIT:.1f}, and "
            f"{share(float(np.mean(known <= NIS_LIMIT)))} are."
        )
        figures.append(_nis(drawn))
    for name, half, choose in (
        ("position", slice(0, 3), length_unit),
        ("rotation", slice(3, 6), angle_unit),
    ):
        values = drawn.innovation[:, half]
        reach = usual_reach(values)
        unit = choose(np.array([reach]))
        data = three_curves(unit.factor * values, unit.symbol, _names(name))
        layout = time_layout(f"innovation [{unit.symbol}]")
        layout["yaxis"]["range"] = [-unit.factor * reach, unit.factor * reach]
        figures.append(Figure(f"innovation-{name}", f"{name.capitalize()}", data, layout))
    return Section("innovation", title, caption, tuple(figures))


def motion_section(series: RunSeries, drawn: Scans) -> Section:  # noqa: ARG001
    """Velocity, and the biases of the IMU."""
    speed = np.linalg.norm(drawn.velocity_world, axis=1)
    velocity = [
        *three_curves(drawn.velocity_world, "m/s"),
        curve(speed, "speed", "--muted", "m/s", width=2.2),
    ]
    has_imu = bool(np.isfinite(drawn.gyroscope_bias).any())
    layout = time_layout("velocity [m/s]")
    title = "Velocity, in world axes"
    figures = [Figure("velocity", title, velocity, layout, wide=not has_imu)]
    missing = ""
    biases = {
        "gyroscope": (np.degrees(drawn.gyroscope_bias), "deg/s"),
        "accelerometer": (drawn.accelerometer_bias, "m/s²"),
    }
    if has_imu:
        for name, (values, unit) in biases.items():
            layout = time_layout(f"bias [{unit}]")
            title = f"Bias of the {name}, in body axes"
            figures.append(Figure(f"bias-{name}", title, three_curves(values, unit), layout))
    else:
        missing = "Biases are left out: the run is LiDAR alone and has none."
    return Section("motion", "Velocity and biases", figures=tuple(figures), left_out=missing)


def _nis(drawn: Scans) -> Figure:
    """Squared innovation on a logarithmic axis, with its bound."""
    data = [
        {
            **curve(drawn.nis, "NIS", "--x", ""),
            "mode": "markers",
            "marker": {"color": "--x", "size": 4},
        }
    ]
    shapes = [level(6.0, "--muted", "dot"), level(NIS_LIMIT, "--error")]
    layout = time_layout("NIS [-]", shapes=shapes, showlegend=False)
    known = drawn.nis[drawn.nis > 0.0]
    low, high = max(0.03, float(known.min())), max(20.0, float(known.max()))
    layout["yaxis"] |= {"type": "log", "dtick": 1, "exponentformat": "none"}
    layout["yaxis"]["range"] = [math.log10(0.7 * low), math.log10(1.5 * high)]
    layout["annotations"] = [
        level_label(math.log10(NIS_LIMIT), "95 % of χ²(6)", "--error"),
        level_label(math.log10(6.0), "expected", "--muted", "top"),
    ]
    return Figure("nis", "NIS: squared innovation in standard deviations", data, layout, wide=True)


def usual_reach(values: Floats) -> float:
    """Half the height of a plot that shows all but a few outliers among some values."""
    sizes = np.abs(values[np.isfinite(values)])
    return 1.5 * max(float(np.quantile(sizes, 0.98)), 1e-9)


def _names(half: str) -> tuple[str, ...]:
    """Names of three axes in a legend."""
    word = "along" if half == "position" else "about"
    return tuple(f"{word} {axis}" for axis in "xyz")
