"""Both searches for shortest paths against networkx."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgnn import Graph
from pgnn.pairs.kernels.hops import search_block, search_pairs
from strategies import graphs

NO_LIMIT = 10**9


def rows_of(graph):
    return graph.indptr, graph.indices


def hops_between(theirs, u, v, max_hops):
    try:
        return min(nx.shortest_path_length(theirs, u, v), max_hops + 1)
    except nx.NetworkXNoPath:
        return max_hops + 1


def block_hops(graph, sources, nodes, lanes, max_hops):
    hops = np.empty(len(nodes), dtype=np.int64)
    words = tuple(np.empty(graph.num_nodes, dtype=np.uint64) for _ in range(3))
    reads = np.asarray(nodes), np.asarray(lanes)
    search_block(rows_of(graph.reversed()), np.asarray(sources), reads, max_hops, hops, words)
    return hops.tolist()


def pair_hops(graph, pairs, is_edge, max_hops, max_edges=NO_LIMIT):
    pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    hops = np.empty(len(pairs), dtype=np.int64)
    scratch = tuple(np.empty(graph.num_nodes, dtype=np.int64) for _ in range(3))
    rows = rows_of(graph), rows_of(graph.reversed())
    limits = (max_hops, max_edges)
    stopped = search_pairs(*rows, pairs, np.asarray(is_edge), limits, hops, scratch)
    return hops.tolist(), stopped


@settings(max_examples=50)
@given(graph=graphs(max_nodes=12, weighted=False), max_hops=st.integers(1, 12))
def test_hops_of_all_sources_at_once_equal_networkx(graph, max_hops):
    n, theirs = graph.num_nodes, graph.to_networkx()
    reads = [(v, u) for u in range(n) for v in range(n) if u != v]
    nodes, lanes = np.array(reads, dtype=np.int64).reshape(-1, 2).T.copy()
    expected = [hops_between(theirs, u, v, max_hops) for v, u in reads]
    assert block_hops(graph, np.arange(n), nodes, lanes, max_hops) == expected


def test_all_64_bits_of_a_word_are_sources():
    cycle = Graph.from_networkx(nx.cycle_graph(64, create_using=nx.DiGraph))
    sources = np.arange(64)
    assert block_hops(cycle, sources, (sources + 5) % 64, sources, 48) == [5] * 64
    assert block_hops(cycle, sources, (sources + 49) % 64, sources, 48) == [49] * 64


@settings(max_examples=50)
@given(graph=graphs(max_nodes=12, weighted=False), max_hops=st.integers(1, 12))
def test_hops_from_both_ends_equal_networkx_without_the_own_edge(graph, max_hops):
    n = graph.num_nodes
    pairs = [(u, v) for u in range(n) for v in range(n) if u != v]
    is_edge = np.array([v in graph.neighbors(u) for u, v in pairs], dtype=bool)
    expected = []
    for (u, v), joined in zip(pairs, is_edge.tolist(), strict=True):
        theirs = graph.to_networkx()
        if joined:
            theirs.remove_edge(u, v)
        expected.append(hops_between(theirs, u, v, max_hops))
    assert pair_hops(graph, pairs, is_edge, max_hops) == (expected, 0)


@pytest.mark.parametrize(("max_edges", "least"), [(0, 1), (2, 3), (4, 4), (10**6, 9)])
def test_search_that_is_stopped_says_what_it_ruled_out(max_edges, least):
    path = Graph.from_networkx(nx.path_graph(10))
    (hops,), stopped = pair_hops(path, [(0, 9)], [False], 48, max_edges)
    assert hops == least
    assert stopped == (least < 9)
