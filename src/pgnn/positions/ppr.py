"""Personalised PageRank from every node to every anchor-set, all sets at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, repeat
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pgnn.checks import checked, fits_memory, number, true_or_false
from pgnn.errors import Parameter, PGNNError
from pgnn.graph import Graph
from pgnn.graph.graph import check_graph
from pgnn.positions.anchors import AnchorSets
from pgnn.threads import Progress, columns_of, leave_if_stopped, resolve_threads, run_blocks

Rows = NDArray[np.float32] | NDArray[np.float64]

_BLOCK_SETS = 16  # solved together, as many as the kernels have lanes
_PART_ENTRIES = 1 << 20  # edges and nodes of one call of a kernel, about a hundredth of a second
_ROUND_TOL = 1e-4  # what steps in float32 are asked to leave over, at least
_SMALLEST_FLOAT32_ALPHA = 1e-3  # below it, rounding to float32 outweighs the source
_FLOAT32_ROUNDING = 2.0**-24
_SMALLEST_TOL = 1e-7
_SMALLEST_ALPHA = 1e-6  # a smaller one takes tens of millions of products on a directed graph


@checked
def anchor_ppr(
    graph: Graph,
    sets: AnchorSets | Sequence[ArrayLike],
    *,
    alpha: float = 0.15,
    tol: float = 1e-6,
    per_degree: bool = False,
    num_threads: int | None = None,
    progress: Progress | None = None,
) -> NDArray[np.float32]:
    """Mean personalised PageRank of the nodes of each anchor-set, seen from every node.

    Entry (v, i) is the mean over u in S_i of ppr_v(u), where

        ppr_v = alpha * sum_t (1 - alpha)^t e_v W^t

    is where a walk is that starts at v, restarts at v with probability alpha before each step, and
    else follows an edge at random: W = D^-1 A. Weights are strengths here, not lengths:
    an edge is taken with probability proportional to its weight. Directed edges are walked from
    source to target. A node without outgoing edges sends the walk back to v, as in
    `networkx.pagerank(personalization={v: 1})`.

    All sets are solved together, in blocks of 16. With the defaults a block takes about 30 sparse
    products on an undirected graph and 88, often half, on a directed one. Nearly all are done in
    float32; what they leave over is found in float64 and solved in turn, which keeps the error
    below `tol`. Besides the result, the memory is at most 24 bytes per stored edge and 512 bytes
    per node and thread (900 with `alpha` below 0.001); nothing of n x n is ever made.

    Args:
        graph: The graph to walk on.
        sets: AnchorSets, or any node sets.
        alpha: Probability of a restart, between 0 and 1 (exclusive).
        tol: Every entry of column i is within `tol` times the largest value it could have, which
            is 1 / |S_i| (with `per_degree`, divided by the smallest degree in S_i). At least 1e-7:
            results are float32.
        per_degree: Whether to take the mean of ppr_v(u) / degree(u), which on an undirected graph
            is symmetric in u and v. The degree is the sum of the weights of the (outgoing) edges,
            taken as 1 for a node without any.
        num_threads: Number of threads, by default one per core. It does not change the result.
        progress: Called with (sets solved, sets in all) after each block.

    Returns:
        float32 `[num_nodes, num_sets]`.

    Raises:
        PGNNError: If an argument is out of range or the sets belong to a graph of another size.

    Example:
        >>> graph = Graph.from_edges([(0, 1), (1, 2)])
        >>> anchor_ppr(graph, [[0], [1, 2]], alpha=0.5).round(3)
        array([[0.583, 0.208],
               [0.167, 0.417],
               [0.083, 0.458]], dtype=float32)
    """
    check_graph(graph)
    sets = AnchorSets.of(sets, graph.num_nodes)
    _check(alpha, tol)
    true_or_false("per_degree", per_degree)
    threads = resolve_threads(num_threads)
    fits_memory("sets", f"{len(sets):,} anchor-sets", 4 * graph.num_nodes * len(sets))
    from pgnn.positions.kernels.ppr import write_block

    walk = _Walk.on(graph, alpha)
    within = tol - _FLOAT32_ROUNDING
    survival = walk.survival(0.05 * within)
    strength = _degrees(graph) if per_degree else np.ones(graph.num_nodes)
    result = np.empty((graph.num_nodes, len(sets)), dtype=np.float32)

    def solve_block(block: range, work: _Work) -> None:
        scale = work.begin(sets, block, alpha, strength)
        # X relative to Y within 0.9 tol' and Y within 0.05 tol' of itself put X / Y, which is at
        # most 1, within 0.95 tol' / (1 - 0.05 tol') <= tol' = tol - rounding to float32.
        walk.solve(work, 0.9 * within)
        write_block(work.solution, work.left_over, survival, scale, block.start, result)

    starts = range(0, len(sets), _BLOCK_SETS)
    blocks = [range(first, min(first + _BLOCK_SETS, len(sets))) for first in starts]
    run_blocks(
        *(solve_block, blocks, lambda: _Work.of(graph.num_nodes), threads, progress),
        fills=columns_of(result),
    )
    return result


@dataclass(frozen=True, eq=False)
class _Walk:
    """A walk that dies with probability alpha before each step, and at nodes with no way out.

    With W0 = D^-1 A, zero in the rows of nodes without outgoing edges, R = (I - (1 - alpha) W0)^-1
    counts the visits of this walk, and Y = alpha R 1. When the walk restarts at v instead of
    ending at a dead end, it strings together copies of itself, so that the share of time it spends
    at u is R[v, u] / sum_w R[v, w]: ppr_v = alpha R[v] / Y[v].
    """

    matrix: tuple[Any, ...]  # (1 - alpha) W0 as the kernels read it
    parts: list[tuple[int, int]]  # rows that are done in one call: Ctrl-C waits for no more
    alpha: float
    directed: bool
    log_spread: float  # log sqrt(total / smallest degree)

    @classmethod
    def on(cls, graph: Graph, alpha: float) -> _Walk:
        degrees = _degrees(graph)
        scale, entries = (1 - alpha) / degrees, None
        if graph.weights is not None:
            entries = (1 - alpha) * (graph.weights / np.repeat(degrees, graph.degrees))
            scale = np.ones(graph.num_nodes)
        num_parts = 1 + (graph.num_nodes + len(graph.indices)) // _PART_ENTRIES
        weight = graph.indptr + np.arange(graph.num_nodes + 1)
        cuts = np.searchsorted(weight, np.linspace(0, weight[-1], num_parts + 1))
        return cls(
            (graph.indptr, graph.indices, entries, scale),
            list(pairwise(cuts.tolist())),
            float(alpha),
            graph.directed,
            (math.log(degrees.sum()) - math.log(degrees.min())) / 2,
        )

    def survival(self, tol: float) -> NDArray[np.float64]:
        """Return Y = alpha R 1, `[num_nodes]`, every entry within `tol` times itself."""
        is_dead_end = np.diff(self.matrix[0]) == 0
        if not self.directed or not is_dead_end.any():
            # A dead end of an undirected graph is isolated; all others walk for ever.
            return np.where(is_dead_end, self.alpha, 1.0)
        work = _Work.of(len(is_dead_end))
        work.left_over[:, 0] = self.alpha
        self.solve(work, tol)
        return work.solution[:, 0] + work.left_over[:, 0]

    def solve(self, work: _Work, tol: float) -> None:
        """Solve X = R source, `[num_nodes, 16]`, every entry of row v within tol * Y[v].

        The source is in `work.left_over`; X is `work.solution + work.left_over` in the end.

        What is left over, r = source - (I - (1 - alpha) W0) x, tells when to stop. The error of x
        is R r, and R has no negative entry, so |error| <= R 1 max |r| = Y max |r| / alpha. That of
        x + r is R (1 - alpha) W0 r, smaller by 1 - alpha.

        Rounding to float32 hides what is left over of a nearly exact x. So x is the sum of a few
        rough solutions e = R r, each for what the ones before left over, which is found in float64.
        """
        from pgnn.positions.kernels.ppr import settle

        goal = self.alpha * tol / (1 - self.alpha)
        size = self.alpha  # at most
        num_rounds = max(1, math.ceil(math.log(goal / size) / math.log(_ROUND_TOL)))
        round_tol = (goal / size) ** (1 / num_rounds)
        precise = self.alpha < _SMALLEST_FLOAT32_ALPHA
        while size > goal and not precise:
            rough = self._solve_roughly(work, round_tol, size)
            before, size = size, self._in_parts(settle, rough, work.left_over, work.solution)
            precise = size > before / 2
        if size > goal:
            rough = self._solve_roughly(work.precise(), goal / size, size)
            self._in_parts(settle, rough, work.left_over, work.solution)

    def _solve_roughly(self, work: _Work, tol: float, size: float) -> Rows:
        """Return e that leaves about `tol` times `size` over of r, which is at most `size`.

        On an undirected graph the steps are Chebyshev's. On a directed one they are those of Gauss
        and Seidel, which is the plain step done in place: rows see what rows before them became.
        With U the part of (1 - alpha) W0 that still met old values and d the change of e, the new e
        leaves U d over, at most max |d|, so the same test stops both.
        """
        from pgnn.positions.kernels.ppr import advance

        np.copyto(work.source, work.left_over, casting="same_kind")
        np.copyto(work.current, work.source)
        current, previous = work.current, work.current
        if not self.directed:
            previous = work.previous
            previous.fill(0)
        for omega in self._omegas(tol):
            left = self._in_parts(advance, work.source, current, previous, omega)
            current, previous = previous, current
            if left <= tol * size:
                break
        return current

    def _in_parts(self, kernel: Callable[..., float], *arguments: Any) -> float:
        """Return the largest number that a kernel returns for any part of the rows."""
        largest = 0.0
        for part in self.parts:
            leave_if_stopped()
            largest = max(largest, kernel(self.matrix, part, *arguments))
        return largest

    def _omegas(self, tol: float) -> Iterator[float]:
        """Yield the factors of the steps after x_0 = 0, x_1 = c, as many as can be needed.

        The spectrum of W0 on an undirected graph is real, in [-1, 1], and Chebyshev's
        semi-iteration (Golub and Varga, 1961) divides the error in the degree-weighted 2-norm, at
        first <= 1, by T_t(1 / beta) with beta = 1 - alpha; `log_spread` turns this norm into the
        largest entry. On a directed graph the spectrum is anywhere in the disc; a step in place
        divides the error, at first <= Y, by 1 / beta or more. So even where rounding hides that the
        residual is small enough (tiny alpha), the steps end with a good x.
        """
        if self.directed:
            yield from repeat(1.0, math.ceil(math.log(tol) / math.log1p(-self.alpha)))
            return
        beta = 1 - self.alpha
        num_steps = math.ceil((math.log(2 / tol) + self.log_spread) / math.acosh(1 / beta))
        omega = 2.0
        for _ in range(num_steps):
            omega = 1 / (1 - beta * beta * omega / 4)
            yield omega


@dataclass(frozen=True, eq=False)
class _Work:
    """What a thread needs to solve a block of sets: arrays `[num_nodes, 16]`, one lane per set."""

    left_over: NDArray[np.float64]
    solution: NDArray[np.float64]
    source: Rows
    current: Rows
    previous: Rows

    @classmethod
    def of(cls, num_nodes: int) -> _Work:
        from pgnn.positions.kernels.ppr import LANES
        from pgnn.positions.kernels.rows import empty_rows

        doubles = np.zeros((2, num_nodes, LANES))
        return cls(*doubles, *(empty_rows(num_nodes, np.float32) for _ in range(3)))

    def precise(self) -> _Work:
        """Return the same work with steps in float64."""
        steps = (np.empty_like(self.solution) for _ in range(3))
        return _Work(self.left_over, self.solution, *steps)

    def begin(
        self, sets: AnchorSets, block: range, alpha: float, strength: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Fill in one source per set, at most alpha; return the factors that make means of them."""
        self.left_over.fill(0)
        self.solution.fill(0)
        scale = np.empty(len(block))
        for lane, index in enumerate(block):
            leave_if_stopped()
            members = sets[index]
            weakest = strength[members].min()
            self.left_over[members, lane] = alpha * weakest / strength[members]
            scale[lane] = 1 / (len(members) * weakest)
        return scale


def _degrees(graph: Graph) -> NDArray[np.float64]:
    """Return the summed weight of each node's (outgoing) edges, 1 where there is none."""
    sources = np.repeat(np.arange(graph.num_nodes), graph.degrees)
    degrees = np.bincount(sources, weights=graph.weights, minlength=graph.num_nodes)
    if not np.isfinite(degrees.sum()):
        raise PGNNError("the weights of the graph sum to infinity in float64; scale them down")
    degrees[graph.degrees == 0] = 1
    return degrees.astype(np.float64)


def _check(alpha: float, tol: float) -> None:
    """Refuse arguments out of range."""
    number("alpha", alpha)
    number("tol", tol)
    if not _SMALLEST_ALPHA <= alpha < 1:
        raise PGNNError(
            Parameter("alpha"), f" must be at least {_SMALLEST_ALPHA} and below 1 (got {alpha})"
        )
    if not _SMALLEST_TOL <= tol < 1:
        raise PGNNError(
            Parameter("tol"),
            f" must be at least {_SMALLEST_TOL}, because results are float32, and below 1 "
            f"(got {tol})",
        )
