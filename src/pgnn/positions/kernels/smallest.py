"""Which keys of a row are its smallest: how sets of a fixed size are drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

_BUCKETS = 256


@njit(nogil=True, cache=True)
def mark_smallest(
    keys: NDArray[np.float64],
    starts: NDArray[np.int64],
    counts: NDArray[np.int64],
    marked: NDArray[np.bool_],
) -> None:
    """Mark the counts[t, g] smallest of the keys [t, starts[g] : starts[g + 1]].

    Keys lie in 0..1, without 1. They are counted in buckets, and only the bucket that holds the
    largest key to be marked is looked into. Equal keys are marked together.
    """
    for t in range(len(keys)):
        for g in range(len(starts) - 1):
            row = keys[t, starts[g] : starts[g + 1]]
            largest = _order_statistic(row, counts[t, g])
            for v in range(len(row)):
                marked[t, starts[g] + v] = row[v] <= largest


@njit(nogil=True, cache=True)
def _order_statistic(row: Any, rank: int) -> float:
    """Return the key of a rank, counted from 1."""
    sizes = np.zeros(_BUCKETS, dtype=np.int64)
    for key in row:
        sizes[int(key * _BUCKETS)] += 1
    bucket = 0
    while rank > sizes[bucket]:
        rank -= sizes[bucket]
        bucket += 1
    inside = np.empty(sizes[bucket])
    taken = 0
    for key in row:
        if int(key * _BUCKETS) == bucket:
            place = taken
            while place > 0 and inside[place - 1] > key:
                inside[place] = inside[place - 1]
                place -= 1
            inside[place] = key
            taken += 1
    smallest: float = inside[rank - 1]
    return smallest
