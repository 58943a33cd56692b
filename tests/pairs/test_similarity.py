"""Similarities of pairs: symmetry, threads, two cliques, and graphs too large to divide."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgnn import Graph, PGNNError
from pgnn.evaluation.metrics import roc_auc
from pgnn.pairs import similarity
from pgnn.pairs.similarity import SIMILARITY_COLUMNS, pair_similarities
from strategies import graphs

RANKS = [i for i, name in enumerate(SIMILARITY_COLUMNS) if name.startswith("rank_")]
TOGETHER = [i for i, name in enumerate(SIMILARITY_COLUMNS) if name.startswith("together_")]


def all_pairs(graph):
    return np.stack(np.triu_indices(graph.num_nodes, 1), axis=1)


def two_cliques(size=10):
    """Two cliques, joined by one edge."""
    cliques = [(a + size * k, b + size * k) for k in (0, 1) for a in range(size) for b in range(a)]
    return Graph.from_edges([*cliques, (0, size)])


@given(graph=graphs(directed=False), seed=st.integers(0, 100))
def test_values_are_finite_and_the_same_for_turned_pairs(graph, seed):
    pairs = all_pairs(graph)
    values = pair_similarities(graph, pairs, rng=seed)
    assert values.shape == (len(pairs), len(SIMILARITY_COLUMNS))
    assert np.isfinite(values).all()
    np.testing.assert_array_equal(values, pair_similarities(graph, pairs[:, ::-1], rng=seed))


@given(graph=graphs(directed=False, weighted=False), data=st.data())
def test_other_names_of_nodes_change_only_what_is_random(graph, data):
    new = np.array(data.draw(st.permutations(range(graph.num_nodes))), dtype=int)
    renamed = Graph.from_edges(new[graph.edges()].reshape(-1, 2), graph.num_nodes)
    pairs = all_pairs(graph)
    values = pair_similarities(graph, pairs, rng=0)
    others = pair_similarities(renamed, new[pairs].reshape(-1, 2), rng=0)
    fixed = [i for i in range(values.shape[1]) if i not in TOGETHER + RANKS]
    np.testing.assert_array_equal(values[:, fixed], others[:, fixed])


def test_number_of_threads_and_other_pairs_do_not_matter():
    graph = two_cliques()
    pairs = all_pairs(graph)
    values = pair_similarities(graph, pairs, rng=4, num_threads=1)
    np.testing.assert_array_equal(values, pair_similarities(graph, pairs, rng=4, num_threads=3))
    np.testing.assert_array_equal(values[5:9], pair_similarities(graph, pairs[5:9], rng=4))


def test_two_cliques_are_told_apart_by_every_rank_and_group_column():
    graph = two_cliques()
    pairs = all_pairs(graph)
    same = pairs[:, 0] // 10 == pairs[:, 1] // 10
    values = pair_similarities(graph, pairs, rng=0)
    for place in RANKS + TOGETHER:
        sign = -1 if "distance" in SIMILARITY_COLUMNS[place] else 1
        assert roc_auc(same, sign * values[:, place]) > 0.95, SIMILARITY_COLUMNS[place]


def test_long_edges_are_weak_unless_weights_are_strengths():
    graph = two_cliques()
    edges = graph.edges()
    weights = np.where(edges[:, 0] // 10 == edges[:, 1] // 10, 2.0, 0.5)
    long = Graph.from_edges(edges, 20, weights=weights)
    strong = Graph.from_edges(edges, 20, weights=1 / weights)
    pairs = all_pairs(graph)
    np.testing.assert_allclose(
        pair_similarities(long, pairs, weights="length", rng=0),
        pair_similarities(strong, pairs, weights="strength", rng=0),
        rtol=1e-6,
    )


def test_large_graphs_have_fewer_runs_and_then_none(monkeypatch):
    graph = two_cliques()
    rng = np.random.default_rng(0)
    assert similarity.divide(graph, 1.0, rng=rng, num_threads=1).shape == (20, 50)
    per_run = 4 * 10 * (12 * 20 + 2 * graph.num_edges)
    monkeypatch.setattr(similarity, "MAX_WORK", 7 * per_run)
    assert similarity.divide(graph, 1.0, rng=rng, num_threads=1).shape == (20, 7)
    monkeypatch.setattr(similarity, "MAX_WORK", 3 * per_run)
    assert (pair_similarities(graph, all_pairs(graph), rng=0)[:, TOGETHER] == 0).all()


def test_large_graphs_are_compared_at_some_nodes(monkeypatch):
    monkeypatch.setattr(similarity, "MAX_ANCHORS", 8)
    graph = two_cliques()
    pairs = all_pairs(graph)
    values = pair_similarities(graph, pairs, rng=0)
    same = pairs[:, 0] // 10 == pairs[:, 1] // 10
    assert roc_auc(same, values[:, RANKS[0]]) > 0.9


def test_unknown_node_is_refused():
    with pytest.raises(PGNNError, match="node indices"):
        pair_similarities(two_cliques(), [(0, 20)], rng=0)
