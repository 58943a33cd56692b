"""The twin itself, against networkx on the graph from which the edge was removed."""

import networkx as nx
import numpy as np
import pytest

from pgnn import Graph
from pgnn.pairs.proximities import proximity_columns
from pgnn.pairs.reference import reference_proximities

KARATE = nx.karate_club_graph()
PAIRS = [(0, 33), (0, 1), (0, 11), (5, 16), (24, 25)]


@pytest.mark.parametrize(("u", "v"), PAIRS)
def test_twin_equals_networkx_without_the_edge(u, v):
    graph = Graph.from_networkx(KARATE, weight=None)
    values = reference_proximities(graph, [(u, v)])[0]
    row = dict(zip(proximity_columns(), values, strict=True))
    theirs = nx.Graph(KARATE.edges)
    theirs.remove_edges_from([(u, v)])
    hops = nx.shortest_path_length(theirs, u, v) if nx.has_path(theirs, u, v) else 49
    assert row["hops"] == hops
    assert row["same_component"] == nx.has_path(theirs, u, v)
    assert row["common_neighbours"] == len(list(nx.common_neighbors(theirs, u, v)))
    for name, function in (
        ("jaccard", nx.jaccard_coefficient),
        ("adamic_adar", nx.adamic_adar_index),
        ("resource_allocation", nx.resource_allocation_index),
    ):
        assert row[name] == pytest.approx(next(iter(function(theirs, [(u, v)])))[2])
    paths = nx.all_simple_paths(theirs, u, v, cutoff=3)
    worth = [1 / np.sqrt(theirs.degree(p[1]) * theirs.degree(p[2])) for p in paths if len(p) == 4]
    assert row["three_paths"] == pytest.approx(sum(worth))
    for name, of_node in (
        ("degree", dict(theirs.degree)),
        ("clustering", nx.clustering(theirs)),
        ("core", nx.core_number(theirs)),
        ("neighbour_degree", nx.average_neighbor_degree(theirs)),
        ("component", {w: len(nx.node_connected_component(theirs, w)) for w in (u, v)}),
    ):
        ends = sorted((of_node[u], of_node[v]))
        assert [row[f"{name}_min"], row[f"{name}_max"]] == pytest.approx(ends)


def test_twin_walks_by_hand():
    """On a path a - b - c: S[a, b] = S[b, c] = 1 / sqrt(2)."""
    path = Graph.from_edges([(0, 1), (1, 2)])
    row = dict(zip(proximity_columns(), reference_proximities(path, [(0, 2)])[0], strict=True))
    assert row["walk_2"] == pytest.approx(0.5)
    assert row["walk_3"] == 0
    assert row["walk_4"] == pytest.approx(0.5)
    assert row["pagerank_0.5"] == pytest.approx(sum(0.5 * 0.25**k for k in range(1, 30)))


def test_twin_reads_lengths_as_the_inverse_of_strengths():
    edges, weights = [(0, 1), (1, 2), (0, 2), (2, 3)], np.array([1.0, 2.0, 4.0, 0.5])
    strong = Graph.from_edges(edges, weights=weights)
    long = Graph.from_edges(edges, weights=1 / weights)
    np.testing.assert_allclose(
        reference_proximities(strong, [(0, 3), (0, 1)]),
        reference_proximities(long, [(0, 3), (0, 1)], weights="length"),
    )
