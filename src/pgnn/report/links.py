"""A predicted link as the page tells it: the two nodes, and what of the graph lies between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgnn.graph import Graph

Nodes = NDArray[np.int64]

_MAX_PATHS = 3
_MAX_NEIGHBOURS = 12  # of each node that are named
_NAMED = 2  # shared neighbours in a sentence


@dataclass(frozen=True, eq=False)
class Between:
    """What of a graph lies between two nodes, read without an edge between them.

    Directions and weights are not looked at. Of nodes that are listed, those with the fewest
    neighbours come first: to be joined to them says most.

    Attributes:
        ends: The two nodes.
        paths: Some shortest paths, each from the first node to the second; none if no path is.
        shared: Some of the neighbours that both have.
        num_shared: How many they share.
        others: For each end, some of its other neighbours.
        num_neighbours: For each end, how many neighbours it has.
    """

    ends: tuple[int, int]
    paths: list[list[int]]
    shared: list[int]
    num_shared: int
    others: tuple[list[int], list[int]]
    num_neighbours: tuple[int, int]

    def sentence(self, names: Sequence[str]) -> str:
        """Say in a few words what joins the two nodes; `names` has the name of every node."""
        if self.num_shared:
            some = " and ".join(names[node] for node in self.shared[:_NAMED])
            if self.num_shared == 1:
                return f"share 1 neighbour, {some}"
            among = f", among them {some}" if self.num_shared > _NAMED else f", {some}"
            return f"share {self.num_shared:,} neighbours{among}"
        if self.paths:
            inner = " and ".join(names[node] for node in self.paths[0][1:-1])
            hops = len(self.paths[0]) - 1
            return f"{hops} hops apart" + (f", through {inner}" if hops <= 3 else "")
        return "no path joins them"


class Surroundings:
    """Finds what lies between pairs of nodes of one graph.

    Args:
        graph: Any graph; a directed one is read as if its edges had no direction.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        if graph.directed:
            self._graph = Graph.from_edges(graph.edges(), graph.num_nodes)

    def between(self, source: int, target: int) -> Between:
        """Return what lies between two different nodes."""
        first, second = self._neighbours(source), self._neighbours(target)
        first, second = first[first != target], second[second != source]
        shared = self._telling(np.intersect1d(first, second))
        return Between(
            (source, target),
            self._paths(source, target, shared),
            shared[:_MAX_NEIGHBOURS],
            len(shared),
            (self._others(first, second), self._others(second, first)),
            (len(first), len(second)),
        )

    def _neighbours(self, node: int) -> Nodes:
        return np.asarray(self._graph.neighbors(node), dtype=np.int64)

    def _telling(self, nodes: Nodes) -> list[int]:
        """Return nodes, those with the fewest neighbours first."""
        order = np.lexsort((nodes, self._graph.degrees[nodes]))
        return [int(node) for node in nodes[order]]

    def _others(self, neighbours: Nodes, elsewhere: Nodes) -> list[int]:
        return self._telling(np.setdiff1d(neighbours, elsewhere))[:_MAX_NEIGHBOURS]

    def _paths(self, source: int, target: int, shared: list[int]) -> list[list[int]]:
        if shared:
            return [[source, node, target] for node in shared[:_MAX_PATHS]]
        hops = self._search(source, target)
        if hops[target] < 0:
            return []
        paths = [[target]]
        for left in range(int(hops[target]) - 1, -1, -1):
            longer = []
            for path in paths:
                near = self._neighbours(path[-1])
                near = near[hops[near] == left]
                longer += [[*path, node] for node in self._telling(near)[:_MAX_PATHS]]
            paths = longer[:_MAX_PATHS]
        return [path[::-1] for path in paths]

    def _search(self, source: int, target: int) -> Nodes:
        """Return hops from the source up to the target's, -1 for nodes not reached by then."""
        hops = np.full(self._graph.num_nodes, -1, dtype=np.int64)
        hops[source] = 0
        frontier = np.array([source])
        level = 0
        while len(frontier) and hops[target] < 0:
            level += 1
            reached = [self._neighbours(node) for node in frontier.tolist()]
            if level == 1:  # never along the edge between the two
                reached = [near[near != target] for near in reached]
            frontier = np.unique(np.concatenate(reached))
            frontier = frontier[hops[frontier] < 0]
            hops[frontier] = level
        return hops
