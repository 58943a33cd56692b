"""Dijkstra's search from a set against the oracle, and its heap against sorting."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pgnn.positions.kernels import dijkstra as kernels
from pgnn.positions.reference import reference_distances
from strategies import graphs_with_sets


@given(case=graphs_with_sets(weighted=True), limit=st.sampled_from([np.inf, 0, 1, 2.5]))
def test_search_equals_oracle(case, limit):
    graph, sets = case
    lengths, nearest = reference_distances(graph, sets, limit)
    turned, n = graph.reversed(), graph.num_nodes
    scratch = (np.empty(n), *(np.empty(n, dtype=np.int32) for _ in range(3)))
    for i, anchors in enumerate(sets):
        kernels.dijkstra(turned.indptr, turned.indices, turned.weights, anchors, limit, scratch)
        np.testing.assert_array_equal(scratch[0], lengths[:, i])
        np.testing.assert_array_equal(scratch[1], nearest[:, i])


@given(lengths=st.lists(st.floats(0, 100), min_size=1, max_size=60), data=st.data())
def test_heap_gives_nodes_back_by_length(lengths, data):
    length = np.array(lengths)
    heap = np.empty(len(length), dtype=np.int32)
    place = np.full(len(length), -1, dtype=np.int32)
    size = 0
    for node in range(len(length)):
        size = kernels.rise(heap, place, length, node, size)
    for node in data.draw(st.lists(st.integers(0, len(length) - 1), unique=True)):
        length[node] /= 2  # shrink some that are in the heap already
        size = kernels.rise(heap, place, length, node, size)
    assert size == len(length)
    taken = []
    while size:
        taken.append(int(heap[0]))
        size = kernels.take_first(heap, place, length, size)
    assert sorted(taken) == list(range(len(length)))
    assert length[taken].tolist() == sorted(length.tolist())
