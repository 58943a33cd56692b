import networkx as nx
import numpy as np
import pytest

import pgnn
from pgnn.report.sample import add_nodes, edges_among, sample_nodes

GRAPHS = {
    "grid": pgnn.Graph.from_networkx(
        nx.convert_node_labels_to_integers(nx.grid_2d_graph(40, 40)), weight=None
    ),
    "star": pgnn.Graph.from_networkx(nx.star_graph(1000)),
    "pairs": pgnn.Graph.from_edges(np.arange(1000).reshape(-1, 2)),
    "isolated": pgnn.Graph.from_edges(np.empty((0, 2), dtype=int), 1000),
    "directed": pgnn.Graph.from_edges([(i, i + 1) for i in range(999)], directed=True),
}


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("count", [1, 7, 60, 999])
def test_sample_has_as_many_nodes_as_asked(name, count):
    nodes = sample_nodes(GRAPHS[name], count, np.random.default_rng(0))
    assert len(nodes) == count
    assert (np.diff(nodes) > 0).all()


def test_small_graph_is_taken_whole():
    nodes = sample_nodes(GRAPHS["grid"], 1600, np.random.default_rng(0))
    assert nodes.tolist() == list(range(1600))


@pytest.mark.parametrize("name", ["grid", "directed"])
def test_sample_is_a_few_connected_pieces(name):
    graph = GRAPHS[name]
    nodes = sample_nodes(graph, 120, np.random.default_rng(1))
    drawn = nx.Graph(edges_among(graph, nodes).tolist())
    drawn.add_nodes_from(range(len(nodes)))
    assert nx.number_connected_components(drawn) <= 6


def test_hub_does_not_fill_the_sample_before_other_parts():
    hub = nx.disjoint_union(nx.star_graph(5000), nx.path_graph(5000))
    nodes = sample_nodes(pgnn.Graph.from_networkx(hub), 120, np.random.default_rng(0))
    assert (nodes > 5000).sum() >= 40


def test_nodes_with_edges_come_before_isolated_ones():
    graph = pgnn.Graph.from_edges([(0, 1), (5, 6), (8, 9)], 500)
    nodes = sample_nodes(graph, 8, np.random.default_rng(0))
    assert {0, 1, 5, 6, 8, 9} <= set(nodes.tolist())


def test_added_nodes_come_after_and_none_twice():
    first = np.array([3, 8])
    nodes = add_nodes(first, 10, 6, np.random.default_rng(0))
    assert nodes[:2].tolist() == [3, 8]
    assert len(set(nodes.tolist())) == len(nodes) == 6
    assert add_nodes(first, 10, 2, np.random.default_rng(0)).tolist() == [3, 8]
    assert sorted(add_nodes(first, 10, 99, np.random.default_rng(0)).tolist()) == list(range(10))


@pytest.mark.parametrize("directed", [False, True])
def test_edges_among_nodes_are_those_of_the_graph(directed):
    rng = np.random.default_rng(0)
    graph = pgnn.Graph.from_edges(rng.integers(0, 60, (300, 2)), 60, directed=directed)
    nodes = np.sort(rng.choice(60, 25, replace=False))
    whole = {tuple(sorted(pair)) for pair in graph.edges().tolist()}
    expected = {pair for pair in whole if set(pair) <= set(nodes.tolist())}
    found = [tuple(sorted(nodes[pair].tolist())) for pair in edges_among(graph, nodes)]
    assert len(found) == len(set(found))
    assert set(found) == expected
