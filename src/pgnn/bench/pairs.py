"""`pgnn bench pairs`: all columns of pair proximities against two of networkx's, per pair."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from pgnn.bench.graphs import grid_graph, preferential_graph, random_graph
from pgnn.bench.measure import best_time, in_child
from pgnn.bench.memory import peak_bytes, reset_peak
from pgnn.errors import PGNNError
from pgnn.graph import Graph
from pgnn.pairs.proximities import pair_proximities
from pgnn.threads import resolve_threads


@dataclass(frozen=True)
class Family:
    """A graph to measure, how many random pairs, how often, and how many of them with networkx."""

    make: Callable[[], Graph]
    pairs: int
    repeats: int = 3
    networkx_pairs: int = 200


FAMILIES = {
    "random-3000": Family(lambda: random_graph(3_000, 30_000, rng=0), 200_000),
    "grid": Family(lambda: grid_graph(300, 300), 20_000),
    "preferential": Family(lambda: preferential_graph(100_000, 8, rng=0), 50_000),
    "random": Family(lambda: random_graph(100_000, 1_000_000, rng=0), 200_000, repeats=2),
}


@dataclass(frozen=True)
class Row:
    """One measurement; the time is the best of several, sizes are bytes."""

    family: str
    nodes: int
    edges: int
    pairs: int
    columns: int
    seconds: float
    networkx_seconds: float
    ratio: float
    peak_bytes: int
    threads: int
    load_seconds: float
    networkx_pairs_measured: int
    estimated: str


def run(names: list[str] | None = None, num_threads: int | None = None) -> Iterator[Row]:
    """Measure each family in a process of its own, so that peaks of memory do not mix."""
    unknown = set(names or ()) - set(FAMILIES)
    if unknown:
        raise PGNNError(f"unknown family {min(unknown)!r}; there are {', '.join(FAMILIES)}")
    for name in names or FAMILIES:
        yield Row(**in_child("pgnn.bench.pairs", name, num_threads or ""))


def measure(name: str, num_threads: int | None = None) -> Row:
    """Measure one family in this process."""
    family = FAMILIES[name]
    graph = family.make()
    pairs = random_pairs(graph, family.pairs)
    start = time.perf_counter()
    for method in ("exact", "estimated"):  # kernels of both, if not yet compiled
        pair_proximities(grid_graph(2, 3), [(0, 1), (0, 5)], method=method)
    load_seconds = time.perf_counter() - start

    reset_peak()
    proximities = pair_proximities(graph, pairs, num_threads=num_threads)
    peak = peak_bytes()
    seconds = best_time(
        lambda: pair_proximities(graph, pairs, num_threads=num_threads), family.repeats
    )
    sample = pairs[: family.networkx_pairs]
    networkx_seconds = networkx_time(graph, sample) * len(pairs) / len(sample)
    return Row(
        family=name,
        nodes=graph.num_nodes,
        edges=graph.num_edges,
        pairs=len(pairs),
        columns=len(proximities.columns),
        seconds=seconds,
        networkx_seconds=networkx_seconds,
        ratio=networkx_seconds / seconds,
        peak_bytes=peak,
        threads=resolve_threads(num_threads),
        load_seconds=load_seconds,
        networkx_pairs_measured=len(sample),
        estimated=proximities.estimated,
    )


def random_pairs(graph: Graph, count: int) -> NDArray[np.int64]:
    """Draw pairs of different nodes."""
    generator = np.random.default_rng(0)
    first = generator.integers(0, graph.num_nodes, count)
    second = generator.integers(0, graph.num_nodes - 1, count)
    return np.stack([first, second + (second >= first)], axis=1)


def networkx_time(graph: Graph, pairs: NDArray[np.int64]) -> float:
    """Seconds networkx takes for common neighbours and the shortest path of these pairs."""
    import networkx as nx

    theirs = graph.to_networkx()
    start = time.perf_counter()
    for u, v in pairs.tolist():
        len(list(nx.common_neighbors(theirs, u, v)))
        with suppress(nx.NetworkXNoPath):
            nx.shortest_path_length(theirs, u, v)
    return time.perf_counter() - start


if __name__ == "__main__":
    family, threads = sys.argv[1:]
    json.dump(asdict(measure(family, int(threads) if threads else None)), sys.stdout)
