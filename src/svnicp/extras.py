# SPDX-License-Identifier: MIT
"""Imports of optional dependencies.

Heavy parts (PyTorch, GTSAM) are extras of the package. Code that uses one asks for it here, when it
is needed and not before; a user without it gets one line with the exact command, not a traceback.
"""

import importlib
from types import ModuleType

from svnicp.errors import MissingExtraError


def require(module: str, extra: str, purpose: str) -> ModuleType:
    """Import an optional module, or say how to install it.

    Parameters
    ----------
    module
        Dotted name of the module to import, such as ``"torch"``.
    extra
        The extra of this package that brings it, as in ``svnicp[extra]``.
    purpose
        What needs it, as the subject of the sentence: ``"The torch backend"``.

    Returns
    -------
    The imported module.

    Raises
    ------
    MissingExtraError
        If the module is not installed. A module that is installed and fails while it is imported
        raises its own error instead: to call that one missing would be misleading.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if not _is_part_of(error.name, module):
            raise
        raise MissingExtraError(
            f'{purpose} needs {module}, which is not installed: pip install "svnicp[{extra}]"'
        ) from None


def _is_part_of(missing: str | None, module: str) -> bool:
    """Whether the name that was not found is the module asked for, or a package it lives in."""
    return missing is not None and f"{module}.".startswith(f"{missing}.")
