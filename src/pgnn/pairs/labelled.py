"""The pairs of nodes with equal labels and those with different ones, by number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgnn.pairs.codes import Codes, Pairs, low_high, unordered_pairs


@dataclass(frozen=True, eq=False)
class LabelledPairs:
    """The unordered pairs of nodes with the same label, and those with different labels.

    Both kinds are numbered 0, 1, 2, ..., so that some of them can be drawn without listing all.
    Nodes are lined up class by class. A pair of different labels is a node and one that stands
    before the node's class: class c, of `size[c]` nodes from place `start[c]` on, has
    `size[c] * start[c]` such pairs.

    Example:
        >>> pairs = LabelledPairs.of(np.array([0, 1, 0]))
        >>> pairs.same(np.arange(pairs.num_same)).tolist()
        [[0, 2]]
        >>> pairs.different(np.arange(pairs.num_different)).tolist()
        [[0, 1], [1, 2]]
    """

    line: NDArray[np.int64]
    start: NDArray[np.int64]
    size: NDArray[np.int64]

    @classmethod
    def of(cls, labels: NDArray[np.int64], known: NDArray[np.bool_] | None = None) -> LabelledPairs:
        """Line up the nodes of a graph; those whose label is not known are in no pair."""
        nodes = np.arange(len(labels)) if known is None else np.flatnonzero(known)
        _, size = np.unique(labels[nodes], return_counts=True)
        line = nodes[np.argsort(labels[nodes], kind="stable")]
        return cls(line, np.cumsum(size) - size, size)

    @property
    def num_same(self) -> int:
        """How many pairs have the same label."""
        return int((self.size * (self.size - 1) // 2).sum())

    @property
    def num_different(self) -> int:
        """How many pairs have different labels."""
        return int((self.size * self.start).sum())

    def same(self, numbers: Codes) -> Pairs:
        """Return the pairs (smaller node, larger node) of these numbers, of the same label."""
        group, within = _locate(numbers, self.size * (self.size - 1) // 2)
        return low_high(self.line[unordered_pairs(within) + self.start[group, None]])

    def different(self, numbers: Codes) -> Pairs:
        """Return the pairs (smaller node, larger node) of these numbers, of different labels."""
        group, within = _locate(numbers, self.size * self.start)
        offset, before = np.divmod(within, self.start[group])
        return low_high(self.line[np.stack([before, self.start[group] + offset], axis=1)])


def _locate(numbers: Codes, sizes: NDArray[np.int64]) -> tuple[NDArray[np.intp], Codes]:
    """Return in which of consecutive groups of these sizes each number lies, and where in it."""
    ends = np.cumsum(sizes)
    group = np.searchsorted(ends, numbers, side="right")
    return group, numbers - (ends - sizes)[group]
