"""Unweighted distances: which kernel, how wide the keys, how wide the result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgnn.anchors import AnchorSets
from pgnn.distances import _kernels as kernels
from pgnn.distances._parallel import Progress, run_blocks
from pgnn.distances._rows import ROW_BYTES, empty_rows
from pgnn.graph import Graph

# Rows are fetched early once they do not fit in a core's share of the last cache.
EARLY_FETCH_BYTES = 8 << 20
EARLY_FETCH_AHEAD = 24
# Below this many (node, set) pairs starting threads costs more than it saves.
SERIAL_PAIRS = 1 << 17


@dataclass(frozen=True)
class _Plan:
    """One way to search; tried in order until the distances fit."""

    sweeps: bool
    key_type: type[np.unsignedinteger[Any]]
    hops_type: type[np.signedinteger[Any]]

    def cap(self, num_nodes: int) -> int:
        """The largest distance that fits in the keys and in the result."""
        bits = np.dtype(self.key_type).itemsize * 8 - key_shift(num_nodes)
        return min((1 << bits) - 3, int(np.iinfo(self.hops_type).max))


PLANS = (
    _Plan(sweeps=False, key_type=np.uint32, hops_type=np.int8),
    _Plan(sweeps=True, key_type=np.uint32, hops_type=np.int16),
    _Plan(sweeps=True, key_type=np.uint64, hops_type=np.int32),
)


def key_shift(num_nodes: int) -> int:
    """Bits that hold the index of a node."""
    return max(1, (num_nodes - 1).bit_length())


def hop_distances(
    graph: Graph,
    sets: AnchorSets,
    cutoff: int | None,
    num_threads: int,
    progress: Progress | None,
) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Search from all sets; returns (hops, nearest), `[n, k]` each, -1 where unreachable."""
    for plan in PLANS:
        found = _search(graph, sets, plan, cutoff, num_threads, progress)
        if found is not None:
            hops, nearest = found
            return _compact(hops), nearest
    raise AssertionError("distances are below num_nodes, which fits the last plan")


def _search(
    graph: Graph,
    sets: AnchorSets,
    plan: _Plan,
    cutoff: int | None,
    num_threads: int,
    progress: Progress | None,
) -> tuple[NDArray[Any], NDArray[np.int32]] | None:
    """Follow one plan; None if a distance does not fit."""
    n, k = graph.num_nodes, len(sets)
    shift, cap = key_shift(n), plan.cap(n)
    limited = cutoff is not None and cutoff <= cap
    if limited:
        assert cutoff is not None
        cap = cutoff
    names, rows = _sweep_order(graph) if plan.sweeps else (None, _rows(graph))
    hops = np.empty((n, k), dtype=plan.hops_type)
    nearest = np.empty((n, k), dtype=np.int32)
    ahead = EARLY_FETCH_AHEAD if n * ROW_BYTES > EARLY_FETCH_BYTES else 0
    set_nodes = sets.nodes.view(np.uint32)
    too_far = False
    if names is None:
        names = np.arange(n, dtype=np.uint32)
        order: tuple[Any, ...] = ()
        kernel = kernels.search_levels
        make_scratch = _levels_scratch(n, plan)
    else:
        places = np.empty_like(names)
        places[names] = np.arange(n, dtype=np.uint32)
        order = (places,)
        kernel = kernels.search_sweeps
        make_scratch = _sweeps_scratch(n, plan)

    def work(block: range, scratch: tuple[Any, ...]) -> None:
        nonlocal too_far
        if too_far:
            return
        first = block.start
        ended = kernel(*rows, sets.indptr, set_nodes, first, shift, cap, ahead, *order, *scratch)
        if ended == kernels.GAVE_UP or (ended == kernels.AT_CAP and not limited):
            too_far = True
            return
        kernels.emit_block(scratch[0], names, first, shift, cap, hops, nearest)

    lanes = ROW_BYTES // np.dtype(plan.key_type).itemsize
    # The last sets are the smallest, hence the farthest and the costliest to search.
    blocks = [range(first, min(first + lanes, k)) for first in range(0, k, lanes)][::-1]
    run_blocks(work, blocks, make_scratch, 1 if n * k < SERIAL_PAIRS else num_threads, progress)
    return None if too_far else (hops, nearest)


def _rows(graph: Graph) -> tuple[NDArray[Any], ...]:
    """Row arrays of the graph and of its reverse, as the kernels take them."""
    turned = graph.reversed()
    return (
        graph.indptr,
        graph.indices.view(np.uint32),
        turned.indptr,
        turned.indices.view(np.uint32),
    )


def _sweep_order(graph: Graph) -> tuple[NDArray[np.uint32], tuple[NDArray[Any], ...]]:
    """Relabel the graph so that neighbours are close: (original indices, row arrays)."""
    from dataclasses import replace

    from scipy.sparse.csgraph import reverse_cuthill_mckee

    matrix = graph.to_scipy()
    names = reverse_cuthill_mckee(matrix, symmetric_mode=not graph.directed)
    near = matrix[names][:, names]
    relabelled = replace(
        graph,
        indptr=near.indptr.astype(np.int64),
        indices=near.indices.astype(np.int32),
        weights=None,
        x=None,
        y=None,
    )
    return names.astype(np.uint32), _rows(relabelled)


def _levels_scratch(n: int, plan: _Plan) -> Callable[[], tuple[Any, ...]]:
    """Scratch of `search_levels`: 82 bytes a node."""

    def make() -> tuple[Any, ...]:
        masks = [np.empty(n, dtype=np.uint16) for _ in range(3)]
        marked = np.empty(n // 64 + 1, dtype=np.uint64)
        # One entry more than nodes: lists are written before it is known whether the entry stays.
        lists = [np.empty(n + 1, dtype=np.uint32) for _ in range(3)]
        return (empty_rows(n, plan.key_type), *masks, marked, *lists)

    return make


def _sweeps_scratch(n: int, plan: _Plan) -> Callable[[], tuple[Any, ...]]:
    """Scratch of `search_sweeps`: 65 bytes a node."""
    return lambda: (empty_rows(n, plan.key_type), np.empty(n, dtype=np.uint8))


def _compact(hops: NDArray[Any]) -> NDArray[Any]:
    """Return the hops in the smallest signed type that holds the largest."""
    largest = int(hops.max(initial=0)) if hops.dtype != np.int8 else 0
    for smaller in (np.int8, np.int16, np.int32):
        if np.dtype(smaller).itemsize >= hops.dtype.itemsize:
            return hops
        if largest <= np.iinfo(smaller).max:
            return hops.astype(smaller)
    return hops
