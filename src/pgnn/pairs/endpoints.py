"""What the endpoints of a pair are, each without the pair's own edge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgnn.graph import Graph

Array = NDArray[np.float64]

# Columns of both endpoints, in this order. Directions of edges are not read.
ENDPOINT_COLUMNS = (
    "neighbour_degree",
    "two_hop_degree",
    "clustering",
    "core",
    "component",
)
# Nodes that lose their core number with an edge are followed so far.
_MAX_FALLS = 10_000


@dataclass(frozen=True, eq=False)
class Endpoints:
    """Numbers of both endpoints of each pair.

    Attributes:
        columns: By name of `ENDPOINT_COLUMNS`, `[m, 2]`: of the first and of the second node.
        same_component: Whether a path joins both, `[m]`.
        limited: For how many pairs the core number may be one too high.
    """

    columns: dict[str, Array]
    same_component: NDArray[np.bool_]
    limited: int


def describe_endpoints(
    graph: Graph, pairs: NDArray[np.int64], lost: NDArray[np.bool_], shared: Array
) -> Endpoints:
    """Describe both endpoints of each pair in an undirected graph, without the pair's own edge.

    Args:
        graph: An undirected graph.
        pairs: Node indices, `[m, 2]`.
        lost: Whether the pair is an edge, which is then left out.
        shared: Of lost pairs, `[num_lost, 2]`: the number of common neighbours, and the sum of
            1 / degree over them.
    """
    from pgnn.pairs.kernels.nodes import core_numbers, cores_without_edges, count_triangles

    degree = graph.degrees.astype(np.float64)
    rows = np.repeat(np.arange(graph.num_nodes), graph.degrees)

    def over_neighbours(values: Array) -> Array:
        sums = np.bincount(rows, weights=values[graph.indices], minlength=graph.num_nodes)
        return sums.astype(np.float64)  # of no edges at all, bincount makes integers

    inverse = 1 / np.maximum(degree, 1)
    degree_sum = over_neighbours(degree)
    mean_degree = degree_sum * inverse
    mean_sum, inverse_sum = over_neighbours(mean_degree), over_neighbours(inverse)
    other = pairs[:, ::-1]
    left = degree[pairs] - lost[:, None]  # degrees without the own edge
    count = np.zeros(len(pairs))
    resource = np.zeros(len(pairs))
    count[lost], resource[lost] = shared.T
    lost_here = lost[:, None]

    neighbour_sum = degree_sum[pairs] - np.where(lost_here, degree[other], 0)
    # Of the neighbours that stay, each has u, and common ones also v, with a degree less by one.
    changed = mean_degree[other] + inverse_sum[pairs] - inverse[other] + resource[:, None]
    two_hop_sum = mean_sum[pairs] - np.where(lost_here, changed, 0)
    triangles = count_triangles(graph.indptr, graph.indices)[pairs] - count[:, None]
    core = core_numbers(graph.indptr, graph.indices)
    cores = core[pairs].astype(np.float64)
    without = np.empty((int(lost.sum()), 2), dtype=np.int64)
    limited = cores_without_edges(
        graph.indptr, graph.indices, core, pairs[lost], _MAX_FALLS, without
    )
    cores[lost] = without
    sizes, same = _components(graph, pairs, lost)
    has_any = left > 0
    wedges = left * (left - 1)
    columns = {
        "neighbour_degree": np.where(has_any, neighbour_sum / np.maximum(left, 1), 0),
        "two_hop_degree": np.where(has_any, two_hop_sum / np.maximum(left, 1), 0),
        "clustering": 2 * triangles / np.maximum(wedges, 1),
        "core": cores,
        "component": sizes,
    }
    return Endpoints(columns, same, int(limited))


def _components(
    graph: Graph, pairs: NDArray[np.int64], lost: NDArray[np.bool_]
) -> tuple[Array, NDArray[np.bool_]]:
    """Sizes of both components `[m, 2]`, and whether they are one; a lost bridge makes two."""
    from pgnn.pairs.kernels.nodes import components_and_bridges

    component, parent, entered, earliest, subtree = components_and_bridges(
        graph.indptr, graph.indices
    )
    sizes = np.bincount(component, minlength=graph.num_nodes)[component[pairs]].astype(np.float64)
    same = component[pairs[:, 0]] == component[pairs[:, 1]]
    is_child = parent[pairs] == pairs[:, ::-1]
    is_bridge = is_child & (earliest == entered)[pairs] & lost[:, None]
    below = subtree[pairs]
    sizes = np.where(is_bridge, below, sizes)
    sizes -= np.where(is_bridge[:, ::-1], below[:, ::-1], 0)
    return sizes, same & ~is_bridge.any(axis=1)
