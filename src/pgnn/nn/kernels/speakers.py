"""Means of rows over groups, and their gradients. Group g is nodes[bounds[g] : bounds[g + 1]]."""

from __future__ import annotations

from typing import Any

from numba import njit


@njit(nogil=True, cache=True)
def mean_rows(x: Any, bounds: Any, nodes: Any, out: Any) -> None:
    """Write out[g], the mean of the rows x[u] of the members u of group g; 0 if it has none."""
    for g in range(len(bounds) - 1):
        row = out[g]
        row[:] = 0
        for entry in range(bounds[g], bounds[g + 1]):
            x_u = x[nodes[entry]]
            for c in range(len(row)):
                row[c] += x_u[c]
        scale = x.dtype.type(1 / max(bounds[g + 1] - bounds[g], 1))
        for c in range(len(row)):
            row[c] *= scale


@njit(nogil=True, cache=True)
def mean_rows_backward(grad: Any, bounds: Any, nodes: Any, grad_x: Any) -> None:
    """Add to grad_x[u] the gradient of each mean that u is part of, by its share in it."""
    for g in range(len(bounds) - 1):
        scale = grad.dtype.type(1 / max(bounds[g + 1] - bounds[g], 1))
        grad_g = grad[g]
        for entry in range(bounds[g], bounds[g + 1]):
            row = grad_x[nodes[entry]]
            for c in range(len(row)):
                row[c] += scale * grad_g[c]
