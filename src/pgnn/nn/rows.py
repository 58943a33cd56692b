"""Rows of nodes in fixed blocks, which threads and processes share.

Sums over nodes are sums of blocks in a fixed binary tree. Which thread or process did a block does
not matter then, and nor does how many of them there are: gradients are the same, bit for bit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from pgnn.threads import Team

_PAIRS = (1 << 15, 1 << 19, 1 << 23, 1 << 26)  # (node, set) pairs from which blocks are twice
_BUFFER_BYTES = 1 << 30  # at most this much for sums of blocks


class Rows:
    """All rows of some nodes, cut into blocks, and which of them this process has.

    Args:
        num_rows: How many rows there are.
        num_pairs: (node, set) pairs in all: how much work there is.
        sum_bytes: Memory of one block's sums.
        team: The processes that share the rows; None for this one alone.

    Attributes:
        own: The rows of this process, a slice.
        bounds: Where its blocks begin and end, counted from its first row.
        team: The processes that share the rows, None where there are fewer blocks than processes.
    """

    def __init__(
        self, num_rows: int, num_pairs: int, sum_bytes: int, team: Team | None = None
    ) -> None:
        count = 1 << sum(num_pairs >= least for least in _PAIRS)
        while count > 1 and (count * sum_bytes > _BUFFER_BYTES or count > num_rows):
            count //= 2
        self.num_rows, self.num_blocks = num_rows, count
        self.team = team if team is not None and 1 < team.size <= count else None
        size = 1 if self.team is None else self.team.size
        rank = 0 if self.team is None else self.team.rank
        first = [count * r // size for r in range(size + 1)]  # block of each rank
        starts = [num_rows * block // count for block in range(count + 1)]
        self._blocks = list(pairwise(first))
        self._spans = [(starts[a], starts[b]) for a, b in self._blocks]
        own = self._blocks[rank]
        self.own = slice(*self._spans[rank])
        self.bounds = [start - self.own.start for start in starts[own[0] : own[1] + 1]]
        self._first = own[0]

    @property
    def are_all_here(self) -> bool:
        """Whether this process has all rows."""
        return self.team is None

    def gather(self, own: Any, out: Any) -> Any:
        """Write the rows of all processes to `out`, and return it."""
        if self.team is None:
            out[:] = own
            return out
        counts = [stop - start for start, stop in self._spans]
        parts = self.team.gather_known(own, counts)
        for (start, stop), part in zip(self._spans, parts, strict=True):
            out[start:stop] = part
        return out

    def total(self, blocks: Sequence[Any]) -> Any:
        """Return the sum over all blocks, given arrays of this process's blocks, to all."""
        if self.num_blocks == 1:
            return blocks[0]
        sums = self._subtrees(blocks)
        if self.team is None:
            return sums[0]
        counts = [len(_subtrees(*span)) for span in self._blocks]
        return self._join(self.team.gather_known(np.stack(sums), counts))

    def total_rows(self, blocks: Sequence[Any]) -> Any:
        """Return this process's rows of the sum over all blocks, given sums of all rows."""
        if self.num_blocks == 1:
            return blocks[0]
        sums = self._subtrees(blocks)
        if self.team is None:
            return sums[0]
        width = blocks[0].shape[1]
        num_own = self.own.stop - self.own.start
        parts = [
            np.concatenate([each[start:stop].reshape(-1) for each in sums])
            for start, stop in self._spans
        ]
        numbers = [len(_subtrees(*span)) for span in self._blocks]
        counts = [number * num_own * width for number in numbers]
        taken = self.team.exchange_known(parts, counts)
        shaped = [
            part.reshape(number, num_own, width)
            for part, number in zip(taken, numbers, strict=True)
        ]
        return self._join(shaped)

    def _subtrees(self, blocks: Sequence[Any]) -> list[Any]:
        """Return the sums of the largest whole subtrees of this process's blocks."""
        known = {(self._first + i, 1): block for i, block in enumerate(blocks)}
        return [_sum(known, *place) for place in _subtrees(self._first, self._first + len(blocks))]

    def _join(self, by_rank: Sequence[Any]) -> Any:
        """Return the sum of the whole tree, given the subtrees of each process."""
        known = {
            place: part
            for span, parts in zip(self._blocks, by_rank, strict=True)
            for place, part in zip(_subtrees(*span), parts, strict=True)
        }
        return _sum(known, 0, self.num_blocks)


def _subtrees(first: int, stop: int) -> list[tuple[int, int]]:
    """Cut blocks first..stop into the largest subtrees of a binary tree: (first block, size)."""
    places = []
    while first < stop:
        size = first & -first or 1 << (stop - first).bit_length()
        while first + size > stop:
            size //= 2
        places.append((first, size))
        first += size
    return places


def _sum(known: Mapping[tuple[int, int], Any], first: int, size: int) -> Any:
    """Return the sum of a subtree, from the sums of smaller ones."""
    if (first, size) in known:
        return known[first, size]
    half = size // 2
    return _sum(known, first, half) + _sum(known, first + half, half)
