# SPDX-License-Identifier: MIT
"""The command line: ``svnicp register`` and ``svnicp demo``.

Everything here turns arguments into calls of the library and results into text, JSON or pictures;
no algorithm lives here. Modules import the library inside their functions, because help and wrong
arguments must not wait for the compiler.
"""
