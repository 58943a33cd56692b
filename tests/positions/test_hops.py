"""Hop distances against the oracle, scipy and networkx, and the invariants that must hold."""

from contextlib import contextmanager
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra

from pgnn import AnchorSets, Graph, PGNNError, anchor_distances, sample_anchor_sets
from pgnn.positions import hops as _hops
from pgnn.positions.reference import reference_distances
from strategies import anchor_sets, graphs, graphs_with_sets


def assert_same(found, distance, nearest):
    expected = np.where(np.isinf(distance), -1, distance)
    np.testing.assert_array_equal(found.hops, expected)
    np.testing.assert_array_equal(found.nearest, nearest)


@contextmanager
def only(kernel):
    """Let one kernel do all the work: the rule's choice, or a later one of its choices."""
    with pytest.MonkeyPatch.context() as patch:
        if "without ranks" in kernel:
            patch.setattr(_hops, "MAX_RANKED", 0)
        if "push" in kernel:
            patch.setattr(_hops, "PUSH_ADVANTAGE", 0)
        if "pull" in kernel:
            patch.setattr(_hops, "PUSH_ADVANTAGE", 1 << 40)
        if kernel.startswith(("sweeps", "queue")):
            patch.setattr(_hops, "search_by_levels", lambda job: None)
        if kernel.startswith("queue"):
            patch.setattr(_hops, "MAX_VISITS", -1)
        if "64 bits" in kernel:
            sweeps = _hops.search_by_sweeps
            wide = lambda job, key_type, hops_type: (  # noqa: E731
                sweeps(job, key_type, hops_type) if key_type is np.uint64 else None
            )
            patch.setattr(_hops, "search_by_sweeps", wide)
        yield


KERNELS = [
    "rule",
    "levels: push",
    "levels: pull",
    "levels without ranks: push",
    "levels without ranks: pull",
    "sweeps",
    "sweeps of 64 bits",
    "queue",
    "queue of 64 bits",
]


@pytest.mark.parametrize("kernel", KERNELS)
@given(case=graphs_with_sets(weighted=False), cutoff=st.none() | st.integers(0, 5))
def test_hops_equal_oracle(kernel, case, cutoff):
    graph, sets = case
    with only(kernel):
        found = anchor_distances(graph, sets, cutoff=cutoff)
    assert_same(found, *reference_distances(graph, sets, np.inf if cutoff is None else cutoff))


def assert_equals_scipy(graph, sets, **options):
    """Compare with scipy's search from each set, and the nearest anchor with its definition."""
    found = anchor_distances(graph, sets, **options)
    apart = dijkstra(graph.to_scipy(), unweighted=True)  # [from, to]
    for i, anchors in enumerate(sets):
        distance = apart[:, anchors].min(axis=1)
        lowest = np.where(np.isinf(distance), -1, anchors[apart[:, anchors].argmin(axis=1)])
        np.testing.assert_array_equal(found.hops[:, i], np.where(np.isinf(distance), -1, distance))
        np.testing.assert_array_equal(found.nearest[:, i], lowest)
    return found


def random_edges(num_nodes, num_edges, seed):
    return np.random.default_rng(seed).integers(0, num_nodes, (num_edges, 2))


def maze(side, seed):
    """A grid that lost a third of its edges."""
    edges = Graph.from_networkx(nx.grid_2d_graph(side, side)).edges()
    return Graph.from_edges(edges[np.random.default_rng(seed).random(len(edges)) < 0.65], side**2)


FAMILIES = {
    "random": Graph.from_edges(random_edges(700, 2500, 0), 700),
    "random directed": Graph.from_edges(random_edges(700, 2500, 1), 700, directed=True),
    "many components": Graph.from_edges(random_edges(700, 420, 2), 700),
    "islands": Graph.from_networkx(nx.caveman_graph(40, 15)),
    "grid": Graph.from_networkx(nx.grid_2d_graph(26, 27)),
    "long strip": Graph.from_networkx(nx.grid_2d_graph(3, 230)),
    "maze": maze(30, 15),
    "tree": Graph.from_networkx(nx.random_labeled_tree(600, seed=3)),
    "caveman": Graph.from_networkx(nx.connected_caveman_graph(30, 20)),
    "hubs": Graph.from_networkx(nx.barabasi_albert_graph(800, 3, seed=4)),
    "star": Graph.from_networkx(nx.star_graph(300)),
    "directed cycle": Graph.from_networkx(nx.cycle_graph(300, create_using=nx.DiGraph)),
}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", FAMILIES)
def test_hops_equal_scipy_on_families(name, kernel):
    graph = FAMILIES[name]
    with only(kernel):
        assert_equals_scipy(graph, sample_anchor_sets(graph.num_nodes, rng=5))


@given(case=graphs_with_sets(weighted=False))
def test_hops_equal_networkx(case):
    graph, sets = case
    found = anchor_distances(graph, sets)
    theirs = graph.to_networkx().reverse() if graph.directed else graph.to_networkx()
    for i, anchors in enumerate(sets):
        lengths = nx.multi_source_dijkstra_path_length(theirs, set(anchors.tolist()), weight=None)
        expected = [lengths.get(v, -1) for v in range(graph.num_nodes)]
        assert found.hops[:, i].tolist() == expected


@given(case=graphs_with_sets(weighted=False))
def test_nearest_is_member_at_that_distance(case):
    graph, sets = case
    found = anchor_distances(graph, sets)
    apart = dijkstra(graph.to_scipy(), unweighted=True)
    for i, anchors in enumerate(sets):
        reached = found.hops[:, i] >= 0
        nearest = found.nearest[reached, i]
        assert np.isin(nearest, anchors).all()
        assert (apart[np.flatnonzero(reached), nearest] == found.hops[reached, i]).all()
        assert (found.nearest[~reached, i] == -1).all()


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
    found = assert_equals_scipy(graph, AnchorSets.from_sets([[end]], num_nodes))
    assert found.hops.max() == num_nodes - 1
    assert found.hops.dtype == dtype


def test_path_longer_than_16_bits_is_exact():
    num_nodes = 40_000
    edges = np.stack([np.arange(num_nodes - 1), np.arange(1, num_nodes)], axis=1)
    found = anchor_distances(Graph.from_edges(edges), [[0], [num_nodes - 1, 17]])
    steps = np.arange(num_nodes)
    assert found.hops.dtype == np.int32
    np.testing.assert_array_equal(found.hops[:, 0], steps)
    expected = np.minimum(np.abs(steps - 17), num_nodes - 1 - steps)
    np.testing.assert_array_equal(found.hops[:, 1], expected)


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
    monkeypatch.setattr(_hops, "MAX_VISITS", 6)  # a maze as small as this one settles before 16
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
        progress=lambda done, total: calls.append((done, total)),
    )
    assert len(calls) > 1
    assert calls[-1] == (len(sets), len(sets))
    assert [done for done, _ in calls] == sorted({done for done, _ in calls})


def test_progress_does_not_fall_when_a_search_starts_anew():
    graph, calls = FAMILIES["long strip"], []
    everything = list(range(graph.num_nodes))
    sets = [[0]] * 16 + [everything] * 32  # the last block is near, the first too far for levels
    anchor_distances(graph, sets, progress=lambda done, total: calls.append(done))
    assert calls == sorted(set(calls))
    assert calls[-1] == 48


def test_failing_progress_stops_the_search(monkeypatch):
    monkeypatch.setattr(_hops, "SERIAL_PAIRS", 0)

    def fail(done, total):
        raise RuntimeError("stop here")

    graph = FAMILIES["random"]
    sets = sample_anchor_sets(graph.num_nodes, rng=14)
    with pytest.raises(RuntimeError, match="stop here"):
        anchor_distances(graph, sets, num_threads=2, progress=fail)


def test_single_node_is_its_own_anchor():
    found = anchor_distances(Graph.from_edges([], num_nodes=1), sample_anchor_sets(1, rng=0))
    assert found.hops.tolist() == [[0]]
    assert found.nearest.tolist() == [[0]]


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
