# SPDX-License-Identifier: MIT
"""A listener that draws every estimate of a run on all screens that are still there.

A screen that goes away, or does not take what is drawn, is given up with a warning; the run never
notices.
"""

import logging
from collections.abc import Callable, Iterable

import numpy as np

from svnicp.arrays import Transform
from svnicp.data.measurements import Scan
from svnicp.errors import InputError
from svnicp.estimate import Estimate
from svnicp.evaluation.association import associate
from svnicp.evaluation.compared import truth_in_world
from svnicp.evaluation.truth_file import Truth
from svnicp.lie import transform_points
from svnicp.live.outgoing import points_at_estimate
from svnicp.odometry import Odometry
from svnicp.view import scene
from svnicp.view.curves import draw_curves
from svnicp.view.layout import BODY, SCAN, TIME, WORLD, name_curves
from svnicp.view.screens import Screen

log = logging.getLogger(__name__)

MAP_EVERY = 10
"""Scans between two drawings of the map."""
ELLIPSOID_EVERY_M = 2.0
"""Way between two ellipsoids that stay [m]."""
MOST_ON_WAY = 500
"""Points of the way, and ellipsoids on it; of a longer one, every second is drawn."""


class RunViewer:
    """Draws a run.

    Parameters
    ----------
    screens
        What to draw on.
    T_body_lidar
        (4, 4) where the LiDAR sits on the body.
    truth
        The true way, if it is known.
    """

    def __init__(
        self, screens: Iterable[Screen], T_body_lidar: Transform, truth: Truth | None = None
    ) -> None:
        self.screens = list(screens)
        self._T_body_lidar = T_body_lidar
        self._truth = truth
        self._number = 0
        self._start_ns: int | None = None
        self._way: list[Transform] = []
        self._kept: list[Estimate] = []
        """Estimates whose ellipsoids stay."""
        for screen in self.screens:
            self._try(screen, lambda screen: name_curves(screen.stream))

    def on_estimate(self, estimate: Estimate, scan: Scan, odometry: Odometry) -> None:
        """Draw an estimate, its scan, and now and then the map."""
        first = self._start_ns is None
        self._start_ns = estimate.stamp_ns if self._start_ns is None else self._start_ns
        self._remember(estimate)
        for screen in list(self.screens):
            if not screen.alive:
                self._give_up(screen, "it has ended")
                continue
            self._try(screen, lambda screen: self._draw(screen, estimate, scan, odometry, first))
        self._number += 1

    def close(self) -> None:
        """Hand over what is left to the screens that are still there."""
        for screen in list(self.screens):
            self._try(screen, lambda screen: screen.close())

    def _draw(
        self, screen: Screen, estimate: Estimate, scan: Scan, odometry: Odometry, first: bool
    ) -> None:
        """Draw everything on one screen."""
        stream = screen.stream
        assert self._start_ns is not None
        seconds = 1e-9 * (estimate.stamp_ns - self._start_ns)
        stream.set_time(TIME, duration=seconds)
        stream.set_time(SCAN, sequence=self._number)
        if first and self._truth is not None:
            _draw_truth(screen, estimate, self._truth)
        scene.draw_body(stream, estimate.T_world_body)
        scene.draw_scan(stream, points_at_estimate(scan, estimate, self._T_body_lidar))
        scene.draw_way(stream, np.array(self._way)[:, :3, 3])
        scene.draw_particles(stream, estimate)
        scene.draw_weak(stream, list(estimate.weak_directions))
        here, covariance = np.eye(4)[None], estimate.covariance[None, :3, :3]
        scene.draw_ellipsoids(stream, f"{BODY}/three_sigma", here, covariance)
        if self._kept[-1] is estimate:
            poses = np.array([one.T_world_body for one in self._kept])
            covariances = np.array([one.covariance[:3, :3] for one in self._kept])
            scene.draw_ellipsoids(stream, f"{WORLD}/three_sigma", poses, covariances)
        if self._number % MAP_EVERY == 0:
            scene.draw_map(stream, odometry.local_map.points())
        draw_curves(stream, estimate)

    def _remember(self, estimate: Estimate) -> None:
        """Keep the way, and ellipsoids at equal distances along it."""
        self._way.append(estimate.T_world_body)
        if len(self._way) > MOST_ON_WAY:
            self._way = [*self._way[:-1:2], self._way[-1]]
        here = estimate.T_world_body[:3, 3]
        last = self._kept[-1].T_world_body[:3, 3] if self._kept else np.full(3, np.inf)
        if not np.linalg.norm(here - last) < ELLIPSOID_EVERY_M:
            self._kept.append(estimate)
        if len(self._kept) > MOST_ON_WAY:
            self._kept = [*self._kept[:-1:2], self._kept[-1]]

    def _try(self, screen: Screen, draw: Callable[[Screen], None]) -> None:
        """Draw on a screen; whatever goes wrong there costs the screen, not the run."""
        try:
            draw(screen)
        except Exception as error:
            self._give_up(screen, f"{type(error).__name__}: {error}")

    def _give_up(self, screen: Screen, why: str) -> None:
        """Go on without a screen."""
        self.screens = [other for other in self.screens if other is not screen]
        screen.let_go()
        log.warning("%s shows nothing any more (%s); the run goes on.", screen.name, why)


def _draw_truth(screen: Screen, estimate: Estimate, truth: Truth) -> None:
    """Draw the true way, laid onto the first estimate; where that has no truth, nothing."""
    try:
        found = associate(np.array([estimate.stamp_ns]), truth.trajectory)
    except InputError:
        return
    if found.position_only:
        return
    T_world_truth = truth_in_world((estimate.T_world_body @ truth.T_body_truth)[None], found)
    positions = truth.trajectory.T_world_body[:, :3, 3]
    scene.draw_truth(screen.stream, transform_points(T_world_truth, positions))
