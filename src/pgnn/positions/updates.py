"""What differs in a result of `anchor_distances` after edges arrived or went.

Labels that got nearer are lowered and labels that lost their support raised, set by set, each with
a bounded amount of work. A set that would need more is searched anew. Where that holds for many
sets, or too many edges came and went, all are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pgnn import checks
from pgnn.errors import Parameter, PGNNError
from pgnn.graph import Graph
from pgnn.positions.anchors import AnchorSets
from pgnn.positions.kernels import update as kernels
from pgnn.threads import run_blocks

_SETS_PER_BLOCK = 8


class Bounds(NamedTuple):
    """How much an update may do before a search takes no longer.

    A search by hops treats 16 sets at once and reads in order; an update reads single entries at
    random places. Dijkstra's search reads as an update does.

    Attributes:
        reads_share: A set's update may read this many times fewer neighbours than its search.
        edges_share: Edges may be this many times fewer than the graph's: of more there is too much
            to change, so they are not looked at.
        few_pairs: A search of fewer (node, set) pairs takes no longer than to look at the edges.
    """

    reads_share: int
    edges_share: int
    few_pairs: int


HOPS = Bounds(reads_share=1200, edges_share=2000, few_pairs=1 << 20)
LENGTHS = Bounds(reads_share=16, edges_share=50, few_pairs=1 << 13)

Labels = tuple[NDArray[Any], NDArray[np.int32]]
Search = Callable[[AnchorSets], Labels]
Steps = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]


class Changes(NamedTuple):
    """What differs from an earlier result.

    Attributes:
        numbers: Set of each changed entry, int32 `[changes]`.
        nodes: Its node, int32 `[changes]`.
        lengths: Its distance, float64 `[changes]`.
        anchors: Its nearest anchor, int32 `[changes]`.
        searched: The sets that were searched anew, `[columns]`.
        columns: Distance and nearest anchor of all nodes to those, `[n, columns]`, or None.
    """

    numbers: NDArray[np.int32]
    nodes: NDArray[np.int32]
    lengths: NDArray[np.float64]
    anchors: NDArray[np.int32]
    searched: NDArray[np.int64]
    columns: Labels | None

    def write(self, distance: NDArray[Any], nearest: NDArray[np.int32]) -> None:
        """Write them to arrays that hold the earlier result."""
        unreached = np.inf if distance.dtype.kind == "f" else -1.0
        kernels.write_changes(self[:4], unreached, distance, nearest)
        if self.columns is not None:
            distance[:, self.searched], nearest[:, self.searched] = self.columns

    @property
    def farthest(self) -> float:
        """The largest distance among them, 0 if there is none."""
        columns = 0.0 if self.columns is None else float(self.columns[0].max(initial=0))
        return max(columns, float(self.lengths[self.anchors >= 0].max(initial=0)))


def find_changes(
    graph: Graph,
    sets: AnchorSets,
    labels: Labels,
    *,
    added: ArrayLike,
    removed: ArrayLike,
    limit: float,
    num_threads: int,
    search: Search,
) -> Changes | None:
    """Return what differs from an earlier result; None if a search of all sets takes no longer.

    Args:
        graph: The graph with the edges that arrived and without those that went.
        sets: The anchor-sets.
        labels: Distances and nearest anchors of the earlier graph, whose nodes were the first of
            this one's.
        added: Edges that arrived, node indices `[m, 2]`. One whose weight changed is here, too.
        removed: Edges that went. One whose weight changed is here, too.
        limit: Look no farther.
        num_threads: How many threads at most.
        search: Returns distances and nearest anchors of sets of this graph.

    Raises:
        PGNNError: If the earlier result is not of these sets, or an edge is not as said.
    """
    _check_labels(sets, labels)
    bounds = HOPS if graph.weights is None else LENGTHS
    n, k = graph.num_nodes, len(sets)
    came = _as_edges("added", added, n)
    went = _as_edges("removed", removed, n)
    most_edges = len(graph.indices) // bounds.edges_share
    if n * k < bounds.few_pairs or len(came) + len(went) > most_edges:
        return None
    arrived = _steps(graph, came)
    _check_gone(graph, went, arrived)
    most = n * k // bounds.reads_share
    offers = _offers(arrived, labels, limit, most)
    broken = _broken(_both_ways(graph, went), labels, graph.weights is not None, most)
    if offers is None or broken is None:
        return None
    # Each is passed on to all neighbours, and about one of those passes it on.
    reads = 2 * (np.diff(offers[0]) + np.diff(broken[0])) * len(graph.indices) // n
    if _too_many(reads > _max_reads(graph, bounds)):
        return None
    fate = np.full(k, kernels.KEPT, dtype=np.uint8)
    parts = _changed(graph, offers, broken, labels, limit, num_threads, bounds, fate)
    searched = np.flatnonzero(fate == kernels.SEARCH)
    if _too_many(fate == kernels.SEARCH):
        return None
    numbers, nodes, lengths, anchors = (np.concatenate(part) for part in zip(*parts, strict=True))
    columns = search(sets.select(searched)) if len(searched) else None
    return Changes(numbers, nodes, lengths, anchors, searched, columns)


# Arrays of what concerns each set: those of set i are starts[i]..starts[i + 1] of the others.
_BySet = tuple[NDArray[Any], ...]


def _offers(arrived: Steps, labels: Labels, limit: float, most: int) -> _BySet | None:
    """List what arrived edges offer that is better than what is there; None if that is too much.

    Returns:
        (starts, nodes, lengths, anchors, makers), see `kernels.update_labels`.
    """
    numbers, nodes, anchors, makers = (np.empty(most, dtype=np.int32) for _ in range(4))
    lists = numbers, nodes, np.empty(most, dtype=np.float64), anchors, makers
    count = kernels.list_offers(arrived, labels, limit, lists)
    return None if count < 0 else _by_set(lists, count, labels)


def _broken(went: Steps, labels: Labels, is_weighted: bool, most: int) -> _BySet | None:
    """List labels that may have come by an edge that went; None if they are too many.

    Returns:
        (starts, nodes).
    """
    lists = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int32)
    count = kernels.list_broken(went, labels, is_weighted, lists)
    return None if count < 0 else _by_set(lists, count, labels)


def _by_set(lists: tuple[NDArray[Any], ...], count: int, labels: Labels) -> _BySet:
    """Sort lists by the first, the numbers of sets; returns where each set's part starts first."""
    numbers = lists[0][:count]
    order = np.argsort(numbers, kind="stable")
    starts = np.searchsorted(numbers[order], np.arange(labels[1].shape[1] + 1))
    return starts, *(array[:count][order] for array in lists[1:])


def _changed(
    graph: Graph,
    offers: _BySet,
    broken: _BySet,
    labels: Labels,
    limit: float,
    num_threads: int,
    bounds: Bounds,
    fate: NDArray[np.uint8],
) -> list[tuple[NDArray[Any], ...]]:
    """Update labels set by set; returns (numbers, nodes, lengths, anchors) of what changed."""
    n, k = graph.num_nodes, len(fate)
    rows = _rows(graph) + _rows(graph.reversed())
    max_reads = _max_reads(graph, bounds)
    num_slots = max(1, _SETS_PER_BLOCK * n // bounds.reads_share)
    slots = np.zeros((k, 2), dtype=np.int64)

    def make_scratch() -> tuple[NDArray[Any], ...]:
        lists = (np.empty(num_slots, dtype=np.int32) for _ in range(3))
        slot_of = np.full(n, -1, dtype=np.int32)
        nodes = np.empty(num_slots, dtype=np.int32)
        return slot_of, nodes, np.empty(num_slots, dtype=np.float64), *lists

    def work(block: range, scratch: Any) -> tuple[NDArray[Any], ...]:
        if _too_many(fate == kernels.SEARCH):  # all will be searched
            return ()
        kernels.update_labels(
            (block.start, block.stop), offers, broken, rows, labels,
            graph.weights is not None, limit, max_reads, fate, slots, scratch,
        )  # fmt: skip
        counts = slots[block.start : block.stop] @ np.array([-1, 1])
        numbers = np.repeat(np.arange(block.start, block.stop, dtype=np.int32), counts)
        _, nodes, lengths, anchors, _, _ = scratch
        count = len(numbers)
        return numbers, nodes[:count].copy(), lengths[:count].copy(), anchors[:count].copy()

    # The last sets are the smallest, which reach farthest: if there is too much to do, it is there.
    blocks = [range(max(0, i - _SETS_PER_BLOCK), i) for i in range(k, 0, -_SETS_PER_BLOCK)]
    few = len(offers[1]) + len(broken[1]) < len(blocks)
    return run_blocks(work, blocks, make_scratch, 1 if few else num_threads)


def _max_reads(graph: Graph, bounds: Bounds) -> int:
    """Return how many neighbours an update of one set may read."""
    return max(1, len(graph.indices) // bounds.reads_share)


def _too_many(is_searched: NDArray[np.bool_]) -> bool:
    """Return whether so many sets are to be searched that a search of all takes no longer.

    They are the smallest sets, whose search takes longest.
    """
    return bool(4 * np.count_nonzero(is_searched) > len(is_searched))


# ---------------------------------------------------------------------- what was passed


def _rows(graph: Graph) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """Return bounds, neighbours and weights; no weights stand for lengths of 1."""
    weights = np.empty(0) if graph.weights is None else graph.weights
    return graph.indptr, graph.indices, weights


def _check_labels(sets: AnchorSets, labels: Labels) -> None:
    """Refuse a result of other sets, as far as a look at some members tells."""
    nearest = labels[1]
    if nearest.shape[1] != len(sets):
        raise PGNNError(
            Parameter("updated_from"),
            f" has distances to {nearest.shape[1]} sets, but there are {len(sets)}",
        )
    first, stop = sets.indptr[:-1], sets.indptr[1:]
    members = sets.nodes[np.stack([first, (first + stop) // 2, stop - 1])]  # [3, k]
    numbers = np.arange(len(sets))
    fits = members.max() < len(nearest)
    if not (fits and np.array_equal(nearest[members, numbers], members)):
        raise PGNNError(
            Parameter("updated_from"),
            " has distances to other sets than these; search without it",
        )


def _as_edges(what: str, edges: ArrayLike, num_nodes: int) -> NDArray[np.int32]:
    """Return edges as pairs of node indices, without self-loops."""
    pairs: NDArray[Any] = checks.numbers("updated_from", edges, None)
    if pairs.size == 0:
        return np.empty((0, 2), dtype=np.int32)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise PGNNError(
            f"edges that were {what} must be node indices of shape [num_edges, 2] "
            f"(got {pairs.dtype} of shape {list(pairs.shape)})"
        )
    outside = (pairs < 0) | (pairs >= num_nodes)
    if outside.any():
        u, v = pairs[outside.any(axis=1)][0].tolist()
        raise PGNNError(
            f"edge ({u}, {v}), said to be {what}, is outside of the graph: node indices must lie "
            f"in 0..{num_nodes - 1}"
        )
    return np.asarray(pairs[pairs[:, 0] != pairs[:, 1]], dtype=np.int32)


def _both_ways(graph: Graph, edges: NDArray[np.int32]) -> Steps:
    """Return edges as steps, undirected ones in both directions, with length 1."""
    origin, to = edges.T
    if not graph.directed:
        origin, to = np.concatenate([origin, to]), np.concatenate([to, origin])
    return np.ascontiguousarray(to), np.ascontiguousarray(origin), np.ones(len(to))


def _places(graph: Graph, steps: Steps) -> NDArray[np.int64]:
    """Return where in the graph's rows each step is, -1 where it is not."""
    places = np.empty(len(steps[0]), dtype=np.int64)
    kernels.find_entries(graph.indptr, graph.indices, steps[1], steps[0], places)
    return places


def _steps(graph: Graph, edges: NDArray[np.int32]) -> Steps:
    """Return edges that arrived as steps, with their lengths."""
    steps = _both_ways(graph, edges)
    places = _places(graph, steps)
    if (places < 0).any():
        u, v = steps[1][places < 0][0], steps[0][places < 0][0]
        raise PGNNError(
            f"edge ({u}, {v}), said to be added, is not in the graph; pass the graph as it is now"
        )
    return steps if graph.weights is None else (*steps[:2], graph.weights[places])


def _check_gone(graph: Graph, went: NDArray[np.int32], arrived: Steps) -> None:
    """Refuse edges that are said to have gone and are still there, unless they came back."""
    steps = _both_ways(graph, went)
    there = _places(graph, steps) >= 0
    if not there.any():
        return
    n = graph.num_nodes
    came = arrived[1].astype(np.int64) * n + arrived[0]
    stayed = ~np.isin(steps[1][there].astype(np.int64) * n + steps[0][there], came)
    if stayed.any():
        u, v = steps[1][there][stayed][0], steps[0][there][stayed][0]
        raise PGNNError(
            f"edge ({u}, {v}), said to be removed, is still in the graph; pass the graph as it is "
            "now, and an edge whose weight changed both as removed and as added"
        )
