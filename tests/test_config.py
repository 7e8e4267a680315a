# SPDX-License-Identifier: MIT
"""Configuration: what goes out as YAML comes back, and mistakes are named."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import yaml

from svnicp.config import PRESETS, Config, MapConfig, OdometryConfig, SteinConfig
from svnicp.errors import ConfigError


def written(tmp_path: Path, text: str | bytes) -> Path:
    """Return a YAML file with this content."""
    path = tmp_path / "config.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_yaml_round_trip(name: str, tmp_path: Path):
    """A preset written as YAML and read back is equal to itself."""
    config = Config.preset(name)
    assert Config.from_yaml(written(tmp_path, config.to_yaml())) == config


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_dictionary_round_trip(name: str):
    """A preset as nested dictionaries of plain values makes an equal preset."""
    config = Config.preset(name)
    assert Config.from_dict(config.to_dict()) == config
    assert yaml.safe_load(config.to_yaml()) == config.to_dict()


def test_presets_are_listed():
    """An unknown preset is refused with the names of all that exist."""
    assert set(PRESETS) == {"default", "paper"}
    with pytest.raises(ConfigError, match="no preset 'fast'; choose one of default, paper"):
        Config.preset("fast")


def test_the_paper_has_none_of_our_rules_about_scans():
    """Steps are as its filter states them, and innovations teach nothing."""
    paper = Config.preset("paper")
    assert paper.drift.held_back == 0.0
    assert (paper.odometry.surprising_scans, paper.odometry.persistent_scans) == (0, 1)
    assert (paper.odometry.known_m, paper.odometry.slip_m) == (0.0, 0.0)
    assert (paper.odometry.map_floor_m, paper.odometry.map_floor_rad) == (0.0, 0.0)


def test_what_is_left_out_keeps_its_default(tmp_path: Path):
    """A file with one value changes that value only."""
    config = Config.from_yaml(written(tmp_path, "stein:\n  num_particles: 50\n"))
    expected = dataclasses.replace(Config(), stein=SteinConfig(num_particles=50))
    assert config == expected


@pytest.mark.parametrize("text", ["", "# nothing\n", "{}", "---\n"])
def test_an_empty_file_is_the_default(text: str, tmp_path: Path):
    """An empty file is the default configuration."""
    assert Config.from_yaml(written(tmp_path, text)) == Config()


def test_a_stage_without_values_keeps_its_defaults(tmp_path: Path):
    """A stage whose lines are all commented out is the default."""
    assert Config.from_yaml(written(tmp_path, "stein:\n  # num_particles: 50\n")) == Config()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("map: {voxel_siz_m: 1.0}", "'map.voxel_siz_m'; did you mean 'map.voxel_size_m'"),
        ("stien: {}", "unknown configuration key 'stien'; did you mean 'stein'"),
        ("qqqq: 1", "unknown configuration key 'qqqq'; known: map, source"),
        ("num_particels: 5", "'num_particels'; did you mean 'stein.num_particles'"),
        ("stein.num_particles: 5", "write num_particles indented below stein:"),
        ("1: 2", "unknown configuration key '1'"),
    ],
)
def test_unknown_keys_name_the_nearest(text: str, message: str, tmp_path: Path):
    """A misspelt key is refused, and the message has its path and the nearest known key."""
    with pytest.raises(ConfigError, match=message):
        Config.from_yaml(written(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("map: {voxel_size_m: wide}", "map.voxel_size_m must be a number, got 'wide'"),
        ("map: {voxel_size_m: true}", "map.voxel_size_m must be a number, got True"),
        ("map: {voxel_size_m: }", "map.voxel_size_m must be a number, got None"),
        ("stein: {num_particles: 30.5}", "stein.num_particles must be a whole number, got 30.5"),
        ("stein: {num_particles: true}", "stein.num_particles must be a whole number, got True"),
        ("prior: {use: 1}", "prior.use must be true or false, got 1"),
        ("map: 3", "map must be a mapping, got 3"),
        ("map: [1, 2]", r"map must be a mapping, got \[1, 2\]"),
        ("- 1\n- 2\n", r"the configuration must be a mapping, got \[1, 2\]"),
        ("just words", "the configuration must be a mapping, got 'just words'"),
    ],
)
def test_wrong_types_are_named(text: str, message: str, tmp_path: Path):
    """A value of the wrong type is refused with its path, the type wanted and the value."""
    with pytest.raises(ConfigError, match=message):
        Config.from_yaml(written(tmp_path, text))


@pytest.mark.parametrize("text", ["stien: {}", "map: 3", "map: {voxel_size_m: -1.0}"])
def test_what_is_wrong_in_a_file_is_told_with_its_name(text: str, tmp_path: Path):
    """Of several configurations, the message says which one is to be corrected."""
    with pytest.raises(ConfigError, match=r"config\.yaml: "):
        Config.from_yaml(written(tmp_path, text))


@pytest.mark.parametrize(
    "text", ["map: {}\nmap: {voxel_size_m: 1.0}\n", "map:\n  voxel_size_m: 1\n  voxel_size_m: 2\n"]
)
def test_a_key_that_stands_twice_is_refused(text: str, tmp_path: Path):
    """The second value would silently win, so neither is taken."""
    with pytest.raises(ConfigError, match=r"config\.yaml .*stands there twice \(line [23]\)"):
        Config.from_yaml(written(tmp_path, text))


def test_whole_numbers_are_floats_too(tmp_path: Path):
    """A whole number where a float is wanted is taken as that float."""
    config = Config.from_yaml(written(tmp_path, "map: {voxel_size_m: 1}"))
    assert isinstance(config.map.voxel_size_m, float)


def test_exponents_are_numbers_too(tmp_path: Path):
    """1e-3 is a number, though YAML 1.1 takes it for a word without the decimal point."""
    config = Config.from_yaml(written(tmp_path, "stein: {tolerance: 1e-3}"))
    assert config.stein.tolerance == 1e-3


@pytest.mark.parametrize(
    "text", ["match: {metric: line}", "match: {metric: [plane]}", "match: {metric: }"]
)
def test_wrong_choices_list_the_right_ones(text: str, tmp_path: Path):
    """A choice that does not exist is refused with those that do."""
    with pytest.raises(ConfigError, match=r"match.metric must be one of plane, point, got "):
        Config.from_yaml(written(tmp_path, text))


@pytest.mark.parametrize(
    ("stage", "key", "value"),
    [
        ("map", "voxel_size_m", 0.0),
        ("map", "voxel_size_m", float("nan")),
        ("map", "voxel_size_m", float("inf")),
        ("map", "cells_per_voxel_edge", 17),
        ("map", "max_points_per_voxel", 0),
        ("map", "max_points_per_voxel", 128),
        ("map", "plane_radius_m", 0.6),
        ("map", "min_cells", 4),
        ("map", "max_residual_std_m", -1.0),
        ("map", "max_normal_std_rad", 0.0),
        ("map", "refit_growth", 0.5),
        ("map", "refit_epochs", 0),
        ("source", "max_points", 5),
        ("source", "search_factor", 0.5),
        ("source", "spread_leaf_m", -1.0),
        ("match", "num_candidates", 0),
        ("match", "max_distance_m", -1.0),
        ("match", "max_distance_m", float("inf")),
        ("match", "min_matches", 5),
        ("noise", "range_noise_m", 0.0),
        ("noise", "floor_m", -0.1),
        ("noise", "weight_width", 0.0),
        ("noise", "effective_points", 0.0),
        ("prior", "translation_std_m", 0.0),
        ("prior", "rotation_std_rad", -0.1),
        ("stein", "num_particles", 0),
        ("stein", "max_iterations", 0),
        ("stein", "step_size", 1.5),
        ("stein", "damping", -1.0),
        ("stein", "max_step_sigma", -1.0),
        ("stein", "tolerance", float("nan")),
        ("stein", "learning_rate", 0.0),
        ("stein", "batch_size", 1),
    ],
)
def test_values_out_of_range_are_refused(stage: str, key: str, value: float):
    """A value that makes no sense is refused with its path and what it must be."""
    with pytest.raises(ConfigError, match=f"{stage}.{key} must be .*, got "):
        Config.from_dict({stage: {key: value}})


@pytest.mark.parametrize(
    ("stage", "key", "value", "wanted"),
    [
        (OdometryConfig, "auto_voxel", "no", "true or false"),
        (OdometryConfig, "noise", None, "one of adaptive, fixed, smoothed, none"),
        (SteinConfig, "num_particles", 30.5, "a whole number"),
        (MapConfig, "voxel_size_m", "wide", "a number"),
        (MapConfig, "voxel_size_m", [1.0], "a number"),
        (MapConfig, "voxel_size_m", float("inf"), "finite"),
    ],
)
def test_values_given_from_python_are_checked_too(
    stage: type, key: str, value: object, wanted: str
):
    """A stage that is made or changed in Python refuses a wrong type with the same sentence."""
    with pytest.raises(ConfigError, match=f"[.]{key} must be {wanted}, got "):
        dataclasses.replace(stage(), **{key: value})


def test_numpy_values_are_values():
    """Numbers that come out of NumPy arrays are taken as numbers."""
    assert dataclasses.replace(SteinConfig(), num_particles=np.int64(7)).num_particles == 7
    assert not dataclasses.replace(OdometryConfig(), auto_voxel=np.bool_(False)).auto_voxel


def test_a_missing_file_is_named(tmp_path: Path):
    """A file that is not there is named together with the reason."""
    with pytest.raises(ConfigError, match=r"cannot read configuration .*absent.yaml: No such file"):
        Config.from_yaml(tmp_path / "absent.yaml")


def test_a_folder_is_no_configuration(tmp_path: Path):
    """A folder is refused with a sentence too."""
    with pytest.raises(ConfigError, match="cannot read configuration"):
        Config.from_yaml(tmp_path)


@pytest.mark.parametrize("content", ["map: [1, 2", "a: b: c", "\ttab: 1", b"\xff\xfe\xff\x00"])
def test_broken_yaml_is_one_sentence(content: str | bytes, tmp_path: Path):
    """What is not YAML is refused in one line that names the file."""
    with pytest.raises(ConfigError, match=r"config.yaml is not valid YAML: ") as caught:
        Config.from_yaml(written(tmp_path, content))
    assert "\n" not in str(caught.value)


def test_configurations_are_frozen():
    """A configuration cannot be changed under the feet of who uses it."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        Config().map.voxel_size_m = 1.0  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(dataclasses.FrozenInstanceError):
        Config.preset("paper").map = MapConfig()  # pyright: ignore[reportAttributeAccessIssue]
