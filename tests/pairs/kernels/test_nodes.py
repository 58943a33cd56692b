"""Triangles, core numbers, components and bridges against networkx."""

import networkx as nx
import numpy as np
from hypothesis import given, settings

from pgnn import Graph
from pgnn.pairs.kernels.nodes import (
    components_and_bridges,
    core_numbers,
    cores_without_edges,
    count_triangles,
)
from strategies import graphs

PLAIN = {"max_nodes": 14, "directed": False, "weighted": False}


def rows_of(graph):
    return graph.indptr, graph.indices


def cores_without(graph, edges, max_nodes=10**6):
    edges = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    result = np.empty((len(edges), 2), dtype=np.int64)
    core = core_numbers(*rows_of(graph))
    limited = cores_without_edges(*rows_of(graph), core, edges, max_nodes, result)
    return result.tolist(), limited


@given(graph=graphs(**PLAIN))
def test_triangles_and_core_numbers_equal_networkx(graph):
    theirs, nodes = graph.to_networkx(), range(graph.num_nodes)
    triangles, core = nx.triangles(theirs), nx.core_number(theirs)
    assert count_triangles(*rows_of(graph)).tolist() == [triangles[v] for v in nodes]
    assert core_numbers(*rows_of(graph)).tolist() == [core[v] for v in nodes]


@settings(max_examples=50)
@given(graph=graphs(**PLAIN))
def test_cores_without_an_edge_are_those_of_the_graph_that_lost_it(graph):
    edges = graph.edges().tolist()
    found, limited = cores_without(graph, edges)
    assert limited == 0
    for (u, v), cores in zip(edges, found, strict=True):
        theirs = graph.to_networkx()
        theirs.remove_edge(u, v)
        core = nx.core_number(theirs)
        assert cores == [core[u], core[v]]


def test_falls_that_are_not_followed_keep_their_number_and_are_counted():
    # Without (0, 1) node 1 falls, then 2 and 3 in turn, and at last 0, which 3 and 4 still held.
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (4, 5), (5, 6), (6, 4)]
    graph = Graph.from_edges(edges)
    assert cores_without(graph, [(0, 1)]) == ([[1, 1]], 0)
    assert cores_without(graph, [(0, 1)], max_nodes=2) == ([[2, 1]], 1)


@given(graph=graphs(**PLAIN))
def test_components_are_named_after_their_first_node(graph):
    component, parent, *_, size = components_and_bridges(*rows_of(graph))
    for members in nx.connected_components(graph.to_networkx()):
        first = min(members)
        assert {int(component[v]) for v in members} == {first}
        assert [v for v in members if parent[v] == -1] == [first]
        assert size[first] == len(members)


@given(graph=graphs(**PLAIN))
def test_bridges_are_edges_to_a_parent_that_nothing_goes_round(graph):
    _, parent, entered, earliest, size = components_and_bridges(*rows_of(graph))
    theirs = graph.to_networkx()
    below = np.flatnonzero((earliest == entered) & (parent >= 0))
    found = {tuple(sorted((int(v), int(parent[v])))) for v in below}
    assert found == {tuple(sorted(edge)) for edge in nx.bridges(theirs)}
    for v in below.tolist():
        theirs.remove_edge(v, int(parent[v]))
        assert size[v] == len(nx.node_connected_component(theirs, v))
        theirs.add_edge(v, int(parent[v]))


def test_long_path_needs_no_recursion():
    n = 20_000
    path = Graph.from_edges(np.stack([np.arange(n - 1), np.arange(1, n)], axis=1))
    assert components_and_bridges(*rows_of(path))[-1].tolist() == list(range(n, 0, -1))
