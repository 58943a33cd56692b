"""The oracles themselves, against numbers worked out by hand."""

import math

import numpy as np

from pgnn import AnchorSets, Graph
from pgnn.positions.reference import (
    distances_from,
    reference_distances,
    reference_lengths,
    reference_ppr,
)

ONE_WAY = Graph.from_edges([(0, 1), (1, 2)], num_nodes=4, directed=True)
WEIGHTED = Graph.from_edges([(0, 1), (1, 2), (0, 2)], weights=[1.0, 1.5, 4.0])


def test_distances_follow_edges_and_their_weights():
    assert distances_from(ONE_WAY, 0) == [0, 1, 2, math.inf]
    assert distances_from(ONE_WAY, 2) == [math.inf, math.inf, 0, math.inf]
    assert distances_from(WEIGHTED, 0) == [0, 1, 2.5]


def test_nearest_is_the_lowest_of_equals_within_the_cutoff():
    path = Graph.from_edges([(0, 1), (1, 2), (2, 3)])
    sets = AnchorSets.from_sets([[0, 2], [3]], 4)
    distance, nearest = reference_distances(path, sets, cutoff=2)
    assert distance.tolist() == [[0, math.inf], [1, 2], [0, 1], [1, 0]]
    assert nearest.tolist() == [[0, -1], [0, 3], [2, 3], [2, 3]]


def test_lengths_are_summed_from_the_anchor_and_ties_go_to_the_lowest():
    path = Graph.from_edges([(0, 1), (1, 2), (2, 3)], weights=[0.1, 0.2, 0.3])
    lengths, nearest = reference_lengths(path, AnchorSets.from_sets([[0], [3], [0, 3]], 4))
    assert lengths[3].tolist() == [0.1 + 0.2 + 0.3, 0, 0]
    assert lengths[0].tolist() == [0, 0.3 + 0.2 + 0.1, 0]
    assert nearest.tolist() == [[0, 3, 0], [0, 3, 0], [0, 3, 3], [0, 3, 3]]
    even = Graph.from_edges([(0, 1), (1, 2), (0, 3)], 5, weights=[1.0, 1.0, 5.0])
    lengths, nearest = reference_lengths(even, AnchorSets.from_sets([[0, 2]], 5), cutoff=4)
    assert lengths[:, 0].tolist() == [0, 1, 0, math.inf, math.inf]
    assert nearest[:, 0].tolist() == [0, 0, 2, -1, -1]


def test_ppr_of_an_edge_is_a_geometric_series():
    """From node 0 of 0 - 1: alpha (1 + (1 - alpha)^2 + ...) = 1 / (2 - alpha) at 0 itself."""
    edge = Graph.from_edges([(0, 1)])
    ppr = reference_ppr(edge, AnchorSets.from_sets([[0], [1]], 2), alpha=0.2)
    np.testing.assert_allclose(ppr, [[1 / 1.8, 0.8 / 1.8], [0.8 / 1.8, 1 / 1.8]])


def test_ppr_restarts_at_dead_ends_and_divides_by_degrees():
    sets = AnchorSets.from_sets([[0], [1], [2], [3]], 4)
    ppr = reference_ppr(ONE_WAY, sets, alpha=0.5)
    np.testing.assert_allclose(ppr.sum(axis=1), 1)
    assert ppr[3].tolist() == [0, 0, 0, 1]
    np.testing.assert_allclose(ppr[1], [0, 2 / 3, 1 / 3, 0])
    star = Graph.from_edges([(0, 1), (0, 2)])
    symmetric = reference_ppr(star, AnchorSets.from_sets([[0], [1], [2]], 3), per_degree=True)
    np.testing.assert_allclose(symmetric, symmetric.T)
