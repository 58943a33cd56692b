"""Rows: the distinct edges, sorted, and what a repeated one weighs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgnn import Graph, PGNNError
from pgnn.graph import arrays
from pgnn.graph.arrays import build_csr, occurrences


@given(data=st.data(), directed=st.booleans())
def test_rows_hold_exactly_the_distinct_edges(data, directed):
    num_nodes = data.draw(st.integers(1, 12))
    index = st.integers(0, num_nodes - 1)
    pairs = data.draw(st.lists(st.tuples(index, index), max_size=40))
    graph = Graph.from_edges(
        np.array(pairs, dtype=int).reshape(-1, 2), num_nodes, directed=directed
    )
    loops = sum(u == v for u, v in pairs)
    distinct = {(u, v) if directed else (min(u, v), max(u, v)) for u, v in pairs if u != v}
    assert {tuple(edge) for edge in graph.edges().tolist()} == distinct
    assert graph.num_edges == len(distinct)
    assert graph.dropped_self_loops == loops
    assert graph.dropped_repeats == len(pairs) - loops - len(distinct)
    for v in range(num_nodes):
        targets = {b for a, b in distinct if a == v}
        if not directed:
            targets |= {a for a, b in distinct if b == v}
        assert graph.neighbors(v).tolist() == sorted(targets)
    assert graph.degrees.sum() == len(graph.indices)


def test_repeated_weighted_edge_keeps_the_smallest_weight():
    graph = Graph.from_edges([(0, 1), (1, 0), (0, 1)], weights=[3.0, 1.0, 2.0])
    assert graph.weights.tolist() == [1.0, 1.0]
    assert graph.dropped_repeats == 2


@given(data=st.data(), directed=st.booleans(), repeats=st.sampled_from(["shortest", "sum"]))
def test_repeated_edges_weigh_the_shortest_or_the_sum(data, directed, repeats):
    index = st.integers(0, 4)
    quarter = st.integers(1, 12).map(lambda count: count / 4)  # exact sums in any order
    triples = data.draw(st.lists(st.tuples(index, index, quarter), min_size=1, max_size=20))
    graph = Graph.from_edges(
        [(u, v) for u, v, _ in triples],
        num_nodes=5,
        weights=[w for *_, w in triples],
        directed=directed,
        repeats=repeats,
    )
    listed = {}
    for u, v, w in triples:
        if u != v:
            listed.setdefault((u, v) if directed else (min(u, v), max(u, v)), []).append(w)
    combine = sum if repeats == "sum" else min
    expected = {edge: combine(weights) for edge, weights in listed.items()}
    edges = map(tuple, graph.edges().tolist())
    assert dict(zip(edges, graph.edge_weights().tolist(), strict=True)) == expected
    assert graph.dropped_repeats == sum(len(weights) - 1 for weights in listed.values())


def test_repeated_strengths_add_up_and_are_counted():
    edges, strengths = [(0, 1), (1, 0), (0, 1)], [3.0, 1.0, 2.0]
    graph = Graph.from_edges(edges, weights=strengths, repeats="sum")
    assert graph.edge_weights().tolist() == [6.0]
    assert graph.dropped_repeats == 2


def test_unknown_rule_for_repeats_is_refused():
    with pytest.raises(PGNNError, match="repeats must be one of shortest, sum"):
        Graph.from_edges([(0, 1)], repeats="longest")


@given(st.data(), st.booleans(), st.booleans(), st.integers(1, 9))
def test_rows_are_the_same_in_small_blocks_and_in_the_memory_of_the_pairs(
    data, directed, is_weighted, block
):
    num_nodes = data.draw(st.integers(1, 12))
    node = st.integers(0, num_nodes - 1)
    edges = data.draw(st.lists(st.tuples(node, node), max_size=60))
    pairs = np.array(edges, dtype=np.int32).reshape(-1, 2)
    weights = np.arange(1.0, len(pairs) + 1) if is_weighted else None
    whole = build_csr(pairs, weights, num_nodes, directed, "sum")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrays, "_BLOCK_EDGES", block)
        kept = build_csr(pairs, weights, num_nodes, directed, "sum")
        assert pairs.tolist() == [list(edge) for edge in edges]
        used_up = build_csr(pairs, weights, num_nodes, directed, "sum", overwrite=True)
        counts = occurrences(np.array(edges, dtype=np.int32).reshape(-1, 2), num_nodes)
    for rows in (kept, used_up):
        for one, other in zip(rows, whole, strict=True):
            assert np.array_equal(one, other)
    assert counts.tolist() == [sum(edge.count(v) for edge in edges) for v in range(num_nodes)]


def test_pairs_that_are_a_view_are_not_used_up():
    pairs = np.arange(8, dtype=np.int32).reshape(-1, 2)[1:]
    build_csr(pairs, None, 8, False, overwrite=True)
    assert pairs.tolist() == [[2, 3], [4, 5], [6, 7]]
