"""Personalised PageRank, slow and obvious: the oracle of the tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pgnn.anchors import AnchorSets
from pgnn.graph import Graph


def ppr_reference(
    graph: Graph, sets: AnchorSets, alpha: float = 0.15, *, per_degree: bool = False
) -> NDArray[np.float64]:
    """Compute `anchor_ppr` in float64 by one dense solve a node.

    The walk from v has the stationary vector p = alpha e_v + (1 - alpha) p W_v, where W_v is the
    row-normalised adjacency matrix with e_v in the rows of nodes without outgoing edges.

    Example:
        >>> graph = Graph.from_edges([(0, 1)], directed=True)
        >>> ppr_reference(graph, AnchorSets.from_sets([[0], [1]], 2), alpha=0.5).round(3)
        array([[0.667, 0.333],
               [0.   , 1.   ]])
    """
    n = graph.num_nodes
    adjacency = np.asarray(graph.to_scipy().todense(), dtype=np.float64)
    degrees = adjacency.sum(axis=1)
    dead_end = degrees == 0
    degrees[dead_end] = 1.0
    ppr = np.empty((n, n))
    for v in range(n):
        walk = adjacency / degrees[:, None]
        walk[dead_end, v] = 1.0
        restart = np.zeros(n)
        restart[v] = alpha
        ppr[v] = np.linalg.solve(np.eye(n) - (1 - alpha) * walk.T, restart)
    if per_degree:
        ppr /= degrees
    return np.stack([ppr[:, nodes].mean(axis=1) for nodes in sets], axis=1)
