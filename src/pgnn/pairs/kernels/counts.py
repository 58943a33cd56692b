"""Common neighbours, 3-paths and the place of an edge: what sorted rows say about a pair."""

from __future__ import annotations

from typing import Any

from numba import njit

# A row this many times longer than the other is searched, not scanned.
_MUCH_LONGER = 16


@njit(nogil=True, cache=True)
def find_entry(indptr: Any, indices: Any, u: int, v: int) -> Any:
    """Place of v in the sorted row of u, or -1."""
    low, high = indptr[u], indptr[u + 1]
    while low < high:
        middle = (low + high) // 2
        if indices[middle] < v:
            low = middle + 1
        else:
            high = middle
    if low < indptr[u + 1] and indices[low] == v:
        return low
    return -1


@njit(nogil=True, cache=True)
def find_entries(indptr: Any, indices: Any, pairs: Any, entries: Any) -> None:
    """Set entries[p] to the place of edge pairs[p] in `indices`, -1 where it is no edge."""
    for p in range(pairs.shape[0]):
        entries[p] = find_entry(indptr, indices, pairs[p, 0], pairs[p, 1])


@njit(nogil=True, cache=True)
def count_shared(rows_u: Any, rows_v: Any, pairs: Any, worth: Any, first: int, result: Any) -> None:
    """Count the nodes in both u's row and v's row, and add up what they are worth.

    Args:
        rows_u: `(indptr, indices)` that u's row is read from.
        rows_v: The same for v; the transposed rows give paths from u to v.
        pairs: Node indices of a block of pairs, `[num_pairs, 2]`.
        worth: Two numbers per node, `[n, 2]`.
        first: Where the results of the block start.
        result: `[m, 3]`: how many, and the sums of both columns of `worth`.
    """
    ptr_u, idx_u = rows_u
    ptr_v, idx_v = rows_v
    for p in range(pairs.shape[0]):
        u, v = pairs[p, 0], pairs[p, 1]
        i, end_i = ptr_u[u], ptr_u[u + 1]
        j, end_j = ptr_v[v], ptr_v[v + 1]
        count, one, two = 0, 0.0, 0.0
        if (end_i - i) * _MUCH_LONGER < end_j - j:
            for k in range(i, end_i):
                w = idx_u[k]
                if find_entry(ptr_v, idx_v, v, w) >= 0:
                    count += 1
                    one += worth[w, 0]
                    two += worth[w, 1]
        elif (end_j - j) * _MUCH_LONGER < end_i - i:
            for k in range(j, end_j):
                w = idx_v[k]
                if find_entry(ptr_u, idx_u, u, w) >= 0:
                    count += 1
                    one += worth[w, 0]
                    two += worth[w, 1]
        else:
            while i < end_i and j < end_j:
                a, b = idx_u[i], idx_v[j]
                if a == b:
                    count += 1
                    one += worth[a, 0]
                    two += worth[a, 1]
                i += a <= b
                j += b <= a
        result[first + p, 0] = count
        result[first + p, 1] = one
        result[first + p, 2] = two


@njit(nogil=True, cache=True)
def sum_three_paths(
    rows_u: Any, rows_v: Any, pairs: Any, worth: Any, hub_degree: int, result: Any, scratch: Any
) -> None:
    """Sum worth_a[a] worth_b[b] over the simple paths u - a - b - v.

    Pairs come by source: for consecutive pairs with one u, the sums q[b] of worth_a over the paths
    u - a - b are made once. Paths over v or back over u are taken out again: a = v joins u only
    through the pair's own edge, b = u joins v only through it.

    Args:
        rows_u: `(indptr, indices)` in which a is next to u, and b next to a.
        rows_v: The same in which b is next to v; the transposed rows on a directed graph.
        pairs: Node indices, `[num_pairs, 2]`, equal sources side by side.
        worth: `(worth_a, worth_b)`, one number per node each.
        hub_degree: A node a with more neighbours is not expanded: it is taken to be joined to each
            b with the chance degree(a) degree(b) / entries of a random graph of these degrees.
        result: `[num_pairs]`.
        scratch: `(q, touched)`: zeros `[n]`, left as zeros, and a list of nodes `[n]`.
    """
    ptr_u, idx_u = rows_u
    ptr_v, idx_v = rows_v
    worth_a, worth_b = worth
    q, touched = scratch
    num_touched, source, hubs = 0, -1, 0.0
    for p in range(pairs.shape[0]):
        u, v = pairs[p, 0], pairs[p, 1]
        if u != source:
            for t in range(num_touched):
                q[touched[t]] = 0.0
            num_touched, source, hubs = 0, u, 0.0
            for i in range(ptr_u[u], ptr_u[u + 1]):
                a = idx_u[i]
                degree = ptr_u[a + 1] - ptr_u[a]
                if degree > hub_degree:
                    hubs += worth_a[a] * degree / idx_u.shape[0]
                    continue
                for j in range(ptr_u[a], ptr_u[a + 1]):
                    b = idx_u[j]
                    if q[b] == 0.0:
                        touched[num_touched] = b
                        num_touched += 1
                    q[b] += worth_a[a]
        joined, others = find_entry(ptr_u, idx_u, u, v) >= 0, hubs
        degree = ptr_u[v + 1] - ptr_u[v]
        if joined and degree > hub_degree:
            joined, others = False, hubs - worth_a[v] * degree / idx_u.shape[0]
        total = 0.0
        for j in range(ptr_v[v], ptr_v[v + 1]):
            b = idx_v[j]
            if b == u:
                continue
            reached = q[b]
            if joined and find_entry(ptr_u, idx_u, v, b) >= 0:
                reached -= worth_a[v]
            if others > 0.0:
                reached += others * (ptr_v[b + 1] - ptr_v[b])
            total += worth_b[b] * reached
        result[p] = max(total, 0.0)
    for t in range(num_touched):
        q[touched[t]] = 0.0
