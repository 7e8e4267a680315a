# SPDX-License-Identifier: MIT
"""Measurements and where they come from: recordings in many formats behind one ``Dataset``."""

from svnicp.data.dataset import Dataset, DatasetInfo, Finding
from svnicp.data.measurements import ImuSample, Scan
from svnicp.data.trajectory import Trajectory

__all__ = ["Dataset", "DatasetInfo", "Finding", "ImuSample", "Scan", "Trajectory"]
