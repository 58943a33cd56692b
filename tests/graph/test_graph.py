"""Graph: what it keeps, how it is compared, joined and turned."""

import numpy as np
import pytest
from hypothesis import given

from pgnn import Graph, PGNNError
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
