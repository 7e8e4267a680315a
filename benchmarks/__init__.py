# SPDX-License-Identifier: MIT
"""Studies and timings that are too long for the tests."""
