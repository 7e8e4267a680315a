# SPDX-License-Identifier: MIT
"""Which plots there are, and how the viewer arranges them: the scene left, curves right."""

from typing import NamedTuple

from svnicp.view.sdk import Stream, blueprint, rerun

WORLD, BODY = "world", "world/body"
"""Entities of what stays in its place, and of what moves with the body."""
TIME, SCAN = "time", "scan"
"""Timelines: since the first estimate, and the number of the estimate."""

XYZ = ("x", "y", "z")
X_COLOUR, Y_COLOUR, Z_COLOUR = (0, 114, 178), (213, 94, 0), (0, 158, 115)
AXIS_COLOURS = (X_COLOUR, Y_COLOUR, Z_COLOUR)


EYE_M = (-12.0, -6.0, 8.0)
"""Where the eye begins: behind the body and above it [m]."""


class Plot(NamedTuple):
    """Curves over time in one frame."""

    entity: str
    title: str
    names: tuple[str, ...] = ()
    """Of the curves of one entity; empty where every curve is an entity of its own."""


POSITION = Plot("plots/sigma_position", "sigma of the position, body axes [mm]", XYZ)
ROTATION = Plot("plots/sigma_rotation", "sigma of the rotation, body axes [mdeg]", XYZ)
NIS = Plot("plots/nis", "NIS (6 is expected)", ("NIS", "expected"))
GYROSCOPE = Plot("plots/bias_gyroscope", "bias of the gyroscope [deg/s]", XYZ)
ACCELEROMETER = Plot("plots/bias_accelerometer", "bias of the accelerometer [m/s^2]", XYZ)
STAGES = Plot("plots/time", "time per stage [ms]")
PLOTS = (POSITION, ROTATION, NIS, GYROSCOPE, ACCELEROMETER, STAGES)


def layout(*, imu: bool) -> object:
    """Return the arrangement of views; without an IMU there are no biases."""
    views = blueprint()
    shown = [plot for plot in PLOTS if imu or plot not in (GYROSCOPE, ACCELEROMETER)]
    curves = [views.TimeSeriesView(origin=plot.entity, name=plot.title) for plot in shown]
    scene = views.Spatial3DView(
        origin=WORLD,
        name="scan, map and way",
        eye_controls=views.EyeControls3D(
            position=EYE_M,
            look_target=(0.0, 0.0, 0.0),
            eye_up=(0.0, 0.0, 1.0),
            tracking_entity=BODY,
        ),
    )
    return views.Blueprint(
        views.Horizontal(scene, views.Vertical(*curves), column_shares=[3, 2]),
        views.TimePanel(state="collapsed", timeline=TIME),
        views.SelectionPanel(state="collapsed"),
        views.BlueprintPanel(state="collapsed"),
    )


def name_curves(stream: Stream) -> None:
    """Tell a stream what its curves are called and which colours they have."""
    sdk = rerun()
    for plot in PLOTS:
        if plot.names:
            colours = AXIS_COLOURS if plot.names == XYZ else ((86, 180, 233), (150, 150, 150))
            lines = sdk.SeriesLines(names=plot.names, colors=colours)
            stream.log(plot.entity, lines, static=True)
