# SPDX-License-Identifier: MIT
"""From a raw scan to points of the body at one time."""

from svnicp.preprocess.body_points import (
    BodyPoints,
    PoseTrack,
    body_points,
    stamps_through,
    thinned,
    track_from,
)

__all__ = ["BodyPoints", "PoseTrack", "body_points", "stamps_through", "thinned", "track_from"]
