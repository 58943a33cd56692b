"""Time `anchor_ppr` beside scipy's sparse products and networkx.

Run: python benchmarks/ppr.py
"""

from __future__ import annotations

import time

import networkx as nx
import numpy as np

import pgnn
from pgnn.bench.graphs import random_graph
from pgnn.bench.measure import best_time
from pgnn.bench.ppr import ALPHA, TOL, errors, scipy_time, solve, solve_small

SCIPY_SETS = 16


def networkx_seconds(graph: pgnn.Graph, sources: int) -> float:
    """One personalised PageRank per node, which is how networkx gives ppr_v(u), extrapolated."""
    theirs = graph.to_networkx()
    start = time.perf_counter()
    for v in range(sources):
        nx.pagerank(theirs, alpha=1 - ALPHA, personalization={v: 1}, tol=TOL)
    return (time.perf_counter() - start) * graph.num_nodes / sources


def main() -> None:
    """Print one line per graph."""
    solve_small()
    for graph in (random_graph(3_000, 15_000, rng=0), random_graph(100_000, 500_000, rng=0)):
        sets = pgnn.sample_anchor_sets(graph.num_nodes, rng=0)
        sampled = np.linspace(0, len(sets) - 1, SCIPY_SETS).astype(int)
        ours = best_time(lambda: solve(graph, sets, None), 5)  # noqa: B023
        theirs = scipy_time(graph, sets, sampled) * len(sets) / SCIPY_SETS
        error, scipy_error = errors(graph, sets, sampled)
        line = f"{graph}, {len(sets)} sets: {ours:.3g} s (error {error:.1e})   "
        line += f"scipy {theirs:.3g} s ({theirs / ours:.1f}x ours, error {scipy_error:.1e})"
        if graph.num_nodes < 10_000:
            slow = networkx_seconds(graph, 20)
            line += f"   networkx {slow:.3g} s ({slow / ours:,.0f}x ours)"
        print(line + "   peers extrapolated", flush=True)


if __name__ == "__main__":
    main()
