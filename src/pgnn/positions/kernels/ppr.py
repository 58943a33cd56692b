"""The compiled step of the PageRank iteration. Imported when first used: numba is slow to load."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(nogil=True, cache=True)
def advance(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    transition: NDArray[np.float64],
    source: NDArray[np.float64],
    current: NDArray[np.float64],
    previous: NDArray[np.float64],
    omega: float,
) -> float:
    """Overwrite x_(t-1) with x_(t+1) and return how far x_t was from solving x = G x + c.

    With G = `transition` (a number for each entry of `indices`), c = `source`, x_t = `current` and
    x_(t-1) = `previous`, both `[num_nodes, width]`, the three-term step is

        x_(t+1) = x_(t-1) + omega * (G x_t + c - x_(t-1)),

    and max |G x_t + c - x_t| is returned. Row v of x_(t+1) needs only row v of x_(t-1), so two
    buffers suffice. With one buffer in both places and omega = 1 this is a sweep of Gauss and
    Seidel, and the largest change is returned.
    """
    num_nodes, width = current.shape
    landed = np.empty(width)
    largest = 0.0
    for v in range(num_nodes):
        for j in range(width):
            landed[j] = source[v, j]
        for entry in range(indptr[v], indptr[v + 1]):
            u = indices[entry]
            probability = transition[entry]
            for j in range(width):
                landed[j] += probability * current[u, j]
        for j in range(width):
            largest = max(largest, abs(landed[j] - current[v, j]))
            previous[v, j] += omega * (landed[j] - previous[v, j])
    return largest
