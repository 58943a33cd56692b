"""Distances updated after edges arrived, beside a search of all sets."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from pgnn.bench.graphs import random_graph
from pgnn.checks import integer, positive_integer
from pgnn.positions import anchor_distances, sample_anchor_sets
from pgnn.threads import resolve_threads

# Nodes and edges of a graph on which the kernels are compiled: large enough for an update.
_WARM_UP = (20_000, 200_000)
_WARM_UP_SETS = 64


@dataclass(frozen=True)
class Row:
    """One measurement.

    Attributes:
        nodes: Number of nodes.
        edges: Number of edges before any arrived.
        sets: Number of anchor-sets.
        added: Number of edges that arrived.
        seconds: Of the update, up to the last array written; the earlier result is given up.
        search_seconds: Of a search of all sets.
        ratio: The search's seconds per second of the update.
        equal: Whether both gave the same hops and nearest anchors.
        threads: Number of threads.
    """

    nodes: int
    edges: int
    sets: int
    added: int
    seconds: float
    search_seconds: float
    ratio: float
    equal: bool
    threads: int


def measure(num_nodes: int, num_edges: int, added: int, num_threads: int | None = None) -> Row:
    """Add random edges to a random graph, and measure an update and a search.

    Example:
        >>> measure(1000, 4000, 10).equal
        True
    """
    for name, count in (("num_nodes", num_nodes), ("added", added)):
        positive_integer(name, count)
    num_edges = integer("num_edges", num_edges, at_least=0)
    _measure(*_WARM_UP, 1, num_threads, num_sets=_WARM_UP_SETS)
    return _measure(num_nodes, num_edges, added, num_threads)


def _measure(
    num_nodes: int,
    num_edges: int,
    added: int,
    num_threads: int | None,
    num_sets: int | None = None,
) -> Row:
    grown = random_graph(num_nodes, num_edges + added, rng=0)
    new = np.random.default_rng(1).choice(grown.num_edges, added, replace=False)
    arrived = grown.edges()[new]
    is_old = np.ones(grown.num_edges, dtype=bool)
    is_old[new] = False
    sets = sample_anchor_sets(num_nodes, num_sets=num_sets, rng=0)
    earlier = anchor_distances(grown.with_edges(is_old), sets, num_threads=num_threads)
    start = time.perf_counter()
    updated = anchor_distances(
        grown, sets, num_threads=num_threads, updated_from=(earlier, arrived)
    )
    del earlier
    nearest, hops = updated.nearest, updated.hops
    seconds = time.perf_counter() - start
    start = time.perf_counter()
    searched = anchor_distances(grown, sets, num_threads=num_threads)
    search_seconds = time.perf_counter() - start
    assert hops is not None
    assert searched.hops is not None
    return Row(
        nodes=num_nodes,
        edges=num_edges,
        sets=len(sets),
        added=added,
        seconds=seconds,
        search_seconds=search_seconds,
        ratio=search_seconds / seconds,
        equal=np.array_equal(nearest, searched.nearest) and np.array_equal(hops, searched.hops),
        threads=resolve_threads(num_threads),
    )
