"""Pairs that are not edges, drawn without listing all of them.

Pairs have codes 0, 1, 2, ... (see `pgnn.pairs.codes`). To draw a pair that is not an edge is to
draw a number and to step over the codes of edges. No draw is rejected, so a graph with three
non-edges left costs no more than a sparse one.

Uniform pairs of a sparse graph are mostly far apart and of few neighbours, and easy to tell from
links. `draw_negatives` draws harder ones, too: two hops apart, or with ends drawn by degree.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pgnn import checks
from pgnn.errors import Parameter, PGNNError
from pgnn.graph import Graph
from pgnn.graph.sides import Sides
from pgnn.names import NEGATIVES, Negatives
from pgnn.pairs.codes import (
    Codes,
    Pairs,
    is_among,
    ordered_codes,
    ordered_pairs,
    sorted_distinct,
    unordered_codes,
    unordered_pairs,
)

_LISTED = 4_000_000  # pairs, or paths of two hops, that are listed rather than drawn
_ROUNDS = 200  # of drawing, each for all that is missing, before it is given up


def draw_negatives(
    generator: np.random.Generator,
    graph: Graph,
    joined: Codes,
    count: int,
    *,
    kind: Negatives = "uniform",
) -> Pairs:
    """Draw different unordered pairs that are not joined, easy ones or hard ones.

    - "uniform": every pair is equally likely.
    - "two-hop": every pair of nodes with a common neighbour in `graph` is equally likely.
    - "degree": the ends are drawn in proportion to their degrees in `graph`, so that both have as
      many neighbours as ends of links have.

    Of a graph with sides, only pairs across them are drawn, the left node first. Where links are
    ordered, each pair is turned at random.

    Args:
        generator: Source of randomness.
        graph: What a model sees; directions and weights are not read.
        joined: Sorted distinct `unordered_codes` of all pairs that may not be drawn, such as edges
            that a model does not see.
        count: How many to draw.
        kind: Which pairs.

    Returns:
        Pairs (smaller node, larger node), or (left, right), or turned at random; in random order.

    Raises:
        PGNNError: If there are fewer.

    Example:
        >>> path = Graph.from_edges([(0, 1), (1, 2), (2, 3)])
        >>> joined = sorted_distinct(unordered_codes(path.edges().astype(np.int64)))
        >>> rng = np.random.default_rng(0)
        >>> sorted(draw_negatives(rng, path, joined, 2, kind="two-hop").tolist())
        [[0, 2], [1, 3]]
    """
    checks.one_of("negatives", kind, NEGATIVES)
    if kind == "uniform":
        pairs = draw_non_edges(generator, joined, graph.num_nodes, count, sides=graph.sides)
        return turned_at_random(generator, pairs) if graph.has_ordered_links else pairs
    plain = graph
    if graph.directed:
        plain = replace(Graph.from_edges(graph.edges(), graph.num_nodes), sides=graph.sides)
    draw = _two_hop_codes if kind == "two-hop" else _codes_by_degree
    codes = draw(generator, plain, joined, count)
    if len(codes) < count:
        what = "pairs two hops apart" if kind == "two-hop" else "pairs of nodes with edges"
        raise PGNNError(
            f"{count} negative pairs are needed, but only {len(codes)} {what} that no edge joins "
            "were found; use ", Parameter("negatives=uniform"),
        )  # fmt: skip
    pairs = unordered_pairs(codes)
    if graph.has_ordered_links:
        return turned_at_random(generator, pairs)
    return pairs if graph.sides is None else graph.sides.left_first(pairs)


def turned_at_random(generator: np.random.Generator, pairs: Pairs) -> Pairs:
    """Return pairs, about half of them turned round."""
    turned = generator.random(len(pairs)) < 0.5
    return np.where(turned[:, None], pairs[:, ::-1], pairs)


def _may_be_drawn(graph: Graph, codes: Codes, joined: Codes) -> Codes:
    """Return the codes of pairs that are not joined and, of a graph with sides, across them."""
    codes = codes[~is_among(codes, joined)]
    if graph.sides is not None:
        codes = codes[graph.sides.contain(unordered_pairs(codes))]
    return codes


def _two_hop_codes(
    generator: np.random.Generator, graph: Graph, joined: Codes, count: int
) -> Codes:
    """Draw pairs with a common neighbour: from a list of all, or by drawing paths of two hops.

    A pair with c common neighbours is on c paths, so that a path counts with chance 1 / c.
    """
    degrees = graph.degrees.astype(np.int64)
    paths = degrees * (degrees - 1) // 2  # by their node in the middle
    ends = np.cumsum(paths)
    total = int(paths.sum())
    if total <= _LISTED:
        codes = sorted_distinct(_codes_of_paths(graph, np.arange(total), ends))
        return generator.permutation(_may_be_drawn(graph, codes, joined))[:count]
    drawn: Codes = np.empty(0, dtype=np.int64)
    for _ in range(_ROUNDS):
        numbers = generator.integers(total, size=4 * (count - len(drawn)) + 16)
        codes = _may_be_drawn(graph, _codes_of_paths(graph, numbers, ends), joined)
        common = _num_common(graph, unordered_pairs(codes))
        codes = codes[generator.random(len(codes)) * common < 1]
        drawn = sorted_distinct(np.concatenate([drawn, codes]))
        if len(drawn) >= count:
            break
    return generator.permutation(drawn)[:count]


def _codes_of_paths(graph: Graph, numbers: Codes, ends: Codes) -> Codes:
    """Return the codes of the ends of paths of two hops, which are numbered by their middle."""
    middle = np.searchsorted(ends, numbers, side="right")
    before = np.where(middle > 0, ends[middle - 1], 0)
    places = unordered_pairs(numbers - before) + graph.indptr[middle, None]
    return unordered_codes(graph.indices[places].astype(np.int64))


def _num_common(graph: Graph, pairs: Pairs) -> Codes:
    """Return how many neighbours the nodes of each pair have in common."""
    from pgnn.pairs.kernels.counts import count_shared

    rows = (graph.indptr, graph.indices)
    sums = np.empty((len(pairs), 3))
    count_shared(rows, rows, pairs, np.zeros((graph.num_nodes, 2)), 0, sums)
    return sums[:, 0].astype(np.int64)


def _codes_by_degree(
    generator: np.random.Generator, graph: Graph, joined: Codes, count: int
) -> Codes:
    """Draw pairs one after the other, each in proportion to the product of its nodes' degrees."""
    n, degrees = graph.num_nodes, graph.degrees
    total = n * (n - 1) // 2
    if total - len(joined) <= _LISTED:
        codes = _may_be_drawn(graph, step_over(np.arange(total - len(joined)), joined), joined)
        weights = degrees[unordered_pairs(codes)].astype(np.float64).prod(axis=1)
        codes, weights = codes[weights > 0], weights[weights > 0]
        # The first to arrive, at rates that are the weights, are drawn in proportion to them.
        arrival = generator.exponential(size=len(codes)) / weights
        return np.asarray(codes[np.argsort(arrival)[:count]])
    drawn: Codes = np.empty(0, dtype=np.int64)
    for _ in range(_ROUNDS if len(graph.indices) else 0):
        ends = graph.indices[generator.integers(len(graph.indices), size=(2 * count + 16, 2))]
        codes = unordered_codes(ends[ends[:, 0] != ends[:, 1]].astype(np.int64))
        fresh = np.concatenate([drawn, _may_be_drawn(graph, codes, joined)])
        _, first = np.unique(fresh, return_index=True)
        drawn = fresh[np.sort(first)]  # in the order of drawing: the later ones are left out
        if len(drawn) >= count:
            break
    return drawn[:count]


def draw_non_edges(
    generator: np.random.Generator,
    joined: Codes,
    num_nodes: int,
    count: int,
    *,
    sides: Sides | None = None,
) -> Pairs:
    """Draw different unordered pairs that no edge joins in either direction.

    Args:
        generator: Source of randomness.
        joined: Sorted distinct `unordered_codes` of all joined pairs.
        num_nodes: Number of nodes.
        count: How many to draw.
        sides: If they are set, only pairs across them are drawn.

    Returns:
        Pairs (smaller node, larger node), or (left, right), in random order.

    Raises:
        PGNNError: If there are fewer.
    """
    if sides is not None:
        return _draw_across(generator, joined, sides, count)
    free = num_nodes * (num_nodes - 1) // 2 - len(joined)
    if count > free:
        raise PGNNError(
            f"the graph is too dense: {count} negative pairs are needed, one for each positive, "
            f"but only {free} pairs of its {num_nodes} nodes are not joined by an edge; leave out "
            "some edges first (build the graph from a sample of graph.edges())"
        )
    return unordered_pairs(step_over(draw_distinct(generator, count, free), joined))


def _draw_across(generator: np.random.Generator, joined: Codes, sides: Sides, count: int) -> Pairs:
    """Draw different pairs (left, right) that are not joined.

    The nodes of a side have ranks 0, 1, 2, ..., and a pair has the code of both ranks.
    """
    pairs = unordered_pairs(joined)
    pairs = sides.left_first(pairs[sides.contain(pairs)])
    left, right = sides.left_nodes, sides.right_nodes
    ranks = np.stack(
        [np.searchsorted(left, pairs[:, 0]), np.searchsorted(right, pairs[:, 1])], axis=1
    )
    codes = unordered_codes(ranks) if sides.same else ranks @ np.array([len(right), 1])
    free = sides.num_pairs - len(codes)
    if count > free:
        raise PGNNError(
            f"the graph is too dense: {count} negative pairs are needed, one for each positive, "
            f"but only {free} pairs of {' and '.join(sides.names)} are not joined by an edge; "
            "leave out some edges first"
        )
    drawn = step_over(draw_distinct(generator, count, free), sorted_distinct(codes))
    chosen = unordered_pairs(drawn) if sides.same else np.stack(np.divmod(drawn, len(right)), 1)
    return np.stack([left[chosen[:, 0]], right[chosen[:, 1]]], axis=1)


def draw_not_stored(
    generator: np.random.Generator, stored: Pairs, num_nodes: int, count: int
) -> Pairs:
    """Draw ordered pairs, with repeats, that are not in `stored` in that very orientation.

    This is how the released code draws negatives: the reverse of a stored pair may come out.
    """
    taken = np.sort(ordered_codes(stored, num_nodes))
    free = num_nodes * (num_nodes - 1) - len(taken)
    if count and not free:
        raise PGNNError(
            f"{count} negative pairs are needed, but every ordered pair of the {num_nodes} nodes "
            "is positive; leave out some edges first"
        )
    places = generator.integers(max(1, free), size=count)
    return ordered_pairs(step_over(places, taken), num_nodes)


def draw_distinct(generator: np.random.Generator, count: int, population: int) -> Codes:
    """Draw `count` different numbers below `population`, every choice and order equally likely."""
    if population <= 4 * count:
        return generator.permutation(population)[:count]
    drawn: Codes = np.empty(0, dtype=np.int64)
    while len(drawn) < count:
        more = generator.integers(population, size=count - len(drawn) + 16)
        drawn = sorted_distinct(np.concatenate([drawn, more]))
    # Which numbers came out does not depend on their size; which of them to drop must not either.
    return generator.permutation(drawn)[:count]


def step_over(places: Codes, taken: Codes) -> Codes:
    """Return the numbers at these places of the list 0, 1, 2, ... without the `taken` ones.

    As many taken numbers stand before the j-th free number as have at most j free ones before
    them, and taken[i] - i free numbers stand before the i-th taken one.

    Args:
        places: Places among the free numbers, from 0.
        taken: Sorted distinct numbers.

    Example:
        >>> step_over(np.array([0, 1, 2]), taken=np.array([1, 2, 4])).tolist()
        [0, 3, 5]
    """
    free_before = taken - np.arange(len(taken))
    return np.asarray(places + np.searchsorted(free_before, places, side="right"))
