"""The graph families of the benchmarks are what their names say."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgnn import Graph, PGNNError
from pgnn.bench.graphs import (
    grid_graph,
    preferential_graph,
    random_graph,
    social_graph,
    weighted_graph,
)


@given(data=st.data(), num_nodes=st.integers(1, 12), seed=st.integers(0, 99))
def test_random_graph_has_exactly_the_edges_asked_for(data, num_nodes, seed):
    num_edges = data.draw(st.integers(0, num_nodes * (num_nodes - 1) // 2))
    graph = random_graph(num_nodes, num_edges, rng=seed)
    assert (graph.num_nodes, graph.num_edges) == (num_nodes, num_edges)
    assert graph.dropped_repeats == 0


def test_random_graph_draws_all_edges_alike():
    counts = np.zeros((5, 5))
    for seed in range(2000):
        u, v = random_graph(5, 3, rng=seed).edges().T
        counts[u, v] += 1
    drawn = counts[np.triu_indices(5, 1)]
    assert drawn.sum() == 6000
    assert np.abs(drawn - 600).max() < 6 * np.sqrt(600 * 0.7)


def test_random_graph_refuses_more_edges_than_there_are():
    with pytest.raises(PGNNError, match="3 nodes cannot have 4 edges"):
        random_graph(3, 4, rng=0)


@pytest.mark.parametrize(("height", "width"), [(1, 1), (1, 5), (4, 3)])
def test_grid_graph_equals_networkx(height, width):
    theirs = Graph.from_networkx(nx.grid_2d_graph(height, width))
    assert grid_graph(height, width).edges().tolist() == theirs.edges().tolist()


def test_preferential_graph_grows_hubs():
    graph = preferential_graph(5000, 4, rng=0)
    degrees = graph.degrees
    assert graph.num_nodes == 5000
    assert 0.97 * 4 * 5000 < graph.num_edges <= 4 * 5000
    assert degrees.max() > 20 * degrees.mean()
    assert degrees[:50].mean() > 5 * degrees[-2500:].mean()
    assert nx.is_connected(graph.to_networkx())


def test_weighted_graph_keeps_the_edges_and_draws_lengths():
    graph = grid_graph(30, 40)
    weighted = weighted_graph(graph, rng=0)
    assert weighted.edges().tolist() == graph.edges().tolist()
    weights = weighted.edge_weights()
    assert 0 < weights.min() < 0.01
    assert 0.99 < weights.max() <= 1


def test_social_graph_has_communities_and_hubs_and_is_that_of_its_seed():
    graph = social_graph(3000, 30_000, rng=1)
    assert (graph.num_nodes, graph.num_edges, graph.dropped_repeats) == (3000, 30_000, 0)
    assert graph.degrees.max() > 10 * graph.degrees.mean()
    groups = nx.community.louvain_communities(graph.to_networkx(), seed=0)
    assert nx.community.modularity(graph.to_networkx(), groups) > 0.3
    assert social_graph(3000, 30_000, rng=1) == graph
    assert social_graph(3000, 30_000, rng=2) != graph


def test_social_graph_refuses_what_has_no_room_for_communities():
    with pytest.raises(PGNNError, match="10 nodes cannot have 20 edges"):
        social_graph(10, 20, rng=0)
