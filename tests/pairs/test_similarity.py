"""Similarities of places: symmetric, reproducible, and telling communities apart."""

import networkx as nx
import numpy as np

from pgnn import Graph
from pgnn.pairs.similarity import SIMILARITY_COLUMNS, pair_similarities


def two_cliques():
    graph = nx.disjoint_union(nx.complete_graph(8), nx.complete_graph(8))
    graph.add_edge(0, 8)
    return Graph.from_networkx(graph)


def all_pairs(n):
    return np.array([(u, v) for u in range(n) for v in range(u + 1, n)])


def described(graph, pairs, seed=0, **options):
    return pair_similarities(graph, pairs, rng=np.random.default_rng(seed), **options)


def test_similarities_are_the_same_both_ways_and_again():
    graph = Graph.from_networkx(nx.karate_club_graph(), weight=None)
    pairs = all_pairs(34)
    values = described(graph, pairs)
    assert values.shape == (len(pairs), len(SIMILARITY_COLUMNS))
    assert np.isfinite(values).all()
    np.testing.assert_array_equal(values, described(graph, pairs, num_threads=2))
    np.testing.assert_allclose(values, described(graph, pairs[:, ::-1]), atol=1e-5)


def test_communities_are_told_apart_by_every_column():
    pairs = all_pairs(16)
    values = described(two_cliques(), pairs)
    same = (pairs[:, 0] < 8) == (pairs[:, 1] < 8)
    for name, column in zip(SIMILARITY_COLUMNS, values.T, strict=True):
        sign = -1 if "distance" in name else 1
        assert sign * column[same].mean() > sign * column[~same].mean(), name


def test_graph_without_edges_has_similarities_too():
    values = described(Graph.from_edges([], 5), all_pairs(5))
    assert np.isfinite(values).all()
