# SPDX-License-Identifier: MIT
"""How long each stage of a scan took."""

import time


class Clock:
    """Laps since it was made, by name, in order."""

    def __init__(self) -> None:
        self._last = time.perf_counter()
        self.laps_s: dict[str, float] = {}

    def lap(self, name: str) -> None:
        """End a stage."""
        now = time.perf_counter()
        self.laps_s[name] = self.laps_s.get(name, 0.0) + now - self._last
        self._last = now
