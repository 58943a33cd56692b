"""The closest-anchor layer on the CPU as one autograd function; see `_kernels` for its formula."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from pgnn.nn.threads import run_parts

_VECTOR_BYTES = 128
_PAIRS_A_THREAD = 1 << 14  # a thread for fewer (node, set) pairs costs more than it saves
_BUFFER_BYTES = 1 << 30  # at most this much for the threads' own gradients of anchor rows


class Inputs(NamedTuple):
    """What the kernels read; R is a whole number of vectors, see `padded_channels`.

    Attributes:
        own: W_v h_v, `[n, R]`; with W_u h_u beside it, `[n, 2 R]`, if `anchor` is None.
        anchor: W_u h of the rows that `nearest` names, `[m, R]`.
        gate: Table `[codes]` or `[codes, R]`, or the gate of each pair `[n, k]` if `codes` is None.
        bias: `[R]`.
        w: `[R]`.
        w_bias: A number tensor.
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
    """The arguments that both kernels begin with, and whether rows of own and anchor are joined."""

    kernel: tuple[Any, ...]
    joined: bool

    @classmethod
    def of(cls, inputs: Inputs) -> Arrays:
        """Share the memory of tensors; slicing arrays is far cheaper than slicing tensors."""
        own = as_array(inputs.own)
        width = own.shape[1]
        if inputs.anchor is None:
            width //= 2
            own, anchor = own[:, :width], own[:, width:]
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
        return cls(kernel, inputs.anchor is None)


class Gradients(NamedTuple):
    """What the backward kernel found; see `Inputs`. None where nobody needs it."""

    own: Any
    anchor: Any
    gate: Any
    bias: Any
    w: Any
    w_bias: Any


def padded_channels(channels: int, dtype: torch.dtype) -> int:
    """Return the least number of channels >= the given that fills whole vectors."""
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

    own, anchor, nearest, codes, _, gate = arrays.kernel[:6]
    (n, width), num_anchors = own.shape, len(anchor)
    by_pair = codes is gate  # a gate a pair, which belongs to one part only
    num_codes = len(gate) if gate_needs and not by_pair else 0
    codes_row = num_anchors + 1
    num_rows = codes_row + num_codes + 2
    most_parts = _BUFFER_BYTES // (num_rows * width * own.itemsize)
    parts = max(1, min(_num_threads(nearest), most_parts))
    # Each part adds to rows of its own, summed in order: no atomics, and the same every time. The
    # rows are those of anchors, one more for absent anchors, then of codes, bias and w.
    sums = np.zeros((parts, num_rows, width), dtype=own.dtype)
    grad_own = np.empty((n, 2 * width if arrays.joined else width), dtype=own.dtype)
    grad_gate = np.zeros_like(gate) if gate_needs and by_pair else None
    given = (None if grad is None else as_array(grad) for grad in (grad_z, grad_h))
    arguments = (*arrays.kernel, *given, grad_own[:, :width])
    grad_w_bias = [0.0] * parts

    def rows(part: int, start: int, stop: int) -> None:
        mine = sums[part]
        grad_w_bias[part] = backward_rows(
            *arguments,
            mine[:codes_row],
            mine[codes_row:-2] if num_codes else grad_gate,
            mine[-2],
            mine[-1],
            start,
            stop,
        )

    _on_threads(rows, n, parts)
    total = sums[0] if parts == 1 else sums.sum(0)
    if arrays.joined:
        grad_own[:, width:] = total[:num_anchors]
    if num_codes:
        grad_gate = total[codes_row:-2]
        grad_gate = grad_gate.sum(1) if gate.ndim == 1 else grad_gate
    return Gradients(
        grad_own,
        None if arrays.joined else total[:num_anchors],
        grad_gate,
        total[-2],
        None if grad_z is None else total[-1],
        None if grad_z is None else np.asarray(sum(grad_w_bias), dtype=own.dtype),
    )


def as_array(tensor: Tensor) -> Any:
    """The tensor as a numpy array without gaps, so that kernels compile for one layout."""
    return tensor.detach().contiguous().numpy()


def as_tensor(array: Any) -> Tensor:
    """An array as a tensor that shares its memory."""
    return torch.from_numpy(array)


def _num_threads(nearest: Any) -> int:
    pairs: int = nearest.size
    return max(1, min(torch.get_num_threads(), pairs // _PAIRS_A_THREAD, len(nearest)))


def _on_threads(work: Callable[[int, int, int], None], num_rows: int, parts: int) -> None:
    """Call work(part, start, stop) for each part of the rows."""
    bounds = [num_rows * part // parts for part in range(parts + 1)]
    run_parts(lambda part: work(part, bounds[part], bounds[part + 1]), parts)
