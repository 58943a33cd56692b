"""What the arrays of a graph may hold."""

import dataclasses
import gc
import pickle

import numpy as np
import pytest

from pgnn import Graph, PGNNError
from pgnn.graph import arrays
from pgnn.graph.arrays import as_node_ids, as_written_ids, sealed


def test_string_labels_become_classes():
    graph = Graph.from_edges([(0, 1)], y=["cat", "ant"])
    assert graph.y.tolist() == [1, 0]
    assert graph.classes[graph.y].tolist() == ["cat", "ant"]


@pytest.mark.parametrize(
    ("y", "labels"),
    [
        (["cat", None, "ant"], ["cat", None, "ant"]),
        (["cat", "", "ant"], ["cat", None, "ant"]),
        ([3, None, -1], [3, None, -1]),
        ([3.0, np.nan, -1.0], [3, None, -1]),
        ([3, -1, 3], [3, -1, 3]),
        ([None, None, None], [None, None, None]),
    ],
    ids=["strings", "empty", "integers", "floats", "none", "all"],
)
def test_unknown_labels_are_kept_as_such(y, labels):
    graph = Graph.from_edges([(0, 1), (1, 2)], y=y)
    assert graph.labels() == labels
    assert graph.labelled.tolist() == [label is not None for label in labels]
    assert graph.num_classes == len({label for label in labels if label is not None})
    assert Graph.from_networkx(graph.to_networkx()).labels() == labels
    assert Graph.from_pyg(graph.to_pyg()).labels() == labels


def test_graphs_without_labels_have_no_labelled_node():
    graph = Graph.from_edges([(0, 1)])
    assert (graph.labels(), graph.labelled.tolist(), graph.num_classes) == (
        [None, None],
        [False, False],
        0,
    )


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
        ({"edges": [(0, 1)], "weights": [1.0, 2.0]}, r"one entry per edge, \[1\] \(got \[2\]\)"),
        ({"edges": [(0, 1)], "weights": ["heavy"]}, "weights must be numbers"),
        ({"edges": [(0, 1)], "num_nodes": 2, "x": [[1.0]]}, "one row per node"),
        ({"edges": [(0, 1)], "x": [[1.0], [np.nan]]}, r"x\[1, 0\] = nan"),
        ({"edges": [(0, 1)], "x": [[1e300], [0.0]]}, r"x\[0, 0\] = inf"),
        ({"edges": [(0, 1)], "x": [["red"], ["blue"]]}, "features x must be numbers"),
        ({"edges": [(0, 1)], "num_nodes": 2, "y": [0]}, "one entry per node"),
        ({"edges": [(0, 1)], "y": [0.5, 1.0]}, "integers or strings"),
        ({"edges": [(0, 1)], "node_ids": ["a", "a"]}, "all different"),
        ({"edges": [(0, 1)], "num_nodes": 2, "node_ids": ["a"]}, "one entry per node"),
    ],
)
def test_bad_input_is_one_clear_error(arguments, message):
    with pytest.raises(PGNNError, match=message):
        Graph.from_edges(**arguments)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"edges": [(0.5, 1.0)]}, "<edges> must hold"),
        ({"edges": [(0, 1)], "num_nodes": 1}, "<edges>[0] is (0, 1)"),
        ({"edges": [(0, 1)], "num_nodes": -1}, "<num_nodes> must be"),
        ({"edges": [(0, 1)], "weights": [0.0]}, "<weights> must be"),
        ({"edges": [(0, 1)], "x": [[np.nan], [0]]}, "features <x> must be"),
        ({"edges": [(0, 1)], "num_nodes": 2, "y": [0]}, "labels <y> must have"),
        ({"edges": [(0, 1)], "node_ids": [1, 1]}, "<node_ids> must be"),
        ({"edges": [(0, 1)], "repeats": 1}, "<repeats> must be"),
    ],
)
def test_errors_name_their_parameter(arguments, named):
    with pytest.raises(PGNNError) as caught:
        Graph.from_edges(**arguments)
    assert caught.value.worded("<{}>".format).startswith(named)


def test_ids_are_written_as_text_where_they_are_objects():
    ids = as_node_ids([(0, 1), "x"], 2)
    assert as_written_ids(ids).tolist() == ["(0, 1)", "x"]
    assert as_written_ids(np.array([3, 4])).tolist() == [3, 4]
    with pytest.raises(PGNNError, match="must differ when written as text"):
        as_written_ids(as_node_ids([1, "1"], 2))


def test_ids_of_a_megabyte_are_refused():
    with pytest.raises(PGNNError, match="1,000,000 characters, and at most 10,000"):
        as_node_ids(["a", "b" * 10**6], 2)


def test_ids_beyond_int64_become_text_and_do_not_wrap():
    ids = as_node_ids(np.array([2**64 - 1, 0], dtype=np.uint64), 2)
    assert ids.tolist() == ["18446744073709551615", "0"]


@pytest.mark.parametrize(
    "y", [[np.inf, 0.0], [2.0**70, 0.0], np.array([2**63, 0], dtype=np.uint64)]
)
def test_labels_that_would_wrap_are_refused(y):
    with pytest.raises(PGNNError, match="labels y must be"):
        Graph.from_edges([(0, 1)], y=y)


def test_sealed_keeps_an_array_that_is_sealed():
    array = sealed(np.arange(3))
    assert sealed(array) is array


def test_undirected_rows_must_hold_each_edge_from_both_ends():
    ring = Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)])
    changed = ring.indices.copy()
    assert ring.neighbors(3).tolist() == [2]
    changed[-1] = 1  # 3 - 1, which 1 does not know of
    with pytest.raises(PGNNError, match="from both its ends"):
        dataclasses.replace(ring, indices=changed)
    one_way = dataclasses.replace(ring, indices=changed, directed=True)
    with pytest.raises(PGNNError, match="from both its ends"):
        dataclasses.replace(one_way, directed=False)


def test_undirected_rows_of_equal_degrees_may_still_be_one_way():
    two = Graph.from_edges([(0, 1), (2, 3)])
    with pytest.raises(PGNNError, match="from both its ends"):
        dataclasses.replace(two, indices=np.array([1, 2, 3, 0], dtype=np.int32))


def test_rows_that_are_known_to_be_symmetric_are_forgotten_with_their_graph():
    gc.collect()
    before = len(arrays._symmetric)
    graph = Graph.from_edges([(0, 1), (1, 2)])
    copied = pickle.loads(pickle.dumps(graph))
    assert len(arrays._symmetric) == before + 2
    del graph, copied
    gc.collect()
    assert len(arrays._symmetric) == before


def test_ids_may_be_tensors_series_or_tuples():
    import polars as pl
    import torch

    assert as_node_ids(torch.tensor([7, 5]), 2).tolist() == [7, 5]
    assert as_node_ids(pl.Series(["a", "b"]), 2).dtype.kind == "U"
    assert as_node_ids([(0, 1), (0, 2)], 2).tolist() == [(0, 1), (0, 2)]
    with pytest.raises(PGNNError, match="node_ids must be a list of ids"):
        as_node_ids(torch.zeros(2, requires_grad=True), 2)
    with pytest.raises(PGNNError, match="node_ids must be hashable"):
        as_node_ids(torch.zeros(2, 2), 2)
