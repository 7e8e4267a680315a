# SPDX-License-Identifier: MIT
"""How good a run was: trajectory errors by evo, and consistency of the covariances."""
