# SPDX-License-Identifier: MIT
"""Inertial navigation: IMU readings in, pose, velocity, biases and their covariance out."""

from svnicp.inertial.eskf import Eskf
from svnicp.inertial.imu_buffer import ImuBuffer
from svnicp.inertial.start import Start, start_at_rest

__all__ = ["Eskf", "ImuBuffer", "Start", "start_at_rest"]
