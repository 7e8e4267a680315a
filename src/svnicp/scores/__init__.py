# SPDX-License-Identifier: MIT
"""Is a covariance right? Scores of stated uncertainties against known errors or a known truth.

Pure functions on arrays: errors (n, 6) and covariances (n, 6, 6) in body tangents, translation [m]
before rotation [rad]. ``docs/scores.md`` says in words what each of them is for.
"""

from svnicp.scores.blocks import BLOCKS, Part
from svnicp.scores.bootstrap import Interval, block_bootstrap, block_length
from svnicp.scores.calibrated import calibrated_kl, calibrated_nne
from svnicp.scores.coverage import (
    Coverage,
    calibration_error,
    component_coverage,
    ellipsoid_coverage,
    nominal_coverage,
    reliability,
)
from svnicp.scores.cut import Cut, cut_mean
from svnicp.scores.energy import energy_score, gaussian_energy_score, particle_tangents
from svnicp.scores.kernel_density import kernel_share, particle_negative_log_likelihood
from svnicp.scores.kl import (
    covariance_after_cut,
    expected_kl,
    gaussian_kl,
    kl_divergence,
    mean_kl,
)
from svnicp.scores.log_score import negative_log_likelihood
from svnicp.scores.nees import (
    Anees,
    anees,
    anees_of_sampled_covariance,
    chi_square_band,
    nees,
)
from svnicp.scores.nne import nne, nne_squares
from svnicp.scores.ranking import calibrated_spearman, degeneracy_auc, spearman
from svnicp.scores.shape import Mismatch, mismatch, variance_ratios

__all__ = [
    "BLOCKS",
    "Anees",
    "Coverage",
    "Cut",
    "Interval",
    "Mismatch",
    "Part",
    "anees",
    "anees_of_sampled_covariance",
    "block_bootstrap",
    "block_length",
    "calibrated_kl",
    "calibrated_nne",
    "calibrated_spearman",
    "calibration_error",
    "chi_square_band",
    "component_coverage",
    "covariance_after_cut",
    "cut_mean",
    "degeneracy_auc",
    "ellipsoid_coverage",
    "energy_score",
    "expected_kl",
    "gaussian_energy_score",
    "gaussian_kl",
    "kernel_share",
    "kl_divergence",
    "mean_kl",
    "mismatch",
    "nees",
    "negative_log_likelihood",
    "nne",
    "nne_squares",
    "nominal_coverage",
    "particle_negative_log_likelihood",
    "particle_tangents",
    "reliability",
    "spearman",
    "variance_ratios",
]
