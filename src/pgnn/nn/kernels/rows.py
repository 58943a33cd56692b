"""The closest-anchor layer on a range of nodes, forward and backward: no message is stored.

For node v and set i with anchor row a and gate t, the message is

    released: m = ReLU(own_v + t * anchor_a + bias)
    paper:    m = ReLU(t * (own_v + anchor_a) + bias)

and the kernel gives z[v, i] = m . w + w_bias and h[v] = scale * (sum over i of m). An anchor row of
-1 is a row of zeros. An argument that is None switches its part off as the kernel is compiled:
`paper` for the released form, `z` or `grad_z`, `grad_h`, `grad_gate`.
"""

from __future__ import annotations

from typing import Any

from numba import njit

from pgnn.nn.kernels.vector import (
    VECTOR_BYTES,
    add,
    add_to_gate,
    at,
    gate,
    load,
    load_or_zeros,
    multiply,
    multiply_add,
    prefetch,
    put,
    splat,
    store,
    total,
    where_positive,
)

_SETS_AHEAD = 12  # anchor rows are fetched this many sets early


@njit(nogil=True, cache=True)
def forward_rows(
    own: Any,
    anchor: Any,
    nearest: Any,
    codes: Any,
    first_code: int,
    table: Any,
    paper: Any,
    bias: Any,
    w: Any,
    w_bias: Any,
    scale: Any,
    zeros: Any,
    z: Any,
    h: Any,
    start: int,
    stop: int,
) -> None:
    """Write z and h of the nodes start..stop."""
    num_sets = nearest.shape[1]
    lanes = VECTOR_BYTES // own.itemsize
    for v in range(start, stop):
        last = (len(nearest) - v) * num_sets - 1  # the array's last number, counted from row v
        for c in range(0, own.shape[1], lanes):
            own_v = load(own, v, c)
            sum_v = load(zeros, 0, c)
            if z is not None:
                w_c = load(w, 0, c)
            bias_c = load(bias, 0, c)
            if paper is None:
                own_v = add(own_v, bias_c)
            for i in range(num_sets):
                prefetch(anchor, at(nearest, v, min(i + _SETS_AHEAD, last)), c)
                anchor_a = load_or_zeros(anchor, at(nearest, v, i), c, zeros)
                t = gate(table, codes, v, i, first_code, c)
                if paper is None:
                    before = multiply_add(t, anchor_a, own_v)
                else:
                    before = multiply_add(t, add(own_v, anchor_a), bias_c)
                message = where_positive(before, before)
                sum_v = add(sum_v, message)
                if z is not None:
                    before_c = w_bias if c == 0 else at(z, v, i)
                    put(z, v, i, before_c + total(multiply(message, w_c)))
            store(h, v, c, multiply(sum_v, splat(scale)))


@njit(nogil=True, cache=True)
def backward_rows(
    own: Any,
    anchor: Any,
    nearest: Any,
    codes: Any,
    first_code: int,
    table: Any,
    paper: Any,
    bias: Any,
    w: Any,
    w_bias: Any,
    scale: Any,
    zeros: Any,
    grad_z: Any,
    grad_h: Any,
    grad_own: Any,
    grad_anchor: Any,
    grad_gate: Any,
    grad_bias: Any,
    grad_w: Any,
    start: int,
    stop: int,
) -> Any:
    """Write grad_own of the nodes start..stop, add their part to all other gradients.

    `grad_anchor` has one row more than `anchor`, for what falls on anchor row -1. Returns the
    gradient of w_bias.
    """
    grad_w_bias = w_bias - w_bias
    num_sets = nearest.shape[1]
    lanes = VECTOR_BYTES // own.itemsize
    for v in range(start, stop):
        last = (len(nearest) - v) * num_sets - 1  # the array's last number, counted from row v
        for c in range(0, own.shape[1], lanes):
            own_v = load(own, v, c)
            grad_own_v = load(zeros, 0, c)
            grad_h_v = load(zeros, 0, c)
            if grad_h is not None:
                grad_h_v = multiply(load(grad_h, v, c), splat(scale))
            if grad_z is not None:
                w_c = load(w, 0, c)
                grad_w_c = load(grad_w, 0, c)
            bias_c = load(bias, 0, c)
            grad_bias_c = load(grad_bias, 0, c)
            if paper is None:
                own_v = add(own_v, bias_c)
            for i in range(num_sets):
                ahead = at(nearest, v, min(i + _SETS_AHEAD, last))
                prefetch(anchor, ahead, c)
                prefetch(grad_anchor, ahead, c)
                a = at(nearest, v, i)
                anchor_a = load_or_zeros(anchor, a, c, zeros)
                t = gate(table, codes, v, i, first_code, c)
                if paper is None:
                    gated = anchor_a
                    before = multiply_add(t, gated, own_v)
                else:
                    gated = add(own_v, anchor_a)
                    before = multiply_add(t, gated, bias_c)
                grad = grad_h_v
                if grad_z is not None:
                    grad_z_vi = splat(at(grad_z, v, i))
                    if c == 0:
                        grad_w_bias += at(grad_z, v, i)
                    grad_w_c = multiply_add(grad_z_vi, where_positive(before, before), grad_w_c)
                    grad = multiply_add(grad_z_vi, w_c, grad)
                grad = where_positive(before, grad)
                through_gate = multiply(t, grad)
                if a < 0:
                    a = anchor.shape[0]
                store(grad_anchor, a, c, add(load(grad_anchor, a, c), through_gate))
                if grad_gate is not None:
                    add_to_gate(grad_gate, codes, v, i, first_code, c, grad, gated)
                if paper is None:
                    grad_own_v = add(grad_own_v, grad)
                else:
                    grad_own_v = add(grad_own_v, through_gate)
                    grad_bias_c = add(grad_bias_c, grad)
            if paper is None:
                grad_bias_c = add(grad_bias_c, grad_own_v)
            store(grad_own, v, c, grad_own_v)
            store(grad_bias, 0, c, grad_bias_c)
            if grad_z is not None:
                store(grad_w, 0, c, grad_w_c)
    return grad_w_bias
