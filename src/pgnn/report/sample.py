"""Which nodes and edges of a large graph to draw."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pgnn.graph import Graph

_BALLS = 6  # pieces of a graph that is too large to be drawn
_BRANCHES = 8  # neighbours that a search goes on to from one node: hubs would fill a ball


def sample_nodes(graph: Graph, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return sorted nodes to draw: all, or those of a few breadth-first balls.

    A ball is connected, so distances change gradually across it; several balls show several parts
    of the graph. From each node the search goes on to at most eight neighbours, so that a hub does
    not fill its ball. Balls start at nodes with edges as long as there are any left.
    """
    if graph.num_nodes <= count:
        return np.arange(graph.num_nodes)
    around = graph if not graph.directed else Graph.from_edges(graph.edges(), graph.num_nodes)
    taken = np.zeros(graph.num_nodes, dtype=bool)
    size = -(-count // _BALLS)
    order = rng.permutation(graph.num_nodes)
    starts = order[np.argsort(around.degrees[order] == 0, kind="stable")]
    left = count
    for start in starts.tolist():
        if left == 0:
            break
        if not taken[start]:
            left -= _take_ball(around, start, min(size, left), taken, rng)
    return np.flatnonzero(taken)


def _take_ball(
    graph: Graph, start: int, size: int, taken: NDArray[np.bool_], rng: np.random.Generator
) -> int:
    """Mark up to `size` nodes around a node, nearest first; return how many."""
    queue = [start]
    taken[start] = True
    for node in queue:
        found = graph.neighbors(node)
        found = found[~taken[found]]
        room = min(_BRANCHES, size - len(queue))
        if len(found) > room:
            found = rng.choice(found, room, replace=False)
        taken[found] = True
        queue += found.tolist()
        if len(queue) >= size:
            break
    return len(queue)


def add_nodes(
    nodes: NDArray[np.int64], num_nodes: int, count: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return the nodes and, after them, others drawn at random until there are `count`."""
    others = np.setdiff1d(np.arange(num_nodes), nodes, assume_unique=True)
    room = min(count - len(nodes), len(others))
    if room <= 0:
        return nodes
    return np.concatenate([nodes, np.sort(rng.choice(others, room, replace=False))])


def edges_among(graph: Graph, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return each edge between the nodes once, directions left out, as positions in `nodes`."""
    place = np.full(graph.num_nodes, -1)
    place[nodes] = np.arange(len(nodes))
    rows = np.repeat(np.arange(len(nodes)), graph.degrees[nodes])
    targets = np.concatenate([graph.neighbors(node) for node in nodes.tolist()])
    pairs = np.stack([rows, place[targets]], axis=1)
    return np.unique(np.sort(pairs[pairs[:, 1] >= 0], axis=1), axis=0)
