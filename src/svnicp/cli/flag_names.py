# SPDX-License-Identifier: MIT
"""Advice of the library in the words of the command line: ``bin_columns=3`` is ``--bin-columns 3``.

The library names arguments, as its callers in Python need it. Errors and warnings pass through here
before they are printed.
"""

import logging
import re

WORDS = (
    "bin_columns", "scan_rate_hz", "lidar_topic", "imu_topic", "point_time_unit",
    "point_time_reference", "point_time_field", "no_point_times", "imu_unit", "velodyne_model",
    "ground_truth",
)  # fmt: skip
"""Arguments that are flags, too, and whose names are no English words."""

_GIVEN = re.compile(rf"(?<![\w.-])({'|'.join(WORDS)}|overwrite|kind|format)=(True\b)?")
_NAMED = re.compile(rf"(?<![\w./-])({'|'.join(WORDS)})(?![\w./=])")


def in_flags(message: str) -> str:
    """Return a message with arguments of Python written as flags."""
    text = _GIVEN.sub(lambda found: f"{_flag(found[1])}{'' if found[2] else ' '}", message)
    return _NAMED.sub(lambda found: _flag(found[1]), text)


class FlagFormatter(logging.Formatter):
    """Formats warnings of the library for the command line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line to print."""
        return in_flags(super().format(record))


def _flag(argument: str) -> str:
    return f"--{argument.replace('_', '-')}"
