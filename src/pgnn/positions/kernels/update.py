"""Distances after edges arrived or went: only entries that change, and their neighbours, are read.

An entry is the label (length, anchor) of a node and a set. Labels are compared in that order, and
hops are lengths of edges of length 1. A label is right if it is the smallest that the node's
neighbours offer, so an edge that arrives can only lower labels: that of its end, then those of the
end's neighbours, nearest first, until an offer is no better than what is there.

Entries of the earlier result are only read. New labels lie in lists, one slot per changed entry,
until it is known that changing entries costs less than searching.

The kernels share these arguments:

- labels = (distance, nearest), the earlier result, `[n, k]` each; distance is hops, -1 where
  nothing is reached, or lengths, infinite there. Nodes beyond its rows are new: nothing reaches
  them.
- steps = (to, from, length), edges by which `from` can step to `to`
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from pgnn.positions.kernels.dijkstra import ABSENT, rise, take_first

KEPT, SEARCH = 0, 1  # what is to happen to a set: its labels are known, or it is searched anew


@njit(nogil=True, cache=True)
def label_of(labels: Any, node: int, number: int) -> Any:
    """Return length and anchor of one entry; infinite and -1 where nothing is reached."""
    distance, nearest = labels
    if node >= distance.shape[0] or nearest[node, number] < 0:
        return np.inf, np.int64(-1)
    return np.float64(distance[node, number]), np.int64(nearest[node, number])


@njit(nogil=True, cache=True)
def find_entries(ptr: Any, idx: Any, source: Any, target: Any, places: Any) -> None:
    """Fill `places` with where in `idx` the edge from each source to its target is, -1 if none."""
    for edge in range(source.shape[0]):
        low, high = ptr[source[edge]], ptr[source[edge] + 1]
        stop = high
        while low < high:
            middle = (low + high) >> 1
            if idx[middle] < target[edge]:
                low = middle + 1
            else:
                high = middle
        places[edge] = low if low < stop and idx[low] == target[edge] else -1


@njit(nogil=True, cache=True)
def list_offers(steps: Any, labels: Any, limit: float, offers: Any) -> int:
    """List what arrived edges offer that is better than what is there.

    Args:
        steps, labels: See the top of this file.
        limit: Look no farther.
        offers: (number, node, length, anchor) of each offer: the lists to fill.

    Returns:
        How many offers there are, or -1 if there are more than the lists hold.
    """
    to, origin, lengths = steps
    distance, nearest = labels
    num_old = distance.shape[0]
    numbers, nodes, offered_lengths, anchors = offers
    count = 0
    for step in range(to.shape[0]):
        u, v = to[step], origin[step]
        if u >= num_old:
            continue  # nothing reaches it yet; what comes to reach it is passed on
        for number in range(distance.shape[1]):
            anchor = nearest[u, number]
            if anchor < 0:
                continue
            offered = np.float64(distance[u, number]) + lengths[step]
            if offered > limit:
                continue
            if v < num_old and nearest[v, number] >= 0:
                length = np.float64(distance[v, number])
                if offered > length or (offered == length and anchor >= nearest[v, number]):
                    continue
            if count == numbers.shape[0]:
                return -1
            numbers[count] = number
            nodes[count] = v
            offered_lengths[count] = offered
            anchors[count] = anchor
            count += 1
    return count


@njit(nogil=True, cache=True)
def list_unsupported(steps: Any, rows: Any, labels: Any, is_weighted: bool, fate: Any) -> None:
    """Mark the sets in which a node's label came by an edge that went, and by no other.

    Args:
        steps: The edges that went; their lengths are not known.
        rows: (ptr, idx, weights) of the graph without them; weights are read if it is weighted.
        labels: See the top of this file.
        is_weighted: Whether edges have lengths other than 1.
        fate: What is to happen to each set, `[k]`; set to SEARCH.
    """
    to, origin, _ = steps
    ptr, idx, weights = rows
    distance, nearest = labels
    num_old = distance.shape[0]
    for step in range(to.shape[0]):
        u, v = to[step], origin[step]
        if u >= num_old or v >= num_old:
            continue
        for number in range(distance.shape[1]):
            anchor = nearest[v, number]
            if fate[number] == SEARCH or anchor < 0 or nearest[u, number] != anchor:
                continue
            length = np.float64(distance[v, number])
            if anchor == v or np.float64(distance[u, number]) > length:
                continue
            supported = False
            for place in range(ptr[v], ptr[v + 1]):
                other = idx[place]
                if other >= num_old or nearest[other, number] != anchor:
                    continue
                near = np.float64(distance[other, number])
                edge = weights[place] if is_weighted else 1.0
                if near < length and near + edge == length:
                    supported = True
                    break
            if not supported:
                fate[number] = SEARCH


@njit(nogil=True, cache=True)
def lower_labels(
    block: Any,
    offers: Any,
    rows: Any,
    labels: Any,
    is_weighted: bool,
    limit: float,
    max_reads: int,
    fate: Any,
    bounds: Any,
    scratch: Any,
) -> None:
    """Pass offers on, nearest first, until none is better than what is there.

    Args:
        block: (first, stop), the sets to treat; those whose fate is SEARCH are left out.
        offers: (starts, node, length, anchor) of what arrived edges offer, sorted by set: those of
            set i are starts[i]..starts[i + 1].
        rows: (ptr, idx, weights) of the reversed graph; weights are read if it is weighted.
        labels: See the top of this file.
        is_weighted: Whether edges have lengths other than 1.
        limit: Look no farther.
        max_reads: A set that reads more neighbours than this is to be searched anew.
        fate: What is to happen to each set, `[k]`.
        bounds: Filled, `[k, 2]`: the changed entries of set i lie in slots
            bounds[i, 0]..bounds[i, 1].
        scratch: (slot_of, node, length, anchor, heap, place). `slot_of` has the slot of each node,
            -1 for none, before and after. The next three are the result, with one entry per slot;
            the last two are the heap of slots (see `dijkstra`). A set for which there are too few
            slots left is to be searched anew.
    """
    slot_of, node, length, anchor, heap, place = scratch
    ptr, idx, weights = rows
    starts, offered_nodes, offered_lengths, offered_anchors = offers
    first, stop = block
    count = 0
    for number in range(first, stop):
        begin, size, reads = count, 0, 0
        for offer in range(starts[number], starts[number + 1]):
            if fate[number] == SEARCH:
                break
            v = offered_nodes[offer]
            slot = slot_of[v]
            if slot < 0:
                if count == node.shape[0]:
                    fate[number] = SEARCH
                    break
                slot = count
                count += 1
                slot_of[v], node[slot], place[slot] = slot, v, ABSENT
            elif offered_lengths[offer] > length[slot] or (
                offered_lengths[offer] == length[slot] and offered_anchors[offer] >= anchor[slot]
            ):
                continue
            length[slot], anchor[slot] = offered_lengths[offer], offered_anchors[offer]
            size = rise(heap, place, length, slot, size)
        while size > 0 and fate[number] == KEPT:
            slot = heap[0]
            size = take_first(heap, place, length, size)
            u, near, nearest_anchor = node[slot], length[slot], anchor[slot]
            before, anchor_before = label_of(labels, u, number)
            reads += ptr[u + 1] - ptr[u]
            if reads > max_reads:
                fate[number] = SEARCH
                break
            for position in range(ptr[u], ptr[u + 1]):
                v = idx[position]
                edge = weights[position] if is_weighted else 1.0
                offered = near + edge
                if offered > limit:
                    continue
                other = slot_of[v]
                if other >= 0:
                    known, known_anchor = length[other], np.int64(anchor[other])
                else:
                    known, known_anchor = label_of(labels, v, number)
                if is_weighted and offered == near:
                    fate[number] = SEARCH  # the edge is too short to count: order decides nothing
                    break
                if offered < known or (offered == known and nearest_anchor < known_anchor):
                    if other < 0:
                        if count == node.shape[0]:
                            fate[number] = SEARCH
                            break
                        other = count
                        count += 1
                        slot_of[v], node[other], place[other] = other, v, ABSENT
                    length[other], anchor[other] = offered, nearest_anchor
                    size = rise(heap, place, length, other, size)
                elif (
                    is_weighted
                    and before + edge == known
                    and anchor_before == known_anchor < nearest_anchor
                ):
                    # v has its label from u, whose label is lower now; rounded, the new offer is as
                    # long as the old one and its anchor is higher. Only a search knows the answer.
                    fate[number] = SEARCH
                    break
        for slot in range(begin, count):
            slot_of[node[slot]] = -1
        if fate[number] == SEARCH:
            count = begin
        bounds[number, 0], bounds[number, 1] = begin, count


@njit(nogil=True, cache=True)
def write_changes(
    numbers: Any, nodes: Any, lengths: Any, anchors: Any, distance: Any, nearest: Any
) -> None:
    """Write changed entries to a result."""
    for change in range(numbers.shape[0]):
        distance[nodes[change], numbers[change]] = lengths[change]
        nearest[nodes[change], numbers[change]] = anchors[change]
