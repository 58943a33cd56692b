"""All columns of a pair together: scales, the own edge, directions and weights."""

import numpy as np
import pytest
from hypothesis import given, settings

from pgnn import Graph, PGNNError
from pgnn.pairs.columns import (
    MAX_COMPONENT,
    MAX_HOPS,
    blocks_of_pairs,
    column_names,
    describe_pairs,
    kind_of_links,
    turned_columns,
    undirected,
)
from strategies import graphs


def all_pairs(n):
    return np.array([(u, v) for u in range(n) for v in range(u + 1, n)])


@settings(max_examples=15)
@given(graph=graphs(max_nodes=10))
def test_columns_are_finite_and_the_same_for_a_pair_that_is_joined_or_not(graph):
    pairs = all_pairs(graph.num_nodes)
    if not len(pairs):
        return
    columns = describe_pairs(graph, pairs)
    assert columns.values.shape == (len(pairs), len(column_names()))
    assert np.isfinite(columns.values).all()
    plain = undirected(graph) if graph.directed else graph
    centred = column_names().index("position_cosine_centred")
    kept = np.arange(len(column_names())) != centred  # its mean over nodes is that of the graph
    for place, edge in enumerate(plain.edges().tolist()):
        without = plain.with_edges(np.arange(plain.num_edges) != place)
        row = np.flatnonzero((pairs == edge).all(axis=1))[0]
        alone = describe_pairs(without, np.array([edge])).values[0]
        core = [name.startswith("core") for name in column_names()]  # documented as inexact
        same = kept & ~np.array(core)
        np.testing.assert_allclose(columns.values[row][same], alone[same], atol=2e-3)


def test_components_and_hops_are_capped():
    path = Graph.from_edges([(v, v + 1) for v in range(99)] + [(100, 101)])
    values = describe_pairs(path, np.array([(0, 50), (100, 101), (0, 100)])).values
    columns = dict(zip(column_names(), values.T, strict=True))
    assert columns["hops"].max() == MAX_HOPS + 1
    assert np.isclose(columns["component_max"].max(), np.log1p(MAX_COMPONENT))
    assert columns["same_component"].tolist() == [1, 0, 0]


def test_undirected_adds_up_weights_of_both_directions():
    graph = Graph.from_edges(
        [(0, 1), (1, 0), (1, 2)], weights=[1.0, 2.0, 4.0], directed=True, y=[5, 6, 7]
    )
    plain = undirected(graph)
    assert not plain.directed
    assert plain.edges().tolist() == [[0, 1], [1, 2]]
    assert plain.edge_weights().tolist() == [3.0, 4.0]
    assert plain.y.tolist() == [5, 6, 7]


@pytest.mark.parametrize("size", [1, 3, 100])
def test_blocks_hold_all_pairs_in_order(size):
    pairs = all_pairs(6)
    blocks = list(blocks_of_pairs(pairs, size))
    assert np.array_equal(np.concatenate(blocks), pairs)
    assert max(len(block) for block in blocks) <= size


def test_weights_as_strengths_and_as_lengths_are_inverse():
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]
    weights = np.array([1.0, 2.0, 4.0, 0.5, 1.0])
    strong = Graph.from_edges(edges, weights=weights)
    long = Graph.from_edges(edges, weights=1 / weights)
    pairs = np.array([(1, 3)])
    np.testing.assert_allclose(
        describe_pairs(strong, pairs, weights="strength").values,
        describe_pairs(long, pairs, weights="length").values,
        atol=1e-5,
    )


@settings(max_examples=12)
@given(graph=graphs(max_nodes=9, directed=True))
def test_ordered_columns_do_not_know_their_own_edge_and_turn_with_the_pair(graph):
    pairs = all_pairs(graph.num_nodes)
    if not len(pairs):
        return
    names = column_names(links="ordered")
    loose = ("core", "position_cosine_centred")  # documented as inexact; a mean over all nodes
    kept = np.array([not name.startswith(loose) for name in names])
    for place, edge in enumerate(graph.edges().tolist()):
        without = graph.with_edges(np.arange(graph.num_edges) != place)
        with_own, alone = (
            describe_pairs(g, np.array([edge]), links="ordered").values[0] for g in (graph, without)
        )
        np.testing.assert_allclose(with_own[kept], alone[kept], atol=3e-3)
        if (graph.edges() == edge[::-1]).all(axis=1).any():
            continue
        # Without either edge between them, (v, u) has the columns of (u, v), turned.
        turned = describe_pairs(without, np.array([edge[::-1]]), links="ordered").values[0]
        np.testing.assert_allclose(alone[turned_columns(names)], turned, atol=3e-3)


def test_across_sides_the_left_node_is_the_source_whatever_the_order():
    shop = Graph.from_edges([(0, 3), (0, 4), (1, 3), (1, 4), (1, 5), (2, 5)])
    shop = shop.with_sides(["c"] * 3 + ["p"] * 3)
    assert kind_of_links(shop) == "across"
    columns = describe_pairs(shop, np.array([(0, 5), (5, 0)]), links="across")
    np.testing.assert_array_equal(*columns.values)
    values = dict(zip(columns.names, columns.values[0], strict=True))
    assert np.allclose([values["degree_source"], values["degree_target"]], np.log1p([2, 2]))
    with pytest.raises(PGNNError, match="1 of 1 pairs are not across these sides"):
        describe_pairs(shop, np.array([(0, 1)]), links="across")
    with pytest.raises(PGNNError, match="one kind"):
        describe_pairs(Graph.from_edges([(0, 1)]), np.array([(0, 1)]), links="across")
    with pytest.raises(PGNNError, match="no directions"):
        describe_pairs(shop, np.array([(0, 5)]), links="ordered")
