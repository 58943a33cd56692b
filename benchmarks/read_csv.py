"""Time and peak memory of `read_graph` on a CSV file of 10 million edges, beside other readers.

Run: python benchmarks/read_csv.py [number of edges]
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import networkx as nx
import numpy as np
import polars as pl

import pgnn
from pgnn.bench.memory import peak_bytes, reset_peak

SAMPLE = 200_000  # edges that the slow readers get; their time is extrapolated


def write_edges(path: Path, pairs: np.ndarray) -> None:
    """Write a header and a line an edge."""
    pl.DataFrame({"source": pairs[:, 0], "target": pairs[:, 1]}).write_csv(path)


def main(num_edges: int) -> None:
    """Write the files, read them, print the times."""
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, num_edges // 10, (num_edges, 2)) * 3 + 11  # ids are not 0..n-1
    with tempfile.TemporaryDirectory() as folder:
        whole, sample = Path(folder) / "edges.csv", Path(folder) / "sample.csv"
        write_edges(whole, pairs)
        write_edges(sample, pairs[:SAMPLE])
        del pairs
        print(f"{num_edges:,} edges, {whole.stat().st_size / 1e6:.0f} MB")
        times = []
        reset_peak()
        for _ in range(3):
            start = time.perf_counter()
            graph = pgnn.read_graph(whole)
            times.append(time.perf_counter() - start)
        print(f"pgnn.read_graph        {min(times):8.2f} s   {graph}")
        arrays = (graph.indptr, graph.indices, graph.node_ids)
        size = sum(array.nbytes for array in arrays)
        print(f"peak {peak_bytes() / 1e6:.0f} MB of memory, for a graph of {size / 1e6:.0f} MB")
        scale = num_edges / min(SAMPLE, num_edges)
        start = time.perf_counter()
        np.loadtxt(sample, delimiter=",", skiprows=1, dtype=np.int64)
        report("numpy.loadtxt (no graph)", (time.perf_counter() - start) * scale, min(times))
        start = time.perf_counter()
        nx.read_edgelist(sample, delimiter=",", nodetype=str)
        report("networkx.read_edgelist", (time.perf_counter() - start) * scale, min(times))


def report(name: str, seconds: float, ours: float) -> None:
    """Print a peer's time, extrapolated from its sample."""
    print(f"{name:<24} {seconds:6.1f} s   {seconds / ours:.1f}x ours (extrapolated)")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
