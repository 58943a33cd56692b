"""`pgnn bench distances`: the engine against scipy's search and the released all-pairs method."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from pgnn.bench import ppr
from pgnn.bench.graphs import grid_graph, preferential_graph, random_graph, weighted_graph
from pgnn.bench.measure import best_time, in_child
from pgnn.bench.memory import peak_bytes, reset_peak
from pgnn.errors import PGNNError
from pgnn.graph import Graph
from pgnn.positions import AnchorDistances, anchor_distances
from pgnn.positions.anchors import AnchorSets, sample_anchor_sets

_RESULTS = ("hops", "lengths", "nearest")


@dataclass(frozen=True)
class Row:
    """One measurement; times are the best of several, sizes are bytes.

    Errors are of results that are not exact, as shares of the largest value there can be.
    """

    family: str
    nodes: int
    edges: int
    sets: int
    seconds: float
    scipy_seconds: float
    ratio: float
    peak_bytes: int
    result_and_graph_bytes: int
    threads: int
    compile_seconds: float
    scipy_sets_measured: int
    released_seconds: float | None = None
    released_ratio: float | None = None
    error: float | None = None
    scipy_error: float | None = None


def search(graph: Graph, sets: AnchorSets, num_threads: int | None) -> AnchorDistances:
    """Compute what most families measure."""
    return anchor_distances(graph, sets, num_threads=num_threads)


def search_small() -> None:
    """Search graphs with every kernel for hops, so that all are compiled."""
    for small in (grid_graph(2, 2), grid_graph(2, 60)):  # levels and sweeps
        for count in (1, 20):  # keys of 32 bits and of 16
            anchor_distances(small, [[0]] * count)


def search_small_weighted() -> None:
    """Search a graph with the kernels for lengths, so that all are compiled."""
    anchor_distances(weighted_graph(grid_graph(2, 2), rng=0), [[0]])


def scipy_time(graph: Graph, sets: AnchorSets, sampled: Any) -> float:
    """Seconds scipy takes for distance and nearest anchor of some sets, one search a set."""
    from scipy.sparse.csgraph import dijkstra

    matrix = graph.to_scipy().astype(np.float64)  # as its search wants it
    hops = graph.weights is None
    total = 0.0
    for i in sampled:
        total += best_time(
            lambda anchors=sets[i]: dijkstra(  # type: ignore[misc]
                matrix, indices=anchors, unweighted=hops, min_only=True, return_predecessors=True
            ),
            3 if graph.num_nodes < 500_000 else 1,
        )
    return total


def released_time(graph: Graph, sets: AnchorSets) -> float:
    """Seconds of the released method: all pairs in Python, then the best anchor of each set."""
    import networkx as nx

    theirs = graph.to_networkx()
    start = time.perf_counter()
    proximity = np.zeros((graph.num_nodes, graph.num_nodes))
    for v in range(graph.num_nodes):
        hops = nx.single_source_shortest_path_length(theirs, v)
        for u in range(graph.num_nodes):
            distance = hops.get(u, -1)
            if distance >= 0:
                proximity[v, u] = 1 / (distance + 1)
    for anchors in sets:
        anchors[proximity[:, anchors].argmax(axis=1)]
    return time.perf_counter() - start


@dataclass(frozen=True)
class Family:
    """A graph to measure, how often, and what is computed on it.

    Attributes:
        make: Makes the graph.
        repeats: How often ours is measured.
        scipy_sets: How many sets scipy is measured on; its time for all is estimated.
        released: Whether the released method is measured.
        compute: Ours: a graph, its sets, a number of threads.
        scipy: Seconds that scipy takes for the same: a graph, its sets, which of them.
        compile: Calls what `compute` calls, on graphs that are tiny.
        errors: Errors of ours and scipy's on some sets, where results are not exact.
    """

    make: Callable[[], Graph]
    repeats: int = 25
    scipy_sets: int = 16
    released: bool = False
    compute: Callable[[Graph, AnchorSets, int | None], object] = search
    scipy: Callable[[Graph, AnchorSets, Any], float] = scipy_time
    compile: Callable[[], None] = search_small
    errors: Callable[[Graph, AnchorSets, Any], tuple[float, float]] | None = None


def _weighted(make: Callable[[], Graph]) -> Family:
    """A family of a graph with random lengths."""
    return Family(lambda: weighted_graph(make(), rng=0), repeats=5, compile=search_small_weighted)


FAMILIES = {
    "random-3000": Family(lambda: random_graph(3_000, 15_000, rng=0), 50, released=True),
    "random": Family(lambda: random_graph(100_000, 500_000, rng=0)),
    "grid": Family(lambda: grid_graph(300, 300)),
    "preferential": Family(lambda: preferential_graph(200_000, 8, rng=0)),
    "random-1m": Family(lambda: random_graph(1_000_000, 10_000_000, rng=0), 3, scipy_sets=6),
    "weighted-random": _weighted(lambda: random_graph(100_000, 500_000, rng=0)),
    "weighted-grid": _weighted(lambda: grid_graph(300, 300)),
    "pagerank": Family(
        lambda: random_graph(100_000, 500_000, rng=0),
        repeats=5,
        compute=ppr.solve,
        scipy=ppr.scipy_time,
        compile=ppr.solve_small,
        errors=ppr.errors,
    ),
}


def run(names: list[str] | None = None, num_threads: int | None = None) -> Iterator[Row]:
    """Measure each family in a process of its own, so that peaks of memory do not mix."""
    unknown = set(names or ()) - set(FAMILIES)
    if unknown:
        raise PGNNError(f"unknown family {min(unknown)!r}; there are {', '.join(FAMILIES)}")
    for name in names or FAMILIES:
        yield Row(**in_child("pgnn.bench.distances", name, num_threads or ""))


def measure(name: str, num_threads: int | None = None) -> Row:
    """Measure one family in this process."""
    from pgnn.threads import resolve_threads

    family = FAMILIES[name]
    graph = family.make()
    sets = sample_anchor_sets(graph.num_nodes, rng=0)
    start = time.perf_counter()
    family.compile()
    compile_seconds = time.perf_counter() - start

    reset_peak()
    result = family.compute(graph, sets, num_threads)
    peak = peak_bytes()
    held = _bytes(graph) + _bytes(result)
    del result
    seconds = best_time(lambda: family.compute(graph, sets, num_threads), family.repeats)
    sampled = np.linspace(0, len(sets) - 1, min(family.scipy_sets, len(sets))).astype(int)
    scipy_seconds = family.scipy(graph, sets, sampled) * len(sets) / len(sampled)
    released = released_time(graph, sets) if family.released else None
    error, scipy_error = family.errors(graph, sets, sampled) if family.errors else (None, None)
    return Row(
        family=name,
        nodes=graph.num_nodes,
        edges=graph.num_edges,
        sets=len(sets),
        seconds=seconds,
        scipy_seconds=scipy_seconds,
        ratio=scipy_seconds / seconds,
        peak_bytes=peak,
        result_and_graph_bytes=held,
        threads=resolve_threads(num_threads),
        compile_seconds=compile_seconds,
        scipy_sets_measured=len(sampled),
        released_seconds=released,
        released_ratio=None if released is None else released / seconds,
        error=error,
        scipy_error=scipy_error,
    )


def _bytes(value: object) -> int:
    """Bytes of an array, of the rows of a graph, or of the arrays of distances."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    names = ("indptr", "indices", "weights") if isinstance(value, Graph) else _RESULTS
    return sum(_bytes(getattr(value, name)) for name in names if getattr(value, name) is not None)


if __name__ == "__main__":
    family, threads = sys.argv[1:]
    json.dump(asdict(measure(family, int(threads) if threads else None)), sys.stdout)
