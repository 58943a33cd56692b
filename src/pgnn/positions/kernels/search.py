"""Unweighted search: one cache line per node serves 16 or 32 anchor-sets at once.

A key packs (hops, anchor) into one unsigned number, hops in the high bits. Going one edge further
adds `step` = 1 << shift, and the smaller of two keys is the nearer anchor or, at equal distance,
the one with the lower index. So "distance to the set and its nearest member, lowest index first" is
the least fixed point of

    key[v] = min(key[v], min over neighbours u of key[u] + step)

whatever the order in which it is applied: the answer does not depend on the kernel or on the number
of threads. Sixteen sets lie side by side in a node's row, and one vector instruction serves them
all. Where sets are small and near, a key holds the anchor's rank in its set instead of its index:
16 bits are enough then, and 32 sets share a row.

The kernels apply the equation in different orders:

- `search_levels`, for small diameters: hop by hop. A small frontier pushes to its neighbours; a
  large one is pulled: each unfinished node reads the rows of its neighbours, once per level. Where
  most nodes are unfinished and edges lead both ways, the ends of each edge exchange their keys:
  both rows are read once, where pulling reads a row for either end.
- `search_sweeps`, for large diameters: over all nodes forwards, then backwards, in an order in
  which neighbours are close. One sweep carries a distance all along a path that runs with the
  order, so a few sweeps do the work of hundreds of levels. Only nodes next to a change are visited
  again.
- `search_queue`, where sweeps do not settle soon, as in mazes: one set after the other, each node
  once.

`emit_block` and `emit_ranked` then turn the keys of a block of sets into its columns of hops and
nearest anchors.

The kernels share these arguments; tuples are plain ones, which numba takes apart fastest:

- rows = (out_ptr, out_idx, in_ptr, in_idx), the rows of the graph and of its reverse: v can step to
  out_idx[out_ptr[v]:out_ptr[v + 1]], and in_idx[in_ptr[v]:in_ptr[v + 1]] can step to v
- sets = (set_ptr, set_nodes), the bounds and members of all anchor-sets
- block = (first, lanes, shift, cap), the sets that are searched together and the layout of their
  keys: lane l of a row belongs to set first + l, the low `shift` bits of a key hold the anchor, and
  `cap` is the farthest level to look at
- key, the keys, `[n, lanes]`; entries that stay at (cap + 1) << shift were not reached
- places, the row of `key` in which each node has its keys
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pgnn.positions.kernels.rows import (
    emit_ranked_row,
    emit_row,
    exchange_row,
    fetch_early,
    fetch_row,
    fill_row,
    first_row,
    lanes_below,
    pull_row,
    relax_row,
)

# Level search gives up where half of the nodes are unfinished after this many levels: on grids,
# roads and trees. Small frontiers have been cheap up to there, and the smallest sets, which reach
# farthest, are searched first, so little is lost. It is the farthest level of 16-bit keys.
DEEP = 13

# How many nodes ahead in a frontier their neighbours are fetched, and how many rows of keys of the
# next node's neighbours.
_FETCHED_AHEAD, _FETCHED_ROWS = 8, 64

# What unfinished nodes read in a level: rows of keys, masks of anchors, or nothing any more.
READ_ROWS, READ_ANCHORS, READ_NOTHING = 0, 1, 2

# How a search ended: with all distances; with nodes left that lie beyond the cap; or not at all.
FINISHED, AT_CAP, GAVE_UP = 0, 1, 2

Rows = tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.int64], NDArray[np.uint32]]
Sets = tuple[NDArray[np.int64], NDArray[np.uint32]]
Block = tuple[int, int, int, int]


# ---------------------------------------------------------------------- level by level


@njit(nogil=True, cache=True)
def search_levels(
    rows: Any,
    sets: Any,
    block: Any,
    above: Any,
    ahead: int,
    push_advantage: int,
    exchange_advantage: int,
    ranked: bool,
    scratch: Any,
) -> int:
    """Search hop by hop up to the block's cap; returns how it ended.

    Args:
        rows, sets, block: See the top of this file.
        above: Where in each node's row the neighbours of higher index begin; empty if edges lead
            one way only.
        ahead: How far to fetch rows early, see `pull_row`.
        push_advantage: A level is pushed if its frontier has this many times fewer edges than the
            unfinished nodes.
        exchange_advantage: Otherwise edges are exchanged if they are fewer than this many times
            those of unfinished nodes, else these pull.
        ranked: Whether keys hold the rank of the anchor in its set, not its index.
        scratch: (key, seen, front, fresh, active, frontier, spare), all of which are overwritten.
            `key` is the result. `seen`, `front` and `fresh` are masks with one bit per lane, one
            mask per node: where it was reached, was reached at the last level, is reached at this
            level. The others are lists of nodes: unfinished, reached at the last level, reached at
            this level. They have room for one node more than the graph has, because an entry is
            written before it is known whether it stays.
    """
    key, seen, front, fresh, active, frontier, spare = scratch
    cap = block[3]
    num_frontier, frontier_edges, unfinished, active_edges = _seed(
        rows, sets, block, ranked, key, seen, front, fresh, active, frontier
    )
    num_active = unfinished  # a push finishes nodes without taking them off the list
    level = 0
    while num_frontier > 0 and unfinished > 0 and level < cap:
        level += 1
        if frontier_edges * push_advantage < active_edges:
            num_frontier, frontier_edges, num_finished, finished_edges = push(
                rows, block, num_frontier, key, seen, front, fresh, frontier, spare
            )
            frontier, spare = spare, frontier
            unfinished -= num_finished
            active_edges -= finished_edges
        else:
            reads = READ_ANCHORS if level == 1 and not ranked else READ_ROWS
            most_edges = exchange_advantage * active_edges > rows[1].shape[0]
            if reads == READ_ROWS and most_edges and above.size:
                exchange(rows, block, above, ahead, key)
                reads = READ_NOTHING
            num_frontier, frontier_edges, num_active, active_edges = pull(
                rows, block, level, ahead, reads, num_active,
                key, seen, front, fresh, active, frontier,
            )  # fmt: skip
            unfinished = num_active
            if reads == READ_ANCHORS:
                front, fresh = fresh, front
                fresh[:] = 0
        if level == DEEP and 2 * unfinished > seen.shape[0]:
            return GAVE_UP
    return AT_CAP if num_frontier > 0 and unfinished > 0 else FINISHED


@njit(nogil=True, cache=True)
def _seed(
    rows: Any,
    sets: Any,
    block: Any,
    ranked: bool,
    key: Any,
    seen: Any,
    front: Any,
    fresh: Any,
    active: Any,
    frontier: Any,
) -> tuple[int, int, int, int]:
    """Put the anchors at distance 0 and everything else out of reach.

    Returns:
        How many nodes are anchors, how many edges those have, and the same of nodes that are not
        yet reached from all sets.
    """
    out_ptr = rows[0]
    set_ptr, set_nodes = sets
    first, lanes, shift, cap = block
    full = seen.dtype.type((1 << lanes) - 1)
    none = seen.dtype.type(0)
    infinity = key.dtype.type((cap + 1) << shift)
    front[:] = 0
    for lane in range(lanes):
        bit = seen.dtype.type(1 << lane)
        for position in range(set_ptr[first + lane], set_ptr[first + lane + 1]):
            front[set_nodes[position]] |= bit
    num_frontier, frontier_edges, num_active, active_edges = 0, 0, 0, 0
    for v in range(seen.shape[0]):
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
    return num_frontier, frontier_edges, num_active, active_edges


@njit(nogil=True, cache=True)
def push(
    rows: Any,
    block: Any,
    num_frontier: int,
    key: Any,
    seen: Any,
    front: Any,
    fresh: Any,
    frontier: Any,
    reached: Any,
) -> tuple[int, int, int, int]:
    """Let each node of the frontier offer its keys to those that can step to it.

    Returns:
        How many nodes were reached (they are listed in `reached`) and how many edges those have;
        how many of them are finished now, and how many edges those have.
    """
    out_ptr, _, in_ptr, in_idx = rows
    _, lanes, shift, _ = block
    full = seen.dtype.type((1 << lanes) - 1)
    step = key.dtype.type(1 << shift)
    num_reached = 0
    for i in range(num_frontier):
        u = frontier[i]
        if i + _FETCHED_AHEAD < num_frontier:
            fetch_early(in_ptr, np.int64(frontier[i + _FETCHED_AHEAD]))
            fetch_early(in_idx, in_ptr[frontier[i + _FETCHED_AHEAD // 2]])
            start, stop = in_ptr[frontier[i + 1]], in_ptr[frontier[i + 1] + 1]
            for position in range(start, min(stop, start + _FETCHED_ROWS)):
                fetch_row(key, in_idx[position])
        bits = front[u]
        for position in range(in_ptr[u], in_ptr[u + 1]):
            v = in_idx[position]
            new = bits & ~seen[v]
            if new:
                reached[num_reached] = v
                if fresh[v] == 0:
                    num_reached += 1
                fresh[v] |= new
                relax_row(key, v, u, step)
    reached_edges, num_finished, finished_edges = 0, 0, 0
    for i in range(num_reached):
        v = reached[i]
        new = fresh[v]
        fresh[v] = 0
        front[v] = new
        seen[v] |= new
        degree = out_ptr[v + 1] - out_ptr[v]
        reached_edges += degree
        if seen[v] == full:
            num_finished += 1
            finished_edges += degree
    return num_reached, reached_edges, num_finished, finished_edges


@njit(nogil=True, cache=True)
def pull(
    rows: Any,
    block: Any,
    level: int,
    ahead: int,
    reads: int,
    num_active: int,
    key: Any,
    seen: Any,
    front: Any,
    fresh: Any,
    active: Any,
    frontier: Any,
) -> tuple[int, int, int, int]:
    """Let each unfinished node read the rows of the nodes it can step to, and see what is new.

    At the first level of keys that hold indices, a node `reads` the masks of its neighbours instead
    of their rows, and the new masks go to `fresh`, not to `front`. After an exchange it has nothing
    to read.

    Returns:
        How many nodes were reached (they are listed in `frontier`) and how many edges those have;
        how many nodes are unfinished (listed in `active`), and how many edges those have.
    """
    out_ptr, out_idx, _, _ = rows
    _, lanes, shift, _ = block
    full = seen.dtype.type((1 << lanes) - 1)
    step = key.dtype.type(1 << shift)
    final_below = key.dtype.type((level + 1) << shift)
    num_frontier, frontier_edges, num_left, left_edges = 0, 0, 0, 0
    for i in range(num_active):
        v = active[i]
        before = seen[v]
        if before == full:
            continue
        start, stop = out_ptr[v], out_ptr[v + 1]
        if reads == READ_ANCHORS:
            new = first_row(key, v, step, out_idx, start, stop, front, full & ~before)
            fresh[v] = new
        else:
            if reads == READ_ROWS:
                pull_row(key, v, step, out_idx, start, stop, ahead)
            # A row read in this level may already hold the next level's keys, so ask for the lanes
            # that are final, not for those that changed.
            new = lanes_below(key, v, final_below) & full & ~before
            front[v] = new
        after = before | new
        seen[v] = after
        # Without branches, because the processor could not predict which way they go.
        is_reached, is_left = int(new != 0), int(after != full)
        frontier[num_frontier] = v
        num_frontier += is_reached
        frontier_edges += is_reached * (stop - start)
        active[num_left] = v
        num_left += is_left
        left_edges += is_left * (stop - start)
    return num_frontier, frontier_edges, num_left, left_edges


@njit(nogil=True, cache=True)
def exchange(rows: Any, block: Any, above: Any, ahead: int, key: Any) -> None:
    """Let the ends of every edge offer their keys to each other; edges lead both ways."""
    ptr, idx, _, _ = rows
    step = key.dtype.type(1 << block[2])
    n = above.shape[0]
    nodes_ahead = 1 + 2 * ahead * n // max(1, idx.shape[0])
    for v in range(n):
        if ahead and v + nodes_ahead < n:
            start, stop = above[v + nodes_ahead], ptr[v + nodes_ahead + 1]
            for position in range(start, min(stop, start + _FETCHED_ROWS)):
                fetch_row(key, idx[position])
        exchange_row(key, v, step, idx, above[v], ptr[v + 1])


@njit(nogil=True, cache=True)
def starts_above(ptr: Any, idx: Any, above: Any) -> None:
    """Fill in where in each node's row the neighbours of higher index begin."""
    for v in range(above.shape[0]):
        above[v] = ptr[v] + np.searchsorted(idx[ptr[v] : ptr[v + 1]], v, side="right")


# ---------------------------------------------------------------------- sweeps and queues


@njit(nogil=True, cache=True)
def search_sweeps(
    rows: Any,
    sets: Any,
    block: Any,
    ahead: int,
    max_visits: int,
    places: Any,
    key: Any,
    dirty: Any,
) -> int:
    """Sweep forwards and backwards until nothing changes; returns how it ended.

    Args:
        rows, sets, block, places, key: See the top of this file; the graph is relabelled.
        ahead: How far to fetch rows early, see `pull_row`.
        max_visits: Give up after visiting this many nodes.
        dirty: Scratch: whether a node has to look at its neighbours again.
    """
    out_ptr, out_idx, in_ptr, in_idx = rows
    set_ptr, set_nodes = sets
    first, lanes, shift, cap = block
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
    return int(how_it_ended(key, block))


@njit(nogil=True, cache=True)
def search_queue(
    rows: Any, sets: Any, block: Any, places: Any, key: Any, single: Any, queue: Any
) -> int:
    """Search breadth first from one set after the other; returns how it ended.

    Args:
        rows, sets, block, places, key: See the top of this file; the graph is relabelled.
        single: Scratch: the keys of one set.
        queue: Scratch: the nodes in the order in which they are reached.
    """
    _, _, in_ptr, in_idx = rows
    set_ptr, set_nodes = sets
    first, lanes, shift, cap = block
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
                    # Happens once per node: anchors enter the queue in order, so each level is in
                    # the order of its anchors, and the first to reach a node offers the lowest.
                    single[v] = offered
                    queue[tail] = v
                    tail += 1
        for v in range(single.shape[0]):
            key[v, lane] = single[v]
    return int(how_it_ended(key, block))


@njit(nogil=True, cache=True)
def how_it_ended(key: Any, block: Any) -> int:
    """Return FINISHED if all keys lie below the cap, so that nothing can lie beyond it."""
    _, _, shift, cap = block
    infinity = key.dtype.type((cap + 1) << shift)
    at_cap = key.dtype.type(cap << shift)
    for v in range(key.shape[0]):
        if lanes_below(key, v, infinity) != lanes_below(key, v, at_cap):
            return AT_CAP
    return FINISHED


# ---------------------------------------------------------------------- results


@njit(nogil=True, cache=True)
def emit_block(key: Any, places: Any, block: Any, hops: Any, nearest: Any) -> None:
    """Write a block's keys to its columns of both outputs, -1 where nothing was reached.

    Node v has its keys in row places[v]. Outputs are written in order.
    """
    first, lanes, shift, cap = block
    bound = key.dtype.type((cap + 1) << shift)
    whole = lanes == key.shape[1]
    last_hops = np.empty((1, key.shape[1]), dtype=hops.dtype)  # a row of the last, partial block
    last_nearest = np.empty((1, key.shape[1]), dtype=nearest.dtype)
    for v in range(key.shape[0]):
        row = np.int64(places[v])
        if whole:
            emit_row(key, row, shift, bound, hops, nearest, v, first)
        else:
            emit_row(key, row, shift, bound, last_hops, last_nearest, 0, 0)
            for lane in range(lanes):
                hops[v, first + lane] = last_hops[0, lane]
                nearest[v, first + lane] = last_nearest[0, lane]


@njit(nogil=True, cache=True)
def emit_ranked(key: Any, sets: Any, block: Any, hops: Any, nearest: Any) -> None:
    """Do as `emit_block` does for keys that hold ranks: look the anchors up in their sets."""
    set_ptr, set_nodes = sets
    first, lanes, shift, cap = block
    bound = key.dtype.type((cap + 1) << shift)
    whole = lanes == key.shape[1]
    start = set_ptr[first]
    offsets = np.zeros(key.shape[1], dtype=np.uint32)
    for lane in range(lanes):
        offsets[lane] = set_ptr[first + lane] - start
    last_hops = np.empty((1, key.shape[1]), dtype=hops.dtype)
    last_nearest = np.empty((1, key.shape[1]), dtype=nearest.dtype)
    for v in range(key.shape[0]):
        if whole:
            emit_ranked_row(
                key, v, shift, bound, hops, nearest, v, first, set_nodes, start, offsets
            )
        else:
            emit_ranked_row(
                key, v, shift, bound, last_hops, last_nearest, 0, 0, set_nodes, start, offsets
            )
            for lane in range(lanes):
                hops[v, first + lane] = last_hops[0, lane]
                nearest[v, first + lane] = last_nearest[0, lane]
