"""Unweighted search: one cache line a node serves 16 anchor-sets at once.

A key packs (hops, anchor) into one unsigned number, hops in the high bits. Going one edge further
adds `step` = 1 << shift, and the smaller of two keys is the nearer anchor or, at equal distance,
the one with the lower index. So "distance to the set and its nearest member, lowest index first" is
the least fixed point of

    key[v] = min(key[v], min over neighbours u of key[u] + step)

whatever the order in which it is applied: the answer does not depend on kernel or threads. Sixteen
sets lie side by side in a node's row, and a vector instruction serves them all. Where sets are
small and near, a key holds the anchor's rank in its set instead of its index: 16 bits are enough
then, and 32 sets share a row.

The kernels apply the equation in different orders:

- `search_levels`, for small diameters: hop by hop. A small frontier pushes to its neighbours, a
  large one is pulled: each unfinished node reads the rows of its neighbours, once a level.
- `search_sweeps`, for large diameters: over all nodes forwards, then backwards, in an order in
  which neighbours are close. One sweep carries a distance all along a path that runs with the
  order, so a few sweeps do the work of hundreds of levels. Only nodes next to a change are visited
  again.
- `search_queue`, where sweeps do not settle soon, as in mazes: one set after the other, each node
  once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from pgnn.positions.kernels.rows import fill_row, first_row, lanes_below, pull_row, relax_row

# Level search gives up where half of the nodes are unfinished after this many levels: on grids,
# roads and trees. Small frontiers have been cheap up to there, and the smallest sets, which reach
# farthest, are searched first, so little is lost. It is the farthest level of 16-bit keys.
DEEP = 13

# How a search ended: with all distances; with nodes left that lie beyond the cap; or not at all.
FINISHED, AT_CAP, GAVE_UP = 0, 1, 2


@njit(nogil=True, cache=True)
def search_levels(
    out_ptr: Any,
    out_idx: Any,
    in_ptr: Any,
    in_idx: Any,
    set_ptr: Any,
    set_nodes: Any,
    first: int,
    lanes: int,
    shift: int,
    cap: int,
    ahead: int,
    push_advantage: int,
    ranked: bool,
    key: Any,
    seen: Any,
    front: Any,
    fresh: Any,
    active: Any,
    frontier: Any,
    spare: Any,
) -> int:
    """Search hop by hop up to `cap`; returns how it ended.

    Args:
        out_ptr, out_idx: Rows of the graph: v can step to out_idx[out_ptr[v]:out_ptr[v + 1]].
        in_ptr, in_idx: Rows of the reversed graph.
        set_ptr, set_nodes: All anchor-sets, flat.
        first, lanes: The block: lane l holds set first + l.
        shift: Bits of a key that hold the anchor.
        cap: The farthest level to look at.
        ahead: How far to fetch rows early, see `pull_row`.
        push_advantage: A level is pushed if its frontier has this many times fewer edges than the
            unfinished nodes, else pulled.
        ranked: Whether keys hold the rank of the anchor in its set, not its index.
        key: Result, `[n, lanes]`; entries that stay at (cap + 1) << shift were not reached.
        seen, front, fresh: Masks of lanes a node: reached, reached at the last level, scratch.
        active, frontier, spare: Node lists: unfinished, reached at the last level, scratch.
    """
    n = out_ptr.shape[0] - 1
    full = seen.dtype.type((1 << lanes) - 1)
    none = seen.dtype.type(0)
    step = key.dtype.type(1 << shift)
    infinity = key.dtype.type((cap + 1) << shift)
    front[:] = 0
    for lane in range(lanes):
        bit = seen.dtype.type(1 << lane)
        for position in range(set_ptr[first + lane], set_ptr[first + lane + 1]):
            front[set_nodes[position]] |= bit
    num_frontier, frontier_edges, num_active, active_edges = 0, 0, 0, 0
    for v in range(n):
        bits = front[v]
        seen[v] = bits
        frontier[num_frontier] = v
        active[num_active] = v
        if bits != 0:
            num_frontier += 1
            frontier_edges += out_ptr[v + 1] - out_ptr[v]
        if bits != full:
            num_active += 1
            active_edges += out_ptr[v + 1] - out_ptr[v]
        fill_row(key, v, none if ranked else bits, key.dtype.type(v), infinity)
    if ranked:
        for lane in range(lanes):
            start = set_ptr[first + lane]
            for position in range(start, set_ptr[first + lane + 1]):
                key[set_nodes[position], lane] = position - start
    fresh[:] = 0
    unfinished = num_active
    level = 0
    while num_frontier > 0 and unfinished > 0 and level < cap:
        level += 1
        if frontier_edges * push_advantage < active_edges:
            found = 0
            for i in range(num_frontier):
                u = frontier[i]
                bits = front[u]
                for position in range(in_ptr[u], in_ptr[u + 1]):
                    v = in_idx[position]
                    new = bits & ~seen[v]
                    if new:
                        spare[found] = v
                        if fresh[v] == 0:
                            found += 1
                        fresh[v] |= new
                        relax_row(key, v, u, step)
            frontier_edges = 0
            for i in range(found):
                v = spare[i]
                new = fresh[v]
                fresh[v] = 0
                front[v] = new
                seen[v] |= new
                degree = out_ptr[v + 1] - out_ptr[v]
                frontier_edges += degree
                if seen[v] == full:
                    unfinished -= 1
                    active_edges -= degree
            frontier, spare = spare, frontier
            num_frontier = found
            if level == DEEP and 2 * unfinished > n:
                return GAVE_UP
            continue
        done_below = key.dtype.type((level + 1) << shift)
        num_frontier, frontier_edges, active_edges, left = 0, 0, 0, 0
        for i in range(num_active):
            v = active[i]
            before = seen[v]
            if before == full:
                continue
            start, stop = out_ptr[v], out_ptr[v + 1]
            if level == 1 and not ranked:
                need = full & ~before
                new = first_row(key, v, step, out_idx, start, stop, front, need)
                fresh[v] = new
            else:
                pull_row(key, v, step, out_idx, start, stop, ahead)
                # A row read in this level may already hold the next level's keys, so ask for the
                # lanes that are final, not for those that changed.
                new = lanes_below(key, v, done_below) & full & ~before
                front[v] = new
            after = before | new
            seen[v] = after
            # Without branches: which way they would go is anybody's guess.
            grown, open_ = int(new != 0), int(after != full)
            frontier[num_frontier] = v
            num_frontier += grown
            frontier_edges += grown * (stop - start)
            active[left] = v
            left += open_
            active_edges += open_ * (stop - start)
        num_active, unfinished = left, left
        if level == 1 and not ranked:
            front, fresh = fresh, front
            fresh[:] = 0
        if level == DEEP and 2 * unfinished > n:
            return GAVE_UP
    return AT_CAP if num_frontier > 0 and unfinished > 0 else FINISHED


@njit(nogil=True, cache=True)
def search_sweeps(
    out_ptr: Any,
    out_idx: Any,
    in_ptr: Any,
    in_idx: Any,
    set_ptr: Any,
    set_nodes: Any,
    first: int,
    lanes: int,
    shift: int,
    cap: int,
    ahead: int,
    max_visits: int,
    places: Any,
    key: Any,
    dirty: Any,
) -> int:
    """Sweep forwards and backwards until nothing changes; returns how it ended.

    Args:
        out_ptr, out_idx, in_ptr, in_idx, set_ptr, set_nodes, first, lanes, shift, cap, ahead, key:
            As in `search_levels`; the graph is relabelled.
        max_visits: Give up after visiting so many nodes.
        places: Where each node went in the relabelled graph.
        dirty: Scratch: whether a node has to look at its neighbours again.
    """
    n = out_ptr.shape[0] - 1
    step = key.dtype.type(1 << shift)
    infinity = key.dtype.type((cap + 1) << shift)
    for v in range(n):
        fill_row(key, v, np.uint16(0), infinity, infinity)
    many = set_ptr[first + lanes] - set_ptr[first] > n
    dirty[:] = many
    for lane in range(lanes):
        for position in range(set_ptr[first + lane], set_ptr[first + lane + 1]):
            name = set_nodes[position]
            u = places[name]
            key[u, lane] = name
            if not many:
                for edge in range(in_ptr[u], in_ptr[u + 1]):
                    dirty[in_idx[edge]] = 1
    visits = 0
    forwards, changed = True, True
    while changed:
        changed = False
        for i in range(n):
            v = i if forwards else n - 1 - i
            if dirty[v]:
                dirty[v] = 0
                visits += 1
                if pull_row(key, v, step, out_idx, out_ptr[v], out_ptr[v + 1], ahead):
                    changed = True
                    for edge in range(in_ptr[v], in_ptr[v + 1]):
                        dirty[in_idx[edge]] = 1
        if changed and visits > max_visits:
            return GAVE_UP
        forwards = not forwards
    return int(how_it_ended(key, shift, cap))


@njit(nogil=True, cache=True)
def search_queue(
    in_ptr: Any,
    in_idx: Any,
    set_ptr: Any,
    set_nodes: Any,
    first: int,
    lanes: int,
    shift: int,
    cap: int,
    places: Any,
    key: Any,
    single: Any,
    queue: Any,
) -> int:
    """Search breadth first from one set after the other; returns how it ended.

    Args:
        in_ptr, in_idx, set_ptr, set_nodes, first, lanes, shift, cap, places, key: As in
            `search_sweeps`.
        single, queue: Scratch: the keys of one set, and the nodes in the order they are reached.
    """
    step = key.dtype.type(1 << shift)
    infinity = key.dtype.type((cap + 1) << shift)
    for lane in range(lanes):
        single[:] = infinity
        tail = 0
        for position in range(set_ptr[first + lane], set_ptr[first + lane + 1]):
            name = set_nodes[position]
            u = places[name]
            single[u] = name
            queue[tail] = u
            tail += 1
        head = 0
        while head < tail:
            u = queue[head]
            head += 1
            offered = single[u] + step
            for edge in range(in_ptr[u], in_ptr[u + 1]):
                v = in_idx[edge]
                if offered < single[v]:
                    # Only once a node: anchors enter the queue in order, so each level is in the
                    # order of its anchors, and the first to find a node offers the lowest.
                    single[v] = offered
                    queue[tail] = v
                    tail += 1
        for v in range(single.shape[0]):
            key[v, lane] = single[v]
    return int(how_it_ended(key, shift, cap))


@njit(nogil=True, cache=True)
def how_it_ended(key: Any, shift: int, cap: int) -> int:
    """Whether all keys lie below the cap; if so, nothing can lie beyond it."""
    infinity = key.dtype.type((cap + 1) << shift)
    at_cap = key.dtype.type(cap << shift)
    for v in range(key.shape[0]):
        if lanes_below(key, v, infinity) != lanes_below(key, v, at_cap):
            return AT_CAP
    return FINISHED
