"""The repair of one row of hops, and the comparison of two, against plain Python."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pgnn import anchor_distances
from pgnn.pairs.kernels.positions import compare_rows, hops_without_edge
from strategies import graphs_with_sets


def scratch(n):
    return np.zeros(n + 1, dtype=np.int64), np.empty(n, dtype=np.int32)


@settings(max_examples=40)
@given(given_graph=graphs_with_sets(max_nodes=14, directed=False, weighted=False))
def test_repaired_hops_are_those_of_a_search_without_the_edge(given_graph):
    graph, sets = given_graph
    hops = np.asarray(anchor_distances(graph, sets).hops, dtype=np.int32)
    rows, buffers = (graph.indptr, graph.indices), scratch(graph.num_nodes)
    for place, (u, v) in enumerate(graph.edges().tolist()):
        kept = np.arange(graph.num_edges) != place
        wanted = np.asarray(anchor_distances(graph.with_edges(kept), sets).hops)
        for index in range(len(sets)):
            for a, b in ((u, v), (v, u)):
                if hops[a, index] > hops[b, index] >= 0:
                    found = hops_without_edge(rows, hops, index, a, b, 10**6, buffers)
                    assert found == wanted[a, index]
                else:
                    assert hops[a, index] == wanted[a, index]


@st.composite
def two_rows(draw):
    """Rows of hops of any width: those of a long path do not fit in 16 bits."""
    dtype, most = draw(st.sampled_from([(np.int8, 20), (np.int16, 2_000), (np.int32, 900_000)]))
    hops = st.integers(-1, most)
    pairs = draw(st.lists(st.tuples(hops, hops), min_size=1, max_size=70))
    return np.array(pairs, dtype=dtype).T


@given(two_rows())
def test_rows_are_compared_as_written_down(rows):
    a, b = rows
    near = [np.where(x >= 0, 1 / (np.maximum(x, 0) + 1), 0).astype(np.float32) for x in (a, b)]
    out = np.empty(8)
    dot = compare_rows(np.ascontiguousarray(a), np.ascontiguousarray(b), out)
    both = (a >= 0) & (b >= 0)
    assert np.isclose(dot, (near[0].astype(float) * near[1]).sum(), atol=1e-4)
    assert out[5] == both.sum()
    if both.any():
        a, b = a.astype(float), b.astype(float)
        gap = np.abs(a - b)[both]
        wanted = [gap.max(), gap.mean(), np.sqrt((gap**2).mean()), (gap == 0).mean()]
        wanted.append(min((a + b)[both].min(), 64))
        np.testing.assert_allclose(out[:5], wanted, rtol=1e-5, atol=1e-6)
    else:
        assert out[:5].tolist() == [32, 32, 32, 0, 64]
