"""The gate of a table's levels, forward and backward: Linear, ReLU, Linear of one number each."""

from __future__ import annotations

from typing import Any

from numba import njit


@njit(nogil=True, cache=True)
def gate_forward(
    levels: Any, weight: Any, bias: Any, out_weight: Any, out_bias: Any, out: Any
) -> None:
    """Write out[c] = out_weight ReLU(weight levels[c] + bias) + out_bias for each code c."""
    for c in range(len(levels)):
        for o in range(len(out_bias)):
            out[c, o] = out_bias[o]
        for j in range(len(bias)):
            hidden = weight[j, 0] * levels[c] + bias[j]
            if not hidden <= 0:  # lets what is not a number through
                for o in range(len(out_bias)):
                    out[c, o] += out_weight[o, j] * hidden


@njit(nogil=True, cache=True)
def gate_backward(
    levels: Any,
    weight: Any,
    bias: Any,
    out_weight: Any,
    out_bias: Any,
    grad: Any,
    grad_weight: Any,
    grad_bias: Any,
    grad_out_weight: Any,
    grad_out_bias: Any,
) -> None:
    """Add to the gradients of the parameters, given the gradient of each code's gate."""
    for c in range(len(levels)):
        for o in range(len(out_bias)):
            grad_out_bias[o] += grad[c, o]
        for j in range(len(bias)):
            hidden = weight[j, 0] * levels[c] + bias[j]
            if not hidden <= 0:
                grad_hidden = weight.dtype.type(0)
                for o in range(len(out_bias)):
                    grad_hidden += grad[c, o] * out_weight[o, j]
                    grad_out_weight[o, j] += grad[c, o] * hidden
                grad_weight[j, 0] += grad_hidden * levels[c]
                grad_bias[j] += grad_hidden
