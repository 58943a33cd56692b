"""Features: standardising never gives NaN, constant and one-hot features of many graphs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from pgnn import Graph, PGNNError
from pgnn.datasets import with_constant_features, with_one_hot_features
from pgnn.datasets.features import standardized

PAIR = Graph.from_edges([(0, 1)], y=[3, 4], node_ids=["a", "b"])
PATH = Graph.from_edges([(0, 1), (1, 2)])


@given(
    arrays(float, array_shapes(min_dims=2, max_dims=2), elements=st.floats(-100, 100, width=16)),
    st.sampled_from(["feature", "node"]),
)
@settings(max_examples=60)
def test_standardized_is_0_and_1_or_0_where_constant(x, how):
    axis = 0 if how == "feature" else 1
    result = standardized(x, how).astype(float)
    constant = x.max(axis=axis) == x.min(axis=axis)
    np.testing.assert_allclose(result.mean(axis=axis), 0, atol=1e-5)
    np.testing.assert_allclose(result.std(axis=axis), ~constant, atol=1e-5)
    assert (np.compress(constant, result, axis=1 - axis) == 0).all()


def test_standardized_ignores_rounding_of_a_constant():
    # The mean of 49 times 0.1 is not 0.1, so that the deviation is not 0 but tiny.
    assert (standardized(np.full((49, 1), 0.1), "feature") == 0).all()


def test_standardized_none_leaves_values():
    x = np.array([[1.0, 2.0], [5.0, 2.0]])
    result = standardized(x, None)
    np.testing.assert_array_equal(result, x)
    assert result.dtype == np.float32


def test_one_hot_of_one_graph_is_the_identity():
    (graph,) = with_one_hot_features([PATH])
    np.testing.assert_array_equal(graph.x, np.eye(3))
    assert graph.x.dtype == np.float32
    assert PATH.x is None


def test_one_hot_of_several_graphs_is_one_identity():
    graphs = with_one_hot_features([PAIR, PATH])
    np.testing.assert_array_equal(np.concatenate([g.x for g in graphs]), np.eye(5))
    assert graphs[0].y.tolist() == [3, 4]
    assert graphs[0].node_ids.tolist() == ["a", "b"]


def test_one_hot_of_too_many_nodes_is_refused():
    with pytest.raises(PGNNError, match=r"40,000 nodes would take 6 GB"):
        with_one_hot_features([Graph.from_edges([(0, 39_999)])])


def test_constant_replaces_features():
    graphs = with_constant_features(with_one_hot_features([PAIR, PATH]))
    assert [g.x.tolist() for g in graphs] == [[[1.0]] * 2, [[1.0]] * 3]
    assert graphs[0].x.dtype == np.float32
    assert graphs[1].edges().tolist() == PATH.edges().tolist()
