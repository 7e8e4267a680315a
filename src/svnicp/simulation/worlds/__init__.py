# SPDX-License-Identifier: MIT
"""Worlds of the scenario suite, one module per family: each builder makes a ``World`` of a seed."""
