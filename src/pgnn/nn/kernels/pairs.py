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


@njit(nogil=True, cache=True)
def list_pairs_of_rows(pairs: Any, num_rows: int) -> Any:
    """List the ends of pairs by row: bounds `[num_rows + 1]`, and 2 j + end, in the order of j."""
    bounds = np.zeros(num_rows + 1, dtype=np.int64)
    for j in range(len(pairs)):
        bounds[pairs[j, 0] + 1] += 1
        bounds[pairs[j, 1] + 1] += 1
    for row in range(num_rows):
        bounds[row + 1] += bounds[row]
    places = bounds[:-1].copy()
    ends = np.empty(2 * len(pairs), dtype=np.int64)
    for j in range(len(pairs)):
        for end in range(2):
            row = pairs[j, end]
            ends[places[row]] = 2 * j + end
            places[row] += 1
    return bounds, ends


@njit(nogil=True, cache=True)
def sum_pair_gradients(
    z: Any, pairs: Any, grad: Any, lists: Any, grad_z: Any, start: int, stop: int
) -> None:
    """Add the gradient of the dot products of all pairs to the rows start..stop of grad_z."""
    bounds, ends = lists
    for row in range(start, stop):
        for place in range(bounds[row], bounds[row + 1]):
            j, end = ends[place] >> 1, ends[place] & 1
            g, other = grad[j], pairs[j, 1 - end]
            for i in range(z.shape[1]):
                grad_z[row, i] += g * z[other, i]


@njit(nogil=True, cache=True)
def sum_distance_gradients(
    z: Any, pairs: Any, distances: Any, grad: Any, lists: Any, grad_z: Any, start: int, stop: int
) -> None:
    """Add the gradient of the distances of all pairs to the rows start..stop of grad_z."""
    bounds, ends = lists
    for row in range(start, stop):
        for place in range(bounds[row], bounds[row + 1]):
            j, end = ends[place] >> 1, ends[place] & 1
            if distances[j] == 0:
                continue
            g, other = grad[j] / distances[j], pairs[j, 1 - end]
            for i in range(z.shape[1]):
                grad_z[row, i] += g * (z[row, i] - z[other, i])


@njit(nogil=True, cache=True)
def ordered_dot(a: Any, b: Any) -> float:
    """Return a . b in double precision, added from the first to the last."""
    total = 0.0
    for i in range(len(a)):
        total += float(a[i]) * float(b[i])
    return total
