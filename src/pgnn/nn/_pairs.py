"""Dot products of node pairs as one autograd function that gathers no rows on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from pgnn.nn._threads import run_parts

_NUMBERS_A_PART = 1 << 18  # a thread for fewer products costs more than it saves
_BUFFER_BYTES = 1 << 28  # at most this much for the threads' own gradients


def pair_dots(z: Tensor, pairs: Tensor) -> Tensor:
    """Return z_u . z_v of each pair, `[m]`, of z `[n, k]` and pairs `[m, 2]`, int64."""
    if z.device.type != "cpu" or z.dtype not in (torch.float32, torch.float64):
        return (z[pairs[:, 0]] * z[pairs[:, 1]]).sum(-1)
    dots: Tensor = _PairDots.apply(z, pairs)  # type: ignore[no-untyped-call]
    return dots


class _PairDots(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z: Tensor, pairs: Tensor) -> Tensor:
        from pgnn.nn._pair_kernels import dot_pairs

        ctx.save_for_backward(z, pairs)
        dots = z.new_empty(len(pairs))
        arrays = (*_arrays(z, pairs), dots.numpy())
        bounds = _bounds(z, pairs)
        run_parts(lambda part: dot_pairs(*arrays, *bounds[part : part + 2]), len(bounds) - 1)
        return dots

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        from pgnn.nn._pair_kernels import add_pair_gradients

        z, pairs = ctx.saved_tensors
        arrays = (*_arrays(z, pairs), grad.contiguous().numpy())
        bounds = _bounds(z, pairs, limit=_BUFFER_BYTES // max(1, z.numel() * z.itemsize))
        sums = np.zeros((len(bounds) - 1, *z.shape), dtype=arrays[0].dtype)

        def add(part: int) -> None:
            add_pair_gradients(*arrays, sums[part], *bounds[part : part + 2])

        run_parts(add, len(sums))
        return torch.from_numpy(sums[0] if len(sums) == 1 else sums.sum(0)), None


def _arrays(z: Tensor, pairs: Tensor) -> tuple[Any, Any]:
    return z.detach().contiguous().numpy(), pairs.contiguous().numpy()


def _bounds(z: Tensor, pairs: Tensor, limit: int | None = None) -> list[int]:
    """Cut the pairs into parts for threads; the parts depend on sizes and thread count alone."""
    parts = min(torch.get_num_threads(), len(pairs) * z.shape[1] // _NUMBERS_A_PART)
    parts = max(1, parts if limit is None else min(parts, limit))
    return [len(pairs) * part // parts for part in range(parts + 1)]
