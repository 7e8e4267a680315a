# SPDX-License-Identifier: MIT
"""The rows of the paper's tables by name, in both presets: each one is odometry."""

from dataclasses import replace

import numpy as np
import pytest

from odometry_cases import drive, errors, feed, measured
from svnicp.cli import __main__ as cli
from svnicp.config import VARIANTS, Config
from svnicp.data.imu_noise import ImuNoise
from svnicp.errors import ConfigError
from svnicp.odometry import Odometry
from svnicp.recording import read_description

LIMITS = {"default": (0.02, 0.01), "paper": (0.2, 0.06)}
"""Largest error [m, rad] on a metre: the paper's metric knows no planes, and a tenth of its points
and a third of its particles make it quick enough for a test."""
FRAME_TO_FRAME = {"default": (0.06, 0.02), "paper": (0.6, 0.2)}
"""The same of a variant that has no map to hold on to."""


def light(config: Config) -> Config:
    """The same with fewer points, and fewer particles where there are many iterations."""
    many = config.stein.max_iterations > 50
    stein = replace(config.stein, num_particles=10, max_iterations=40) if many else config.stein
    return replace(config, stein=stein, source=replace(config.source, max_points=600))


@pytest.mark.parametrize("preset", LIMITS)
@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_is_odometry(name: str, preset: str):
    """Every scan of a short drive is used, and the trajectory stays near the truth."""
    recording = drive(2.0, 0.8)
    imu = ImuNoise.model("xsens_mti30") if VARIANTS[name].uses_imu else None
    odometry = Odometry(light(Config.variant(name, preset)), imu, recording.T_body_lidar)
    estimates = feed(odometry, measured(recording))
    assert len(estimates) >= 14
    assert {one.status for one in estimates[1:]} <= {"ok", "weak"}
    found = errors(recording, estimates)
    limits = (FRAME_TO_FRAME if VARIANTS[name].frame_to_frame else LIMITS)[preset]
    assert np.linalg.norm(found[:, :3], axis=1).max() < limits[0]
    assert np.linalg.norm(found[:, 3:], axis=1).max() < limits[1]


def test_variants_differ_in_what_their_names_say():
    """Algorithm and noise are those of the name; all else is the preset's, but for Adam's steps."""
    fixed = Config.variant("svn+fixed", "paper")
    assert fixed.odometry.noise == "fixed"
    assert replace(fixed, odometry=Config.preset("paper").odometry) == Config.preset("paper")
    assert Config.variant("svn") == Config.variant("svn+adaptive") == Config.preset("default")
    assert Config.variant("svgd", "paper").stein.learning_rate == 0.03
    assert (
        Config.variant("svgd").stein.max_iterations > Config.preset("default").stein.max_iterations
    )
    assert Config.variant("stein_icp").stein.algorithm == "stein_icp"
    with pytest.raises(ConfigError, match="did you mean svgd"):
        Config.variant("svgdd")


@pytest.mark.parametrize(("name", "with_imu"), [("svgd", False), ("svn+fixed", True)])
def test_the_command_runs_a_variant(name: str, with_imu: bool, tmp_path):
    """--variant decides on the algorithm, the noise and the IMU, and --set changes the rest."""
    words = ["run", "room", "--duration", "1", "--variant", name, "--max-scans", "9", "--quiet"]
    settings = ["--set", "stein.max_iterations=3", "--set", "source.max_points=400"]
    assert cli.main([*words, *settings, "--out", str(tmp_path)]) == 0
    described = read_description(tmp_path)
    assert (described.more["imu"] is not None) == with_imu
    assert described.config["stein"]["algorithm"] == VARIANTS[name].algorithm
    assert described.config["odometry"]["noise"] == VARIANTS[name].noise
    assert described.config["stein"]["max_iterations"] == 3
