"""Kernels that update labels, each against loops in Python that say the same."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pgnn import Graph, anchor_distances
from pgnn.positions.kernels import update as kernels
from strategies import graphs_with_sets


def labels_of(graph, sets, cutoff=None):
    earlier = anchor_distances(graph, sets, cutoff=cutoff)
    return earlier.distance, earlier.nearest


def label(labels, node, number):
    """Return (length, anchor) of an entry, as tuples compare."""
    distance, nearest = labels
    if node >= len(nearest) or nearest[node, number] < 0:
        return (math.inf, -1)
    return (float(distance[node, number]), int(nearest[node, number]))


@st.composite
def steps_of(draw, num_nodes):
    index = st.integers(0, num_nodes - 1)
    steps = draw(st.lists(st.tuples(index, index, st.sampled_from([0.25, 1.0, 2.0])), max_size=12))
    to, origin, length = zip(*steps, strict=True) if steps else ((), (), ())
    return (
        np.array(to, dtype=np.int32),
        np.array(origin, dtype=np.int32),
        np.array(length, dtype=np.float64),
    )


@given(case=graphs_with_sets(max_nodes=10))
def test_entries_are_found_where_an_edge_is(case):
    graph, _ = case
    n = graph.num_nodes
    source, target = (part.ravel().astype(np.int32) for part in np.indices((n, n)))
    places = np.empty(n * n, dtype=np.int64)
    kernels.find_entries(graph.indptr, graph.indices, source, target, places)
    for u, v, place in zip(source.tolist(), target.tolist(), places.tolist(), strict=True):
        if v in graph.neighbors(u):
            assert graph.indptr[u] <= place < graph.indptr[u + 1]
            assert graph.indices[place] == v
        else:
            assert place == -1


@given(case=graphs_with_sets(max_nodes=12), data=st.data(), limit=st.sampled_from([1, 3, np.inf]))
def test_offers_are_those_that_are_better(case, data, limit):
    graph, sets = case
    labels = labels_of(graph, sets)
    steps = data.draw(steps_of(graph.num_nodes + 2))  # two nodes are new
    wanted = []
    for to, origin, length in zip(*(part.tolist() for part in steps), strict=True):
        for number in range(len(sets)):
            near, anchor = label(labels, to, number)
            if near + length > limit or anchor < 0:
                continue
            if (near + length, anchor) < label(labels, origin, number):
                wanted.append((number, origin, near + length, anchor, to))
    room = len(wanted)
    offers = (*(np.empty(room, dtype=np.int32) for _ in range(2)), np.empty(room))
    offers = (*offers, *(np.empty(room, dtype=np.int32) for _ in range(2)))
    assert kernels.list_offers(steps, labels, limit, offers) == len(wanted)
    assert list(zip(*(part.tolist() for part in offers), strict=True)) == wanted
    if wanted:
        less = tuple(part[:-1] for part in offers)
        assert kernels.list_offers(steps, labels, limit, less) == -1


@given(case=graphs_with_sets(max_nodes=12), data=st.data())
def test_labels_are_broken_that_may_have_come_by_an_edge(case, data):
    graph, sets = case
    labels = labels_of(graph, sets)
    steps = data.draw(steps_of(graph.num_nodes + 1))
    weighted = graph.weights is not None
    wanted = []
    for to, origin in zip(steps[0].tolist(), steps[1].tolist(), strict=True):
        for number in range(len(sets)):
            near, anchor = label(labels, to, number)
            far, other_anchor = label(labels, origin, number)
            fits = near <= far if weighted else near + 1 == far
            if anchor >= 0 and anchor == other_anchor != origin and fits:
                wanted.append((number, origin))
    broken = np.empty(len(wanted), dtype=np.int32), np.empty(len(wanted), dtype=np.int32)
    assert kernels.list_broken(steps, labels, weighted, broken) == len(wanted)
    assert list(zip(*(part.tolist() for part in broken), strict=True)) == wanted
    if wanted:
        less = broken[0][:-1], broken[1][:-1]
        assert kernels.list_broken(steps, labels, weighted, less) == -1


def update(graph, labels, offers=(), broken=(), *, max_reads=1000, num_slots=1000, limit=np.inf):
    """Update the labels of one set; returns fate and changes.

    Offers are (node, length, anchor, from), broken labels nodes.
    """
    nodes, lengths, anchors, makers = zip(*offers, strict=True) if offers else ((),) * 4
    packed = (
        np.array([0, len(nodes)]),
        np.array(nodes, dtype=np.int32),
        np.array(lengths, dtype=np.float64),
        np.array(anchors, dtype=np.int32),
        np.array(makers, dtype=np.int32),
    )
    lost = np.array([0, len(broken)]), np.array(broken, dtype=np.int32)
    n = graph.num_nodes
    slot_of = np.full(n, -1, dtype=np.int32)
    lists = [np.empty(num_slots, dtype=np.int32) for _ in range(4)]
    scratch = (slot_of, lists[0], np.empty(num_slots), lists[1], lists[2], lists[3])
    fate, bounds = np.zeros(1, dtype=np.uint8), np.zeros((1, 2), dtype=np.int64)
    weights = np.empty(0) if graph.weights is None else graph.weights
    rows = (graph.indptr, graph.indices, weights) * 2
    kernels.update_labels(
        (0, 1), packed, lost, rows, labels, graph.weights is not None, limit, max_reads, fate,
        bounds, scratch,
    )  # fmt: skip
    assert (slot_of == -1).all()
    changed = slice(*bounds[0])
    parts = (scratch[1][changed], scratch[2][changed], scratch[3][changed])
    return int(fate[0]), sorted(zip(*(part.tolist() for part in parts), strict=True))


RING = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)])
PATH = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 4)])


def test_labels_are_lowered_until_an_offer_is_no_better():
    labels = labels_of(PATH, [[0]])
    assert update(RING, labels, [(4, 1, 0, 0)]) == (kernels.KEPT, [(3, 2.0, 0), (4, 1.0, 0)])
    assert update(RING, labels, [(4, 1, 0, 0)], limit=1) == (kernels.KEPT, [(4, 1.0, 0)])


def test_labels_without_support_are_raised_and_others_stay():
    labels = labels_of(RING, [[0]])
    assert update(PATH, labels, broken=[4]) == (kernels.KEPT, [(3, 3.0, 0), (4, 4.0, 0)])
    assert update(RING, labels, broken=[4]) == (kernels.KEPT, [(4, 1.0, 0)])  # 0 supports it still
    ends = Graph.from_edges([(0, 1), (2, 3), (3, 4)])
    fate, changes = update(ends, labels_of(PATH, [[0]]), broken=[2])
    assert fate == kernels.KEPT
    assert changes == [(2, np.inf, -1), (3, np.inf, -1), (4, np.inf, -1)]


def test_a_node_that_was_raised_does_not_offer_what_it_had():
    # The edge 0 - 1 went and the edge 1 - 4 came: 1 is not near any more when it offers to 4.
    labels = labels_of(PATH, [[0]])
    graph = Graph.from_edges([(1, 2), (2, 3), (3, 4), (1, 4)])
    fate, changes = update(graph, labels, [(4, 2, 0, 1)], broken=[1])
    assert fate == kernels.KEPT
    assert changes == [(node, np.inf, -1) for node in (1, 2, 3, 4)]


def test_a_set_that_needs_too_much_is_to_be_searched():
    labels = labels_of(PATH, [[0]])
    assert update(RING, labels, [(4, 1, 0, 0)], max_reads=3) == (kernels.SEARCH, [])
    assert update(RING, labels, [(4, 1, 0, 0)], num_slots=1) == (kernels.SEARCH, [])
    assert update(RING, labels, [(4, 1, 0, 0)], max_reads=4)[0] == kernels.KEPT
    labels = labels_of(RING, [[0]])
    assert update(PATH, labels, broken=[4], max_reads=1) == (kernels.SEARCH, [])
    assert update(PATH, labels, broken=[4], num_slots=1) == (kernels.SEARCH, [])


def test_a_label_whose_source_improved_past_rounding_is_searched():
    # 0.1 + 0.2 is above 0.3 by a rounding; 1 further both are 1.3. The lower anchor was rounded.
    edges, weights = [(0, 1), (1, 3), (3, 4), (2, 3)], [0.1, 0.2, 1.0, 0.3]
    earlier = Graph.from_edges(edges[:3], 5, weights=weights[:3])
    graph = Graph.from_edges(edges, 5, weights=weights)
    labels = labels_of(earlier, [[0, 2]])
    assert update(graph, labels, [(3, 0.3, 2, 2)]) == (kernels.SEARCH, [])


def test_changes_are_written_to_their_entries():
    distance, nearest = np.zeros((3, 2), dtype=np.int8), np.zeros((3, 2), dtype=np.int32)
    numbers, nodes = np.array([1, 0], dtype=np.int32), np.array([2, 0], dtype=np.int32)
    anchors = np.array([7, -1], dtype=np.int32)
    changes = numbers, nodes, np.array([3.0, np.inf]), anchors
    kernels.write_changes(changes, -1.0, distance, nearest)
    assert distance.tolist() == [[-1, 0], [0, 0], [0, 3]]
    assert nearest.tolist() == [[-1, 0], [0, 0], [0, 7]]
