"""Node features: standardised, constant, one-hot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pgnn.checks import checked
from pgnn.errors import Parameter, PGNNError
from pgnn.graph import Graph

Standardize = Literal["feature", "node"] | None

_ONE_HOT_BYTES = 4 * 2**30  # about 32,000 nodes; more would only end in a full memory


def check_standardize(how: Any) -> None:
    """Raise PGNNError unless `how` is a way to standardise."""
    if how not in ("feature", "node", None):
        raise PGNNError(
            Parameter("standardize"), f" must be 'feature', 'node' or None (got {how!r})"
        )


def standardized(x: NDArray[np.float64], how: Standardize) -> NDArray[np.float32]:
    """Subtract means and divide by standard deviations; what is constant becomes 0.

    Args:
        x: Features of all nodes of a data set, one row per node.
        how: "feature": each column over the nodes. "node": each row over the features, as the
            released code did. None: nothing.

    Example:
        >>> standardized(np.array([[1.0, 5.0], [3.0, 5.0]]), "feature").tolist()
        [[-1.0, 0.0], [1.0, 0.0]]
    """
    check_standardize(how)
    if how is None or x.size == 0:
        return x.astype(np.float32)
    axis = 0 if how == "feature" else 1
    # Rounding gives a constant column a tiny deviation, so constants are found by their range.
    constant = np.ptp(x, axis=axis, keepdims=True) == 0
    deviation = np.where(constant, 1.0, x.std(axis=axis, keepdims=True))
    centred = np.where(constant, 0.0, x - x.mean(axis=axis, keepdims=True))
    return (centred / deviation).astype(np.float32)


@checked
def with_constant_features(graphs: Sequence[Graph]) -> list[Graph]:
    """Give every node the one feature 1.0: the inductive columns of graphs without features.

    Example:
        >>> with_constant_features([Graph.from_edges([(0, 1)])])[0].x.tolist()
        [[1.0], [1.0]]
    """
    return [replace(graph, x=np.ones((graph.num_nodes, 1), dtype=np.float32)) for graph in graphs]


@checked
def with_one_hot_features(graphs: Sequence[Graph]) -> list[Graph]:
    """Give every node a feature of its own: the transductive ("-T") columns of the paper.

    One graph of n nodes gets the n x n identity. Nodes of several graphs are numbered through and
    get rows of one identity, so that no two nodes share a feature. A model trained on such features
    knows these nodes only.

    Raises:
        PGNNError: If the features would not fit in 4 GB.

    Example:
        >>> with_one_hot_features([Graph.from_edges([(0, 1)])])[0].x.tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    total = sum(graph.num_nodes for graph in graphs)
    if total * total * 4 > _ONE_HOT_BYTES:
        raise PGNNError(
            f"one-hot features of {total:,} nodes would take {total * total * 4 / 2**30:.0f} GB "
            "(at most 4); use with_constant_features, or fewer graphs"
        )
    results = []
    start = 0
    for graph in graphs:
        x = np.eye(graph.num_nodes, total, k=start, dtype=np.float32)
        results.append(replace(graph, x=x))
        start += graph.num_nodes
    return results
