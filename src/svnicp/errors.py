# SPDX-License-Identifier: MIT
"""What can go wrong for a user, one class per cause.

Every message is one sentence that says what is wrong, where, and what to do about it; the command
line prints it without a traceback and exits with code 2.
"""


class SvnicpError(Exception):
    """Root of every error this package raises on purpose."""


class InputError(SvnicpError, ValueError):
    """An array or file that was handed in cannot be used as it is."""


class DatasetError(SvnicpError):
    """A recording that cannot be read, or not as far as it was asked for."""


class ConfigError(SvnicpError, ValueError):
    """A configuration value or key that does not make sense."""


class MissingExtraError(SvnicpError, ImportError):
    """An optional dependency is needed and not installed."""
