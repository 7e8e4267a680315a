# SPDX-License-Identifier: MIT
"""What the program's exit code tells a script; 0 is that all is well."""

WRONG_INPUT = 2
"""The arguments or the files cannot be used; one sentence on stderr says why."""
NOT_OK = 3
"""The registration ended, and its own status says that the pose is not to be used."""
INTERRUPTED = 130
"""Ctrl-C, as a shell would report it."""
CLOSED_PIPE = 141
"""The reader of our output went away, as a shell would report it."""
TERMINATED = 143
"""SIGTERM, as a shell would report it."""


class Stopped(KeyboardInterrupt):
    """Someone ended the program by a signal, which was waited for and tidied up after."""

    def __init__(self, code: int) -> None:
        super().__init__()
        self.code = code
        """Exit code that tells of the signal."""
