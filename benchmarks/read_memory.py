"""Peak memory of `read_graph` beside the size of the graph, with and without a limit.

Each file of 10 million edges is read by a process of its own. Its peak is that of its resident
memory as the system counts it, libraries included; a parquet file is decoded by a child process,
whose peak is counted apart. With a limit, pages that left the process may stay in the cache of the
system, which is not counted.

Run: python benchmarks/read_memory.py [--edges 10000000] [--out results/read_memory.json]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

SEED = 0
LIMITS = {
    "edges.csv": "300MB",
    "edges.csv.gz": "300MB",
    "edges.parquet": "300MB",
    "names.csv": "450MB",
}


def write_files(folder: Path, num_edges: int) -> None:
    """Write the same edges as text, compressed text and parquet, and with strings as ids."""
    rng = np.random.default_rng(SEED)
    pairs = rng.integers(0, num_edges // 10, (num_edges, 2)) * 3 + 11  # ids are not 0..n-1
    frame = pl.DataFrame({"source": pairs[:, 0], "target": pairs[:, 1]})
    frame.write_parquet(folder / "edges.parquet")
    frame.select(pl.format("user{}", pl.all())).write_csv(folder / "names.csv")
    frame.write_csv(folder / "edges.csv")
    subprocess.run(["gzip", "-k1", str(folder / "edges.csv")], check=True)


def read(path: str, memory: str | None) -> None:
    """Read a file, and print what that took as JSON."""
    import scipy.sparse  # noqa: F401 - what reading loads is there before it begins

    import pgnn
    from pgnn.bench.memory import peak_bytes, reset_peak

    with pgnn.memory_limit(memory):
        reset_peak()
        before, start, busy = peak_bytes(), time.perf_counter(), time.process_time()
        graph = pgnn.read_graph(path)
        peak, seconds, busy = peak_bytes(), time.perf_counter() - start, time.process_time() - busy
        arrays = (graph.indptr, graph.indices, graph.node_ids)
        size = sum(array.nbytes for array in arrays)
    child = resource.getrusage(resource.RUSAGE_CHILDREN)
    document = {
        "graph_mb": size / 1e6,
        "before_mb": before / 1e6,
        "peak_mb": peak / 1e6,
        "child_peak_mb": child.ru_maxrss * 1024 / 1e6,
        "graphs": (peak - before) / size,
        "seconds": seconds,
        "cpu_seconds": busy + child.ru_utime + child.ru_stime,
    }
    print(json.dumps(document))


def measured(path: Path, memory: str | None) -> dict[str, Any]:
    """Read a file in a process of its own."""
    arguments = [sys.executable, __file__, "--read", str(path), *([memory] if memory else [])]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    row: dict[str, Any] = {"file": path.name, "memory": memory, **json.loads(done.stdout)}
    if memory is not None:
        row["ratio"] = row["peak_mb"] / float(memory.removesuffix("MB"))
    return row


def main(num_edges: int, out: Path, show: Callable[[str], None] = print) -> None:
    """Measure all files; print and write the results."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        write_files(Path(name), num_edges)
        for file, limit in LIMITS.items():
            for memory in (None, limit):
                rows.append(measured(Path(name) / file, memory))
                show(_line(rows[-1]))
    document = {
        "command": f"python benchmarks/read_memory.py --edges {num_edges}",
        "seed": SEED,
        "edges": num_edges,
        "versions": {library: version(library) for library in ("numpy", "polars", "scipy")},
        "rows": rows,
    }
    out.write_text(json.dumps(document, indent=2) + "\n")


def _line(row: dict[str, Any]) -> str:
    said = f"{row['memory']} said, {row['ratio']:.2f} used" if row["memory"] else "no limit"
    return (
        f"{row['file']:<14} {said:<22} peak {row['peak_mb']:4.0f} MB = {row['before_mb']:.0f} "
        f"before + {row['graphs']:.1f} graphs of {row['graph_mb']:.0f} MB; child "
        f"{row['child_peak_mb']:.0f} MB; {row['cpu_seconds']:.1f} s of processor time"
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--read"]:
        read(sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None)
    else:
        parser = argparse.ArgumentParser()
        parser.add_argument("--edges", type=int, default=10_000_000)
        parser.add_argument("--out", type=Path, default=Path("results/read_memory.json"))
        options = parser.parse_args()
        main(options.edges, options.out)
