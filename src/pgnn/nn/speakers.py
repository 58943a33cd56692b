"""What speaks for a whole set: the mean of its members' features, as an autograd function."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from pgnn.nn.fused import as_array, as_tensor
from pgnn.nn.pairs import has_kernels


def mean_of_groups(x: Tensor, bounds: Tensor, nodes: Tensor) -> Tensor:
    """Return the mean of x over each group of nodes, `[groups, d]`; 0 for a group without any.

    On the CPU it is compiled: the gradient of torch's `embedding_bag` sorts all members first,
    which takes ten times as long as to add them.

    Args:
        x: Features `[n, d]`.
        bounds: Group g is nodes[bounds[g] : bounds[g + 1]]; int64 `[groups + 1]`.
        nodes: Rows of x, checked, int64.
    """
    if not has_kernels(x):
        return nn.functional.embedding_bag(nodes, x, bounds[:-1], mode="mean")
    means: Tensor = _Means.apply(x, bounds, nodes)  # type: ignore[no-untyped-call]
    return means


class _Means(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, bounds: Tensor, nodes: Tensor) -> Tensor:
        from pgnn.nn.kernels.speakers import mean_rows

        ctx.save_for_backward(bounds, nodes)
        ctx.num_rows = len(x)
        array = as_array(x)
        out = np.empty((len(bounds) - 1, array.shape[1]), dtype=array.dtype)
        mean_rows(array, as_array(bounds), as_array(nodes), out)
        return as_tensor(out)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        from pgnn.nn.kernels.speakers import mean_rows_backward

        bounds, nodes = (as_array(tensor) for tensor in ctx.saved_tensors)
        rows = as_array(grad)
        grad_x = np.zeros((ctx.num_rows, rows.shape[1]), dtype=rows.dtype)
        mean_rows_backward(rows, bounds, nodes, grad_x)
        return as_tensor(grad_x), None, None
