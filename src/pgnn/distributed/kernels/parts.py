"""Search in one part of a graph: what a rank does between two exchanges, and its messages.

Rows of keys are those of `pgnn.positions.kernels.search`, with one row per node of the part: the
rank's own nodes first, then its ghosts. Levels are pushed and pulled by the kernels there. A key is
final as soon as its node is reached, so it is sent once, to each rank that has the node as a ghost.

A message to one rank has three sections: the ghosts that were reached, by their place among those
of this sender; one mask per ghost of the lanes that were reached; the keys of these lanes. Where
few nodes are unfinished, they ask for the lanes that they miss of their ghosts instead.

- links = (link_ptr, link_rank, link_place): own node v is a ghost of ranks link_rank[link_ptr[v]:
  link_ptr[v + 1]], where it has these places
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from pgnn.positions.kernels.rows import fill_row

Links = tuple[NDArray[np.int64], NDArray[np.uint16], NDArray[np.uint32]]


@intrinsic
def count_bits(_typing: Any, mask: Any) -> Any:
    """Return how many bits of a mask are set."""

    def code(context: Any, builder: Any, _: Any, args: Any) -> Any:
        wide = context.get_value_type(types.int64)
        return builder.zext(builder.ctpop(args[0]), wide)

    return types.int64(mask), code


@intrinsic
def lowest_bit(_typing: Any, mask: Any) -> Any:
    """Return the place of the lowest bit that is set in a mask, which has one."""

    def code(context: Any, builder: Any, _: Any, args: Any) -> Any:
        wide = context.get_value_type(types.int64)
        never_zero = ir.Constant(ir.IntType(1), 1)
        return builder.zext(builder.cttz(args[0], never_zero), wide)

    return types.int64(mask), code


@njit(nogil=True, cache=True)
def turn_rows(indptr: Any, indices: Any, turned_ptr: Any, turned_idx: Any) -> None:
    """Turn the rows of a part: which own nodes have node u of the part as a neighbour.

    Args:
        indptr: Bounds of the rows of own nodes.
        indices: Their neighbours.
        turned_ptr: Filled with the bounds of the turned rows, one row per node of the part.
        turned_idx: Filled with the turned rows.
    """
    turned_ptr[:] = 0
    for position in range(indices.shape[0]):
        turned_ptr[indices[position] + 1] += 1
    for u in range(turned_ptr.shape[0] - 1):
        turned_ptr[u + 1] += turned_ptr[u]
    for v in range(indptr.shape[0] - 1):
        for position in range(indptr[v], indptr[v + 1]):
            u = indices[position]
            turned_idx[turned_ptr[u]] = v
            turned_ptr[u] += 1
    for u in range(turned_ptr.shape[0] - 1, 0, -1):
        turned_ptr[u] = turned_ptr[u - 1]
    turned_ptr[0] = 0


@njit(nogil=True, cache=True)
def seed(rows: Any, sets: Any, block: Any, ranked: bool, first: int, scratch: Any) -> Any:
    """Put the anchors among the own nodes at distance 0, and everything else out of reach.

    Args:
        rows: Rows of own nodes, and turned rows, as in `pgnn.positions.kernels.search`.
        sets: Bounds and members of all anchor-sets, as node numbers of the whole graph.
        block: The sets that are searched together and the layout of their keys.
        ranked: Whether keys hold the rank of the anchor in its set, not its number.
        first: The first of the own nodes.
        scratch: (key, seen, front, fresh, active, frontier), all of which are overwritten.

    Returns:
        How many own nodes are anchors, how many entries lead to those, how many own nodes are not
        yet reached from all sets, and how many entries the rows of those have.
    """
    out_ptr, _, in_ptr, _ = rows
    set_ptr, set_nodes = sets
    first_set, lanes, shift, cap = block
    key, seen, front, fresh, active, frontier = scratch
    num_own = out_ptr.shape[0] - 1
    full = seen.dtype.type((1 << lanes) - 1)
    none = seen.dtype.type(0)
    infinity = key.dtype.type((cap + 1) << shift)
    front[:] = 0
    fresh[:] = 0
    for v in range(key.shape[0]):
        fill_row(key, v, none, infinity, infinity)
    for lane in range(lanes):
        bit = seen.dtype.type(1 << lane)
        start, stop = set_ptr[first_set + lane], set_ptr[first_set + lane + 1]
        before = np.searchsorted(set_nodes[start:stop], first)
        for position in range(start + before, stop):
            place = np.int64(set_nodes[position]) - first
            if place >= num_own:
                break
            front[place] |= bit
            key[place, lane] = position - start if ranked else set_nodes[position]
    num_frontier, frontier_edges, num_active, active_edges = 0, 0, 0, 0
    for v in range(num_own):
        bits = front[v]
        seen[v] = bits
        if bits != 0:
            frontier[num_frontier] = v
            num_frontier += 1
            frontier_edges += in_ptr[v + 1] - in_ptr[v]
        if bits != full:
            active[num_active] = v
            num_active += 1
            active_edges += out_ptr[v + 1] - out_ptr[v]
    return num_frontier, frontier_edges, num_active, active_edges


@njit(nogil=True, cache=True)
def count_messages(links: Any, num_frontier: int, front: Any, frontier: Any, counts: Any) -> None:
    """Count what is to be sent to each rank: ghosts and keys, the first columns of `counts`."""
    link_ptr, link_rank, _ = links
    counts[:, :2] = 0
    for i in range(num_frontier):
        v = frontier[i]
        num_keys = count_bits(front[v])
        for position in range(link_ptr[v], link_ptr[v + 1]):
            counts[link_rank[position], 0] += 1
            counts[link_rank[position], 1] += num_keys


@njit(nogil=True, cache=True)
def pack(
    links: Any,
    num_frontier: int,
    key: Any,
    front: Any,
    frontier: Any,
    heads: Any,
    places: Any,
    masks: Any,
    keys: Any,
) -> None:
    """Write messages with what the frontier was reached by.

    Args:
        links: See the top of this file.
        num_frontier: How many own nodes are in the frontier.
        key, front, frontier: Keys of the part, lanes reached at the last level, and where.
        heads: Where the three sections of the message to each rank begin, `[size, 3]`, counted in
            entries of the arrays below; moved to where they end. Negative: nothing is sent to it.
        places, masks, keys: The buffer of all messages, as ghosts, masks and keys.
    """
    link_ptr, link_rank, link_place = links
    one = front.dtype.type(1)
    for i in range(num_frontier):
        v = frontier[i]
        for position in range(link_ptr[v], link_ptr[v + 1]):
            rank = link_rank[position]
            if heads[rank, 0] < 0:
                continue
            places[heads[rank, 0]] = link_place[position]
            masks[heads[rank, 1]] = front[v]
            heads[rank, 0] += 1
            heads[rank, 1] += 1
            end = heads[rank, 2]
            bits = front[v]
            while bits:
                keys[end] = key[v, lowest_bit(bits)]
                end += 1
                bits &= bits - one
            heads[rank, 2] = end


@njit(nogil=True, cache=True)
def unpack(
    places: Any,
    masks: Any,
    keys: Any,
    first_ghost: int,
    in_ptr: Any,
    num_frontier: int,
    key: Any,
    front: Any,
    frontier: Any,
) -> int:
    """Write what came from a rank to the rows of its ghosts, and add these to the frontier.

    Returns:
        How many entries lead to them.
    """
    one = front.dtype.type(1)
    edges = 0
    position = 0
    for i in range(places.shape[0]):
        ghost = np.int64(first_ghost) + places[i]
        bits = masks[i]
        front[ghost] = bits
        frontier[num_frontier + i] = ghost
        edges += in_ptr[ghost + 1] - in_ptr[ghost]
        while bits:
            key[ghost, lowest_bit(bits)] = keys[position]
            position += 1
            bits &= bits - one
    return edges


@njit(nogil=True, cache=True)
def list_needs(
    rows: Any, block: Any, num_active: int, seen: Any, active: Any, wanted: Any, ghosts: Any
) -> int:
    """List the ghosts that are neighbours of unfinished nodes.

    Args:
        rows, block: As in `pgnn.positions.kernels.search`.
        num_active: How many nodes of `active` are perhaps unfinished.
        seen: Lanes in which each own node was reached.
        active: The own nodes.
        wanted: Zero for all ghosts; receives which lanes of each are needed.
        ghosts: Receives those with a lane.

    Returns:
        How many there are.
    """
    out_ptr, out_idx, _, _ = rows
    num_own = out_ptr.shape[0] - 1
    full = seen.dtype.type((1 << block[1]) - 1)
    count = 0
    for i in range(num_active):
        v = active[i]
        need = full & ~seen[v]
        if need:
            for position in range(out_ptr[v], out_ptr[v + 1]):
                u = out_idx[position]
                if u >= num_own:
                    ghosts[count] = u
                    count += int(wanted[u] == 0)
                    wanted[u] |= need
    return count


@njit(nogil=True, cache=True)
def answer(nodes: Any, wanted: Any, seen: Any, key: Any, masks: Any, keys: Any) -> int:
    """Write the lanes in which own nodes were reached, of those that are wanted, and their keys.

    Returns:
        How many keys there are.
    """
    one = seen.dtype.type(1)
    count = 0
    for i in range(nodes.shape[0]):
        v = nodes[i]
        bits = seen[v] & wanted[i]
        masks[i] = bits
        while bits:
            keys[count] = key[v, lowest_bit(bits)]
            count += 1
            bits &= bits - one
    return count
