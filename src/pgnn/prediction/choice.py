"""Choosing among pairs that several searches found: each pair once, the best ranks first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pgnn.pairs.codes import Codes, edge_codes, is_among


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


class Taken:
    """Pairs taken so far, and how more are added."""

    def __init__(self, num_nodes: int, generator: np.random.Generator) -> None:
        self.codes: Codes = np.empty(0, dtype=np.int64)
        self._num_nodes = num_nodes
        self._generator = generator

    def add(self, found: Ranked, limit: int) -> bool:
        """Take the best of what sources found, up to `limit` in all; whether that was all.

        A pair that both of its nodes found counts by the better rank.
        """
        ends = np.stack([found.source, found.target], axis=1)
        codes = edge_codes(ends, self._num_nodes, directed=False)
        order = np.lexsort((found.rank, codes))
        codes, ranks = codes[order], found.rank[order]
        first = np.flatnonzero(np.diff(codes, prepend=-1))
        return self._add(codes[first], ranks[first], limit) and found.whole

    def add_codes(self, codes: Codes, limit: int) -> bool:
        """Take different pairs, or as many of them as fit, at random; whether that was all."""
        return self._add(codes, np.zeros(len(codes), dtype=np.int64), limit)

    def _add(self, codes: Codes, ranks: NDArray[np.int64], limit: int) -> bool:
        fresh = ~is_among(codes, self.codes)
        codes, ranks = codes[fresh], ranks[fresh]
        room = max(0, limit - len(self.codes))
        whole = len(codes) <= room
        if not whole:
            last = np.partition(ranks, room)[room]  # the rank of which not all fit
            before, equal = np.flatnonzero(ranks < last), np.flatnonzero(ranks == last)
            drawn = self._generator.permutation(equal)[: room - len(before)]
            codes = codes[np.concatenate([before, drawn])]
        self.codes = np.sort(np.concatenate([self.codes, codes]))
        return whole
