"""Common neighbours, 3-paths and places of edges against sets and loops."""

import numpy as np
import pytest
from hypothesis import given, settings

from pgnn import Graph
from pgnn.pairs.kernels.counts import count_shared, find_entries, find_entry, sum_three_paths
from strategies import graphs

NO_HUBS = 10**9


def rows_of(graph):
    return graph.indptr, graph.indices


def all_pairs(n):
    """Pairs of different nodes by their first node, as kernels want them."""
    return np.array([(u, v) for u in range(n) for v in range(n) if u != v], int).reshape(-1, 2)


def shared_of(graph, other, pairs, worth):
    result = np.full((len(pairs) + 1, 3), -1.0)
    count_shared(rows_of(graph), rows_of(other), pairs, worth, 1, result)
    assert (result[0] == -1).all()  # results start where they are told to
    return result[1:]


def expected_shared(graph, other, pairs, worth):
    rows = []
    for u, v in pairs.tolist():
        both = sorted(set(graph.neighbors(u).tolist()) & set(other.neighbors(v).tolist()))
        rows.append([len(both), *worth[both].sum(axis=0)])
    return np.array(rows).reshape(-1, 3)


def worth_of(n, columns=2):
    return np.random.default_rng(0).uniform(0.1, 1, (n, columns))


@given(graph=graphs(max_nodes=10))
def test_entries_are_found_exactly_where_edges_are(graph):
    pairs = all_pairs(graph.num_nodes)
    entries = np.empty(len(pairs), dtype=np.int64)
    find_entries(*rows_of(graph), pairs, entries)
    for (u, v), entry in zip(pairs.tolist(), entries.tolist(), strict=True):
        assert entry == find_entry(*rows_of(graph), u, v)
        if v in graph.neighbors(u):
            assert graph.indptr[u] <= entry < graph.indptr[u + 1]
            assert graph.indices[entry] == v
        else:
            assert entry == -1


@settings(max_examples=50)
@given(graph=graphs(max_nodes=10, weighted=False))
def test_shared_nodes_are_those_of_both_sets(graph):
    pairs, worth = all_pairs(graph.num_nodes), worth_of(graph.num_nodes)
    for other in (graph, graph.reversed()):
        found = shared_of(graph, other, pairs, worth)
        expected = expected_shared(graph, other, pairs, worth)
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("hub", [0, 49])
def test_row_much_longer_than_the_other_is_read_alike(hub):
    others = [v for v in range(50) if v != hub]
    edges = [(hub, v) for v in others] + [(others[3], others[7]), (others[7], others[40])]
    graph = Graph.from_edges(edges)
    pairs = np.array([(hub, others[7]), (others[7], hub), (others[3], others[40])])
    found = shared_of(graph, graph, pairs, worth_of(50))
    np.testing.assert_allclose(found, expected_shared(graph, graph, pairs, worth_of(50)))
    assert found[:, 0].tolist() == [2, 2, 2]


def three_paths(graph, pairs, worth, hub_degree=NO_HUBS):
    n, result = graph.num_nodes, np.empty(len(pairs))
    scratch = np.zeros(n), np.empty(n, dtype=np.int64)
    turned = rows_of(graph.reversed())
    worths = tuple(np.ascontiguousarray(column) for column in worth.T)
    sum_three_paths(rows_of(graph), turned, pairs, worths, hub_degree, result, scratch)
    assert not scratch[0].any()  # left as zeros for the next block
    return result


@settings(max_examples=50)
@given(graph=graphs(max_nodes=9, weighted=False))
def test_three_paths_are_simple_paths_of_three_edges(graph):
    n, pairs = graph.num_nodes, all_pairs(graph.num_nodes)
    worth, rows = worth_of(n), [set(graph.neighbors(u).tolist()) for u in range(n)]
    expected = [
        sum(
            worth[a, 0] * worth[b, 1]
            for a in rows[u]
            for b in rows[a]
            if v in rows[b] and len({u, a, b, v}) == 4
        )
        for u, v in pairs.tolist()
    ]
    np.testing.assert_allclose(three_paths(graph, pairs, worth), expected, atol=1e-12)


def test_hubs_are_taken_to_be_joined_by_chance():
    # 0 - hub - b - 1: the hub of degree 6 is joined to b of degree 2 by chance 6 * 2 / entries.
    hub, b = 2, 3
    graph = Graph.from_edges([(0, hub), (hub, b), (b, 1), *((hub, leaf) for leaf in range(4, 8))])
    pairs, worth = np.array([(0, 1)]), np.ones((8, 2))
    assert three_paths(graph, pairs, worth, hub_degree=6).tolist() == [1.0]
    chance = 6 * 2 / len(graph.indices)
    assert three_paths(graph, pairs, worth, hub_degree=5) == pytest.approx([chance])
