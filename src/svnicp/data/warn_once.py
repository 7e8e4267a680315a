# SPDX-License-Identifier: MIT
"""Warnings that are given once, however often a recording is walked through.

A recording is read by several walks: to look at it, to count, to use it. Each meets the same
faults. A dataset keeps one `WarnOnce`, through which all of them speak.
"""

import logging


class WarnOnce:
    """Warns of everything once.

    Parameters
    ----------
    logger
        Where the warnings go.
    """

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._said: set[str] = set()

    def __call__(self, text: str, *values: object) -> None:
        """Warn, unless the very same sentence was given before."""
        sentence = text % values
        if sentence not in self._said:
            self._said.add(sentence)
            self._logger.warning("%s", sentence)
