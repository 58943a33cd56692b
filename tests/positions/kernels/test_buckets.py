"""Search by buckets, alone: every width, what it says of itself, and the check of labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgnn import Graph
from pgnn.positions.kernels import buckets as kernels
from pgnn.positions.reference import reference_lengths
from strategies import graphs_with_sets


def rows_of(graph):
    return graph.indptr, graph.indices, graph.weights


def make_scratch(graph):
    n = graph.num_nodes
    words = n // 64 + 1
    shapes = (kernels.BUCKETS, words), (kernels.BUCKETS, words // 64 + 1)
    bitmaps = (np.zeros(shape, dtype=np.uint64) for shape in shapes)
    room = len(graph.indices) + 1
    return *bitmaps, np.empty(n, np.int32), np.empty(room, np.int32), np.empty(room)


@given(
    case=graphs_with_sets(weighted=True),
    limit=st.sampled_from([np.inf, 0, 1, 2.5]),
    width=st.sampled_from([1e-300, 1e-3, 0.3, 1.0, 1e300]),
)
def test_search_equals_oracle_and_leaves_buckets_empty(case, limit, width):
    graph, sets = case
    lengths, nearest = reference_lengths(graph, sets, limit)
    turned, n = graph.reversed(), graph.num_nodes
    scratch = make_scratch(turned)
    length, near = np.empty(n), np.empty(n, dtype=np.int32)
    for i, anchors in enumerate(sets):
        ended = kernels.search_buckets(
            rows_of(turned), anchors, limit, width, 10**9, length, near, scratch
        )
        assert ended in (kernels.SETTLED, kernels.TIED)
        np.testing.assert_array_equal(length, lengths[:, i])
        np.testing.assert_array_equal(near, nearest[:, i])
        assert kernels.is_settled(rows_of(graph), limit, length, near)
        assert not any(bitmap.any() for bitmap in scratch[:2])


@pytest.mark.parametrize("width", [0.01, 0.5])
@pytest.mark.parametrize("num_nodes", [63, 64, 65, 4096, 4097, 9000])
def test_path_of_any_number_of_nodes_is_walked_to_its_end(num_nodes, width):
    ends = np.stack([np.arange(num_nodes - 1), np.arange(1, num_nodes)], axis=1)
    graph = Graph.from_edges(ends, weights=np.full(num_nodes - 1, 0.5))
    length, near = np.empty(num_nodes), np.empty(num_nodes, dtype=np.int32)
    anchors = np.array([0], dtype=np.int32)
    ended = kernels.search_buckets(
        rows_of(graph), anchors, np.inf, width, 10**9, length, near, make_scratch(graph)
    )
    assert ended == kernels.SETTLED
    assert length.tolist() == (np.arange(num_nodes) / 2).tolist()
    assert not near.any()


def test_search_says_how_it_ended():
    graph = Graph.from_edges([(0, 1), (1, 2)], weights=[1.0, 1.0])
    length, near = np.empty(3), np.empty(3, dtype=np.int32)

    def end(anchors, max_offers=100):
        return kernels.search_buckets(
            rows_of(graph), np.array(anchors, dtype=np.int32), np.inf, 1.0, max_offers,
            length, near, make_scratch(graph),
        )  # fmt: skip

    assert end([0]) == kernels.SETTLED
    assert end([0, 2]) == kernels.TIED
    assert end([0], max_offers=1) == kernels.GAVE_UP


@pytest.mark.parametrize("change", ["length", "nearest", "tiny"])
def test_labels_that_neighbours_do_not_offer_are_not_settled(change):
    weights = [1.0, 1e-17 if change == "tiny" else 2.0]
    graph = Graph.from_edges([(0, 1), (1, 2)], weights=weights)
    length, near = np.array([0.0, 1.0, 1.0 + weights[1]]), np.zeros(3, dtype=np.int32)
    assert kernels.is_settled(rows_of(graph), np.inf, length, near) == (change != "tiny")
    if change == "length":
        length[2] = 2.5
    if change == "nearest":
        near[2] = 1
    assert not kernels.is_settled(rows_of(graph), np.inf, length, near)


def test_columns_are_written_side_by_side():
    out = np.zeros((3, 4))
    kernels.write_columns(np.arange(9.0).reshape(3, 3), 1, 2, out)
    assert out.tolist() == [[0, 0, 3, 0], [0, 1, 4, 0], [0, 2, 5, 0]]
