"""Positions of pairs: against a slow twin that deletes the pair's edge and searches again."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgnn import Graph, PGNNError, anchor_distances, sample_anchor_sets
from pgnn.pairs import positions
from pgnn.pairs.positions import POSITION_COLUMNS, pair_positions
from strategies import graphs

CENTRED = POSITION_COLUMNS.index("position_cosine_centred")


def described_slowly(graph, u, v, *, num_draws, rng):
    """One pair: delete its edge, search from the same anchor-sets, compare two rows."""
    edges = [tuple(edge) for edge in graph.edges().tolist() if set(edge) != {u, v}]
    rest = Graph.from_edges(np.array(edges, dtype=int).reshape(-1, 2), graph.num_nodes)
    generator = np.random.default_rng(rng)
    draws = []
    for _ in range(num_draws):
        sets = sample_anchor_sets(graph.num_nodes, rng=generator)
        hops = np.asarray(anchor_distances(rest, sets).hops).astype(float)
        a, b = hops[u], hops[v]
        both = (a >= 0) & (b >= 0)
        gap = np.abs(a - b)[both]
        near = [np.where(row >= 0, 1 / (np.maximum(row, 0) + 1), 0) for row in (a, b)]
        cosine = near[0] @ near[1] / np.sqrt((near[0] @ near[0]) * (near[1] @ near[1]) + 1e-12)
        if both.any():
            values = [gap.max(), gap.mean(), np.sqrt((gap**2).mean()), (gap == 0).mean()]
            values.append(min((a + b)[both].min(), 64))
        else:
            values = [32, 32, 32, 0, 64]
        draws.append([*values, cosine, np.nan, both.mean()])
    result = np.mean(draws, axis=0)
    result[0], result[4] = np.max(draws, axis=0)[0], np.min(draws, axis=0)[4]
    return result


def all_pairs(n):
    return np.array([(u, v) for u in range(n) for v in range(u + 1, n)])


@settings(max_examples=25)
@given(graph=graphs(max_nodes=12, directed=False, weighted=False))
def test_positions_of_any_pair_equal_those_without_its_edge(graph):
    pairs = all_pairs(graph.num_nodes)
    if not len(pairs):
        return
    values = pair_positions(graph, pairs, num_draws=2, rng=3).values
    wanted = [described_slowly(graph, u, v, num_draws=2, rng=3) for u, v in pairs.tolist()]
    kept = [column for column in range(len(POSITION_COLUMNS)) if column != CENTRED]
    np.testing.assert_allclose(values[:, kept], np.array(wanted)[:, kept], atol=2e-5)


@settings(max_examples=15)
@given(graph=graphs(max_nodes=16))
def test_positions_are_symmetric_and_read_no_weights(graph):
    pairs = all_pairs(graph.num_nodes)
    if not len(pairs):
        return
    plain = Graph.from_edges(graph.edges(), graph.num_nodes, directed=graph.directed)
    values = pair_positions(graph, pairs, rng=0).values
    np.testing.assert_array_equal(values, pair_positions(plain, pairs, rng=0).values)
    if not graph.directed:
        turned = pair_positions(graph, pairs[:, ::-1], rng=0).values
        np.testing.assert_allclose(values, turned, atol=1e-6)
    assert np.isfinite(values).all()


def test_positions_do_not_depend_on_threads_or_on_the_other_pairs(monkeypatch):
    graph = Graph.from_edges([(v, (v + 1) % 60) for v in range(60)] + [(0, 30), (7, 41)])
    pairs = all_pairs(60)
    whole = pair_positions(graph, pairs, rng=1, num_threads=1).values
    monkeypatch.setattr(positions, "_BLOCK_PAIRS", 100)
    np.testing.assert_array_equal(whole, pair_positions(graph, pairs, rng=1, num_threads=3).values)
    some = pairs[::97]
    np.testing.assert_array_equal(whole[::97], pair_positions(graph, some, rng=1).values)


def test_own_edge_of_a_directed_pair_counts_only_if_nothing_else_joins_it():
    edges = [(0, 1), (1, 0), (1, 2), (2, 3)]
    graph = Graph.from_edges(edges, directed=True)
    joined = positions._own_edges(graph, np.array([(0, 1), (1, 2), (2, 1), (0, 3)]))
    assert joined.tolist() == [False, True, False, False]


def test_search_that_gives_up_says_at_least_how_far(monkeypatch):
    ring = Graph.from_edges([(v, (v + 1) % 40) for v in range(40)])
    exact = pair_positions(ring, [(0, 1)], rng=0).values[0]
    monkeypatch.setattr(positions, "_REPAIR_NODES", 4)
    bounded = pair_positions(ring, [(0, 1)], rng=0).values[0]
    assert bounded[1] < exact[1]
    assert bounded[1] > pair_positions(ring, [(0, 2)], rng=0).values[0][1] / 2


@pytest.mark.parametrize(
    ("pairs", "words"),
    [([(0, 0)], "two different nodes"), ([(0, 9)], r"0\.\.3"), ([(0.5, 1)], "pairs")],
)
def test_wrong_pairs_are_refused(pairs, words):
    with pytest.raises(PGNNError, match=words):
        pair_positions(Graph.from_edges([(0, 1), (2, 3)]), pairs, rng=0)


@given(num_draws=st.integers(1, 4))
@settings(max_examples=4)
def test_more_draws_keep_the_largest_gap_and_the_smallest_sum(num_draws):
    graph = Graph.from_edges([(v, v + 1) for v in range(30)])
    one = pair_positions(graph, [(0, 20)], num_draws=1, rng=5).values[0]
    several = pair_positions(graph, [(0, 20)], num_draws=num_draws, rng=5).values[0]
    assert several[0] >= one[0]
    assert several[4] <= one[4]
    assert several[0] <= 20 <= several[4] + 2 * 30
