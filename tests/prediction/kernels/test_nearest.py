"""Nearest rows of an embedding against sorting all, and what nearly nearest ones miss."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgnn import Graph
from pgnn.prediction.candidates import candidate_pairs
from pgnn.prediction.choice import Rows
from pgnn.prediction.kernels import nearest as nearest_module
from pgnn.prediction.kernels.nearest import nearest_rows
from prediction_helpers import assert_well_formed, gaps_to
from strategies import graphs

METRICS = ["distance", "dot"]


def nearest(graph, x, sources, metric, width):
    rng = np.random.default_rng(0)
    return nearest_rows(
        Rows(graph.indptr, graph.indices),
        np.asarray(x, dtype=np.float32),
        np.asarray(sources),
        rng.permutation(graph.num_nodes),
        dot=metric == "dot",
        width=width,
        generator=rng,
    )


@settings(max_examples=40)
@given(
    graph=graphs(max_nodes=12, directed=False, weighted=False),
    metric=st.sampled_from(METRICS),
    width=st.integers(1, 14),
)
def test_exact_search_equals_sorting_by_gap(graph, metric, width):
    n = graph.num_nodes
    x = np.random.default_rng(1).normal(size=(n, 3)).astype(np.float32)
    found, exact = nearest(graph, x, np.arange(n), metric, width)
    assert exact
    for u in range(n):
        gaps = gaps_to(x, u, metric)
        allowed = [v for v in range(n) if v != u and v not in graph.neighbors(u)]
        own = found.source == u
        assert found.target[own].tolist() == sorted(allowed, key=gaps.__getitem__)[:width]
        assert found.rank[own].tolist() == list(range(own.sum()))


@pytest.mark.parametrize("metric", METRICS)
def test_nearest_of_some_are_those_among_all(monkeypatch, metric):
    graph = Graph.from_edges([(0, 1), (3, 7)], 300)
    x = np.random.default_rng(2).normal(size=(300, 4))
    for products in (0, 1 << 60):
        monkeypatch.setattr(nearest_module, "_EXACT_PRODUCTS", products)
        whole, exact = nearest(graph, x, np.arange(300), metric, 5)
        some, _ = nearest(graph, x, [7, 250], metric, 5)
        assert exact == (products > 0)
        assert some.source.tolist() == [7] * 5 + [250] * 5
        np.testing.assert_array_equal(some.target, whole.target[np.isin(whole.source, [7, 250])])


@pytest.mark.parametrize("same", [False, True])
def test_tree_halves_rows_evenly_and_loses_none(same):
    n, depth = 101, 3
    x = np.random.default_rng(3).normal(size=(n, 2)).astype(np.float32) * (not same)
    draws = np.random.default_rng(4).integers(1 << 62, size=(1 << depth, 2))
    members, leaf = np.arange(n, dtype=np.int32), np.empty(n, dtype=np.int64)
    nearest_module._grow_tree(x, draws, depth, members, leaf)
    assert sorted(members.tolist()) == list(range(n))
    assert (np.diff(leaf[members]) >= 0).all()
    assert set(np.bincount(leaf).tolist()) == {12, 13}


@pytest.mark.parametrize("metric", METRICS)
def test_nearly_nearest_are_mostly_nearest(monkeypatch, metric):
    generator = np.random.default_rng(0)
    n = 1500
    x = generator.normal(size=(30, 12))[generator.integers(30, size=n)]
    x = (x + 0.3 * generator.normal(size=(n, 12))) * generator.uniform(0.5, 2, size=(n, 1))
    graph = Graph.from_edges([(0, 1)], n)
    exact = candidate_pairs(graph, x, limit=40_000, num_neighbours=10, metric=metric)
    monkeypatch.setattr(nearest_module, "_EXACT_PRODUCTS", 0)
    nearly = candidate_pairs(graph, x, limit=40_000, num_neighbours=10, metric=metric)
    assert "the 10 nearest embeddings" in exact.how
    assert "the 10 nearly nearest embeddings" in nearly.how
    truth = set(map(tuple, exact.pairs.tolist()))
    found = set(map(tuple, nearly.pairs.tolist()))
    assert len(truth & found) >= 0.95 * len(truth)
    assert 0 < len(found) <= 10 * n


@pytest.mark.parametrize("products", [0, 1 << 60])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("value", [0.0, 3.0])
def test_constant_embeddings_give_every_node_other_neighbours(monkeypatch, products, metric, value):
    monkeypatch.setattr(nearest_module, "_EXACT_PRODUCTS", products)
    graph = Graph.from_edges([(0, 1)], 700)
    found = candidate_pairs(graph, np.full((700, 3), value), limit=4000, num_neighbours=5)
    assert_well_formed(found, graph)
    counts = np.bincount(found.pairs.ravel(), minlength=700)
    assert counts.min() >= 5
    assert counts.max() <= 40
