"""Negatives that are easy and hard: non-edges drawn by proposals whose density is known.

A head that has only seen pairs far apart as negatives is certain of hundreds of pairs and orders
them at random; one that has only seen hard ones is lost among easy ones. So negatives come from
three proposals: uniform pairs, ends of two-step walks and ends of three-step walks. The density of
each is known for every pair, so the mixture can be undone in the loss: the head learns the ratio
p(pair | link) / p(pair | uniform non-edge), whatever was proposed how often.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgnn.graph import Graph
from pgnn.pairs.codes import edge_codes, is_among, low_high

Pairs = NDArray[np.int64]
MIXTURE = {"uniform": 0.5, "two-step": 0.25, "three-step": 0.25}
_MAX_TRIES = 200


@dataclass(frozen=True, eq=False)
class Proposals:
    """Non-edges of a graph and what is needed to weigh them.

    Attributes:
        pairs: Node indices (small, large), uniform ones first; there may be repeats, `[m, 2]`.
        num_uniform: How many of them are uniform.
        num_free: How many pairs of the graph are no edges.
        rates: For each proposal, the share of its draws that are non-edges; 0 if it has none.
        total: Sum of the strengths of all stored entries: twice that of all edges.
        num_entries: Number of stored entries: twice that of edges.
    """

    pairs: Pairs
    num_uniform: int
    num_free: int
    rates: dict[str, float]
    total: float
    num_entries: int

    def log_density(
        self,
        resource_allocation: NDArray[np.floating],
        three_step: NDArray[np.floating],
    ) -> NDArray[np.float64]:
        """Return the log of the mixture's density, relative to that of a uniform non-edge.

        Args:
            resource_allocation: Of each pair, the sum over common neighbours of 1 / degree.
            three_step: Of each pair, sqrt(s_u s_v) S^3[u, v], with strengths s.
        """
        density = np.zeros(len(resource_allocation))
        weight = 0.0
        for name, share in MIXTURE.items():
            if not self.rates[name]:
                continue
            weight += share
            if name == "uniform":
                density += share
                continue
            count = resource_allocation if name == "two-step" else three_step
            entries = self.total if name == "three-step" else self.num_entries
            density += share * self.num_free * 2 * count / (entries * self.rates[name])
        return np.asarray(np.log(np.maximum(density / weight, 1e-6)))


def propose_negatives(
    graph: Graph,
    strengths: NDArray[np.float64] | None,
    count: int,
    *,
    rng: np.random.Generator,
) -> Proposals:
    """Draw about `count` non-edges of an undirected graph from the mixture.

    Args:
        graph: The graph.
        strengths: Of each stored entry, for weighted graphs.
        count: How many.
        rng: Source of randomness.
    """
    n, entries = graph.num_nodes, len(graph.indices)
    num_free = n * (n - 1) // 2 - graph.num_edges
    steps = _Steps.of(graph, strengths, rng)
    makers: dict[str, Callable[[int], tuple[Pairs, Pairs]]] = {
        "uniform": lambda m: (rng.integers(n, size=m), rng.integers(n, size=m)),
        "two-step": steps.two,
        "three-step": steps.three,
    }
    parts, rates = [], {}
    for name, share in MIXTURE.items():
        useless = num_free == 0 or (name != "uniform" and entries == 0)
        wanted = 0 if useless else max(1, round(share * count))
        pairs, rates[name] = _draw(graph, makers[name], wanted)
        parts.append(pairs)
    total = float(entries) if strengths is None else float(strengths.sum())
    return Proposals(np.concatenate(parts), len(parts[0]), num_free, rates, total, entries)


def _draw(
    graph: Graph, make: Callable[[int], tuple[Pairs, Pairs]], count: int
) -> tuple[Pairs, float]:
    """Draw non-edges by rejection; returns them and the share of draws that were non-edges."""
    parts: list[Pairs] = []
    tried = accepted = 0
    edges = np.sort(edge_codes(graph.edges(), graph.num_nodes, directed=False))
    for _ in range(_MAX_TRIES):
        if accepted >= count:
            break
        size = max(1000, 2 * (count - accepted))
        ends = low_high(np.stack(make(size), axis=1))
        ends = ends[ends[:, 0] != ends[:, 1]]
        ends = ends[~is_among(edge_codes(ends, graph.num_nodes, directed=False), edges)]
        parts.append(ends)
        tried += size
        accepted += len(ends)
    if not accepted:
        return np.empty((0, 2), dtype=np.int64), 0.0
    return np.concatenate(parts)[:count], accepted / tried


@dataclass(frozen=True, eq=False)
class _Steps:
    """Random steps along edges: uniform ones, and ones in proportion to strength."""

    graph: Graph
    rows: NDArray[np.int64]
    cumulative: NDArray[np.float64] | None
    rng: np.random.Generator

    @classmethod
    def of(
        cls, graph: Graph, strengths: NDArray[np.float64] | None, rng: np.random.Generator
    ) -> _Steps:
        rows = np.repeat(np.arange(graph.num_nodes), graph.degrees)
        sums = None if strengths is None else np.concatenate([[0.0], np.cumsum(strengths)])
        return cls(graph, rows, sums, rng)

    def two(self, count: int) -> tuple[Pairs, Pairs]:
        """Two neighbours of a node that is drawn in proportion to its degree."""
        middle = self.graph.indices[self.rng.integers(len(self.graph.indices), size=count)]
        return self._neighbour(middle), self._neighbour(middle)

    def three(self, count: int) -> tuple[Pairs, Pairs]:
        """A neighbour of each end of an edge, all in proportion to strength."""
        if self.cumulative is None:
            entry = self.rng.integers(len(self.graph.indices), size=count)
        else:
            entry = self._entry(np.zeros(count), np.full(count, self.cumulative[-1]))
        first, second = self.rows[entry], self.graph.indices[entry]
        return self._strong_neighbour(first), self._strong_neighbour(second)

    def _neighbour(self, nodes: NDArray[np.integer]) -> Pairs:
        indptr = self.graph.indptr
        offset = (self.rng.random(len(nodes)) * (indptr[nodes + 1] - indptr[nodes])).astype(int)
        return np.asarray(self.graph.indices[indptr[nodes] + offset], dtype=np.int64)

    def _strong_neighbour(self, nodes: NDArray[np.integer]) -> Pairs:
        if self.cumulative is None:
            return self._neighbour(nodes)
        bounds = self.graph.indptr
        entry = self._entry(self.cumulative[bounds[nodes]], self.cumulative[bounds[nodes + 1]])
        entry = np.clip(entry, bounds[nodes], bounds[nodes + 1] - 1)
        return np.asarray(self.graph.indices[entry], dtype=np.int64)

    def _entry(self, low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.int64]:
        assert self.cumulative is not None
        target = low + self.rng.random(len(low)) * (high - low)
        place = np.searchsorted(self.cumulative, target, side="right") - 1
        return np.asarray(np.clip(place, 0, len(self.graph.indices) - 1))
