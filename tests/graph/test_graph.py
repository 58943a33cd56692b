"""Graph: what the one door lets through, refuses, drops and keeps."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from pgnn import Graph, PGNNError
from strategies import graphs


def decorated(graph, data):
    """The same graph with features, labels and ids of some kind."""
    n = graph.num_nodes
    x = data.draw(st.none() | st.just(np.arange(2.0 * n).reshape(n, 2)))
    y = data.draw(st.sampled_from([None, np.arange(n) % 3, np.array(list("abc" * n))[:n]]))
    ids = data.draw(
        st.sampled_from([None, np.arange(n) * 10 + 7, np.array([f"node {v}" for v in range(n)])])
    )
    return Graph.from_edges(
        graph.edges(), n, weights=graph.edge_weights(), directed=graph.directed, x=x, y=y,
        node_ids=ids,
    )  # fmt: skip


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


@given(data=st.data(), graph=graphs())
def test_networkx_round_trip_keeps_everything(data, graph):
    graph = decorated(graph, data)
    back = Graph.from_networkx(graph.to_networkx())
    if graph.num_edges == 0 and graph.weights is not None:
        assert back.weights is None  # no edge was there to carry a weight
    else:
        assert back == graph


@given(graph=graphs())
def test_scipy_round_trip_keeps_edges_and_weights(graph):
    weighted = graph.weights is not None
    assert Graph.from_scipy(graph.to_scipy(), directed=graph.directed, weighted=weighted) == graph


@given(data=st.data(), graph=graphs())
def test_pyg_round_trip_keeps_everything(data, graph):
    graph = decorated(graph, data)
    assert Graph.from_pyg(graph.to_pyg(), directed=graph.directed) == graph


@given(graph=graphs())
def test_edges_round_trip_keeps_edges_and_weights(graph):
    again = Graph.from_edges(
        graph.edges(), graph.num_nodes, weights=graph.edge_weights(), directed=graph.directed
    )
    assert again == graph


def test_scipy_and_pyg_decide_direction_by_symmetry():
    one_way = sp.coo_array(([1, 1], ([0, 1], [1, 2])), shape=(3, 3))
    assert Graph.from_scipy(one_way).directed
    assert not Graph.from_scipy(one_way + one_way.T).directed
    assert Graph.from_pyg(Graph.from_scipy(one_way).to_pyg()).directed
    assert not Graph.from_pyg(Graph.from_edges([(0, 1)]).to_pyg()).directed
    uneven = Graph.from_edges([(0, 1), (1, 0)], weights=[1.0, 5.0], directed=True)
    assert Graph.from_pyg(uneven.to_pyg()) == uneven


def test_networkx_nodes_of_any_kind_become_ids():
    graph = Graph.from_networkx(nx.grid_2d_graph(2, 3))
    assert graph.node_ids.tolist() == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    assert nx.utils.graphs_equal(graph.to_networkx(), nx.grid_2d_graph(2, 3))


def test_networkx_multigraph_loses_its_repeats():
    graph = Graph.from_networkx(nx.MultiGraph([(0, 1), (1, 0), (1, 1), (1, 2)]))
    assert (graph.num_edges, graph.dropped_repeats, graph.dropped_self_loops) == (2, 1, 1)


def test_features_follow_their_nodes_whatever_the_order():
    source = nx.Graph([("c", "a"), ("a", "b")])
    nx.set_node_attributes(source, {"a": [1.0], "b": [2.0], "c": [3.0]}, "x")
    graph = Graph.from_networkx(source)
    assert dict(zip(graph.node_ids, graph.x[:, 0], strict=True)) == {"a": 1, "b": 2, "c": 3}


def test_isolated_nodes_are_kept():
    graph = Graph.from_edges([(0, 1)], num_nodes=4)
    assert graph.degrees.tolist() == [1, 1, 0, 0]


def test_repeated_weighted_edge_keeps_the_smallest_weight():
    graph = Graph.from_edges([(0, 1), (1, 0), (0, 1)], weights=[3.0, 1.0, 2.0])
    assert graph.weights.tolist() == [1.0, 1.0]
    assert graph.dropped_repeats == 2


def test_string_labels_become_classes():
    graph = Graph.from_edges([(0, 1)], y=["cat", "ant"])
    assert graph.y.tolist() == [1, 0]
    assert graph.classes[graph.y].tolist() == ["cat", "ant"]


def test_pyg_graph_level_label_is_left_out():
    data = Graph.from_edges([(0, 1), (1, 2)]).to_pyg()
    data.y = data.edge_index[0, :1]
    assert Graph.from_pyg(data).y is None


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


def test_equality_looks_at_all_of_the_graph():
    one = Graph.from_edges([(0, 1)], x=[[1], [2]])
    assert one == Graph.from_edges([(1, 0)], x=[[1], [2]])
    assert hash(one) == hash(Graph.from_edges([(1, 0)], x=[[1], [2]]))
    assert one != Graph.from_edges([(0, 1)], x=[[1], [3]])
    assert one != Graph.from_edges([(0, 1)])
    assert one != "graph"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"edges": []}, "the graph has no nodes"),
        ({"edges": [], "num_nodes": 0}, "the graph has no nodes"),
        ({"edges": [(0, 1, 2)]}, r"shape \[num_edges, 2\] \(got \[1, 3\]\)"),
        ({"edges": [0, 1]}, r"shape \[num_edges, 2\]"),
        ({"edges": [(0, 1), (2,)]}, "edges must be pairs"),
        ({"edges": [(0.0, 1.0)]}, "integer node indices"),
        ({"edges": [("a", "b")]}, "integer node indices"),
        ({"edges": [(0, -1)]}, r"edges\[0\] is \(0, -1\)"),
        ({"edges": [(0, 1), (1, 5)], "num_nodes": 3}, r"edges\[1\] is \(1, 5\).* 0\.\.2"),
        ({"edges": [(0, 1)], "num_nodes": 2.5}, "num_nodes must be an integer"),
        ({"edges": [(0, 1)], "num_nodes": 2**31}, "at most"),
        ({"edges": [(0, 1)], "weights": [0.0]}, r"weights\[0\] = 0.0"),
        ({"edges": [(0, 1)], "weights": [-2.0]}, r"weights\[0\] = -2.0"),
        ({"edges": [(0, 1)], "weights": [np.nan]}, r"weights\[0\] = nan"),
        ({"edges": [(0, 1)], "weights": [np.inf]}, r"weights\[0\] = inf"),
        ({"edges": [(0, 1)], "weights": [1.0, 2.0]}, r"one entry an edge, \[1\] \(got \[2\]\)"),
        ({"edges": [(0, 1)], "weights": ["heavy"]}, "weights must be numbers"),
        ({"edges": [(0, 1)], "num_nodes": 2, "x": [[1.0]]}, "a row a node"),
        ({"edges": [(0, 1)], "x": [[1.0], [np.nan]]}, r"x\[1, 0\] = nan"),
        ({"edges": [(0, 1)], "x": [[1e300], [0.0]]}, r"x\[0, 0\] = inf"),
        ({"edges": [(0, 1)], "x": [["red"], ["blue"]]}, "features x must be numbers"),
        ({"edges": [(0, 1)], "num_nodes": 2, "y": [0]}, "one entry a node"),
        ({"edges": [(0, 1)], "y": [0.5, 1.0]}, "integers or strings"),
        ({"edges": [(0, 1)], "node_ids": ["a", "a"]}, "all different"),
        ({"edges": [(0, 1)], "num_nodes": 2, "node_ids": ["a"]}, "one entry a node"),
    ],
)
def test_bad_input_is_one_clear_error(arguments, message):
    with pytest.raises(PGNNError, match=message):
        Graph.from_edges(**arguments)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.eye(2), "needs a scipy.sparse matrix"),
        (sp.coo_array(np.ones((2, 3))), "must be square"),
        (sp.coo_array(np.array([[0, 1j], [1j, 0]])), "must be real"),
        (sp.coo_array(([0.0], ([0], [1])), shape=(2, 2)), "positive and finite"),
    ],
)
def test_bad_matrix_is_one_clear_error(matrix, message):
    with pytest.raises(PGNNError, match=message):
        Graph.from_scipy(matrix)


def test_attribute_on_some_nodes_only_is_one_clear_error():
    source = nx.path_graph(3)
    source.nodes[0]["x"] = [1.0]
    with pytest.raises(PGNNError, match="'x' is missing on 2 of 3"):
        Graph.from_networkx(source)


def test_union_of_unlike_graphs_is_one_clear_error():
    one_way = Graph.from_edges([(0, 1)], directed=True)
    with pytest.raises(PGNNError, match="directed and undirected"):
        Graph.disjoint_union([one_way, Graph.from_edges([(0, 1)])])
    with pytest.raises(PGNNError, match="at least one graph"):
        Graph.disjoint_union([])
