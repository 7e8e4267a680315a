# SPDX-License-Identifier: MIT
"""What odometry says after every scan: where the body is, how sure that is, and why.

Odometry makes one per scan; listeners (files, report, viewer, live) take it from there. All stamps
are integer nanoseconds, units are SI, and covariances live in the body tangent, translation first.
"""

from dataclasses import dataclass
from typing import Any, Literal

from svnicp.arrays import Covariance, Floats, Transform
from svnicp.exchange import gtsam_between, ros_odometry
from svnicp.pose_gaussian import PoseGaussian
from svnicp.registration.posterior import WeakDirection


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimate:
    """State of the body at one time, as odometry knows it after one scan."""

    stamp_ns: int
    """Time the pose is for [ns]."""
    T_world_body: Transform
    """(4, 4) pose of the body in the world, whose origin is where the run starts."""
    covariance: Covariance
    """(6, 6) absolute: the error since the start of the run, drift of the map included."""
    T_previous_body: Transform
    """(4, 4) pose of the body in the body of the estimate before; the identity at the first."""
    relative_covariance: Covariance
    """(6, 6) of ``T_previous_body``: the error of this step alone."""
    twist: Floats
    """(6,) velocity in body axes: linear [m/s], then angular [rad/s]."""
    twist_covariance: Covariance
    """(6, 6) of ``twist``."""
    velocity_world: Floats
    """(3,) velocity of the body's origin in world axes [m/s]."""
    gyroscope_bias: Floats | None = None
    """(3,) in body axes [rad/s]; None without an IMU."""
    accelerometer_bias: Floats | None = None
    """(3,) in body axes [m/s^2]; None without an IMU."""
    weak_directions: tuple[WeakDirection, ...] | list[WeakDirection] = ()
    """Directions in which the scan adds little to the prediction, weakest first."""
    status: str
    """How it ended, in one word for programs."""
    message: str
    """The same in a sentence for people."""
    ok: bool
    """Whether the scan entered the map. Where it did not, the pose is the prediction; with status
    ``blind`` and ``new_map`` it is the prediction, too."""
    timing_s: dict[str, float]
    """Time that each stage took, by its name, in the order of the stages [s]."""
    num_points: int
    """Points of the scan."""
    num_matches: int
    """Points that found a match in the map."""
    nis: float | None = None
    """Squared innovation in standard deviations, all six axes; None where nothing was fused."""
    kalman_gain: Floats | None = None
    """(6,) diagonal of the gain on the pose: 1 trusts the scan, 0 the prediction."""
    innovation: Floats | None = None
    """(6,) pose by the scan minus prediction, in the body tangent [m, rad]."""
    particles: Transform | None = None
    """(K, 4, 4) poses of the particles in the world, where they are kept."""

    @property
    def pose(self) -> PoseGaussian:
        """Pose in the world with its absolute covariance."""
        return PoseGaussian(self.T_world_body, self.covariance)

    @property
    def relative_pose(self) -> PoseGaussian:
        """Pose in the body of the estimate before, with its covariance."""
        return PoseGaussian(self.T_previous_body, self.relative_covariance)

    @property
    def sigmas(self) -> Floats:
        """(6,) absolute standard deviations along and about the body's axes [m, rad]."""
        return self.covariance.diagonal() ** 0.5

    def __str__(self) -> str:
        x, y, z = self.T_world_body[:3, 3]
        sx, sy, sz = self.sigmas[:3]
        weak = "".join(f", weak: {one}" for one in self.weak_directions)
        return (
            f"Estimate at {self.stamp_ns * 1e-9:.3f} s: {self.status}, position "
            f"({x:.3f}, {y:.3f}, {z:.3f}) m, sigma ({sx:.3f}, {sy:.3f}, {sz:.3f}) m{weak}"
        )

    def to_ros(
        self,
        *,
        frame_id: str = "odom",
        child_frame_id: str = "base_link",
        version: Literal[1, 2] = 2,
    ) -> dict[str, Any]:
        """Fields of a nav_msgs/Odometry, as nested dictionaries of plain numbers.

        The pose's covariance is in the fixed axes of ``frame_id``, the twist and its covariance in
        the axes of ``child_frame_id``; both are row-major and never singular. In ROS 2
        ``rosidl_runtime_py.set_message_fields(message, fields)`` takes them, in ROS 1 (which names
        the parts of a stamp differently: ``version=1``) ``genpy.message.fill_message_args``.
        """
        return ros_odometry(
            self.stamp_ns, self.pose, self.twist, self.twist_covariance,
            frame_id=frame_id, child_frame_id=child_frame_id, version=version,
        )  # fmt: skip

    def to_gtsam(self, previous_key: int, key: int) -> Any:  # noqa: ANN401
        """``gtsam.BetweenFactorPose3`` from the estimate before to this one.

        Its noise model is the covariance of this step alone (rotation first, as GTSAM wants it), so
        that steps may be chained in a graph. Needs the extra ``svnicp[gtsam]``.
        """
        return gtsam_between(self.relative_pose, previous_key, key)
