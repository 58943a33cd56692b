"""Hop distances: which kernel searches, what threads and cutoffs change, and invariants."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra

from pgnn import AnchorSets, Graph, PGNNError, anchor_distances, sample_anchor_sets
from pgnn.positions import hops as _hops
from positions.kernels.test_search import FAMILIES, assert_equals_scipy, only, random_edges
from strategies import anchor_sets, graphs, graphs_with_sets


@given(case=graphs_with_sets(weighted=False))
def test_hops_equal_networkx(case):
    graph, sets = case
    result = anchor_distances(graph, sets)
    theirs = graph.to_networkx().reverse() if graph.directed else graph.to_networkx()
    for i, anchors in enumerate(sets):
        lengths = nx.multi_source_dijkstra_path_length(theirs, set(anchors.tolist()), weight=None)
        expected = [lengths.get(v, -1) for v in range(graph.num_nodes)]
        assert result.hops[:, i].tolist() == expected


@given(case=graphs_with_sets(weighted=False))
def test_nearest_is_member_at_that_distance(case):
    graph, sets = case
    result = anchor_distances(graph, sets)
    apart = dijkstra(graph.to_scipy(), unweighted=True)
    for i, anchors in enumerate(sets):
        reached = result.hops[:, i] >= 0
        nearest = result.nearest[reached, i]
        assert np.isin(nearest, anchors).all()
        assert (apart[np.flatnonzero(reached), nearest] == result.hops[reached, i]).all()
        assert (result.nearest[~reached, i] == -1).all()


@given(case=graphs_with_sets(weighted=False, directed=False))
def test_hops_differ_by_at_most_one_across_an_edge(case):
    graph, sets = case
    hops = anchor_distances(graph, sets).hops.astype(int)
    u, v = graph.edges().T
    assert (np.abs(hops[u] - hops[v]) <= 1).all()


@given(data=st.data(), graph=graphs(weighted=False))
def test_superset_never_increases_a_distance(data, graph):
    small = data.draw(anchor_sets(graph.num_nodes, max_sets=1))[0]
    more = data.draw(anchor_sets(graph.num_nodes, max_sets=1))[0]
    hops = anchor_distances(graph, [small, np.union1d(small, more)]).hops.astype(float)
    hops[hops < 0] = np.inf
    assert (hops[:, 1] <= hops[:, 0]).all()


@given(data=st.data(), case=graphs_with_sets(weighted=False))
def test_relabelling_nodes_relabels_hops(data, case):
    graph, sets = case
    order = np.array(data.draw(st.permutations(range(graph.num_nodes))))  # old -> new
    edges = order[graph.edges()]
    turned = Graph.from_edges(edges, graph.num_nodes, directed=graph.directed)
    moved = AnchorSets.from_sets([order[anchors] for anchors in sets], graph.num_nodes)
    there = anchor_distances(turned, moved).hops[order]
    np.testing.assert_array_equal(there, anchor_distances(graph, sets).hops)


@pytest.mark.parametrize("name", ["random", "random directed", "grid", "long strip"])
@pytest.mark.parametrize("num_threads", [2, 3, 16])
def test_threads_do_not_change_the_answer(name, num_threads, monkeypatch):
    monkeypatch.setattr(_hops, "SERIAL_PAIRS", 0)
    graph = FAMILIES[name]
    sets = sample_anchor_sets(graph.num_nodes, rng=6)
    one = anchor_distances(graph, sets, num_threads=1)
    many = anchor_distances(graph, sets, num_threads=num_threads)
    np.testing.assert_array_equal(one.hops, many.hops)
    np.testing.assert_array_equal(one.nearest, many.nearest)


@given(data=st.data())
def test_union_batch_equals_each_graph(data):
    directed = data.draw(st.booleans())
    parts = data.draw(st.lists(graphs(directed=directed, weighted=False), min_size=1, max_size=4))
    num_sets = data.draw(st.integers(1, 20))
    sets = [sample_anchor_sets(part.num_nodes, num_sets=num_sets, rng=7) for part in parts]
    together = anchor_distances(Graph.disjoint_union(parts), AnchorSets.union(sets))
    start = 0
    for part, own in zip(parts, sets, strict=True):
        alone = anchor_distances(part, own)
        rows = slice(start, start + part.num_nodes)
        np.testing.assert_array_equal(together.hops[rows], alone.hops)
        shifted = np.where(alone.nearest < 0, -1, alone.nearest + start)
        np.testing.assert_array_equal(together.nearest[rows], shifted)
        start += part.num_nodes


@pytest.mark.parametrize("cutoff", [0, 1, 2, 5, 23, 24, 25, 40])
@pytest.mark.parametrize("name", ["random", "random directed", "grid", "long strip"])
def test_cutoff_equals_masking(name, cutoff):
    graph = FAMILIES[name]
    sets = sample_anchor_sets(graph.num_nodes, rng=8)
    whole, cut = anchor_distances(graph, sets), anchor_distances(graph, sets, cutoff=cutoff)
    within = (whole.hops >= 0) & (whole.hops <= cutoff)
    np.testing.assert_array_equal(cut.hops, np.where(within, whole.hops, -1))
    np.testing.assert_array_equal(cut.nearest, np.where(within, whole.nearest, -1))


def path_graph(num_nodes, seed):
    order = np.random.default_rng(seed).permutation(num_nodes)
    return Graph.from_edges(np.stack([order[:-1], order[1:]], axis=1))


@pytest.mark.parametrize(
    ("num_nodes", "dtype"), [(100, np.int8), (128, np.int8), (129, np.int16), (5000, np.int16)]
)
def test_storage_is_the_smallest_that_holds_the_largest_hop(num_nodes, dtype):
    graph = path_graph(num_nodes, seed=9)
    end = int(np.flatnonzero(graph.degrees == 1)[0])
    result = assert_equals_scipy(graph, AnchorSets.from_sets([[end]], num_nodes))
    assert result.hops.max() == num_nodes - 1
    assert result.hops.dtype == dtype


def test_path_longer_than_16_bits_is_exact():
    num_nodes = 40_000
    edges = np.stack([np.arange(num_nodes - 1), np.arange(1, num_nodes)], axis=1)
    result = anchor_distances(Graph.from_edges(edges), [[0], [num_nodes - 1, 17]])
    steps = np.arange(num_nodes)
    assert result.hops.dtype == np.int32
    np.testing.assert_array_equal(result.hops[:, 0], steps)
    expected = np.minimum(np.abs(steps - 17), num_nodes - 1 - steps)
    np.testing.assert_array_equal(result.hops[:, 1], expected)


def test_whiskers_on_a_dense_core_are_exact():
    core = random_edges(400, 4000, 10)
    chain = np.stack([np.arange(399, 560), np.arange(400, 561)], axis=1)
    graph = Graph.from_edges(np.concatenate([core, chain]))
    assert_equals_scipy(graph, sample_anchor_sets(graph.num_nodes, rng=11))


@pytest.mark.parametrize(
    ("name", "sweeps"),
    [("random", False), ("hubs", False), ("islands", False), ("star", False), ("grid", True),
     ("long strip", True), ("directed cycle", True)],
)  # fmt: skip
def test_rule_picks_sweeps_for_large_diameters_only(name, sweeps, monkeypatch):
    used = []
    sweep = _hops.search_by_sweeps
    monkeypatch.setattr(
        _hops, "search_by_sweeps", lambda *arguments: used.append(True) or sweep(*arguments)
    )
    graph = replace(FAMILIES[name])  # a new one, of which no order is kept
    sets = sample_anchor_sets(graph.num_nodes, rng=12)
    anchor_distances(graph, sets)
    assert used == [True] * sweeps


@pytest.mark.parametrize("name", ["grid", "long strip", "directed cycle"])
def test_second_search_of_a_deep_graph_goes_straight_to_sweeps(name, monkeypatch):
    graph = replace(FAMILIES[name])
    sets = sample_anchor_sets(graph.num_nodes, rng=12)
    first = anchor_distances(graph, sets)
    monkeypatch.setattr(_hops, "search_by_levels", None)
    second = anchor_distances(graph, sets)
    assert np.array_equal(first.hops, second.hops)
    assert np.array_equal(first.nearest, second.nearest)


@pytest.mark.parametrize(("name", "queue"), [("grid", False), ("tree", False), ("maze", True)])
def test_queue_takes_over_only_where_sweeps_do_not_settle(name, queue, monkeypatch):
    used = []
    search = _hops.kernels.search_queue
    monkeypatch.setattr(
        _hops.kernels, "search_queue", lambda *arguments: used.append(True) or search(*arguments)
    )
    monkeypatch.setattr(_hops, "MAX_VISITS", 3)  # a maze as small as this one settles before 16
    graph = FAMILIES[name]
    with only("sweeps"):
        anchor_distances(graph, sample_anchor_sets(graph.num_nodes, rng=12))
    assert bool(used) == queue


@pytest.mark.parametrize("num_threads", [1, 2])
@pytest.mark.parametrize("name", ["random", "grid", "long strip"])
def test_progress_rises_to_all_sets(name, num_threads, monkeypatch):
    monkeypatch.setattr(_hops, "SERIAL_PAIRS", 0)
    calls = []
    graph = FAMILIES[name]
    sets = sample_anchor_sets(graph.num_nodes, rng=13)
    anchor_distances(
        graph,
        sets,
        num_threads=num_threads,
        progress=lambda searched, total: calls.append((searched, total)),
    )
    assert len(calls) > 1
    assert calls[-1] == (len(sets), len(sets))
    assert [searched for searched, _ in calls] == sorted({searched for searched, _ in calls})


def test_progress_does_not_fall_when_a_search_starts_anew():
    graph, calls = FAMILIES["long strip"], []
    everything = list(range(graph.num_nodes))
    sets = [[0]] * 16 + [everything] * 32  # the last block is near, the first too far for levels
    anchor_distances(graph, sets, progress=lambda searched, total: calls.append(searched))
    assert calls == sorted(set(calls))
    assert calls[-1] == 48


def test_failing_progress_stops_the_search(monkeypatch):
    monkeypatch.setattr(_hops, "SERIAL_PAIRS", 0)

    def fail(searched, total):
        raise RuntimeError("stop here")

    graph = FAMILIES["random"]
    sets = sample_anchor_sets(graph.num_nodes, rng=14)
    with pytest.raises(RuntimeError, match="stop here"):
        anchor_distances(graph, sets, num_threads=2, progress=fail)


def test_single_node_is_its_own_anchor():
    result = anchor_distances(Graph.from_edges([], num_nodes=1), sample_anchor_sets(1, rng=0))
    assert result.hops.tolist() == [[0]]
    assert result.nearest.tolist() == [[0]]


@pytest.mark.parametrize(
    ("sets", "options", "message"),
    [
        ([[0, 9]], {}, "anchor-set 0 holds node 9"),
        ([[0], [-1]], {}, "anchor-set 1 holds node -1"),
        ([[0], []], {}, "anchor-set 1 is empty"),
        ([], {}, "at least one anchor-set"),
        ([[0.5]], {}, "must be a list of node indices"),
        ([[0]], {"cutoff": -1}, "cutoff must be a number >= 0"),
        ([[0]], {"cutoff": float("nan")}, "cutoff must be a number >= 0"),
        ([[0]], {"num_threads": 0}, "num_threads must be a positive integer"),
        (AnchorSets.from_sets([[0]], 4), {}, "of a graph of 4 nodes"),
    ],
)
def test_bad_input_is_one_clear_error(sets, options, message):
    graph = Graph.from_edges([(0, 1), (1, 2)])
    with pytest.raises(PGNNError, match=message):
        anchor_distances(graph, sets, **options)
