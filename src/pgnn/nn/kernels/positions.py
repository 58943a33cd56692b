"""Compiled loops of `nn.positions`. Imported when first used: numba is slow to load."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(nogil=True, cache=True)
def group_members(
    indptr: NDArray[np.int64], nodes: NDArray[Any], graph: NDArray[np.int64], num_graphs: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    """Sort the members of sets by graph: those of set i in graph g become group g * k + i.

    Set i is nodes[indptr[i]:indptr[i + 1]], and v is of graph[v].

    Returns:
        Bounds of the groups `[num_graphs * k + 1]`, members group by group in the order they came,
        and the group that speaks to each node for each set, `[n, k]`, -1 for an empty group.
    """
    k = len(indptr) - 1
    bounds = np.zeros(num_graphs * k + 1, dtype=np.int64)
    for i in range(k):
        for entry in range(indptr[i], indptr[i + 1]):
            bounds[graph[nodes[entry]] * k + i + 1] += 1
    for group in range(num_graphs * k):
        bounds[group + 1] += bounds[group]
    place = bounds[:-1].copy()
    members = np.empty(len(nodes), dtype=np.int64)
    for i in range(k):
        for entry in range(indptr[i], indptr[i + 1]):
            group = graph[nodes[entry]] * k + i
            members[place[group]] = nodes[entry]
            place[group] += 1
    nearest = np.empty((len(graph), k), dtype=np.int32)
    for v in range(len(graph)):
        for i in range(k):
            group = graph[v] * k + i
            nearest[v, i] = group if bounds[group + 1] > bounds[group] else -1
    return bounds, members, nearest


@njit(nogil=True, cache=True)
def standardise_groups(
    values: NDArray[np.float64], group: NDArray[Any], num_groups: int, least: float
) -> None:
    """Replace each value by (value - mean) / deviation of its group; a deviation is >= `least`.

    Minus infinity stays and counts for nothing, and so it is for a value of group -1.
    """
    count = np.zeros(num_groups, dtype=np.int64)
    mean = np.zeros(num_groups)
    for j in range(len(values)):
        if group[j] < 0:
            values[j] = -np.inf
        if values[j] > -np.inf:
            count[group[j]] += 1
            mean[group[j]] += values[j]
    for g in range(num_groups):
        count[g] = max(count[g], 1)
        mean[g] /= count[g]
    deviation = np.zeros(num_groups)
    for j in range(len(values)):
        if values[j] > -np.inf:
            values[j] -= mean[group[j]]
            deviation[group[j]] += values[j] * values[j]
    for g in range(num_groups):
        deviation[g] = max(np.sqrt(deviation[g] / count[g]), least)
    for j in range(len(values)):
        if values[j] > -np.inf:
            values[j] /= deviation[group[j]]
