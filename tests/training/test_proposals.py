"""Negatives by proposals: they are non-edges, and their densities are those stated."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgnn import Graph, pair_proximities
from pgnn.training.proposals import MIXTURE, propose_negatives
from strategies import graphs


def codes(pairs, n):
    return pairs.min(axis=1) * n + pairs.max(axis=1)


@settings(max_examples=25)
@given(graph=graphs(directed=False, weighted=False), seed=st.integers(0, 5))
def test_proposals_are_different_nodes_without_an_edge(graph, seed):
    made = propose_negatives(graph, None, 50, rng=np.random.default_rng(seed))
    n = graph.num_nodes
    assert (made.pairs[:, 0] < made.pairs[:, 1]).all()
    assert not np.isin(codes(made.pairs, n), codes(graph.edges().astype(int), n)).any()
    assert made.num_free == n * (n - 1) // 2 - graph.num_edges
    assert 0 <= made.num_uniform <= len(made.pairs)
    if made.num_free:
        assert made.num_uniform == 25


@pytest.mark.parametrize("weighted", [False, True])
def test_densities_are_how_often_each_pair_is_drawn(weighted):
    source = nx.gnp_random_graph(9, 0.4, seed=3)
    rng = np.random.default_rng(0)
    weights = 0.5 + rng.random(source.number_of_edges()) if weighted else None
    graph = Graph.from_edges(list(source.edges), 9, weights=weights)
    made = propose_negatives(graph, graph.weights, 400_000, rng=rng)
    pairs = np.array([(u, v) for u in range(9) for v in range(u + 1, 9)])
    pairs = pairs[~np.isin(codes(pairs, 9), codes(graph.edges().astype(int), 9))]
    near = pair_proximities(graph, pairs, weights="strength")
    strengths = near.column("strength_min").astype(float) * near.column("strength_max")
    density = np.exp(
        made.log_density(
            near.column("resource_allocation").astype(float),
            near.column("walk_3").astype(float) * np.sqrt(strengths),
        )
    )
    counts = np.array([(codes(made.pairs, 9) == code).sum() for code in codes(pairs, 9)])
    np.testing.assert_allclose(counts / counts.sum(), density / density.sum(), rtol=0.05)
    np.testing.assert_allclose(density.mean(), 1, rtol=0.02)


def test_graph_without_edges_has_uniform_proposals_only():
    made = propose_negatives(Graph.from_edges([], 6), None, 40, rng=np.random.default_rng(0))
    assert made.rates["two-step"] == made.rates["three-step"] == 0
    assert len(made.pairs) == made.num_uniform == 20
    assert made.log_density(np.zeros(3), np.zeros(3)).tolist() == [0, 0, 0]


def test_complete_graph_has_no_proposals():
    made = propose_negatives(
        Graph.from_networkx(nx.complete_graph(5)), None, 10, rng=np.random.default_rng(0)
    )
    assert len(made.pairs) == made.num_free == 0


def test_mixture_is_of_all_kinds():
    assert sum(MIXTURE.values()) == 1


def test_proposals_across_sides_have_the_stated_densities():
    rng = np.random.default_rng(0)
    joined = rng.random((6, 5)) < 0.45
    pairs = np.array([(c, 6 + p) for c in range(6) for p in range(5)])
    free = ~joined[pairs[:, 0], pairs[:, 1] - 6]
    graph = Graph.from_edges(pairs[~free], 11).with_sides(
        ["p" if v > 5 else "c" for v in range(11)]
    )
    made = propose_negatives(graph, None, 300_000, rng=rng)
    assert made.num_free == free.sum()
    assert made.rates["two-step"] == 0
    near = pair_proximities(graph, pairs[free])
    degrees = near.column("degree_min").astype(float) * near.column("degree_max")
    walks = near.column("walk_3").astype(float) * np.sqrt(degrees)
    density = np.exp(made.log_density(np.zeros(len(walks)), walks))
    counts = np.array([(made.pairs == pair).all(axis=1).sum() for pair in pairs[free]])
    assert counts.sum() == len(made.pairs)  # all are (left, right)
    np.testing.assert_allclose(counts / counts.sum(), density / density.sum(), rtol=0.05)


def test_ordered_proposals_have_the_stated_densities_and_include_edges_turned_round():
    source = nx.gnp_random_graph(8, 0.2, seed=5, directed=True)
    directed = Graph.from_edges(list(source.edges), 8, directed=True)
    graph = Graph.from_edges(list(source.edges), 8)
    rng = np.random.default_rng(0)
    made = propose_negatives(graph, None, 400_000, directed=directed, rng=rng)
    pairs = np.array([(u, v) for u in range(8) for v in range(8) if u != v])
    pairs = pairs[[not source.has_edge(u, v) for u, v in pairs.tolist()]]
    reverse = np.array([source.has_edge(v, u) for u, v in pairs.tolist()])
    assert made.num_free == len(pairs)
    assert made.num_reversed == reverse.sum() > 0
    near = pair_proximities(graph, pairs)
    degrees = near.column("degree_min").astype(float) * near.column("degree_max")
    walks = near.column("walk_3").astype(float) * np.sqrt(degrees)
    resource = near.column("resource_allocation").astype(float)
    density = np.exp(made.log_density(resource, walks, reverse))
    counts = np.array([(made.pairs == pair).all(axis=1).sum() for pair in pairs])
    assert counts.sum() == len(made.pairs)
    assert counts[reverse].sum() > 0.1 * counts.sum()
    np.testing.assert_allclose(counts / counts.sum(), density / density.sum(), rtol=0.06)
