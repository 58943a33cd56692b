"""Shortest paths of pairs: 64 sources at once by bits, or one pair from both of its ends."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def search_block(
    in_rows: Any, sources: Any, reads: Any, max_hops: int, hops: Any, scratch: Any
) -> None:
    """Search from at most 64 sources; bit s of a node's word says that source s reaches it.

    Args:
        in_rows: `(indptr, indices)` of the edges that lead to a node.
        sources: Nodes, a bit each.
        reads: `(nodes, lanes)`: how far is the node from the source of that bit?
        max_hops: The last level to search.
        hops: Result of each read; max_hops + 1 where the node is farther or not reached.
        scratch: Three arrays of 64-bit words, `[n]` each.
    """
    indptr, indices = in_rows
    nodes, lanes = reads
    seen, front, fresh = scratch
    num_nodes = indptr.shape[0] - 1
    one = np.uint64(1)
    seen[:] = 0
    front[:] = 0
    for s in range(sources.shape[0]):
        seen[sources[s]] |= one << np.uint64(s)
        front[sources[s]] |= one << np.uint64(s)
    hops[:] = max_hops + 1
    open_reads = nodes.shape[0]
    for level in range(1, max_hops + 1):
        any_fresh = np.uint64(0)
        for v in range(num_nodes):
            word = np.uint64(0)
            for entry in range(indptr[v], indptr[v + 1]):
                word |= front[indices[entry]]
            word &= ~seen[v]
            fresh[v] = word
            any_fresh |= word
        if any_fresh == 0:
            return
        for v in range(num_nodes):
            seen[v] |= fresh[v]
        for r in range(nodes.shape[0]):
            if fresh[nodes[r]] & (one << np.uint64(lanes[r])):
                hops[r] = level
                open_reads -= 1
        if open_reads == 0:
            return
        front, fresh = fresh, front


@njit(nogil=True, cache=True)
def search_pairs(
    out_rows: Any,
    in_rows: Any,
    pairs: Any,
    is_edge: Any,
    limits: Any,
    hops: Any,
    scratch: Any,
) -> int:
    """Search from u and, against edges, from v until they meet, the cheaper side first.

    Two balls that did not meet before meet at the outermost level of both, so the first common node
    lies on a shortest path.

    Args:
        out_rows: `(indptr, indices)` of the edges that leave a node.
        in_rows: Those that lead to it.
        pairs: Node indices, `[num_pairs, 2]`.
        is_edge: Whether the edge from u to v must not be used, `[num_pairs]`.
        limits: `(max_hops, max_edges)`; a search that has looked at more than max_edges edges
            stops, and the number of hops that it ruled out plus one is the result.
        hops: Result; max_hops + 1 where v is farther or not reached.
        scratch: `(mark, queue_u, queue_v)`: int64 zeros `[n]` at first, never cleared between calls
            except by `mark[0 .. n - 1] = 0`, and two node lists `[n]`.

    Returns:
        How many searches stopped at max_edges.
    """
    out_ptr, out_idx = out_rows
    in_ptr, in_idx = in_rows
    max_hops, max_edges = limits
    mark, queue_u, queue_v = scratch
    mark[:] = 0
    stopped = 0
    for p in range(pairs.shape[0]):
        u, v = pairs[p, 0], pairs[p, 1]
        mine, theirs = 2 * p + 1, 2 * p + 2
        mark[u], mark[v] = mine, theirs
        queue_u[0], queue_v[0] = u, v
        first_u, last_u, first_v, last_v = 0, 1, 0, 1
        cost_u, cost_v = out_ptr[u + 1] - out_ptr[u], in_ptr[v + 1] - in_ptr[v]
        level, edges, met = 0, 0, False
        while level < max_hops and first_u < last_u and first_v < last_v:
            if edges + min(cost_u, cost_v) > max_edges:
                stopped += 1
                break
            level += 1
            edges += min(cost_u, cost_v)
            if cost_u <= cost_v:
                cost_u, tail = 0, last_u
                for i in range(first_u, last_u):
                    a = queue_u[i]
                    for entry in range(out_ptr[a], out_ptr[a + 1]):
                        b = out_idx[entry]
                        if mark[b] == mine or (is_edge[p] and a == u and b == v):
                            continue
                        if mark[b] == theirs:
                            met = True
                            break
                        mark[b] = mine
                        queue_u[tail] = b
                        tail += 1
                        cost_u += out_ptr[b + 1] - out_ptr[b]
                    if met:
                        break
                first_u, last_u = last_u, tail
            else:
                cost_v, tail = 0, last_v
                for i in range(first_v, last_v):
                    a = queue_v[i]
                    for entry in range(in_ptr[a], in_ptr[a + 1]):
                        b = in_idx[entry]
                        if mark[b] == theirs or (is_edge[p] and a == v and b == u):
                            continue
                        if mark[b] == mine:
                            met = True
                            break
                        mark[b] = theirs
                        queue_v[tail] = b
                        tail += 1
                        cost_v += in_ptr[b + 1] - in_ptr[b]
                    if met:
                        break
                first_v, last_v = last_v, tail
            if met:
                break
        if met:
            hops[p] = level
        elif level < max_hops and first_u < last_u and first_v < last_v:
            hops[p] = level + 1
        else:
            hops[p] = max_hops + 1
    return stopped
