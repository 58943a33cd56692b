"""Pairs of nearest rows of an embedding, exact or nearly so. Needs numba.

Nearly: random trees put rows that are near into a leaf together, a few trees because one parts some
of them; then the nearest of the nearest are looked at, which mends what all trees parted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pgnn.prediction.choice import Ranked, Rows
from pgnn.prediction.kernels.heap import offer, word_of, write_best_first
from pgnn.threads import resolve_threads, rows_of, run_blocks

_EXACT_PRODUCTS = 30_000_000_000  # of two numbers, in an exact search: 20,000 rows of 64 take 10 s
_NUM_TREES = 4
_NUM_ROUNDS = 2  # of looking at the nearest of the nearest
_LEAF = 96  # rows of a leaf at most
_NUM_SHARED = 64  # longest rows, which are the nearest of many by inner product
_BLOCK = 512  # rows that a thread takes at a time

# Sums may be taken in any order, or a row of an embedding would not be added up in vectors.
_SUMS = {"reassoc", "contract", "nsz"}


class _Search(NamedTuple):
    """What a search reads: which pairs are barred, the rows, the order in which ties are broken."""

    barred: Rows
    x: NDArray[np.float32]
    dot: bool
    order: NDArray[np.int64]

    def run(self, kernel: Callable[..., None], count: int, width: int, *inputs: Any) -> Any:
        """Fill `[count, width]` by blocks on threads."""
        nearest = np.empty((count, width), dtype=np.int32)
        n, circle = len(self.order), np.argsort(self.order)

        def make_scratch() -> tuple[NDArray[Any], ...]:
            seen, pool = np.full(n, -1, dtype=np.int32), np.empty(n, dtype=np.int32)
            gap, heap = np.empty(n, dtype=np.float32), np.empty(width, dtype=np.int64)
            return seen, pool, gap, heap

        def work(block: range, scratch: tuple[NDArray[Any], ...]) -> None:
            read = (*self.barred, self.x, self.dot, self.order)
            kernel(*read, *scratch, circle, *inputs, block.start, block.stop, nearest)

        blocks = [range(i, min(i + _BLOCK, count)) for i in range(0, count, _BLOCK)]
        run_blocks(work, blocks, make_scratch, resolve_threads(None), fills=rows_of(nearest))
        return nearest


def nearest_rows(
    barred: Rows,
    x: NDArray[np.float32],
    sources: NDArray[np.int64],
    order: NDArray[np.int64],
    *,
    dot: bool,
    width: int,
    generator: np.random.Generator,
) -> tuple[Ranked, bool]:
    """List the `width` nearest rows of each source, itself and what is barred left out.

    Args:
        barred: Rows of pairs that are not wanted: the graph, or no pairs at all.
        x: The embedding, finite, not so large that squares overflow.
        sources: Whose nearest to find.
        order: A random order of the nodes, which breaks ties.
        dot: Whether the largest inner product is nearest, rather than the smallest distance.
        width: How many to find for each.
        generator: Draws the trees.

    Returns:
        The lists, and whether they are exact.
    """
    n = len(x)
    search = _Search(barred, x, dot, order)
    width = min(width, n - 1)
    exact = len(sources) * n * x.shape[1] <= _EXACT_PRODUCTS
    if exact:
        nearest = search.run(_nearest_of_all, len(sources), width, sources)
    else:
        nearest = _nearly_nearest(search, width, generator)[sources]
    there = nearest >= 0
    ranks = np.broadcast_to(np.arange(width), nearest.shape)[there]
    source = np.repeat(sources, there.sum(axis=1))
    return Ranked(source, nearest[there], ranks, True), exact


def _nearly_nearest(search: _Search, width: int, generator: np.random.Generator) -> Any:
    """List nearest rows of all nodes: in leaves of random trees, then among those of the near."""
    n = len(search.x)
    sizes = np.sqrt((search.x.astype(np.float64) ** 2).sum(axis=1))
    shared = np.empty(0, dtype=np.int64)
    points = search.x
    if search.dot:
        # A large inner product is a small angle or a long row.
        shared = np.argsort(-sizes, kind="stable")[:_NUM_SHARED]
        points = (points / np.maximum(sizes, np.finfo(np.float32).tiny)[:, None]).astype(np.float32)
    depth = max(0, int(np.ceil(np.log2(n / _LEAF))))
    draws = generator.integers(1 << 62, size=(_NUM_TREES, 1 << depth, 2))
    trees = np.tile(np.arange(n, dtype=np.int32), (_NUM_TREES, 1))
    leaf = np.empty((_NUM_TREES, n), dtype=np.int64)

    def grow(block: range, _: None) -> None:
        for tree in block:
            _grow_tree(points, draws[tree], depth, trees[tree], leaf[tree])

    each = [range(tree, tree + 1) for tree in range(_NUM_TREES)]
    run_blocks(grow, each, lambda: None, resolve_threads(None), fills=rows_of(trees, leaf))
    known = search.run(_nearest_in_leaves, n, width, trees, leaf, depth, shared)
    for _ in range(_NUM_ROUNDS):
        known = search.run(_nearest_of_nearest, n, width, known, trees[0])
    return known


@njit(nogil=True, cache=True, fastmath=_SUMS)
def _fill_gaps(x: Any, u: int, dot: bool, pool: Any, size: int, gap: Any) -> None:
    """Write how far the rows of pool[:size] are: squared distance, or minus inner product.

    All at once, because a call for each pair would cost more than the sum.
    """
    row = x[u]
    for place in range(size):
        v = pool[place]
        total = np.float32(0)
        if dot:
            for c in range(x.shape[1]):
                total -= row[c] * x[v, c]
        else:
            for c in range(x.shape[1]):
                difference = row[c] - x[v, c]
                total += difference * difference
        gap[place] = total


@njit(nogil=True, cache=True)
def _rank_pool(
    x: Any,
    u: int,
    dot: bool,
    pool: Any,
    size: int,
    gap: Any,
    order: Any,
    heap: Any,
    circle: Any,
    nodes: Any,
) -> None:
    """Write the nearest of pool[:size], nearest first, to `nodes`, and -1 where there are fewer."""
    _fill_gaps(x, u, dot, pool, size, gap)
    kept = 0
    for place in range(size):
        kept = offer(heap, kept, len(nodes), word_of(gap[place], u, pool[place], order))
    write_best_first(heap, kept, u, order, circle, nodes)
    nodes[kept:] = -1


@njit(nogil=True, cache=True)
def _bar(ptr: Any, idx: Any, u: int, seen: Any) -> None:
    """Bar u and its neighbours (rows without entries bar u alone)."""
    seen[u] = u
    for entry in range(ptr[u], ptr[u + 1]):
        seen[idx[entry]] = u


@njit(nogil=True, cache=True)
def _gather(members: Any, u: int, seen: Any, pool: Any, size: int) -> int:
    """Add members that u has not seen to the pool; returns its size."""
    for v in members:
        if v >= 0 and seen[v] != u:
            seen[v] = u
            pool[size] = v
            size += 1
    return size


@njit(nogil=True, cache=True)
def _nearest_of_all(
    ptr: Any,
    idx: Any,
    x: Any,
    dot: bool,
    order: Any,
    seen: Any,
    pool: Any,
    gap: Any,
    heap: Any,
    circle: Any,
    sources: Any,
    begin: int,
    end: int,
    found: Any,
) -> None:
    """Find the nearest rows of sources[begin:end] by looking at all."""
    for i in range(begin, end):
        u = sources[i]
        _bar(ptr, idx, u, seen)
        size = 0
        for v in range(len(order)):
            if seen[v] != u:
                pool[size] = v
                size += 1
        _rank_pool(x, u, dot, pool, size, gap, order, heap, circle, found[i])


@njit(nogil=True, cache=True)
def _nearest_in_leaves(
    ptr: Any,
    idx: Any,
    x: Any,
    dot: bool,
    order: Any,
    seen: Any,
    pool: Any,
    gap: Any,
    heap: Any,
    circle: Any,
    trees: Any,
    leaf: Any,
    depth: int,
    shared: Any,
    begin: int,
    end: int,
    found: Any,
) -> None:
    """Find the nearest rows of trees[0, begin:end] among those in a leaf with them and `shared`."""
    n = len(order)
    for place in range(begin, end):
        u = trees[0, place]  # rows of a leaf one after the other: they read the same rows
        _bar(ptr, idx, u, seen)
        size = _gather(shared, u, seen, pool, 0)
        for tree in range(len(trees)):
            first, last = (leaf[tree, u] * n) >> depth, ((leaf[tree, u] + 1) * n) >> depth
            size = _gather(trees[tree, first:last], u, seen, pool, size)
        _rank_pool(x, u, dot, pool, size, gap, order, heap, circle, found[u])


@njit(nogil=True, cache=True)
def _nearest_of_nearest(
    ptr: Any,
    idx: Any,
    x: Any,
    dot: bool,
    order: Any,
    seen: Any,
    pool: Any,
    gap: Any,
    heap: Any,
    circle: Any,
    known: Any,
    line: Any,
    begin: int,
    end: int,
    found: Any,
) -> None:
    """Find the nearest rows of line[begin:end] among the known near ones and theirs."""
    for place in range(begin, end):
        u = line[place]
        _bar(ptr, idx, u, seen)
        size = _gather(known[u], u, seen, pool, 0)
        for v in known[u]:
            if v >= 0:
                size = _gather(known[v], u, seen, pool, size)
        _rank_pool(x, u, dot, pool, size, gap, order, heap, circle, found[u])


@njit(nogil=True, cache=True)
def _grow_tree(x: Any, draws: Any, depth: int, members: Any, leaf: Any) -> None:
    """Order the rows of x by a tree of random halvings.

    A cell is halved at the median along the line through two of its rows, drawn at random. Halves
    are equal whatever the rows are, also where they are all the same.

    Args:
        x: Rows, `[n, d]`.
        draws: Random numbers, two a cell, `[2 ** depth, 2]`.
        depth: How many times to halve; cell j at depth t holds places (j n) >> t to
            ((j + 1) n) >> t.
        members: Result: which row is at which place, `[n]`; 0..n-1 on entry.
        leaf: Result: in which cell each row ended, `[n]`.
    """
    n = len(members)
    along = np.empty(n, dtype=np.float32)
    for level in range(depth):
        for cell in range(1 << level):
            first, last = (cell * n) >> level, ((cell + 1) * n) >> level
            one, other = draws[(1 << level) + cell] % (last - first)
            direction = x[members[first + one]] - x[members[first + other]]
            for place in range(first, last):
                total = np.float32(0)
                for c in range(x.shape[1]):
                    total += direction[c] * x[members[place], c]
                along[place] = total
            members[first:last] = members[first:last][np.argsort(along[first:last])]
    for cell in range(1 << depth):
        for place in range((cell * n) >> depth, ((cell + 1) * n) >> depth):
            leaf[members[place]] = cell
