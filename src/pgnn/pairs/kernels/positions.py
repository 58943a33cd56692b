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
FAR = 32.0  # stands for a distance where no set is reached by both


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


@njit(nogil=True, cache=True, fastmath=True)
def compare_rows(hops_u: Any, hops_v: Any, out: Any) -> float:
    """Compare two rows of hops; writes six columns and returns the dot of 1/(hops + 1).

    Args:
        hops_u: Hops of one node to every set, -1 where it is not reached, integers `[k]`.
        hops_v: Those of the other.
        out: Largest, mean and root mean square gap, share of equal hops, smallest sum, then
            the number of sets that both reach.
    """
    largest: Any = np.int32(0)
    total: Any = np.int32(0)
    squares: Any = np.int32(0)
    equal: Any = np.int32(0)
    shared: Any = np.int32(0)
    least: Any = np.int32(1 << 20)
    dot = np.float32(0.0)
    for place in range(len(hops_u)):
        a, b = np.int32(hops_u[place]), np.int32(hops_v[place])
        both = np.int32(a >= 0) & np.int32(b >= 0)
        gap = abs(a - b) * both
        shared += both
        total += gap
        squares += gap * gap
        largest = max(largest, gap)
        equal += both & np.int32(gap == 0)
        least = min(least, (a + b) * both + np.int32(1 << 20) * (1 - both))
        # a + 1 is 0 where a set is not reached: then divided by 1, and counted 0 times.
        near_u = np.float32(1.0) / np.float32(max(a + np.int32(1), np.int32(1)))
        near_v = np.float32(1.0) / np.float32(max(b + np.int32(1), np.int32(1)))
        dot += near_u * near_v * np.float32(both)
    count: Any = max(shared, 1)
    out[0] = largest if shared else FAR
    out[1] = total / count if shared else FAR
    out[2] = np.sqrt(squares / count) if shared else FAR
    out[3] = equal / count
    out[4] = min(float(least), 2 * FAR)
    out[5] = shared
    return float(dot)


@njit(nogil=True, cache=True, fastmath=True)
def sum_near(hops: Any, start: int, stop: int, typical: Any) -> None:
    """Add 1/(hops + 1) of the nodes start..stop to one sum per set, `[k]`."""
    for node in range(start, stop):
        row = hops[node]
        for place in range(len(row)):
            a = np.int32(row[place])
            typical[place] += 1.0 / (a + 1) if a >= 0 else 0.0


@njit(nogil=True, cache=True, fastmath=True)
def sum_rows(hops: Any, start: int, stop: int, typical: Any, sums: Any) -> None:
    """Write of the nodes start..stop the sums over sets of near^2 and of near * typical."""
    for node in range(start, stop):
        row = hops[node]
        squares: Any = np.float32(0.0)
        plain: Any = np.float32(0.0)
        for place in range(len(row)):
            a = np.int32(row[place])
            near = np.float32(a >= 0) / np.float32(max(a + np.int32(1), np.int32(1)))
            squares += near * near
            plain += near * typical[place]
        sums[node, 0], sums[node, 1] = squares, plain


@njit(nogil=True, cache=True)
def describe_positions(
    rows: Any,
    hops: Any,
    typical: Any,
    sums: Any,
    pairs: Any,
    lost: Any,
    start: int,
    stop: int,
    most: int,
    scratch: Any,
    out: Any,
) -> None:
    """Write what two nodes' rows of hops say about each pair of start..stop.

    Args:
        rows: (indptr, indices) of the graph.
        hops: Hops of every node to every set, -1 where it is not reached, integers `[n, k]`.
        typical: Mean over all nodes of near = 1/(hops + 1), 0 where a set is not reached, float32
            `[k]`.
        sums: Of each node the sums over sets of near^2 and of near * typical, float64 `[n, 2]`.
        pairs: Node indices, `[m, 2]`.
        lost: Whether the pair is an edge, which is left out, `[m]`.
        start: First pair.
        stop: Behind the last pair.
        most: See `hops_without_edge`.
        scratch: (marks and queue of `hops_without_edge`, hops of both ends `[2, k]`).
        out: The columns of `compare_rows` but for the last, cosine of near, the same less what is
            typical, share of sets that both reach, `[m, 8]`.
    """
    num_sets = hops.shape[1]
    search, repaired = scratch
    total_typical = 0.0
    for place in range(num_sets):
        total_typical += typical[place] * typical[place]
    for pair in range(start, stop):
        u, v = pairs[pair, 0], pairs[pair, 1]
        columns = out[pair]
        square_u, square_v, plain_u, plain_v = sums[u, 0], sums[v, 0], sums[u, 1], sums[v, 1]
        if lost[pair]:
            # At each set at most one end changes: its row is written anew in one row of scratch,
            # and the other end's beside it in the row of the pair.
            square_u = square_v = plain_u = plain_v = 0.0
            for place in range(num_sets):
                a, b = np.int64(hops[u, place]), np.int64(hops[v, place])
                if a > b >= 0:
                    a = hops_without_edge(rows, hops, place, u, v, most, search)
                elif b > a >= 0:
                    b = hops_without_edge(rows, hops, place, v, u, most, search)
                repaired[0, place], repaired[1, place] = a, b
                near_u = np.float32(1.0 / (a + 1)) if a >= 0 else np.float32(0.0)
                near_v = np.float32(1.0 / (b + 1)) if b >= 0 else np.float32(0.0)
                square_u += near_u * near_u
                square_v += near_v * near_v
                plain_u += near_u * typical[place]
                plain_v += near_v * typical[place]
            dot = compare_rows(repaired[0], repaired[1], columns)
        else:
            dot = compare_rows(hops[u], hops[v], columns)
        shared = columns[5]
        norm_u = square_u - 2 * plain_u + total_typical
        norm_v = square_v - 2 * plain_v + total_typical
        columns[5] = dot / np.sqrt(square_u * square_v + 1e-12)
        columns[6] = (dot - plain_u - plain_v + total_typical) / np.sqrt(
            max(norm_u, 0.0) * max(norm_v, 0.0) + 1e-12
        )
        columns[7] = shared / num_sets
