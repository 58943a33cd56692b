"""What bounds the search: the machine's memory, measured, and how close the kernels come.

For each graph this measures, on one thread: what a pass over all edges costs if every node reads
the rows of its neighbours, what it costs if the ends of each edge exchange their rows (no level of
a search can be cheaper while all nodes are unfinished), what the search of all sets takes, how many
exchanges that is, and what writing the result takes beside a plain fill.

Run `python benchmarks/bounds.py`; it writes results/bounds.json.
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import numpy as np
from numba import njit

import pgnn
from pgnn.bench.graphs import grid_graph, preferential_graph, random_graph
from pgnn.bench.measure import best_time
from pgnn.positions import hops as _hops
from pgnn.positions.kernels import search as _kernels
from pgnn.positions.kernels.rows import ROW_BYTES, empty_rows, pull_row

RESULTS = Path(__file__).parents[1] / "results" / "bounds.json"


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


def measure(name: str, graph: pgnn.Graph, repeats: int) -> dict[str, Any]:
    """Return what was measured on one graph; times are seconds."""
    n = graph.num_nodes
    sets = pgnn.sample_anchor_sets(n, rng=0)
    rows = _hops.row_arrays(graph)
    key = empty_rows(n, np.uint32)
    key[:] = np.random.default_rng(0).integers(1, 2**30, key.shape)
    ahead = _hops.EARLY_FETCH_AHEAD if n * ROW_BYTES > _hops.EARLY_FETCH_BYTES else 0
    above = np.empty(n, dtype=np.int64)
    _kernels.starts_above(rows[0], rows[1], above)
    block = (0, 16, 0, 1)
    pulled = best_time(lambda: pull_all(rows[0], rows[1], key, ahead), 2 * repeats)
    exchanged = best_time(lambda: _kernels.exchange(rows, block, above, ahead, key), 2 * repeats)
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
    hops, nearest = np.empty_like(result.hops), np.empty_like(result.nearest)
    fill = best_time(lambda: hops.fill(0), repeats) + best_time(lambda: nearest.fill(0), repeats)
    blocks = len(_hops.level_blocks(sets.sizes, 16))
    row = {
        "graph": name,
        "nodes": n,
        "edges": graph.num_edges,
        "key_bytes": key.nbytes,
        "pull_seconds": pulled,
        "exchange_seconds": exchanged,
        "search_seconds": min(searched),
        "blocks": blocks,
        "exchanges_per_block": min(searched) / exchanged / blocks,
        "write_seconds": min(written),
        "fill_seconds": fill,
    }
    print(json.dumps(row), flush=True)
    return row


def copy_speed() -> float:
    """Bytes per second that a plain copy reads and writes."""
    source = np.ones(1 << 27)
    target = np.empty_like(source)
    return 2 * source.nbytes / best_time(lambda: np.copyto(target, source), 5)


if __name__ == "__main__":
    SEARCH = Stopwatch(_kernels, "search_levels", "search_sweeps", "search_queue")
    WRITE = Stopwatch(_kernels, "emit_block", "emit_ranked")
    speed = copy_speed()
    pgnn.anchor_distances(grid_graph(2, 60), [[0]])
    document = {
        "command": "python benchmarks/bounds.py",
        "versions": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "numba": numba.__version__,
        },
        "threads": 1,
        "seed": 0,
        "copy_bytes_per_second": speed,
        "rows": [
            measure("random, 100,000", random_graph(100_000, 500_000, rng=0), 9),
            measure("grid 300 x 300", grid_graph(300, 300), 9),
            measure("preferential, 200,000", preferential_graph(200_000, 8, rng=0), 7),
            measure("random, 1,000,000", random_graph(1_000_000, 10_000_000, rng=0), 2),
        ],
    }
    RESULTS.write_text(json.dumps(document, indent=1) + "\n")
