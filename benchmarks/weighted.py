"""Time weighted `anchor_distances` beside scipy's search.

Run: python benchmarks/weighted.py
"""

from __future__ import annotations

import time

import numpy as np
from scipy.sparse.csgraph import dijkstra

import pgnn
from pgnn.bench.graphs import grid_graph, random_graph


def with_weights(graph: pgnn.Graph) -> pgnn.Graph:
    """The same edges with random lengths."""
    weights = np.random.default_rng(0).random(graph.num_edges) + 0.1
    return pgnn.Graph.from_edges(graph.edges(), graph.num_nodes, weights=weights)


def main() -> None:
    """Print one line per graph."""
    pgnn.anchor_distances(with_weights(grid_graph(2, 2)), [[0]])  # compile
    for graph in (random_graph(100_000, 500_000, rng=0), grid_graph(300, 300)):
        weighted = with_weights(graph)
        sets = pgnn.sample_anchor_sets(graph.num_nodes, rng=0)
        times = []
        for _ in range(3):
            start = time.perf_counter()
            pgnn.anchor_distances(weighted, sets)
            times.append(time.perf_counter() - start)
        matrix = weighted.to_scipy()
        sampled = range(0, len(sets), 32)
        start = time.perf_counter()
        for i in sampled:
            dijkstra(matrix, indices=sets[i], min_only=True, return_predecessors=True)
        theirs = (time.perf_counter() - start) * len(sets) / len(sampled)
        print(
            f"{weighted}, {len(sets)} sets: {min(times):.3g} s   scipy {theirs:.3g} s "
            f"({theirs / min(times):.1f}x ours, {len(sampled)} sets extrapolated)",
            flush=True,
        )


if __name__ == "__main__":
    main()
