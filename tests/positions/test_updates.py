"""An update equals a search: edges that arrive, edges that go, new nodes, and who holds arrays."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgnn import AnchorSets, Graph, PGNNError, anchor_distances, sample_anchor_sets
from pgnn.bench.graphs import random_graph
from pgnn.positions import updates
from strategies import graphs_with_sets

EAGER = updates.Bounds(
    reads_share=1, edges_share=1, few_pairs=0
)  # never search if it can be helped
STRICT = updates.Bounds(reads_share=30, edges_share=1, few_pairs=0)  # search some sets


def assert_same(result, wanted):
    np.testing.assert_array_equal(result.nearest, wanted.nearest)
    np.testing.assert_array_equal(result.distance, wanted.distance)
    assert result.distance.dtype == wanted.distance.dtype
    assert (result.hops is None, result.cutoff) == (wanted.hops is None, wanted.cutoff)


def is_update(result):
    """Return whether a result that was not read yet is more than a search."""
    return "_update" in result.__dict__


@pytest.fixture(autouse=True)
def _eager(monkeypatch):
    monkeypatch.setattr(updates, "HOPS", EAGER)
    monkeypatch.setattr(updates, "LENGTHS", EAGER)


def cut(graph, places):
    kept = np.ones(graph.num_edges, dtype=bool)
    kept[list(places)] = False
    return graph.with_edges(kept), graph.edges()[~kept]


@st.composite
def changed_graphs(draw):
    """Draw (graph, sets, places of edges that arrived, places of edges that went)."""
    graph, sets = draw(graphs_with_sets())
    place = st.integers(0, max(0, graph.num_edges - 1))
    most = min(8, graph.num_edges)
    arrived = draw(st.sets(place, max_size=most))
    went = draw(st.sets(place, max_size=most // 2)) - arrived
    return graph, sets, arrived if graph.num_edges else set(), went if graph.num_edges else set()


@pytest.mark.parametrize("bounds", [EAGER, STRICT])
@given(case=changed_graphs(), cutoff=st.none() | st.integers(0, 4))
@settings(max_examples=150)
def test_an_update_equals_a_search(bounds, case, cutoff):
    graph, sets, arrived, went = case
    before, new = cut(graph, arrived)
    after, gone = cut(graph, went)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(updates, "HOPS", bounds)
        patch.setattr(updates, "LENGTHS", bounds)
        earlier = anchor_distances(before, sets, cutoff=cutoff)
        updated = anchor_distances(
            after, sets, cutoff=cutoff, updated_from=(earlier, new), removed_edges=gone
        )
    assert_same(updated, anchor_distances(after, sets, cutoff=cutoff))
    assert_same(earlier, anchor_distances(before, sets, cutoff=cutoff))


@given(seed=st.integers(0, 10**6), tenths=st.booleans())
@settings(max_examples=100)
def test_lengths_that_are_rounded_are_those_of_a_search(seed, tenths):
    rng = np.random.default_rng(seed)
    edges = rng.integers(0, 40, (100, 2))
    weights = rng.integers(1, 12, 100) / 10 if tenths else rng.random(100) + 0.01
    graph = Graph.from_edges(edges, 40, weights=weights, directed=bool(seed % 2))
    before, new = cut(graph, rng.choice(graph.num_edges, 5, replace=False))
    sets = sample_anchor_sets(40, rng=seed)
    earlier = anchor_distances(before, sets)
    assert_same(anchor_distances(graph, sets, updated_from=(earlier, new)),
                anchor_distances(graph, sets))  # fmt: skip


@given(case=graphs_with_sets(max_nodes=16), data=st.data())
def test_new_nodes_lie_behind_the_old_ones(case, data):
    graph, sets = case
    n, count = graph.num_nodes, data.draw(st.integers(1, 5))
    index = st.integers(0, n + count - 1)
    new = np.array(data.draw(st.lists(st.tuples(index, st.integers(n, n + count - 1)), max_size=8)))
    new = new.reshape(-1, 2).astype(np.int64)
    weights = None
    if graph.weights is not None:
        weights = np.concatenate([graph.edge_weights(), np.full(len(new), 0.75)])
    edges = np.concatenate([graph.edges(), new])
    grown = Graph.from_edges(edges, n + count, weights=weights, directed=graph.directed)
    wanted = anchor_distances(grown, list(sets))
    earlier = anchor_distances(graph, sets)
    assert_same(anchor_distances(grown, sets, updated_from=(earlier, new)), wanted)
    assert_same(anchor_distances(grown, list(sets), updated_from=(earlier, new)), wanted)


def test_an_edge_whose_weight_changed_went_and_arrived():
    edges, sets = [(0, 1), (1, 2), (0, 2)], [[0]]
    for before, after in (([1, 1, 5], [1, 1, 0.5]), ([1, 1, 0.5], [1, 1, 5])):
        earlier = anchor_distances(Graph.from_edges(edges, weights=before), sets)
        graph = Graph.from_edges(edges, weights=after)
        changed = {"updated_from": (earlier, [(0, 2)]), "removed_edges": [(2, 0)]}
        assert_same(anchor_distances(graph, sets, **changed), anchor_distances(graph, sets))


def test_hops_take_the_smallest_type_that_holds_them():
    n = 300
    path = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    short, long = Graph.from_edges(path[:100], n), Graph.from_edges(path)
    near, far = anchor_distances(short, [[0]]), anchor_distances(long, [[0]])
    assert (near.hops.dtype, far.hops.dtype) == (np.int8, np.int16)
    assert_same(anchor_distances(long, [[0]], updated_from=(near, path[100:])), far)
    shortcut = Graph.from_edges([*path.tolist(), (0, 250), (0, 150)])
    updated = anchor_distances(shortcut, [[0]], updated_from=(far, [(0, 250), (0, 150)]))
    assert_same(updated, anchor_distances(shortcut, [[0]]))
    assert updated.hops.dtype == np.int8


# ---------------------------------------------------------------------- who holds the arrays


@pytest.fixture
def grown():
    graph = random_graph(200, 800, rng=0)
    before, new = cut(graph, range(0, 800, 100))
    return graph, before, new, sample_anchor_sets(200, rng=0)


def test_an_earlier_result_that_is_held_never_changes(grown):
    graph, before, new, sets = grown
    earlier = anchor_distances(before, sets)
    nearest, hops = earlier.nearest.copy(), earlier.hops.copy()
    updated = anchor_distances(graph, sets, updated_from=(earlier, new))
    assert is_update(updated)
    assert_same(updated, anchor_distances(graph, sets))
    np.testing.assert_array_equal(earlier.nearest, nearest)
    np.testing.assert_array_equal(earlier.hops, hops)


def test_arrays_of_a_result_that_nobody_holds_are_taken_over(grown):
    graph, before, new, sets = grown
    distances = anchor_distances(before, sets)
    address = distances.nearest.ctypes.data, distances.hops.ctypes.data
    distances = anchor_distances(graph, sets, updated_from=(distances, new))
    assert is_update(distances)
    assert (distances.nearest.ctypes.data, distances.hops.ctypes.data) == address
    assert_same(distances, anchor_distances(graph, sets))


@pytest.mark.parametrize("name", ["nearest", "hops"])
def test_an_array_that_is_held_never_changes(grown, name):
    graph, before, new, sets = grown
    earlier = anchor_distances(before, sets)
    view = getattr(earlier, name)[:50]
    values = view.copy()
    updated = anchor_distances(graph, sets, updated_from=(earlier, new))
    del earlier
    assert_same(updated, anchor_distances(graph, sets))
    np.testing.assert_array_equal(view, values)


def test_updates_follow_each_other(grown):
    graph, before, new, sets = grown
    distances = anchor_distances(before, sets)
    edges = before.edges().tolist()
    for edge in new.tolist():
        edges.append(edge)
        now = Graph.from_edges(edges, graph.num_nodes)
        distances = anchor_distances(now, sets, updated_from=(distances, [edge]))
    assert_same(distances, anchor_distances(graph, sets))


@pytest.mark.parametrize(
    "clone", [copy.copy, copy.deepcopy, lambda d: pickle.loads(pickle.dumps(d))]
)
def test_an_update_that_was_not_read_yet_can_be_copied(grown, clone):
    graph, before, new, sets = grown
    updated = anchor_distances(graph, sets, updated_from=(anchor_distances(before, sets), new))
    twin = clone(updated)
    wanted = anchor_distances(graph, sets)
    assert_same(twin, wanted)
    assert_same(updated, wanted)
    assert not hasattr(updated, "lenghts")


# ---------------------------------------------------------------------- when a search is better


def test_many_edges_and_small_graphs_are_searched(grown, monkeypatch):
    graph, before, new, sets = grown
    earlier = anchor_distances(before, sets)

    def updated_with(**changes):
        monkeypatch.setattr(updates, "HOPS", EAGER._replace(**changes))
        result = anchor_distances(graph, sets, updated_from=(earlier, new))
        update = is_update(result)
        assert_same(result, anchor_distances(graph, sets))
        return update

    assert updated_with()
    assert not updated_with(few_pairs=1 << 20)
    assert not updated_with(edges_share=1000)
    assert not updated_with(reads_share=10**6)


# ---------------------------------------------------------------------- what is refused

SQUARE = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)])
OPEN = anchor_distances(Graph.from_edges([(0, 1), (1, 2), (2, 3)]), [[0], [1]])


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"updated_from": OPEN}, "updated_from must be a tuple of .an AnchorDistances, an array"),
        (
            {"updated_from": (1, [])},
            r"updated_from must be a tuple of \(an AnchorDistances, an array\) or None \(got \(1",
        ),
        (
            {"updated_from": (OPEN, [(0, 2)])},
            r"edge \(0, 2\), said to be added, is not in the graph",
        ),
        ({"updated_from": (OPEN, [(0, 9)])}, r"edge \(0, 9\).* must lie in 0..3"),
        ({"updated_from": (OPEN, [0.5])}, r"added must be node indices of shape \[num_edges, 2\]"),
        ({"updated_from": (OPEN, [(3, 0)]), "cutoff": 2}, "was searched with cutoff=None"),
        ({"updated_from": (OPEN, []), "removed_edges": [(0, 1)]}, "removed, is still in the graph"),
        ({"removed_edges": [(0, 1)]}, "removed_edges needs the earlier result, updated_from"),
    ],
)
def test_what_does_not_fit_is_named(changes, match):
    with pytest.raises(PGNNError, match=match):
        anchor_distances(SQUARE, [[0], [1]], **changes)


@pytest.mark.parametrize(
    ("graph", "sets", "match"),
    [
        (SQUARE, [[0]], "distances to 2 sets, but there are 1"),
        (SQUARE, [[0], [2]], "distances to other sets"),
        (Graph.from_edges([(0, 1), (3, 0), (3, 4)]), [[0], [1, 4]], "distances to other sets"),
        (Graph.from_edges([(0, 1)], 3), [[0], [1]], "4 nodes, more than the graph's 3"),
        (
            Graph.from_edges([(3, 0)], weights=[2]),
            [[0], [1]],
            "has hops, but the graph is weighted",
        ),
    ],
)
def test_results_of_something_else_are_refused(graph, sets, match):
    with pytest.raises(PGNNError, match=match):
        anchor_distances(graph, sets, updated_from=(OPEN, [(3, 0)]))


def test_grown_sets_keep_their_members():
    sets = AnchorSets.from_sets([[0, 2], [1]], 3)
    assert [part.tolist() for part in sets.grown(5)] == [[0, 2], [1]]
    assert sets.grown(5).num_nodes == 5
    with pytest.raises(PGNNError, match="num_nodes must be at least 3"):
        sets.grown(2)
