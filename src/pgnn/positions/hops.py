"""Unweighted distances: which kernel searches, how wide its keys are, how wide the result is.

Kernels that sweep over all nodes do so in an order in which neighbours are close.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pgnn.graph import Graph
from pgnn.graph.keeping import is_kept, keep
from pgnn.positions.anchors import AnchorSets
from pgnn.positions.kernels import search as kernels
from pgnn.positions.kernels.rows import ROW_BYTES, empty_aligned, empty_rows
from pgnn.positions.kernels.search import Rows
from pgnn.threads import (
    ElsewhereError,
    Fills,
    Progress,
    Scratch,
    columns_of,
    leave_if_stopped,
    run_blocks,
)

# Training searches the same small graph thousands of times, so its order is kept. That of a graph
# with more entries of `indices` is found anew.
_KEPT_ENTRIES = 1 << 20
_ORDER = "Cuthill-McKee order"


def row_arrays(graph: Graph) -> Rows:
    """Return the rows of the graph and of its reverse, as the kernels read them."""
    turned = graph.reversed()
    return (
        graph.indptr,
        graph.indices.view(np.uint32),
        turned.indptr,
        turned.indices.view(np.uint32),
    )


def relabelled(graph: Graph) -> tuple[NDArray[np.uint32], Rows]:
    """Put the nodes in Cuthill-McKee order.

    Returns:
        The new index of each node, and the rows of the graph with nodes so numbered; neighbours
        within a row are not sorted. A small graph's order is kept as long as the graph lives.
    """
    if len(graph.indices) > _KEPT_ENTRIES:
        return _relabel(graph)
    return keep(graph, _ORDER, lambda: _relabel(graph))


def has_order(graph: Graph) -> bool:
    """Return whether the graph's order is known from an earlier search."""
    return is_kept(graph, _ORDER)


def _relabel(graph: Graph) -> tuple[NDArray[np.uint32], Rows]:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    matrix = graph.to_scipy()
    order = reverse_cuthill_mckee(matrix, symmetric_mode=not graph.directed)
    places = np.empty(graph.num_nodes, dtype=np.int32)
    places[order] = np.arange(graph.num_nodes, dtype=np.int32)
    matrix = matrix[order]
    matrix = csr_array((matrix.data, places[matrix.indices], matrix.indptr), matrix.shape)
    turned = matrix.T.tocsr() if graph.directed else matrix
    return places.view(np.uint32), (*_row_arrays(matrix), *_row_arrays(turned))


def _row_arrays(matrix: Any) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32).view(np.uint32)


# Sets of at most 2^12 members, no farther than 13 hops, fit in 16-bit keys.
RANK_BITS = 12
MAX_RANKED = 1 << RANK_BITS
# Rows are fetched early once they do not fit in a core's share of the last cache.
EARLY_FETCH_BYTES = 8 << 20
EARLY_FETCH_AHEAD = 32
# A push writes at random places, and the processor cannot predict whether it has to.
PUSH_ADVANTAGE = 6
# An exchange looks at all edges, but once, and misses half as many rows in the caches as a pull.
EXCHANGE_ADVANTAGE = 3
# Sweeps give up when they have visited every node this many times on average. The queue, which
# searches from one set after the other, then starts anew.
MAX_VISITS = 16
# Below this many (node, set) pairs starting threads costs more than it saves.
SERIAL_PAIRS = 1 << 17


@dataclass(frozen=True)
class KeyForm:
    """How keys are laid out."""

    key_type: type[np.unsignedinteger[Any]]
    shift: int  # bits that hold the anchor
    ranked: bool = False  # whether it is the anchor's rank in its set, not its index

    @classmethod
    def of_indices(cls, key_type: type[np.unsignedinteger[Any]], num_nodes: int) -> KeyForm:
        """Return the layout of keys that hold indices of a graph's nodes."""
        return cls(key_type, max(1, (num_nodes - 1).bit_length()))

    @property
    def lanes(self) -> int:
        """How many sets share a row of keys."""
        return ROW_BYTES // np.dtype(self.key_type).itemsize

    @property
    def mask_type(self) -> type[np.unsignedinteger[Any]]:
        """The type of a mask with one bit per lane."""
        return np.uint32 if self.lanes == 32 else np.uint16

    def cap(self, cutoff: int | None, hops_type: type[np.signedinteger[Any]]) -> int:
        """Return the farthest level to search: the cutoff, or what fits in keys and result."""
        bits = np.dtype(self.key_type).itemsize * 8 - self.shift
        fits = min((1 << bits) - 3, int(np.iinfo(hops_type).max))
        return fits if cutoff is None else min(fits, cutoff)

    def block(self, numbers: range, cap: int) -> kernels.Block:
        """Return some sets in this layout, as kernels read them."""
        return numbers.start, len(numbers), self.shift, cap


RANKS = KeyForm(np.uint16, RANK_BITS, ranked=True)


class _TooFarError(Exception):
    """A distance does not fit in this way of searching; another has to start anew."""


@dataclass(frozen=True)
class _Job:
    """One call of `hop_distances`."""

    graph: Graph
    sets: AnchorSets
    cutoff: int | None
    num_threads: int
    progress: Progress | None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of nodes and of sets."""
        return self.graph.num_nodes, len(self.sets)

    @property
    def flat_sets(self) -> kernels.Sets:
        """Bounds and members of all sets, as kernels read them."""
        return self.sets.indptr, self.sets.nodes.view(np.uint32)

    def form(self, key_type: type[np.unsignedinteger[Any]]) -> KeyForm:
        """Return the layout of keys that hold indices of this graph's nodes."""
        return KeyForm.of_indices(key_type, self.graph.num_nodes)

    @property
    def ahead(self) -> int:
        """How far to fetch rows early."""
        return EARLY_FETCH_AHEAD if self.shape[0] * ROW_BYTES > EARLY_FETCH_BYTES else 0

    def is_complete(self, ended: int, cap: int) -> bool:
        """Return whether a search that ended so has all distances up to the cutoff."""
        return ended == kernels.FINISHED or (ended == kernels.AT_CAP and cap == self.cutoff)

    def run(
        self,
        work: Callable[[range, Scratch], None],
        blocks: list[range],
        make_scratch: Callable[[], Scratch],
        fills: Fills,
    ) -> bool:
        """Work on all blocks, on threads if it is worth it; return whether no search gave up."""
        is_small = self.shape[0] * self.shape[1] < SERIAL_PAIRS
        threads = 1 if is_small else self.num_threads
        try:
            run_blocks(
                *(work, blocks, make_scratch, threads, self.progress),
                apart=not is_small,
                fills=fills,
            )
        except (_TooFarError, ElsewhereError):
            return False
        return True


def hop_distances(
    graph: Graph,
    sets: AnchorSets,
    cutoff: int | None,
    num_threads: int,
    progress: Progress | None,
) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Search from all sets; returns (hops, nearest), `[n, k]` each, -1 where unreachable."""
    job = _Job(graph, sets, cutoff, num_threads, _rising(progress))
    result: tuple[NDArray[Any], NDArray[np.int32]] | None = None
    if cutoff is not None or not has_order(graph):  # an order is kept only after levels gave up
        result = search_by_levels(job)
    for key_type, hops_type in ((np.uint32, np.int16), (np.uint64, np.int32)):
        if result is None:
            result = search_by_sweeps(job, key_type, hops_type)
    assert result is not None, "a distance is below the number of nodes, which fits in 32 bits"
    hops, nearest = result
    return compact(hops), nearest


class _LevelScratch(NamedTuple):
    """What one thread needs to search by levels, 88 bytes per node; see `search_levels`."""

    key: NDArray[np.uint32]
    masks: list[NDArray[np.uint32]]
    lists: list[NDArray[np.uint32]]


def search_by_levels(job: _Job) -> tuple[NDArray[np.int8], NDArray[np.int32]] | None:
    """Search hop by hop; None if the diameter is too large for that."""
    n, k = job.shape
    hops, nearest = empty_aligned((n, k), np.int8), empty_aligned((n, k), np.int32)
    rows, sets = row_arrays(job.graph), job.flat_sets
    above = np.empty(0 if job.graph.directed else n, dtype=np.int64)
    kernels.starts_above(rows[0], rows[1], above)
    places = np.arange(n, dtype=np.uint32)  # each node's keys lie in its own row
    indexed = job.form(np.uint32)
    near = True

    def attempt(form: KeyForm, numbers: range, scratch: _LevelScratch) -> bool:
        cap = form.cap(job.cutoff, np.int8)
        block = form.block(numbers, cap)
        key = scratch.key.view(form.key_type)
        masks = (mask.view(form.mask_type)[:n] for mask in scratch.masks)
        shaped = (key, *masks, *scratch.lists)
        ended = kernels.search_levels(
            *(rows, sets, block, above, job.ahead, PUSH_ADVANTAGE, EXCHANGE_ADVANTAGE),
            *(form.ranked, shaped),
        )
        if not job.is_complete(ended, cap):
            return False
        leave_if_stopped()
        if form.ranked:
            kernels.emit_ranked(key, sets, block, hops, nearest)
        else:
            kernels.emit_block(key, places, block, hops, nearest)
        return True

    def work(numbers: range, scratch: _LevelScratch) -> None:
        nonlocal near  # other threads set it too, but only ever to False
        if near and len(numbers) > indexed.lanes:
            if attempt(RANKS, numbers, scratch):
                return
            near = False
        for part in (numbers[: indexed.lanes], numbers[indexed.lanes :]):
            if part and not attempt(indexed, part, scratch):
                raise _TooFarError

    def make_scratch() -> _LevelScratch:
        masks = [np.empty(n, dtype=np.uint32) for _ in range(3)]
        lists = [np.empty(n + 1, dtype=np.uint32) for _ in range(3)]
        return _LevelScratch(empty_rows(n, np.uint32), masks, lists)

    blocks = level_blocks(job.sets.sizes, indexed.lanes)
    is_complete = job.run(work, blocks, make_scratch, columns_of(hops, nearest))
    return (hops, nearest) if is_complete else None


def level_blocks(sizes: NDArray[np.int64], lanes: int) -> list[range]:
    """Cut sets into blocks: of 32 where all are small enough for ranks, else of `lanes`.

    Cut from the end: the last sets are the smallest, so they reach farthest and cost most. A block
    that is not full is left to the first sets, which cost least.
    """
    small = sizes <= MAX_RANKED
    blocks: list[range] = []
    stop = len(sizes)
    while stop > 0:
        wide = stop > lanes and small[max(0, stop - RANKS.lanes) : stop].all()
        blocks.append(range(max(0, stop - (RANKS.lanes if wide else lanes)), stop))
        stop = blocks[-1].start
    return blocks


class _SweepScratch(NamedTuple):
    """What one thread needs to search by sweeps or queues: 73 bytes per node, or 77."""

    key: NDArray[Any]
    dirty: NDArray[np.uint8]
    single: NDArray[Any]
    queue: NDArray[np.uint32]


def search_by_sweeps(
    job: _Job,
    key_type: type[np.unsignedinteger[Any]],
    hops_type: type[np.signedinteger[Any]],
) -> tuple[NDArray[Any], NDArray[np.int32]] | None:
    """Search by sweeps (or queues) over the relabelled graph; None if a distance does not fit."""
    n, k = job.shape
    form = job.form(key_type)
    cap = form.cap(job.cutoff, hops_type)
    (places, rows), sets = relabelled(job.graph), job.flat_sets
    hops, nearest = empty_aligned((n, k), hops_type), empty_aligned((n, k), np.int32)

    def work(numbers: range, scratch: _SweepScratch) -> None:
        block = form.block(numbers, cap)
        key, dirty, single, queue = scratch
        ended = kernels.search_sweeps(
            rows, sets, block, job.ahead, MAX_VISITS * n, places, key, dirty
        )
        leave_if_stopped()
        if ended == kernels.GAVE_UP:
            ended = kernels.search_queue(rows, sets, block, places, key, single, queue)
        if not job.is_complete(ended, cap):
            raise _TooFarError
        kernels.emit_block(key, places, block, hops, nearest)

    def make_scratch() -> _SweepScratch:
        return _SweepScratch(
            key=empty_rows(n, form.key_type),
            dirty=np.empty(n, dtype=np.uint8),
            single=np.empty(n, dtype=form.key_type),
            queue=np.empty(n + 1, dtype=np.uint32),
        )

    blocks = [range(max(0, stop - form.lanes), stop) for stop in range(k, 0, -form.lanes)]
    is_complete = job.run(work, blocks, make_scratch, columns_of(hops, nearest))
    return (hops, nearest) if is_complete else None


def _rising(progress: Progress | None) -> Progress | None:
    """Keep a search that starts anew from reporting less than was reported before."""
    if progress is None:
        return None
    most = 0

    def report(num_searched: int, total: int) -> None:
        nonlocal most
        if num_searched > most:
            most = num_searched
            progress(num_searched, total)

    return report


def compact(hops: NDArray[Any]) -> NDArray[Any]:
    """Return the hops in the smallest signed type that holds the largest."""
    if hops.dtype == np.int8:
        return hops
    smallest = np.min_scalar_type(-int(hops.max(initial=0)) - 1)
    return hops.astype(smallest, copy=False)
