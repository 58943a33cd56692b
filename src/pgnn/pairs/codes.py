"""Pairs of nodes as integers: checked, coded, decoded and looked up.

The code of a pair is a whole number. All pairs of n different nodes have the codes 0, 1, 2, ...
without a gap: unordered pairs up to n (n - 1) / 2 - 1, ordered ones up to n (n - 1) - 1. So a set
of pairs is a sorted array of int64, to look a pair up is a binary search, and to draw pairs that
are not edges is to draw numbers that are not taken (see `pgnn.pairs.negatives`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pgnn.errors import Parameter, PGNNError

Pairs = NDArray[np.int64]
Codes = NDArray[np.int64]

NUM_FOLDS = 8
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio: it scatters codes


def as_pairs(pairs: ArrayLike, num_nodes: int | None = None) -> Pairs:
    """Return pairs of node indices, int64 `[m, 2]`.

    Args:
        pairs: Integer pairs; there may be none.
        num_nodes: If it is set, every index must be below it and at least 0.

    Raises:
        PGNNError: If they are not such pairs.

    Example:
        >>> as_pairs([(0, 1), (2, 0)], num_nodes=3).shape
        (2, 2)
    """
    name = Parameter("pairs")
    try:
        array: NDArray[Any] = np.asarray(pairs)
    except (TypeError, ValueError, RuntimeError) as error:
        raise PGNNError(
            name, f" must be integer node indices of shape [num_pairs, 2] ({error})"
        ) from error
    if array.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or not np.issubdtype(array.dtype, np.integer):
        raise PGNNError(
            name,
            " must be integer node indices of shape [num_pairs, 2] "
            f"(got {array.dtype} of shape {list(array.shape)})",
        )
    if num_nodes is not None and (array.min() < 0 or array.max() >= num_nodes):
        bad = int(np.flatnonzero(((array < 0) | (array >= num_nodes)).any(axis=1))[0])
        raise PGNNError(
            name,
            f"[{bad}] is ({array[bad, 0]}, {array[bad, 1]}), but node indices must lie in "
            f"0..{num_nodes - 1}",
        )
    return array.astype(np.int64)


def low_high(pairs: NDArray[np.integer[Any]]) -> Pairs:
    """Return each pair as (smaller node, larger node)."""
    first, second = pairs.astype(np.int64).T
    return np.stack([np.minimum(first, second), np.maximum(first, second)], axis=1)


def unordered_codes(pairs: Pairs) -> Codes:
    """Return the codes of pairs of different nodes, the same for (u, v) and (v, u).

    The code of u < v is v (v - 1) / 2 + u, so it does not depend on the number of nodes.

    Example:
        >>> unordered_codes(np.array([(0, 1), (0, 2), (2, 1), (3, 0)])).tolist()
        [0, 1, 2, 3]
    """
    low, high = np.minimum(*pairs.T), np.maximum(*pairs.T)
    return np.asarray(high * (high - 1) // 2 + low)


def unordered_pairs(codes: Codes) -> Pairs:
    """Return the pairs (smaller node, larger node) of these codes."""
    high = ((1 + np.sqrt(1 + 8 * codes.astype(np.float64))) / 2).astype(np.int64)
    # The root is rounded, so the larger node may be one too high or one too low.
    high -= high * (high - 1) // 2 > codes
    high += high * (high + 1) // 2 <= codes
    return np.stack([codes - high * (high - 1) // 2, high], axis=1)


def ordered_codes(pairs: Pairs, num_nodes: int) -> Codes:
    """Return the codes of pairs of different nodes, another one for (u, v) than for (v, u).

    Codes grow with u, and for one u with v: sorted codes are sorted pairs.

    Example:
        >>> ordered_codes(np.array([(0, 1), (0, 2), (1, 0), (2, 1)]), num_nodes=3).tolist()
        [0, 1, 2, 5]
    """
    source, target = pairs[:, 0], pairs[:, 1]
    return np.asarray(source * (num_nodes - 1) + target - (target > source))


def ordered_pairs(codes: Codes, num_nodes: int) -> Pairs:
    """Return the pairs of these codes."""
    source, target = np.divmod(codes, max(1, num_nodes - 1))
    return np.stack([source, target + (target >= source)], axis=1)


def edge_codes(edges: NDArray[np.integer[Any]], num_nodes: int, *, directed: bool) -> Codes:
    """Return one code per edge, to compare graphs on the same nodes; self-loops have none.

    Args:
        edges: Pairs of different nodes, as `Graph.edges` gives them.
        num_nodes: Number of nodes of all graphs that are compared.
        directed: Whether (u, v) and (v, u) are two edges. If not, both have the same code.

    Example:
        >>> edge_codes(np.array([(0, 2), (2, 0)]), 3, directed=False).tolist()
        [1, 1]
    """
    pairs = edges.astype(np.int64) if directed else low_high(edges)
    return ordered_codes(pairs, num_nodes)


def sorted_distinct(codes: Codes) -> Codes:
    """Return each code once, sorted (`np.unique` hashes, which is slower for many numbers)."""
    codes = np.sort(codes)
    return codes[np.flatnonzero(np.diff(codes, prepend=-1))]


def is_among(codes: Codes, members: Codes) -> NDArray[np.bool_]:
    """Return whether each code is one of the members, which are sorted.

    Example:
        >>> is_among(np.array([5, 1]), members=np.array([0, 1, 4])).tolist()
        [False, True]
    """
    if not len(members):
        return np.zeros(len(codes), dtype=bool)
    places = np.minimum(np.searchsorted(members, codes), len(members) - 1)
    return np.asarray(members[places] == codes)


def fold_of_pairs(pairs: Pairs) -> NDArray[np.int64]:
    """Return one of 8 folds for each pair, the same for (u, v) and (v, u), `[m]`.

    What cannot leave out one edge exactly leaves out those of the pair's fold. A pair that is not
    joined has a fold as well, so that it is described like one that is.

    Example:
        >>> folds = fold_of_pairs(np.array([(0, 1), (1, 0), (2, 1)]))
        >>> bool(folds[0] == folds[1]), bool((folds < NUM_FOLDS).all())
        (True, True)
    """
    mixed = unordered_codes(pairs).astype(np.uint64) * _MULTIPLIER  # wraps around
    return ((mixed >> np.uint64(40)) % np.uint64(NUM_FOLDS)).astype(np.int64)
