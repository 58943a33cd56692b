"""Negatives: distinct, uniform, and never one of the pairs that are taken."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pgnn import Graph, PGNNError
from pgnn.pairs import negatives
from pgnn.pairs.codes import as_pairs, is_among, sorted_distinct, unordered_codes
from pgnn.pairs.negatives import (
    draw_distinct,
    draw_negatives,
    draw_non_edges,
    draw_not_stored,
    step_over,
)
from strategies import graphs


@given(st.sets(st.integers(0, 30)))
def test_step_over_lists_what_is_not_taken(taken):
    free = [number for number in range(40) if number not in taken]
    numbers = step_over(np.arange(len(free)), np.array(sorted(taken), dtype=np.int64))
    assert numbers.tolist() == free


@pytest.mark.parametrize(("count", "population"), [(2, 5), (2, 30), (5, 5), (0, 3)])
def test_draws_are_distinct_and_uniform(count, population):
    rng = np.random.default_rng(0)
    seen = Counter()
    for _ in range(600):
        drawn = draw_distinct(rng, count, population).tolist()
        assert len(set(drawn)) == len(drawn) == count
        seen.update(drawn)
    expected = 600 * count / population
    for number in range(population):
        assert abs(seen[number] - expected) <= 5 * expected**0.5


@given(st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6))), st.integers(0, 2**32))
def test_non_edges_are_all_pairs_that_no_edge_joins(edges, seed):
    edges = as_pairs([edge for edge in edges if edge[0] != edge[1]])
    joined = sorted_distinct(unordered_codes(edges))
    rng, free = np.random.default_rng(seed), 21 - len(joined)
    drawn = draw_non_edges(rng, joined, 7, free)
    together = np.concatenate([joined, unordered_codes(drawn)])
    assert sorted(together.tolist()) == list(range(21))
    assert (drawn[:, 0] < drawn[:, 1]).all()
    with pytest.raises(PGNNError, match=f"only {free} pairs of its 7 nodes"):
        draw_non_edges(rng, joined, 7, free + 1)


def test_draws_beside_stored_pairs_may_be_their_reverse_but_never_themselves():
    stored = np.array([(0, 1), (0, 2), (1, 2)])
    drawn = draw_not_stored(np.random.default_rng(0), stored, 3, 200)
    assert {tuple(pair) for pair in drawn.tolist()} == {(1, 0), (2, 0), (2, 1)}
    every = np.array([(u, v) for u in range(3) for v in range(3) if u != v])
    with pytest.raises(PGNNError, match="every ordered pair of the 3 nodes is positive"):
        draw_not_stored(np.random.default_rng(0), every, 3, 1)


# ---------------------------------------------------------------------- hard negatives


def codes_of(pairs):
    return sorted_distinct(unordered_codes(as_pairs(pairs)))


def two_hops_apart(graph):
    joined = set(codes_of(graph.edges()).tolist())
    ends = [
        (u, v)
        for w in range(graph.num_nodes)
        for u in graph.neighbors(w).tolist()
        for v in graph.neighbors(w).tolist()
        if u < v
    ]
    return set(codes_of(ends).tolist()) - joined


@pytest.fixture(params=["listed", "drawn"])
def way(request, monkeypatch):
    """Both ways to draw, whatever the size of the graph."""
    if request.param == "drawn":
        monkeypatch.setattr(negatives, "_LISTED", 0)
    return request.param


@given(graphs(max_nodes=10, directed=False), st.integers(0, 2**32))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_two_hop_negatives_are_all_pairs_with_a_common_neighbour_and_no_edge(way, graph, seed):
    rng, wanted = np.random.default_rng(seed), two_hops_apart(graph)
    joined = codes_of(graph.edges())
    drawn = draw_negatives(rng, graph, joined, len(wanted), kind="two-hop")
    assert set(unordered_codes(drawn).tolist()) == wanted
    assert len(drawn) == len(wanted)
    with pytest.raises(PGNNError, match=f"only {len(wanted)} pairs two hops apart"):
        draw_negatives(rng, graph, joined, len(wanted) + 1, kind="two-hop")


def test_two_hop_negatives_are_equally_likely_however_many_neighbours_they_share(way):
    # Of a star with 60 leaves, pairs of leaves share one node; of nodes 2 .. 41, two; 0 and 1, 40.
    edges = [(u, w) for u in (0, 1) for w in range(2, 42)] + [(42, v) for v in range(43, 103)]
    graph = Graph.from_edges(edges)
    rng, joined = np.random.default_rng(0), codes_of(edges)
    drawn = [draw_negatives(rng, graph, joined, 1, kind="two-hop")[0] for _ in range(900)]
    few = sum(bool((pair > 42).all()) for pair in drawn)
    total = len(two_hops_apart(graph))
    assert total == 60 * 59 // 2 + 40 * 39 // 2 + 1
    expected = 900 * (60 * 59 // 2) / total
    assert abs(few - expected) < 4 * (expected * (1 - expected / 900)) ** 0.5


def test_negatives_by_degree_have_ends_in_proportion_to_degree(way):
    edges = [(0, v) for v in range(1, 7)] + [(7, v) for v in range(8, 12)]
    graph, seen = Graph.from_edges(edges, 13), Counter()
    rng, joined = np.random.default_rng(0), codes_of(edges)
    for _ in range(1500):
        ((u, v),) = draw_negatives(rng, graph, joined, 1, kind="degree").tolist()
        seen[u, v] += 1
    free = [(u, v) for v in range(13) for u in range(v) if unordered_codes(as_pairs([(u, v)]))[0]
            not in joined]  # fmt: skip
    weight = {pair: int(graph.degrees[pair[0]] * graph.degrees[pair[1]]) for pair in free}
    total = sum(weight.values())
    for pair in free:
        expected = 1500 * weight[pair] / total
        assert abs(seen[pair] - expected) <= 5 * expected**0.5
    assert sum(seen.values()) == 1500
    assert not any(12 in pair for pair in seen)  # a node without edges


@pytest.mark.parametrize("kind", ["uniform", "two-hop", "degree"])
@given(graph=graphs(max_nodes=9), seed=st.integers(0, 99))
@settings(max_examples=30)
def test_negatives_are_different_and_never_joined_either_way(kind, graph, seed):
    joined = codes_of(graph.edges())
    rng = np.random.default_rng(seed)
    free = graph.num_nodes * (graph.num_nodes - 1) // 2 - len(joined)
    for count in range(min(free, 6) + 1):
        try:
            drawn = draw_negatives(rng, graph, joined, count, kind=kind)
        except PGNNError as error:
            assert kind != "uniform", error  # noqa: PT017
            break
        assert len(codes_of(drawn)) == len(drawn) == count
        assert not set(codes_of(drawn).tolist()) & set(joined.tolist())


def test_uniform_negatives_are_those_of_draw_non_edges():
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 9)])
    joined = codes_of(graph.edges())
    one, two = (np.random.default_rng(3) for _ in range(2))
    drawn = draw_negatives(one, graph, joined, 12)
    assert drawn.tolist() == draw_non_edges(two, joined, 10, 12).tolist()


def test_unknown_kind_of_negatives_lists_the_known():
    graph = Graph.from_edges([(0, 1)])
    with pytest.raises(PGNNError, match="negatives must be one of uniform, two-hop, degree"):
        draw_negatives(np.random.default_rng(0), graph, codes_of([(0, 1)]), 1, kind="hard")


@pytest.mark.parametrize("kind", ["uniform", "degree", "two-hop"])
@pytest.mark.parametrize("between", [("a", "b"), ("b", "a"), ("a", "a")])
@settings(max_examples=15)
@given(graph=graphs(max_nodes=14), seed=st.integers(0, 3))
def test_negatives_of_a_graph_with_sides_are_across_them(kind, between, graph, seed):
    types = ["ab"[v % 2] for v in range(graph.num_nodes)]
    if graph.num_nodes < 3:
        return
    typed = graph.with_sides(types, between)
    joined = sorted_distinct(unordered_codes(graph.edges().astype(np.int64)))
    rng = np.random.default_rng(seed)
    every = [(u, v) for u in range(graph.num_nodes) for v in range(u)]
    free = [
        (u, v) for u, v in every
        if {types[u], types[v]} == set(between)
        and not is_among(unordered_codes(np.array([(u, v)])), joined)[0]
    ]  # fmt: skip
    if kind != "uniform":
        count = 1
        near = [len(set(_plain(graph, u)) & set(_plain(graph, v))) for u, v in free]
        degrees = [len(_plain(graph, u)) * len(_plain(graph, v)) for u, v in free]
        if not any(near if kind == "two-hop" else degrees):
            with pytest.raises(PGNNError):
                draw_negatives(rng, typed, joined, count, kind=kind)
            return
    else:
        count = len(free)
    pairs = draw_negatives(rng, typed, joined, count, kind=kind)
    assert len({tuple(sorted(pair)) for pair in pairs.tolist()}) == count
    assert {tuple(sorted(pair)) for pair in pairs.tolist()} <= {tuple(sorted(p)) for p in free}
    if between[0] != between[1]:
        assert all(types[u] == between[0] for u, _ in pairs.tolist())


def _plain(graph, node):
    edges = graph.edges()
    return [v for v in np.unique(edges[(edges == node).any(axis=1)]).tolist() if v != node]
