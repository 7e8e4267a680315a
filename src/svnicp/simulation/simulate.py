# SPDX-License-Identifier: MIT
"""One call from the name of a scenario to its measurements: ``simulate("long_corridor", seed=3)``.

The seed decides clutter, how the platform strays, pauses and shakes, biases and noise. The same
seed gives the same bits; a shorter run is the beginning of a longer one.
"""

import zlib
from dataclasses import dataclass

import numpy as np

from svnicp.errors import InputError
from svnicp.simulation.imu import IMUS
from svnicp.simulation.motion import Motion
from svnicp.simulation.rigs import RIGS, Rig
from svnicp.simulation.scenarios import Scenario
from svnicp.simulation.scenarios import scenario as find_scenario
from svnicp.simulation.sensors import SENSORS
from svnicp.simulation.simulated import SimulatedDataset
from svnicp.simulation.travel import Trip, travel
from svnicp.simulation.worlds.world import World


@dataclass(frozen=True, eq=False)
class Stage:
    """A scenario with everything decided but the noise of the sensors."""

    scenario: Scenario
    world: World
    motion: Motion
    sensor_seed: int
    """Seed of noise and biases."""


def simulate(
    name: str,
    seed: int = 0,
    duration_s: float | None = None,
    *,
    full: bool = False,
    rig: str | None = None,
) -> SimulatedDataset:
    """Return the measurements of a scenario, made while they are read.

    Parameters
    ----------
    name
        Which scenario; ``SCENARIOS`` has them all.
    seed
        Decides everything random.
    duration_s
        Time to simulate, up to that of the full run; the scenario's own short run by default [s].
    full
        Whether to simulate the paper's whole length instead.
    rig
        Other sensors than the scenario's own, such as GEODE's "beta" or "gamma"; see ``RIGS``.

    Raises
    ------
    InputError
        If there is no such scenario or rig, or it is not that long.
    """
    staged = stage(name, seed, duration_s, full=full)
    mounted = _rig(staged.scenario, rig)
    return SimulatedDataset(
        name,
        staged.world.scene,
        staged.motion,
        SENSORS[mounted.sensor],
        IMUS[mounted.imu],
        T_body_lidar=mounted.T_body_lidar,
        effects=staged.world.effects,
        movers=staged.world.movers,
        seed=staged.sensor_seed,
        point_times=mounted.point_times,
    )


def stage(
    name: str, seed: int = 0, duration_s: float | None = None, *, full: bool = False
) -> Stage:
    """Return the world of a scenario and the motion through it; the arguments of ``simulate``."""
    if not isinstance(name, str):
        raise InputError(f"A scenario is named by a text, not {name!r}.")
    scenario = find_scenario(name)
    if not isinstance(seed, int | np.integer) or isinstance(seed, bool):
        raise InputError(f"A seed must be a whole number, not {seed!r}.")
    if seed < 0:
        raise InputError(f"A seed must not be negative, got {seed}.")
    duration_s = _duration(scenario, duration_s, full=full)
    # The name takes part, so that equal seeds of two scenarios have nothing in common.
    sequence = np.random.SeedSequence([zlib.crc32(name.encode()), int(seed)])
    for_world, for_motion, for_sensors = sequence.spawn(3)
    world = scenario.build(np.random.default_rng(for_world), scenario.full_length_m)
    trip = Trip(
        scenario.full_length_m,
        scenario.full_duration_s,
        scenario.duration_s,
        scenario.wander_m,
    )
    motion = travel(
        world.route,
        world.corner_m,
        scenario.platform,
        trip,
        duration_s,
        np.random.default_rng(for_motion),
    )
    return Stage(scenario, world, motion, int(for_sensors.generate_state(1)[0]))


def _rig(scenario: Scenario, name: str | None) -> Rig:
    """Return the rig of this name, or the scenario's own."""
    if name is None:
        return scenario.rig
    if name not in RIGS:
        raise InputError(f"There is no rig {name!r}; choose one of {', '.join(RIGS)}.")
    return RIGS[name]


def _duration(scenario: Scenario, duration_s: float | None, *, full: bool) -> float:
    """Return how long to simulate [s]."""
    if full and duration_s is not None:
        raise InputError("Ask for a duration or for the full run, not for both.")
    if full:
        return scenario.full_duration_s
    if duration_s is None:
        return scenario.duration_s
    if isinstance(duration_s, bool) or not isinstance(duration_s, int | float | np.number):
        raise InputError(f"A duration must be a number of seconds, not {duration_s!r}.")
    if not 0.5 <= duration_s <= scenario.full_duration_s:
        raise InputError(
            f"Scenario {scenario.name!r} can last from 0.5 to {scenario.full_duration_s:g} s, "
            f"not {duration_s:g} s."
        )
    return duration_s
