"""Choosing among pairs that several searches found: each pair once, the best ranks first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.int64]


class Rows(NamedTuple):
    """Neighbours of every node along edges in either direction."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]


class Ranked(NamedTuple):
    """Nodes that sources found, each source's best first.

    Attributes:
        source: The node that found, int64 `[m]`.
        target: The node that it found, int32 `[m]`.
        rank: 0 for the best that the source found, 1 for the next, `[m]`.
        whole: Whether the sources list all that there is.
    """

    source: NDArray[np.int64]
    target: NDArray[np.int32]
    rank: NDArray[np.int64]
    whole: bool


def pair_keys(u: NDArray[np.int64], v: NDArray[np.int64], num_nodes: int) -> Keys:
    """Return pairs as numbers: (u, v) as u * num_nodes + v, where u < v."""
    return np.asarray(np.minimum(u, v) * num_nodes + np.maximum(u, v))


def key_pairs(keys: Keys, num_nodes: int) -> NDArray[np.int64]:
    """Return the pairs (small, large) of these numbers."""
    return np.stack(np.divmod(keys, num_nodes), axis=1)


class Taken:
    """Pairs taken so far, and how more are added."""

    def __init__(self, num_nodes: int, generator: np.random.Generator) -> None:
        self.keys: Keys = np.empty(0, dtype=np.int64)
        self._num_nodes = num_nodes
        self._generator = generator

    def add(self, found: Ranked, limit: int) -> bool:
        """Take the best of what sources found, up to `limit` in all; whether that was all.

        A pair that both of its nodes found counts by the better rank.
        """
        keys = pair_keys(found.source, found.target.astype(np.int64), self._num_nodes)
        order = np.lexsort((found.rank, keys))
        keys, ranks = keys[order], found.rank[order]
        first = np.flatnonzero(np.diff(keys, prepend=-1))
        return self._add(keys[first], ranks[first], limit) and found.whole

    def add_keys(self, keys: Keys, limit: int) -> bool:
        """Take different pairs, or as many of them as fit, at random; whether that was all."""
        return self._add(keys, np.zeros(len(keys), dtype=np.int64), limit)

    def _add(self, keys: Keys, ranks: NDArray[np.int64], limit: int) -> bool:
        if len(self.keys):
            place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
            fresh = self.keys[place] != keys
            keys, ranks = keys[fresh], ranks[fresh]
        room = max(0, limit - len(self.keys))
        whole = len(keys) <= room
        if not whole:
            last = np.partition(ranks, room)[room]  # the rank of which not all fit
            before, equal = np.flatnonzero(ranks < last), np.flatnonzero(ranks == last)
            drawn = self._generator.permutation(equal)[: room - len(before)]
            keys = keys[np.concatenate([before, drawn])]
        self.keys = np.sort(np.concatenate([self.keys, keys]))
        return whole
