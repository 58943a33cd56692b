"""Time weighted `anchor_distances` beside scipy's search, for several kinds of lengths.

Run: python benchmarks/weighted.py
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import pgnn
from pgnn.bench.distances import scipy_time
from pgnn.bench.graphs import grid_graph, random_graph
from pgnn.bench.measure import best_time

Lengths = Callable[[np.random.Generator, int], NDArray[np.float64]]

KINDS: dict[str, Lengths] = {
    "0.1 to 1.1": lambda rng, count: rng.random(count) + 0.1,
    "above 0 to 1": lambda rng, count: 1 - rng.random(count),
    "1 to 9, whole": lambda rng, count: rng.integers(1, 10, count).astype(np.float64),
    "over nine orders": lambda rng, count: np.exp(rng.normal(0, 3, count)),
    "light or heavy": lambda rng, count: (
        np.where(rng.random(count) < 0.4, 1e-6, 1.0) * (0.5 + rng.random(count))
    ),
}


def main() -> None:
    """Print one line per graph and kind of lengths."""
    graphs = {
        "random": random_graph(100_000, 500_000, rng=0),
        "grid": grid_graph(300, 300),
        "path": grid_graph(1, 100_000),
    }
    for name, graph in graphs.items():
        sets = pgnn.sample_anchor_sets(graph.num_nodes, rng=0)
        sampled = np.linspace(0, len(sets) - 1, 8).astype(int)
        for kind, lengths in KINDS.items():
            for directed in (False, True) if name == "random" else (False,):
                weighted = pgnn.Graph.from_edges(
                    graph.edges(),
                    graph.num_nodes,
                    weights=lengths(np.random.default_rng(0), graph.num_edges),
                    directed=directed,
                )
                ours = best_time(lambda: pgnn.anchor_distances(weighted, sets), 3)  # noqa: B023
                theirs = scipy_time(weighted.reversed(), sets, sampled) * len(sets) / len(sampled)
                print(
                    f"{name}{', directed' * directed}, lengths {kind}: {ours:.3g} s   scipy "
                    f"{theirs:.3g} s ({theirs / ours:.1f}x ours, {len(sampled)} sets extrapolated)",
                    flush=True,
                )


if __name__ == "__main__":
    main()
