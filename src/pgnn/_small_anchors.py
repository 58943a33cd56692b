"""Anchor-sets of small graphs, or of their disjoint union, decided all at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def draw_at_once(
    generator: np.random.Generator, sizes: NDArray[np.int64], num_sets: int, *, fixed: bool
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return which nodes are in which set, `[num_sets, n]`, and the size class i of each set.

    In each graph, set t takes each node with probability 1/2^i, drawn again while it is empty, or
    exactly size/2^i of them. Graphs of a union have size classes of their own; those of a single
    graph are returned, 0 for a union.
    """
    classes = np.array([max(1, int(size).bit_length() - 1) for size in sizes])
    size_class = 1 + np.arange(num_sets)[:, None] * classes // num_sets  # [k, graphs]
    shown = size_class[:, 0] if len(sizes) == 1 else np.zeros(num_sets, dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    if fixed:
        counts = np.maximum(1, sizes >> size_class)
        return _draw_fixed(generator, sizes, starts, counts), shown
    chance = np.float32(0.5) ** size_class.astype(np.float32)
    chance[:, sizes == 1] = 1
    trials = generator.random((num_sets, int(sizes.sum())), dtype=np.float32)
    limits = chance if len(sizes) == 1 else np.repeat(chance, sizes, axis=1)
    members = np.asarray(trials < limits)
    while True:
        empty = ~np.logical_or.reduceat(members, starts, axis=1)  # [k, graphs]
        if not empty.any():
            return members, shown
        for t, g in zip(*np.nonzero(empty), strict=True):
            nodes = slice(starts[g], starts[g] + sizes[g])
            members[t, nodes] = generator.random(sizes[g], dtype=np.float32) < chance[t, g]


def _draw_fixed(
    generator: np.random.Generator,
    sizes: NDArray[np.int64],
    starts: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Take exactly counts[t, g] nodes of graph g for set t: those with the smallest random keys."""
    keys = generator.random((len(counts), int(sizes.sum())))
    members = np.empty(keys.shape, dtype=bool)
    for g, (start, size) in enumerate(zip(starts, sizes, strict=True)):
        mine = keys[:, start : start + size]
        for count in np.unique(counts[:, g]):
            rows = np.flatnonzero(counts[:, g] == count)  # neighbours: classes ascend
            block = mine[rows[0] : rows[-1] + 1]
            largest = np.partition(block, count - 1, axis=1)[:, count - 1, None]
            members[rows[0] : rows[-1] + 1, start : start + size] = block <= largest
    return members
