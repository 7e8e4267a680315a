# SPDX-License-Identifier: MIT
"""LiDAR registration that says how sure it is: Stein Variational Newton ICP with a posterior."""

__version__ = "0.1.0"
