"""The Bourgain embedding against its theorem, and distortion against the definition."""

from __future__ import annotations

import copy
import itertools
import math
import pickle
import tracemalloc
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgnn import AnchorSets, Graph, PGNNError, sample_anchor_sets
from pgnn.positions import bourgain
from pgnn.positions.bourgain import Distortion, bourgain_embedding, distortion


@st.composite
def undirected_graphs(draw: st.DrawFn, max_nodes: int = 16) -> Graph:
    """Any undirected graph: one node, no edges, several components, weights."""
    num_nodes = draw(st.integers(1, max_nodes))
    node = st.integers(0, num_nodes - 1)
    edges = draw(st.lists(st.tuples(node, node), max_size=2 * num_nodes))
    weights = None
    if draw(st.booleans()):
        length = st.floats(1e-3, 1e3)
        weights = draw(st.lists(length, min_size=len(edges), max_size=len(edges)))
    return Graph.from_edges(edges, num_nodes, weights=weights)


def all_lengths(graph: Graph) -> np.ndarray:
    """d(u, v) of all pairs by networkx, infinite between components."""
    lengths = np.full((graph.num_nodes, graph.num_nodes), np.inf)
    for u, lengths_from_u in nx.all_pairs_dijkstra_path_length(graph.to_networkx()):
        for v, length in lengths_from_u.items():
            lengths[u, v] = length
    return lengths


def grid(num_nodes: int) -> nx.Graph:
    return nx.grid_2d_graph(math.isqrt(num_nodes), math.isqrt(num_nodes))


def caveman(num_nodes: int) -> nx.Graph:
    return nx.connected_caveman_graph(num_nodes // 8, 8)


def tree(num_nodes: int) -> nx.Graph:
    return nx.random_labeled_tree(num_nodes, seed=0)


def random(num_nodes: int) -> nx.Graph:
    return nx.gnm_random_graph(num_nodes, 3 * num_nodes, seed=0)


# ---------------------------------------------------------------------- the embedding


def test_embedding_by_hand() -> None:
    path = Graph.from_edges([(0, 1), (1, 2), (2, 3)])
    sets = AnchorSets.from_sets([[0], [3], [1, 3], [2]], 4)
    expected = np.array([[0, 3, 1, 2], [1, 2, 0, 1], [2, 1, 1, 0], [3, 0, 0, 1]]) / 4
    np.testing.assert_array_equal(bourgain._embed(path, sets), expected)


def test_weighted_embedding_by_hand() -> None:
    path = Graph.from_edges([(0, 1), (1, 2)], weights=[0.5, 2.0])
    sets = AnchorSets.from_sets([[0], [2]], 3)
    expected = np.array([[0, 2.5], [0.5, 2], [2.5, 0]]) / 2
    np.testing.assert_array_equal(bourgain._embed(path, sets), expected)


def test_embedding_uses_the_sets_of_the_paper() -> None:
    graph = Graph.from_networkx(nx.path_graph(100))
    sets = sample_anchor_sets(100, 2.0, rng=5)
    embedding = bourgain_embedding(graph, 2.0, rng=5)
    assert embedding.shape == (100, 6 * 12)
    np.testing.assert_array_equal(embedding, bourgain._embed(graph, sets))
    lengths = all_lengths(graph)
    for column, nodes in enumerate(sets):
        np.testing.assert_allclose(embedding[:, column] * 72, lengths[:, nodes].min(axis=1))


@settings(deadline=None, max_examples=200)
@given(undirected_graphs(), st.sampled_from([0.5, 1.0, 3.0]), st.integers(0, 99))
def test_embedding_never_expands_in_l1(graph: Graph, c: float, seed: int) -> None:
    embedding = bourgain_embedding(graph, c, rng=seed)
    assert np.isfinite(embedding).all()
    apart = np.abs(embedding[:, None] - embedding).sum(axis=2)
    assert (apart <= all_lengths(graph) * (1 + 1e-12) + 1e-12).all()
    assert distortion(graph, embedding).expansion <= 1 + 1e-9


@pytest.mark.parametrize(
    ("weights", "beyond"), [(None, 3), ([1.0, 5.0, 0.5], 11)], ids=["hops", "lengths"]
)
def test_unreached_set_is_one_longest_edge_beyond_the_farthest(
    weights: list[float] | None, beyond: float
) -> None:
    graph = Graph.from_edges([(0, 1), (1, 2), (3, 4)], weights=weights)
    embedding = bourgain._embed(graph, AnchorSets.from_sets([[0], [4]], 5)) * 2
    assert embedding[3:, 0].tolist() == [beyond, beyond]
    assert embedding[:3, 1].tolist() == [beyond, beyond, beyond]
    assert (embedding[:3, 0] < beyond).all()


@pytest.mark.parametrize("weights", [None, []])
def test_unreached_set_without_any_edge_is_one_away(weights: list[float] | None) -> None:
    graph = Graph.from_edges([], 2, weights=weights)
    embedding = bourgain._embed(graph, AnchorSets.from_sets([[0], [1]], 2))
    assert embedding.tolist() == [[0, 0.5], [0.5, 0]]


@pytest.mark.parametrize("num_nodes", [16, 64, 256, 576])
@pytest.mark.parametrize("family", [grid, caveman, tree, random])
def test_distortion_is_at_most_two_log_n(family: Any, num_nodes: int) -> None:
    # The theorem promises C * log n with high probability for c large enough; C = 2 here.
    graph = Graph.from_networkx(family(num_nodes))
    for seed in range(3):
        measured = distortion(graph, bourgain_embedding(graph, c=4.0, rng=seed))
        assert measured <= 2 * math.log2(graph.num_nodes)
        assert measured.expansion <= 1 + 1e-12
        assert 1 <= measured.mean <= measured


def test_embedding_depends_on_the_seed_alone() -> None:
    graph = Graph.from_networkx(nx.path_graph(20))
    assert np.array_equal(bourgain_embedding(graph, rng=1), bourgain_embedding(graph, rng=1))
    assert not np.array_equal(bourgain_embedding(graph, rng=1), bourgain_embedding(graph, rng=2))


# ---------------------------------------------------------------------- distortion


@settings(deadline=None)
@given(undirected_graphs(max_nodes=8), st.data(), st.sampled_from([1, 1.5, 2, math.inf]))
def test_distortion_is_that_of_the_definition(graph: Graph, data: st.DataObject, p: float) -> None:
    numbers = st.lists(st.integers(-9, 9), min_size=2, max_size=2)
    rows = data.draw(st.lists(numbers, min_size=graph.num_nodes, max_size=graph.num_nodes))
    lengths = all_lengths(graph)
    ratios, embedded, total = [], 0.0, 0.0
    for u, v in itertools.permutations(range(graph.num_nodes), 2):
        if np.isfinite(lengths[u, v]):
            apart = float(np.linalg.norm(np.subtract(rows[u], rows[v]), ord=p))
            ratios.append(apart / lengths[u, v])
            embedded, total = embedded + apart, total + lengths[u, v]
    measured = distortion(graph, rows, p=p)
    assert measured.num_pairs == len(ratios)
    if not ratios:
        assert measured == Distortion(1.0, 1.0, 1.0, 0)
        return
    assert measured.expansion == pytest.approx(max(ratios))
    coincide = min(ratios) == 0
    assert measured.contraction == pytest.approx(math.inf if coincide else 1 / min(ratios))
    assert measured == pytest.approx(math.inf if coincide else max(ratios) / min(ratios))
    assert measured.mean == pytest.approx(max(ratios) * total / embedded if embedded else math.inf)


def test_distortion_does_not_depend_on_scale() -> None:
    graph = Graph.from_networkx(grid(36))
    embedding = bourgain_embedding(graph, c=3.0, rng=0)
    one, ten = distortion(graph, embedding), distortion(graph, 10 * embedding)
    assert ten == pytest.approx(one)
    assert ten.mean == pytest.approx(one.mean)
    assert ten.expansion == pytest.approx(10 * one.expansion)


@pytest.mark.parametrize("block_pairs", [1, 100, 1000])
def test_distortion_does_not_depend_on_blocks(
    monkeypatch: pytest.MonkeyPatch, block_pairs: int
) -> None:
    graph = Graph.from_networkx(random(40))
    embedding = bourgain_embedding(graph, rng=0)
    whole = distortion(graph, embedding)
    monkeypatch.setattr(bourgain, "_BLOCK_PAIRS", block_pairs)
    parts = distortion(graph, embedding)
    assert (parts, parts.num_pairs) == (whole, whole.num_pairs)
    assert parts.mean == pytest.approx(whole.mean)


def test_sampled_sources_give_a_lower_bound() -> None:
    graph = Graph.from_networkx(grid(144))
    embedding = bourgain_embedding(graph, rng=0)
    whole = distortion(graph, embedding)
    sampled = distortion(graph, embedding, num_sources=12, rng=3)
    assert sampled.num_pairs == 12 * 143
    assert sampled <= whole
    assert sampled.mean == pytest.approx(whole.mean, rel=0.2)
    assert sampled == distortion(graph, embedding, num_sources=12, rng=3)
    assert sampled != distortion(graph, embedding, num_sources=12, rng=4)
    every = distortion(graph, embedding, num_sources=144, rng=0)
    assert (every, every.num_pairs) == (whole, whole.num_pairs)


def test_distortion_never_holds_all_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bourgain, "_BLOCK_PAIRS", 1 << 17)
    num_nodes = 3000
    graph = Graph.from_networkx(random(num_nodes))
    distortion(graph, np.zeros((num_nodes, 1)), num_sources=1)  # compile
    tracemalloc.start()
    try:
        distortion(graph, np.arange(num_nodes)[:, None])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20e6  # float64 n x n would be 72e6


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda d: pickle.loads(pickle.dumps(d))]
)
def test_distortion_is_a_number_that_keeps_its_parts_when_copied(copied: Any) -> None:
    measured = distortion(Graph.from_edges([(0, 1), (1, 2)]), [[0], [1], [4]])
    again = copied(measured)
    assert again == measured == 3.0
    assert f"{again:.1f}" == "3.0"
    assert vars(again) == vars(measured)


# ---------------------------------------------------------------------- bad inputs


def test_directed_graphs_are_refused() -> None:
    graph = Graph.from_edges([(0, 1)], directed=True)
    with pytest.raises(PGNNError, match="the graph must be undirected"):
        bourgain_embedding(graph, rng=0)
    with pytest.raises(PGNNError, match="the graph must be undirected"):
        distortion(graph, [[0], [1]])


@pytest.mark.parametrize(
    ("embedding", "options", "message"),
    [
        ([[0], [1], [2]], {}, r"one row per node, \[2, k\] \(got \[3, 1\]\)"),
        ([0, 1], {}, r"one row per node, \[2, k\] \(got \[2\]\)"),
        ([[0], [math.nan]], {}, "must be finite"),
        ([["a"], ["b"]], {}, "must be numbers"),
        ([[0], [1]], {"p": 0.5}, r"p must be at least 1 \(got 0.5\)"),
        ([[0], [1]], {"p": math.nan}, "p must be"),
        ([[0], [1]], {"num_sources": 0}, r"num_sources must lie in 1..2 \(got 0\)"),
        ([[0], [1]], {"num_sources": 3}, "num_sources must lie"),
    ],
)
def test_bad_arguments_of_distortion_are_refused(
    embedding: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(PGNNError, match=message):
        distortion(Graph.from_edges([(0, 1)]), embedding, **options)
