"""Pairs a few hops apart, ranked by how much of a node reaches the other. Needs numba.

Each thread works on nodes of its own and writes to their rows, so that the result does not depend
on the number of threads. The work is bounded: of a hub, every node sees only a part.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pgnn.prediction.choice import Ranked, Rows
from pgnn.prediction.kernels.heap import offer, word_of, write_best_first
from pgnn.threads import resolve_threads, rows_of, run_blocks

_MAX_STEPS = 200_000_000  # along edges, in one search from all sources: a second or two
_STEPS_PER_ENTRY = 40  # of `indices`, where the best pairs of a large graph are looked for
_NUM_BINS = 512  # of resource allocation, by its logarithm
_BINS_PER_OCTAVE = 16
_NUM_BLOCKS = 128  # many, because a block with hubs takes longer than others


class _Search(NamedTuple):
    """What a search reads, and the order in which it breaks ties."""

    rows: Rows
    sources: NDArray[np.int64]
    order: NDArray[np.int64]
    caps: NDArray[np.int64]

    def scratch(self) -> tuple[NDArray[Any], ...]:
        """Hops and shares of nodes, and the list of those met: one set of arrays a thread."""
        n = len(self.order)
        return np.full(n, -1, dtype=np.int8), np.empty(n), np.empty(n, dtype=np.int32)


def reached_in_two(
    rows: Rows, sources: NDArray[np.int64], order: NDArray[np.int64], wanted: int
) -> Ranked:
    """List nodes two hops from each source, by resource allocation.

    Args:
        rows: The graph.
        sources: From where to look.
        order: A random order of the nodes, which breaks ties.
        wanted: How many to list in all; a few more may come.
    """
    n = len(order)
    entries = np.repeat(np.isin(np.arange(n), sources), np.diff(rows.indptr))
    visits = np.bincount(rows.indices[entries], minlength=n)
    caps = np.array([n, _cap(visits, np.diff(rows.indptr), _MAX_STEPS)])
    return _ranked(_Search(rows, sources, order, caps), visits, wanted)


def reached_in_three(
    rows: Rows,
    sources: NDArray[np.int64],
    order: NDArray[np.int64],
    wanted: int,
    two: Ranked,
) -> Ranked:
    """List nodes three hops from each source, where `two` is the whole list at two hops."""
    n = len(order)
    visits = np.bincount(two.target, minlength=n)
    caps = np.array([n, n, _cap(visits, np.diff(rows.indptr), _MAX_STEPS)])
    return _ranked(_Search(rows, sources, order, caps), visits, wanted)


def best_in_two(rows: Rows, order: NDArray[np.int64], wanted: int) -> Ranked:
    """List the pairs of all nodes two hops apart with most resource allocation.

    Args:
        rows: The graph.
        order: A random order of the nodes, which breaks ties.
        wanted: How many to list in all; a few more may come.

    Returns:
        Pairs by their rank among all pairs, each from its first node in the random order.
    """
    degrees = np.diff(rows.indptr)
    most = max(_MAX_STEPS, _STEPS_PER_ENTRY * len(rows.indices))
    caps = np.array([len(order), _cap(degrees, degrees, most)])
    search = _Search(rows, np.argsort(order), order, caps)
    blocks = _blocks(len(order))
    counts = np.zeros((len(blocks), _NUM_BINS), dtype=np.int64)
    number = {block.start: place for place, block in enumerate(blocks)}
    threads = resolve_threads(None)

    def count(block: range, scratch: tuple[NDArray[Any], ...]) -> None:
        span, bins = (block.start, block.stop), counts[number[block.start]]
        _count_bins(*rows, search.sources, *span, caps, order, *scratch, bins)

    def counted(block: range) -> list[tuple[NDArray[np.int64], slice]]:
        return [(counts, slice(number[block.start], number[block.start] + 1))]

    run_blocks(count, blocks, search.scratch, threads, fills=counted)
    # All pairs of the bins above the last one fit, and a share of those in the last.
    above = np.cumsum(counts.sum(axis=0)[::-1])[::-1]
    last = int(np.flatnonzero(above >= min(wanted, above[0]))[-1]) if above[0] else 0
    in_last, higher = counts[:, last], counts[:, last + 1 :].sum(axis=1)
    missing = max(0, wanted - int(higher.sum()))
    quota = np.minimum(in_last, -(-in_last * missing // max(1, int(in_last.sum()))))
    starts = np.concatenate([[0], np.cumsum(higher + quota)])
    ends = np.empty((starts[-1], 2), dtype=np.int32)
    scores = np.empty(starts[-1])

    def collect(block: range, scratch: tuple[NDArray[Any], ...]) -> None:
        place = number[block.start]
        room = slice(starts[place], starts[place + 1])
        span, limits = (block.start, block.stop), (last, quota[place])
        results = (ends[room], scores[room])
        _collect_bins(*rows, search.sources, *span, caps, order, *scratch, limits, results)

    def collected(block: range) -> list[tuple[NDArray[Any], slice]]:
        room = slice(starts[number[block.start]], starts[number[block.start] + 1])
        return [(ends, room), (scores, room)]

    run_blocks(collect, blocks, search.scratch, threads, fills=collected)
    best = np.argsort(-scores, kind="stable")
    sampled = bool((degrees > caps[-1]).any())
    whole = len(best) == above[0] and not sampled
    ranks = np.arange(len(best))
    return Ranked(ends[best, 0].astype(np.int64), ends[best, 1], ranks, bool(whole))


def _blocks(count: int) -> list[range]:
    """Cut sources into blocks that do not depend on the number of threads."""
    bounds = np.linspace(0, count, min(_NUM_BLOCKS, count) + 1).astype(np.int64).tolist()
    return [range(*pair) for pair in pairwise(bounds)]


def _cap(visits: NDArray[np.int64], degrees: NDArray[np.int64], most: int) -> int:
    """Return how many neighbours of a node a search may look at, to be done in bounded time."""
    low, high = 1, max(1, int(degrees.max()))
    while low < high:
        middle = (low + high + 1) // 2
        if int((visits * np.minimum(degrees, middle)).sum()) <= most:
            low = middle
        else:
            high = middle - 1
    return low


def _quota(counts: NDArray[np.int64], wanted: int) -> int:
    """Return how many a source may list so that all together list at least `wanted` or all."""
    low, high = 0, int(counts.max())
    while low < high:
        middle = (low + high) // 2
        if int(np.minimum(counts, middle).sum()) >= wanted:
            high = middle
        else:
            low = middle + 1
    return low


def _ranked(search: _Search, visits: NDArray[np.int64], wanted: int) -> Ranked:
    """Count what each source reaches, divide what is wanted among them, list their best."""
    rows, sources, order, caps = search
    counts = np.zeros(len(sources), dtype=np.int64)
    blocks = _blocks(len(sources))

    def count(block: range, scratch: tuple[NDArray[Any], ...]) -> None:
        _count_reached(*rows, sources, block.start, block.stop, caps, order, *scratch, counts)

    threads = resolve_threads(None)
    run_blocks(count, blocks, search.scratch, threads, fills=rows_of(counts))
    quota, circle = _quota(counts, wanted), np.argsort(order)
    sizes = np.minimum(counts, quota)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    targets = np.empty(starts[-1], dtype=np.int32)

    def more_scratch() -> tuple[NDArray[Any], ...]:
        return (*search.scratch(), np.empty(quota, dtype=np.int64))

    def rank(block: range, scratch: tuple[NDArray[Any], ...]) -> None:
        span = block.start, block.stop
        _rank_reached(*rows, sources, *span, caps, order, *scratch, circle, starts, targets)

    def fills(block: range) -> list[tuple[NDArray[np.int32], slice]]:
        return [(targets, slice(starts[block.start], starts[block.stop]))]

    run_blocks(rank, blocks, more_scratch, threads, fills=fills)
    ranks = np.arange(len(targets)) - np.repeat(starts[:-1], sizes)
    sampled = bool(((np.diff(rows.indptr) > caps[-1]) & (visits > 0)).any())
    whole = quota >= counts.max() and not sampled
    return Ranked(np.repeat(sources, sizes), targets, ranks, bool(whole))


@njit(nogil=True, cache=True)
def _reach(
    ptr: Any, idx: Any, u: int, caps: Any, order: Any, level: Any, share: Any, queue: Any
) -> tuple[int, int, int]:
    """Share 1 out from u, hop by hop, each node its part to all its neighbours alike.

    What a node two hops away gets is, but for the degree of u, the resource allocation index: the
    sum over common neighbours w of 1 / |N(w)|. Parts go outwards only.

    Returns:
        (first, last, size): `queue[first:last]` are the nodes `len(caps)` hops away, `queue[:size]`
        all that were met. `level` is -1 for all others, before and after.
    """
    queue[0], level[u], share[u] = u, 0, 1.0
    first, last, size = 0, 1, 1
    for hop in range(1, len(caps) + 1):
        for place in range(first, last):
            w = queue[place]
            begin, degree = ptr[w], ptr[w + 1] - ptr[w]
            part = share[w] / degree
            # Of a hub, only a window of the neighbours, another one for every u.
            start = order[u] % degree if degree > caps[hop - 1] else 0
            for step in range(min(degree, caps[hop - 1])):
                turn = start + step
                v = idx[begin + (turn if turn < degree else turn - degree)]
                if level[v] == -1:
                    level[v], share[v] = hop, part
                    queue[size] = v
                    size += 1
                elif level[v] == hop:
                    share[v] += part
        first, last = last, size
    return first, last, size


@njit(nogil=True, cache=True)
def _count_reached(
    ptr: Any,
    idx: Any,
    sources: Any,
    begin: int,
    end: int,
    caps: Any,
    order: Any,
    level: Any,
    share: Any,
    queue: Any,
    counts: Any,
) -> None:
    """Count the nodes that are `len(caps)` hops away from sources[begin:end]."""
    for i in range(begin, end):
        u = sources[i]
        if ptr[u] == ptr[u + 1]:
            continue
        first, last, size = _reach(ptr, idx, u, caps, order, level, share, queue)
        counts[i] = last - first
        for place in range(size):
            level[queue[place]] = -1


@njit(nogil=True, cache=True)
def _rank_reached(
    ptr: Any,
    idx: Any,
    sources: Any,
    begin: int,
    end: int,
    caps: Any,
    order: Any,
    level: Any,
    share: Any,
    queue: Any,
    heap: Any,
    circle: Any,
    starts: Any,
    found: Any,
) -> None:
    """Write the nodes `len(caps)` hops from sources[i], best first, to its part of `found`.

    Its part is found[starts[i]:starts[i + 1]] and may be smaller than what there is.
    """
    for i in range(begin, end):
        u, room = sources[i], starts[i + 1] - starts[i]
        if room == 0:
            continue
        first, last, size = _reach(ptr, idx, u, caps, order, level, share, queue)
        kept = 0
        for place in range(first, last):
            v = queue[place]
            kept = offer(heap, kept, room, word_of(-share[v], u, v, order))
        write_best_first(heap, kept, u, order, circle, found[starts[i] : starts[i + 1]])
        for place in range(size):
            level[queue[place]] = -1


@njit(nogil=True, cache=True)
def _bin(score: float) -> int:
    """Return the bin of a resource allocation; the top bins are those of many neighbours."""
    place = int((np.log2(score) + 24) * _BINS_PER_OCTAVE)
    return min(max(place, 0), _NUM_BINS - 1)


@njit(nogil=True, cache=True)
def _count_bins(
    ptr: Any,
    idx: Any,
    sources: Any,
    begin: int,
    end: int,
    caps: Any,
    order: Any,
    level: Any,
    share: Any,
    queue: Any,
    bins: Any,
) -> None:
    """Count the pairs of sources[begin:end] with later nodes, by their resource allocation."""
    for i in range(begin, end):
        u = sources[i]
        degree = ptr[u + 1] - ptr[u]
        if degree == 0:
            continue
        first, last, size = _reach(ptr, idx, u, caps, order, level, share, queue)
        for place in range(first, last):
            v = queue[place]
            if order[v] > order[u]:
                bins[_bin(share[v] * degree)] += 1
        for place in range(size):
            level[queue[place]] = -1


@njit(nogil=True, cache=True)
def _collect_bins(
    ptr: Any,
    idx: Any,
    sources: Any,
    begin: int,
    end: int,
    caps: Any,
    order: Any,
    level: Any,
    share: Any,
    queue: Any,
    limits: Any,
    results: Any,
) -> None:
    """Write the pairs that `_count_bins` counted above a bin, and the first so many in it.

    Args:
        ptr, idx, sources, begin, end, caps, order, level, share, queue: As there.
        limits: The bin, and how many of its pairs are written.
        results: The ends of pairs and their resource allocation, room for just these.
    """
    last_bin, left = limits
    ends, scores = results
    count = 0
    for i in range(begin, end):
        if count == len(scores):
            return
        u = sources[i]
        degree = ptr[u + 1] - ptr[u]
        if degree == 0:
            continue
        first, last, size = _reach(ptr, idx, u, caps, order, level, share, queue)
        for place in range(first, last):
            v = queue[place]
            if order[v] <= order[u]:
                continue
            score = share[v] * degree
            place_of = _bin(score)
            if place_of < last_bin or (place_of == last_bin and left == 0):
                continue
            if place_of == last_bin:
                left -= 1
            ends[count, 0], ends[count, 1], scores[count] = u, v, score
            count += 1
        for place in range(size):
            level[queue[place]] = -1
