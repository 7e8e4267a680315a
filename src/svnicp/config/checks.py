# SPDX-License-Identifier: MIT
"""Checks that stages of the configuration share."""

import dataclasses
import math
from typing import Any

from svnicp.errors import ConfigError


def require(holds: bool, name: str, wanted: str, value: object) -> None:
    """Raise a ConfigError that says which parameter must be what."""
    if not holds:
        raise ConfigError(f"{name} must be {wanted}, got {value}")


def require_finite(stage: str, values: Any) -> None:  # noqa: ANN401
    """Raise a ConfigError when a number of this stage is NaN or infinite."""
    for item in dataclasses.fields(values):
        value = getattr(values, item.name)
        finite = not isinstance(value, float) or math.isfinite(value)
        require(finite, f"{stage}.{item.name}", "finite", value)
