# SPDX-License-Identifier: MIT
"""A registration as one JSON document, with all that is needed to use it and to repeat it.

Matrices are lists of rows. What is not a number (the residual scale when nothing matched) is null,
because NaN is not JSON.
"""

import json
import math
from typing import Any, NamedTuple

import numpy as np

from svnicp import __version__
from svnicp.arrays import Covariance, Transform
from svnicp.cli.euler import rpy_from_rotation
from svnicp.cli.wording import weak_direction_in_words
from svnicp.config import Config
from svnicp.registration import RegistrationResult

CONVENTIONS = (
    "T_target_source maps source coordinates into the target [m]. Covariances are of xi in "
    "T_target_source Exp(xi): translation [m], then rotation [rad], in source axes; covariance_ros "
    "is of x, y, z and the rotations about the fixed axes of the target, row-major as in "
    "geometry_msgs/PoseWithCovariance."
)


class Inputs(NamedTuple):
    """What was registered, from where."""

    source: str
    target: str
    source_points: int
    target_points: int
    guess: Transform
    """(4, 4) guess of the pose."""
    prior_covariance: Covariance | None
    """(6, 6) covariance of the guess; None if the configuration's was used."""
    seed: int


def document(result: RegistrationResult, inputs: Inputs, config: Config, seconds: float) -> str:
    """Return the JSON text of a registration that took this long [s]."""
    T_target_source = result.T_target_source
    _, covariance_ros = result.pose.to_ros()
    content = {
        "svnicp": __version__,
        "status": result.status.name,
        "ok": result.status.ok,
        "message": result.message,
        "T_target_source": T_target_source,
        "translation_m": T_target_source[:3, 3],
        "roll_pitch_yaw_deg": np.degrees(rpy_from_rotation(T_target_source[:3, :3])),
        "sigmas": result.sigmas,
        "covariance": result.covariance,
        "likelihood_covariance": result.likelihood_covariance,
        "laplace_covariance": result.laplace_covariance,
        "covariance_ros": covariance_ros,
        "weak_directions": [
            {
                "kind": weak.kind,
                "direction": weak.direction,
                "sigma": weak.sigma,
                "prior_sigma": weak.prior_sigma,
                "words": weak_direction_in_words(weak),
            }
            for weak in result.weak_directions
        ],
        "num_matches": result.num_matches,
        "residual_scale": result.residual_scale,
        "iterations": result.iterations,
        "history": [
            {"step_norm": step.step_norm, "step_sigma": step.step_sigma} for step in result.history
        ],
        "seconds": seconds,
        "particles": result.particles,
        "inputs": inputs._asdict(),
        "config": config.to_dict(),
        "conventions": CONVENTIONS,
    }
    return json.dumps(_plain(content), allow_nan=False, indent=1) + "\n"


def _plain(value: Any) -> Any:  # noqa: ANN401
    """Arrays as lists and non-finite numbers as None, at any depth."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
