# SPDX-License-Identifier: MIT
"""From a way through a world to a motion: rounded corners, speed over time, gait and vibration.

In: the corners of a way, a platform, and how long a recording is in metres and seconds. Out: a
smooth ``Motion``. A shorter recording is the beginning of a longer one.
"""

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline, PchipInterpolator
from scipy.ndimage import gaussian_filter1d, minimum_filter1d

from svnicp.arrays import Floats, Points
from svnicp.errors import InputError
from svnicp.simulation.motion import Motion
from svnicp.simulation.platforms import Platform, Sway
from svnicp.simulation.worlds.routes import wave
from svnicp.simulation.worlds.shapes import up

KNOT_S = 0.02
"""Time between two samples of a motion [s]."""
REST_S = 3.0
"""How long a platform stays where it is at the start, before the motion is smoothed [s]."""
SMOOTH_S = 0.1
"""Standard deviation of the smoothing over time [s]."""
STEP_M = 0.1
"""Distance of points along a rounded way [m]."""
GRAVITY_MPS2 = 9.81


@dataclass(frozen=True)
class Trip:
    """How a way is travelled."""

    length_m: float
    """Length of the whole recording [m]."""
    duration_s: float
    """Time of the whole recording [s]."""
    steady_s: float
    """The platform only pauses after this time [s]."""
    wander_m: float
    """How far it strays from the middle of the way [m]."""


def travel(
    way: Points,
    corner_m: float,
    platform: Platform,
    trip: Trip,
    duration_s: float,
    rng: np.random.Generator,
) -> Motion:
    """Return the motion of a platform along a way.

    Parameters
    ----------
    way
        (n, 3) corners, on the floor or in the air [m].
    corner_m
        Standard deviation of the smoothing that rounds corners [m].
    platform
        Speed, height and shaking.
    trip
        Length, time and pauses of the whole recording, of which this may be the beginning.
    duration_s
        How much of it is wanted [s].
    rng
        Decides how it strays, slows, pauses and shakes.
    """
    path = _path(way, corner_m, trip.length_m, _stray(trip, platform), rng)
    num_knots = round(trip.duration_s / KNOT_S) + 1
    times_s = np.arange(num_knots, dtype=np.float64) * KNOT_S
    pace, distance = _progress(path, platform, trip, times_s, rng)
    positions = _smooth(path(distance)) + up(platform.height_m)
    along = path(distance, 1)
    yaw = _smooth(np.unwrap(np.arctan2(along[:, 1], along[:, 0])))
    pitch, roll = np.zeros(num_knots), np.zeros(num_knots)
    if platform.follows_slope:
        pitch = -_smooth(np.arctan2(along[:, 2], np.hypot(along[:, 0], along[:, 1])))
    if platform.leans:
        lean_pitch, lean_roll = _lean(positions, yaw)
        pitch, roll = pitch + lean_pitch, roll + lean_roll
    angles = np.column_stack([yaw, pitch, roll])
    for sway in platform.sways:
        shift, turn = _shake(sway, times_s, pace, rng)
        cos_yaw, sin_yaw = np.cos(yaw), np.sin(yaw)
        positions[:, 0] += cos_yaw * shift[:, 0] - sin_yaw * shift[:, 1]
        positions[:, 1] += sin_yaw * shift[:, 0] + cos_yaw * shift[:, 1]
        positions[:, 2] += shift[:, 2]
        angles += turn[:, ::-1]  # yaw first
    wanted = round(duration_s / KNOT_S) + 1
    return Motion(times_s[:wanted], positions[:wanted], angles[:wanted])


def _stray(trip: Trip, platform: Platform) -> tuple[float, float]:
    """Return how far a platform strays sideways, and over which length at least [m]."""
    return trip.wander_m, max(12.0, 20.0 * platform.speed_mps)


def _path(
    way: Points,
    corner_m: float,
    length_m: float,
    stray: tuple[float, float],
    rng: np.random.Generator,
) -> CubicSpline:
    """Return the rounded way, strayed from by a width over a length [m], as a curve [m]."""
    sigma = corner_m / STEP_M
    first, last = way[1] - way[0], way[-1] - way[-2]
    reach = 5.0 * corner_m  # straight on at both ends, so that smoothing does not move them
    longer = np.concatenate(
        [
            [way[0] - reach * first / np.linalg.norm(first)],
            way,
            [way[-1] + reach * last / np.linalg.norm(last)],
        ]
    )
    dense = _resampled(longer)
    rounded = gaussian_filter1d(dense, sigma, axis=0, mode="nearest")
    cut = round(reach / STEP_M)
    rounded = rounded[cut : len(rounded) - cut]
    distance = _lengths(rounded)
    along = np.gradient(rounded[:, :2], axis=0)
    along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-9)
    strayed = stray[0] * wave(rng, distance, stray[1], 3.0 * stray[1])
    rounded[:, :2] += strayed[:, None] * np.column_stack([-along[:, 1], along[:, 0]])
    distance = _lengths(rounded)
    if distance[-1] < length_m:
        raise InputError(
            f"The way is {distance[-1]:.1f} m long, shorter than the {length_m:.1f} m "
            "of the recording; give it more corners."
        )
    return CubicSpline(distance, rounded)


def _progress(
    path: CubicSpline,
    platform: Platform,
    trip: Trip,
    times_s: Floats,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """Return the pace (1 is cruising, 0 rest) and the distance travelled [m] at each time.

    Bends are made longer by as much as they slow the platform down; at an even pace along these
    lengths it is then slow in bends.
    """
    places = np.arange(0.0, trip.length_m, STEP_M)
    places = np.append(places, trip.length_m)
    first, second = path(places, 1)[:, :2], path(places, 2)[:, :2]
    cross = np.abs(first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0])
    bend = np.maximum(cross / np.maximum(np.linalg.norm(first, axis=1), 1e-3) ** 3, 1e-9)
    slowed = np.minimum(1.0, np.sqrt(platform.sideways_mps2 / bend) / platform.speed_mps)
    brake = 0.5 * platform.speed_mps / STEP_M  # bends cast their shadow before
    slowed = minimum_filter1d(np.maximum(slowed, 0.2), 2 * int(2.0 * brake) + 1)
    slowed = gaussian_filter1d(slowed, brake)
    stretched = np.concatenate([[0.0], np.cumsum(np.diff(places) * 2 / (slowed[1:] + slowed[:-1]))])
    spare_s = trip.duration_s - REST_S - platform.ramp_s / 2 - stretched[-1] / platform.speed_mps
    pace = _smoothstep((times_s - REST_S) / platform.ramp_s)
    pace *= 1.0 + 0.1 * _waves(rng, times_s, (0.04, 0.12), 4)
    pace *= _unless_paused(rng, times_s, spare_s, trip.steady_s, platform.ramp_s)
    pace = _smooth(pace)
    gone = np.concatenate([[0.0], np.cumsum(0.5 * (pace[1:] + pace[:-1]))])
    distance = PchipInterpolator(stretched, places)(gone * (stretched[-1] / gone[-1]))
    return pace, distance


def _unless_paused(
    rng: np.random.Generator, times_s: Floats, spare_s: float, steady_s: float, ramp_s: float
) -> Floats:
    """Return 0 during pauses and 1 otherwise; pauses fill the time that is not needed to move."""
    typical_s = 0.02 * times_s[-1]
    num_pauses = int(max(spare_s, 0.0) / typical_s)
    if num_pauses == 0:
        return np.ones_like(times_s)
    lengths_s = rng.uniform(0.4, 1.6, num_pauses)
    lengths_s *= spare_s / lengths_s.sum()
    moving_s = np.sort(rng.uniform(steady_s + 5.0, times_s[-1] - spare_s - 5.0, num_pauses))
    starts_s = moving_s + np.cumsum(lengths_s) - lengths_s
    going = np.ones_like(times_s)
    for start_s, length_s in zip(starts_s, lengths_s, strict=True):
        first, last = np.searchsorted(times_s, [start_s, start_s + length_s + ramp_s])
        since_s = times_s[first:last] - start_s
        stop, start = _smoothstep(since_s / ramp_s), _smoothstep((since_s - length_s) / ramp_s)
        going[first:last] *= 1.0 - stop + start
    return going


def _shake(
    sway: Sway, times_s: Floats, pace: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return (n, 3) shifts [m] and (n, 3) roll, pitch, yaw [rad] of one kind of shaking."""
    strength = np.ones_like(pace) if sway.always else np.clip(pace, 0.0, 1.0)
    num_waves = 1 if sway.band_hz[0] == sway.band_hz[1] else 6
    shakes = [
        sigma * strength * _waves(rng, times_s, sway.band_hz, num_waves)
        for sigma in (*sway.position_m, *sway.rotation_rad)
    ]
    both = np.column_stack(shakes)
    return both[:, :3], both[:, 3:]


def _waves(
    rng: np.random.Generator, times_s: Floats, band_hz: tuple[float, float], num_waves: int
) -> Floats:
    """Return a sum of sines of random phase and frequency, of variance 1."""
    total = np.zeros_like(times_s)
    for frequency, phase in zip(
        rng.uniform(*band_hz, num_waves), rng.uniform(0.0, 2.0 * np.pi, num_waves), strict=True
    ):
        total += np.sin(2.0 * np.pi * frequency * times_s + phase)
    return total * np.sqrt(2.0 / num_waves)


def _lean(positions: Points, yaw: Floats) -> tuple[Floats, Floats]:
    """Return pitch and roll [rad] that point a multicopter's thrust along its acceleration."""
    velocity = np.gradient(positions, KNOT_S, axis=0)
    acceleration = gaussian_filter1d(np.gradient(velocity, KNOT_S, axis=0), 8.0, axis=0)
    ahead = np.cos(yaw) * acceleration[:, 0] + np.sin(yaw) * acceleration[:, 1]
    left = -np.sin(yaw) * acceleration[:, 0] + np.cos(yaw) * acceleration[:, 1]
    return np.arctan2(ahead, GRAVITY_MPS2), -np.arctan2(left, GRAVITY_MPS2)


def _resampled(way: Points) -> Points:
    """Return points every ``STEP_M`` along straight lines between corners."""
    distance = _lengths(way)
    places = np.arange(0.0, distance[-1], STEP_M)
    return np.column_stack([np.interp(places, distance, way[:, axis]) for axis in range(3)])


def _lengths(points: Points) -> Floats:
    """Return the distance of each point from the first, along the points [m]."""
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    return np.concatenate([[0.0], np.cumsum(np.maximum(steps, 1e-9))])


def _smooth(values: Floats) -> Floats:
    """Return values at the knots, smoothed over time; at both ends they go on as they were."""
    sigma = SMOOTH_S / KNOT_S
    reach = int(5.0 * sigma)
    around = [(reach, reach)] + [(0, 0)] * (values.ndim - 1)
    longer = np.pad(values, around, mode="reflect", reflect_type="odd")
    return gaussian_filter1d(longer, sigma, axis=0)[reach:-reach]


def _smoothstep(fraction: Floats) -> Floats:
    """Return 0 below 0, 1 above 1, and in between a curve with two continuous derivatives."""
    x = np.clip(fraction, 0.0, 1.0)
    return x * x * x * (x * (6.0 * x - 15.0) + 10.0)
