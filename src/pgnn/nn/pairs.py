"""Dot products and distances of node pairs as autograd functions that gather no rows."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import softplus

from pgnn.nn.rows import Rows
from pgnn.nn.threads import run_parts
from pgnn.threads import current_team

_NUMBERS_PER_PART = 1 << 18  # a thread for fewer products costs more than it saves
_MOST_PARTS = 64
# torch's sigmoid and softplus of more numbers would be cut for threads, and the ends of each part
# are rounded in another way.
_ELEMENTS = 1 << 14


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
        slopes, losses = torch.empty_like(numbers), torch.empty_like(numbers)
        for start in range(0, len(numbers), _ELEMENTS):
            span = slice(start, start + _ELEMENTS)
            logits = -numbers[span] if distances else numbers[span]
            if factor is not None and shift is not None:
                logits = shift + factor * logits
            torch.sigmoid(logits, out=slopes[span])
            torch.sub(softplus(logits), labels[span] * logits, out=losses[span])
        slopes.sub_(labels).mul_(weights)
        ctx.distances, ctx.numbers, ctx.slopes = distances, numbers, slopes
        ctx.rows = _needed_rows(z)
        ctx.save_for_backward(z, factor, shift, pairs)
        return _dot(losses, weights)

    @staticmethod
    @once_differentiable
    def backward(
        ctx: Any, grad: Tensor
    ) -> tuple[Tensor | None, Tensor | None, Tensor | None, None]:
        z, factor, _, pairs = ctx.saved_tensors
        slopes = ctx.slopes * grad
        sign = -1 if ctx.distances else 1
        grad_z = grad_factor = grad_shift = None
        if ctx.needs_input_grad[1]:
            grad_factor = _dot(slopes, ctx.numbers).mul_(sign)
        if ctx.needs_input_grad[2]:
            grad_shift = _dot(slopes, torch.ones_like(slopes))
        if ctx.needs_input_grad[0]:
            if factor is not None:
                slopes = slopes.mul_(factor)
            if ctx.distances:
                slopes = slopes.neg_()
                grad_z = _gradient(True, ctx.rows, z, pairs, ctx.numbers, slopes)
            else:
                grad_z = _gradient(False, ctx.rows, z, pairs, slopes)
        return grad_z, grad_factor, grad_shift, None


def has_kernels(z: Tensor) -> bool:
    """Return whether the compiled kernels take such a tensor."""
    return z.device.type == "cpu" and z.dtype in (torch.float32, torch.float64)


class _PairDots(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z: Tensor, pairs: Tensor) -> Tensor:
        from pgnn.nn.kernels.pairs import dot_pairs

        ctx.save_for_backward(z, pairs)
        ctx.rows = _needed_rows(z)
        return _numbers(dot_pairs, z, pairs)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        z, pairs = ctx.saved_tensors
        return _gradient(False, ctx.rows, z, pairs, grad), None


class _PairDistances(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z: Tensor, pairs: Tensor) -> Tensor:
        from pgnn.nn.kernels.pairs import distance_pairs

        distances = _numbers(distance_pairs, z, pairs)
        ctx.save_for_backward(z, pairs, distances)
        ctx.rows = _needed_rows(z)
        return distances

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        z, pairs, distances = ctx.saved_tensors
        return _gradient(True, ctx.rows, z, pairs, distances, grad), None


def _needed_rows(z: Tensor) -> slice | None:
    """Return the rows whose gradient is needed: where processes share them, this process's own."""
    rows: Rows | None = getattr(z.grad_fn, "rows", None)  # see `fused_model`, which made z
    return None if rows is None or rows.are_all_here else rows.own


def _numbers(kernel: Any, z: Tensor, pairs: Tensor) -> Tensor:
    """Return what a kernel writes for each pair; processes that work together share the pairs."""
    numbers = z.new_empty(len(pairs))
    arrays = (*_arrays(z, pairs), numbers.numpy())
    parts = _num_parts(z, pairs)
    bounds = [len(pairs) * part // parts for part in range(parts + 1)]
    team = current_team()
    if team is None or team.size == 1 or parts < team.size:
        run_parts(lambda part: kernel(*arrays, *bounds[part : part + 2]), parts)
        return numbers
    shares = [bounds[parts * rank // team.size] for rank in range(team.size + 1)]
    own = [bound for bound in bounds if shares[team.rank] <= bound <= shares[team.rank + 1]]
    run_parts(lambda part: kernel(*arrays, *own[part : part + 2]), len(own) - 1)
    counts = [stop - start for start, stop in pairwise(shares)]
    mine = arrays[-1][slice(*shares[team.rank : team.rank + 2])]
    return torch.from_numpy(np.concatenate(team.gather_known(mine, counts)))


def _gradient(
    distances: bool, rows: slice | None, z: Tensor, pairs: Tensor, *by_pair: Tensor
) -> Tensor:
    """Return the gradient of z, summed over pairs in their order; of other rows than these 0."""
    from pgnn.nn.kernels.pairs import (
        add_distance_gradients,
        add_pair_gradients,
        list_pairs_of_rows,
        sum_distance_gradients,
        sum_pair_gradients,
    )

    arrays = (*_arrays(z, pairs), *(tensor.contiguous().numpy() for tensor in by_pair))
    gradient = np.zeros(z.shape, dtype=arrays[0].dtype)
    parts = _num_parts(z, pairs)
    if rows is None and (parts < 2 or torch.get_num_threads() == 1):
        add = add_distance_gradients if distances else add_pair_gradients
        add(*arrays, gradient, 0, len(pairs))
        return torch.from_numpy(gradient)
    # Row by row each number is the same sum in the same order, whoever computes it.
    lists = list_pairs_of_rows(arrays[1], len(z))
    start, stop = (0, len(z)) if rows is None else (rows.start, rows.stop)
    spread = np.linspace(lists[0][start], lists[0][stop], parts + 1)
    bounds = np.searchsorted(lists[0], spread).clip(start, stop)
    bounds[0], bounds[-1] = start, stop
    add_rows = sum_distance_gradients if distances else sum_pair_gradients
    run_parts(lambda part: add_rows(*arrays, lists, gradient, *bounds[part : part + 2]), parts)
    return torch.from_numpy(gradient)


def _dot(a: Tensor, b: Tensor) -> Tensor:
    """Return a . b, added in one order: torch's depends on the number of threads."""
    from pgnn.nn.kernels.pairs import ordered_dot

    return torch.tensor(ordered_dot(a.numpy(), b.numpy()), dtype=a.dtype)


def _num_parts(z: Tensor, pairs: Tensor) -> int:
    """Return into how many parts pairs are cut; it depends on sizes alone."""
    return max(1, min(_MOST_PARTS, len(pairs) * z.shape[1] // _NUMBERS_PER_PART))


def _arrays(z: Tensor, pairs: Tensor) -> tuple[Any, Any]:
    return z.detach().contiguous().numpy(), pairs.contiguous().numpy()
