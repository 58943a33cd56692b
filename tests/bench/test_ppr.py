"""What the benchmark of PageRank compares is the same, and as exact as it says."""

import numpy as np
import pytest

from pgnn import Graph, sample_anchor_sets
from pgnn.bench import ppr as bench
from pgnn.bench.graphs import random_graph
from pgnn.positions.reference import reference_ppr


@pytest.fixture
def graph():
    joined = random_graph(40, 60, rng=0).edges()
    return Graph.from_edges(joined, 42)  # the last two nodes are alone


def test_scipy_products_are_pagerank_within_tol(graph):
    sets = sample_anchor_sets(42, rng=0)
    sampled = np.array([0, 3, 5])
    exact = reference_ppr(graph, sets, bench.ALPHA)[:, sampled]
    near = bench.scipy_products(graph, sets, sampled)
    coarse = bench.scipy_products(graph, sets, sampled, 1e-2)
    sizes = sets.sizes[sampled]
    assert (np.abs(near - exact) * sizes).max() <= bench.TOL
    assert 1e-5 < (np.abs(coarse - exact) * sizes).max() <= 1e-2


def test_both_errors_are_measured_and_within_tol(graph, monkeypatch):
    sets = sample_anchor_sets(42, rng=0)
    sampled = np.arange(len(sets))
    ours, scipys = bench.errors(graph, sets, sampled)
    assert 0 < ours <= bench.TOL
    assert 0 < scipys <= bench.TOL
    exact = bench.solve(graph, sets, 1)
    monkeypatch.setattr(bench, "solve", lambda *_: exact + 0.1)
    assert bench.errors(graph, sets, sampled)[0] == pytest.approx(0.1 * sets.sizes.max())


def test_scipy_time_is_the_time_of_the_products(graph, monkeypatch):
    calls = []
    monkeypatch.setattr(bench, "best_time", lambda call, _: calls.append(call()) or 2.0)
    sets = sample_anchor_sets(42, rng=0)
    assert bench.scipy_time(graph, sets, [1]) == 2.0
    assert calls[0].shape == (42, 1)
    bench.solve_small()
