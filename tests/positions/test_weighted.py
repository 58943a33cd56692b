"""Weighted distances against the oracle, scipy and networkx."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra

from pgnn import Graph, anchor_distances, sample_anchor_sets
from pgnn.positions.reference import reference_distances
from strategies import graphs_with_sets


@given(
    case=graphs_with_sets(weighted=True),
    cutoff=st.sampled_from([None, 0, 0.25, 1, 2.5, 10]),
)
def test_lengths_equal_oracle(case, cutoff):
    graph, sets = case
    result = anchor_distances(graph, sets, cutoff=cutoff)
    lengths, nearest = reference_distances(graph, sets, np.inf if cutoff is None else cutoff)
    assert result.hops is None
    np.testing.assert_array_equal(result.lengths, lengths)
    np.testing.assert_array_equal(result.nearest, nearest)


@given(case=graphs_with_sets(weighted=True))
def test_lengths_equal_networkx(case):
    graph, sets = case
    result = anchor_distances(graph, sets)
    theirs = graph.to_networkx().reverse() if graph.directed else graph.to_networkx()
    for i, anchors in enumerate(sets):
        lengths = nx.multi_source_dijkstra_path_length(theirs, set(anchors.tolist()))
        expected = [lengths.get(v, np.inf) for v in range(graph.num_nodes)]
        np.testing.assert_allclose(result.lengths[:, i], expected)


def random_weighted(directed):
    rng = np.random.default_rng(1)
    weights = np.exp(rng.normal(0, 3, 2400))
    return Graph.from_edges(
        rng.integers(0, 600, (2400, 2)), 600, weights=weights, directed=directed
    )


@pytest.mark.parametrize("directed", [False, True])
def test_lengths_equal_scipy_with_any_weights(directed):
    graph = random_weighted(directed)
    sets = sample_anchor_sets(600, rng=2)
    result = anchor_distances(graph, sets)
    apart = dijkstra(graph.to_scipy())
    for i, anchors in enumerate(sets):
        np.testing.assert_allclose(result.lengths[:, i], apart[:, anchors].min(axis=1))
        reached = np.flatnonzero(np.isfinite(result.lengths[:, i]))
        nearest = result.nearest[reached, i]
        assert np.isin(nearest, anchors).all()
        np.testing.assert_allclose(apart[reached, nearest], result.lengths[reached, i])


def test_threads_do_not_change_lengths():
    graph = random_weighted(directed=True)
    sets = sample_anchor_sets(600, rng=3)
    one, three = (anchor_distances(graph, sets, num_threads=threads) for threads in (1, 3))
    np.testing.assert_array_equal(one.lengths, three.lengths)
    np.testing.assert_array_equal(one.nearest, three.nearest)


def test_weights_of_one_give_the_hops():
    edges = np.random.default_rng(4).integers(0, 300, (700, 2))
    sets = sample_anchor_sets(300, rng=5)
    hops = anchor_distances(Graph.from_edges(edges, 300), sets)
    weighted = Graph.from_edges(edges, 300, weights=np.ones(700))
    result = anchor_distances(weighted, sets)
    np.testing.assert_array_equal(result.lengths, np.where(hops.hops < 0, np.inf, hops.hops))
    np.testing.assert_array_equal(result.nearest, hops.nearest)


def test_weight_that_rounds_to_nothing_still_names_the_lowest_anchor():
    # 1e9 + 1e-9 == 1e9: nodes 2 and 3 are equally far from both anchors, whoever is searched first.
    graph = Graph.from_edges([(0, 2), (1, 3), (2, 3)], weights=[1e9, 1e9, 1e-9])
    result = anchor_distances(graph, [[0, 1]])
    assert result.nearest[:, 0].tolist() == [0, 1, 0, 0]
