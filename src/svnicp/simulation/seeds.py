# SPDX-License-Identifier: MIT
"""Which seeds are for what: what is fitted on the training seeds is reported on the test seeds.

Seeds below 100 belong to neither set and are free to play with.
"""

from svnicp.errors import InputError

TRAINING_SEEDS: tuple[int, ...] = tuple(range(100, 140))
"""For choosing and fitting: presets, calibration, thresholds."""

TEST_SEEDS: tuple[int, ...] = tuple(range(200, 240))
"""For reporting only."""

SEED_SETS: dict[str, tuple[int, ...]] = {"training": TRAINING_SEEDS, "test": TEST_SEEDS}
"""Both sets by name."""


def seeds(name: str, count: int | None = None) -> tuple[int, ...]:
    """Return the first ``count`` seeds, or all, of the set called "training" or "test"."""
    if name not in SEED_SETS:
        raise InputError(f"There are no {name!r} seeds; choose {' or '.join(SEED_SETS)}.")
    chosen = SEED_SETS[name]
    if count is None:
        return chosen
    if not 0 < count <= len(chosen):
        raise InputError(f"There are {len(chosen)} {name} seeds, {count} were asked for.")
    return chosen[:count]
