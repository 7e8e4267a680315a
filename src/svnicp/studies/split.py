# SPDX-License-Identifier: MIT
"""Which scenarios are fitted on and which are only reported, and which belong together.

``svnicp calibrate`` sees the training seeds of ``TRAINING_SCENARIOS`` and nothing else. A report is
about test seeds; of the training scenarios and, separately, of those that no parameter has seen.
"""

from svnicp.simulation.scenarios import SCENARIOS

TRAINING_SCENARIOS: tuple[str, ...] = (
    "urban", "cave", "nuclear1", "sewerage", "long_corridor", "offroad", "waterway_short",
    "room", "bare_corridor",
)  # fmt: skip
"""Indoors and outdoors, rough and plain, slow and fast, seen well and hardly at all: what a fit
should know. Every sensor of the suite but the swung and the climbing ones is among them."""

SUBT_MRS: tuple[str, ...] = tuple(n for n, row in SCENARIOS.items() if row.suite == "SubT-MRS")
GEODE: tuple[str, ...] = tuple(n for n, row in SCENARIOS.items() if row.suite == "GEODE")
PAPER_SCENARIOS: tuple[str, ...] = SUBT_MRS + GEODE
"""The 17 scenarios that stand for the paper's sequences, in the order of its tables."""

HELD_OUT: tuple[str, ...] = tuple(n for n in SCENARIOS if n not in TRAINING_SCENARIOS)
"""Scenarios on which nothing is ever fitted."""

DEGENERATE: tuple[str, ...] = (
    "urban", "tunnel", "nuclear2", "sewerage", "long_corridor", "waterway_short", "waterway_long",
    "bridge", "bare_corridor", "flat_field",
)  # fmt: skip
"""Scenarios with a direction that scans hardly show."""

WELL_STRUCTURED: tuple[str, ...] = ("urban", "tunnel", "cave", "nuclear1", "nuclear2")
"""The paper's "geometric degradation": ground vehicles, smooth motion."""
AGGRESSIVE: tuple[str, ...] = (
    "factory", "ocean", "sewerage", "laurel_caverns", "multi_floor", "stair",
)  # fmt: skip
"""Drones, legs and hands."""
MIXED: tuple[str, ...] = ("laurel_caverns", "long_corridor", "multi_floor")
"""The paper's "mix degradation"."""

ABSOLUTE_SCENARIOS: tuple[str, ...] = ("room", "urban", "cave", "street", "offroad")
"""Five worlds for the error at the end of a run against its absolute covariance."""

QUICK_SUBT_MRS: tuple[str, ...] = ("urban", "sewerage", "long_corridor")
QUICK_GEODE: tuple[str, ...] = ("uneven_tunnel",)
"""What a quick study looks at."""
