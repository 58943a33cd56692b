"""Walks from 16 sources side by side against products of matrices."""

import numpy as np
import pytest
from hypothesis import given, settings

from pgnn import Graph
from pgnn.pairs.kernels.lanes import LANES, multiply_rows, walk_block
from pgnn.pairs.walks import WalkMatrix
from strategies import graphs


def matrix_of(graph):
    strengths = np.ones(len(graph.indices)) if graph.weights is None else graph.weights
    return WalkMatrix.of(graph, strengths.astype(np.float64))


def dense(matrix):
    graph = matrix.graph
    s = np.zeros((graph.num_nodes, graph.num_nodes))
    s[np.repeat(np.arange(graph.num_nodes), graph.degrees), graph.indices] = matrix.entries
    return s


def walk(matrix, sources, factors, num_kept):
    """Read every node from every source; `[n, num_sources, num_kept + num_sums]`."""
    n = matrix.graph.num_nodes
    nodes, lanes = np.divmod(np.arange(n * len(sources)), len(sources))
    summary = np.full((len(nodes), num_kept + factors.shape[1]), np.nan)
    scratch = np.full((n, LANES), np.nan), np.full((n, LANES), np.nan)
    walk_block(matrix.rows, np.asarray(sources), (nodes, lanes), factors, summary, scratch)
    return summary.reshape(n, len(sources), -1)


@settings(max_examples=50)
@given(graph=graphs(max_nodes=LANES))
def test_each_step_is_a_product_with_the_matrix(graph):
    matrix, n = matrix_of(graph), graph.num_nodes
    found = walk(matrix, np.arange(n), np.empty((7, 0)), 7)
    s = dense(matrix)
    for k in range(7):
        np.testing.assert_allclose(found[:, :, k], np.linalg.matrix_power(s, k), atol=1e-14)


@settings(max_examples=30)
@given(graph=graphs(max_nodes=10))
def test_sums_go_on_after_the_steps_that_are_kept(graph):
    matrix, n = matrix_of(graph), graph.num_nodes
    factors = np.random.default_rng(0).normal(size=(9, 2))
    found = walk(matrix, np.arange(n), factors, 3)
    powers = [np.linalg.matrix_power(dense(matrix), k) for k in range(9)]
    expected = np.einsum("ki,kab->abi", factors, np.array(powers))
    np.testing.assert_allclose(found[:, :, 3:], expected, atol=1e-13)


@pytest.mark.parametrize("num_sources", [1, 15, 16])
def test_sources_may_repeat_and_fill_any_number_of_lanes(num_sources):
    matrix = matrix_of(Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)]))
    sources = np.arange(num_sources) % 4
    found = walk(matrix, sources, np.empty((5, 0)), 5)
    s = np.linalg.matrix_power(dense(matrix), 4)
    np.testing.assert_allclose(found[:, :, 4], s[:, sources], atol=1e-14)


def test_walks_that_die_out_are_zero_from_there_on():
    chain = Graph.from_edges([(i, i + 1) for i in range(5)], directed=True)
    found = walk(matrix_of(chain), [5], np.ones((40, 1)), 30)
    assert found[0, 0, :30].tolist() == [0.0] * 5 + [1.0] + [0.0] * 24
    assert found[:, 0, 30].tolist() == [1.0] * 6


@settings(max_examples=30)
@given(graph=graphs(max_nodes=12))
def test_rows_of_a_product_are_those_of_matrices(graph):
    matrix, n = matrix_of(graph), graph.num_nodes
    x = np.random.default_rng(0).normal(size=(n, LANES))
    y = np.full_like(x, np.nan)
    for start, stop in ((0, n // 2), (n // 2, n)):
        multiply_rows(matrix.rows, start, stop, x, y)
    np.testing.assert_allclose(y, dense(matrix) @ x, atol=1e-12)
