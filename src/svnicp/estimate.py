# SPDX-License-Identifier: MIT
"""What odometry says after every scan."""
