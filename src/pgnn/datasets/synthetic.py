"""The paper's two synthetic data sets, of any size: a grid and rewired communities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pgnn.checks import as_generator, checked, fits_memory, integer, positive_integer
from pgnn.errors import Parameter, PGNNError
from pgnn.graph import Graph


@checked
def grid(rows: int = 20, columns: int = 20) -> Graph:
    """Build a grid; node `i * columns + j` stands in row i, column j. The paper's is 20 x 20.

    Every node has the one feature 1.0; there are no labels.

    Example:
        >>> grid(2, 3)
        Graph(num_nodes=6, num_edges=7, num_features=1)
    """
    rows = positive_integer("rows", rows)
    columns = positive_integer("columns", columns)
    fits_memory("rows" if rows > columns else "columns", max(rows, columns), 60 * rows * columns)
    node = np.arange(rows * columns).reshape(rows, columns)
    across = np.stack([node[:, :-1].ravel(), node[:, 1:].ravel()], axis=1)
    down = np.stack([node[:-1].ravel(), node[1:].ravel()], axis=1)
    edges = np.concatenate([across, down])
    return Graph.from_edges(edges, node.size, x=np.ones((node.size, 1), dtype=np.float32))


@checked
def communities(
    num_communities: int = 20,
    size: int = 20,
    *,
    rewire: float = 0.01,
    rng: int | np.random.Generator,
) -> Graph:
    """Build a connected caveman graph and rewire a few of its edges. The paper's is 20 x 20, 1%.

    Community c is a clique of nodes `c * size`, ..., `c * size + size - 1`, from which the edge
    between its first two nodes is taken away; its first node is joined to the last node of
    community c - 1 instead (of the last community, for c = 0). The communities form a ring.

    Then every edge is picked with probability `rewire`, independently, and the picked ones are
    moved one after the other: one of the two ends, a fair coin says which, stays; the other becomes
    a node drawn evenly from all that the staying one is not joined to. So every pick changes the
    graph, no self-loop or repeated edge arises and the number of edges stays. (An edge whose
    staying end is joined to all nodes is left alone.) Nothing forces the graph to stay connected.

    Every node has the one feature 1.0; its label is its community.

    Args:
        num_communities: How many cliques, at least 2.
        size: Nodes per clique, at least 3 (a clique of 2 without its edge holds nothing together).
        rewire: Probability that an edge is moved.
        rng: Seed or generator; the same seed gives the same graph.

    Example:
        >>> communities(rng=0)
        Graph(num_nodes=400, num_edges=3800, num_features=1, num_classes=20)
    """
    num_communities = integer("num_communities", num_communities, at_least=2)
    size = integer("size", size, at_least=3)
    if isinstance(rewire, bool) or not isinstance(rewire, int | float) or not 0 <= rewire <= 1:
        raise PGNNError(Parameter("rewire"), f" must be a probability from 0 to 1 (got {rewire!r})")
    generator = as_generator(rng)
    num_nodes = num_communities * size
    fits_memory("size", size, 100 * num_nodes * size)
    edges = _rewired(_caveman_edges(num_communities, size), num_nodes, rewire, generator)
    return Graph.from_edges(
        edges,
        num_nodes,
        x=np.ones((num_nodes, 1), dtype=np.float32),
        y=np.repeat(np.arange(num_communities), size),
    )


def _caveman_edges(num_communities: int, size: int) -> NDArray[np.int64]:
    """Pairs u < v of the connected caveman graph, sorted, so that draws have a fixed order."""
    clique = np.stack(np.triu_indices(size, k=1), axis=1)[1:]  # without its first edge, (0, 1)
    starts = np.arange(num_communities) * size
    inside = (starts[:, None, None] + clique).reshape(-1, 2)
    between = np.stack([starts, (starts - 1) % (num_communities * size)], axis=1)
    edges = np.sort(np.concatenate([inside, between]), axis=1)
    return edges[np.lexsort((edges[:, 1], edges[:, 0]))].astype(np.int64)


def _rewired(
    edges: NDArray[np.int64], num_nodes: int, probability: float, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Move one end of each picked edge, as `communities` says."""
    edges = edges.copy()
    neighbours: list[set[int]] = [set() for _ in range(num_nodes)]
    for u, v in edges.tolist():
        neighbours[u].add(v)
        neighbours[v].add(u)
    for picked in np.flatnonzero(generator.random(len(edges)) < probability).tolist():
        side = int(generator.integers(2))
        stays, leaves = int(edges[picked, side]), int(edges[picked, 1 - side])
        if len(neighbours[stays]) == num_nodes - 1:
            continue
        joins = stays
        while joins == stays or joins in neighbours[stays]:
            joins = int(generator.integers(num_nodes))
        neighbours[stays].remove(leaves)
        neighbours[leaves].remove(stays)
        neighbours[stays].add(joins)
        neighbours[joins].add(stays)
        edges[picked] = stays, joins
    return edges
