# SPDX-License-Identifier: MIT
"""All compiled code: plain functions on arrays, no configuration and no input or output."""
