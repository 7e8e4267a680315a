# SPDX-License-Identifier: MIT
"""What a study is asked for: presets, seeds, how long, on which data; and what a study is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from svnicp.config import VARIANTS, Config
from svnicp.simulation.scenarios import scenario
from svnicp.simulation.seeds import seeds
from svnicp.studies.job import Job
from svnicp.studies.source import Source
from svnicp.studies.store import Results
from svnicp.studies.tables import Table

QUICK_S, QUICK_SKIP_S = 6.0, 1.0
"""A quick study drives this long, and leaves out the scans of the rest at the start [s]."""

PARTICLES = (1, 5, 10, 30, 50, 100)
QUICK_PARTICLES = (5, 10, 30)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is asked for."""

    presets: tuple[str, ...] = ("default", "paper")
    quick: bool = False
    """Few scenarios, one seed, a few seconds: to see that everything works."""
    num_seeds: int | None = None
    """Test seeds of every scenario; each study has its own number if left out."""
    recordings: tuple[Source, ...] = ()
    """Recordings to be used in place of the scenarios."""
    sparse: int = 1
    """One of so many columns of a LiDAR is simulated; for tests."""
    duration_s: float | None = None
    """Another time to simulate than the study's own [s]."""
    own: Config | None = None
    """Configuration that replaces the default preset."""
    peers: tuple[str, ...] = ()
    """Peers that stand in the tables."""
    scenarios: tuple[str, ...] = ()
    """Other scenarios than the study's own."""

    def seeds(self, usual: int, quick: int = 1) -> tuple[int, ...]:
        """Test seeds of a study that usually takes so many."""
        return seeds("test", self.num_seeds or (quick if self.quick else usual))

    def chosen(self, usual: Sequence[str], quick: Sequence[str]) -> tuple[str, ...]:
        """Scenarios of a study."""
        return self.scenarios or tuple(quick if self.quick else usual)

    def source(self, name: str, seed: int) -> Source:
        """Scenario with a seed, as long as this plan wants it."""
        duration_s = self.duration_s or (QUICK_S if self.quick else scenario(name).duration_s)
        skip_s = QUICK_SKIP_S if self.quick and duration_s > 2.0 * QUICK_SKIP_S else 0.0
        return Source(
            name=name, seed=seed, duration_s=duration_s, sparse=self.sparse, skip_s=skip_s
        )

    def sources(self, names: Sequence[str], seed_numbers: Sequence[int]) -> list[Source]:
        """Recordings if there are some, or all scenarios with all seeds."""
        if self.recordings:
            return list(self.recordings)
        return [self.source(name, seed) for name in names for seed in seed_numbers]

    def config(self, preset: str) -> Config:
        """Parameters of a preset."""
        return self.own if self.own is not None and preset == "default" else Config.preset(preset)

    def variant(self, name: str, preset: str) -> Config:
        """Parameters of a preset made one row of the paper's tables."""
        base, config = self.config(preset), Config.variant(name, preset)
        if base is Config.preset(preset):
            return config
        noise = VARIANTS[name].noise
        stein = base.stein if VARIANTS[name].algorithm == "svn" else config.stein
        return replace(base, stein=stein, odometry=replace(base.odometry, noise=noise))

    @property
    def particles(self) -> tuple[int, ...]:
        """Numbers of particles that are tried."""
        return QUICK_PARTICLES if self.quick else PARTICLES


def no_figures(plan: Plan, results: Results, folder: Path) -> list[Path]:  # noqa: ARG001
    """Draw nothing."""
    return []


@dataclass(frozen=True)
class Study:
    """One experiment."""

    name: str
    words: str
    """What it shows."""
    jobs: Callable[[Plan], list[Job]]
    tables: Callable[[Plan, Results], list[Table]]
    figures: Callable[[Plan, Results, Path], list[Path]] = field(default=no_figures)
    """Draws into a folder and returns what it has drawn, without suffixes."""
