# SPDX-License-Identifier: MIT
"""People who walk and cars that drive while a scan is taken.

In: to-and-fro paths. Out: at any time where everything is and how fast it moves, so that each beam
meets it where it was at the beam's own time.
"""

from dataclasses import dataclass

import numpy as np

from svnicp.arrays import Floats
from svnicp.errors import InputError
from svnicp.simulation.shape_tables import cylinder_rows, yaw_box_rows


@dataclass(frozen=True)
class Mover:
    """Something that goes to and fro on a straight line, upright.

    Parameters
    ----------
    start, end
        Where the middle of its bottom turns round [m].
    speed_mps
        How fast it goes [m/s].
    half_size
        Half of its length, width and height [m].
    phase_s
        How long before time 0 it was at the start [s].
    is_round
        Whether it is a cylinder, of radius ``half_size[0]``, instead of a box along its line.
    """

    start: tuple[float, float, float]
    end: tuple[float, float, float]
    speed_mps: float
    half_size: tuple[float, float, float]
    phase_s: float = 0.0
    is_round: bool = False

    def __post_init__(self) -> None:
        if not self.speed_mps > 0.0 or min(self.half_size) <= 0.0 or self.start == self.end:
            raise InputError("A mover needs a speed, a size and two places to go between.")

    def position(self, time_s: float) -> Floats:
        """Return where the middle of its bottom is [m]."""
        way = np.subtract(self.end, self.start)
        length = float(np.linalg.norm(way))
        gone = self.speed_mps * (time_s + self.phase_s) % (2.0 * length)
        return np.array(self.start) + way * (min(gone, 2.0 * length - gone) / length)

    def row(self, time_s: float) -> Floats:
        """Return its shape at a time, as a row of ``svnicp.kernels.shapes``."""
        x, y, bottom = self.position(time_s)
        half_length, half_width, half_height = self.half_size
        if self.is_round:
            cylinder = [x, y, half_length, bottom, bottom + 2.0 * half_height]
            return cylinder_rows(np.array([cylinder]))[0]
        way = np.subtract(self.end, self.start)
        yaw = np.arctan2(way[1], way[0])
        centre = [x, y, bottom + half_height]
        box = [*centre, half_length, half_width, half_height, yaw]
        return yaw_box_rows(np.array([box]))[0]


def person(
    start: tuple[float, float, float],
    end: tuple[float, float, float],
    speed_mps: float = 1.2,
    phase_s: float = 0.0,
) -> Mover:
    """Return someone 1.75 m tall who walks to and fro; arguments as in ``Mover``."""
    return Mover(start, end, speed_mps, (0.25, 0.25, 0.875), phase_s, is_round=True)


def car(
    start: tuple[float, float, float],
    end: tuple[float, float, float],
    speed_mps: float = 8.0,
    phase_s: float = 0.0,
) -> Mover:
    """Return a car, 4.4 x 1.8 x 1.5 m, that drives to and fro; arguments as in ``Mover``."""
    return Mover(start, end, speed_mps, (2.2, 0.9, 0.75), phase_s)


def rows_and_velocities(
    movers: tuple[Mover, ...], start_s: float, duration_s: float
) -> tuple[Floats, Floats]:
    """Return (m, 9) shapes at the start of a scan and their (m, 3) mean velocities in it [m/s]."""
    rows = np.array([mover.row(start_s) for mover in movers])
    ways = [mover.position(start_s + duration_s) - mover.position(start_s) for mover in movers]
    return rows, np.array(ways) / duration_s
