"""Graphs of other libraries: what comes back, what is decided, what is refused."""

from datetime import date
from importlib import import_module
from importlib.util import find_spec

import networkx as nx
import numpy as np
import polars as pl
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


def test_pyg_graph_level_label_is_left_out():
    data = Graph.from_edges([(0, 1), (1, 2)]).to_pyg()
    data.y = data.edge_index[0, :1]
    assert Graph.from_pyg(data).y is None


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


# ---------------------------------------------------------------------- repeats


@given(graph=graphs(weighted=True))
def test_conversions_under_sum_do_not_count_an_undirected_edge_twice(graph):
    matrix = Graph.from_scipy(
        graph.to_scipy(), directed=graph.directed, weighted=True, repeats="sum"
    )
    assert matrix == graph
    assert Graph.from_pyg(graph.to_pyg(), directed=graph.directed, repeats="sum") == graph
    if graph.num_edges:
        assert Graph.from_networkx(graph.to_networkx(), repeats="sum") == Graph.from_edges(
            graph.edges(),
            graph.num_nodes,
            weights=graph.edge_weights(),
            directed=graph.directed,
        )
    assert matrix.dropped_repeats == 0


def test_repeats_of_multigraphs_and_uneven_matrices_follow_the_rule():
    multigraph = nx.MultiGraph()
    multigraph.add_weighted_edges_from([("a", "b", 2.0), ("b", "a", 3.0)])
    uneven = sp.coo_array(([2.0, 3.0], ([0, 1], [1, 0])), shape=(2, 2))
    for rule, weight in (("shortest", 2.0), ("sum", 5.0)):
        made = [
            Graph.from_networkx(multigraph, repeats=rule),
            Graph.from_scipy(uneven, directed=False, repeats=rule),
            Graph.from_pyg(Graph.from_scipy(uneven).to_pyg(), directed=False, repeats=rule),
        ]
        assert [graph.edge_weights().tolist() for graph in made] == [[weight]] * 3
        assert [graph.dropped_repeats for graph in made] == [1, 1, 1]


# ---------------------------------------------------------------------- data frames


class PandasLike:
    """The little of pandas' interface that is used: names, and columns by position."""

    columns = property(lambda self: list(self.data))
    iloc = property(lambda self: self)

    def __init__(self, data):
        self.data = data

    def __getitem__(self, key):
        return PandasColumn(list(self.data.values())[key[1]])


class PandasColumn:
    def __init__(self, values):
        self.values = values

    def to_numpy(self):
        return np.asarray(self.values)


def as_objects(values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def frames_of(columns):
    """The same columns as every kind of frame there is here."""
    made = [
        pl.DataFrame(columns),
        pl.LazyFrame(columns),
        PandasLike({name: as_objects(values) for name, values in columns.items()}),
        PandasLike(columns),
    ]
    if find_spec("pandas"):
        made.append(import_module("pandas").DataFrame(columns))
    return made


@pytest.mark.parametrize(
    ("columns", "ids"),
    [
        ({"source": [30, 10], "target": [10, 20]}, [10, 20, 30]),
        ({"who": ["b", "7"], "whom": ["a", "b"]}, ["b", "a", "7"]),
        ({"who": ["1", "2"], "whom": ["2", "3"]}, ["1", "2", "3"]),  # strings stay strings
        ({"customer": [1, 2], "product": ["pen", "ink"]}, ["1", "pen", "2", "ink"]),
        ({"weight": [1.0, 2.0], "to": [1, 2], "from": [0, 1]}, [0, 1, 2]),
    ],
)
def test_frames_of_every_library_give_the_same_graph(columns, ids):
    for frame in frames_of(columns):
        graph = Graph.from_frame(frame, directed=True)
        assert graph.node_ids.tolist() == ids
        assert graph.num_edges == 2
        assert (graph.weights is not None) == ("weight" in columns)


def test_frame_edges_are_those_of_its_rows():
    columns = {"a": [5, 6, 5], "b": [6, 7, 6], "cost": [1.0, 2.0, 4.0]}
    for frame in frames_of(columns):
        graph = Graph.from_frame(frame, source="b", target=0, weight="cost", directed=True)
        assert graph.node_ids[graph.edges()].tolist() == [[6, 5], [7, 6]]
        assert graph.weights.tolist() == [1.0, 2.0]
        added = Graph.from_frame(frame, weight=-1, repeats="sum")
        assert added.edge_weights().tolist() == [5.0, 2.0]
        assert Graph.from_frame(frame).weights is None


def test_frame_ids_may_be_of_any_kind():
    days = [date(2024, 1, 1), date(2024, 1, 2), date(2024, 1, 3)]
    graph = Graph.from_frame(pl.DataFrame({"a": days[:2], "b": days[1:]}))
    assert graph.node_ids.tolist() == days
    tuples = PandasLike({"a": as_objects([(0, 0)]), "b": as_objects([(0, 1)])})
    assert Graph.from_frame(tuples).node_ids.tolist() == [(0, 0), (0, 1)]
    kinds = pl.DataFrame({"a": pl.Series(["x"], dtype=pl.Categorical), "b": ["y"]})
    assert Graph.from_frame(kinds).node_ids.tolist() == ["x", "y"]


@pytest.mark.parametrize(
    ("columns", "arguments", "message"),
    [
        ({"a": [1], "b": [None]}, {}, "row 0: the target id is missing"),
        ({"a": ["x", None], "b": ["y", "z"]}, {}, "row 1: the source id is missing"),
        ({"a": [1.5], "b": [2.5]}, {}, "column 'a' holds fractions"),
        ({"a": [1]}, {}, "needs at least 2 columns"),
        ({"a": [], "b": []}, {}, "holds no edges"),
        ({"a": [1], "b": [2]}, {"weight": "w"}, "column weight='w' does not exist"),
        ({"a": [1], "b": [2]}, {"source": "a"}, "source and target belong together"),
        ({"a": [1], "b": [2], "w": ["x"]}, {"weight": "w"}, "column 'w' must hold numbers"),
        ({"a": [1], "b": [2], "w": [-1]}, {"weight": "w"}, r"weights\[0\] = -1.0"),
        ({"a": [1, 1], "b": [2, 2], "w": [1, None]}, {"weight": "w"}, "is empty in row 1"),
    ],
)
def test_bad_frames_are_one_clear_error(columns, arguments, message):
    with pytest.raises(PGNNError, match=message):
        Graph.from_frame(pl.DataFrame(columns), **arguments)


def test_what_is_no_frame_is_refused():
    with pytest.raises(PGNNError, match=r"data frame of polars or pandas \(got list"):
        Graph.from_frame([(0, 1)])


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "lil"])
@pytest.mark.parametrize("bad", [10**8, -1])
def test_from_scipy_refuses_entries_outside_of_the_matrix(kind, bad):
    matrix = sp.eye_array(4).asformat(kind)
    if kind == "coo":
        matrix.coords[0][1] = bad
    elif kind == "lil":
        matrix.rows[1] = [bad]
    else:
        matrix.indices[1] = bad
    with pytest.raises(PGNNError, match="do not fit each other"):
        Graph.from_scipy(matrix)


def test_from_scipy_refuses_bounds_outside_of_its_arrays():
    matrix = sp.csr_array(np.eye(4))
    matrix.indptr[1] = 2**30
    with pytest.raises(PGNNError, match="do not fit each other"):
        Graph.from_scipy(matrix)
