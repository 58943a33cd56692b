"""Negatives that are easy and hard: non-edges drawn by proposals whose density is known.

A head that has only seen pairs far apart as negatives is certain of hundreds of pairs and orders
them at random; one that has only seen hard ones is lost among easy ones. So negatives come from
three proposals: uniform pairs, ends of two-step walks and ends of three-step walks. The density of
each is known for every pair, so the mixture can be undone in the loss: the head learns the ratio
p(pair | link) / p(pair | uniform non-edge), whatever was proposed how often.

Where links are ordered there is a fourth proposal: edges turned round. They are next to nothing
among all non-edges, and whoever is asked who points to whom has to know them.
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
ORDERED_MIXTURE = {"uniform": 0.45, "two-step": 0.225, "three-step": 0.225, "reversed": 0.1}
_MAX_TRIES = 200
_HOPELESS = 20_000  # draws without a non-edge after which a proposal is given up


@dataclass(frozen=True, eq=False)
class Proposals:
    """Non-edges of a graph and what is needed to weigh them.

    Attributes:
        pairs: Node indices (small, large), or of a graph with sides (left, right), or ordered ones;
            uniform ones first; there may be repeats, `[m, 2]`.
        num_uniform: How many of them are uniform.
        num_free: How many pairs that may be links are no edges.
        rates: For each proposal, the share of its draws that are non-edges; 0 if it has none.
        total: Sum of the strengths of all stored entries: twice that of all edges.
        num_entries: Number of stored entries: twice that of edges.
        num_reversed: How many edges, turned round, are no edges; None where links are not ordered.
    """

    pairs: Pairs
    num_uniform: int
    num_free: int
    rates: dict[str, float]
    total: float
    num_entries: int
    num_reversed: int | None = None

    def log_density(
        self,
        resource_allocation: NDArray[np.floating],
        three_step: NDArray[np.floating],
        reverse_edge: NDArray[np.bool_] | None = None,
    ) -> NDArray[np.float64]:
        """Return the log of the mixture's density, relative to that of a uniform non-edge.

        Args:
            resource_allocation: Of each pair, the sum over common neighbours of 1 / degree.
            three_step: Of each pair, sqrt(s_u s_v) S^3[u, v], with strengths s.
            reverse_edge: Where links are ordered, whether the pair turned round is an edge. Ends of
                walks are never such pairs.
        """
        density = np.zeros(len(resource_allocation))
        weight = 0.0
        ways, mixture, near = 2, MIXTURE, np.ones(len(density))
        if self.num_reversed is not None and reverse_edge is not None:
            ways, mixture, near = 1, ORDERED_MIXTURE, (~reverse_edge).astype(np.float64)
        for name, share in mixture.items():
            if not self.rates[name]:
                continue
            weight += share
            if name == "uniform":
                density += share
            elif name == "reversed":
                density += share * self.num_free / (self.num_reversed or 1) * (1 - near)
            else:
                count = near * (resource_allocation if name == "two-step" else three_step)
                entries = self.total if name == "three-step" else self.num_entries
                density += share * self.num_free * ways * count / (entries * self.rates[name])
        return np.asarray(np.log(np.maximum(density / weight, 1e-6)))


def propose_negatives(
    graph: Graph,
    strengths: NDArray[np.float64] | None,
    count: int,
    *,
    directed: Graph | None = None,
    rng: np.random.Generator,
) -> Proposals:
    """Draw about `count` non-edges from the mixture; of a graph with sides, across them.

    Args:
        graph: An undirected graph.
        strengths: Of each stored entry, for weighted graphs.
        count: How many.
        directed: The same graph with directions, where ordered non-edges are to be drawn.
        rng: Source of randomness.
    """
    entries = len(graph.indices)
    steps = _Steps.of(graph, strengths, rng)
    space = _Space.of(graph, directed)
    makers: dict[str, Callable[[int], tuple[Pairs, Pairs]]] = {
        "uniform": space.uniform(rng),
        "two-step": steps.two,
        "three-step": steps.three,
    }
    mixture = MIXTURE if directed is None else ORDERED_MIXTURE
    parts, rates = [], {}
    for name, share in mixture.items():
        useless = space.num_free == 0 or (name != "uniform" and entries == 0)
        wanted = 0 if useless else max(1, round(share * count))
        if name == "reversed":
            pairs = space.one_way[:, ::-1]
            rates[name] = float(len(pairs) > 0)
            pairs = pairs[rng.integers(max(len(pairs), 1), size=wanted if len(pairs) else 0)]
        else:
            pairs, rates[name] = _draw(space, makers[name], wanted, walked=name != "uniform")
        parts.append(pairs)
    total = float(entries) if strengths is None else float(strengths.sum())
    num_reversed = None if directed is None else len(space.one_way)
    drawn = np.concatenate(parts)
    return Proposals(drawn, len(parts[0]), space.num_free, rates, total, entries, num_reversed)


@dataclass(frozen=True, eq=False)
class _Space:
    """Which pairs may be drawn.

    Attributes:
        graph: The undirected graph.
        ordered: Whether pairs are ordered.
        num_free: How many pairs there are to draw.
        edges: Sorted codes of the edges, ordered if pairs are.
        joined: Sorted codes of pairs that are joined either way.
        one_way: Edges whose reverse is no edge; none if pairs are not ordered.
    """

    graph: Graph
    ordered: bool
    num_free: int
    edges: NDArray[np.int64]
    joined: NDArray[np.int64]
    one_way: Pairs

    @classmethod
    def of(cls, graph: Graph, directed: Graph | None) -> _Space:
        n = graph.num_nodes
        joined = np.sort(edge_codes(graph.edges(), n, directed=False))
        if directed is None:
            none = np.empty((0, 2), dtype=np.int64)
            return cls(graph, False, graph.num_free_pairs, joined, joined, none)
        links = directed.links()
        edges = np.sort(edge_codes(directed.edges(), n, directed=True))
        turned = edge_codes(links[:, ::-1], n, directed=True)
        one_way = links[~is_among(turned, edges)]
        return cls(graph, True, directed.num_free_pairs, edges, joined, one_way)

    def uniform(self, rng: np.random.Generator) -> Callable[[int], tuple[Pairs, Pairs]]:
        """Return what draws any nodes or, of a graph with sides, a left and a right one."""
        every = np.arange(self.graph.num_nodes)
        sides = self.graph.sides
        left, right = (every, every) if sides is None else (sides.left_nodes, sides.right_nodes)

        def draw(count: int) -> tuple[Pairs, Pairs]:
            return left[rng.integers(len(left), size=count)], right[
                rng.integers(len(right), size=count)
            ]

        return draw

    def kept(self, ends: Pairs, *, walked: bool) -> Pairs:
        """Return the pairs that may be drawn; ends of walks are joined in neither direction."""
        n, sides = self.graph.num_nodes, self.graph.sides
        ends = ends[ends[:, 0] != ends[:, 1]]
        if not self.ordered:
            ends = low_high(ends)
        if sides is not None:
            ends = ends[sides.contain(ends)]
        by_order = self.ordered and not walked
        taken = self.edges if by_order else self.joined
        ends = ends[~is_among(edge_codes(ends, n, directed=by_order), taken)]
        return ends if sides is None else sides.left_first(ends)


def _draw(
    space: _Space, make: Callable[[int], tuple[Pairs, Pairs]], count: int, *, walked: bool
) -> tuple[Pairs, float]:
    """Draw non-edges by rejection; returns them and the share of draws that were non-edges."""
    parts: list[Pairs] = []
    tried = accepted = 0
    for _ in range(_MAX_TRIES):
        if accepted >= count or (walked and not accepted and tried > _HOPELESS):
            break
        size = max(1000, 2 * (count - accepted))
        ends = space.kept(np.stack(make(size), axis=1), walked=walked)
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
