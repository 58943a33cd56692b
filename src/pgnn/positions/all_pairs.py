"""PageRank between all nodes of small graphs, kept so that sets drawn anew only need means."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pgnn.checks import checked
from pgnn.errors import Parameter, PGNNError
from pgnn.graph import Graph
from pgnn.positions.anchors import AnchorSets
from pgnn.positions.ppr import anchor_ppr

_ONE_THREAD_NODES = 1 << 9  # to start threads for fewer takes longer than they save


class AllPairs:
    """Personalised PageRank between all nodes of each graph of a disjoint union.

    It is found once, in little more than 4 bytes for each pair of nodes of a graph. Then PageRank
    to a set is the mean over its members, which takes far less time than to solve for it.

    Args:
        graphs: The graphs of the union, in their order.
        alpha: Chance of the walk to go back.

    Example:
        >>> path = Graph.from_edges([(0, 1), (1, 2)])
        >>> AllPairs([path], alpha=0.5).to_sets([[0], [1, 2]]).round(3)
        array([[0.583, 0.208],
               [0.167, 0.417],
               [0.083, 0.458]], dtype=float32)
    """

    @checked
    def __init__(self, graphs: Sequence[Graph], *, alpha: float) -> None:
        from pgnn.positions.kernels.members import fill_tiles, tiles_of

        if len(graphs) == 0:
            raise PGNNError(Parameter("graphs"), " must be at least one")
        sizes = np.array([graph.num_nodes for graph in graphs], dtype=np.int64)
        self._starts = np.concatenate([[0], np.cumsum(sizes)])
        places = np.cumsum([0, *(tiles_of(size) for size in sizes.tolist())])
        self._numbers = np.empty(int(places[-1]), dtype=np.float32)
        for graph, (start, stop) in zip(graphs, pairwise(places.tolist()), strict=True):
            size = graph.num_nodes
            threads = 1 if size <= _ONE_THREAD_NODES else None
            each = AnchorSets.from_sets(range(size), size)
            ppr = anchor_ppr(graph, each, alpha=alpha, num_threads=threads)
            fill_tiles(ppr, self._numbers[start:stop])

    @checked
    def to_sets(self, sets: AnchorSets | Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """Return the mean of PageRank over a set's members in the graph of each node, `[n, k]`.

        It is 0 for a set without a member in that graph.

        Raises:
            PGNNError: If the sets are not of this union.
        """
        from pgnn.positions.kernels.members import mean_over_members

        sets = AnchorSets.of(sets, int(self._starts[-1]))
        result = np.empty((sets.num_nodes, len(sets)), dtype=np.float32)
        mean_over_members(self._numbers, self._starts, sets.indptr, sets.nodes, result)
        return result
