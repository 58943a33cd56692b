"""One table of nodes and edges -> many graphs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pgnn.graph import Graph


def components(edges: NDArray[np.int64], num_nodes: int, *, more_than: int) -> NDArray[np.int64]:
    """Return the component of each node, numbered by its smallest node; -1 if it is small.

    Args:
        edges: Pairs of node indices; direction does not matter.
        num_nodes: How many nodes there are.
        more_than: A component needs more nodes than this to count.

    Example:
        >>> components(np.array([(3, 2), (0, 4)]), 5, more_than=1).tolist()
        [0, -1, 1, 1, 0]
    """
    import scipy.sparse as sp
    from scipy.sparse.csgraph import connected_components

    ones = np.ones(len(edges), dtype=np.int8)
    adjacency = sp.coo_array((ones, (edges[:, 0], edges[:, 1])), shape=(num_nodes, num_nodes))
    _, label = connected_components(adjacency, directed=False)
    _, first, label, size = np.unique(
        label, return_index=True, return_inverse=True, return_counts=True
    )
    large = np.flatnonzero(size > more_than)
    number = np.full(len(size), -1, dtype=np.int64)
    number[large[np.argsort(first[large])]] = np.arange(len(large))
    return number[label]


def split(
    edges: NDArray[np.int64],
    group: NDArray[np.int64],
    *,
    x: NDArray[np.float32],
    node_ids: NDArray[np.int64],
    y: NDArray[np.int64] | None = None,
) -> list[Graph]:
    """Make one undirected graph per group of nodes, in the order of the groups' numbers.

    Edges between groups are dropped; in a graph, nodes keep the order they have here.

    Args:
        edges: Pairs of node indices.
        group: The group of each node, 0, 1, ...; nodes with -1 are left out.
        x: Features, one row per node.
        node_ids: Names of the nodes.
        y: Labels of the nodes.
    """
    num_groups = int(group.max(initial=-1)) + 1
    nodes_by_group = np.argsort(group, kind="stable")
    node_bounds = np.searchsorted(group[nodes_by_group], np.arange(num_groups + 1))
    local = np.empty(len(group), dtype=np.int64)  # a node's index in its own graph
    local[nodes_by_group] = np.arange(len(group)) - np.append(node_bounds, 0)[group[nodes_by_group]]

    inside = edges[group[edges[:, 0]] == group[edges[:, 1]]]
    edge_group = group[inside[:, 0]]
    edges_by_group = np.argsort(edge_group, kind="stable")
    edge_bounds = np.searchsorted(edge_group[edges_by_group], np.arange(num_groups + 1))
    graphs = []
    for i in range(num_groups):
        nodes = nodes_by_group[node_bounds[i] : node_bounds[i + 1]]
        pairs = local[inside[edges_by_group[edge_bounds[i] : edge_bounds[i + 1]]]]
        labels = None if y is None else y[nodes]
        graphs.append(
            Graph.from_edges(pairs, len(nodes), x=x[nodes], y=labels, node_ids=node_ids[nodes])
        )
    return graphs
