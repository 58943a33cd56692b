"""What users have for a graph, labels and pairs of nodes, as the estimator reads it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pgnn.errors import Parameter, PGNNError
from pgnn.graph.arrays import Repeats, as_labels
from pgnn.graph.columns import known_pair
from pgnn.graph.conversions import Frame, is_frame
from pgnn.graph.graph import Graph

if TYPE_CHECKING:
    import networkx as nx
    import scipy.sparse as sp
    from torch_geometric.data import Data

    GraphLike: TypeAlias = Graph | nx.Graph | sp.sparray | Data | NDArray[Any] | Frame

_WIDEST_EDGE_FRAME = 3  # columns of a square frame of numbers that is still read as edges


def as_graph(value: GraphLike, *, repeats: Repeats = "shortest") -> Graph:
    """Return what stands for a graph as a `Graph`.

    Args:
        value: A graph of pgnn, networkx or PyTorch Geometric; an edge frame of polars or pandas
            (read by `Graph.from_frame`); or an adjacency matrix, dense or sparse. A square frame of
            more than 3 columns, without columns such as `source` and `target`, is a matrix.
        repeats: What an edge weighs that is listed more than once; see `Graph.from_edges`.

    Raises:
        PGNNError: If it does not stand for a graph.

    Example:
        >>> as_graph(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
        Graph(num_nodes=3, num_edges=2)
    """
    if isinstance(value, Graph):
        return value
    if hasattr(value, "edge_index"):
        return Graph.from_pyg(value, repeats=repeats)
    if hasattr(value, "adj") and hasattr(value, "is_directed"):
        return Graph.from_networkx(value, repeats=repeats)
    if isinstance(value, str | Path):
        raise PGNNError(
            Parameter("X"), f" must be a graph (got {value!r}); read a file with pgnn.read_graph"
        )
    if is_frame(value) and not _is_square(value):
        return Graph.from_frame(value, repeats=repeats)
    return _from_matrix(value, repeats)


def _is_square(frame: Frame) -> bool:
    """Whether a frame is an adjacency matrix: square, and too wide for a table of edges."""
    shape = getattr(frame, "shape", None)
    if shape is None or shape[0] != shape[1] or shape[1] <= _WIDEST_EDGE_FRAME:
        return False
    return known_pair([str(name) for name in frame.columns]) is None


def _from_matrix(value: Any, repeats: Repeats) -> Graph:
    import scipy.sparse as sp
    from sklearn.utils import check_array

    name = Parameter("X")
    try:
        matrix = check_array(
            value, accept_sparse=("coo", "csr", "csc"), ensure_non_negative=True, input_name="X"
        )
    except (ValueError, RuntimeError) as error:  # the latter of tensors
        raise PGNNError(name, f" must be a graph or an adjacency matrix ({error})") from error
    except TypeError as error:  # scikit-learn promises that kind for objects that are no numbers
        raise TypeError(f"X must be a graph or an adjacency matrix ({error})") from error
    if matrix.shape[0] != matrix.shape[1]:
        raise PGNNError(
            name,
            f" must be a square adjacency matrix (got shape {matrix.shape}); "
            "make a graph of an edge list with pgnn.Graph.from_edges",
        )
    return Graph.from_scipy(
        matrix if sp.issparse(matrix) else sp.coo_array(matrix), repeats=repeats
    )


def with_labels(graph: Graph, y: ArrayLike | None) -> Graph:
    """Return the graph with these labels, or with its own if `y` is None.

    Raises:
        PGNNError: If there are no labels at all, or not one per node.
    """
    if y is not None:
        labels, classes = as_labels(y, graph.num_nodes)
        return replace(graph, y=labels, classes=classes)
    if graph.y is None:
        raise PGNNError(
            "task 'pair' requires ",
            Parameter("y"),
            " to be passed, but the target y is None and the graph has no labels of its own; "
            "give one label per node",
        )
    return graph


def index_pairs(graph: Graph, pairs: Any) -> NDArray[np.int64]:
    """Return the indices of pairs of node ids, `[m, 2]`.

    Raises:
        PGNNError: If they are not pairs, or an id is not one of the graph's.

    Example:
        >>> path = Graph.from_edges([(0, 1), (1, 2)], node_ids=["a", "b", "c"])
        >>> index_pairs(path, [("c", "a")]).tolist()
        [[2, 0]]
    """
    place = {name: index for index, name in enumerate(graph.node_ids.tolist())}
    try:
        indices = [(place[u], place[v]) for u, v in pairs]
    except KeyError as error:
        examples = ", ".join(repr(name) for name in list(place)[:3])
        raise PGNNError(
            f"the graph has no node {error.args[0]!r} (its ids are like {examples})"
        ) from error
    except (TypeError, ValueError) as error:
        raise PGNNError(Parameter("pairs"), f" must hold two node ids each ({error})") from error
    return np.array(indices, dtype=np.int64).reshape(-1, 2)
