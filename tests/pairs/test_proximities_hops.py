"""Hops of pairs without their own edge: both ways against networkx, and a search that stops."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgnn import Graph
from pgnn.pairs import proximities as module
from pgnn.pairs.proximities import hops_by_pair, hops_by_source
from strategies import graphs


def pairs_of(graph):
    """Every pair of different nodes, and whether it is an edge."""
    n = graph.num_nodes
    pairs = np.array([(u, v) for u in range(n) for v in range(n) if u != v], int).reshape(-1, 2)
    return pairs, np.array([v in graph.neighbors(u) for u, v in pairs.tolist()], dtype=bool)


def hops_without_own_edge(graph, pairs, is_edge, max_hops):
    expected = []
    for (u, v), joined in zip(pairs.tolist(), is_edge.tolist(), strict=True):
        theirs = graph.to_networkx()
        if joined:
            theirs.remove_edge(u, v)
        found = nx.has_path(theirs, u, v) and nx.shortest_path_length(theirs, u, v)
        expected.append(min(found or max_hops + 1, max_hops + 1))
    return expected


@settings(max_examples=40)
@given(graph=graphs(max_nodes=9, weighted=False), max_hops=st.integers(1, 9))
def test_both_ways_equal_networkx_without_the_own_edge(graph, max_hops):
    pairs, is_edge = pairs_of(graph)
    expected = hops_without_own_edge(graph, pairs, is_edge, max_hops)
    inputs = graph, graph.reversed(), pairs, is_edge, max_hops, 1
    assert hops_by_source(*inputs).tolist() == expected
    found, stopped = hops_by_pair(*inputs)
    assert (found.tolist(), stopped) == (expected, 0)


@pytest.mark.parametrize("directed", [False, True])
def test_blocks_and_threads_do_not_change_hops(monkeypatch, directed):
    theirs = nx.gnp_random_graph(150, 0.02, seed=0, directed=directed)
    graph = Graph.from_networkx(theirs)  # more sources than bits of a word
    pairs = np.random.default_rng(0).integers(0, 150, (900, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    none = np.zeros(len(pairs), dtype=bool)
    one = hops_by_source(graph, graph.reversed(), pairs, none, 20, 1)
    monkeypatch.setattr(module, "_SEARCH_PAIRS", 100)
    for num_threads in (1, 3):
        inputs = graph, graph.reversed(), pairs, none, 20, num_threads
        np.testing.assert_array_equal(hops_by_source(*inputs), one)
        np.testing.assert_array_equal(hops_by_pair(*inputs)[0], one)


def test_searches_that_were_stopped_are_counted_over_all_blocks(monkeypatch):
    monkeypatch.setattr(module, "_SEARCH_PAIRS", 2)
    path = Graph.from_networkx(nx.path_graph(12))
    pairs, none = np.array([(0, 11), (0, 2), (1, 10), (11, 0)]), np.zeros(4, dtype=bool)
    found, stopped = hops_by_pair(path, path, pairs, none, 48, 1, max_edges=4)
    assert stopped == 3
    assert found[1] == 2
    assert (found[[0, 2, 3]] < [11, 9, 11]).all()


def test_no_pairs_have_no_hops():
    path = Graph.from_networkx(nx.path_graph(3))
    none = np.empty((0, 2), dtype=np.int64), np.empty(0, dtype=bool)
    assert hops_by_source(path, path, *none, 48, 1).shape == (0,)
    assert hops_by_pair(path, path, *none, 48, 1)[1] == 0
