"""Leave one edge out of walks by algebra on power series, without walking again.

A walk series of nodes a, b is g_ab(z) = sum_k S^k[a, b] z^k, the (a, b) entry of (I - zS)^-1. To
take the edge uv out of the graph changes S = D^-1/2 A D^-1/2 in two ways: its own entries go, and
the rows and columns of u and v are rescaled for the smaller degrees, S' = T (S - E) T'. The 2 x 2
block of (I - zS')^-1 at {u, v} then follows from that of (I - zS)^-1, by Woodbury's identity

    block' = rescaled (block^-1 + z E - Delta)^-1,     Delta = I - T^-1 T'^-1 at u and v,

which is exact, term by term. Written out for two rows it needs one division of power series.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def _product(a: Any, b: Any, result: Any) -> None:
    """Multiply two power series, as far as `result` is long."""
    for k in range(result.shape[0]):
        total = 0.0
        for i in range(k + 1):
            total += a[i] * b[k - i]
        result[k] = total


@njit(nogil=True, cache=True)
def _quotient(a: Any, b: Any, result: Any) -> None:
    """Divide power series a by b, b[0] not zero."""
    for k in range(result.shape[0]):
        total = a[k]
        for i in range(1, k + 1):
            total -= b[i] * result[k - i]
        result[k] = total / b[0]


@njit(nogil=True, cache=True)
def without_edge(uu: Any, vv: Any, uv: Any, share_u: Any, share_v: Any, result: Any) -> None:
    """Walks from u to v without the edge uv, on an undirected graph.

    With D = g_uu g_vv - g_uv^2, shares a = w / d_u and b = w / d_v of the edge in the degrees, and
    s = sqrt(ab) = S[u, v]:

        g'_uv = sqrt((1 - a)(1 - b)) (g_uv - z s D) / (1 - a g_uu - b g_vv + 2 z s g_uv
                                                      + a b (1 - z^2) D).

    Args:
        uu, vv, uv: Series of each pair, `[num_pairs, num_steps + 1]`.
        share_u, share_v: a and b of each pair. Where one is 1, the edge was the node's only one.
        result: The series of S', as `uv`.
    """
    num_pairs, length = uv.shape
    det, scratch = np.empty(length), np.empty(length)
    for p in range(num_pairs):
        a, b = share_u[p], share_v[p]
        if a >= 1.0 or b >= 1.0:
            result[p, :] = 0.0
            continue
        s = np.sqrt(a * b)
        _product(uu[p], vv[p], det)
        _product(uv[p], uv[p], scratch)
        for k in range(length):
            det[k] -= scratch[k]
        scale = np.sqrt((1.0 - a) * (1.0 - b))
        top, bottom = np.empty(length), np.empty(length)
        for k in range(length):
            bottom[k] = -a * uu[p, k] - b * vv[p, k] + a * b * det[k]
            top[k] = uv[p, k]
            if k >= 1:
                top[k] -= s * det[k - 1]
                bottom[k] += 2.0 * s * uv[p, k - 1]
            if k >= 2:
                bottom[k] -= a * b * det[k - 2]
            top[k] *= scale
        bottom[0] += 1.0
        _quotient(top, bottom, result[p])


@njit(nogil=True, cache=True)
def without_arc(
    uu: Any, vv: Any, uv: Any, vu: Any, share_u: Any, share_v: Any, forward: Any, backward: Any
) -> None:
    """Walks from u to v and from v to u without the arc u -> v, on a directed graph.

    S = D_out^-1/2 A D_in^-1/2 loses one entry s = S[u, v]; row u is rescaled by (1 - a)^-1/2 and
    column v by (1 - b)^-1/2, with a = w / d_out(u) and b = w / d_in(v). With p = 1 - sqrt(1 - a),
    q = 1 - sqrt(1 - b) and D = g_uu g_vv - g_uv g_vu,

        g'_uv = (g_uv - z s D) / bottom,      g'_vu = (1 - p)(1 - q) g_vu / bottom,
        bottom = 1 - p g_uu - q g_vv + p q D + z s g_vu.

    A row or column that becomes empty needs no scale: p = 0 (or q = 0) then.

    Args:
        uu, vv, uv, vu: Series of each pair, `[num_pairs, num_steps + 1]`.
        share_u, share_v: a and b of each pair.
        forward: The series from u to v, as `uv`.
        backward: The series from v to u.
    """
    num_pairs, length = uv.shape
    det, scratch = np.empty(length), np.empty(length)
    top, bottom = np.empty(length), np.empty(length)
    for pair in range(num_pairs):
        a, b = share_u[pair], share_v[pair]
        s = np.sqrt(a * b)
        p = 0.0 if a >= 1.0 else 1.0 - np.sqrt(1.0 - a)
        q = 0.0 if b >= 1.0 else 1.0 - np.sqrt(1.0 - b)
        _product(uu[pair], vv[pair], det)
        _product(uv[pair], vu[pair], scratch)
        for k in range(length):
            det[k] -= scratch[k]
        for k in range(length):
            bottom[k] = -p * uu[pair, k] - q * vv[pair, k] + p * q * det[k]
            top[k] = uv[pair, k]
            if k >= 1:
                top[k] -= s * det[k - 1]
                bottom[k] += s * vu[pair, k - 1]
        bottom[0] += 1.0
        if a >= 1.0 or b >= 1.0:
            forward[pair, :] = 0.0
        else:
            _quotient(top, bottom, forward[pair])
        scale = (1.0 - p) * (1.0 - q)
        for k in range(length):
            top[k] = scale * vu[pair, k]
        _quotient(top, bottom, backward[pair])
