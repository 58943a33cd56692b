"""The whole layer, projection and gate included, as one step of autograd.

On small graphs the kernels take a third of a training step and the rest is the number of steps that
autograd takes; here it takes one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from pgnn.nn.fused import (
    Arrays,
    Inputs,
    as_array,
    as_tensor,
    backward_messages,
    forward_messages,
)


class GateWeights(NamedTuple):
    """Parameters of `pgnn.nn.Gate`."""

    weight: Tensor
    bias: Tensor
    out_weight: Tensor
    out_bias: Tensor


class Fixed(NamedTuple):
    """What the layer reads and does not learn; see `Inputs`."""

    levels: Tensor
    nearest: Tensor
    codes: Tensor
    first_code: int
    paper: bool
    scale: float
    need_z: bool


def fused_layer(
    x: Tensor,
    weight: Tensor,
    bias: Tensor,
    w: Tensor,
    w_bias: Tensor,
    gate: GateWeights | None,
    fixed: Fixed,
) -> tuple[Tensor | None, Tensor]:
    """Return M w + b `[n, k]` (None if not needed) and scaled sums of messages `[n, R]`.

    Args:
        x: Features `[n, d]`.
        weight: W_v and W_u, `[2, R, d]`.
        bias: `[R]`.
        w: `[R]`.
        w_bias: A number tensor.
        gate: None for none: the levels themselves.
        fixed: The rest.
    """
    learned = (x, weight, bias, w, w_bias, *(gate or (None,) * 4))
    z: Tensor | None
    z, h = _FusedLayer.apply(fixed, *learned)  # type: ignore[no-untyped-call]
    return z, h


class _FusedLayer(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, fixed: Fixed, *learned: Any) -> tuple[Tensor | None, Tensor]:
        x, weight, bias, w, w_bias, *gate = learned
        ctx.save_for_backward(*learned)
        ctx.set_materialize_grads(False)
        table, ctx.gate = fixed.levels, None
        if gate[0] is not None:
            ctx.gate = _GateArrays(fixed.levels, GateWeights(*gate))
            table = as_tensor(ctx.gate.table)
        projected = x @ weight.flatten(0, 1).t()  # [n, 2 R]
        inputs = Inputs(
            projected, None, table, bias, w, w_bias, *fixed[1:4], fixed.paper, fixed.scale
        )
        ctx.arrays = Arrays.of(inputs)
        return forward_messages(ctx.arrays, need_z=fixed.need_z)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_z: Tensor | None, grad_h: Tensor | None) -> tuple[Any, ...]:
        if grad_z is None and grad_h is None:
            return (None,) * 10
        x, weight, *_ = ctx.saved_tensors
        grads = backward_messages(ctx.arrays, grad_z, grad_h, gate_needs=ctx.gate is not None)
        grad_projected = as_tensor(grads.own)
        grad_x = grad_weight = None
        if ctx.needs_input_grad[1]:
            grad_x = grad_projected @ weight.flatten(0, 1)
        if ctx.needs_input_grad[2]:
            grad_weight = (grad_projected.t() @ x).view(weight.shape)
        grad_gate: list[Tensor | None] = [None] * 4
        if ctx.gate is not None:
            grad_gate = [as_tensor(grad) for grad in ctx.gate.gradients(grads.gate)]
        rest = (
            None if grad is None else as_tensor(grad)
            for grad in (grads.bias, grads.w, grads.w_bias)
        )
        return None, grad_x, grad_weight, *rest, *grad_gate


class _GateArrays:
    """The gate of each level, and its gradients.

    A table has a dozen rows: compiled loops do in a microsecond what torch does in a hundred.
    """

    def __init__(self, levels: Tensor, gate: GateWeights) -> None:
        from pgnn.nn.kernels.gate import gate_forward

        self.levels = levels.numpy()
        self.weights = tuple(as_array(part) for part in gate)
        size = len(self.levels), len(self.weights[3])
        self.values = np.empty(size, dtype=self.levels.dtype)
        gate_forward(self.levels, *self.weights, self.values)
        self.table = self.values[:, 0] if size[1] == 1 else self.values

    def gradients(self, grad_table: Any) -> tuple[Any, ...]:
        """Return the gradients of the gate's parameters, of that of the table."""
        from pgnn.nn.kernels.gate import gate_backward

        grads = tuple(np.zeros_like(weight) for weight in self.weights)
        gate_backward(self.levels, *self.weights, grad_table.reshape(self.values.shape), *grads)
        return grads
