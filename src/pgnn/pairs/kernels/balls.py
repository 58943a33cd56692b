"""Walks, 3-paths and hops of pairs on large graphs: a few steps from each end, which meet.

S^(i+j)[u, v] is the inner product of S^i from u and S^j from v. The walks of a few steps from a
node stay in a small ball around it: its nodes have local numbers in the order in which they are
reached, so those of the first i steps come first. The same balls hold the first two steps of
3-paths, and say how far u and v are apart.

Most time is spent waiting for memory, so little is read. A matrix is
`(indptr, indices, strengths, middle, row_root, column_root)`: an entry of S is the strength of an
edge times the root of its row and that of its column. A walk over a node in the middle has both
roots of this node, which is `middle`; those of the first row and of the last column are multiplied
in at the end, and until then left out: S^k without them is called a sum of walks. `strengths` is
empty where all are 1. Rows are asked for before they are read. `indices` are unsigned, and inner
loops count from 0, so that no number has to be checked for counting from the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from pgnn.pairs.kernels.prefetch import prefetch

# The second step may follow this many times more edges: short walks matter most.
MORE_AT_FIRST = 4
# Known eigenvalues have taken over when powers of the others are below this.
_SLOW = 0.3
# Walks grow by no more than this factor in two steps where eigenvalues say little.
_MOST_GROWTH = 10.0


@njit(nogil=True, cache=True)
def _expand(
    matrix: Any, start: int, own: Any, max_edges: int, keep_last: bool, worth: Any, ball: Any
) -> Any:
    """Walk from a node as many steps as max_edges edges allow, at least one.

    The last step reaches most nodes and is not needed by itself, only summed up, see `_last_step`.
    Without `keep_last` the ball stops before it: before a step after which the next, if edges grow
    in number as they did, would be too many.

    Args:
        matrix: See above.
        start: The node.
        own: `(tail, head, both, scales)`: the edge to leave out from tail to head (and back, if
            `both`), and what rows and columns are then multiplied by: before and after a step, of
            tail and of head. tail is -1 to leave out nothing.
        max_edges: How many edges may be followed.
        keep_last: Whether the ball holds the last step too.
        worth: One number per node, to sum up over the nodes between; empty to sum up nothing.
        ball: Result: `(nodes, place, x, counts, between)`: the nodes, the local number of each node
            or -1 (set only once a second step is kept), the sum of walks of k steps to each local
            number, `[max_steps + 1, ...]`, how many nodes k steps reach, and, after two steps, the
            summed worth of the nodes a on paths start - a - b to each b.

    Returns:
        The number of steps, and how many of them the ball holds.
    """
    indptr, indices, strengths, middle = matrix[:4]
    tail, head, both, scales = own
    nodes, place, x, counts, between = ball
    is_weighted = strengths.shape[0] > 0
    for local in range(counts[-1]):
        place[nodes[local]] = -1
    nodes[0], x[0, 0], counts[0], between[0] = start, 1.0, 1, 0.0
    counts[-1] = 0
    count, edges, cost, depth, steps = 1, 0, 0, 0, 0
    while depth < x.shape[0] - 1:
        limit = max_edges * MORE_AT_FIRST if depth == 1 else max_edges
        cost_before, cost = max(cost, 1), 0
        for local in range(count):
            if x[depth, local] != 0.0:
                first = indptr[nodes[local]]
                prefetch(indices, first)
                cost += indptr[nodes[local] + 1] - first
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
        if depth == 1:
            for local in range(count):
                place[nodes[local]] = local
        for local in range(count):
            x[depth + 1, local] = 0.0
        share = 0.0
        for local in range(reached):
            amount = x[depth, local]
            if amount == 0.0:
                continue
            a = nodes[local]
            if depth > 0:
                amount *= middle[a]
            if depth == 1 and worth.shape[0] > 0:
                share = worth[a]
            barred = -1
            if a == tail:
                barred = head
                amount *= scales[0]
            elif a == head:
                if both:
                    barred = tail
                amount *= scales[1]
            first = indptr[a]
            row = indices[first : indptr[a + 1]]
            for i in range(row.shape[0]):
                b = row[i]
                if b == barred:
                    continue
                part = amount * strengths[first + i] if is_weighted else amount
                if depth == 0:  # each neighbour once
                    nodes[count], x[1, count], between[count] = b, part, 0.0
                    count += 1
                    continue
                there = place[b]
                if there < 0:
                    there = count
                    place[b] = there
                    nodes[there] = b
                    x[depth + 1, there] = part
                    between[there] = share
                    count += 1
                else:
                    x[depth + 1, there] += part
                    between[there] += share
        depth += 1
        if tail >= 0:
            for local in range(count):
                if nodes[local] == tail:
                    x[depth, local] *= scales[2]
                elif nodes[local] == head:
                    x[depth, local] *= scales[3]
        counts[depth] = count
        if depth > 1:
            counts[-1] = count
    if keep_last and depth == 1:
        for local in range(count):
            place[nodes[local]] = local
        counts[-1] = count
    return steps, depth


@njit(nogil=True, cache=True)
def _last_step(matrix: Any, own: Any, ball_v: Any, depth_v: int, ball_u: Any, depth_u: int) -> Any:
    """Sum of walks of i = depth_u steps from u and j = depth_v + 1 from v, without making the last.

    All of u's ball is meant: depth_u is its last step.
    """
    indptr, indices, strengths, middle = matrix[:4]
    tail, head, both, scales = own
    nodes, x, counts = ball_v[0], ball_v[2], ball_v[3]
    place_u, x_u = ball_u[1], ball_u[2]
    is_weighted = strengths.shape[0] > 0
    total = 0.0
    for local in range(counts[depth_v]):
        amount = x[depth_v, local]
        if amount == 0.0:
            continue
        a = nodes[local]
        if depth_v > 0:
            amount *= middle[a]
        barred = -1
        if a == tail:
            barred = head
            amount *= scales[0]
        elif a == head:
            if both:
                barred = tail
            amount *= scales[1]
        sums = 0.0
        first = indptr[a]
        row = indices[first : indptr[a + 1]]
        for i in range(row.shape[0]):
            b = row[i]
            there = place_u[b]
            if there < 0 or b == barred:
                continue
            part = middle[b] * x_u[depth_u, there]
            if is_weighted:
                part *= strengths[first + i]
            if b == tail:
                part *= scales[2]
            elif b == head:
                part *= scales[3]
            sums += part
        total += amount * sums
    return total


@njit(nogil=True, cache=True)
def _is_one_step_apart(
    matrix: Any, own: Any, ball_v: Any, depth_v: int, steps_v: int, place_u: Any, max_edges: int
) -> bool:
    """Whether one more step than `steps_v` from v ends in u's ball; False too if it takes too long.

    Only nodes that v's last held step reached first are followed: a shortest path has one of them.
    """
    indptr, indices = matrix[:2]
    tail, head, both = own[:3]
    nodes, counts = ball_v[0], ball_v[3]
    edges = 0
    for local in range(counts[depth_v - 1] if depth_v > 0 else 0, counts[depth_v]):
        a = nodes[local]
        for entry in range(indptr[a], indptr[a + 1]):
            b = indices[entry]
            if (a == tail and b == head) or (both and a == head and b == tail):
                continue
            if steps_v == depth_v:
                edges += 1
                if place_u[b] >= 0:
                    return True
                continue
            edges += indptr[b + 1] - indptr[b]
            for further in range(indptr[b], indptr[b + 1]):
                c = indices[further]
                if place_u[c] < 0 or (b == tail and c == head):
                    continue
                if not (both and b == head and c == tail):
                    return True
            if edges > max_edges:
                return False
    return False


@njit(nogil=True, cache=True)
def meet_pairs(
    out_matrix: Any,
    in_matrix: Any,
    pairs: Any,
    edges: Any,
    worth: Any,
    max_edges: int,
    result: Any,
    balls: Any,
) -> None:
    """Walks from u to v of as many steps as the balls of both allow.

    Args:
        out_matrix: S, see above.
        in_matrix: S transposed.
        pairs: Node indices, `[num_pairs, 2]`; the ball of u is used again by pairs that follow.
        edges: `(kind, scales)`: 0 where the pair is no edge, 1 where the arc from u to v is left
            out, -1 where that from v to u is, 2 where both are; and, `[num_pairs, 8]`, the factors
            of `_expand` from u, then from v.
        worth: One number per node, to sum up over 3-paths of an undirected graph; or empty.
        max_edges: How many edges each ball may follow.
        result: `(series, horizon, hops, three_paths)`: S^k[u, v], `[num_pairs, any]`; the last k
            that it holds; the edges of a shortest path, or 0 where it is longer than horizon, or
            perhaps one edge longer; and the sum of worth[a] worth[b] over the simple paths
            u - a - b - v, or -1 where the balls do not hold two steps from u and one from v.
        balls: Two balls, see `_expand`, and what v's nodes are in u's ball: lists `[...]` of local
            numbers and of factors.
    """
    kind, scales = edges
    series, horizon, hops, three_paths = result
    ball_u, ball_v, mapped, factor = balls
    middle, row_root, column_root = out_matrix[3:]
    place_u, x_u, counts_u, between_u = ball_u[1], ball_u[2], ball_u[3], ball_u[4]
    nodes_v, x_v, counts_v = ball_v[0], ball_v[2], ball_v[3]
    source, depth_u = -1, 0
    num_pairs = pairs.shape[0]
    for p in range(num_pairs):
        u, v = pairs[p, 0], pairs[p, 1]
        following = min(p + 1, num_pairs - 1)
        for end in range(2):
            prefetch(in_matrix[1], in_matrix[0][pairs[following, end]])
        if kind[p] == 0:
            from_v = (-1, -1, False, scales[p, :4])
            if u != source:
                depth_u, _ = _expand(out_matrix, u, from_v, max_edges, True, worth, ball_u)
                source = u
        else:
            both = kind[p] == 2
            tail, head = (v, u) if kind[p] == -1 else (u, v)
            from_u = (tail, head, both, scales[p, :4])
            depth_u, _ = _expand(out_matrix, u, from_u, max_edges, True, worth, ball_u)
            source = -1
            # Seen from v, edges are followed against their direction.
            from_v = (head, tail, both, scales[p, 4:])
        steps_v, depth_v = _expand(in_matrix, v, from_v, max_edges, False, worth[:0], ball_v)
        for local in range(counts_v[depth_v]):
            mapped[local] = place_u[nodes_v[local]]
            factor[local] = middle[nodes_v[local]] if mapped[local] >= 0 else 0.0
        ends = row_root[u] * column_root[v]
        steps = depth_u + steps_v
        horizon[p], hops[p] = steps, 0
        for k in range(steps + 1):
            j = min(k // 2, depth_v)
            i = min(k - j, depth_u)
            j = k - i
            total = 0.0
            if j == 0:  # at v itself a walk ends, and has no middle
                if mapped[0] >= 0 and mapped[0] < counts_u[i]:
                    total = x_u[i, mapped[0]]
            elif j > depth_v:
                total = _last_step(in_matrix, from_v, ball_v, depth_v, ball_u, i)
            else:
                for local in range(counts_v[j]):
                    there = mapped[local]
                    if there >= 0 and there < counts_u[i]:
                        total += x_u[i, there] * x_v[j, local] * factor[local]
            series[p, k] = total * ends
            if total > 0.0 and hops[p] == 0:
                hops[p] = k
        if hops[p] == 0 and _is_one_step_apart(
            in_matrix, from_v, ball_v, depth_v, steps_v, place_u, MORE_AT_FIRST * max_edges
        ):
            hops[p] = steps + 1
        three_paths[p] = -1.0
        if worth.shape[0] > 0 and depth_u >= 2 and depth_v >= 1:
            total = 0.0  # neither ball follows the own edge, so all of these paths are simple
            for local in range(1, counts_v[1]):
                if mapped[local] >= 0:
                    total += worth[nodes_v[local]] * between_u[mapped[local]]
            three_paths[p] = total


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
    decay = rest ** np.arange(series.shape[1])
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
            if k >= 4 and decay[k] > _SLOW:
                before = series[p, k - 2]
                value = min(max(value, before / 2), before * growth[parity])
                growth[parity] **= 0.7
            series[p, k] = value


@njit(nogil=True, cache=True)
def write_columns(
    series: Any, rows: Any, lengths: Any, factors: Any, floors: Any, columns: Any
) -> None:
    """Write the walks that are columns, and the PageRanks, which are sums over all steps.

    Args:
        series: S^k, `[num_pairs, num_steps + 1]`.
        rows: Where the columns of each pair go.
        lengths: The steps that are columns.
        factors: What to multiply steps by and sum up, `[num_steps + 1, num_sums]`.
        floors: The smallest walk and the smallest sum that are not written as 0.
        columns: Result, `[any, len(lengths) + num_sums]`.
    """
    num_lengths = lengths.shape[0]
    for p in range(series.shape[0]):
        row = rows[p]
        for i in range(num_lengths):
            value = series[p, lengths[i]]
            columns[row, i] = value if value >= floors[0] else 0.0
        for i in range(factors.shape[1]):
            total = 0.0
            for k in range(series.shape[1]):
                total += series[p, k] * factors[k, i]
            columns[row, num_lengths + i] = total if total >= floors[1] else 0.0
