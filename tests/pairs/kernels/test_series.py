"""Walks without one edge, by algebra, against a matrix in which the edge is deleted."""

import numpy as np
import pytest
from hypothesis import given, settings

from pgnn import Graph
from pgnn.pairs.kernels.series import without_arc, without_edge
from strategies import graphs

LENGTH = 13


def powers(strength):
    """S^k of a matrix of strengths, `[LENGTH, n, n]`; empty rows and columns stay empty."""
    out, into = strength.sum(axis=1), strength.sum(axis=0)
    s = strength / np.sqrt(np.outer(np.where(out > 0, out, 1), np.where(into > 0, into, 1)))
    return np.array([np.linalg.matrix_power(s, k) for k in range(LENGTH)])


def shares(strength, u, v):
    """Share of an edge in the strength of both ends; exactly 1 where it is the only one."""
    return [
        np.array([1.0 if (line > 0).sum() == 1 else strength[u, v] / line.sum()])
        for line in (strength[u], strength[:, v])
    ]


def series(walks, *places):
    return [walks[None, :, a, b].copy() for a, b in places]


@settings(max_examples=40)
@given(graph=graphs(max_nodes=9, directed=False))
def test_walks_without_an_edge_are_those_of_the_graph_that_lost_it(graph):
    strength = graph.to_scipy().toarray().astype(float)
    for u, v in graph.edges().tolist():
        uu, vv, uv = series(powers(strength), (u, u), (v, v), (u, v))
        found = np.empty_like(uv)
        without_edge(uu, vv, uv, *shares(strength, u, v), found)
        lost = strength.copy()
        lost[u, v] = lost[v, u] = 0
        np.testing.assert_allclose(found[0], powers(lost)[:, u, v], rtol=1e-7, atol=1e-10)


@settings(max_examples=40)
@given(graph=graphs(max_nodes=9, directed=True))
def test_walks_without_an_arc_are_those_of_the_graph_that_lost_it(graph):
    strength = graph.to_scipy().toarray().astype(float)
    for u, v in graph.edges().tolist():
        around = series(powers(strength), (u, u), (v, v), (u, v), (v, u))
        forward, backward = np.empty_like(around[0]), np.empty_like(around[0])
        without_arc(*around, *shares(strength, u, v), forward, backward)
        lost = strength.copy()
        lost[u, v] = 0
        walks = powers(lost)
        np.testing.assert_allclose(forward[0], walks[:, u, v], rtol=1e-7, atol=1e-10)
        np.testing.assert_allclose(backward[0], walks[:, v, u], rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("ends", [(0, 1), (1, 0)])
def test_only_edge_of_a_node_leaves_exactly_no_walk(ends):
    strength = Graph.from_edges([(0, 1), (1, 2), (1, 3), (2, 3)]).to_scipy().toarray().astype(float)
    u, v = ends
    uu, vv, uv = series(powers(strength), (u, u), (v, v), (u, v))
    found = np.empty_like(uv)
    without_edge(uu, vv, uv, *shares(strength, u, v), found)
    assert not found.any()


def test_pairs_do_not_touch_each_other():
    strength = Graph.from_edges([(0, 1), (1, 2), (0, 2), (2, 3)]).to_scipy().toarray().astype(float)
    walks, edges = powers(strength), [(0, 1), (2, 3), (0, 1)]
    inputs = [series(walks, (u, u), (v, v), (u, v)) + shares(strength, u, v) for u, v in edges]
    together = [np.concatenate(column) for column in zip(*inputs, strict=True)]
    found = np.empty((3, LENGTH))
    without_edge(*together, found)
    np.testing.assert_array_equal(found[0], found[2])
    assert found[0].any()
    assert not found[1].any()
