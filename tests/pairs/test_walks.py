"""The matrix of walks, PageRank's factors, and walks of pairs without their own edge."""

import numpy as np
import pytest
from hypothesis import given, settings

from pgnn import Graph
from pgnn.pairs import walks
from pgnn.pairs.kernels.counts import find_entries
from pgnn.pairs.walks import LENGTHS, LONGEST, RESTARTS, WalkMatrix, exact_walks
from strategies import graphs


def matrix_of(graph):
    strengths = np.ones(len(graph.indices)) if graph.weights is None else graph.weights
    return WalkMatrix.of(graph, strengths.astype(np.float64))


def normalised(strength):
    out, into = strength.sum(axis=1), strength.sum(axis=0)
    return strength / np.sqrt(np.outer(np.where(out > 0, out, 1), np.where(into > 0, into, 1)))


def dense(matrix):
    graph = matrix.graph
    s = np.zeros((graph.num_nodes, graph.num_nodes))
    s[np.repeat(np.arange(graph.num_nodes), graph.degrees), graph.indices] = matrix.entries
    return s


def columns_of(s, u, v):
    inverses = [np.linalg.inv(np.eye(len(s)) - (1 - a) * s) for a in RESTARTS]
    powers = [np.linalg.matrix_power(s, k) for k in LENGTHS]
    return [matrix[u, v] for matrix in (*powers, *inverses)]


@given(graph=graphs(max_nodes=10))
def test_matrix_and_its_transpose_are_the_normalised_strengths(graph):
    strength = graph.to_scipy().toarray().astype(float)
    matrix = matrix_of(graph)
    np.testing.assert_allclose(dense(matrix), normalised(strength), rtol=1e-12)
    np.testing.assert_array_equal(dense(matrix.transposed()), dense(matrix).T)
    np.testing.assert_allclose(matrix.out_strength, strength.sum(axis=1))
    np.testing.assert_allclose(matrix.in_strength, strength.sum(axis=0))


def test_share_of_an_only_edge_is_exactly_one():
    # 0.1 + 0.2 is not 0.3: node 2 has both, and node 0 has one of them alone.
    graph = Graph.from_edges([(0, 2), (1, 2)], weights=[0.1, 0.2])
    share_u, share_v = matrix_of(graph).shares(np.array([(0, 2)]), np.array([0]))
    assert share_u.tolist() == [1.0]
    assert share_v == pytest.approx([1 / 3])


@pytest.mark.parametrize("directed", [False, True])
def test_pagerank_factors_sum_to_the_inverse(directed):
    factors = walks.pagerank_factors(directed)
    x = np.linspace(-1, 1, 41)
    sums = np.polynomial.polynomial.polyval(x, factors)
    expected = [1 / (1 - (1 - a) * x) for a in RESTARTS]
    np.testing.assert_allclose(sums, expected, atol=3e-8 if directed else 1e-9)
    assert len(factors) - 1 == walks.steps_of(Graph.from_edges([(0, 1)], directed=directed)) // (
        2 if directed else 1
    )


def test_sources_are_the_nodes_that_stand_in_more_pairs():
    pairs = np.array([(0, 1), (2, 0), (0, 3), (4, 5)])
    assert walks.choose_sources(pairs, 6).tolist() == [True, False, True, True]


@settings(max_examples=40)
@given(graph=graphs(max_nodes=8))
def test_exact_walks_are_those_of_the_graph_without_the_own_edge(graph):
    n, strength = graph.num_nodes, graph.to_scipy().toarray().astype(float)
    pairs = np.array([(u, v) for u in range(n) for v in range(n) if u != v], int).reshape(-1, 2)
    places = np.empty(len(pairs), dtype=np.int64)
    find_entries(graph.indptr, graph.indices, pairs, places)
    found = exact_walks(matrix_of(graph), pairs, places, 1, None)
    assert len(found.ways) == 1 + graph.directed
    assert (found.hops, found.note) == (None, "")
    for p, (u, v) in enumerate(pairs.tolist()):
        lost = strength.copy()
        lost[u, v] = 0
        if not graph.directed:
            lost[v, u] = 0
        s = normalised(lost)
        for way, (a, b) in zip(found.ways, ((u, v), (v, u)), strict=False):
            np.testing.assert_allclose(way[p], columns_of(s, a, b), rtol=1e-5, atol=3e-8)


def test_rounding_is_written_as_zero():
    summary = np.full((1, LONGEST + 1 + len(RESTARTS)), 0.9 * walks.SMALLEST_WALK)
    summary[0, 3] = 1.1 * walks.SMALLEST_WALK
    summary[0, -2:] = 0.9 * walks.SMALLEST_PAGERANK, 1.1 * walks.SMALLEST_PAGERANK
    kept = walks.select_columns(summary)[0]
    assert np.flatnonzero(kept).tolist() == [LENGTHS.index(3), len(LENGTHS) + 1]
