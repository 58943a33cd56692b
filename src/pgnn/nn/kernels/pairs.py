"""Dot products and distances of rows of one matrix, pair by pair, without gathering the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def dot_pairs(z: Any, pairs: Any, out: Any, start: int, stop: int) -> None:
    """Write out[j] = z[pairs[j, 0]] . z[pairs[j, 1]] for j in start..stop."""
    for j in range(start, stop):
        a, b = z[pairs[j, 0]], z[pairs[j, 1]]
        total = z.dtype.type(0)
        for i in range(z.shape[1]):
            total += a[i] * b[i]
        out[j] = total


@njit(nogil=True, cache=True)
def add_pair_gradients(z: Any, pairs: Any, grad: Any, grad_z: Any, start: int, stop: int) -> None:
    """Add the gradient of the dot products of the pairs start..stop to grad_z."""
    for j in range(start, stop):
        u, v = pairs[j, 0], pairs[j, 1]
        g = grad[j]
        for i in range(z.shape[1]):
            z_u, z_v = z[u, i], z[v, i]
            grad_z[u, i] += g * z_v
            grad_z[v, i] += g * z_u


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def distance_pairs(z: Any, pairs: Any, out: Any, start: int, stop: int) -> None:
    """Write out[j] = the Euclidean distance of rows pairs[j] for j in start..stop."""
    for j in range(start, stop):
        a, b = z[pairs[j, 0]], z[pairs[j, 1]]
        total = z.dtype.type(0)
        for i in range(z.shape[1]):
            total += (a[i] - b[i]) * (a[i] - b[i])
        out[j] = np.sqrt(total)


@njit(nogil=True, cache=True)
def add_distance_gradients(
    z: Any, pairs: Any, distances: Any, grad: Any, grad_z: Any, start: int, stop: int
) -> None:
    """Add the gradient of the distances of the pairs start..stop to grad_z; 0 for equal rows."""
    for j in range(start, stop):
        if distances[j] == 0:
            continue
        u, v = pairs[j, 0], pairs[j, 1]
        g = grad[j] / distances[j]
        for i in range(z.shape[1]):
            change = g * (z[u, i] - z[v, i])
            grad_z[u, i] += change
            grad_z[v, i] -= change
