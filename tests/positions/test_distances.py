"""AnchorDistances fit together; MemberDistances are rows of all-pairs proximity, in blocks."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgnn import AnchorDistances, AnchorSets, Graph, MemberDistances, PGNNError, anchor_distances
from strategies import graphs_with_sets

PATH = Graph.from_edges([(0, 1), (1, 2), (2, 3)])


def proximity_by_networkx(graph, cutoff):
    weight = None if graph.weights is None else "weight"
    result = np.zeros((graph.num_nodes, graph.num_nodes))
    for v in range(graph.num_nodes):
        for u, d in nx.single_source_dijkstra_path_length(
            graph.to_networkx(), v, weight=weight or (lambda *_: 1)
        ).items():
            if cutoff is None or d <= cutoff:
                result[v, u] = 1 / (d + 1)
    return result


@given(graphs_with_sets(max_nodes=12), st.none() | st.integers(0, 4), st.data())
@settings(max_examples=40)
def test_proximity_equals_networkx(problem, cutoff, data):
    graph, sets = problem
    members = MemberDistances(graph, sets, cutoff=cutoff)
    expected = proximity_by_networkx(graph, cutoff)
    np.testing.assert_allclose(members.proximity(0, graph.num_nodes), expected, rtol=1e-12)
    start = data.draw(st.integers(0, graph.num_nodes - 1))
    stop = data.draw(st.integers(start + 1, graph.num_nodes))
    np.testing.assert_allclose(members.proximity(start, stop), expected[start:stop], rtol=1e-12)


def test_proximity_of_a_directed_edge_leads_from_the_node_to_the_member():
    one_way = Graph.from_edges([(0, 1)], directed=True)
    assert MemberDistances(one_way, [[0]]).proximity(0, 2).tolist() == [[1, 0.5], [0, 1]]


@pytest.mark.parametrize("max_rows", [1, 2, 3, 100])
def test_blocks_cover_every_node_once(max_rows):
    ranges = [(start, stop) for start, stop, _ in MemberDistances(PATH, [[0]]).blocks(max_rows)]
    assert [node for start, stop in ranges for node in range(start, stop)] == [0, 1, 2, 3]
    assert max(stop - start for start, stop in ranges) <= max_rows


@pytest.mark.parametrize("max_rows", [2, 100])
def test_blocks_of_a_union_keep_to_one_graph_and_its_members(max_rows):
    union = Graph.disjoint_union([PATH, PATH])
    members = MemberDistances(union, [[0, 5], [3]], batch=[0] * 4 + [1] * 4)
    for start, stop, sets in members.blocks(max_rows):
        assert start // 4 == (stop - 1) // 4
        assert [nodes.tolist() for nodes in sets] == ([[0], [3]] if start < 4 else [[5], []])


def test_counts_and_repr():
    members = MemberDistances(PATH, [[0], [1, 2]])
    assert (members.num_nodes, members.num_sets) == (4, 2)
    assert repr(members) == "MemberDistances(num_nodes=4, num_sets=2)"


@pytest.mark.parametrize(
    ("sets", "options", "match"),
    [
        (AnchorSets.from_sets([[0]], 3), {}, "of a graph of 3 nodes, this one has 4"),
        ([[4]], {}, "holds node 4"),
        ([], {}, "at least one anchor-set"),
        ([[0]], {"batch": [0, 0, 1]}, "batch must be 4 ascending graph indices"),
        ([[0]], {"batch": [0, 1, 0, 1]}, "batch must be 4 ascending graph indices"),
    ],
)
def test_bad_input_is_named(sets, options, match):
    with pytest.raises(PGNNError, match=match):
        MemberDistances(PATH, sets, **options)


def test_negative_cutoff_is_named():
    with pytest.raises(PGNNError, match=r"cutoff must be a number >= 0 \(got -1\)"):
        MemberDistances(PATH, [[0]], cutoff=-1).proximity(0, 1)


# ---------------------------------------------------------------------- AnchorDistances


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"hops": None}, "either hops or lengths"),
        ({"lengths": np.ones((4, 2))}, "either hops or lengths"),
        ({"nearest": np.zeros((4, 2))}, "nearest must be an array of integers"),
        ({"nearest": [[0, 0]] * 4}, "nearest must be an array of integers"),
        ({"hops": np.ones((4, 2))}, "hops must be an array of integers"),
        ({"hops": np.ones(4, dtype=np.int8)}, r"hops must be an array of integers \[n, k\]"),
        ({"nearest": np.zeros((3, 2), dtype=np.int32)}, r"same shape .*\[3, 2\] and \[4, 2\]"),
        (
            {"hops": None, "lengths": np.ones((4, 2), dtype=int)},
            "lengths must be an array of floats",
        ),
    ],
)
def test_distances_made_by_hand_are_checked(changes, match):
    with pytest.raises(PGNNError, match=match):
        replace(anchor_distances(PATH, [[0], [1]]), **changes)


def test_distances_say_what_they_hold():
    distances = anchor_distances(PATH, [[0], [1]])
    assert isinstance(distances, AnchorDistances)
    assert (distances.num_nodes, distances.num_sets) == (4, 2)
    assert repr(distances) == "AnchorDistances(hops, num_nodes=4, num_sets=2)"


def test_unpickled_distances_are_checked_and_sealed_again():
    distances = anchor_distances(Graph.from_edges([(0, 1), (1, 2)]), [[0], [2]])
    again = pickle.loads(pickle.dumps(distances))
    assert again.hops.tolist() == distances.hops.tolist()
    assert not again.nearest.flags.writeable
    state = distances.__getstate__() | {"nearest": np.zeros((1, 1), dtype=np.int32)}
    with pytest.raises(PGNNError, match="same shape"):
        copy.copy(distances).__setstate__(state)
