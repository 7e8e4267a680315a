# SPDX-License-Identifier: MIT
"""Sigma of each of the six axes over time, with the true error where it is known.

Errors are held against three sigma: a curve that leaves the shaded area was not foreseen.
"""

import numpy as np

from svnicp.arrays import Floats
from svnicp.report.figure import Figure, Section, band, curve, shade, time_layout
from svnicp.report.numbers import Unit, angle_unit, length_unit
from svnicp.report.run_series import RunSeries, Scans

AXES = ("along x", "along y", "along z", "about x (roll)", "about y (pitch)", "about z (yaw)")


def uncertainty_section(series: RunSeries, drawn: Scans) -> Section:
    """Six plots of sigma and error since the start."""
    title = "Uncertainty and error"
    if drawn.sigmas is None:
        return Section("uncertainty", title, left_out="Left out: the run has no covariance.csv.")
    sigmas, errors = drawn.sigmas, drawn.errors
    units = _units(sigmas, errors)
    figures = tuple(_figure(drawn, axis, sigmas, errors, units[axis // 3]) for axis in range(6))
    legend = [("band", "--sigma-3", "3 sigma"), ("line", "--sigma", "1 sigma")]
    if errors is not None:
        legend.append(("line", "--error", "true error, absolute value"))
    if drawn.weak.any():
        legend.append(("band", "--weak", "axis hardly constrained"))
    if not drawn.used.all():
        legend.append(("band", "--unused", "scan not used"))
    missing = ""
    if series.truth is None:
        missing = f"True errors are left out: {series.no_truth}"
    elif series.truth.position_only:
        missing = "The truth has no rotations, so their errors are left out."
    return Section(
        "uncertainty",
        title,
        "Error since the start of the run, along and about the axes of the body. If the stated "
        "sigmas are right, the error leaves the shaded area three times in a thousand.",
        figures,
        legend=tuple(legend),
        left_out=missing,
    )


def _figure(drawn: Scans, axis: int, sigmas: Floats, errors: Floats | None, unit: Unit) -> Figure:
    """Sigma and error of one axis."""
    sigma = unit.factor * sigmas[:, axis]
    data = [
        band(3.0 * sigma, "3 sigma", "--sigma-3", unit.symbol),
        curve(sigma, "1 sigma", "--sigma", unit.symbol),
    ]
    if errors is not None and axis < errors.shape[1]:
        error = unit.factor * np.abs(errors[:, axis])
        data.append(curve(error, "|error|", "--error", unit.symbol))
    layout = time_layout(f"{'position' if axis < 3 else 'rotation'} [{unit.symbol}]")
    layout["showlegend"] = False
    layout["yaxis"]["rangemode"] = "tozero"
    layout["shapes"] = [
        *shade(drawn.weak[:, axis], drawn.seconds, "--weak"),
        *shade(~drawn.used, drawn.seconds, "--unused"),
    ]
    return Figure(f"sigma-{axis}", AXES[axis], data, layout)


def _units(sigmas: Floats, errors: Floats | None) -> tuple[Unit, Unit]:
    """Units for translation and rotation."""
    known = np.zeros((1, 6)) if errors is None else errors
    return (
        length_unit(3.0 * sigmas[:, :3], known[:, :3]),
        angle_unit(3.0 * sigmas[:, 3:], known[:, 3:]),
    )
