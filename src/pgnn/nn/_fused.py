"""The closest-anchor layer on the CPU as one autograd function; see `_kernels` for its formula."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from pgnn.nn._threads import run_parts

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

    def projected(self) -> tuple[Tensor, Tensor]:
        """Return W_v h and W_u h; their rows may be apart."""
        if self.anchor is not None:
            return self.own, self.anchor
        width = self.own.shape[1] // 2
        return self.own[:, :width], self.own[:, width:]

    def arrays(self) -> tuple[Any, ...]:
        """Return the arguments that both kernels begin with."""
        own, anchor = self.projected()
        number = np.float32 if own.dtype == torch.float32 else np.float64
        gate = _array(self.gate)
        return (
            own.detach().numpy(),
            anchor.detach().numpy(),
            _array(self.nearest),
            gate if self.codes is None else _array(self.codes),
            self.first_code,
            gate,
            True if self.paper else None,
            _array(self.bias),
            _array(self.w),
            number(self.w_bias.item()),
            number(self.scale),
            np.zeros(own.shape[1], dtype=number),
        )


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
        ctx.numbers = inputs[-3:]
        ctx.set_materialize_grads(False)
        return _forward(inputs, need_z=args[-1])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_z: Tensor | None, grad_h: Tensor | None) -> tuple[Any, ...]:
        if grad_z is None and grad_h is None:
            return (None,) * 12
        saved: tuple[Any, ...] = (*ctx.saved_tensors, *ctx.numbers)
        inputs = Inputs(*saved)
        grads = _backward(inputs, grad_z, grad_h, gate_needs=ctx.needs_input_grad[2])
        return *grads, *(None,) * 6


def _forward(inputs: Inputs, *, need_z: bool) -> tuple[Tensor | None, Tensor]:
    from pgnn.nn._kernels import forward_rows

    own, _ = inputs.projected()
    z = own.new_empty(inputs.nearest.shape) if need_z else None
    h = own.new_empty(own.shape)
    arguments = (*inputs.arrays(), _array(z), _array(h))

    def rows(_part: int, start: int, stop: int) -> None:
        forward_rows(*arguments, start, stop)

    _on_threads(rows, len(own), _num_threads(inputs.nearest))
    return z, h


def _backward(
    inputs: Inputs, grad_z: Tensor | None, grad_h: Tensor | None, *, gate_needs: bool
) -> tuple[Tensor | None, ...]:
    """Return the gradients of own, anchor, gate, bias, w and w_bias."""
    from pgnn.nn._kernels import backward_rows

    own, anchor = inputs.projected()
    width, num_anchors = own.shape[1], len(anchor)
    arrays = inputs.arrays()
    by_pair = inputs.codes is None  # a gate a pair, which belongs to one part only
    num_codes = len(inputs.gate) if gate_needs and not by_pair else 0
    num_rows = num_anchors + 1 + num_codes + 2
    parts = _num_threads(inputs.nearest)
    parts = max(1, min(parts, _BUFFER_BYTES // (num_rows * width * own.itemsize)))
    # Each part adds to rows of its own, summed in order: no atomics, and the same every time. The
    # rows are those of anchors, one more for absent anchors, then of codes, bias and w.
    sums = np.zeros((parts, num_rows, width), dtype=arrays[0].dtype)
    first_code_row = num_anchors + 1
    grad_projected = torch.empty_like(inputs.own, memory_format=torch.contiguous_format)
    grad_pairs = np.zeros_like(arrays[5]) if gate_needs and by_pair else None
    arguments = (*arrays, _array(grad_z), _array(grad_h), grad_projected[:, :width].numpy())
    grad_w_bias = [0.0] * parts

    def rows(part: int, start: int, stop: int) -> None:
        codes_part = sums[part, first_code_row:-2] if num_codes else None
        grad_w_bias[part] = backward_rows(
            *arguments,
            sums[part, :first_code_row],
            grad_pairs if by_pair else codes_part,
            sums[part, -2],
            sums[part, -1],
            start,
            stop,
        )

    _on_threads(rows, len(own), parts)
    total = torch.from_numpy(sums[0] if parts == 1 else sums.sum(0))
    if inputs.anchor is None:
        grad_projected[:, width:] = total[:num_anchors]
    grad_gate = None if grad_pairs is None else torch.from_numpy(grad_pairs)
    if num_codes:
        grad_gate = total[first_code_row:-2]
        grad_gate = grad_gate.sum(1) if inputs.gate.ndim == 1 else grad_gate
    return (
        grad_projected,
        None if inputs.anchor is None else total[:num_anchors],
        grad_gate,
        total[-2],
        None if grad_z is None else total[-1],
        None if grad_z is None else inputs.w_bias.new_tensor(sum(grad_w_bias)),
    )


def _array(tensor: Tensor | None) -> Any:
    """The tensor as a numpy array without gaps, so that kernels compile for one layout."""
    return None if tensor is None else tensor.detach().contiguous().numpy()


def _num_threads(nearest: Tensor) -> int:
    return max(1, min(torch.get_num_threads(), nearest.numel() // _PAIRS_A_THREAD, len(nearest)))


def _on_threads(work: Callable[[int, int, int], None], num_rows: int, parts: int) -> None:
    """Call work(part, start, stop) for each part of the rows."""
    bounds = [num_rows * part // parts for part in range(parts + 1)]
    run_parts(lambda part: work(part, bounds[part], bounds[part + 1]), parts)
