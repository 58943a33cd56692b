"""Anchor-sets of small graphs, or of their disjoint union, decided all at once."""

from __future__ import annotations

import itertools
from functools import lru_cache
from typing import NamedTuple

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
    plan = _plan(tuple(sizes.tolist()), num_sets)
    if fixed:
        return _draw_fixed(generator, plan), plan.shown
    trials = generator.random(plan.shape, dtype=np.float32)
    limits = plan.chance if len(sizes) == 1 else np.repeat(plan.chance, sizes, axis=1)
    members = np.asarray(trials < limits)
    while True:
        empty = ~np.logical_or.reduceat(members, plan.starts, axis=1)  # [k, graphs]
        if not empty.any():
            return members, plan.shown
        for t, g in zip(*np.nonzero(empty), strict=True):
            nodes = slice(plan.starts[g], plan.starts[g] + sizes[g])
            members[t, nodes] = generator.random(sizes[g], dtype=np.float32) < plan.chance[t, g]


class _Plan(NamedTuple):
    """What is the same in every draw.

    Attributes:
        shape: Number of sets and of nodes.
        starts: First node of each graph.
        shown: Size class of each set, 0 for a union.
        chance: Of a node of a graph to be in a set, float32 `[k, graphs]`.
        runs: Sets in a row that take equally many nodes of a graph: which sets, which nodes are the
            graph's, how many they take.
    """

    shape: tuple[int, int]
    starts: NDArray[np.int64]
    shown: NDArray[np.int64]
    chance: NDArray[np.float32]
    runs: list[tuple[slice, slice, int]]


@lru_cache(maxsize=64)
def _plan(sizes: tuple[int, ...], num_sets: int) -> _Plan:
    classes = np.array([max(1, size.bit_length() - 1) for size in sizes])
    size_class = 1 + np.arange(num_sets)[:, None] * classes // num_sets  # [k, graphs]
    shown = size_class[:, 0] if len(sizes) == 1 else np.zeros(num_sets, dtype=np.int64)
    starts = np.cumsum([0, *sizes])
    chance = np.float32(0.5) ** size_class.astype(np.float32)
    chance[:, np.array(sizes) == 1] = 1
    runs = []
    for g, size in enumerate(sizes):
        nodes = slice(int(starts[g]), int(starts[g + 1]))
        counts = np.maximum(1, size >> size_class[:, g])
        cuts = [0, *np.flatnonzero(np.diff(counts)) + 1, num_sets]  # neighbours: classes ascend
        runs += [
            (slice(int(first), int(last)), nodes, int(counts[first]))
            for first, last in itertools.pairwise(cuts)
        ]
    return _Plan((num_sets, int(starts[-1])), starts[:-1], shown, chance, runs)


def _draw_fixed(generator: np.random.Generator, plan: _Plan) -> NDArray[np.bool_]:
    """Take so many nodes of each graph for each set: those with the smallest random keys."""
    keys = generator.random(plan.shape)
    members = np.empty(plan.shape, dtype=bool)
    for sets, nodes, count in plan.runs:
        block = keys[sets, nodes]
        largest = np.partition(block, count - 1)[:, count - 1, None]
        np.less_equal(block, largest, out=members[sets, nodes])
    return members
