"""Distances from every node to every anchor-set: `anchor_distances` is the one door."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pgnn.checks import fits_memory
from pgnn.errors import Parameter, PGNNError
from pgnn.graph import Graph
from pgnn.graph.arrays import sealed
from pgnn.graph.graph import check_graph
from pgnn.positions.anchors import AnchorSets
from pgnn.threads import Progress, resolve_threads


@dataclass(frozen=True, eq=False, repr=False)
class AnchorDistances:
    """How far each node is from each anchor-set, and which member is nearest.

    Attributes:
        nearest: Index of the nearest anchor, int32 `[n, k]`, -1 where none is reached.
        hops: Number of edges to it, `[n, k]` in the smallest signed integers that hold the largest,
            -1 where none is reached; None for a weighted graph.
        lengths: Length of the shortest path to it, float64 `[n, k]`, infinite where none is
            reached; None for an unweighted graph.

    The arrays are read-only.

    Raises:
        PGNNError: If the arrays do not fit each other. Models check the numbers as they read them.
    """

    nearest: NDArray[np.int32]
    hops: NDArray[Any] | None = None
    lengths: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        if (self.hops is None) == (self.lengths is None):
            raise PGNNError(Parameter("distances"), " must have either hops or lengths")
        distance = self.lengths if self.hops is None else self.hops
        kinds = ("nearest", self.nearest, "iu"), ("hops", self.hops, "iu")
        for name, array, kind in (*kinds, ("lengths", self.lengths, "f")):
            if array is None and name != "nearest":
                continue
            if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind not in kind:
                numbers = "integers" if kind == "iu" else "floats"
                raise PGNNError(Parameter(name), f" must be an array of {numbers} [n, k]")
        assert distance is not None
        if self.nearest.shape != distance.shape:
            raise PGNNError(
                "nearest and the distances must have the same shape [n, k] "
                f"(got {list(self.nearest.shape)} and {list(distance.shape)})"
            )
        for name in ("nearest", "hops", "lengths"):
            array = getattr(self, name)
            if array is not None:
                object.__setattr__(self, name, sealed(array))

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
        num_threads: By default one per core.
        progress: Called with (sets searched, sets in all) now and then.

    Raises:
        PGNNError: If the sets are not of this graph or an argument is out of range.

    Example:
        >>> path = Graph.from_edges([(0, 1), (1, 2), (2, 3)])
        >>> d = anchor_distances(path, [[0, 3], [1]])
        >>> d.hops.tolist(), d.nearest.tolist()
        ([[0, 1], [1, 0], [1, 1], [0, 2]], [[0, 1], [0, 1], [3, 1], [3, 1]])
    """
    check_graph(graph)
    sets = AnchorSets.of(sets, graph.num_nodes)
    check_cutoff(cutoff)
    threads = resolve_threads(num_threads)
    fits_memory("sets", f"{len(sets):,} anchor-sets", 5 * graph.num_nodes * len(sets))
    if graph.weights is not None:
        from pgnn.positions.weighted import length_distances

        lengths, nearest = length_distances(graph, sets, cutoff, threads, progress)
        return AnchorDistances(nearest, lengths=lengths)
    from pgnn.positions.hops import hop_distances

    limit = None if cutoff is None or np.isinf(cutoff) else int(cutoff)
    hops, nearest = hop_distances(graph, sets, limit, threads, progress)
    return AnchorDistances(nearest, hops=hops)


def check_cutoff(cutoff: float | None) -> None:
    """Raise if a cutoff is neither None nor a number >= 0; it may be infinite."""
    if cutoff is None:
        return
    is_number = isinstance(cutoff, int | float | np.integer | np.floating)
    if isinstance(cutoff, bool) or not is_number or not cutoff >= 0:
        raise PGNNError(Parameter("cutoff"), f" must be a number >= 0 (got {cutoff!r})")


class MemberDistances:
    """Proximity 1/(d + 1) of nodes to every single node, searched when a layer reads it.

    All pairs at once would be n x n; this holds the graph and gives rows of that matrix in blocks.

    Args:
        graph: Weighted or not; in a directed graph d(v, u) follows edges from v to u.
        sets: AnchorSets, or any node sets.
        cutoff: Look no farther than this distance; what lies beyond has proximity 0.
        batch: Which graph each node is of, `[n]`, ascending, if this is a disjoint union; only
            members of a node's own graph are aggregated for it.
        num_threads: By default one per core.

    Raises:
        PGNNError: If the sets are not of this graph or an argument is out of range.

    Example:
        >>> path = Graph.from_edges([(0, 1), (1, 2)])
        >>> MemberDistances(path, [[0], [1, 2]]).proximity(0, 2).tolist()
        [[1.0, 0.5, 0.3333333333333333], [0.5, 1.0, 0.5]]
    """

    def __init__(
        self,
        graph: Graph,
        sets: AnchorSets | Sequence[ArrayLike],
        *,
        cutoff: float | None = None,
        batch: ArrayLike | None = None,
        num_threads: int | None = None,
    ) -> None:
        check_graph(graph)
        sets = AnchorSets.of(sets, graph.num_nodes)
        check_cutoff(cutoff)
        resolve_threads(num_threads)
        self.graph, self.sets = graph, sets
        self.cutoff, self.num_threads = cutoff, num_threads
        # A search finds distances to its sources: sources v in the reversed graph give d(v, u).
        self._searched = graph.reversed() if graph.directed else graph
        self._bounds = [0, graph.num_nodes]
        if batch is not None:
            try:
                which = np.asarray(batch)
            except (TypeError, ValueError, RuntimeError) as error:
                raise PGNNError(Parameter("batch"), f" must be integers ({error})") from error
            whole = which.dtype.kind in "iu" and which.shape == (graph.num_nodes,)
            if not whole or (which[1:] < which[:-1]).any():
                raise PGNNError(
                    Parameter("batch"),
                    f" must be {graph.num_nodes} ascending graph indices, one per node",
                )
            self._bounds = [0, *(np.flatnonzero(np.diff(which)) + 1).tolist(), graph.num_nodes]

    @property
    def num_nodes(self) -> int:
        """Number of nodes n."""
        return self.graph.num_nodes

    @property
    def num_sets(self) -> int:
        """Number of sets k."""
        return len(self.sets)

    def blocks(self, max_rows: int) -> Iterator[tuple[int, int, Sequence[NDArray[np.int32]]]]:
        """Yield ranges start..stop of nodes of one graph, and the members of the k sets there."""
        for low, high in zip(self._bounds[:-1], self._bounds[1:], strict=True):
            members = [nodes[(nodes >= low) & (nodes < high)] for nodes in self.sets]
            for start in range(low, high, max_rows):
                yield start, min(start + max_rows, high), members

    def proximity(self, start: int, stop: int) -> NDArray[np.float64]:
        """Return 1/(d(v, u) + 1) of v in start..stop and all u, 0 where u is not reached."""
        to_rows = anchor_distances(
            self._searched,
            AnchorSets.from_sets(range(start, stop), self.num_nodes),
            cutoff=self.cutoff,
            num_threads=self.num_threads,
        )
        if to_rows.hops is None:
            assert to_rows.lengths is not None
            return np.ascontiguousarray(1 / (to_rows.lengths.T + 1))
        table = 1 / np.maximum(np.arange(int(to_rows.hops.max()) + 2, dtype=np.float64), 1)
        table[0] = 0  # hops of -1
        return np.ascontiguousarray(table[to_rows.hops.T.astype(np.intp) + 1])

    def __repr__(self) -> str:
        return f"MemberDistances(num_nodes={self.num_nodes}, num_sets={self.num_sets})"
