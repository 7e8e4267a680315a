# SPDX-License-Identifier: MIT
"""Parameters of odometry, one frozen dataclass per stage."""

from dataclasses import dataclass
from typing import Literal

from svnicp.config.checks import require, require_kinds


@dataclass(frozen=True, kw_only=True)
class PreprocessConfig:
    """What is done to a scan before it is matched."""

    min_range_m: float = 0.5
    """Nearer points are dropped: they are the vehicle itself [m]."""
    max_range_m: float = 100.0
    """Farther points are dropped [m]."""
    deskew: bool = True
    """Move every point to where it was at the mean time of the scan, if points have times."""
    max_map_points: int = 70000
    """A larger scan is thinned evenly to about this many points before it enters the map."""

    def __post_init__(self) -> None:
        require_kinds("preprocess", self)
        require(self.min_range_m >= 0, "preprocess.min_range_m", "not negative", self.min_range_m)
        require(
            self.max_range_m > self.min_range_m, "preprocess.max_range_m",
            "larger than min_range_m", self.max_range_m,
        )  # fmt: skip
        require(
            self.max_map_points >= 1000, "preprocess.max_map_points", "at least 1000",
            self.max_map_points,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class MotionConfig:
    """The constant-velocity model: without an IMU, and with one in gaps of its readings."""

    acceleration: float = 2.0
    """How much speed may change: standard deviation after 1 s, growing by sqrt(time) [m/s]."""
    angular_acceleration: float = 1.5
    """The same for the rate of turning [rad/s]."""
    first_speed_m_s: float = 10.0
    """Standard deviation of the speed before it is known; with an IMU, at a start in motion
    [m/s]."""
    first_rate_rad_s: float = 0.5
    """Standard deviation of the rate of turning before it is known [rad/s]."""

    def __post_init__(self) -> None:
        require_kinds("motion", self)
        for name in ("acceleration", "angular_acceleration", "first_speed_m_s", "first_rate_rad_s"):
            value = getattr(self, name)
            require(value > 0, f"motion.{name}", "positive", value)


@dataclass(frozen=True, kw_only=True)
class InertialConfig:
    """The error-state Kalman filter and how it starts."""

    noise_factor: float = 1.0
    """The IMU's noise densities are multiplied by this, where they are better than the truth."""
    gravity_m_s2: float = 9.81
    """Length of gravity [m/s^2]."""
    estimate_gravity: bool = True
    """Keep gravity in the state (18 instead of the paper's 15): levelling hides accelerometer bias,
    which reappears when the body turns."""
    gravity_std: float = 0.02
    """Standard deviation of the length of gravity [m/s^2]."""
    start_s: float = 0.5
    """Seconds of rest from which gravity and the gyroscope's bias are averaged [s]."""
    max_start_s: float = 1.2
    """After this long without rest the filter starts in motion: scans tell the velocity [s]."""
    hovering_s: float = 5.0
    """After a start in motion that scans do not show to lead anywhere, the body is taken to swing
    to and fro for so long, unless it is seen to set off: that tells gravity. 0: it is not [s]."""
    first_map_s: float = 4.0
    """After a start in motion the map is made for so long while gravity and velocity are hardly
    known. Where the first two scans show every direction, or speed, all that scans hint at counts
    then: neither ``odometry.facing_with_imu`` nor ``odometry.settled_scans_with_imu`` hold yet.
    Where they do not, scans are doubted [s]."""
    start_doubt_m: float = 0.05
    """How far doubted scans are taken to be off, in every direction [m]."""
    start_doubt_rad: float = 0.005
    """How much they are taken to be turned, about every axis [rad]."""
    rest_rate_rad_s: float = 0.01
    """At rest short means of the angular rate vary less than this, noise apart [rad/s]."""
    rest_force_m_s2: float = 0.1
    """At rest short means of the specific force vary less than this, noise apart [m/s^2]."""
    gyroscope_bias_std: float = 0.01
    """Standard deviation of the gyroscope's bias when the start is not at rest [rad/s]."""
    accelerometer_bias_std: float = 0.1
    """Standard deviation of the accelerometer's bias at the start [m/s^2]."""
    max_gap_s: float = 0.05
    """A longer time without IMU readings, and than 1.5 of its periods, is a gap: there the speed is
    taken as constant [s]."""

    def __post_init__(self) -> None:
        require_kinds("inertial", self)
        for name in (
            "noise_factor", "gravity_m_s2", "gravity_std", "start_s", "max_start_s",
            "rest_rate_rad_s", "rest_force_m_s2", "gyroscope_bias_std", "accelerometer_bias_std",
            "max_gap_s",
        ):  # fmt: skip
            value = getattr(self, name)
            require(value > 0, f"inertial.{name}", "positive", value)
        for name in ("hovering_s", "first_map_s", "start_doubt_m", "start_doubt_rad"):
            value = getattr(self, name)
            require(value >= 0, f"inertial.{name}", "not negative", value)


@dataclass(frozen=True, kw_only=True)
class DriftConfig:
    """How the absolute covariance grows: scans are matched to a map that is not true itself."""

    renewal: float = 0.25
    """Error that the map takes over, as a multiple of a scan's own, when all of it is renewed."""
    systematic: float = 0.5
    """Standard deviation of the part of that error that is the same again and again, over the
    whole: it grows with the way and not with its root."""
    held_back: float = 0.003
    """Standard deviation of what a step is too short by, over its length, along a direction that
    scans do not show."""
    hidden_m: float = 0.005
    """A scan that knows a direction to this shows half of it [m]."""

    def __post_init__(self) -> None:
        require_kinds("drift", self)
        for name in ("renewal", "systematic", "held_back"):
            value = getattr(self, name)
            require(value >= 0, f"drift.{name}", "not negative", value)
        require(self.hidden_m > 0, "drift.hidden_m", "positive", self.hidden_m)


@dataclass(frozen=True, kw_only=True)
class OdometryConfig:
    """How scans are fused, trusted and mapped."""

    noise: Literal["adaptive", "fixed", "smoothed", "none"] = "adaptive"
    """Covariance of a scan's pose in the filter: its posterior's, the paper's constant, or the
    posterior's averaged over the last scans; with ``"none"`` scans tell the start, for
    ``inertial.first_map_s``, and the IMU navigates alone from there."""
    fixed_translation_var: float = 1e-4
    """Variance per axis with ``noise="fixed"`` [m^2]."""
    fixed_rotation_var: float = 1e-5
    """Variance per axis with ``noise="fixed"`` [rad^2]."""
    smoothed_scans: int = 10
    """Scans that ``noise="smoothed"`` averages over."""
    temperature_translation: float = 1.0
    """Factor on the variances of a scan's translation; ``svnicp calibrate`` fits it."""
    temperature_rotation: float = 1.0
    """The same for its rotation."""
    gate_sigma: float = 6.0
    """A pose farther from the prediction than this many standard deviations is not believed."""
    gate_floor_m: float = 0.01
    """What is nearer than this [m] is believed in any case: maps are not perfect."""
    gate_floor_rad: float = 0.002
    """What is nearer than this [rad] is believed in any case."""
    warm_up_scans: int = 10
    """In a map of n scans variances are multiplied by 1 + (this/n)²; nothing is moved by ``slip_m``
    until the map was seen from twice this many places."""
    slant: float = 0.02
    """How far walls seem to be off, as a share of how far the body may be along them."""
    slant_turn_per_m: float = 0.005
    """How much they seem to be turned by that [rad/m]."""
    map_tilt_rad: float = 0.002
    """Tilt that all normals of an old map may share; of a map that was seen from a few places only
    more, like its trust: where nothing but such tilts shows the place along a corridor, it is not
    known [rad]."""
    map_floor_m: float = 0.0002
    """With an IMU and ``noise="adaptive"``, no place in a map is truer than this, whatever scans
    say: a map is made of poses that are off themselves, here this way and there that way [m]."""
    map_floor_rad: float = 2e-5
    """No direction in a map is truer than this [rad]."""
    facing_with_imu: float = 0.3
    """``noise.facing`` of a scan whose prediction an IMU carries: it can wait for surfaces that
    face the way."""
    vouching_with_imu: float = 5.0
    """``noise.vouching`` of such a scan."""
    slip_m: float = 0.3
    """A scan that would fit as well when moved this far along a direction that it hardly knows, and
    matched anew, says nothing about it: bare corridors and pipes look the same everywhere. 0: it is
    not moved [m]."""
    known_m: float = 0.1
    """With an IMU and ``noise="adaptive"``, a scan that knows its place along a direction no better
    than this says nothing about it: such hints are mostly errors of the map, which scan after scan
    shares, and a filter would average them into knowledge. 0: each hint counts [m]."""
    persistent_scans: int = 15
    """With an IMU and ``noise="adaptive"``, what a scan says counts as far as the last scans, so
    many in all, said it as well: what one scan alone sees is a false match. 1: each by itself."""
    surprising_scans: int = 15
    """With an IMU and ``noise="adaptive"``: where the last scans, so many, were farther from the
    prediction than both had said, the difference is added to a scan's noise, and a steady push
    makes motion and biases be learnt anew. 0: neither."""
    settled_scans: int = 3
    """A part of the map counts when so many scans have hit it, unless it was there from the
    beginning: what moves is gone by then."""
    settled_scans_with_imu: int = 8
    """The same where an IMU carries the prediction, which can wait a little longer."""
    second_look: bool = True
    """Without an IMU: deskew and match a scan again by the motion that it has shown, where that is
    another than was predicted; one that does not fit is asked as if the body had stopped."""
    lost_s: float = 1.0
    """After this long without a scan that can be believed, a new map is begun; not by an empty scan
    [s]."""
    auto_voxel: bool = True
    """Choose the voxel size of each new map from its first scan; otherwise it is
    ``map.voxel_size_m``. ``map.plane_radius_m``, ``map.min_width_m``, ``source.spread_leaf_m`` and
    ``match.max_distance_m`` are scaled with it. Not with ``match.metric="point"``."""
    map_radius_m: float = 120.0
    """The map forgets what is farther than this from the body [m]."""
    frame_to_frame: bool = False
    """Match every scan with the one before it instead of a map (Stein ICP of 2021)."""
    min_step_s: float = 0.01
    """Scans that follow earlier than this after the last are left out [s]."""

    def __post_init__(self) -> None:
        require_kinds("odometry", self)
        for name in (
            "fixed_translation_var",
            "fixed_rotation_var",
            "temperature_translation",
            "temperature_rotation",
            "gate_sigma",
            "lost_s",
            "map_radius_m",
        ):
            value = getattr(self, name)
            require(value > 0, f"odometry.{name}", "positive", value)
        for name in (
            "warm_up_scans", "min_step_s", "gate_floor_m", "gate_floor_rad", "slant",
            "slant_turn_per_m", "map_tilt_rad", "map_floor_m", "map_floor_rad", "settled_scans",
            "facing_with_imu", "vouching_with_imu", "slip_m", "known_m", "settled_scans_with_imu",
            "surprising_scans",
        ):  # fmt: skip
            value = getattr(self, name)
            require(value >= 0, f"odometry.{name}", "not negative", value)
        for name in ("smoothed_scans", "persistent_scans"):
            value = getattr(self, name)
            require(value >= 1, f"odometry.{name}", "at least 1", value)
        surprising = self.surprising_scans
        require(surprising != 1, "odometry.surprising_scans", "0, or 2 and more", surprising)
