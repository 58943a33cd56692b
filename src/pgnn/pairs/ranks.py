"""Pairs of nodes, checked, counted, ranked and drawn without listing all of them.

Every kind of pair has ranks: 0, 1, ..., number of such pairs - 1. To draw pairs that are not edges
is then to draw ranks and to step over those that are taken; no draw is rejected, so that a graph
with three non-edges left costs no more than a sparse one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pgnn.errors import PGNNError

Ranks = NDArray[np.int64]
Pairs = NDArray[np.int64]


def as_pairs(pairs: ArrayLike, num_nodes: int | None = None) -> Pairs:
    """Return pairs of node indices, int64 `[m, 2]`."""
    array: NDArray[Any] = np.asarray(pairs)
    if array.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or not np.issubdtype(array.dtype, np.integer):
        raise PGNNError(
            "pairs must be integer node indices of shape [num_pairs, 2] "
            f"(got {array.dtype} of shape {list(array.shape)})"
        )
    if num_nodes is not None and (array.min() < 0 or array.max() >= num_nodes):
        bad = int(np.flatnonzero(((array < 0) | (array >= num_nodes)).any(axis=1))[0])
        raise PGNNError(
            f"pairs[{bad}] is ({array[bad, 0]}, {array[bad, 1]}), but node indices must lie in "
            f"0..{num_nodes - 1}"
        )
    return array.astype(np.int64)


def unordered_ranks(pairs: Pairs) -> Ranks:
    """Rank pairs of different nodes, both orientations alike, in 0 .. n (n - 1) / 2 - 1.

    Example:
        >>> unordered_ranks(np.array([(0, 1), (0, 2), (2, 1), (3, 0)])).tolist()
        [0, 1, 2, 3]
    """
    low, high = np.minimum(*pairs.T), np.maximum(*pairs.T)
    return np.asarray(high * (high - 1) // 2 + low)


def unordered_pairs(ranks: Ranks) -> Pairs:
    """Return the pairs (small, large) of these ranks."""
    high = ((1 + np.sqrt(1 + 8 * ranks.astype(np.float64))) / 2).astype(np.int64)
    # The root is rounded, so that the large node may be one too high or one too low.
    high -= high * (high - 1) // 2 > ranks
    high += high * (high + 1) // 2 <= ranks
    return np.stack([ranks - high * (high - 1) // 2, high], axis=1)


def ordered_ranks(pairs: Pairs, num_nodes: int) -> Ranks:
    """Rank pairs of different nodes, each orientation its own, in 0 .. n (n - 1) - 1."""
    source, target = pairs[:, 0], pairs[:, 1]
    return np.asarray(source * (num_nodes - 1) + target - (target > source))


def ordered_pairs(ranks: Ranks, num_nodes: int) -> Pairs:
    """Return the pairs of these ranks."""
    source, target = np.divmod(ranks, max(1, num_nodes - 1))
    return np.stack([source, target + (target >= source)], axis=1)


def sorted_distinct(ranks: Ranks) -> Ranks:
    """Return each number once, sorted (`np.unique` hashes, which is slower for many numbers)."""
    ranks = np.sort(ranks)
    return ranks[np.flatnonzero(np.diff(ranks, prepend=-1))]


def step_over(places: Ranks, taken: Ranks) -> Ranks:
    """Return the numbers that stand at these places when the `taken` ones (sorted) are left out.

    Before the j-th free number stand as many taken ones as have at most j free ones before them,
    and before the i-th taken one stand taken[i] - i free ones.

    Example:
        >>> step_over(np.array([0, 1, 2]), taken=np.array([1, 2, 4])).tolist()
        [0, 3, 5]
    """
    free_before = taken - np.arange(len(taken))
    return np.asarray(places + np.searchsorted(free_before, places, side="right"))


def draw_distinct(generator: np.random.Generator, count: int, population: int) -> Ranks:
    """Draw `count` different numbers below `population`, every choice and order equally likely."""
    if population <= 4 * count:
        return generator.permutation(population)[:count]
    drawn: Ranks = np.empty(0, dtype=np.int64)
    while len(drawn) < count:
        more = generator.integers(population, size=count - len(drawn) + 16)
        drawn = sorted_distinct(np.concatenate([drawn, more]))
    # Which numbers came out does not depend on their size; which of them to drop must not either.
    return generator.permutation(drawn)[:count]


def draw_non_edges(
    generator: np.random.Generator, joined: Ranks, num_nodes: int, count: int
) -> Pairs:
    """Draw different unordered pairs that are not joined, in both orientations.

    Args:
        generator: Source of randomness.
        joined: Sorted distinct `unordered_ranks` of all joined pairs.
        num_nodes: Number of nodes.
        count: How many to draw.

    Returns:
        Pairs (small, large), in random order.

    Raises:
        PGNNError: If there are fewer.
    """
    free = num_nodes * (num_nodes - 1) // 2 - len(joined)
    if count > free:
        raise PGNNError(
            f"the graph is too dense: {count} negative pairs are needed, one for each positive, "
            f"but only {free} pairs of its {num_nodes} nodes are not joined by an edge; leave out "
            "some edges first (build the graph from a sample of graph.edges())"
        )
    return unordered_pairs(step_over(draw_distinct(generator, count, free), joined))


def draw_not_stored(
    generator: np.random.Generator, stored: Pairs, num_nodes: int, count: int
) -> Pairs:
    """Draw ordered pairs, with repeats, that do not stand in `stored` in that very orientation.

    This is how the released code draws negatives: the reverse of a stored pair may come out.
    """
    taken = np.sort(ordered_ranks(stored, num_nodes))
    free = num_nodes * (num_nodes - 1) - len(taken)
    if count and not free:
        raise PGNNError(
            f"{count} negative pairs are needed, but every ordered pair of the {num_nodes} nodes "
            "is positive; leave out some edges first"
        )
    places = generator.integers(max(1, free), size=count)
    return ordered_pairs(step_over(places, taken), num_nodes)


@dataclass(frozen=True, eq=False)
class LabelledPairs:
    """The unordered pairs of nodes with the same label, and those with different labels, by rank.

    Nodes are lined up class by class. A pair of different labels is a node and one that stands
    before the node's class; class c of `size[c]` nodes from place `start[c]` has size * start such.
    """

    line: NDArray[np.int64]
    start: NDArray[np.int64]
    size: NDArray[np.int64]

    @classmethod
    def of(cls, labels: NDArray[np.int64]) -> LabelledPairs:
        """Line up the nodes of a graph."""
        _, size = np.unique(labels, return_counts=True)
        return cls(np.argsort(labels, kind="stable"), np.cumsum(size) - size, size)

    @property
    def num_same(self) -> int:
        """How many pairs have the same label."""
        return int((self.size * (self.size - 1) // 2).sum())

    @property
    def num_different(self) -> int:
        """How many pairs have different labels."""
        return int((self.size * self.start).sum())

    def same(self, ranks: Ranks) -> Pairs:
        """Return the pairs (small, large) of these ranks among those with the same label."""
        group, within = _locate(ranks, self.size * (self.size - 1) // 2)
        return self._nodes(unordered_pairs(within) + self.start[group, None])

    def different(self, ranks: Ranks) -> Pairs:
        """Return the pairs (small, large) of these ranks among those with different labels."""
        group, within = _locate(ranks, self.size * self.start)
        offset, before = np.divmod(within, self.start[group])
        return self._nodes(np.stack([before, self.start[group] + offset], axis=1))

    def _nodes(self, places: Pairs) -> Pairs:
        first, second = self.line[places].T
        return np.stack([np.minimum(first, second), np.maximum(first, second)], axis=1)


def _locate(ranks: Ranks, counts: NDArray[np.int64]) -> tuple[NDArray[np.intp], Ranks]:
    """Return in which of consecutive groups of these sizes each rank lies, and where in it."""
    ends = np.cumsum(counts)
    group = np.searchsorted(ends, ranks, side="right")
    return group, ranks - (ends - counts)[group]
