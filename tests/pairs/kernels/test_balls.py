"""Walks that meet in the middle against powers of the matrix, and how they are continued."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgnn import Graph
from pgnn.pairs.kernels.balls import extend_series, meet_pairs
from pgnn.pairs.walks import WalkMatrix
from strategies import graphs

DEPTH = 4
STEPS = 2 * DEPTH  # the last of which only sums up
NO_LIMIT = 10**9


def matrix_of(graph):
    strengths = np.ones(len(graph.indices)) if graph.weights is None else graph.weights
    return WalkMatrix.of(graph, strengths.astype(np.float64))


def powers_of(strength):
    """S^k of a matrix of strengths; empty rows and columns stay empty."""
    out, into = strength.sum(axis=1), strength.sum(axis=0)
    s = strength / np.sqrt(np.outer(np.where(out > 0, out, 1), np.where(into > 0, into, 1)))
    return np.array([np.linalg.matrix_power(s, k) for k in range(STEPS + 1)])


def meet(graph, pairs, kind, scales, max_edges=NO_LIMIT):
    """The series of pairs, their last exact steps, and their hops."""
    matrix, n = matrix_of(graph), graph.num_nodes
    pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)

    def ball():
        places = np.empty(n, dtype=np.int32), np.full(n, -1, dtype=np.int32)
        return *places, np.empty((DEPTH + 1, n)), np.zeros(DEPTH + 2, dtype=np.int64)

    series = np.full((len(pairs), STEPS + 1), np.nan)
    horizon, hops = np.empty((2, len(pairs)), dtype=np.int64)
    edges = np.asarray(kind, dtype=np.int64), np.asarray(scales, dtype=np.float64)
    rows = matrix.rows, matrix.transposed().rows
    balls = ball(), ball(), np.empty(n, dtype=np.int32)
    meet_pairs(*rows, pairs, edges, max_edges, (series, horizon, hops), balls)
    return series, horizon, hops


def meet_other_pairs(graph, pairs, max_edges=NO_LIMIT):
    return meet(graph, pairs, np.zeros(len(pairs)), np.ones((len(pairs), 8)), max_edges)


@settings(max_examples=40)
@given(graph=graphs(max_nodes=10), max_edges=st.sampled_from([1, 5, 20, NO_LIMIT]))
def test_walks_are_exact_up_to_their_horizon_whatever_the_balls_hold(graph, max_edges):
    n = graph.num_nodes
    pairs = [(u, v) for u in range(n) for v in range(n) if u != v]
    series, horizon, hops = meet_other_pairs(graph, pairs, max_edges)
    expected = powers_of(graph.to_scipy().toarray().astype(float))
    for p, (u, v) in enumerate(pairs):
        last = horizon[p]
        assert (last == STEPS) if max_edges == NO_LIMIT else (2 <= last <= STEPS)
        np.testing.assert_allclose(series[p, : last + 1], expected[: last + 1, u, v], atol=1e-13)
        first = np.flatnonzero(expected[: last + 1, u, v])
        assert hops[p] == (first[0] if len(first) else 0)


@settings(max_examples=40)
@given(graph=graphs(max_nodes=9), max_edges=st.sampled_from([5, NO_LIMIT]))
def test_own_edge_is_left_out_in_every_direction_asked_for(graph, max_edges):
    strength = graph.to_scipy().toarray().astype(float)
    for u, v in graph.edges().tolist():
        lost, ways = strength.copy(), [((u, v), 1), ((v, u), -1)]
        lost[u, v] = 0
        if not graph.directed:
            lost[v, u], ways = 0, [((u, v), 2), ((v, u), 2)]
        # What a row or column grows by when it loses the edge; one that becomes empty needs none.
        row = np.sqrt(strength[u].sum() / (lost[u].sum() or strength[u].sum()))
        column = np.sqrt(strength[:, v].sum() / (lost[:, v].sum() or strength[:, v].sum()))
        expected = powers_of(lost)
        for (a, b), kind in ways:
            scales = [row, 1, 1, column, column, 1, 1, row]
            if kind == 2:
                mine, theirs = (row, column) if a == u else (column, row)
                scales = [mine, theirs, mine, theirs, theirs, mine, theirs, mine]
            series, horizon, _ = meet(graph, [(a, b)], [kind], [scales], max_edges)
            until = horizon[0] + 1
            np.testing.assert_allclose(series[0, :until], expected[:until, a, b], atol=1e-13)


def test_ball_that_left_an_edge_out_is_not_used_again():
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 0)])
    root = np.sqrt(2)
    scales = [[root] * 8, [1.0] * 8]
    series, _, _ = meet(graph, [(0, 1), (0, 1)], [2, 0], scales)
    assert series[0, :3] == pytest.approx([0, 0, np.sqrt(0.5) * np.sqrt(0.5) * 1.0])
    assert series[1, :3] == pytest.approx([0, 0.5, 0.25])


def test_last_step_leaves_the_own_edge_out_too():
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3), (0, 3)])
    mine, theirs = np.sqrt(3 / 2), np.sqrt(2)  # of 0, which has 3 edges, and of 1, which has 2
    scales = [mine, theirs, mine, theirs, theirs, mine, theirs, mine]
    series, horizon, _ = meet(graph, [(0, 1)], [2], [scales])
    lost = graph.to_scipy().toarray().astype(float)
    lost[0, 1] = lost[1, 0] = 0
    assert horizon[0] == STEPS
    np.testing.assert_allclose(series[0], powers_of(lost)[:, 0, 1], atol=1e-13)


# ------------------------------------------------------------------ beyond the horizon


def extended(exact, last, weight, values, rest):
    series = np.array(exact, dtype=float).reshape(1, -1).copy()
    series[0, last + 1 :] = np.nan
    powers = np.asarray(values) ** np.arange(series.shape[1])[:, None]
    extend_series(series, np.array([last]), np.atleast_2d(weight), powers, rest)
    return series[0]


def test_known_eigenvalues_continue_walks_exactly():
    k = np.arange(20)
    exact = 0.3 + 0.2 * 0.5**k
    found = extended(exact, 3, [0.3, 0.2], [1.0, 0.5], rest=0.1)
    np.testing.assert_allclose(found, exact)


def test_unexplained_part_shrinks_with_every_step():
    k = np.arange(20)
    exact = 0.3 + 0.2 * (-0.4) ** k  # even and odd steps are apart: each goes on by itself
    found = extended(exact, 5, [0.3], [1.0], rest=0.4)
    np.testing.assert_allclose(found, exact)


def test_continued_walks_neither_vanish_nor_explode_while_eigenvalues_say_little():
    exact = np.full(20, 0.1)
    for weight in (-5.0, 5.0):
        found = extended(exact, 4, [weight], [0.99], rest=0.98)
        np.testing.assert_array_equal(found[:5], exact[:5])
        ratio = found[5:] / found[3:-2]
        assert (ratio >= 0.5 - 1e-12).all()
        assert (ratio <= 10).all()
