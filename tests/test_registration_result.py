# SPDX-License-Identifier: MIT
"""What a result says about itself: how it ended, in which words, and in how many."""

import dataclasses
import inspect
from functools import cache

import numpy as np
import pytest

from svnicp.config import Config
from svnicp.registration import RegistrationResult, Status, register, register_in_map
from test_register import COARSE, scans


@cache
def by_the_paper(max_iterations: int) -> RegistrationResult:
    """Return the room registered as published, with this limit of iterations."""
    config = Config.preset("paper")
    stein = dataclasses.replace(config.stein, max_iterations=max_iterations)
    return register(*scans("room", 0, COARSE), config=dataclasses.replace(config, stein=stein))


def test_particles_that_still_move_are_not_converged_by_any_criterion():
    """The paper's criterion hardly ever ends a run; what counts is the last step in sigmas."""
    result = by_the_paper(1)
    assert result.hit_limit
    assert result.history[-1].step_sigma > 0.5
    assert result.status is Status.NOT_CONVERGED
    assert result.message == result.status.message


def test_settled_particles_are_usable_and_the_limit_is_said():
    """A run that settled without meeting its tolerance is usable, and says what ended it."""
    result = by_the_paper(30)
    assert result.hit_limit
    assert result.history[-1].step_norm > Config.preset("paper").stein.tolerance
    assert result.status.ok
    assert result.message.startswith(f"{result.status.message}; the limit of 30 iterations ended")
    assert f"{result.history[-1].step_sigma:.2g} sigma" in result.message


def test_a_run_that_meets_its_tolerance_says_nothing_about_limits():
    """The default ends by its tolerance, and its message is that of the status."""
    result = register(*scans("room", 0, COARSE))
    assert not result.hit_limit
    assert result.iterations < Config().stein.max_iterations
    assert result.message == Status.CONVERGED.message


@pytest.mark.parametrize("status", Status)
def test_messages_are_for_people(status: Status):
    """No message names an attribute or a function; parameters may be named."""
    words = status.message.replace("range_noise_m", "").split()
    assert not [word for word in words if "_" in word or "`" in word]


def test_a_result_is_shown_in_one_line():
    """The representation has status, pose, sigmas and counts, and no arrays."""
    result = dataclasses.replace(by_the_paper(1), T_target_source=np.eye(4))
    result.T_target_source[0, 3] = -1e-7
    text = repr(result)
    assert text.startswith("<RegistrationResult NOT_CONVERGED: translation (0.0000, 0.0000, 0.")
    assert text.endswith("30 particles, 1 iterations>")
    assert f"{1e3 * result.sigmas[0]:.3g}, " in text
    assert len(text) < 300
    assert "array" not in text


@pytest.mark.parametrize("function", [register, register_in_map])
def test_signatures_are_readable(function):
    """``help`` shows the names of the types and not what they stand for."""
    signature = str(inspect.signature(function))
    assert "npt.ArrayLike" in signature
    assert "Union" not in signature
    assert len(signature) < 500
