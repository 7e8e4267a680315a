# SPDX-License-Identifier: MIT
"""How good a run was: trajectory errors by evo, and consistency of the covariances."""

from svnicp.evaluation.association import Association, associate
from svnicp.evaluation.consistency import Calibration, Consistency, calibration, consistency
from svnicp.evaluation.evaluate import EndError, Evaluation, evaluate
from svnicp.evaluation.evo_errors import ErrorStatistics, PoseErrors
from svnicp.evaluation.run_record import RunRecord, read_run

__all__ = [
    "Association",
    "Calibration",
    "Consistency",
    "EndError",
    "ErrorStatistics",
    "Evaluation",
    "PoseErrors",
    "RunRecord",
    "associate",
    "calibration",
    "consistency",
    "evaluate",
    "read_run",
]
