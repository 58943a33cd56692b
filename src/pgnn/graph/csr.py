"""From edge pairs to sorted rows without repeats, without a loop over edges."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

Repeats = Literal["shortest", "sum"]
"""The weight of an edge that is listed more than once: the smallest, or all added up."""

REPEATS: tuple[Repeats, ...] = get_args(Repeats)


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
    repeats: Repeats = "shortest",
) -> CSR:
    """Sort pairs into rows, without self-loops, each edge once.

    An undirected pair is first turned to (small, large), so that both orientations of an edge count
    as one; the other half of the matrix is added last.

    Args:
        pairs: Node indices, one row per edge.
        weights: One number per edge, or None.
        num_nodes: Number of nodes.
        directed: Whether (u, v) and (v, u) are two edges.
        repeats: What an edge that is listed more than once weighs.
    """
    source, target = pairs[:, 0], pairs[:, 1]
    keep = source != target
    self_loops = len(keep) - int(np.count_nonzero(keep))
    if self_loops:
        source, target = source[keep], target[keep]
        weights = None if weights is None else weights[keep]
    if not directed:
        source, target = np.minimum(source, target), np.maximum(source, target)
    # One 64-bit word per edge sorts by row, then by column, in a single pass of numpy's fast sort.
    bits = max(1, (num_nodes - 1).bit_length())
    words = (source.astype(np.int64) << bits) | target
    words, values, num_repeats = _sorted_distinct(words, weights, repeats)
    counts = np.bincount(words >> bits, minlength=num_nodes)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    indices = (words & ((1 << bits) - 1)).astype(np.int32)
    if not directed:
        data = np.ones(len(indices), dtype=np.int8) if values is None else values
        import scipy.sparse as sp  # takes as long to load as all else of `import pgnn`

        half = sp.csr_array((data, indices, indptr), shape=(num_nodes, num_nodes))
        whole = half + half.T.tocsr()
        indptr, indices = whole.indptr.astype(np.int64), whole.indices.astype(np.int32)
        values = None if values is None else whole.data
    return CSR(indptr, indices, values, self_loops, num_repeats)


def _sorted_distinct(
    words: NDArray[np.int64], weights: NDArray[np.float64] | None, repeats: Repeats
) -> tuple[NDArray[np.int64], NDArray[np.float64] | None, int]:
    """Sort words (and weights with them), keep one of each with the weight that `repeats` says."""
    if weights is None:
        words = np.sort(words)
    else:
        order = np.argsort(words, kind="stable")
        words, weights = words[order], weights[order]
    first = np.ones(len(words), dtype=bool)
    np.not_equal(words[1:], words[:-1], out=first[1:])
    starts = np.flatnonzero(first)
    num_repeats = len(words) - len(starts)
    if num_repeats:
        words = words[starts]
        if weights is not None:
            combine = np.add if repeats == "sum" else np.minimum
            weights = combine.reduceat(weights, starts)
    return words, weights, num_repeats
