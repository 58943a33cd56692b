"""What nodes of an undirected graph are: triangles, core numbers, components and bridges."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def count_triangles(indptr: Any, indices: Any) -> Any:
    """Number of triangles at each node, int64 `[n]`.

    Each edge is kept once, from its end of smaller degree, so that even a hub keeps few; a triangle
    is then seen once, from its first node.
    """
    n = indptr.shape[0] - 1
    degree = indptr[1:] - indptr[:-1]
    start = np.zeros(n + 1, np.int64)
    upward = np.empty(indices.shape[0] // 2, np.int32)
    length = 0
    for u in range(n):
        for entry in range(indptr[u], indptr[u + 1]):
            v = indices[entry]
            if degree[u] < degree[v] or (degree[u] == degree[v] and u < v):
                upward[length] = v
                length += 1
        start[u + 1] = length
    triangles = np.zeros(n, np.int64)
    mark = np.full(n, -1, np.int64)
    for u in range(n):
        for i in range(start[u], start[u + 1]):
            mark[upward[i]] = u
        for i in range(start[u], start[u + 1]):
            v = upward[i]
            for j in range(start[v], start[v + 1]):
                w = upward[j]
                if mark[w] == u:
                    triangles[u] += 1
                    triangles[v] += 1
                    triangles[w] += 1
    return triangles


@njit(nogil=True, cache=True)
def core_numbers(indptr: Any, indices: Any) -> Any:
    """Core number of each node, int64 `[n]`: peel off a node of least degree, again and again.

    Nodes stand in order of their remaining degree; when a neighbour is peeled off, a node changes
    place with the first of its degree and falls into the bin below (Batagelj and Zaversnik, 2003).
    """
    n = indptr.shape[0] - 1
    core = indptr[1:] - indptr[:-1]
    bins = np.zeros(core.max() + 2, np.int64)
    for v in range(n):
        bins[core[v] + 1] += 1
    for d in range(1, bins.shape[0]):
        bins[d] += bins[d - 1]
    line, place = np.empty(n, np.int64), np.empty(n, np.int64)
    following = bins.copy()
    for v in range(n):
        place[v] = following[core[v]]
        line[place[v]] = v
        following[core[v]] += 1
    for i in range(n):
        v = line[i]
        for entry in range(indptr[v], indptr[v + 1]):
            u = indices[entry]
            if core[u] > core[v]:
                first = bins[core[u]]
                w = line[first]
                line[place[u]], line[first] = w, u
                place[w], place[u] = place[u], first
                bins[core[u]] += 1
                core[u] -= 1
    return core


@njit(nogil=True, cache=True)
def cores_without_edges(
    indptr: Any, indices: Any, core: Any, edges: Any, max_nodes: int, result: Any
) -> int:
    """Core numbers of both ends of each edge once that edge is left out, `[num_edges, 2]`.

    Only nodes of the lower core number k of both ends can fall, to k - 1, and a node falls as soon
    as fewer than k of its neighbours have core number k or more. So what falls is followed from the
    ends outwards, until it stops.

    Args:
        indptr, indices: The graph.
        core: Core numbers of the whole graph.
        edges: Node indices, `[num_edges, 2]`.
        max_nodes: Falls followed at most for one edge; ends not reached by then keep their number.
        result: Both core numbers.

    Returns:
        For how many edges the limit was reached.
    """
    n = indptr.shape[0] - 1
    support = np.zeros(n, np.int64)
    for v in range(n):
        for entry in range(indptr[v], indptr[v + 1]):
            support[v] += core[indices[entry]] >= core[v]
    lost, fell = np.zeros(n, np.int64), np.full(n, -1, np.int64)
    queue, touched = np.empty(n, np.int64), np.empty(n, np.int64)
    limited = 0
    for p in range(edges.shape[0]):
        u, v = edges[p, 0], edges[p, 1]
        level = min(core[u], core[v])
        num_touched, head, tail = 0, 0, 0
        for end in (u, v):
            if core[end] == level:
                lost[end] = 1
                touched[num_touched] = end
                num_touched += 1
                if support[end] - 1 < level:
                    queue[tail] = end
                    tail += 1
                    fell[end] = p
        while head < tail:
            if core[u] != core[v] or (fell[u] == p and fell[v] == p):
                break
            if head == max_nodes:
                limited += 1
                break
            x = queue[head]
            head += 1
            for entry in range(indptr[x], indptr[x + 1]):
                y = indices[entry]
                if core[y] != level or fell[y] == p or (x == u and y == v) or (x == v and y == u):
                    continue
                if lost[y] == 0:
                    touched[num_touched] = y
                    num_touched += 1
                lost[y] += 1
                if support[y] - lost[y] < level:
                    fell[y] = p
                    queue[tail] = y
                    tail += 1
        for t in range(num_touched):
            lost[touched[t]] = 0
        result[p, 0] = core[u] - (fell[u] == p)
        result[p, 1] = core[v] - (fell[v] == p)
    return limited


@njit(nogil=True, cache=True)
def components_and_bridges(indptr: Any, indices: Any) -> Any:
    """Search depth first through every component.

    Returns:
        int64 arrays `[n]`: the component of each node (named after its first node), the node's
        parent in the search (-1 for a first node), when it was entered, the earliest entered node
        that its subtree is joined to other than by the edge to its parent, and the size of its
        subtree. The edge from a parent to v is a bridge if earliest[v] == entered[v].
    """
    n = indptr.shape[0] - 1
    component, parent = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    entered, earliest = np.zeros(n, np.int64), np.zeros(n, np.int64)
    size = np.ones(n, np.int64)
    following = indptr[:-1].copy()
    stack = np.empty(n, np.int64)
    clock = 0
    for root in range(n):
        if component[root] >= 0:
            continue
        component[root] = root
        entered[root] = earliest[root] = clock
        clock += 1
        stack[0] = root
        depth = 1
        while depth > 0:
            v = stack[depth - 1]
            if following[v] < indptr[v + 1]:
                w = indices[following[v]]
                following[v] += 1
                if component[w] < 0:
                    component[w] = root
                    parent[w] = v
                    entered[w] = earliest[w] = clock
                    clock += 1
                    stack[depth] = w
                    depth += 1
                elif w != parent[v]:
                    earliest[v] = min(earliest[v], entered[w])
            else:
                depth -= 1
                if depth > 0:
                    above = stack[depth - 1]
                    earliest[above] = min(earliest[above], earliest[v])
                    size[above] += size[v]
    return component, parent, entered, earliest, size
