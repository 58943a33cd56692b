"""Weighted distances against the oracle, scipy and networkx."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra

from pgnn import Graph, anchor_distances, sample_anchor_sets
from pgnn.positions import weighted
from pgnn.positions.kernels import buckets
from pgnn.positions.reference import reference_distances, reference_lengths
from strategies import anchor_sets, graphs_with_sets

# Lengths that are rounded, that vanish beside others, and that overflow.
ANY_WEIGHT = (
    st.floats(0.1, 1.1)
    | st.integers(1, 3).map(float)
    | st.floats(5e-324, 1e-300)
    | st.sampled_from([1e-9, 1.0, 1.0 + 2**-52, 1e9, 1e17, 1e300, 1.7e308])
)


@st.composite
def graphs_of_any_weights(draw):
    """A graph, one kind of weights or all kinds in it, and anchor-sets."""
    n = draw(st.integers(1, 16))
    index = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(index, index), max_size=4 * n))
    weight = draw(st.sampled_from([ANY_WEIGHT, st.floats(0.1, 1.1), st.sampled_from([0.1, 0.2])]))
    weights = draw(st.lists(weight, min_size=len(edges), max_size=len(edges)))
    pairs = np.array(edges, dtype=np.int64).reshape(-1, 2)
    graph = Graph.from_edges(pairs, n, weights=weights, directed=draw(st.booleans()))
    return graph, draw(anchor_sets(n))


@given(
    case=graphs_of_any_weights(),
    cutoff=st.sampled_from([None, 0, 0.3, 1, 1e10]),
    threads=st.integers(1, 3),
    width=st.sampled_from([None, 1e-300, 0.05, 0.3, 1e308]),
)
def test_lengths_of_any_weights_equal_their_definition(case, cutoff, threads, width):
    graph, sets = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(weighted, "SERIAL_PAIRS", 0)
        if width is not None:
            patch.setattr(weighted, "bucket_width", lambda _: width)
        result = anchor_distances(graph, sets, cutoff=cutoff, num_threads=threads)
    lengths, nearest = reference_lengths(graph, sets, np.inf if cutoff is None else cutoff)
    np.testing.assert_array_equal(result.lengths, lengths)
    np.testing.assert_array_equal(result.nearest, nearest)


@given(
    case=graphs_with_sets(weighted=True),
    cutoff=st.sampled_from([None, 0, 0.25, 1, 2.5, 10]),
)
def test_lengths_equal_oracle(case, cutoff):
    graph, sets = case
    result = anchor_distances(graph, sets, cutoff=cutoff)
    lengths, nearest = reference_distances(graph, sets, np.inf if cutoff is None else cutoff)
    assert result.hops is None
    np.testing.assert_array_equal(result.lengths, lengths)
    np.testing.assert_array_equal(result.nearest, nearest)


@given(case=graphs_with_sets(weighted=True))
def test_lengths_equal_networkx(case):
    graph, sets = case
    result = anchor_distances(graph, sets)
    theirs = graph.to_networkx().reverse() if graph.directed else graph.to_networkx()
    for i, anchors in enumerate(sets):
        lengths = nx.multi_source_dijkstra_path_length(theirs, set(anchors.tolist()))
        expected = [lengths.get(v, np.inf) for v in range(graph.num_nodes)]
        np.testing.assert_allclose(result.lengths[:, i], expected)


def random_weighted(directed):
    rng = np.random.default_rng(1)
    weights = np.exp(rng.normal(0, 3, 2400))
    return Graph.from_edges(
        rng.integers(0, 600, (2400, 2)), 600, weights=weights, directed=directed
    )


@pytest.mark.parametrize("directed", [False, True])
def test_lengths_equal_scipy_with_any_weights(directed):
    graph = random_weighted(directed)
    sets = sample_anchor_sets(600, rng=2)
    result = anchor_distances(graph, sets)
    apart = dijkstra(graph.to_scipy())
    for i, anchors in enumerate(sets):
        np.testing.assert_allclose(result.lengths[:, i], apart[:, anchors].min(axis=1))
        reached = np.flatnonzero(np.isfinite(result.lengths[:, i]))
        nearest = result.nearest[reached, i]
        assert np.isin(nearest, anchors).all()
        np.testing.assert_allclose(apart[reached, nearest], result.lengths[reached, i])


@pytest.mark.parametrize("directed", [False, True])
def test_buckets_find_what_the_heap_finds(directed, monkeypatch):
    graph = random_weighted(directed)
    sets = sample_anchor_sets(600, rng=2)
    by_buckets = anchor_distances(graph, sets)
    monkeypatch.setattr(weighted, "MAX_OFFERS", 0)
    by_heap = anchor_distances(graph, sets)
    np.testing.assert_array_equal(by_buckets.lengths, by_heap.lengths)
    np.testing.assert_array_equal(by_buckets.nearest, by_heap.nearest)


@pytest.mark.parametrize("directed", [False, True])
def test_heap_is_not_used_where_buckets_do(directed, monkeypatch):
    graph = random_weighted(directed)
    monkeypatch.setattr(weighted, "dijkstra", None)
    anchor_distances(graph, sample_anchor_sets(600, rng=2))
    whole = Graph.from_edges(graph.edges(), 600, weights=np.ceil(graph.edge_weights()))
    anchor_distances(whole, sample_anchor_sets(600, rng=2))


def test_withdrawn_anchor_is_not_named():
    # Node 4 hears of anchor 0 by node 3, which then turns out to be nearer to anchor 1. Its length
    # does not show that: 2**53 + 0.75 and 2**53 + 0.4 round to the same.
    edges, weights = [(0, 3), (1, 2), (2, 5), (5, 3), (3, 4)], [0.75, 0.2, 0.1, 0.1, 2.0**53]
    graph = Graph.from_edges(edges, weights=weights)
    result = anchor_distances(graph, [[0, 1]])
    assert result.lengths[4, 0] == 2.0**53
    assert result.nearest[:, 0].tolist() == [0, 1, 1, 1, 1, 1]


def test_wider_range_of_weights_than_buckets_is_exact():
    # Buckets are as wide as the light edges are long; the heavy ones lead far beyond all of them.
    rng = np.random.default_rng(7)
    weights = np.where(rng.random(3000) < 0.4, 1e-7, 1) * (0.5 + rng.random(3000))
    graph = Graph.from_edges(rng.integers(0, 800, (3000, 2)), 800, weights=weights)
    sets = sample_anchor_sets(800, rng=2)
    result = anchor_distances(graph, sets)
    for i in (0, len(sets) - 1):
        lengths, _, _ = dijkstra(
            graph.to_scipy(), indices=sets[i], min_only=True, return_predecessors=True
        )
        np.testing.assert_array_equal(result.lengths[:, i], lengths)


@pytest.mark.parametrize(
    ("weights", "exact"),
    [
        ([1.0, 3.0, 0.25], True),
        ([1.0, 3.0, 0.1], False),
        ([1.0, 2.0**35], True),
        ([1.0, 2.0**36], False),
        ([1.0, 2.0**-17], False),
        ([1.0, 1e308], False),
    ],
)
def test_sums_of_whole_numbers_are_exact_unless_they_are_huge(weights, exact):
    edges = [(node, node + 1) for node in range(len(weights))]
    assert weighted.sums_are_exact(Graph.from_edges(edges, weights=weights)) == exact


def test_labels_are_checked_only_if_sums_were_rounded(monkeypatch):
    checked = []
    monkeypatch.setattr(buckets, "is_settled", lambda *_: checked.append(1) or True)
    for weight, count in ((1.0, 0), (0.1, 1)):
        anchor_distances(Graph.from_edges([(0, 1), (1, 2)], weights=[weight] * 2), [[0, 2]])
        assert len(checked) == count


def test_bucket_is_as_wide_as_two_edges_per_node():
    weights = np.arange(1, 1001) / 1000
    edges = np.random.default_rng(0).integers(0, 100, (1000, 2))
    graph = Graph.from_edges(edges, 100, weights=weights, directed=True)
    width = weighted.bucket_width(graph)
    assert abs((graph.weights <= width).sum() - 200) <= 2
    assert weighted.bucket_width(Graph.from_edges(np.empty((0, 2), int), 3, weights=[])) > 0


def test_search_is_left_between_sets(monkeypatch):
    searched = []
    search = buckets.search_buckets

    def count(*args):
        searched.append(1)
        return search(*args)

    def leave():
        if len(searched) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(buckets, "search_buckets", count)
    monkeypatch.setattr(weighted, "leave_if_stopped", leave)
    with pytest.raises(KeyboardInterrupt):
        anchor_distances(random_weighted(False), sample_anchor_sets(600, rng=2), num_threads=1)
    assert len(searched) == 3


def test_threads_do_not_change_lengths():
    graph = random_weighted(directed=True)
    sets = sample_anchor_sets(600, rng=3)
    one, three = (anchor_distances(graph, sets, num_threads=threads) for threads in (1, 3))
    np.testing.assert_array_equal(one.lengths, three.lengths)
    np.testing.assert_array_equal(one.nearest, three.nearest)


def test_weights_of_one_give_the_hops():
    edges = np.random.default_rng(4).integers(0, 300, (700, 2))
    sets = sample_anchor_sets(300, rng=5)
    hops = anchor_distances(Graph.from_edges(edges, 300), sets)
    weighted = Graph.from_edges(edges, 300, weights=np.ones(700))
    result = anchor_distances(weighted, sets)
    np.testing.assert_array_equal(result.lengths, np.where(hops.hops < 0, np.inf, hops.hops))
    np.testing.assert_array_equal(result.nearest, hops.nearest)


def test_weight_that_rounds_to_nothing_still_names_the_lowest_anchor():
    # 1e9 + 1e-9 == 1e9: nodes 2 and 3 are equally far from both anchors, whoever is searched first.
    graph = Graph.from_edges([(0, 2), (1, 3), (2, 3)], weights=[1e9, 1e9, 1e-9])
    result = anchor_distances(graph, [[0, 1]])
    assert result.nearest[:, 0].tolist() == [0, 1, 0, 0]
