"""The layer on the CPU as one step of autograd, on compiled kernels; see `kernels.rows`.

`fused_layer` does all of it: projection, gate and messages. `fused_model` does layer after layer,
and what is between them. On small graphs the kernels take a third of a training step; the rest
grows with the number of autograd's steps, and here it is one. `fused_messages` does the messages
alone, for gates and projections that torch has computed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from pgnn.nn.rows import Rows
from pgnn.nn.threads import run_parts
from pgnn.threads import Team, current_team

_VECTOR_BYTES = 128
_PAIRS_PER_THREAD = 1 << 14  # a thread for fewer (node, set) pairs costs more than it saves


# ---------------------------------------------------------------------- messages


class Inputs(NamedTuple):
    """What the kernels read; R is a whole number of vectors, see `padded_channels`.

    Attributes:
        own: W_v h_v, `[n, R]`; with W_u h_u beside it, `[n, 2 R]`, if `anchor` is None.
        anchor: W_u h of the rows that `nearest` names, `[m, R]`.
        gate: Table `[codes]` or `[codes, R]`, or the gate of each pair `[n, k]` if `codes` is None.
        bias: `[R]`.
        w: `[R]`.
        w_bias: A tensor of one number, `[]`.
        nearest: Rows of `anchor`, int32 `[n, k]`, -1 for none.
        codes: Integers `[n, k]`; code c means entry c - first_code of the table.
        first_code: The code of the table's first entry.
        paper: Whether the message has the paper's form, or the released one.
        scale: What the sum of messages is multiplied with.
    """

    own: Tensor
    anchor: Tensor | None
    gate: Tensor
    bias: Tensor
    w: Tensor
    w_bias: Tensor
    nearest: Tensor
    codes: Tensor | None
    first_code: int
    paper: bool
    scale: float


class Arrays(NamedTuple):
    """The arguments that both kernels begin with, and whether rows of own and anchor are joined.

    Where processes share the rows, `own` is of this process's nodes, `anchor` of all nodes.
    """

    kernel: tuple[Any, ...]
    joined: bool
    rows: Rows

    @classmethod
    def of(cls, inputs: Inputs, rows: Rows | None = None) -> Arrays:
        """Share the memory of tensors; slicing arrays is far cheaper than slicing tensors."""
        own = as_array(inputs.own)
        width = own.shape[1]
        if inputs.anchor is None:
            width //= 2
            joined = own
            own, anchor = own[:, :width], own[:, width:]
            if rows is not None and not rows.are_all_here:
                every = np.empty((rows.num_rows, joined.shape[1]), dtype=joined.dtype)
                anchor = rows.gather(anchor, every[:, width:])
        else:
            anchor = as_array(inputs.anchor)
        gate = as_array(inputs.gate)
        number = own.dtype.type
        kernel = (
            own,
            anchor,
            as_array(inputs.nearest),
            gate if inputs.codes is None else as_array(inputs.codes),
            inputs.first_code,
            gate,
            True if inputs.paper else None,
            as_array(inputs.bias),
            as_array(inputs.w),
            number(inputs.w_bias.item()),
            number(inputs.scale),
            np.zeros(width, dtype=own.dtype),
        )
        if rows is None:
            rows = rows_of(inputs.nearest, anchor.size * anchor.itemsize)
        return cls(kernel, inputs.anchor is None, rows)


class Gradients(NamedTuple):
    """The gradients of `Inputs`; None where it is not needed."""

    own: Any
    anchor: Any
    gate: Any
    bias: Any
    w: Any
    w_bias: Any


def padded_channels(channels: int, dtype: torch.dtype) -> int:
    """Return the number of channels rounded up to whole vectors."""
    lanes = _VECTOR_BYTES // dtype.itemsize
    return -(-channels // lanes) * lanes


def fused_messages(inputs: Inputs, *, need_z: bool = True) -> tuple[Tensor | None, Tensor]:
    """Return M w + b `[n, k]` (None if not needed) and scaled sums of messages `[n, R]`."""
    z: Tensor | None
    z, h = _FusedMessages.apply(*inputs, need_z)  # type: ignore[no-untyped-call]
    return z, h


class _FusedMessages(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *args: Any) -> tuple[Tensor | None, Tensor]:
        inputs = Inputs(*args[:-1])
        ctx.save_for_backward(*inputs[:-3])
        ctx.arrays = Arrays.of(inputs)
        ctx.set_materialize_grads(False)
        return forward_messages(ctx.arrays, need_z=args[-1])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_z: Tensor | None, grad_h: Tensor | None) -> tuple[Any, ...]:
        if grad_z is None and grad_h is None:
            return (None,) * 12
        _ = ctx.saved_tensors  # raises if one was changed in place since
        grads = backward_messages(ctx.arrays, grad_z, grad_h, gate_needs=ctx.needs_input_grad[2])
        return *(None if grad is None else as_tensor(grad) for grad in grads), *(None,) * 6


def forward_messages(arrays: Arrays, *, need_z: bool) -> tuple[Tensor | None, Tensor]:
    """Do what `fused_messages` does, outside of autograd."""
    from pgnn.nn.kernels.rows import forward_rows

    own, nearest = arrays.kernel[0], arrays.kernel[2]
    z = np.empty(nearest.shape, dtype=own.dtype) if need_z else None
    h = np.empty(own.shape, dtype=own.dtype)

    def rows(_part: int, start: int, stop: int) -> None:
        forward_rows(*arrays.kernel, z, h, start, stop)

    _on_threads(rows, len(own), _num_threads(nearest))
    return None if z is None else torch.from_numpy(z), torch.from_numpy(h)


def backward_messages(
    arrays: Arrays, grad_z: Tensor | None, grad_h: Tensor | None, *, gate_needs: bool
) -> Gradients:
    """Return the gradients, as arrays."""
    from pgnn.nn.kernels.rows import backward_rows

    own, anchor, _, codes, _, gate = arrays.kernel[:6]
    (n, width), num_anchors = own.shape, len(anchor)
    by_pair = codes is gate  # one gate per pair, and each pair belongs to one part only
    num_codes = len(gate) if gate_needs and not by_pair else 0
    codes_row = num_anchors + 1
    num_rows = codes_row + num_codes + 3
    bounds = arrays.rows.bounds
    parts = len(bounds) - 1
    # Each block adds to rows of its own: no atomics, and the same every time. The rows are those of
    # anchors, one more for absent anchors, then of codes, bias and w; the last begins with w_bias.
    sums = np.zeros((parts, num_rows, width), dtype=own.dtype)
    grad_own = np.empty((n, 2 * width if arrays.joined else width), dtype=own.dtype)
    grad_gate = np.zeros_like(gate) if gate_needs and by_pair else None
    grad_outputs = (None if grad is None else as_array(grad) for grad in (grad_z, grad_h))
    arguments = (*arrays.kernel, *grad_outputs, grad_own[:, :width])

    def block(part: int) -> None:
        mine = sums[part]
        mine[-1, 0] = backward_rows(
            *arguments,
            mine[:codes_row],
            mine[codes_row:-3] if num_codes else grad_gate,
            mine[-3],
            mine[-2],
            bounds[part],
            bounds[part + 1],
        )

    run_parts(block, parts)
    of_anchors = arrays.rows.total_rows([each[:num_anchors] for each in sums])
    others = arrays.rows.total([each[num_anchors:] for each in sums])
    if arrays.joined:
        grad_own[:, width:] = of_anchors
    if num_codes:
        grad_gate = others[1:-3]
        grad_gate = grad_gate.sum(1) if gate.ndim == 1 else grad_gate
    return Gradients(
        grad_own,
        None if arrays.joined else of_anchors,
        grad_gate,
        others[-3],
        None if grad_z is None else others[-2],
        None if grad_z is None else others[-1, :1].reshape(()),
    )


def rows_of(nearest: Tensor, sum_bytes: int, team: Team | None = None) -> Rows:
    """Return how rows of positions `[n, k]` are cut into blocks, and shared by a team."""
    return Rows(len(nearest), nearest.numel(), sum_bytes, team)


# ---------------------------------------------------------------------- the whole layer


class GateWeights(NamedTuple):
    """Parameters of `pgnn.nn.Gate`."""

    weight: Tensor
    bias: Tensor
    out_weight: Tensor
    out_bias: Tensor


class LayerWeights(NamedTuple):
    """Parameters of a layer.

    Attributes:
        weight: W_v and W_u, `[2, R, d]`.
        bias: `[R]`.
        w: `[R]`.
        w_bias: A tensor of one number, `[]`.
        gate: None if the proximity itself is the gate.
    """

    weight: Tensor
    bias: Tensor
    w: Tensor
    w_bias: Tensor
    gate: GateWeights | None

    def flat(self) -> tuple[Tensor | None, ...]:
        """Return all tensors, as autograd takes them."""
        return (*self[:4], *(self.gate or (None,) * 4))

    @classmethod
    def of_flat(cls, tensors: Sequence[Any]) -> LayerWeights:
        """Return what `flat` was called on."""
        weight, bias, w, w_bias, *gate = tensors
        return cls(weight, bias, w, w_bias, None if gate[0] is None else GateWeights(*gate))


_FLAT = 8  # tensors of a layer


class Fixed(NamedTuple):
    """What the layer reads and does not learn; see `Inputs`."""

    levels: Tensor
    nearest: Tensor
    codes: Tensor
    first_code: int
    paper: bool
    scale: float
    need_z: bool

    def of_rows(self, rows: Rows) -> Fixed:
        """Return what the layer reads of this process's rows."""
        if rows.are_all_here:
            return self
        return self._replace(nearest=self.nearest[rows.own], codes=self.codes[rows.own])


def fused_layer(x: Tensor, weights: LayerWeights, fixed: Fixed) -> tuple[Tensor | None, Tensor]:
    """Return M w + b `[n, k]` (None if not needed) and scaled sums of messages `[n, R]`.

    Args:
        x: Features `[n, d]`.
        weights: What is learned.
        fixed: What is not.
    """
    z: Tensor | None
    z, h = _FusedLayer.apply(fixed, x, *weights.flat())  # type: ignore[no-untyped-call]
    return z, h


class _FusedLayer(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, fixed: Fixed, x: Tensor, *flat: Any) -> tuple[Tensor | None, Tensor]:
        ctx.save_for_backward(x, *flat)
        ctx.set_materialize_grads(False)
        ctx.run = _LayerRun(x, LayerWeights.of_flat(flat), fixed)
        return forward_messages(ctx.run.arrays, need_z=fixed.need_z)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_z: Tensor | None, grad_h: Tensor | None) -> tuple[Any, ...]:
        if grad_z is None and grad_h is None:
            return (None,) * (2 + _FLAT)
        _ = ctx.saved_tensors  # raises if one was changed in place since
        grad_x, grads = ctx.run.gradients(grad_z, grad_h, x_needs=ctx.needs_input_grad[1])
        return None, grad_x, *grads


class _LayerRun:
    """A layer's pass over some features, outside of autograd: what the backward pass needs."""

    def __init__(
        self, x: Tensor, weights: LayerWeights, fixed: Fixed, rows: Rows | None = None
    ) -> None:
        self.x, self.gate = x, None
        self.weight = weights.weight.flatten(0, 1)  # [2 R, d]
        table = fixed.levels
        if weights.gate is not None:
            self.gate = _GateArrays(fixed.levels, weights.gate)
            table = as_tensor(self.gate.table)
        inputs = Inputs(
            *(x @ self.weight.t(), None, table, *weights[1:4]),
            *(*fixed[1:4], fixed.paper, fixed.scale),
        )
        self.arrays = Arrays.of(inputs, rows)

    def gradients(
        self, grad_z: Tensor | None, grad_h: Tensor | None, *, x_needs: bool
    ) -> tuple[Tensor | None, list[Tensor | None]]:
        """Return the gradient of x, if it needs one, and those of `LayerWeights.flat`."""
        grads = backward_messages(self.arrays, grad_z, grad_h, gate_needs=self.gate is not None)
        grad_projected = as_tensor(grads.own)
        grad_x = grad_projected @ self.weight if x_needs else None
        grad_weight = _product_over_rows(grad_projected, self.x, self.arrays.rows)
        grad_weight = grad_weight.view(2, -1, self.x.shape[1])
        gate = (None,) * 4 if self.gate is None else self.gate.gradients(grads.gate)
        rest = (grads.bias, grads.w, grads.w_bias, *gate)
        return grad_x, [
            grad_weight,
            *(None if grad is None else as_tensor(grad) for grad in rest),
        ]


def _product_over_rows(a: Tensor, b: Tensor, rows: Rows) -> Tensor:
    """Return a^T b, `[r, d]`, of the rows of all processes."""
    if rows.num_blocks == 1:
        return a.t() @ b
    spans = zip(rows.bounds[:-1], rows.bounds[1:], strict=True)
    return as_tensor(rows.total([as_array(a[i:j].t() @ b[i:j]) for i, j in spans]))


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
        """Return the gradients of the gate's parameters, given the gradient of the table."""
        from pgnn.nn.kernels.gate import gate_backward

        grads = tuple(np.zeros_like(weight) for weight in self.weights)
        gate_backward(self.levels, *self.weights, grad_table.reshape(self.values.shape), *grads)
        return grads


# ---------------------------------------------------------------------- the whole model


class Between(NamedTuple):
    """What a model does before, between and after its layers.

    Attributes:
        dropout: Probability that a number of h between layers is dropped; 0 outside of training.
        normalize: Whether rows of z are scaled to length 1.
    """

    dropout: float
    normalize: bool


def fused_model(
    x: Tensor,
    projection: tuple[Tensor, Tensor] | None,
    layers: Sequence[LayerWeights],
    fixed: Sequence[Fixed],
    between: Between,
) -> tuple[Tensor, Tensor]:
    """Return the last layer's M w + b `[n, k]` and h `[n, R]`, of layers that follow each other.

    Args:
        x: Features `[n, d]`.
        projection: Weight and bias of a Linear of x, or None.
        layers: What each layer learns; R is the same for all, and needs no padding.
        fixed: What each layer reads; only the last one needs z.
        between: What happens around the layers.
    """
    flat = (tensor for layer in layers for tensor in layer.flat())
    z, h = _FusedModel.apply(  # type: ignore[no-untyped-call]
        fixed, between, x, *(projection or (None, None)), *flat
    )
    return z, h


class _FusedModel(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        fixed: Sequence[Fixed],
        between: Between,
        x: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        *flat: Any,
    ) -> tuple[Tensor, Tensor]:
        width = LayerWeights.of_flat(flat[:_FLAT]).weight.shape[1]
        rows = rows_of(fixed[0].nearest, len(x) * width * x.itemsize, current_team())
        x = x[rows.own]
        h = x if weight is None or bias is None else torch.addmm(bias, x, weight.t())
        z: Tensor | None = None
        ctx.runs, ctx.kept = [], []
        for number, entry in enumerate(fixed):
            if number and between.dropout:
                ctx.kept.append(_draw_kept(h, between.dropout, rows))
                h = h * ctx.kept[-1]
            weights = LayerWeights.of_flat(flat[number * _FLAT : (number + 1) * _FLAT])
            ctx.runs.append(_LayerRun(h, weights, entry.of_rows(rows), rows))
            z, h = forward_messages(ctx.runs[-1].arrays, need_z=entry.need_z)
        assert z is not None
        ctx.lengths = _scale_rows(z) if between.normalize else None
        ctx.rows = rows
        ctx.save_for_backward(x, weight, bias, *flat, z)
        ctx.set_materialize_grads(False)
        return _of_all(z, rows), _of_all(h, rows)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_z: Tensor | None, grad_h: Tensor | None) -> tuple[Any, ...]:
        x, weight, *_, z = ctx.saved_tensors  # raises if one was changed in place since
        count = 5 + _FLAT * len(ctx.runs)
        if grad_z is None and grad_h is None:
            return (None,) * count
        rows: Rows = ctx.rows
        grad_z = None if grad_z is None else grad_z[rows.own]
        grad_h = None if grad_h is None else grad_h[rows.own]
        if grad_z is not None and ctx.lengths is not None:
            grad_z = _unscaled_gradient(z, ctx.lengths, grad_z)
        projected = weight is not None
        grad_x: Tensor | None = None
        grads: list[Tensor | None] = []
        for number in reversed(range(len(ctx.runs))):
            x_needs = number > 0 or projected or ctx.needs_input_grad[2]
            grad_x, of_layer = ctx.runs[number].gradients(grad_z, grad_h, x_needs=x_needs)
            grads = [*of_layer, *grads]
            grad_z, grad_h = None, grad_x
            if number and ctx.kept:
                assert grad_h is not None
                grad_h = grad_h.mul_(ctx.kept[number - 1])
        grad_weight = grad_bias = None
        if projected:
            assert grad_h is not None
            grad_weight = _product_over_rows(grad_h, x, rows)
            grad_bias = _product_over_rows(grad_h, grad_h.new_ones(len(grad_h), 1), rows)[:, 0]
            grad_x = grad_h @ weight if ctx.needs_input_grad[2] else None
        if grad_x is not None and ctx.needs_input_grad[2]:
            grad_x = _of_all(grad_x, rows)
        return None, None, grad_x, grad_weight, grad_bias, *grads


def _of_all(own: Tensor, rows: Rows) -> Tensor:
    """Return the rows of all processes."""
    if rows.are_all_here:
        return own
    every = np.empty((rows.num_rows, own.shape[1]), dtype=own.numpy().dtype)
    return as_tensor(rows.gather(as_array(own), every))


def _draw_kept(h: Tensor, dropout: float, rows: Rows) -> Tensor:
    """Return what `torch.nn.functional.dropout` multiplies with, from the same random numbers."""
    kept = h.new_empty(rows.num_rows, h.shape[1]).bernoulli_(1 - dropout)[rows.own]
    return kept if dropout == 1 else kept.div_(1 - dropout)


def _scale_rows(z: Tensor) -> Any:
    """Scale rows to length 1 in place, and return the lengths they had."""
    from pgnn.nn.kernels.lengths import scale_rows

    array = z.numpy()
    lengths = np.empty(len(array), dtype=array.dtype)
    _on_threads(lambda _, start, stop: scale_rows(array, lengths, start, stop), *_shares(array))
    return lengths


def _unscaled_gradient(z: Tensor, lengths: Any, grad: Tensor) -> Tensor:
    """Return the gradient of rows, given that of the same rows of length 1."""
    from pgnn.nn.kernels.lengths import unscale_gradient

    scaled, grad_scaled = as_array(z), as_array(grad)
    result = np.empty_like(scaled)

    def rows(_part: int, start: int, stop: int) -> None:
        unscale_gradient(scaled, lengths, grad_scaled, result, start, stop)

    _on_threads(rows, *_shares(scaled))
    return as_tensor(result)


# ---------------------------------------------------------------------- arrays and threads


def as_array(tensor: Tensor) -> Any:
    """The tensor as a numpy array without gaps, so that kernels compile for one layout."""
    return tensor.detach().contiguous().numpy()


def as_tensor(array: Any) -> Tensor:
    """An array as a tensor that shares its memory."""
    return torch.from_numpy(array)


def _num_threads(nearest: Any) -> int:
    pairs: int = nearest.size
    return max(1, min(torch.get_num_threads(), pairs // _PAIRS_PER_THREAD, len(nearest)))


def _shares(rows: Any) -> tuple[int, int]:
    """Return the number of rows, and of threads for work that takes little time per number."""
    return len(rows), max(1, min(torch.get_num_threads(), rows.size // (8 * _PAIRS_PER_THREAD)))


def _on_threads(work: Callable[[int, int, int], None], num_rows: int, parts: int) -> None:
    """Call work(part, start, stop) for each part of the rows."""
    bounds = [num_rows * part // parts for part in range(parts + 1)]
    run_parts(lambda part: work(part, bounds[part], bounds[part + 1]), parts)
