"""Time of the processor for `read_graph` of a CSV file of 10 million edges, and other readers.

Run: python benchmarks/read_csv.py, which writes results/read_csv.json
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from time import process_time

import networkx as nx
import numpy as np
import polars as pl
from result_files import write_rows

import pgnn
from pgnn.bench.measure import best_time

EDGES = 10_000_000
SAMPLE = 200_000  # edges that the slow readers get; their time is extrapolated


def write_edges(path: Path, pairs: np.ndarray) -> None:
    """Write a header and a line an edge."""
    pl.DataFrame({"source": pairs[:, 0], "target": pairs[:, 1]}).write_csv(path)


def main() -> None:
    """Write the files, read them, print and write the times."""
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, EDGES // 10, (EDGES, 2)) * 3 + 11  # ids are not 0..n-1
    with tempfile.TemporaryDirectory() as folder:
        whole, sample = Path(folder) / "edges.csv", Path(folder) / "sample.csv"
        write_edges(whole, pairs)
        write_edges(sample, pairs[:SAMPLE])
        del pairs
        ours = best_time(lambda: pgnn.read_graph(whole), 3, clock=process_time)
        readers = {
            "numpy.loadtxt": lambda: np.loadtxt(sample, delimiter=",", skiprows=1, dtype=np.int64),
            "networkx.read_edgelist": lambda: nx.read_edgelist(sample, delimiter=",", nodetype=str),
        }
        peers = {
            name: best_time(read, 3, clock=process_time) * EDGES / SAMPLE
            for name, read in readers.items()
        }
    rows = [
        {"reader": name, "processor_seconds": seconds, "ratio": seconds / ours}
        for name, seconds in {"pgnn.read_graph": ours, **peers}.items()
    ]
    for row in rows:
        print(*row.values())
    write_rows("read_csv", rows, edges=EDGES, edges_of_peers=SAMPLE)


if __name__ == "__main__":
    main()
