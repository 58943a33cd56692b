"""Graph: what it keeps, how it is compared, joined and turned."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from pgnn import Graph, PGNNError, checks
from strategies import graphs


@given(graph=graphs())
def test_edges_round_trip_keeps_edges_and_weights(graph):
    again = Graph.from_edges(
        graph.edges(), graph.num_nodes, weights=graph.edge_weights(), directed=graph.directed
    )
    assert again == graph


def test_isolated_nodes_are_kept():
    graph = Graph.from_edges([(0, 1)], num_nodes=4)
    assert graph.degrees.tolist() == [1, 1, 0, 0]


def test_disjoint_union_stacks_graphs():
    one = Graph.from_edges([(0, 1)], 3, x=[[1], [2], [3]], y=[0, 1, 1])
    two = Graph.from_edges([(0, 1), (1, 2)], x=[[4], [5], [6]], y=[2, 2, 0])
    both = Graph.disjoint_union([one, two])
    assert both.edges().tolist() == [[0, 1], [3, 4], [4, 5]]
    assert both.x[:, 0].tolist() == [1, 2, 3, 4, 5, 6]
    assert both.y.tolist() == [0, 1, 1, 2, 2, 0]


def test_reversed_turns_every_edge():
    graph = Graph.from_edges([(0, 1), (2, 1)], weights=[1, 2], directed=True)
    turned = graph.reversed()
    assert turned.edges().tolist() == [[1, 0], [1, 2]]
    assert turned.weights.tolist() == [1, 2]
    assert turned.reversed() == graph


def test_arrays_are_read_only_and_inputs_are_not_touched():
    x = np.ones((2, 1), dtype=np.float32)
    graph = Graph.from_edges(np.array([(0, 1)]), x=x)
    with pytest.raises(ValueError, match="read-only"):
        graph.indices[0] = 0
    with pytest.raises(AttributeError):
        graph.directed = True
    x[0] = 5.0
    assert graph.x[0, 0] == 1.0


@pytest.mark.parametrize("name", ["indptr", "indices", "weights", "x", "y", "classes", "node_ids"])
def test_every_array_is_read_only(name):
    graph = Graph.from_edges([(0, 1)], weights=[1.0], x=[[1], [2]], y=["a", "b"])
    array = getattr(graph, name)
    with pytest.raises(ValueError, match="read-only"):
        array[0] = array[1]


def test_equality_looks_at_all_of_the_graph():
    one = Graph.from_edges([(0, 1)], x=[[1], [2]])
    assert one == Graph.from_edges([(1, 0)], x=[[1], [2]])
    assert hash(one) == hash(Graph.from_edges([(1, 0)], x=[[1], [2]]))
    assert one != Graph.from_edges([(0, 1)], x=[[1], [3]])
    assert one != Graph.from_edges([(0, 1)])
    assert one != "graph"


def test_union_of_unlike_graphs_is_one_clear_error():
    one_way = Graph.from_edges([(0, 1)], directed=True)
    with pytest.raises(PGNNError, match="directed and undirected"):
        Graph.disjoint_union([one_way, Graph.from_edges([(0, 1)])])
    with pytest.raises(PGNNError, match="at least one graph"):
        Graph.disjoint_union([])


# ---------------------------------------------------------------------- the door of kernels

PATH = Graph.from_edges([(0, 1), (1, 2), (2, 3)], weights=[1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"indices": PATH.indices + np.int32(9)}, "indices must lie in 0..3"),
        ({"indices": PATH.indices - np.int32(9)}, "indices must lie in 0..3"),
        ({"indices": PATH.indices.astype(np.int64)}, "must be an array of int32"),
        ({"indices": PATH.indices.astype(">i4")}, "must be an array of int32"),
        ({"indices": PATH.indices[::-1].copy()}, "must ascend within each row"),
        ({"indices": PATH.indices[:-1]}, "indptr must ascend from 0 to the 5 entries"),
        ({"indices": [0, 1]}, r"must be an array of int32 \(got list\)"),
        ({"indptr": PATH.indptr[::-1].copy()}, "indptr must ascend"),
        ({"indptr": np.zeros(0, dtype=np.int64)}, "indptr must be of 1 to"),
        ({"weights": -PATH.weights}, "weights must be positive"),
        ({"weights": PATH.weights * np.nan}, "weights must be positive"),
        ({"weights": PATH.weights[1:]}, "one entry per entry of indices"),
        ({"directed": 2}, "directed must be True or False"),
        ({"x": np.full((4, 1), np.inf, dtype=np.float32)}, "must be finite"),
        ({"x": np.ones((3, 1), dtype=np.float32)}, "one entry per node"),
        ({"y": np.zeros(4)}, "must be an array of int64"),
        ({"classes": np.array(["a"])}, "classes must have an entry"),
        ({"node_ids": np.arange(3)}, "one entry per node"),
    ],
)
def test_replace_is_checked_as_every_graph_is(changes, message):
    with pytest.raises(PGNNError, match=message):
        replace(PATH, **changes)


@pytest.mark.parametrize("made", [PATH, pickle.loads(pickle.dumps(PATH)), copy.deepcopy(PATH)])
def test_arrays_cannot_be_written_to_however_the_graph_was_made(made):
    assert made == PATH
    for array in (made.indptr, made.indices, made.weights, made.node_ids):
        assert not array.flags.writeable
        with pytest.raises(ValueError, match="cannot set WRITEABLE"):
            array.setflags(write=True)


def test_array_that_shares_memory_is_copied():
    memory = np.zeros(10, dtype=np.int32)
    memory[:6] = PATH.indices
    made = replace(PATH, indices=memory[:6])
    memory[:] = 10**8
    assert made == PATH


def test_an_unpickled_graph_is_checked():
    graph = copy.copy(PATH)
    object.__setattr__(graph, "indices", PATH.indices + np.int32(10**6))
    data = pickle.dumps(graph)
    with pytest.raises(PGNNError, match="indices must lie in"):
        pickle.loads(data)


@pytest.mark.parametrize("node", [-1, 4, 10**30, 1.5, "a", None])
def test_neighbors_refuses_what_is_no_node(node):
    with pytest.raises(PGNNError, match="node must"):
        PATH.neighbors(node)


def test_nodes_that_do_not_fit_in_memory_are_refused_before_it_is_gone(monkeypatch):
    monkeypatch.setattr(checks, "total_memory", lambda: 10**6)
    with pytest.raises(PGNNError, match="num_nodes = 1000000 needs"):
        Graph.from_edges([(0, 1)], num_nodes=10**6)
