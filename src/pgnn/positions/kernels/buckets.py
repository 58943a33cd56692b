"""Weighted search: nodes wait in buckets of about the same length, not in a heap.

Lengths are the least fixed point of

    length[v] = min over edges v -> u of length[u] + weight, rounded to float64

with 0 at the anchors. Adding a weight and rounding never turns a smaller length into a larger one,
so there is one such fixed point, and any order of offers ends there: it is what Dijkstra's method
computes. `nearest[v]` is the lowest anchor among those of the neighbours whose offer is length[v].

A bucket holds the nodes whose lengths lie in an interval of some width. Nodes of the first bucket
offer their labels to those that can step to them, as often as a label of theirs got shorter. With
buckets about as wide as two edges per node are long, nearly every node makes its offers once, and
nothing has to be sorted. A bucket is a bitmap of the nodes, with a second bitmap that says which
words of the first are not empty.

Offers are made before it is known that a length is final. That does not matter for lengths, and it
matters for anchors only if two anchors offered the same length, because then the name of the one
that was withdrawn later may have stayed. Such searches are told apart (TIED) and looked at again by
`is_settled`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from pgnn.positions.kernels.rows import fetch_early, lowest_bit

BUCKETS = 64  # the last one holds all nodes that lie beyond the others
_LARGEST = float(np.finfo(np.float64).max)
# How far ahead in the list of a bucket's nodes their bounds, and their neighbours, are fetched.
_BOUNDS_AHEAD, _ROWS_AHEAD = 8, 4

# How a search ended: all labels are right; lengths are, and anchors are if `is_settled` says so; or
# not at all, because nodes made their offers too often.
SETTLED, TIED, GAVE_UP = 0, 1, 2


@njit(nogil=True, cache=True, inline="always")
def _put(bits: Any, filled: Any, bucket: int, node: int) -> None:
    """Put a node into a bucket."""
    one = np.uint64(1)
    bits[bucket, node >> 6] |= one << np.uint64(node & 63)
    filled[bucket, node >> 12] |= one << np.uint64((node >> 6) & 63)


@njit(nogil=True, cache=True)
def _take_all(bits: Any, filled: Any, bucket: int, nodes: Any) -> int:
    """Empty a bucket; returns how many nodes it had, and lists them in `nodes`."""
    one = np.uint64(1)
    count = 0
    for group in range(filled.shape[1]):
        words = filled[bucket, group]
        if words == 0:
            continue
        filled[bucket, group] = 0
        while words != 0:
            word = group * 64 + lowest_bit(words)
            words &= words - one
            left = bits[bucket, word]
            bits[bucket, word] = 0
            while left != 0:
                nodes[count] = word * 64 + lowest_bit(left)
                left &= left - one
                count += 1
    return count


@njit(nogil=True, cache=True)
def search_buckets(
    rows: Any,
    anchors: Any,
    limit: float,
    width: float,
    max_offers: int,
    length: Any,
    nearest: Any,
    scratch: Any,
) -> int:
    """Fill `length` and `nearest` for one set; returns how it ended.

    Args:
        rows: (ptr, idx, weights), the rows of the reversed graph.
        anchors: The set.
        limit: Look no farther.
        width: Of a bucket, positive. It changes how long a search takes, not what it finds.
        max_offers: Give up when nodes have made their offers this many times in all.
        length, nearest: The result, `[n]` each; infinite and -1 where nothing is reached.
        scratch: (bits, filled, nodes, better, offers). `bits` and `filled` are the bitmaps, empty
            before and after, unless the search gave up. `nodes` has one entry per node; the others
            have room for the neighbours of any node, and one more.
    """
    ptr, idx, weights = rows
    bits, filled, nodes, better, offers = scratch
    limit = min(limit, _LARGEST)  # lengths that overflow count as unreachable
    last = BUCKETS - 1
    length[:] = np.inf
    nearest[:] = -1
    for anchor in anchors:
        length[anchor] = 0.0
        nearest[anchor] = anchor
        _put(bits, filled, 0, anchor)
    start, per_length = 0.0, 1.0 / width  # where the first bucket begins, buckets per length
    num_offers, offers_before = 0, 0
    ended = SETTLED
    while True:
        for bucket in range(last):
            count = _take_all(bits, filled, bucket, nodes)
            while count > 0:
                for i in range(count):
                    if i + _BOUNDS_AHEAD < count:
                        fetch_early(ptr, np.int64(nodes[i + _BOUNDS_AHEAD]))
                        row = ptr[nodes[i + _ROWS_AHEAD]]
                        fetch_early(idx, row)
                        fetch_early(weights, row)
                        fetch_early(weights, row + 7)
                    v = nodes[i]
                    here, anchor = length[v], nearest[v]
                    if int(min((here - start) * per_length, last)) < bucket:
                        continue  # got shorter after it was put here, and has made its offers
                    num_offers += 1
                    # Who may gain is listed without branches, which could not be predicted.
                    num_better = 0
                    for position in range(ptr[v], ptr[v + 1]):
                        u = idx[position]
                        offered = here + weights[position]
                        better[num_better] = u
                        offers[num_better] = offered
                        num_better += int(offered <= length[u])
                    for j in range(num_better):
                        u, offered = better[j], offers[j]
                        if offered > limit:
                            continue
                        if offered == length[u]:
                            if anchor != nearest[u]:
                                ended = TIED
                            if anchor >= nearest[u]:
                                continue
                        length[u] = offered
                        nearest[u] = anchor
                        _put(bits, filled, int(min((offered - start) * per_length, last)), u)
                if num_offers > max_offers:
                    return GAVE_UP
                count = _take_all(bits, filled, bucket, nodes)
        # What lies beyond is put into buckets that begin at the nearest of it.
        count = _take_all(bits, filled, last, nodes)
        num_left, least = 0, np.inf
        for i in range(count):
            v = nodes[i]
            if (length[v] - start) * per_length >= last:
                nodes[num_left] = v
                num_left += 1
                least = min(least, length[v])
        if num_left == 0:
            return ended
        if num_offers - offers_before < num_left // 4 + 8:
            per_length *= 0.5  # it would take too many rounds
        start, offers_before = least, num_offers
        for i in range(num_left):
            v = nodes[i]
            _put(bits, filled, int(min((length[v] - start) * per_length, last)), v)


@njit(nogil=True, cache=True)
def is_settled(rows: Any, limit: float, length: Any, nearest: Any) -> bool:
    """Return whether every node has the best label that its neighbours offer.

    There is one set of such labels if offers are longer than what they are made of. So an offer
    that is not, because a tiny weight was rounded away, is answered with False, too.

    Args:
        rows: (ptr, idx, weights), the rows of the graph.
        limit: How far was searched.
        length, nearest: What was found.
    """
    ptr, idx, weights = rows
    limit = min(limit, _LARGEST)
    for v in range(length.shape[0]):
        if length[v] == 0.0:
            continue
        best, best_anchor = np.inf, np.int32(-1)
        for position in range(ptr[v], ptr[v + 1]):
            u = idx[position]
            offered = length[u] + weights[position]
            if offered > limit:
                continue
            if offered == length[u]:
                return False
            if offered < best or (offered == best and nearest[u] < best_anchor):
                best, best_anchor = offered, nearest[u]
        if best != length[v] or best_anchor != nearest[v]:
            return False
    return True


@njit(nogil=True, cache=True)
def write_columns(columns: Any, first: int, count: int, out: Any) -> None:
    """Write columns that lie one after the other, `[columns, n]`, side by side from `first` on."""
    for v in range(out.shape[0]):
        for i in range(count):
            out[v, first + i] = columns[i, v]
