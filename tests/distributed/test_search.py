"""Distances in a graph in parts are those of one process, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgnn import Graph, PGNNError, anchor_distances, sample_anchor_sets
from pgnn.bench.graphs import grid_graph, preferential_graph, random_graph
from pgnn.distributed import partition, partitioned_distances, search
from pgnn.distributed.search import Traffic
from rank_threads import on_ranks
from strategies import graphs_with_sets


def assert_same(graph, sets, size, cutoff=None):
    expected = anchor_distances(graph, sets, cutoff=cutoff, num_threads=1)
    rows = on_ranks(
        size, lambda group: partitioned_distances(partition(graph), sets, cutoff=cutoff)
    )
    hops = np.concatenate([part.hops for part in rows])
    assert {part.hops.dtype for part in rows} == {expected.hops.dtype}
    np.testing.assert_array_equal(hops, expected.hops)
    np.testing.assert_array_equal(np.concatenate([p.nearest for p in rows]), expected.nearest)


@pytest.mark.parametrize("saved", [search.LEAST_SAVED, -(10**9)])  # the latter: always ask
@pytest.mark.parametrize("advantage", [search.PUSH_ADVANTAGE, 0, 10**9])
@settings(max_examples=10, deadline=None)
@given(
    drawn=graphs_with_sets(weighted=False),
    size=st.integers(1, 4),
    cutoff=st.none() | st.integers(0, 4) | st.just(float("inf")),
)
def test_distances_equal_those_of_one_process(advantage, saved, drawn, size, cutoff):
    graph, sets = drawn
    with pytest.MonkeyPatch.context() as patch:  # 0: always push, 10**9: never
        patch.setattr(search, "PUSH_ADVANTAGE", advantage)
        patch.setattr(search, "LEAST_SAVED", saved)
        assert_same(graph, sets, size, cutoff)


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("cutoff", [None, 2])
@pytest.mark.parametrize("family", ["random", "directed", "grid", "preferential"])
def test_families_equal_one_process(monkeypatch, family, size, cutoff):
    monkeypatch.setattr(search, "LEAST_SAVED", 0)
    graph = {
        "random": lambda: random_graph(1500, 6000, rng=0),
        "directed": lambda: Graph.from_edges(
            np.random.default_rng(1).integers(0, 800, (3000, 2)), 800, directed=True
        ),
        "grid": lambda: grid_graph(20, 30),
        "preferential": lambda: preferential_graph(5000, 4, rng=0),
    }[family]()
    # More than 32 sets, so that keys of both widths are used.
    assert_same(graph, sample_anchor_sets(graph.num_nodes, num_sets=70, rng=0), size, cutoff)


def test_long_path_needs_wide_results_and_wide_keys(monkeypatch):
    path = Graph.from_edges(np.stack([np.arange(399), np.arange(1, 400)], axis=1))
    assert_same(path, [[0], [399, 7]], 2)
    forms = search.KeyForm.of_indices

    def narrow(key_type, num_nodes):  # as if the graph had many more nodes
        return forms(key_type, num_nodes if key_type == np.uint64 else 1 << 28)

    monkeypatch.setattr(search.KeyForm, "of_indices", narrow)
    assert_same(path, [[0], [399, 7]], 2)


def test_each_key_is_sent_once():
    graph = random_graph(400, 1600, rng=0)
    sets = sample_anchor_sets(400, num_sets=16, rng=0)

    def work(group):
        traffic = Traffic()
        part = partition(graph)
        result = partitioned_distances(part, sets, traffic=traffic)
        return traffic, part, result

    (traffic, part, result), (_, other, _) = on_ranks(2, work)
    mine = np.isin(np.arange(part.first, part.first + part.num_own), other.ghosts)
    num_keys = int((result.hops[mine] >= 0).sum())
    at_most = 4 * num_keys + 8 * mine.sum() * (traffic.num_levels + 1)
    assert 0 < traffic.num_bytes <= at_most


def test_progress_counts_the_sets():
    part = partition(grid_graph(4, 4))
    seen = []
    partitioned_distances(
        part, [[i] for i in range(16)] * 3, progress=lambda *counts: seen.append(counts)
    )
    assert seen[-1] == (48, 48)


def test_wrong_arguments_are_one_clear_error():
    part = partition(grid_graph(2, 2))
    with pytest.raises(PGNNError, match="cutoff must be a number"):
        partitioned_distances(part, [[0]], cutoff=-1)
    with pytest.raises(PGNNError, match=r"must lie in 0\.\.3"):
        partitioned_distances(part, [[4]])
    with pytest.raises(PGNNError, match="must be a PartitionedGraph"):
        partitioned_distances(grid_graph(2, 2), [[0]])
