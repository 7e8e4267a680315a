# SPDX-License-Identifier: MIT
"""What is written to disk: recordings of simulated worlds, and the folder of a finished run."""
