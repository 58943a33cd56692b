"""Functions of each row of a large tensor, some rows at a time while memory is limited."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from pgnn.memory import rows_at_once


def by_rows(function: Callable[[Tensor], Tensor], z: Tensor) -> Tensor:
    """Return function(z), `[n, k]`, of a function without parameters that takes each row alone.

    While a limit is kept (`pgnn.memory_limit`), the result is an array of numpy, and the backward
    pass computes rows again. The numbers are the same.

    Example:
        >>> by_rows(torch.relu, torch.tensor([[-1.0, 2.0]]))
        tensor([[0., 2.]])
    """
    rows = rows_at_once(len(z), 4 * z.shape[1] * z.itemsize)
    if rows >= len(z) or z.device.type != "cpu":
        return function(z)
    result: Tensor = _ByRows.apply(function, z, rows)  # type: ignore[no-untyped-call]
    return result


def of_length_one(z: Tensor) -> Tensor:
    """Return rows scaled to length 1.

    Example:
        >>> of_length_one(torch.tensor([[3.0, 4.0]]))
        tensor([[0.6000, 0.8000]])
    """
    return by_rows(_normalize, z)


def _normalize(z: Tensor) -> Tensor:
    return torch.nn.functional.normalize(z, dim=-1)


class _ByRows(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, function: Callable[[Tensor], Tensor], z: Tensor, rows: int) -> Tensor:
        ctx.function, ctx.num_at_once = function, rows
        ctx.save_for_backward(z)
        result = torch.from_numpy(np.empty(z.shape, dtype=z.detach().numpy().dtype))
        for part, source in zip(torch.split(result, rows), torch.split(z, rows), strict=True):
            part.copy_(function(source))
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor, None]:
        (z,) = ctx.saved_tensors
        result = torch.from_numpy(np.empty(z.shape, dtype=z.detach().numpy().dtype))
        pieces = (torch.split(tensor, ctx.num_at_once) for tensor in (result, z, grad))
        for part, source, outer in zip(*pieces, strict=True):
            with torch.enable_grad():
                leaf = source.detach().requires_grad_()
                value = ctx.function(leaf)
            part.copy_(torch.autograd.grad(value, leaf, outer)[0])
        return None, result, None
