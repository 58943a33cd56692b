"""Personalised PageRank beside scipy's sparse products, at the same error."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgnn.bench.graphs import grid_graph
from pgnn.bench.measure import best_time
from pgnn.graph import Graph
from pgnn.positions import anchor_ppr
from pgnn.positions.anchors import AnchorSets

ALPHA, TOL = 0.15, 1e-6
_EXACT_TOL = 1e-14


def solve(graph: Graph, sets: AnchorSets, num_threads: int | None) -> NDArray[np.float32]:
    """Compute what is measured."""
    return anchor_ppr(graph, sets, alpha=ALPHA, tol=TOL, num_threads=num_threads)


def solve_small() -> None:
    """Solve a tiny graph, so that the kernels are compiled."""
    anchor_ppr(grid_graph(2, 2), [[0]])


def scipy_products(
    graph: Graph, sets: AnchorSets, sampled: Any, tol: float = TOL
) -> NDArray[np.float64]:
    """Iterate x = c + (1 - alpha) D^-1 A x from x = c for some sets at once, `[n, len(sampled)]`.

    After k products, x is within (1 - alpha)^(k + 1) / |S| of the solution; k is the least that
    makes this `tol` / |S|. The graph has no weights.
    """
    walk = (graph.to_scipy().astype(np.float64) / np.maximum(graph.degrees, 1)[:, None]).tocsr()
    source = np.zeros((graph.num_nodes, len(sampled)))
    for column, i in enumerate(sampled):
        source[sets[i], column] = ALPHA / len(sets[i])
    visits = source.copy()
    for _ in range(math.ceil(math.log(tol) / math.log(1 - ALPHA)) - 1):
        visits = source + (1 - ALPHA) * (walk @ visits)
    # A walk that cannot move restarts where it is.
    visits[graph.degrees == 0] /= ALPHA
    return visits


def scipy_time(graph: Graph, sets: AnchorSets, sampled: Any) -> float:
    """Seconds scipy takes for some sets."""
    return best_time(lambda: scipy_products(graph, sets, sampled), 3)


def errors(graph: Graph, sets: AnchorSets, sampled: Any) -> tuple[float, float]:
    """Return the largest errors, ours and scipy's, as shares of the largest value there can be."""
    exact = scipy_products(graph, sets, sampled, _EXACT_TOL)
    ours = solve(graph, AnchorSets.of([sets[i] for i in sampled], graph.num_nodes), None)
    sizes = sets.sizes[sampled]
    near = (ours, scipy_products(graph, sets, sampled))
    first, second = (float((np.abs(values - exact) * sizes).max()) for values in near)
    return first, second
