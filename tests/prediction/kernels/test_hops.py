"""Nodes two and three hops away, by what reaches them, against lists of all paths."""

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given, settings

from pgnn import Graph
from pgnn.prediction.candidates import candidate_pairs
from pgnn.prediction.choice import Rows
from pgnn.prediction.kernels import hops as hops_module
from pgnn.prediction.kernels.hops import best_in_two, reached_in_three, reached_in_two
from prediction_helpers import assert_well_formed, pairs_at, star
from strategies import graphs

EVERYTHING = 10**9


def reach(graph, sources, wanted=EVERYTHING, seed=0):
    """What sources reach in two hops, and in three."""
    rows, sources = Rows(graph.indptr, graph.indices), np.asarray(sources)
    order = np.random.default_rng(seed).permutation(graph.num_nodes)
    two = reached_in_two(rows, sources, order, wanted)
    return two, reached_in_three(rows, sources, order, wanted, two)


def shares_of(theirs, u):
    """What reaches each node of 1 shared out from u, outwards only, and its hops."""
    away = nx.single_source_shortest_path_length(theirs, u)
    share = dict.fromkeys(away, 0.0) | {u: 1.0}
    for w in sorted(away, key=away.get):
        for v in theirs[w]:
            if away[v] == away[w] + 1:
                share[v] += share[w] / theirs.degree(w)
    return share, away


@settings(max_examples=40)
@example(graph=Graph.from_networkx(nx.watts_strogatz_graph(40, 6, 0.3, seed=0)))  # triangles
@given(graph=graphs(max_nodes=12, directed=False, weighted=False))
def test_sources_list_all_that_they_reach_the_largest_share_first(graph):
    theirs, n = graph.to_networkx(), graph.num_nodes
    for hops, found in zip((2, 3), reach(graph, np.arange(n)), strict=True):
        assert found.whole
        for u in range(n):
            share, away = shares_of(theirs, u)
            own = found.source == u
            assert found.rank[own].tolist() == list(range(own.sum()))
            listed = found.target[own].tolist()
            assert sorted(listed) == sorted(v for v in away if away[v] == hops)
            parts = [share[v] for v in listed]
            assert all(a >= b - 1e-6 for a, b in pairwise(parts))


def test_what_is_wanted_is_divided_among_sources():
    graph = Graph.from_networkx(nx.gnm_random_graph(60, 150, seed=0))
    whole, _ = reach(graph, np.arange(60))
    counts = np.bincount(whole.source, minlength=60)
    two, _ = reach(graph, np.arange(60), wanted=100)
    assert not two.whole
    assert 100 <= len(two.target) < 160
    quota = two.rank.max() + 1
    assert np.bincount(two.source, minlength=60).tolist() == np.minimum(counts, quota).tolist()
    best = whole.rank < quota  # the same as the beginnings of whole lists
    np.testing.assert_array_equal(two.target, whole.target[best])


def test_only_sources_find_something():
    graph = Graph.from_networkx(nx.path_graph(6))
    two, three = reach(graph, [0, 5])
    assert list(zip(two.source.tolist(), two.target.tolist(), strict=True)) == [(0, 2), (5, 3)]
    assert list(zip(three.source.tolist(), three.target.tolist(), strict=True)) == [(0, 3), (5, 2)]


@pytest.mark.parametrize(("wanted", "quota"), [(1, 1), (3, 1), (4, 2), (6, 3), (9, 6), (10, 6)])
def test_quota_is_the_least_that_lists_enough(wanted, quota):
    assert hops_module._quota(np.array([1, 6, 2]), wanted) == quota


def test_cap_is_the_most_that_bounds_the_steps():
    visits, degrees = np.array([1, 2, 3]), np.array([10, 5, 2])
    for steps, cap in ((0, 1), (12, 2), (15, 3), (10**6, 10)):
        assert hops_module._cap(visits, degrees, steps) == cap


def test_pairs_of_a_star_differ_from_leaf_to_leaf(monkeypatch):
    monkeypatch.setattr(hops_module, "_MAX_STEPS", 10_000)
    graph = star(1000)
    found = candidate_pairs(graph, limit=2000)
    assert_well_formed(found, graph)
    assert len(found.pairs) == 2000
    assert found.how.startswith("likely pairs 2 hops apart: 2,000 of 499,500 pairs")
    counts = np.bincount(found.pairs.ravel(), minlength=1001)
    assert counts[0] == 0
    assert counts[1:].min() >= 1
    assert counts.max() <= 20


@pytest.mark.parametrize("steps", [1, 500, 5000])
def test_hubs_are_seen_in_part_where_work_is_bounded(monkeypatch, steps):
    graph = Graph.from_networkx(nx.barabasi_albert_graph(120, 3, seed=0))
    near = set(map(tuple, pairs_at(graph, {2})))
    full = candidate_pairs(graph, limit=len(near))
    monkeypatch.setattr(hops_module, "_MAX_STEPS", steps)
    found = candidate_pairs(graph, limit=len(near))
    assert full.how.startswith("pairs within 2 hops")
    assert found.how.startswith("likely pairs 2 hops apart")
    assert {tuple(pair) for pair in found.pairs.tolist()} < near
    assert len(found.pairs) > 0


def best(graph, wanted, seed=0):
    order = np.random.default_rng(seed).permutation(graph.num_nodes)
    return best_in_two(Rows(graph.indptr, graph.indices), order, wanted)


def allocation_of_pairs(graph):
    """Resource allocation of all pairs two hops apart, slowly."""
    theirs = graph.to_networkx()
    pairs = [tuple(pair) for pair in pairs_at(graph, {2})]
    return {(u, v): score for u, v, score in nx.resource_allocation_index(theirs, pairs)}


@settings(max_examples=40)
@example(graph=Graph.from_networkx(nx.watts_strogatz_graph(40, 6, 0.3, seed=0)))
@given(graph=graphs(max_nodes=12, directed=False, weighted=False))
def test_best_of_all_are_all_where_they_fit_the_most_allocation_first(graph):
    allocation = allocation_of_pairs(graph)
    listed = best(graph, EVERYTHING)
    assert listed.whole
    ends = np.sort(np.stack([listed.source, listed.target], axis=1), axis=1)
    assert sorted(map(tuple, ends.tolist())) == sorted(allocation)
    scores = [allocation[pair] for pair in map(tuple, ends.tolist())]
    assert all(a >= b - 1e-6 for a, b in pairwise(scores))
    assert listed.rank.tolist() == list(range(len(scores)))


@pytest.mark.parametrize("wanted", [1, 30, 200])
def test_best_of_all_are_those_with_the_most_allocation(wanted):
    graph = Graph.from_networkx(nx.barabasi_albert_graph(120, 3, seed=0))
    allocation = allocation_of_pairs(graph)
    listed = best(graph, wanted)
    assert not listed.whole
    assert wanted <= len(listed.target) <= wanted + 128  # each block rounds up
    ends = np.sort(np.stack([listed.source, listed.target], axis=1), axis=1)
    scores = np.array([allocation[pair] for pair in map(tuple, ends.tolist())])
    least = np.sort(list(allocation.values()))[::-1][wanted - 1]
    assert scores.min() >= least / 2 ** (1 / 16)  # up to the width of a bin
    assert len(np.unique(ends, axis=0)) == len(ends)


def test_best_of_all_ties_are_spread_over_the_graph_and_do_not_depend_on_threads(monkeypatch):
    ring = Graph.from_networkx(nx.cycle_graph(3000))
    listed = {}
    for threads in (1, 3):
        monkeypatch.setattr(hops_module, "resolve_threads", lambda _, count=threads: count)
        listed[threads] = best(ring, 300)
    np.testing.assert_array_equal(listed[1].source, listed[3].source)
    np.testing.assert_array_equal(listed[1].target, listed[3].target)
    assert 100 < np.count_nonzero(listed[1].source < 1500) < 300
    assert not np.array_equal(listed[1].source, best(ring, 300, seed=1).source)


def test_best_of_all_of_a_star_is_bounded(monkeypatch):
    monkeypatch.setattr(hops_module, "_MAX_STEPS", 10_000)
    monkeypatch.setattr(hops_module, "_STEPS_PER_ENTRY", 1)
    listed = best(star(1000), 500)
    assert not listed.whole
    assert 500 <= len(listed.target) <= 628
    assert 0 not in listed.source
