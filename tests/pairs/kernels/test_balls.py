"""Walks that meet in the middle against powers of the matrix, and how they are continued."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgnn import Graph
from pgnn.pairs.kernels.balls import extend_series, meet_pairs, write_columns
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


def meet(graph, pairs, kind, scales, max_edges=NO_LIMIT, worth=None):
    """The series of pairs, their last exact steps, their hops, and with a worth their 3-paths."""
    matrix, n = matrix_of(graph), graph.num_nodes
    pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)

    def ball():
        places = np.empty(n, dtype=np.int32), np.full(n, -1, dtype=np.int32)
        counts = np.zeros(DEPTH + 2, dtype=np.int64)
        return *places, np.empty((DEPTH + 1, n)), counts, np.full(n, np.nan)

    series, three_paths = np.full((len(pairs), STEPS + 1), np.nan), np.empty(len(pairs))
    horizon, hops = np.empty((2, len(pairs)), dtype=np.int64)
    edges = np.asarray(kind, dtype=np.int64), np.asarray(scales, dtype=np.float64)
    rows = matrix.factored_rows, matrix.transposed().factored_rows
    balls = ball(), ball(), np.empty(n, dtype=np.int32), np.empty(n)
    result = (series, horizon, hops, three_paths)
    worth_or_none = np.empty(0) if worth is None else worth
    meet_pairs(*rows, pairs, edges, worth_or_none, max_edges, result, balls)
    return (series, horizon, hops) if worth is None else result


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
        first = np.flatnonzero(expected[:, u, v])
        if len(first) and first[0] <= last:
            assert hops[p] == first[0]
        elif len(first) and first[0] == last + 1:
            assert hops[p] in (0, first[0])
        else:
            assert hops[p] in (0, last + 1) if last == STEPS else hops[p] == 0


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


def own_edges(graph, pairs):
    """Kinds and scales of pairs of an undirected graph, each without its own edge."""
    strength = graph.to_scipy().toarray().astype(float)
    kind, scales = [], []
    for u, v in pairs:
        left = [strength[w].sum() - strength[u, v] for w in (u, v)]
        mine, theirs = (
            np.sqrt(strength[w].sum() / rest) if rest > 0 else 1.0
            for w, rest in zip((u, v), left, strict=True)
        )
        kind.append(2 * (strength[u, v] > 0))
        scales.append([mine, theirs, mine, theirs, theirs, mine, theirs, mine])
    return kind, np.reshape(scales, (-1, 8))


def simple_three_paths(graph, worth, u, v):
    rows = [set(graph.neighbors(w).tolist()) for w in range(graph.num_nodes)]
    return sum(
        worth[a] * worth[b]
        for a in rows[u]
        for b in rows[a]
        if v in rows[b] and len({u, a, b, v}) == 4
    )


def shortest_path(graph, u, v):
    """Edges of a shortest path that is not the edge between u and v, or None."""
    theirs = nx.Graph(graph.edges().tolist())
    theirs.add_nodes_from(range(graph.num_nodes))
    theirs.remove_edges_from([(u, v)])
    return nx.shortest_path_length(theirs, u, v) if nx.has_path(theirs, u, v) else None


@settings(max_examples=40)
@given(graph=graphs(max_nodes=9, directed=False), max_edges=st.sampled_from([1, 5, NO_LIMIT]))
def test_three_paths_are_simple_and_summed_where_the_ball_holds_two_steps(graph, max_edges):
    n = graph.num_nodes
    pairs = [(u, v) for u in range(n) for v in range(n) if u != v]
    worth = np.random.default_rng(0).uniform(0.1, 1, n)
    kind, scales = own_edges(graph, pairs)
    *_, three_paths = meet(graph, pairs, kind, scales, max_edges, worth)
    if max_edges == NO_LIMIT:
        assert (three_paths >= 0).all()
    for p, (u, v) in enumerate(pairs):
        if three_paths[p] != -1:
            expected = simple_three_paths(graph, worth, u, v)
            assert three_paths[p] == pytest.approx(expected, abs=1e-12)


@settings(max_examples=60)
@given(graph=graphs(max_nodes=10, directed=False), max_edges=st.sampled_from([1, 3, 8, NO_LIMIT]))
def test_hops_are_those_of_a_shortest_path_that_is_not_the_own_edge(graph, max_edges):
    n = graph.num_nodes
    pairs = [(u, v) for u in range(n) for v in range(n) if u != v]
    _, horizon, hops = meet(graph, pairs, *own_edges(graph, pairs), max_edges)
    for p, (u, v) in enumerate(pairs):
        expected = shortest_path(graph, u, v)
        if hops[p] > 0:
            assert hops[p] == expected
        else:
            assert expected is None or expected > horizon[p]


@pytest.mark.parametrize("length", [3, 4, 5, 6])
def test_one_step_more_than_walks_reach_is_looked_for(length):
    path = Graph.from_edges([(v, v + 1) for v in range(length)])
    for max_edges in (1, 2, 3, 4):
        _, horizon, hops = meet_other_pairs(path, [(0, length)], max_edges)
        assert hops[0] == (length if length <= horizon[0] + 1 else 0)


@pytest.mark.parametrize("max_edges", [1, 2, NO_LIMIT])
def test_one_step_more_does_not_cross_the_own_edge(max_edges):
    # Around the edge (0, 1) there is a way of 9 edges; back and over the edge there is none.
    ring = Graph.from_edges([(v, (v + 1) % 10) for v in range(10)])
    _, horizon, hops = meet(ring, [(0, 1)], *own_edges(ring, [(0, 1)]), max_edges)
    assert hops[0] == (9 if horizon[0] >= 8 else 0)


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


def test_columns_are_chosen_walks_and_sums_without_what_is_too_small():
    rng = np.random.default_rng(0)
    series, factors = rng.uniform(0, 1, (3, 5)), rng.uniform(0, 1, (5, 2))
    lengths, rows, floors = np.array([2, 4]), np.array([3, 0, 1]), np.array([0.3, 1.2])
    columns = np.full((4, 4), -1.0)
    write_columns(series, rows, lengths, factors, floors, columns)
    walks, sums = series[:, lengths], series @ factors
    expected = np.concatenate([walks * (walks >= 0.3), sums * (sums >= 1.2)], axis=1)
    np.testing.assert_allclose(columns[rows], expected)
    assert 0 < np.count_nonzero(expected) < expected.size
    assert (columns[2] == -1).all()
