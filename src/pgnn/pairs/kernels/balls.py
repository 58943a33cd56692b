"""Walks of pairs on large graphs: a few steps from each end, which meet in the middle.

S^(i+j)[u, v] is the inner product of S^i from u and S^j from v. The walks of a few steps from a
node stay in a small ball around it: its nodes have local numbers in the order in which they are
reached, so those of the first i steps come first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

# The second step may follow this many times more edges: short walks matter most.
MORE_AT_FIRST = 4
# Known eigenvalues have taken over when powers of the others are below this.
_SLOW = 0.3
# Walks grow by no more than this factor in two steps where eigenvalues say little.
_MOST_GROWTH = 10.0


@njit(nogil=True, cache=True)
def _expand(matrix: Any, start: int, own: Any, max_edges: int, keep_last: bool, ball: Any) -> Any:
    """Walk from a node as many steps as max_edges edges allow, at least one.

    The last step reaches most nodes and is not needed by itself, only summed up, see `_last_step`.
    Without `keep_last` the ball stops before it: before a step after which the next, if edges grow
    in number as they did, would be too many.

    Args:
        matrix: `(indptr, indices, entries)`.
        start: The node.
        own: `(tail, head, both, scales)`: the edge to leave out from tail to head (and back, if
            `both`), and what rows and columns are then multiplied by: before and after a step, of
            tail and of head. tail is -1 to leave out nothing.
        max_edges: How many edges may be followed.
        keep_last: Whether the ball holds the last step too.
        ball: Result: `(nodes, place, x, counts)`: the nodes, the local number of each node or -1,
            S^k at each local number, `[max_steps + 1, ...]`, and how many nodes k steps reach.

    Returns:
        The number of steps, and how many of them the ball holds.
    """
    indptr, indices, entries = matrix
    tail, head, both, scales = own
    nodes, place, x, counts = ball
    for local in range(counts[-1]):
        place[nodes[local]] = -1
    nodes[0], place[start], x[0, 0], counts[0] = start, 0, 1.0, 1
    counts[-1] = 1
    count, edges, cost, depth, steps = 1, 0, 0, 0, 0
    while depth < x.shape[0] - 1:
        limit = max_edges * MORE_AT_FIRST if depth == 1 else max_edges
        cost_before, cost = max(cost, 1), 0
        for local in range(count):
            if x[depth, local] != 0.0:
                cost += indptr[nodes[local] + 1] - indptr[nodes[local]]
                if edges + cost > limit and depth > 0:
                    break
        if edges + cost > limit and depth > 0:
            break
        edges += cost
        steps = depth + 1
        if not keep_last:
            following = max_edges * MORE_AT_FIRST if depth == 0 else max_edges
            if edges + cost * cost // cost_before > following or steps == x.shape[0] - 1:
                break
        reached = count
        for local in range(count):
            x[depth + 1, local] = 0.0
        for local in range(reached):
            amount = x[depth, local]
            if amount == 0.0:
                continue
            a = nodes[local]
            barred = -1
            if a == tail:
                barred = head
                amount *= scales[0]
            elif a == head:
                if both:
                    barred = tail
                amount *= scales[1]
            for entry in range(indptr[a], indptr[a + 1]):
                b = indices[entry]
                if b == barred:
                    continue
                there = place[b]
                if there < 0:
                    there = count
                    place[b] = there
                    nodes[there] = b
                    x[depth + 1, there] = 0.0
                    count += 1
                x[depth + 1, there] += amount * entries[entry]
        depth += 1
        if tail >= 0:
            if place[tail] >= 0:
                x[depth, place[tail]] *= scales[2]
            if place[head] >= 0:
                x[depth, place[head]] *= scales[3]
        counts[depth] = count
        counts[-1] = count
    return steps, depth


@njit(nogil=True, cache=True)
def _last_step(matrix: Any, own: Any, ball_v: Any, depth_v: int, ball_u: Any, depth_u: int) -> Any:
    """Sum S^i[u, b] S^(j+1)[b, v] over b, i = depth_u, j = depth_v, without making S^(j+1).

    All of u's ball is meant: depth_u is its last step.
    """
    indptr, indices, entries = matrix
    tail, head, both, scales = own
    nodes, x, counts = ball_v[0], ball_v[2], ball_v[3]
    place_u, x_u = ball_u[1], ball_u[2]
    total = 0.0
    for local in range(counts[depth_v]):
        amount = x[depth_v, local]
        if amount == 0.0:
            continue
        a = nodes[local]
        barred = -1
        if a == tail:
            barred = head
            amount *= scales[0]
        elif a == head:
            if both:
                barred = tail
            amount *= scales[1]
        for entry in range(indptr[a], indptr[a + 1]):
            b = indices[entry]
            there = place_u[b]
            if there < 0 or b == barred:
                continue
            part = amount * entries[entry] * x_u[depth_u, there]
            if b == tail:
                part *= scales[2]
            elif b == head:
                part *= scales[3]
            total += part
    return total


@njit(nogil=True, cache=True)
def meet_pairs(
    out_matrix: Any, in_matrix: Any, pairs: Any, edges: Any, max_edges: int, result: Any, balls: Any
) -> None:
    """Walks from u to v of as many steps as the balls of both allow.

    Args:
        out_matrix: `(indptr, indices, entries)` of S.
        in_matrix: The same of S transposed.
        pairs: Node indices, `[num_pairs, 2]`; the ball of u is used again by pairs that follow.
        edges: `(kind, scales)`: 0 where the pair is no edge, 1 where the arc from u to v is left
            out, -1 where that from v to u is, 2 where both are; and, `[num_pairs, 8]`, the factors
            of `_expand` from u, then from v.
        max_edges: How many edges each ball may follow.
        result: `(series, horizon, hops)`: S^k[u, v], `[num_pairs, num_steps + 1]`; the last k that
            it holds, at most num_steps; and the first k at which it is not 0, or 0.
        balls: Two balls, see `_expand`, and a list `[...]` of local numbers.
    """
    kind, scales = edges
    series, horizon, hops = result
    ball_u, ball_v, mapped = balls
    place_u, x_u, counts_u = ball_u[1], ball_u[2], ball_u[3]
    nodes_v, x_v, counts_v = ball_v[0], ball_v[2], ball_v[3]
    source, depth_u = -1, 0
    for p in range(pairs.shape[0]):
        u, v = pairs[p, 0], pairs[p, 1]
        if kind[p] == 0:
            from_v = (-1, -1, False, scales[p, :4])
            if u != source:
                depth_u, _ = _expand(out_matrix, u, from_v, max_edges, True, ball_u)
                source = u
        else:
            both = kind[p] == 2
            tail, head = (v, u) if kind[p] == -1 else (u, v)
            from_u = (tail, head, both, scales[p, :4])
            depth_u, _ = _expand(out_matrix, u, from_u, max_edges, True, ball_u)
            source = -1
            # Seen from v, edges are followed against their direction.
            from_v = (head, tail, both, scales[p, 4:])
        steps_v, depth_v = _expand(in_matrix, v, from_v, max_edges, False, ball_v)
        for local in range(counts_v[depth_v]):
            mapped[local] = place_u[nodes_v[local]]
        steps = min(depth_u + steps_v, series.shape[1] - 1)
        horizon[p], hops[p] = steps, 0
        for k in range(steps + 1):
            j = min(k // 2, depth_v)
            i = min(k - j, depth_u)
            j = k - i
            total = 0.0
            if j > depth_v:
                total = _last_step(in_matrix, from_v, ball_v, depth_v, ball_u, i)
            else:
                for local in range(counts_v[j]):
                    there = mapped[local]
                    if there >= 0 and there < counts_u[i]:
                        total += x_u[i, there] * x_v[j, local]
            series[p, k] = total
            if total > 0.0 and hops[p] == 0:
                hops[p] = k


@njit(nogil=True, cache=True)
def extend_series(series: Any, horizon: Any, weight: Any, powers: Any, rest: float) -> None:
    """Continue walks beyond their horizon by the largest eigenvalues of S.

    S^k[u, v] is sum_i weight_i lambda_i^k over all eigenvalues. What the known ones leave
    unexplained of the last two exact steps, one even and one odd, is taken to shrink by `rest` with
    every step. As long as it has not shrunk enough to let the known ones take over, they say little
    about a pair: walks may then at most halve in two steps, and may not grow faster than they did
    in the last exact steps, ever less so.

    Args:
        series: S^k, `[num_pairs, num_steps + 1]`; changed beyond the horizon.
        horizon: The last exact step of each pair, at least 2.
        weight: Weights of the known eigenvalues, `[num_pairs, rank]`.
        powers: lambda_i^k, `[num_steps + 1, rank]`.
        rest: Largest size of the other eigenvalues.
    """
    rank = weight.shape[1]
    unexplained, growth = np.zeros(2), np.ones(2)
    for p in range(series.shape[0]):
        last = horizon[p]
        for k in range(last - 1, series.shape[1]):
            known = 0.0
            for i in range(rank):
                known += weight[p, i] * powers[k, i]
            parity = k % 2
            if k <= last:
                unexplained[parity] = series[p, k] - known
                before = series[p, k - 2] if k >= 4 else 0.0
                growth[parity] = series[p, k] / before if before > 0.0 else _MOST_GROWTH
                growth[parity] = min(max(growth[parity], 1.0), _MOST_GROWTH)
                if k == 1:  # one step is the pair's own edge, which says nothing
                    unexplained[parity] = 0.0
                continue
            unexplained[parity] *= rest * rest
            value = max(known + unexplained[parity], 0.0)
            if k >= 4 and rest**k > _SLOW:
                before = series[p, k - 2]
                value = min(max(value, before / 2), before * growth[parity])
                growth[parity] **= 0.7
            series[p, k] = value
