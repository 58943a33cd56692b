"""What stands for a graph: every kind is read, and what is none is refused."""

import networkx as nx
import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp

from pgnn import Graph, PGNNError
from pgnn.graph.like import as_graph, index_pairs, with_labels

PATH = Graph.from_edges([(0, 1), (1, 2)])


@pytest.mark.parametrize(
    "value",
    [
        PATH,
        PATH.to_networkx(),
        PATH.to_scipy(),
        PATH.to_scipy().toarray(),
        PATH.to_pyg(),
        pl.DataFrame({"source": [0, 1], "target": [1, 2]}),
        pl.DataFrame({"a": [0, 1], "b": [1, 2]}),  # square, and still two columns of ids
    ],
)
def test_every_kind_of_graph_is_read(value):
    assert as_graph(value) == PATH


def test_wide_square_frames_are_adjacency_matrices():
    ring = nx.to_numpy_array(nx.cycle_graph(5))
    assert as_graph(pl.DataFrame(ring)) == as_graph(ring)
    edges = pl.DataFrame({name: [0, 1, 2, 3] for name in ("source", "year", "kind")})
    edges = edges.with_columns(target=pl.Series([1, 2, 3, 4]))
    assert edges.shape == (4, 4)
    assert as_graph(edges).num_edges == 4


@pytest.mark.parametrize(("rule", "weight"), [("shortest", 1.0), ("sum", 3.0)])
def test_repeats_follow_the_rule(rule, weight):
    frame = pl.DataFrame({"a": [0, 1], "b": [1, 0], "weight": [1.0, 2.0]})
    multigraph = nx.MultiGraph()
    multigraph.add_weighted_edges_from(frame.iter_rows())
    repeated = sp.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(2, 2))
    for value in (frame, multigraph, repeated):
        assert as_graph(value, repeats=rule).edge_weights().tolist() == [weight]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("edges.csv", "X must be a graph .* read a file with pgnn.read_graph"),
        (np.ones((2, 3)), "X must be a square adjacency matrix"),
        (None, "X must be a graph or an adjacency matrix"),
        (pl.DataFrame({"a": [1]}), "an edge frame needs at least 2 columns"),
    ],
)
def test_what_is_no_graph_is_refused(value, message):
    with pytest.raises(PGNNError, match=message):
        as_graph(value)


def test_labels_are_those_passed_else_the_graphs_own():
    labelled = with_labels(PATH, ["b", "a", "b"])
    assert labelled.classes[labelled.y].tolist() == ["b", "a", "b"]
    assert with_labels(labelled, None) is labelled
    with pytest.raises(PGNNError, match="give one label per node"):
        with_labels(PATH, None)


def test_pairs_of_unknown_nodes_are_refused():
    assert index_pairs(PATH, [(2, 0)]).tolist() == [[2, 0]]
    assert index_pairs(PATH, []).shape == (0, 2)
    with pytest.raises(PGNNError, match=r"no node 9 \(its ids are like 0, 1, 2"):
        index_pairs(PATH, [(0, 9)])
    with pytest.raises(PGNNError, match="pairs must hold two node ids each"):
        index_pairs(PATH, [(0, 1, 2)])
