"""Rows scaled to length 1, and the gradient of that."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

_LEAST = 1e-12  # as in torch.nn.functional.normalize: shorter rows are divided by this


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def scale_rows(z: Any, lengths: Any, start: int, stop: int) -> None:
    """Divide the rows start..stop of z by their lengths, and write the lengths."""
    for v in range(start, stop):
        row = z[v]
        total = z.dtype.type(0)
        for i in range(len(row)):
            total += row[i] * row[i]
        lengths[v] = max(np.sqrt(total), z.dtype.type(_LEAST))
        factor = 1 / lengths[v]
        for i in range(len(row)):
            row[i] *= factor


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def unscale_gradient(z: Any, lengths: Any, grad: Any, out: Any, start: int, stop: int) -> None:
    """Write the gradient of rows, given those of the same rows z of length 1.

    out_v = (grad_v - z_v (z_v . grad_v)) / length_v; a row that is too short is divided by a
    constant, whose gradient is none.
    """
    for v in range(start, stop):
        z_v, grad_v, out_v = z[v], grad[v], out[v]
        along = z.dtype.type(0)
        if lengths[v] > z.dtype.type(_LEAST):
            for i in range(len(z_v)):
                along += z_v[i] * grad_v[i]
        factor = 1 / lengths[v]
        for i in range(len(z_v)):
            out_v[i] = (grad_v[i] - z_v[i] * along) * factor
