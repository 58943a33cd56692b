"""Pairs of nodes that may be missing links, and the best of them by a score.

A graph of n nodes has n (n - 1) / 2 pairs: all are listed while they are few. Of more, those are
listed that are near in the graph or near in an embedding, because a link far from both is rare.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pgnn.errors import PGNNError
from pgnn.graph import Graph
from pgnn.pairs.codes import Codes, edge_codes, is_among, ordered_pairs
from pgnn.prediction.choice import Ranked, Rows, Taken
from pgnn.threads import step

# Where every node of a large graph would list fewer pairs, the best of all are looked for.
_FEWEST_PER_NODE = 4
_MANY_NODES = 100_000

Score = Callable[[NDArray[np.int64]], NDArray[np.float64]]


@dataclass(frozen=True)
class Candidates:
    """Pairs worth scoring.

    Attributes:
        pairs: Node indices (u, v) with u < v, sorted, each once, int64 `[m, 2]`.
        exact: Whether these are all pairs there are, of the asked nodes.
        how: How they were chosen, a sentence for people.
    """

    pairs: NDArray[np.int64]
    exact: bool
    how: str


def candidate_pairs(
    graph: Graph,
    embedding: NDArray[np.float32] | None = None,
    *,
    nodes: ArrayLike | None = None,
    include_edges: bool = False,
    limit: int = 2_000_000,
    num_neighbours: int = 20,
    metric: Literal["dot", "distance"] = "distance",
    rng: int | np.random.Generator = 0,
) -> Candidates:
    """List pairs that may be missing links: all of them, or at most `limit` likely ones.

    Where there are more than `limit`, up to half of them are pairs of nearest embeddings. The rest
    are pairs two hops apart and, if there is room, three hops apart. Where not all fit, every node
    lists its best by resource allocation (the sum over common neighbours of 1 / degree; over paths
    of three hops, of 1 / the product of two degrees), and as many of each list are taken as fit.
    Of 100,000 nodes or more, where that were fewer than four per node, those with the most resource
    allocation of all pairs two hops apart are taken instead.
    Ties are broken at random.
    Directions and weights of edges are not read: a pair joined either way is an edge (`both_ways`
    makes ordered pairs). Of a graph with sides, only pairs across them are listed.

    On large graphs the work is bounded too: of a node with very many neighbours, its neighbours see
    only a part of the others, and nearest embeddings are nearly nearest; `how` says so.

    Args:
        graph: The graph.
        embedding: A row a node, `[num_nodes, d]`, or None to look at the graph alone.
        nodes: List only pairs with one of these nodes or more.
        include_edges: Whether to list pairs that are edges as well.
        limit: How many pairs at most.
        num_neighbours: How many nearest embeddings of each node to list.
        metric: Near is a small "distance" or a large inner product, "dot".
        rng: Seed or generator; the same seed gives the same pairs, on any number of threads.

    Raises:
        PGNNError: If nodes, embedding or numbers are not what they should be.

    Example:
        >>> path = Graph.from_edges([(0, 1), (1, 2), (2, 3)])
        >>> candidates = candidate_pairs(path)
        >>> candidates.pairs.tolist(), candidates.how
        ([[0, 2], [0, 3], [1, 3]], 'all 3 pairs without an edge')
    """
    _check_positive("limit", limit)
    _check_positive("num_neighbours", num_neighbours)
    if metric not in ("dot", "distance"):
        raise PGNNError(f'metric must be "dot" or "distance" (got {metric!r})')
    n = graph.num_nodes
    sources = np.arange(n) if nodes is None else _as_nodes("nodes", nodes, n)
    rows = None if embedding is None else _as_embedding(embedding, n)
    if graph.directed:
        graph = replace(Graph.from_edges(graph.edges(), n), sides=graph.sides)
    job = _Job(graph, sources, include_edges, limit, np.random.default_rng(rng))
    with step("listing likely pairs"):
        return job.all_pairs() if job.total <= limit else job.likely(rows, num_neighbours, metric)


def both_ways(
    candidates: Candidates,
    graph: Graph,
    *,
    nodes: ArrayLike | None = None,
    most_turned: int = 100_000,
    rng: int | np.random.Generator = 0,
) -> Candidates:
    """Make ordered pairs of candidates of a directed graph: each way, and edges turned round.

    Args:
        candidates: Pairs that no edge joins.
        graph: The directed graph.
        nodes: List only edges with one of these nodes or more.
        most_turned: How many edges are turned round at most, at random; those that are edges both
            ways are not.
        rng: Seed or generator.

    Example:
        >>> path = Graph.from_edges([(0, 1), (1, 2)], directed=True)
        >>> both_ways(candidate_pairs(path), path).pairs.tolist()
        [[0, 2], [1, 0], [2, 0], [2, 1]]
    """
    n, turned = graph.num_nodes, graph.links()[:, ::-1]
    edges = np.sort(edge_codes(graph.edges(), n, directed=True))
    turned = turned[~is_among(edge_codes(turned, n, directed=True), edges)]
    if nodes is not None:
        turned = turned[np.isin(turned, _as_nodes("nodes", nodes, n)).any(axis=1)]
    whole = len(turned) <= most_turned
    if not whole:
        turned = np.random.default_rng(rng).permutation(turned)[:most_turned]
    pairs = np.concatenate([candidates.pairs, candidates.pairs[:, ::-1], turned])
    codes = np.sort(edge_codes(pairs, n, directed=True))
    number = f"{'' if whole else 'some '}{len(turned):,}"
    how = f"{candidates.how}, each in both directions, and {number} edges turned round"
    return Candidates(ordered_pairs(codes, n), candidates.exact and whole, how)


def top_pairs(
    candidates: Candidates,
    score: Score,
    top: int,
    *,
    per_node: NDArray[np.int64] | None = None,
    ordered: bool = False,
    chunk: int = 1 << 18,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the pairs with the highest scores, highest first, and their scores.

    Pairs with equal scores are sorted by their nodes.

    Args:
        candidates: What to choose from.
        score: Called with pairs `[m, 2]`, returns a number each, `[m]`.
        top: How many pairs at most.
        per_node: Return `top` pairs of each of these nodes instead, one node's after the other's,
            with that node first in its pairs. A node without candidates has none.
        ordered: Whether pairs are ordered: then they stay as they are, and the node is the first or
            the second of its pairs.
        chunk: How many pairs to score in one call.

    Raises:
        PGNNError: If `top` or `chunk` is not positive, or the scores are not numbers, one a pair.

    Example:
        >>> few = candidate_pairs(Graph.from_edges([(0, 1), (1, 2), (2, 3)]))
        >>> top_pairs(few, lambda pairs: pairs.sum(axis=1), 2)[0].tolist()
        [[1, 3], [0, 3]]
    """
    _check_positive("top", top)
    _check_positive("chunk", chunk)
    pairs = candidates.pairs
    if per_node is None:
        scores = _scores(pairs, score, chunk)
        best = _highest(scores, top)
        return pairs[best], scores[best]
    asked = _as_nodes("per_node", per_node, None)
    pairs = pairs[np.isin(pairs, asked).any(axis=1)]
    scores = _scores(pairs, score, chunk)
    # Each pair in both orientations; those that do not begin with an asked node drop out.
    both, scores = np.concatenate([pairs, pairs[:, ::-1]]), np.tile(scores, 2)
    listed = np.tile(pairs, (2, 1)) if ordered else both
    line = np.argsort(asked)
    place = line[np.minimum(np.searchsorted(asked[line], both[:, 0]), len(asked) - 1)]
    wanted = asked[place] == both[:, 0]
    both, listed, scores, place = both[wanted], listed[wanted], scores[wanted], place[wanted]
    best = np.lexsort((both[:, 1], -scores, place))
    starts = np.searchsorted(place[best], place[best])
    best = best[np.arange(len(best)) - starts < top]
    return listed[best], scores[best]


def _scores(pairs: NDArray[np.int64], score: Score, chunk: int) -> NDArray[np.float64]:
    """Score pairs in chunks; a number a pair takes less room than the pairs do."""
    scores = np.empty(len(pairs))
    for first in range(0, len(pairs), chunk):
        part = pairs[first : first + chunk]
        values = np.asarray(score(part), dtype=np.float64)
        if values.shape != (len(part),):
            raise PGNNError(
                f"score must return a number a pair, [{len(part)}] (got {list(values.shape)})"
            )
        if np.isnan(values).any():
            u, v = part[int(np.flatnonzero(np.isnan(values))[0])]
            raise PGNNError(f"score must return numbers (got NaN for the pair ({u}, {v}))")
        scores[first : first + chunk] = values
    return scores


def _highest(scores: NDArray[np.float64], top: int) -> NDArray[np.intp]:
    """Return where the highest scores are, highest first, the first of equals first."""
    there = np.arange(len(scores))
    if top < len(scores):
        least = -np.partition(-scores, top - 1)[top - 1]
        there = np.flatnonzero(scores >= least)
    return there[np.argsort(-scores[there], kind="stable")[:top]]


@dataclass(frozen=True, eq=False)
class _Job:
    """What is asked for: pairs of an undirected graph with an asked node, at most `limit`."""

    graph: Graph
    asked: NDArray[np.int64]
    include_edges: bool
    limit: int
    generator: np.random.Generator

    @cached_property
    def joined(self) -> Codes:
        """Sorted codes of the edges with an asked node."""
        edges = self.graph.edges()
        if len(self.asked) < self.graph.num_nodes:
            edges = edges[np.isin(edges, self.asked).any(axis=1)]
        if self.graph.sides is not None:
            edges = edges[self.graph.sides.contain(edges)]
        return np.sort(edge_codes(edges, self.graph.num_nodes, directed=False))

    @cached_property
    def total(self) -> int:
        """How many pairs there are."""
        n, count, sides = self.graph.num_nodes, len(self.asked), self.graph.sides
        pairs = count * (n - 1) - count * (count - 1) // 2
        if sides is not None:
            counts = [int(side[self.asked].sum()) for side in (sides.left, sides.right)]
            others = [len(sides.right_nodes), len(sides.left_nodes)]
            pairs = counts[0] * others[0] + counts[1] * others[1] - counts[0] * counts[1]
            if sides.same:
                pairs = counts[0] * (others[0] - 1) - counts[0] * (counts[0] - 1) // 2
        return pairs if self.include_edges else pairs - len(self.joined)

    @property
    def kind(self) -> str:
        """What `total` counts."""
        kind = "" if self.include_edges else " without an edge"
        if len(self.asked) < self.graph.num_nodes:
            count = len(self.asked)
            kind = f" of {count:,} {'node' if count == 1 else 'nodes'}{kind}"
        if self.graph.sides is not None:
            kind = f" of {' and '.join(self.graph.sides.names)}{kind}"
        return f"{'pair' if self.total == 1 else 'pairs'}{kind}"

    def all_pairs(self) -> Candidates:
        """List every pair."""
        n = self.graph.num_nodes
        sides = self.graph.sides
        wanted = np.full((len(self.asked), n), sides is None)
        for row, u in enumerate(self.asked.tolist()):
            if sides is not None:
                wanted[row, sides.opposite(u)] = True
            wanted[row, u] = False
            if not self.include_edges:
                wanted[row, self.graph.neighbors(u)] = False
            wanted[row, self.asked[:row]] = False  # listed there
        rows, v = np.nonzero(wanted)
        codes = edge_codes(np.stack([self.asked[rows], v], axis=1), n, directed=False)
        number = f"all {self.total:,}" if self.total else "there are no"
        return Candidates(ordered_pairs(np.sort(codes), n), True, f"{number} {self.kind}")

    def likely(self, x: NDArray[np.float32] | None, width: int, metric: str) -> Candidates:
        """List pairs that are near in the embedding or in the graph."""
        from pgnn.prediction.kernels.hops import best_in_two, reached_in_three, reached_in_two
        from pgnn.prediction.kernels.nearest import nearest_rows

        n, taken = self.graph.num_nodes, Taken(self.graph.num_nodes, self.generator)
        rows = Rows(self.graph.indptr, self.graph.indices)
        search = (rows, self.asked, self.generator.permutation(n))
        near = None
        if x is not None:
            no_rows = Rows(np.zeros(n + 1, dtype=np.int64), np.empty(0, dtype=np.int32))
            barred = no_rows if self.include_edges else rows
            near, exactly = nearest_rows(
                barred, x, *search[1:], dot=metric == "dot", width=width, generator=self.generator
            )
            near = self._across(near)
            taken.add(near, self.limit // 2)
        edges = not self.include_edges or taken.add_codes(self.joined, self.limit)
        if self._is_huge:
            two = best_in_two(rows, search[2], self.limit)
        else:
            two = reached_in_two(*search, 2 * self.limit)
        within = taken.add(self._across(two), self.limit) and edges
        words = "pairs within 2 hops" if within else "likely pairs 2 hops apart"
        # Across two sides there may be none, however many pairs of one side are 2 hops apart.
        if (within or self.graph.sides is not None) and len(taken.codes) < self.limit:
            three = reached_in_three(*search, 2 * self.limit, two)
            whole = taken.add(self._across(three), self.limit) and within
            words = "pairs within 3 hops" if whole else f"{words}, likely pairs 3 hops apart"
        elif self.include_edges and not within:
            words = f"{'edges' if edges else 'some edges'}, {words}"
        if near is not None:
            fit = taken.add(near, self.limit)
            number = f"{'the' if fit else 'up to'} {width} {'' if exactly else 'nearly '}nearest"
            words = f"{words} and {number} embeddings of each node"
        how = f"{words}: {len(taken.codes):,} of {self.total:,} {self.kind}"
        return Candidates(ordered_pairs(taken.codes, n), False, how)

    @property
    def _is_huge(self) -> bool:
        """Whether lists of all nodes would be so short that they miss what is best of all."""
        n = self.graph.num_nodes
        if n < _MANY_NODES or len(self.asked) < n or self.include_edges:
            return False
        return self.graph.sides is None and 2 * self.limit < _FEWEST_PER_NODE * n

    def _across(self, found: Ranked) -> Ranked:
        """Return of what sources found the nodes across the sides, if the graph has sides."""
        sides = self.graph.sides
        if sides is None:
            return found
        kept = sides.contain(np.stack([found.source, found.target], axis=1))
        return Ranked(found.source[kept], found.target[kept], found.rank[kept], found.whole)


def _check_positive(name: str, number: Any) -> None:
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 1:
        raise PGNNError(f"{name} must be a positive integer (got {number!r})")


def _as_nodes(name: str, nodes: ArrayLike, num_nodes: int | None) -> NDArray[np.int64]:
    """Return different node indices in the order in which they first appear."""
    array: NDArray[Any] = np.atleast_1d(np.asarray(nodes))
    if array.ndim != 1 or array.size == 0 or not np.issubdtype(array.dtype, np.integer):
        raise PGNNError(
            f"{name} must be a list of one or more node indices "
            f"(got {array.dtype} of shape {list(array.shape)})"
        )
    bad = array[(array < 0) | (num_nodes is not None and array >= num_nodes)]
    if bad.size:
        allowed = "0 or more" if num_nodes is None else f"in 0..{num_nodes - 1}"
        raise PGNNError(f"{name} must be node indices, {allowed} (got {bad[0]})")
    _, first = np.unique(array, return_index=True)
    return array[np.sort(first)].astype(np.int64)


def _as_embedding(embedding: ArrayLike, num_nodes: int) -> NDArray[np.float32]:
    """Return finite float32 rows, shrunk by a power of two so that squares do not overflow."""
    try:
        rows = np.asarray(embedding, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise PGNNError(f"embedding must be numbers, a row a node ({error})") from error
    if rows.ndim != 2 or rows.shape[0] != num_nodes or rows.shape[1] == 0:
        raise PGNNError(
            f"embedding must have a row a node, [{num_nodes}, d] (got {list(rows.shape)})"
        )
    if not np.isfinite(rows).all():
        row, column = np.argwhere(~np.isfinite(rows))[0]
        raise PGNNError(
            f"embedding must be finite (embedding[{row}, {column}] = {rows[row, column]})"
        )
    return np.ldexp(rows, -int(np.frexp(np.abs(rows).max())[1])).astype(np.float32, order="C")
