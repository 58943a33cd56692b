"""Dot products and distances of node pairs as autograd functions that gather no rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import softplus

from pgnn.nn.threads import run_parts

_NUMBERS_PER_PART = 1 << 18  # a thread for fewer products costs more than it saves
_BUFFER_BYTES = 1 << 28  # at most this much for the threads' own gradients


def pair_dots(z: Tensor, pairs: Tensor) -> Tensor:
    """Return z_u . z_v of each pair, `[m]`, of z `[n, k]` and pairs `[m, 2]`, int64."""
    if not has_kernels(z):
        return (z[pairs[:, 0]] * z[pairs[:, 1]]).sum(-1)
    dots: Tensor = _PairDots.apply(z, pairs)  # type: ignore[no-untyped-call]
    return dots


def pair_distances(z: Tensor, pairs: Tensor) -> Tensor:
    """Return ||z_u - z_v||_2 of each pair, `[m]`; its gradient is 0 where the rows are equal."""
    distances: Tensor
    if has_kernels(z):
        distances = _PairDistances.apply(z, pairs)  # type: ignore[no-untyped-call]
    else:
        distances = torch.linalg.vector_norm(z[pairs[:, 0]] - z[pairs[:, 1]], dim=-1)
    return distances


class Scale(NamedTuple):
    """A learned linear function of numbers: `[]` each."""

    factor: Tensor
    shift: Tensor


def pair_loss(
    z: Tensor,
    pairs: Tensor,
    labels: Tensor,
    weights: Tensor,
    *,
    distances: bool = False,
    scale: Scale | None = None,
) -> Tensor:
    r"""Return the weighted sum of binary cross-entropies of pairs, `[]`, as one step of autograd.

    The logit of a pair is scale.shift + scale.factor * (z_u . z_v), or, with `distances`,
    scale.shift - scale.factor * ||z_u - z_v||_2. This needs float32 or float64 on the CPU; see
    `has_kernels`.

    Args:
        z: Embeddings `[n, k]`.
        pairs: Rows of z, int64 `[m, 2]`.
        labels: 0 or 1, of the type of z, `[m]`.
        weights: Of the type of z, `[m]`.
        distances: Whether logits come from distances, or from dot products.
        scale: By default factor 1 and shift 0.
    """
    fixed = (pairs, labels, weights, distances)
    loss: Tensor = _PairLoss.apply(z, *(scale or (None, None)), fixed)  # type: ignore[no-untyped-call]
    return loss


class _PairLoss(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, z: Tensor, factor: Tensor | None, shift: Tensor | None, fixed: Any
    ) -> Tensor:
        from pgnn.nn.kernels.pairs import distance_pairs, dot_pairs

        pairs, labels, weights, distances = fixed
        numbers = _numbers(distance_pairs if distances else dot_pairs, z, pairs)
        logits = -numbers if distances else numbers
        if factor is not None and shift is not None:
            logits = torch.addcmul(shift, numbers, factor, value=-1 if distances else 1)
        slopes = torch.sigmoid(logits).sub_(labels).mul_(weights)
        ctx.distances, ctx.numbers, ctx.slopes = distances, numbers, slopes
        ctx.save_for_backward(z, factor, shift, pairs)
        return torch.dot(softplus(logits).addcmul_(labels, logits, value=-1), weights)

    @staticmethod
    @once_differentiable
    def backward(
        ctx: Any, grad: Tensor
    ) -> tuple[Tensor | None, Tensor | None, Tensor | None, None]:
        from pgnn.nn.kernels.pairs import add_distance_gradients, add_pair_gradients

        z, factor, _, pairs = ctx.saved_tensors
        slopes = ctx.slopes * grad
        sign = -1 if ctx.distances else 1
        grad_z = grad_factor = grad_shift = None
        if ctx.needs_input_grad[1]:
            grad_factor = torch.dot(slopes, ctx.numbers).mul_(sign)
        if ctx.needs_input_grad[2]:
            grad_shift = slopes.sum()
        if ctx.needs_input_grad[0]:
            if factor is not None:
                slopes = slopes.mul_(factor)
            if ctx.distances:
                slopes = slopes.neg_()
                grad_z = _gradient(add_distance_gradients, z, pairs, ctx.numbers, slopes)
            else:
                grad_z = _gradient(add_pair_gradients, z, pairs, slopes)
        return grad_z, grad_factor, grad_shift, None


def has_kernels(z: Tensor) -> bool:
    """Return whether the compiled kernels take such a tensor."""
    return z.device.type == "cpu" and z.dtype in (torch.float32, torch.float64)


class _PairDots(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z: Tensor, pairs: Tensor) -> Tensor:
        from pgnn.nn.kernels.pairs import dot_pairs

        ctx.save_for_backward(z, pairs)
        return _numbers(dot_pairs, z, pairs)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        from pgnn.nn.kernels.pairs import add_pair_gradients

        z, pairs = ctx.saved_tensors
        return _gradient(add_pair_gradients, z, pairs, grad), None


class _PairDistances(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z: Tensor, pairs: Tensor) -> Tensor:
        from pgnn.nn.kernels.pairs import distance_pairs

        distances = _numbers(distance_pairs, z, pairs)
        ctx.save_for_backward(z, pairs, distances)
        return distances

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        from pgnn.nn.kernels.pairs import add_distance_gradients

        z, pairs, distances = ctx.saved_tensors
        return _gradient(add_distance_gradients, z, pairs, distances, grad), None


def _numbers(kernel: Any, z: Tensor, pairs: Tensor) -> Tensor:
    """Return what a kernel writes for each pair."""
    numbers = z.new_empty(len(pairs))
    arrays = (*_arrays(z, pairs), numbers.numpy())
    bounds = _bounds(z, pairs)
    run_parts(lambda part: kernel(*arrays, *bounds[part : part + 2]), len(bounds) - 1)
    return numbers


def _gradient(kernel: Any, z: Tensor, pairs: Tensor, *by_pair: Tensor) -> Tensor:
    """Return the sum of what a kernel adds for each pair, in parts of their own."""
    arrays = (*_arrays(z, pairs), *(tensor.contiguous().numpy() for tensor in by_pair))
    bounds = _bounds(z, pairs, limit=_BUFFER_BYTES // max(1, z.numel() * z.itemsize))
    sums = np.zeros((len(bounds) - 1, *z.shape), dtype=arrays[0].dtype)
    run_parts(lambda part: kernel(*arrays, sums[part], *bounds[part : part + 2]), len(sums))
    return torch.from_numpy(sums[0] if len(sums) == 1 else sums.sum(0))


def _arrays(z: Tensor, pairs: Tensor) -> tuple[Any, Any]:
    return z.detach().contiguous().numpy(), pairs.contiguous().numpy()


def _bounds(z: Tensor, pairs: Tensor, limit: int | None = None) -> list[int]:
    """Cut the pairs into parts for threads; the parts depend on sizes and thread count alone."""
    parts = min(torch.get_num_threads(), len(pairs) * z.shape[1] // _NUMBERS_PER_PART)
    parts = max(1, parts if limit is None else min(parts, limit))
    return [len(pairs) * part // parts for part in range(parts + 1)]
