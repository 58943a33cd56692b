"""Graph families of the benchmarks, of any size, from a seed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pgnn.errors import PGNNError
from pgnn.graph import Graph
from pgnn.pairs.codes import edge_codes, ordered_pairs, sorted_distinct


def random_graph(num_nodes: int, num_edges: int, *, rng: int | np.random.Generator) -> Graph:
    """Draw exactly `num_edges` distinct edges uniformly at random.

    Example:
        >>> random_graph(10, 20, rng=0)
        Graph(num_nodes=10, num_edges=20)
    """
    generator = np.random.default_rng(rng)
    if not 0 <= num_edges <= num_nodes * (num_nodes - 1) // 2:
        raise PGNNError(f"{num_nodes} nodes cannot have {num_edges} edges")
    codes = np.empty(0, dtype=np.int64)
    while len(codes) < num_edges:
        ends = generator.integers(0, num_nodes, (2, num_edges + num_edges // 50 + 16)).T
        new = edge_codes(ends[ends[:, 0] != ends[:, 1]], num_nodes, directed=False)
        codes = sorted_distinct(np.concatenate([codes, new]))
    codes = generator.permutation(codes)[:num_edges]
    return Graph.from_edges(ordered_pairs(codes, num_nodes), num_nodes)


def grid_graph(height: int, width: int) -> Graph:
    """Build a grid, rows of `width` nodes, each joined to the next in its row and column.

    Example:
        >>> grid_graph(2, 3)
        Graph(num_nodes=6, num_edges=7)
    """
    node = np.arange(height * width).reshape(height, width)
    across = np.stack([node[:, :-1].ravel(), node[:, 1:].ravel()], axis=1)
    down = np.stack([node[:-1].ravel(), node[1:].ravel()], axis=1)
    return Graph.from_edges(np.concatenate([across, down]), height * width)


def weighted_graph(graph: Graph, *, rng: int | np.random.Generator) -> Graph:
    """Give every edge a random length, evenly from above 0 up to 1.

    Example:
        >>> weighted_graph(grid_graph(2, 3), rng=0)
        Graph(num_nodes=6, num_edges=7, weighted)
    """
    weights = 1 - np.random.default_rng(rng).random(graph.num_edges)
    return Graph.from_edges(graph.edges(), graph.num_nodes, weights=weights)


def preferential_graph(
    num_nodes: int, edges_per_node: int, *, rng: int | np.random.Generator
) -> Graph:
    """Grow a graph in which each new node draws edges to earlier ones in proportion to degree.

    A new edge takes an end of an earlier edge, chosen evenly: ends are as frequent as degrees.
    Edges that repeat another or meet their own node are dropped.

    Example:
        >>> preferential_graph(100, 3, rng=0).num_nodes
        100
    """
    generator = np.random.default_rng(rng)
    source = np.repeat(np.arange(num_nodes), edges_per_node)
    earlier = np.maximum(source * edges_per_node, 1)  # edges that exist before the node comes
    copied = (generator.random(len(source)) * earlier).astype(np.int64)
    takes_source = (generator.random(len(source)) < 0.5) | (source <= 1)
    # An edge that takes the target of another, which may have taken it from a third, follows the
    # chain to its end; following twice as far each time gets there in a few rounds.
    chain = np.where(takes_source, np.arange(len(source)), copied)
    while not np.array_equal(chain, further := chain[chain]):
        chain = further
    return Graph.from_edges(np.stack([source, source[copied[chain]]], axis=1), num_nodes)


# Members of a community, smallest and largest, evenly by their logarithm.
_COMMUNITY = (20, 2000)
_INSIDE = 0.7  # share of the edges that are drawn within a community
_HUB_EXPONENT = 1.6  # of how often a node is drawn: the share above x is x^-1.6


def social_graph(num_nodes: int, num_edges: int, *, rng: int | np.random.Generator) -> Graph:
    """Draw a graph with communities and hubs: exactly `num_edges` distinct edges.

    Nodes are drawn in proportion to a number of their own, a few of which are large (hubs). Of
    seven edges in ten the second node is of the community of the first. Communities have 20 to
    2000 members whatever the size of the graph, and the numbers of nodes say nothing about them.

    Example:
        >>> social_graph(1000, 5000, rng=0)
        Graph(num_nodes=1000, num_edges=5000)
    """
    generator = np.random.default_rng(rng)
    if not 0 <= num_edges <= num_nodes * (num_nodes - 1) // 8:
        raise PGNNError(f"{num_nodes} nodes cannot have {num_edges} edges and still communities")
    fewest, most = _COMMUNITY
    logs = generator.uniform(np.log(fewest), np.log(most), num_nodes // fewest + 1)
    bounds = np.minimum(np.concatenate([[0], np.cumsum(np.exp(logs).astype(np.int64))]), num_nodes)
    community = np.searchsorted(bounds, np.arange(num_nodes), side="right") - 1
    share = generator.random(num_nodes) ** (-1 / _HUB_EXPONENT)
    reached = np.concatenate([[0.0], np.cumsum(share)])

    def draw(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.int64]:
        target = low + generator.random(len(low)) * (high - low)
        return np.minimum(np.searchsorted(reached, target, side="right") - 1, num_nodes - 1)

    names = generator.permutation(num_nodes)
    codes = np.empty(0, dtype=np.int64)
    while len(codes) < num_edges:
        count = num_edges - len(codes) + num_edges // 20 + 16
        everywhere = np.zeros(count), np.full(count, reached[-1])
        first = draw(*everywhere)
        ends = bounds[community[first]], bounds[community[first] + 1]
        is_inside = generator.random(count) < _INSIDE
        low = np.where(is_inside, reached[ends[0]], everywhere[0])
        high = np.where(is_inside, reached[ends[1]], everywhere[1])
        pairs = np.stack([first, draw(low, high)], axis=1)
        new = edge_codes(names[pairs[pairs[:, 0] != pairs[:, 1]]], num_nodes, directed=False)
        codes = sorted_distinct(np.concatenate([codes, new]))
    codes = generator.permutation(codes)[:num_edges]
    return Graph.from_edges(ordered_pairs(codes, num_nodes), num_nodes)
