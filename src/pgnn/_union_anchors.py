"""Anchor-sets of many small graphs at once, for their disjoint union."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def draw_union(
    generator: np.random.Generator, sizes: NDArray[np.int64], num_sets: int, *, fixed: bool
) -> NDArray[np.bool_]:
    """Return which nodes of a union are in which set, `[num_sets, n]`.

    In each graph, set t takes nodes as `sample_anchor_sets(size, num_sets=num_sets)` would: with
    probability 1/2^i, drawn again while empty, or exactly size/2^i of them.
    """
    classes = np.array([max(1, int(size).bit_length() - 1) for size in sizes])
    size_class = 1 + np.arange(num_sets)[:, None] * classes // num_sets  # [k, graphs]
    graph = np.repeat(np.arange(len(sizes)), sizes)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    if fixed:
        counts = np.maximum(1, sizes >> size_class)
        keys = generator.random((num_sets, len(graph))) + graph
        rank = np.empty(keys.shape, dtype=np.int64)
        np.put_along_axis(rank, np.argsort(keys, axis=1), np.arange(len(graph))[None], axis=1)
        return np.asarray((rank - starts[graph]) < counts[:, graph])
    chance = np.float32(0.5) ** size_class.astype(np.float32)
    chance[:, sizes == 1] = 1
    trials = generator.random((num_sets, len(graph)), dtype=np.float32)
    members = np.asarray(trials < chance[:, graph])
    while True:
        empty = ~np.logical_or.reduceat(members, starts, axis=1)  # [k, graphs]
        if not empty.any():
            return members
        for t, g in zip(*np.nonzero(empty), strict=True):
            nodes = slice(starts[g], starts[g] + sizes[g])
            members[t, nodes] = generator.random(sizes[g], dtype=np.float32) < chance[t, g]
