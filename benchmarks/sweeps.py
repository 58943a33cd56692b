"""Time the sweep kernel beside one queue search per set, on graphs of large diameter.

Sweeps go first and the queue takes over where they do not settle; this shows what each would take,
in time of the processor, on one thread.

Run: python benchmarks/sweeps.py, which writes results/sweeps.json
"""

from __future__ import annotations

from time import process_time
from typing import Any

import networkx as nx
import numpy as np
from result_files import write_rows
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


def compare(name: str, graph: pgnn.Graph) -> list[dict[str, Any]]:
    """Time large, middling and the smallest sets, 16 sets at a time; a row of each."""
    n = graph.num_nodes
    sets = pgnn.sample_anchor_sets(n, rng=0)
    shift = max(1, (n - 1).bit_length())
    cap = (1 << (32 - shift)) - 3
    places, rows = relabelled(graph)
    flat = (sets.indptr, sets.nodes.view(np.uint32))
    key, dirty = empty_rows(n, np.uint32), np.empty(n, dtype=np.uint8)
    single, queue = np.empty(n, dtype=np.uint32), np.empty(n + 1, dtype=np.uint32)
    measured = []
    firsts = {"large": 0, "middling": len(sets) // 2 - 8, "smallest": len(sets) - 16}
    for size, first in firsts.items():
        block = (first, 16, shift, cap)

        def sweeps(block: Any = block) -> None:
            _kernels.search_sweeps(rows, flat, block, 0, 1 << 40, places, key, dirty)

        def queues(block: Any = block) -> None:
            _kernels.search_queue(rows, flat, block, places, key, single, queue)

        by_sweeps = best_time(sweeps, 9, clock=process_time)
        keys = key.copy()
        by_queue = best_time(queues, 9, clock=process_time)
        assert np.array_equal(key, keys)
        row = {"graph": name, "sets": size, "sweeps_seconds": by_sweeps, "queue_seconds": by_queue}
        print(*row.values(), f"{by_queue / by_sweeps:.1f}x", flush=True)
        measured.append(row)
    return measured


if __name__ == "__main__":
    graphs = {
        "grid": grid_graph(300, 300),
        "planar": planar_graph(90_000),
        "tree": tree_graph(90_000),
        "maze": maze_graph(300),
    }
    write_rows("sweeps", [row for name, graph in graphs.items() for row in compare(name, graph)])
