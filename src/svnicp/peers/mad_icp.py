# SPDX-License-Identifier: MIT
"""MAD-ICP (Sapienza): point-to-plane on a forest of kd-trees, LiDAR alone.

The package on PyPI does not build with present tools, so evalio's compiled copy is run; it is the
same release. evalio turns deskewing off; ``deskew`` is the same with it, where points have times.
``realtime`` is off in both: it would end the optimisation early on a busy machine.
"""

from dataclasses import replace

from svnicp.peers.evalio_pipelines import Pipeline, at_end, at_mean, evalio_peer
from svnicp.peers.peer import DEFAULT

DESKEW = "deskew"
PLAIN = Pipeline("mad", at_mean, params={"realtime": False})
WITH_DESKEW = Pipeline("mad", at_end, params={"realtime": False, "deskew": True})


def configurations(_scene: str, point_times: bool) -> tuple[str, ...]:
    """Defaults, and deskewed where points have times."""
    return (DEFAULT, DESKEW) if point_times else (DEFAULT,)


PEERS = (
    replace(
        evalio_peer("mad-icp", __name__, {DEFAULT: PLAIN, DESKEW: WITH_DESKEW}),
        configurations=configurations,
    ),
)
