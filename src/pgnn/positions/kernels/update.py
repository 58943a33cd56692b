"""Distances after edges arrived or went: only entries that change, and their neighbours, are read.

An entry is the label (length, anchor) of a node and a set. Labels are compared in that order, and
hops are lengths of edges of length 1. A label is right if it is the smallest that the node's
neighbours offer, so an edge that arrives can only lower labels: that of its end, then those of the
end's neighbours, nearest first, until an offer is no better than what is there. An edge that goes
can take a label's support away, and then that of labels that came by it. Those are found first,
nearest first; then they take the best that the others offer.

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
        offers: (number, node, length, anchor, from) of each offer: the lists to fill. The last is
            the node that makes the offer.

    Returns:
        How many offers there are, or -1 if there are more than the lists hold.
    """
    to, origin, lengths = steps
    distance, nearest = labels
    num_old = distance.shape[0]
    numbers, nodes, offered_lengths, anchors, makers = offers
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
            makers[count] = u
            count += 1
    return count


@njit(nogil=True, cache=True)
def list_broken(steps: Any, labels: Any, is_weighted: bool, broken: Any) -> int:
    """List labels that may have come by an edge that went.

    Args:
        steps: The edges that went; their lengths are not known.
        labels: See the top of this file.
        is_weighted: Whether edges have lengths other than 1.
        broken: (number, node) of each such label: the lists to fill.

    Returns:
        How many there are, or -1 if there are more than the lists hold.
    """
    to, origin, _ = steps
    distance, nearest = labels
    numbers, nodes = broken
    count = 0
    for step in range(to.shape[0]):
        u, v = to[step], origin[step]
        if u >= distance.shape[0] or v >= distance.shape[0]:
            continue
        for number in range(distance.shape[1]):
            anchor = nearest[v, number]
            if anchor < 0 or anchor == v or nearest[u, number] != anchor:
                continue
            length, near = np.float64(distance[v, number]), np.float64(distance[u, number])
            if near > length or (not is_weighted and near + 1.0 != length):
                continue
            if count == numbers.shape[0]:
                return -1
            numbers[count] = number
            nodes[count] = v
            count += 1
    return count


@njit(nogil=True, cache=True)
def update_labels(
    block: Any,
    offers: Any,
    broken: Any,
    rows: Any,
    labels: Any,
    is_weighted: bool,
    limit: float,
    max_reads: int,
    fate: Any,
    bounds: Any,
    scratch: Any,
) -> None:
    """Raise labels that lost their support, then pass offers on until none is better.

    Args:
        block: (first, stop), the sets to treat.
        offers: (starts, node, length, anchor, from) of what arrived edges offer, sorted by set:
            those of set i are starts[i]..starts[i + 1].
        broken: (starts, node) of labels that may have come by an edge that went, sorted likewise.
        rows: (out_ptr, out_idx, out_weights, in_ptr, in_idx, in_weights), the graph and its
            reverse; weights are read if it is weighted.
        labels: See the top of this file.
        is_weighted: Whether edges have lengths other than 1.
        limit: Look no farther.
        max_reads: A set that reads more neighbours than this is to be searched anew.
        fate: What is to happen to each set, `[k]`.
        bounds: Filled, `[k, 2]`: the changed entries of set i lie in slots
            bounds[i, 0]..bounds[i, 1].
        scratch: (slot_of, node, length, anchor, heap, place). `slot_of` has the slot of each node,
            -1 for none, before and after. The next three are the result, with one entry per slot;
            anchor -1 says that nothing is reached any more. The last two are the heap of slots (see
            `dijkstra`). A set for which there are too few slots left is to be searched anew.
    """
    slot_of, node, length, anchor, heap, place = scratch
    starts, offered_nodes, offered_lengths, offered_anchors, makers = offers
    first, stop = block
    count = 0
    for number in range(first, stop):
        begin, size, reads = count, 0, 0
        count, reads = _drop_unsupported(
            number, count, broken, rows, labels, is_weighted, max_reads, scratch
        )
        if count >= 0:
            size, reads = _best_of_others(
                number, begin, count, reads, rows, labels, is_weighted, limit, scratch
            )
            for offer in range(starts[number], starts[number + 1]):
                u, v = makers[offer], offered_nodes[offer]
                maker, slot = slot_of[u], slot_of[v]
                if maker >= 0 and length[maker] > label_of(labels, u, number)[0]:
                    continue  # it was farther than it said; what it has now is passed on
                if slot < 0:
                    if count == node.shape[0]:
                        reads = max_reads + 1
                        break
                    slot = count
                    count += 1
                    slot_of[v], node[slot], place[slot] = slot, v, ABSENT
                elif offered_lengths[offer] > length[slot] or (
                    offered_lengths[offer] == length[slot]
                    and offered_anchors[offer] >= anchor[slot]
                ):
                    continue
                length[slot], anchor[slot] = offered_lengths[offer], offered_anchors[offer]
                size = rise(heap, place, length, slot, size)
            if reads <= max_reads:
                count = _pass_on(
                    number, count, size, reads, rows, labels, is_weighted, limit, max_reads, scratch
                )
            else:
                count = -1 - count
        if count < 0:
            fate[number] = SEARCH
            count = -1 - count
        for slot in range(begin, count):
            slot_of[node[slot]] = -1
        if fate[number] == SEARCH:
            count = begin
        bounds[number, 0], bounds[number, 1] = begin, count


@njit(nogil=True, cache=True)
def _drop_unsupported(
    number: int,
    count: int,
    broken: Any,
    rows: Any,
    labels: Any,
    is_weighted: bool,
    max_reads: int,
    scratch: Any,
) -> Any:
    """Give slots to labels that may be wrong, nearest first; anchor -1 to those that are.

    Returns:
        How many slots are in use, or -1 minus that if the set is to be searched, and how many
        neighbours were read.
    """
    slot_of, node, length, anchor, heap, place = scratch
    out_ptr, out_idx, out_weights, in_ptr, in_idx, in_weights = rows
    starts, broken_nodes = broken
    size, reads = 0, 0
    for position in range(starts[number], starts[number + 1]):
        v = broken_nodes[position]
        if slot_of[v] < 0:
            if count == node.shape[0]:
                return -1 - count, reads
            slot_of[v], node[count], place[count] = count, v, ABSENT
            length[count], anchor[count] = label_of(labels, v, number)
            size = rise(heap, place, length, count, size)
            count += 1
    while size > 0:
        slot = heap[0]
        size = take_first(heap, place, length, size)
        v, far = node[slot], length[slot]
        supported = False
        for position in range(out_ptr[v], out_ptr[v + 1]):
            reads += 1
            x = out_idx[position]
            other = slot_of[x]
            if other >= 0 and anchor[other] < 0:
                continue
            near, near_anchor = label_of(labels, x, number)
            edge = out_weights[position] if is_weighted else 1.0
            if near_anchor == anchor[slot] and near < far and near + edge == far:
                supported = True
                break
        if supported:
            continue
        reads += in_ptr[v + 1] - in_ptr[v]
        if reads > max_reads:
            return -1 - count, reads
        for position in range(in_ptr[v], in_ptr[v + 1]):
            y = in_idx[position]
            behind, behind_anchor = label_of(labels, y, number)
            edge = in_weights[position] if is_weighted else 1.0
            if slot_of[y] >= 0 or behind_anchor != anchor[slot] or far + edge != behind:
                continue
            if count == node.shape[0]:
                return -1 - count, reads
            slot_of[y], node[count], place[count] = count, y, ABSENT
            length[count], anchor[count] = behind, behind_anchor
            size = rise(heap, place, length, count, size)
            count += 1
        anchor[slot] = -1
    return count, reads


@njit(nogil=True, cache=True)
def _best_of_others(
    number: int,
    begin: int,
    count: int,
    reads: int,
    rows: Any,
    labels: Any,
    is_weighted: bool,
    limit: float,
    scratch: Any,
) -> Any:
    """Give each dropped label the best that labels which were not dropped offer.

    Returns:
        The size of the heap, which holds those that got one, and how many neighbours were read.
    """
    slot_of, node, length, anchor, heap, place = scratch
    out_ptr, out_idx, out_weights = rows[:3]
    for slot in range(begin, count):
        if anchor[slot] != -1:
            continue
        v = node[slot]
        best, best_anchor = np.inf, np.int64(-1)
        for position in range(out_ptr[v], out_ptr[v + 1]):
            reads += 1
            x = out_idx[position]
            other = slot_of[x]
            if other >= 0 and anchor[other] < 0:
                continue
            near, near_anchor = label_of(labels, x, number)
            offered = near + (out_weights[position] if is_weighted else 1.0)
            if near_anchor < 0 or offered > limit:
                continue
            if offered < best or (offered == best and near_anchor < best_anchor):
                best, best_anchor = offered, near_anchor
        # Below 0 until all have chosen: others must not choose by it.
        length[slot] = best
        anchor[slot] = -1 if best_anchor < 0 else -2 - best_anchor
    size = 0
    for slot in range(begin, count):
        if anchor[slot] < -1:
            anchor[slot] = -2 - anchor[slot]
            size = rise(heap, place, length, slot, size)
    return size, reads


@njit(nogil=True, cache=True)
def _pass_on(
    number: int,
    count: int,
    size: int,
    reads: int,
    rows: Any,
    labels: Any,
    is_weighted: bool,
    limit: float,
    max_reads: int,
    scratch: Any,
) -> int:
    """Let labels in the heap offer themselves to neighbours, nearest first.

    Returns:
        How many slots are in use, or -1 minus that if the set is to be searched.
    """
    slot_of, node, length, anchor, heap, place = scratch
    ptr, idx, weights = rows[3:]
    while size > 0:
        slot = heap[0]
        size = take_first(heap, place, length, size)
        u, near, nearest_anchor = node[slot], length[slot], anchor[slot]
        before, anchor_before = label_of(labels, u, number)
        reads += ptr[u + 1] - ptr[u]
        if reads > max_reads:
            return -1 - count
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
                return -1 - count  # the edge is too short to count: order decides nothing
            if offered < known or (offered == known and nearest_anchor < known_anchor):
                if other < 0:
                    if count == node.shape[0]:
                        return -1 - count
                    other = count
                    count += 1
                    slot_of[v], node[other], place[other] = other, v, ABSENT
                length[other], anchor[other] = offered, nearest_anchor
                size = rise(heap, place, length, other, size)
            elif (
                is_weighted
                and offered == known == before + edge
                and anchor_before == known_anchor < nearest_anchor
            ):
                # v has its label from u, whose label is lower now; rounded, the new offer is as
                # long as the old one and its anchor is higher. Only a search knows the answer.
                return -1 - count
    return count


@njit(nogil=True, cache=True)
def write_changes(changes: Any, unreached: float, distance: Any, nearest: Any) -> None:
    """Write changed entries (number, node, length, anchor) to a result.

    Where the anchor is -1 nothing is reached, and the distance is `unreached`.
    """
    numbers, nodes, lengths, anchors = changes
    for change in range(numbers.shape[0]):
        length = unreached if anchors[change] < 0 else lengths[change]
        distance[nodes[change], numbers[change]] = length
        nearest[nodes[change], numbers[change]] = anchors[change]
