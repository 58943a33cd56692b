"""Distances from every node to every anchor-set: `anchor_distances` is the one door."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pgnn.anchors import AnchorSets
from pgnn.distances._members import MemberDistances as MemberDistances
from pgnn.distances._parallel import Progress, resolve_threads
from pgnn.distances._ppr import anchor_ppr as anchor_ppr
from pgnn.errors import PGNNError
from pgnn.graph import Graph


@dataclass(frozen=True, eq=False, repr=False)
class AnchorDistances:
    """How far each node is from each anchor-set, and which member is nearest.

    Attributes:
        nearest: Index of the nearest anchor, int32 `[n, k]`, -1 where none is reached.
        hops: Number of edges to it, `[n, k]` in the smallest signed integers that hold the largest,
            -1 where none is reached; None for a weighted graph.
        lengths: Length of the shortest path to it, float64 `[n, k]`, infinite where none is
            reached; None for an unweighted graph.
    """

    nearest: NDArray[np.int32]
    hops: NDArray[Any] | None = None
    lengths: NDArray[np.float64] | None = None

    @property
    def num_nodes(self) -> int:
        """Number of nodes n."""
        return len(self.nearest)

    @property
    def num_sets(self) -> int:
        """Number of sets k."""
        return int(self.nearest.shape[1])

    def __repr__(self) -> str:
        kind = "hops" if self.lengths is None else "lengths"
        return f"AnchorDistances({kind}, num_nodes={self.num_nodes}, num_sets={self.num_sets})"


def anchor_distances(
    graph: Graph,
    sets: AnchorSets | Sequence[ArrayLike],
    *,
    cutoff: float | None = None,
    num_threads: int | None = None,
    progress: Progress | None = None,
) -> AnchorDistances:
    r"""Distance from every node to, and nearest member of, each of k node sets.

    d(v, S_i) = min over u in S_i of d(v, u). In a directed graph d(v, u) follows edges from v to u.
    Among equally near anchors the one with the lowest index is named. The answer is the same for
    any number of threads.

    Args:
        graph: Unweighted (gives hops) or weighted (gives lengths).
        sets: AnchorSets, or any node sets.
        cutoff: Look no farther than this distance (the paper's q); what lies beyond counts as
            unreachable.
        num_threads: By default all cores.
        progress: Called with (sets done, sets in all) now and then.

    Raises:
        PGNNError: If the sets are not of this graph or an argument is out of range.

    Example:
        >>> path = Graph.from_edges([(0, 1), (1, 2), (2, 3)])
        >>> d = anchor_distances(path, [[0, 3], [1]])
        >>> d.hops.tolist(), d.nearest.tolist()
        ([[0, 1], [1, 0], [1, 1], [0, 2]], [[0, 1], [0, 1], [3, 1], [3, 1]])
    """
    sets = AnchorSets.of(sets, graph.num_nodes)
    if cutoff is not None and not cutoff >= 0:
        raise PGNNError(f"cutoff must be a number >= 0 (got {cutoff})")
    threads = resolve_threads(num_threads)
    if graph.weights is not None:
        from pgnn.distances._weighted import length_distances

        lengths, nearest = length_distances(graph, sets, cutoff, threads, progress)
        return AnchorDistances(nearest, lengths=lengths)
    from pgnn.distances._hops import hop_distances

    limit = None if cutoff is None or np.isinf(cutoff) else int(cutoff)
    hops, nearest = hop_distances(graph, sets, limit, threads, progress)
    return AnchorDistances(nearest, hops=hops)
