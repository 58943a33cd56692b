"""Estimated walks: what the spectrum is, and that short walks are exact and long ones close."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings

from pairs.kernels.test_lanes import dense, matrix_of
from pgnn import Graph
from pgnn.pairs import estimates
from pgnn.pairs.estimates import Spectrum, estimated_walks
from pgnn.pairs.kernels.counts import find_entries
from pgnn.pairs.walks import LENGTHS, RESTARTS, exact_walks
from strategies import graphs

GRID = Graph.from_networkx(nx.grid_2d_graph(9, 16))  # not a square, which has eigenvalues twice
MIXING = Graph.from_networkx(nx.random_regular_graph(12, 200, seed=0))


def both_ways(graph, pairs, num_threads=1):
    """Estimated and exact walks of pairs that a path joins."""
    matrix, pairs = matrix_of(graph), np.asarray(pairs, dtype=np.int64)
    places = np.empty(len(pairs), dtype=np.int64)
    find_entries(graph.indptr, graph.indices, pairs, places)
    joined = np.ones(len(pairs), dtype=bool)
    where = matrix, Spectrum.of(matrix), pairs, places, joined
    estimated = estimated_walks(*where, num_threads, None)
    return estimated, exact_walks(matrix, pairs, places, 1, None)


@settings(max_examples=30)
@given(graph=graphs(max_nodes=10, directed=False))
def test_first_eigenvector_belongs_to_every_component(graph):
    matrix = matrix_of(graph)
    spectrum = Spectrum.of(matrix)
    assert spectrum.values.tolist() == [1.0]
    first = spectrum.right[:, 0]
    np.testing.assert_allclose(dense(matrix) @ first, first, atol=1e-12)
    for members in nx.connected_components(graph.to_networkx()):
        nodes = sorted(members)
        strength = matrix.out_strength[nodes].sum()
        assert (first[nodes] ** 2).sum() == pytest.approx(float(strength > 0))
        np.testing.assert_allclose(spectrum.volume[nodes], strength or 1.0)


def test_spectrum_of_a_slow_graph_holds_its_largest_eigenvalues():
    matrix = matrix_of(GRID)
    spectrum = Spectrum.of(matrix)
    assert not spectrum.mixes_fast
    sizes = np.sort(np.abs(np.linalg.eigvalsh(dense(matrix))))[::-1]
    known = np.sort(np.abs(spectrum.values))[::-1]
    assert len(known) == estimates.RANK + 1
    np.testing.assert_allclose(known, sizes[: len(known)], atol=1e-2)
    assert spectrum.rest == known[-1]
    residual = dense(matrix) @ spectrum.right - spectrum.right * spectrum.values
    assert np.abs(residual).max() < 1e-2


def test_spectrum_of_a_large_graph_holds_the_eigenvalues_that_stand_out(monkeypatch):
    chances = np.full((6, 6), 0.004) + 0.12 * np.eye(6)
    blocks = nx.stochastic_block_model([60] * 6, chances, seed=0)
    apart = Graph.from_networkx(nx.disjoint_union_all([blocks, blocks, nx.path_graph(3)]))
    matrix = matrix_of(apart)
    exactly = Spectrum.of(matrix)
    monkeypatch.setattr(estimates, "LANCZOS_ENTRIES", 0)
    monkeypatch.setattr(estimates, "_BLOCK_NODES", 100)
    nearly = Spectrum.of(matrix)
    num_outstanding = 1 + 2 * 5  # the one of all components, and five of either part
    of_each = [np.argsort(-np.abs(s.values))[:num_outstanding] for s in (exactly, nearly)]
    values = [np.abs(s.values[kept]) for s, kept in zip((exactly, nearly), of_each, strict=True)]
    np.testing.assert_allclose(*values, atol=2e-3)
    spans = [s.right[:, kept] for s, kept in zip((exactly, nearly), of_each, strict=True)]
    both = [columns @ columns.T for columns in spans]
    assert np.linalg.norm(both[0] - both[1], 2) < 0.1
    products = nearly.right.T @ nearly.right
    np.testing.assert_allclose(products[1:, 1:], np.eye(len(products) - 1), atol=1e-8)


def test_spectrum_of_a_mixing_graph_is_one_eigenvalue():
    spectrum = Spectrum.of(matrix_of(MIXING))
    assert spectrum.mixes_fast
    assert len(spectrum.values) == 1
    second = np.sort(np.abs(np.linalg.eigvalsh(dense(matrix_of(MIXING)))))[-2]
    assert spectrum.rest == pytest.approx(second, rel=0.1)


def test_directed_spectrum_is_the_dominant_eigenvalue():
    graph = Graph.from_networkx(nx.gnp_random_graph(40, 0.3, seed=0, directed=True))
    spectrum = Spectrum.of(matrix_of(graph))
    s = dense(matrix_of(graph))
    assert spectrum.values == pytest.approx([np.abs(np.linalg.eigvals(s)).max()])
    estimate = spectrum.values**60 * (spectrum.right @ spectrum.left.T)
    np.testing.assert_allclose(np.linalg.matrix_power(s, 60), estimate, rtol=1e-6)


@pytest.mark.parametrize("directed", [False, True])
def test_walks_of_a_graph_that_balls_hold_are_exact(monkeypatch, directed):
    monkeypatch.setattr(estimates, "BALL_EDGES", (1 << 20, 1 << 20))
    graph = Graph.from_networkx(nx.gnp_random_graph(20, 0.2, seed=1, directed=directed))
    pairs = [(u, v) for u in range(20) for v in range(20) if u < v]
    estimated, exact = both_ways(graph, pairs)
    for ours, theirs in zip(estimated.ways, exact.ways, strict=True):
        walks = slice(len(LENGTHS))
        np.testing.assert_allclose(ours[:, walks], theirs[:, walks], rtol=1e-6, atol=1e-11)
    assert estimated.note.startswith("Walks are exact up to 24 steps at least")


def test_long_walks_of_small_balls_are_close(monkeypatch):
    monkeypatch.setattr(estimates, "BALL_EDGES", (200, 200))
    pairs = np.concatenate([MIXING.edges()[:60], [(u, u + 100) for u in range(60)]])
    estimated, exact = both_ways(MIXING, pairs)
    ours, theirs = estimated.ways[0], exact.ways[0]
    np.testing.assert_allclose(ours[:, :2], theirs[:, :2], rtol=1e-9)
    for length in (12, 16, 24):
        place = LENGTHS.index(length)
        np.testing.assert_allclose(ours[:, place], theirs[:, place], rtol=0.02)
    np.testing.assert_allclose(ours[:, -1], theirs[:, -1], rtol=0.05)


def test_pairs_that_no_path_joins_have_no_walks():
    matrix, pairs, places = matrix_of(GRID), np.array([(0, 5), (0, 6)]), np.array([-1, -1])
    where = matrix, Spectrum.of(matrix), pairs, places, np.array([True, False])
    found = estimated_walks(*where, 1, None)
    assert found.ways[0][0].any()
    assert not found.ways[0][1].any()


def test_first_steps_that_arrive_are_hops():
    pairs = [(0, 2), (0, 13), (1, 40)]
    estimated, _ = both_ways(GRID, pairs)
    theirs, ids = GRID.to_networkx(), GRID.node_ids.tolist()
    expected = [nx.shortest_path_length(theirs, ids[u], ids[v]) for u, v in pairs]
    assert estimated.hops[0].tolist() == expected


def test_pagerank_sums_count_walks_that_stay_as_they_are():
    factors = estimates._pagerank_sums()
    np.testing.assert_allclose(factors.sum(axis=0), [1 / a for a in RESTARTS])
