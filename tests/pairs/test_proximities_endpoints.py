"""Endpoints without the own edge, against networkx on the graph that lost it."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given, settings

from pgnn import Graph
from pgnn.pairs import proximities as endpoints
from pgnn.pairs.proximities import ENDPOINT_COLUMNS, describe_endpoints
from strategies import graphs


def describe(graph):
    """Describe every pair of different nodes."""
    n, theirs = graph.num_nodes, graph.to_networkx()
    pairs = np.array([(u, v) for u in range(n) for v in range(n) if u != v], int).reshape(-1, 2)
    lost = np.array([theirs.has_edge(u, v) for u, v in pairs.tolist()], dtype=bool)
    shared = []
    for u, v in pairs[lost].tolist():
        both = list(nx.common_neighbors(theirs, u, v))
        shared.append([len(both), sum(1 / theirs.degree(w) for w in both)])
    found = describe_endpoints(graph, pairs, lost, np.array(shared, float).reshape(-1, 2))
    return found, pairs.tolist()


def expected_of(theirs, node):
    """Columns of one node, in order."""
    degrees = nx.average_neighbor_degree(theirs)
    around = list(theirs[node])
    return [
        degrees[node],
        np.mean([degrees[w] for w in around]) if around else 0,
        nx.clustering(theirs, node),
        nx.core_number(theirs)[node],
        len(nx.node_connected_component(theirs, node)),
    ]


@settings(max_examples=25)
@example(graph=Graph.from_networkx(nx.gnp_random_graph(9, 0.5, seed=0)))
@given(graph=graphs(max_nodes=8, directed=False, weighted=False))
def test_endpoints_equal_networkx_without_the_own_edge(graph):
    found, pairs = describe(graph)
    assert tuple(found.columns) == ENDPOINT_COLUMNS
    assert found.limited == 0
    values = np.stack(list(found.columns.values()), axis=2)
    for p, (u, v) in enumerate(pairs):
        theirs = graph.to_networkx()
        if theirs.has_edge(u, v):
            theirs.remove_edge(u, v)
        expected = [expected_of(theirs, node) for node in (u, v)]
        np.testing.assert_allclose(values[p], expected, atol=1e-9)
        assert found.same_component[p] == nx.has_path(theirs, u, v)


def test_lost_bridge_makes_two_components():
    graph = Graph.from_networkx(nx.barbell_graph(4, 0))  # 3 - 4 joins two cliques
    found, pairs = describe(graph)
    place, inside = pairs.index([3, 4]), pairs.index([0, 1])
    assert found.columns["component"][place].tolist() == [4, 4]
    assert not found.same_component[place]
    assert found.columns["component"][inside].tolist() == [8, 8]
    assert found.same_component[inside]


@pytest.mark.parametrize("num_nodes", [1, 3])
def test_graph_without_edges_is_described(num_nodes):
    found, pairs = describe(Graph.from_edges([], num_nodes))
    assert not found.same_component.any()
    for name, values in found.columns.items():
        assert values.shape == (len(pairs), 2)
        assert (values == (name == "component")).all()


def test_core_numbers_that_were_not_followed_are_counted(monkeypatch):
    monkeypatch.setattr(endpoints, "_MAX_FALLS", 0)
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (4, 5), (5, 6), (6, 4)]
    graph = Graph.from_edges(edges)
    lost, shared = np.array([True, True]), np.zeros((2, 2))
    found = describe_endpoints(graph, np.array([(0, 1), (1, 2)]), lost, shared)
    assert found.limited == 1  # both ends of (1, 2) fall at once
    assert found.columns["core"].tolist() == [[2, 1], [1, 1]]
