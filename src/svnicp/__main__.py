# SPDX-License-Identifier: MIT
"""``python -m svnicp``: the command line, where its script is not on the path.

It is the same program as ``svnicp`` and ``python -m svnicp.cli``.
"""

import sys

from svnicp.cli.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
