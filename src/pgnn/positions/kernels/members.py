"""Means over the members of sets of numbers between all nodes. Imported when first used."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

_BLOCK = 1024  # nodes whose sums stay in the first cache while rows of members are added


@njit(nogil=True, cache=True)
def mean_over_members(
    kept: Any, starts: Any, indptr: Any, nodes: Any, chunk: Any, result: Any
) -> None:
    """Write result[v, i], the mean over members u of set i in the graph of v of kept (u, v).

    Graph g has the nodes starts[g] to starts[g + 1], and `kept` has graph after graph, each as a
    square matrix with one row per u. Set i is nodes[indptr[i] : indptr[i + 1]], ascending. A set
    without a member in a graph has the mean 0 there.

    Args:
        kept: Numbers between all nodes of each graph, flat.
        starts: First node of each graph, and the end.
        indptr, nodes: The sets.
        chunk: Sums of float32, of `_BLOCK` nodes.
        result: `[n, k]`.
    """
    num_sets = len(indptr) - 1
    first, last = indptr[:-1].copy(), indptr[:-1].copy()
    base = 0
    for g in range(len(starts) - 1):
        start, size = starts[g], starts[g + 1] - starts[g]
        matrix = kept[base : base + size * size].reshape((size, size))
        base += size * size
        for i in range(num_sets):
            first[i] = last[i]
            while last[i] < indptr[i + 1] and nodes[last[i]] < start + size:
                last[i] += 1
        for low in range(0, size, _BLOCK):
            width = min(_BLOCK, size - low)
            total = chunk[:width]
            for i in range(num_sets):
                total[:] = 0
                entry = first[i]
                while entry + 4 <= last[i]:  # four rows at a time: sums are read and written less
                    a = matrix[nodes[entry] - start, low : low + width]
                    b = matrix[nodes[entry + 1] - start, low : low + width]
                    c = matrix[nodes[entry + 2] - start, low : low + width]
                    d = matrix[nodes[entry + 3] - start, low : low + width]
                    for j in range(width):
                        total[j] += (a[j] + b[j]) + (c[j] + d[j])
                    entry += 4
                while entry < last[i]:
                    a = matrix[nodes[entry] - start, low : low + width]
                    for j in range(width):
                        total[j] += a[j]
                    entry += 1
                scale = np.float32(1 / max(last[i] - first[i], 1))
                for j in range(width):
                    result[start + low + j, i] = total[j] * scale


def block_of_sums() -> Any:
    """Return the memory that `mean_over_members` adds in."""
    return np.empty(_BLOCK, dtype=np.float32)
