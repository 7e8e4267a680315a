# SPDX-License-Identifier: MIT
"""Recordings in folders: one cloud file per scan, with times, IMU and ground truth beside them."""
