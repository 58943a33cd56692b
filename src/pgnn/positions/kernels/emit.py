"""From the keys of a block of sets to its columns of hops and nearest anchors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from pgnn.positions.kernels.rows import emit_ranked_row, emit_row


@njit(nogil=True, cache=True)
def emit_block(
    key: Any,
    places: Any,
    first: int,
    lanes: int,
    shift: int,
    cap: int,
    hops: Any,
    nearest: Any,
) -> None:
    """Write a block's keys to its columns of both outputs, -1 where nothing was reached.

    Node v has its keys in row places[v]. Outputs are written in order.
    """
    bound = key.dtype.type((cap + 1) << shift)
    whole = lanes == key.shape[1]
    last_hops = np.empty((1, key.shape[1]), dtype=hops.dtype)  # a row of the last, partial block
    last_nearest = np.empty((1, key.shape[1]), dtype=nearest.dtype)
    for v in range(key.shape[0]):
        row = np.int64(places[v])
        if whole:
            emit_row(key, row, shift, bound, hops, nearest, v, first)
        else:
            emit_row(key, row, shift, bound, last_hops, last_nearest, 0, 0)
            for lane in range(lanes):
                hops[v, first + lane] = last_hops[0, lane]
                nearest[v, first + lane] = last_nearest[0, lane]


@njit(nogil=True, cache=True)
def emit_ranked(
    key: Any,
    set_ptr: Any,
    set_nodes: Any,
    first: int,
    lanes: int,
    shift: int,
    cap: int,
    hops: Any,
    nearest: Any,
) -> None:
    """Do as `emit_block` does for keys that hold ranks: look the anchors up in their sets."""
    bound = key.dtype.type((cap + 1) << shift)
    whole = lanes == key.shape[1]
    start = set_ptr[first]
    offsets = np.zeros(key.shape[1], dtype=np.uint32)
    for lane in range(lanes):
        offsets[lane] = set_ptr[first + lane] - start
    last_hops = np.empty((1, key.shape[1]), dtype=hops.dtype)
    last_nearest = np.empty((1, key.shape[1]), dtype=nearest.dtype)
    for v in range(key.shape[0]):
        if whole:
            emit_ranked_row(
                key, v, shift, bound, hops, nearest, v, first, set_nodes, start, offsets
            )
        else:
            emit_ranked_row(
                key, v, shift, bound, last_hops, last_nearest, 0, 0, set_nodes, start, offsets
            )
            for lane in range(lanes):
                hops[v, first + lane] = last_hops[0, lane]
                nearest[v, first + lane] = last_nearest[0, lane]
