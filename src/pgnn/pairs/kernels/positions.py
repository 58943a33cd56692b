"""Compiled loops of `pgnn.pairs.positions`: two rows of hops to anchor-sets, without one edge.

The hops of u to set i change when the edge uv is left out only if v is one hop nearer to the set,
so that a shortest path of u may begin with that edge. A node x with hops_x <= hops_u is no farther
without the edge, because a path of x through u would be longer than hops_x. So the new hops of u
are hops_u if another neighbour is as near as v, and otherwise hops_u plus the number of steps to
the first node x with hops_x <= hops_u that a search from u meets: such an x has hops_x = hops_u,
since neighbours differ by one hop at most.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

NUM_COLUMNS = 8


@njit(nogil=True, cache=True)
def hops_without_edge(
    rows: Any, hops: Any, place: int, u: int, v: int, most: int, scratch: Any
) -> Any:
    """Return the hops of u to a set where v is one hop nearer and the edge uv is left out.

    Args:
        rows: (indptr, indices) of the graph.
        hops: Hops of every node to every set, `[n, k]`.
        place: Which set.
        u: The node that may lose its shortest path.
        v: Its neighbour.
        most: The search gives up after this many nodes and answers with what it is sure of: that
            the set is at least so far.
        scratch: (marks of nodes, the latest mark in marks[n], queue).

    Returns:
        The number of hops, -1 where the set is no longer reached.
    """
    indptr, indices = rows
    marks, queue = scratch
    last = len(marks) - 1
    marks[last] += 1
    mark = marks[last]
    near = np.int64(hops[u, place])
    marks[u] = mark
    queue[0] = u
    first, end, steps = 0, 1, 0
    while first < end:
        level_end = end
        steps += 1
        level_found = False
        while first < level_end:
            x = queue[first]
            first += 1
            for entry in range(indptr[x], indptr[x + 1]):
                y = indices[entry]
                if x == u and y == v:
                    continue
                away = hops[y, place]
                if 0 <= away < near:
                    return near  # only a neighbour of u can be nearer: another way, as short
                if marks[y] != mark:
                    if away == near:
                        level_found = True
                    marks[y] = mark
                    queue[end] = y
                    end += 1
        if level_found:
            return near + steps
        if end > most:
            return near + steps + 1
    return -1


@njit(nogil=True, cache=True)
def describe_positions(
    rows: Any,
    hops: Any,
    typical: Any,
    pairs: Any,
    lost: Any,
    start: int,
    stop: int,
    most: int,
    scratch: Any,
    out: Any,
) -> None:
    """Write what two nodes' rows of hops say about each pair of start..stop; see NUM_COLUMNS.

    Args:
        rows: (indptr, indices) of the graph.
        hops: Hops of every node to every set, -1 where it is not reached, `[n, k]`.
        typical: Mean of 1/(hops + 1) over all nodes, `[k]`.
        pairs: Node indices, `[m, 2]`.
        lost: Whether the pair is an edge, which is left out, `[m]`.
        start: First pair.
        stop: Behind the last pair.
        most: See `hops_without_edge`.
        scratch: See `hops_without_edge`.
        out: The columns: largest, mean and root mean square difference of hops, share of sets that
            are as far from both, smallest sum of hops, cosine of 1/(hops + 1), the same less what
            is typical, share of sets that both reach, `[m, 8]`.
    """
    num_sets = hops.shape[1]
    far = 32.0  # what stands for a distance where no set is reached by both
    for pair in range(start, stop):
        u, v = pairs[pair, 0], pairs[pair, 1]
        largest: Any = 0
        least: Any = 1 << 30
        total, squares, equal, shared = 0.0, 0.0, 0, 0
        dot = norm_u = norm_v = centred = centred_u = centred_v = 0.0
        for place in range(num_sets):
            a, b = np.int64(hops[u, place]), np.int64(hops[v, place])
            if lost[pair] and a > b >= 0:
                a = hops_without_edge(rows, hops, place, u, v, most, scratch)
            elif lost[pair] and b > a >= 0:
                b = hops_without_edge(rows, hops, place, v, u, most, scratch)
            near_u = 1.0 / (a + 1) if a >= 0 else 0.0
            near_v = 1.0 / (b + 1) if b >= 0 else 0.0
            dot += near_u * near_v
            norm_u += near_u * near_u
            norm_v += near_v * near_v
            near_u -= typical[place]
            near_v -= typical[place]
            centred += near_u * near_v
            centred_u += near_u * near_u
            centred_v += near_v * near_v
            if a >= 0 and b >= 0:
                gap = abs(a - b)
                shared += 1
                total += gap
                squares += gap * gap
                largest = max(largest, gap)
                least = min(least, a + b)
                if gap == 0:
                    equal += 1
        count = max(shared, 1)
        out[pair, 0] = largest if shared else far
        out[pair, 1] = total / count if shared else far
        out[pair, 2] = np.sqrt(squares / count) if shared else far
        out[pair, 3] = equal / count
        out[pair, 4] = min(float(least), 2 * far)
        out[pair, 5] = dot / np.sqrt(norm_u * norm_v + 1e-12)
        out[pair, 6] = centred / np.sqrt(centred_u * centred_v + 1e-12)
        out[pair, 7] = shared / num_sets
