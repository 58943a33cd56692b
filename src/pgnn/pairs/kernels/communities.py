"""The compiled loop of `pgnn.pairs.similarity` that divides a graph into groups by annealing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def anneal_groups(
    rows: Any,
    order: Any,
    uniforms: Any,
    temperatures: Any,
    resolution: float,
    num_groups: int,
    groups: Any,
) -> None:
    """Let nodes change group again and again, ever more rarely for the worse.

    In each sweep every node v is given a group anew: group c with a chance proportional to
    exp(gain_c / temperature), where

        gain_c = strength of edges from v into c - resolution * s_v s_c / s,

    with s_v the strength of v, s_c that of all other nodes of c, and s that of all nodes. Up to a
    factor this is what modularity gains when v joins c.

    Args:
        rows: (indptr, indices, strengths of the stored edges, strengths of the nodes).
        order: The order in which a sweep visits the nodes, `[n]`.
        uniforms: Numbers between 0 and 1 that choose the groups, `[sweeps, n]`.
        temperatures: One per sweep, `[sweeps]`.
        resolution: A larger one gives smaller groups.
        num_groups: How many groups there are; some may end up empty.
        groups: The group of each node at the start; it is overwritten by that at the end, `[n]`.
    """
    indptr, indices, weights, strength = rows
    mass, chance = np.zeros(num_groups), np.zeros(num_groups)
    total = 0.0
    for v in range(len(strength)):
        mass[groups[v]] += strength[v]
        total += strength[v]
    for sweep in range(len(temperatures)):
        for v in order:
            if strength[v] == 0:
                continue
            mass[groups[v]] -= strength[v]
            pull = resolution * strength[v] / total
            for c in range(num_groups):
                chance[c] = -pull * mass[c]
            for entry in range(indptr[v], indptr[v + 1]):
                chance[groups[indices[entry]]] += weights[entry]
            best = chance.max()
            for c in range(num_groups):
                chance[c] = np.exp((chance[c] - best) / temperatures[sweep])
            target = uniforms[sweep, v] * chance.sum()
            c, reached = 0, chance[0]
            while reached < target and c < num_groups - 1:
                c += 1
                reached += chance[c]
            groups[v] = c
            mass[c] += strength[v]
