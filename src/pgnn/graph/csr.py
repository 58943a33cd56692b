"""From edge pairs to sorted rows without repeats, without a loop over edges."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class CSR(NamedTuple):
    """Sorted rows, and how many of the source's edges are not in them."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.float64] | None
    self_loops: int
    repeats: int


def build_csr(
    pairs: NDArray[np.integer[Any]],
    weights: NDArray[np.float64] | None,
    num_nodes: int,
    directed: bool,
) -> CSR:
    """Sort pairs into rows, dropping self-loops and repeats (the smallest weight stays).

    An undirected pair is first turned to (small, large), so that both orientations of an edge count
    as one; the other half of the matrix is added last.
    """
    source, target = pairs[:, 0], pairs[:, 1]
    keep = source != target
    self_loops = len(keep) - int(np.count_nonzero(keep))
    if self_loops:
        source, target = source[keep], target[keep]
        weights = None if weights is None else weights[keep]
    if not directed:
        source, target = np.minimum(source, target), np.maximum(source, target)
    # One 64-bit word an edge sorts by row, then by column, in a single pass of numpy's fast sort.
    bits = max(1, (num_nodes - 1).bit_length())
    words = (source.astype(np.int64) << bits) | target
    words, values, repeats = _sorted_distinct(words, weights)
    counts = np.bincount(words >> bits, minlength=num_nodes)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    indices = (words & ((1 << bits) - 1)).astype(np.int32)
    if not directed:
        data = np.ones(len(indices), dtype=np.int8) if values is None else values
        import scipy.sparse as sp  # takes as long to load as all else of `pgnn --help`

        half = sp.csr_array((data, indices, indptr), shape=(num_nodes, num_nodes))
        whole = half + half.T.tocsr()
        indptr, indices = whole.indptr.astype(np.int64), whole.indices.astype(np.int32)
        values = None if values is None else whole.data
    return CSR(indptr, indices, values, self_loops, repeats)


def _sorted_distinct(
    words: NDArray[np.int64], weights: NDArray[np.float64] | None
) -> tuple[NDArray[np.int64], NDArray[np.float64] | None, int]:
    """Sort words (and weights with them), keep one of each with its smallest weight."""
    if weights is None:
        words = np.sort(words)
    else:
        order = np.argsort(words, kind="stable")
        words, weights = words[order], weights[order]
    first = np.ones(len(words), dtype=bool)
    np.not_equal(words[1:], words[:-1], out=first[1:])
    starts = np.flatnonzero(first)
    repeats = len(words) - len(starts)
    if repeats:
        words = words[starts]
        weights = None if weights is None else np.minimum.reduceat(weights, starts)
    return words, weights, repeats
