"""Sums over neighbours: of their rows, or of rows weighted by attention, forward and backward.

The neighbours of node v are indices[indptr[v] : indptr[v + 1]].
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def sum_rows(
    indptr: Any, indices: Any, own: Any, other: Any, x: Any, out: Any, start: int, stop: int
) -> None:
    """Write out[v] = own[v] * (sum over neighbours u of other[u] * x[u]) for v in start..stop."""
    for v in range(start, stop):
        row = out[v]
        row[:] = 0
        for entry in range(indptr[v], indptr[v + 1]):
            u = indices[entry]
            factor, x_u = other[u], x[u]
            for c in range(len(row)):
                row[c] += factor * x_u[c]
        for c in range(len(row)):
            row[c] *= own[v]


@njit(nogil=True, cache=True)
def attend(
    indptr: Any,
    indices: Any,
    own: Any,
    other: Any,
    slope: Any,
    x: Any,
    out: Any,
    tops: Any,
    totals: Any,
    start: int,
    stop: int,
) -> None:
    """Write out[v] = sum over neighbours u of a_vu x[u] for v in start..stop.

    a_vu is the softmax over u of e_vu = LeakyReLU(own[v] + other[u]), and tops[v], totals[v] are
    the largest e_vu, and the sum of exp(e_vu - tops[v]). A node needs at least one neighbour.
    """
    for v in range(start, stop):
        top = -np.inf
        for entry in range(indptr[v], indptr[v + 1]):
            top = max(top, _leaky(own[v] + other[indices[entry]], slope))
        row = out[v]
        row[:] = 0
        total = own.dtype.type(0)
        for entry in range(indptr[v], indptr[v + 1]):
            u = indices[entry]
            share = np.exp(_leaky(own[v] + other[u], slope) - own.dtype.type(top))
            total += share
            x_u = x[u]
            for c in range(len(row)):
                row[c] += share * x_u[c]
        for c in range(len(row)):
            row[c] /= total
        tops[v], totals[v] = top, total


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def attend_backward(
    indptr: Any,
    indices: Any,
    own: Any,
    other: Any,
    slope: Any,
    x: Any,
    out: Any,
    tops: Any,
    totals: Any,
    grad: Any,
    grad_own: Any,
    grad_other: Any,
    grad_x: Any,
    start: int,
    stop: int,
) -> None:
    """Write grad_own of the nodes start..stop, and add their part to grad_other and grad_x."""
    for v in range(start, stop):
        grad_v = grad[v]
        # The sum over u of a_vu (grad . x_u) is grad . out_v, since out_v is the sum of a_vu x_u.
        along = own.dtype.type(0)
        for c in range(len(grad_v)):
            along += grad_v[c] * out[v, c]
        grad_own_v = own.dtype.type(0)
        for entry in range(indptr[v], indptr[v + 1]):
            u = indices[entry]
            before = own[v] + other[u]
            share = np.exp(_leaky(before, slope) - tops[v]) / totals[v]
            x_u, grad_u = x[u], grad_x[u]
            toward = own.dtype.type(0)
            for c in range(len(grad_v)):
                toward += grad_v[c] * x_u[c]
                grad_u[c] += share * grad_v[c]
            grad_before = share * (toward - along)
            if before <= 0:
                grad_before *= slope
            grad_own_v += grad_before
            grad_other[u] += grad_before
        grad_own[v] = grad_own_v


@njit(nogil=True, cache=True)
def _leaky(number: Any, slope: Any) -> Any:
    return number if number > 0 else number * slope
