"""Time `anchor_ppr` beside scipy's sparse products and networkx.

Run: python benchmarks/ppr.py
"""

from __future__ import annotations

import time

import networkx as nx
import numpy as np

import pgnn
from pgnn.bench.graphs import grid_graph, random_graph

ALPHA, TOL = 0.15, 1e-6


def scipy_seconds(graph: pgnn.Graph, sets: pgnn.AnchorSets, columns: int) -> float:
    """Fixed-point iteration with scipy's product on some sets, extrapolated to all."""
    walk = graph.to_scipy().astype(np.float64) / np.maximum(graph.degrees, 1)[:, None]
    walk = walk.tocsr()
    source = np.zeros((graph.num_nodes, columns))
    for i in range(columns):
        source[sets[i], i] = ALPHA / len(sets[i])
    start = time.perf_counter()
    visits = source.copy()
    for _ in range(int(np.ceil(np.log(TOL) / np.log(1 - ALPHA)))):
        visits = source + (1 - ALPHA) * (walk @ visits)
    return (time.perf_counter() - start) * len(sets) / columns


def networkx_seconds(graph: pgnn.Graph, sources: int) -> float:
    """One personalised PageRank per node, which is how networkx gives ppr_v(u), extrapolated."""
    theirs = graph.to_networkx()
    start = time.perf_counter()
    for v in range(sources):
        nx.pagerank(theirs, alpha=1 - ALPHA, personalization={v: 1}, tol=TOL)
    return (time.perf_counter() - start) * graph.num_nodes / sources


def main() -> None:
    """Print one line per graph."""
    pgnn.anchor_ppr(grid_graph(2, 2), [[0]])  # compile
    for graph in (random_graph(3_000, 15_000, rng=0), random_graph(100_000, 500_000, rng=0)):
        sets = pgnn.sample_anchor_sets(graph.num_nodes, rng=0)
        times = []
        for _ in range(3):
            start = time.perf_counter()
            pgnn.anchor_ppr(graph, sets, alpha=ALPHA, tol=TOL)
            times.append(time.perf_counter() - start)
        ours, theirs = min(times), scipy_seconds(graph, sets, 16)
        line = f"{graph}, {len(sets)} sets: {ours:.3g} s   scipy {theirs:.3g} s"
        line += f" ({theirs / ours:.1f}x ours)"
        if graph.num_nodes < 10_000:
            slow = networkx_seconds(graph, 20)
            line += f"   networkx {slow:.3g} s ({slow / ours:,.0f}x ours)"
        print(line + "   peers extrapolated", flush=True)


if __name__ == "__main__":
    main()
