"""Pairs that are not edges, drawn without listing all of them.

Pairs have codes 0, 1, 2, ... (see `pgnn.pairs.codes`). To draw a pair that is not an edge is to
draw a number and to step over the codes of edges. No draw is rejected, so a graph with three
non-edges left costs no more than a sparse one.
"""

from __future__ import annotations

import numpy as np

from pgnn.errors import PGNNError
from pgnn.pairs.codes import (
    Codes,
    Pairs,
    ordered_codes,
    ordered_pairs,
    sorted_distinct,
    unordered_pairs,
)


def draw_non_edges(
    generator: np.random.Generator, joined: Codes, num_nodes: int, count: int
) -> Pairs:
    """Draw different unordered pairs that no edge joins in either direction.

    Args:
        generator: Source of randomness.
        joined: Sorted distinct `unordered_codes` of all joined pairs.
        num_nodes: Number of nodes.
        count: How many to draw.

    Returns:
        Pairs (smaller node, larger node), in random order.

    Raises:
        PGNNError: If there are fewer.
    """
    free = num_nodes * (num_nodes - 1) // 2 - len(joined)
    if count > free:
        raise PGNNError(
            f"the graph is too dense: {count} negative pairs are needed, one for each positive, "
            f"but only {free} pairs of its {num_nodes} nodes are not joined by an edge; leave out "
            "some edges first (build the graph from a sample of graph.edges())"
        )
    return unordered_pairs(step_over(draw_distinct(generator, count, free), joined))


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
