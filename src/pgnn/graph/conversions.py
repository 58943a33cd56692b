"""Graphs of networkx, scipy.sparse, PyTorch Geometric and data frames, as parts of a `Graph`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pgnn.checks import true_or_false
from pgnn.errors import Parameter, PGNNError
from pgnn.graph.columns import (
    Column,
    Columns,
    as_id_column,
    as_node_names,
    edge_columns,
)
from pgnn.graph.numbering import number_nodes

if TYPE_CHECKING:
    import networkx as nx
    import polars as pl
    import scipy.sparse as sp
    from torch_geometric.data import Data

Frame: TypeAlias = Any
"""A data frame of polars, of pandas, or of another library that hands over Arrow columns."""


class Parts(NamedTuple):
    """What a source says of a graph: arguments of `Graph.from_edges`, by their names there."""

    edges: NDArray[np.integer[Any]]
    num_nodes: int
    weights: ArrayLike | None
    directed: bool
    x: ArrayLike | None = None
    y: ArrayLike | None = None
    node_ids: Any = None


# ---------------------------------------------------------------------- networkx, scipy, PyG


def from_networkx(graph: nx.Graph, weight: str | None) -> Parts:
    """Read nodes in their order, edges, and the attributes that all of them have."""
    nodes = list(graph.nodes)
    index = {node: position for position, node in enumerate(nodes)}
    pairs = np.fromiter(
        (index[node] for edge in graph.edges() for node in edge),
        dtype=np.int64,
        count=2 * graph.number_of_edges(),
    ).reshape(-1, 2)
    weights = None
    if weight is not None:
        weights = _attribute(
            [w for _, _, w in graph.edges(data=weight)], f"edge attribute {weight!r}"
        )
    return Parts(
        edges=pairs,
        num_nodes=len(nodes),
        weights=weights,
        directed=graph.is_directed(),
        x=_attribute([value for _, value in graph.nodes(data="x")], "node attribute 'x'"),
        y=_labels([value for _, value in graph.nodes(data="y")]),
        node_ids=nodes,
    )


def _labels(values: list[Any]) -> list[Any] | None:
    """Return labels, None for those that are missing; None if none is there."""
    return None if all(value is None for value in values) else values


def _attribute(values: list[Any], name: str) -> list[Any] | None:
    """Return the values if all are there, None if none is."""
    missing = sum(value is None for value in values)
    if missing == len(values):
        return None
    if missing:
        raise PGNNError(
            f"{name} is missing on {missing} of {len(values)}; set it on all or on none"
        )
    return values


def from_scipy(matrix: sp.sparray, directed: bool | None, weighted: bool | None) -> Parts:
    """Read the entries; decide from them what the caller left open.

    A symmetric matrix holds every undirected edge twice. One half of it is read, so that an edge is
    not taken for a repeat of itself.
    """
    import scipy.sparse as sp

    if not sp.issparse(matrix):
        raise PGNNError(f"from_scipy needs a scipy.sparse matrix (got {type(matrix).__name__})")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise PGNNError(f"an adjacency matrix must be square (got shape {matrix.shape})")
    if directed is not None:
        directed = true_or_false("directed", directed)
    if weighted is not None:
        weighted = true_or_false("weighted", weighted)
    if np.iscomplexobj(matrix):
        raise PGNNError("an adjacency matrix must be real (got complex numbers)")
    entries = _checked_entries(matrix)
    (rows, columns), values = entries.coords, entries.data
    if weighted is None:
        weighted = bool((values != 1).any())
    if not directed:
        symmetric = (entries.tocsr() != entries.T.tocsr()).nnz == 0
        directed = directed is None and not symmetric
        if symmetric:
            half = rows <= columns
            rows, columns, values = rows[half], columns[half], values[half]
    return Parts(
        edges=np.stack([rows, columns], axis=1),
        num_nodes=matrix.shape[0],
        weights=values if weighted else None,
        directed=directed,
    )


def _checked_entries(matrix: sp.sparray) -> sp.coo_array:
    """Return the entries of a matrix whose arrays fit each other: compiled code trusts them."""
    import scipy.sparse as sp

    problem = "the arrays of the sparse matrix do not fit each other"
    try:
        if hasattr(matrix, "check_format"):  # of compressed rows, columns and blocks
            matrix.check_format(full_check=True)
        entries = sp.coo_array(matrix.tocoo())
        values = entries.data
        for places, size in zip(entries.coords, entries.shape, strict=True):
            fits = places.dtype.kind in "iu" and places.shape == values.shape and values.ndim == 1
            if not fits or (len(places) and not 0 <= places.min() <= places.max() < size):
                raise ValueError("an entry lies outside of the matrix")
        if values.dtype.kind not in "biuf":
            raise ValueError(f"its entries are no numbers ({values.dtype})")
    except Exception as error:  # of many kinds, by what is wrong
        raise PGNNError(f"{problem} ({error})") from error
    return entries


def from_pyg(data: Data, directed: bool | None) -> Parts:
    """Read the tensors of a Data; of undirected edges, which it holds both ways, one of the two."""
    if data.edge_index is None:
        raise PGNNError("data.edge_index is missing")
    y = data.y if data.y is not None and data.y.shape == (data.num_nodes,) else None
    weights = data.edge_weight if "edge_weight" in data else None
    pairs = data.edge_index.cpu().numpy().T
    lengths = None if weights is None else weights.detach().cpu().numpy()
    if not directed:
        from torch_geometric.utils import is_undirected

        symmetric = is_undirected(data.edge_index, weights, data.num_nodes)
        directed = directed is None and not symmetric
        if symmetric:
            half = pairs[:, 0] <= pairs[:, 1]
            pairs, lengths = pairs[half], None if lengths is None else lengths[half]
    ids = data.node_ids if "node_ids" in data else None
    labels = None if y is None else y.cpu().numpy()
    if labels is not None and "classes" in data:
        names = np.array([*data.classes, None], dtype=object)  # -1 is the last
        labels = names[labels]
    return Parts(
        edges=pairs,
        num_nodes=data.num_nodes,
        weights=lengths,
        directed=directed,
        x=None if data.x is None else data.x.detach().cpu().numpy(),
        y=labels,
        node_ids=ids.cpu().numpy() if ids is not None and hasattr(ids, "cpu") else ids,
    )


# ---------------------------------------------------------------------- data frames


def is_frame(value: Any) -> bool:
    """Whether a value is a data frame: it has named columns and a way to hand them over."""
    kind = type(value)  # not the value: a lazy frame warns when it is asked for its columns
    return hasattr(kind, "columns") and any(
        hasattr(kind, way) for way in ("to_series", "iloc", "collect_schema", "__arrow_c_stream__")
    )


def from_frame(
    frame: Frame,
    source: Column | None,
    target: Column | None,
    weight: Column | None,
    directed: bool,
) -> Parts:
    """Read one edge per row; ids keep their type.

    Integers are numbered in ascending order, other ids in the order of the rows. If one column
    holds integers and the other strings, all ids become strings.
    """
    if not is_frame(frame):
        raise PGNNError(
            f"from_frame needs a data frame of polars or pandas (got {type(frame).__name__})"
        )
    table = _with_series(frame)
    columns = Columns(len(table.columns), [str(name) for name in table.columns])
    if columns.width < 2:
        raise PGNNError(
            f"an edge frame needs at least 2 columns, of the ids of an edge (got {columns.width})"
        )
    chosen = edge_columns(columns, source, target, weight)
    ends = [_column(table, position) for position in chosen[:2]]
    if not len(ends[0]):
        raise PGNNError("the frame holds no edges; it has no rows")
    for role, ids in zip(("source", "target"), ends, strict=True):
        if ids.null_count():
            row = ids.is_null().arg_max()
            raise PGNNError(f"row {row}: the {role} id is missing; every edge needs two ids")
    pairs, names = _numbered(ends, [columns.called(position) for position in chosen[:2]])
    weights = None
    if chosen.weight is not None:
        weights = _weights(_column(table, chosen.weight), columns.called(chosen.weight))
    num_nodes = int(pairs.max()) + 1 if names is None else len(names)
    return Parts(pairs, num_nodes, weights, directed, node_ids=names)


def _with_series(frame: Frame) -> Frame:
    """Return a frame whose columns `_column` can take by position."""
    import polars as pl

    if isinstance(frame, pl.LazyFrame):
        return frame.collect()
    if hasattr(frame, "to_series") or hasattr(frame, "iloc"):
        return frame
    return pl.DataFrame(frame)


def _column(frame: Frame, position: int) -> pl.Series:
    """Return a column as a series of polars; what is missing is null.

    pandas is asked for its values and not for Arrow, which it has only beside pyarrow.
    """
    import polars as pl

    if isinstance(frame, pl.DataFrame):
        return frame.to_series(position)
    array = np.asarray(frame.iloc[:, position].to_numpy())
    if array.dtype.kind in "biuf":
        return pl.Series(array)
    values = [None if _is_missing(value) else value for value in array.tolist()]
    if all(value is None or isinstance(value, str) for value in values):
        return pl.Series(values, dtype=pl.String)
    if all(value is None or isinstance(value, int | np.integer) for value in values):
        return pl.Series(values, dtype=pl.Int64)
    if all(value is None or isinstance(value, int | float | np.number) for value in values):
        return pl.Series(values, dtype=pl.Float64)
    return pl.Series(values, dtype=pl.Object)


def _is_missing(value: object) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):  # of pandas
        return True
    return isinstance(value, float) and value != value


def _numbered(ends: list[pl.Series], called: list[str]) -> tuple[NDArray[np.int32], Any]:
    """Return pairs of node indices and the id of each node, or None for 0, 1, 2, ..."""
    import polars as pl

    for ids, name in zip(ends, called, strict=True):
        if ids.dtype.is_float():
            raise PGNNError(
                f"{name} holds fractions ({ids.dtype}), and ids must be whole numbers, strings or "
                "other values; cast it to integers"
            )
    plain = [column for column in map(as_id_column, ends) if column is not None]
    if len(plain) == len(ends):
        if plain[0].dtype != plain[1].dtype:
            plain = [column.cast(pl.String) for column in plain]
        pairs, ids = number_nodes(plain[0], plain[1])
        return pairs, as_node_names(ids)
    first, second = (column.to_list() for column in ends)
    names = list(dict.fromkeys(name for edge in zip(first, second, strict=True) for name in edge))
    index = {name: position for position, name in enumerate(names)}
    pairs = np.array([[index[name] for name in column] for column in (first, second)]).T
    return pairs.astype(np.int32), names


def _weights(column: pl.Series, called: str) -> NDArray[np.float64]:
    import polars as pl

    if not column.dtype.is_numeric():
        raise PGNNError(Parameter("weight"), f": {called} must hold numbers (got {column.dtype})")
    if column.null_count():
        raise PGNNError(
            Parameter("weight"),
            f": {called} is empty in row {column.is_null().arg_max()}; fill it or drop the row",
        )
    return column.cast(pl.Float64).to_numpy()
