# SPDX-License-Identifier: MIT
"""What a builder of worlds returns: surroundings, a way through them, and what disturbs the view.

A builder takes a random generator (for what may vary) and the length of the way it must offer. A
platform then travels that way (``platforms``), and a sensor looks around from there.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from svnicp.arrays import Points
from svnicp.simulation.effects import Effects
from svnicp.simulation.geometry import Scene
from svnicp.simulation.movers import Mover


@dataclass(frozen=True, eq=False)
class World:
    """Surroundings of a scenario and the way through them."""

    scene: Scene
    """What stands still."""
    route: Points
    """(n, 3) corners of the way: on the floor, or in the air for what flies [m]."""
    corner_m: float = 0.5
    """Standard deviation of the smoothing that rounds the corners of the way [m]."""
    movers: tuple[Mover, ...] = ()
    """Who walks or drives about."""
    effects: Effects = field(default_factory=Effects)
    """What happens to beams: dust, fog, loss."""


Builder: TypeAlias = Callable[[np.random.Generator, float], World]
"""Makes a world of a generator and the length of the way that it must offer [m]."""
