"""What bounds the search: the machine's memory, measured, and how close the kernels come.

For each graph this prints, on one thread: what a pass over all edges costs that reads one row per
neighbour (no level of a search can be cheaper while all nodes are unfinished), what the search of
all sets takes, how many such passes that is, and what writing the result takes beside a plain fill.

Run: python benchmarks/bounds.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from numba import njit

import pgnn
from pgnn.bench.graphs import grid_graph, preferential_graph, random_graph
from pgnn.bench.measure import best_time
from pgnn.positions import hops as _hops
from pgnn.positions.kernels import search as _kernels
from pgnn.positions.kernels.rows import ROW_BYTES, empty_rows, pull_row


@njit(nogil=True)  # type: ignore[untyped-decorator]
def pull_all(ptr: Any, idx: Any, key: Any, ahead: int) -> None:
    """Read every neighbour's row of every node once."""
    step = key.dtype.type(1)
    for v in range(ptr.shape[0] - 1):
        pull_row(key, v, step, idx, ptr[v], ptr[v + 1], ahead)


class Stopwatch:
    """Adds up the seconds spent in some kernels."""

    def __init__(self, module: ModuleType, *names: str) -> None:
        self.seconds = 0.0
        for name in names:
            setattr(module, name, self.timed(getattr(module, name)))

    def timed(self, kernel: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a kernel."""

        def call(*arguments: Any) -> Any:
            start = time.perf_counter()
            result = kernel(*arguments)
            self.seconds += time.perf_counter() - start
            return result

        return call


def measure(name: str, graph: pgnn.Graph, repeats: int) -> None:
    """Print a line about one graph."""
    n = graph.num_nodes
    sets = pgnn.sample_anchor_sets(n, rng=0)
    indices = graph.indices.view(np.uint32)
    key = empty_rows(n, np.uint32)
    key[:] = np.random.default_rng(0).integers(1, 2**30, key.shape)
    ahead = _hops.EARLY_FETCH_AHEAD if n * ROW_BYTES > _hops.EARLY_FETCH_BYTES else 0
    floor = best_time(lambda: pull_all(graph.indptr, indices, key, ahead), 2 * repeats)
    searched, written = [], []
    result = None
    for _ in range(repeats):
        SEARCH.seconds = WRITE.seconds = 0.0
        result = None  # hand its memory to the next
        result = pgnn.anchor_distances(graph, sets, num_threads=1)
        searched.append(SEARCH.seconds)
        written.append(WRITE.seconds)
    assert result is not None
    assert result.hops is not None
    hops, nearest = result.hops, result.nearest
    fill = best_time(lambda: np.copyto(hops, 0), repeats) + best_time(
        lambda: np.copyto(nearest, 0), repeats
    )
    blocks = len(_hops.level_blocks(sets.sizes, 16))
    rate = len(indices) * ROW_BYTES / floor / 1e9
    passes = min(searched) / floor / blocks
    print(
        f"{name:<14} one pass {floor * 1e3:.1f} ms: {floor / len(indices) * 1e9:.1f} ns per row, "
        f"{rate:.1f} GB/s;  search {min(searched) * 1e3:.0f} ms: {passes:.1f} passes per block, "
        f"{blocks} blocks;  write {min(written) * 1e3:.0f} ms, plain fill {fill * 1e3:.0f} ms",
        flush=True,
    )


if __name__ == "__main__":
    SEARCH = Stopwatch(_kernels, "search_levels", "search_sweeps", "search_queue")
    WRITE = Stopwatch(_kernels, "emit_block", "emit_ranked")
    source = np.ones(1 << 27)
    target = np.empty_like(source)
    seconds = best_time(lambda: np.copyto(target, source), 5)
    print(
        f"copying 1 GiB: {2 * source.nbytes / seconds / 1e9:.1f} GB/s read and written, one thread"
    )
    del source, target
    pgnn.anchor_distances(grid_graph(2, 60), [[0]])
    measure("random", random_graph(100_000, 500_000, rng=0), 9)
    measure("grid", grid_graph(300, 300), 9)
    measure("preferential", preferential_graph(200_000, 8, rng=0), 7)
    measure("random-1m", random_graph(1_000_000, 10_000_000, rng=0), 2)
