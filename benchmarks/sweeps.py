"""Time the sweep kernel beside one queue search per set, on graphs of large diameter, one thread.

Sweeps go first and the queue takes over where they do not settle; this shows what each would take.

Run: python benchmarks/sweeps.py
"""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
from scipy.spatial import Delaunay

import pgnn
from pgnn.bench.graphs import grid_graph
from pgnn.bench.measure import best_time
from pgnn.positions.hops import relabelled
from pgnn.positions.kernels import search as _kernels
from pgnn.positions.kernels.rows import empty_rows


def planar_graph(num_nodes: int) -> pgnn.Graph:
    """Triangulate random points; neighbours have unrelated indices."""
    corners = Delaunay(np.random.default_rng(0).random((num_nodes, 2))).simplices
    pairs = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [0, 2]]])
    return pgnn.Graph.from_edges(pairs, num_nodes)


def maze_graph(side: int) -> pgnn.Graph:
    """Keep 65% of a grid's edges: long detours, the hardest case for sweeps."""
    edges = grid_graph(side, side).edges()
    kept = np.random.default_rng(0).random(len(edges)) < 0.65
    return pgnn.Graph.from_edges(edges[kept], side * side)


def tree_graph(num_nodes: int) -> pgnn.Graph:
    """A tree drawn evenly from all trees."""
    return pgnn.Graph.from_networkx(nx.random_labeled_tree(num_nodes, seed=0))


def compare(name: str, graph: pgnn.Graph) -> None:
    """Print the ratio for large, middling and the smallest sets, 16 sets at a time."""
    n = graph.num_nodes
    sets = pgnn.sample_anchor_sets(n, rng=0)
    shift = max(1, (n - 1).bit_length())
    cap = (1 << (32 - shift)) - 3
    places, rows = relabelled(graph)
    flat = (sets.indptr, sets.nodes.view(np.uint32))
    key, dirty = empty_rows(n, np.uint32), np.empty(n, dtype=np.uint8)
    single, queue = np.empty(n, dtype=np.uint32), np.empty(n + 1, dtype=np.uint32)
    parts = []
    for first in (0, len(sets) // 2 - 8, len(sets) - 16):
        block = (first, 16, shift, cap)

        def sweeps(block: Any = block) -> None:
            _kernels.search_sweeps(rows, flat, block, 0, 1 << 40, places, key, dirty)

        def queues(block: Any = block) -> None:
            _kernels.search_queue(rows, flat, block, places, key, single, queue)

        by_sweeps = best_time(sweeps, 3)
        keys = key.copy()
        by_queue = best_time(queues, 3)
        assert np.array_equal(key, keys)
        ratio = by_queue / by_sweeps
        parts.append(f"{by_sweeps * 1e3:6.1f} ms, queue {by_queue * 1e3:6.1f} ms ({ratio:.1f}x)")
    print(
        f"{name:<8} large sets {parts[0]};  middling {parts[1]};  smallest {parts[2]}", flush=True
    )


if __name__ == "__main__":
    compare("grid", grid_graph(300, 300))
    compare("planar", planar_graph(90_000))
    compare("tree", tree_graph(90_000))
    compare("maze", maze_graph(300))
