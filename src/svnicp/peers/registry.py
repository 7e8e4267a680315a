# SPDX-License-Identifier: MIT
"""All that can be compared, by name: ours first, then the peers."""

from svnicp.peers import (
    evalio_pipelines,
    genz_icp,
    kiss_icp,
    mad_icp,
    ours,
    rko_lio,
    small_gicp,
)
from svnicp.peers.peer import Peer

OURS: tuple[Peer, ...] = ours.PEERS

PEERS: dict[str, Peer] = {
    peer.name: peer
    for module in (kiss_icp, genz_icp, mad_icp, rko_lio, small_gicp, evalio_pipelines)
    for peer in module.PEERS
}
"""Every peer by name."""
