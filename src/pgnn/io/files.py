"""Graphs from files, embeddings and scores to files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pgnn.errors import PGNNError
from pgnn.graph import Graph
from pgnn.graph.arrays import as_node_ids
from pgnn.io.graph_files import (
    NodeTable,
    Parts,
    read_edge_table,
    read_graphml,
    read_node_table,
    read_npz,
)
from pgnn.io.ids import add_nodes, as_node_names, positions, to_common_kind
from pgnn.io.tables import format_suffix
from pgnn.io.write import write_columns

if TYPE_CHECKING:
    import polars as pl

StrPath = str | os.PathLike[str]


def read_graph(
    path: StrPath,
    *,
    source: str | int | None = None,
    target: str | int | None = None,
    weight: str | int | None = None,
    directed: bool | None = None,
    header: bool | None = None,
    features: StrPath | None = None,
    id_column: str | int | None = None,
    label: str | int | None = None,
) -> Graph:
    r"""Read a graph from a file: an edge list, a sparse matrix or GraphML.

    The suffix tells the format; a further `.gz` says that the file is compressed.

    - `.parquet`, `.csv` (commas; semicolons or tabs if the first line has no comma), `.tsv` (tabs),
      any other suffix (tabs, commas, semicolons or runs of blanks, whichever the first line has):
      a table with an edge a row. Blank lines and lines that begin with `#` or `%` are skipped;
      fields may be quoted but not span lines; blanks around fields do not count.
    - `.npz`: an adjacency matrix of `scipy.sparse.save_npz`, read as by `Graph.from_scipy`.
    - `.graphml`: read as by `Graph.from_networkx`.

    If every id is an integer, node ids are int64 in ascending order. Otherwise all are strings,
    exactly as written, in the order of the file (edges row by row, then the feature table); one id
    such as `007`, which as an integer would be another id, is enough for that.

    Args:
        path: The file.
        source: Column of the edges' first ids, by name or 0-based position (negative: from the
            end). By default the columns of a known pair of names (`source, target`, `src, dst`,
            `from, to`, `u, v`, `node1, node2`, ...), else the first two.
        target: Column of the second ids; given together with `source`.
        weight: Column of the edges' weights; of GraphML, the attribute. By default a column
            *named* `weight` if there is one. Any other column, such as the third of a file without
            a header, may hold times or types and is used only when it is given. False ignores
            weights.
        directed: Whether edges go one way. By default tables are undirected, a matrix is directed
            if it is not symmetric, and GraphML says it.
        header: Whether the first line holds names. By default it does if a column is given by name,
            if its names are a known pair, or if a column has a word there and only numbers below.
        features: A second table (parquet or text) with a row a node: its id, numeric features and
            perhaps a label. Nodes without edges are kept. Its header is detected likewise.
        id_column: Column of the ids in `features`, by default the first.
        label: Column of the labels in `features`, strings or integers. All other columns of
            `features` are features; without any, `x` is None.

    Raises:
        PGNNError: If a file cannot be used, with its name, the line and what to do.

    Example:
        >>> import tempfile
        >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        ...     _ = file.write("source,target\nann,bob\nbob,eve\n")
        ...     file.flush()
        ...     read_graph(file.name).node_ids.tolist()
        ['ann', 'bob', 'eve']
    """
    file = _as_path(path, "path")
    if directed not in (None, True, False):
        raise PGNNError(f"directed must be True, False or None (got {directed!r})")
    nodes = None
    if features is not None:
        nodes = read_node_table(_as_path(features, "features"), id_column, label)
    elif id_column is not None or label is not None:
        raise PGNNError("id_column and label name columns of a feature table; give features too")
    suffix = format_suffix(file)
    if suffix in (".npz", ".graphml"):
        if (source, target, header) != (None, None, None):
            raise PGNNError(f"{file}: source, target and header are for tables, not {suffix}")
        parts = (read_npz if suffix == ".npz" else read_graphml)(file, weight, directed)
    else:
        listed = None if nodes is None else nodes.ids
        parts = read_edge_table(file, source, target, weight, header, listed)
        parts = parts._replace(directed=bool(directed))
    return _assemble(file, parts, nodes or NodeTable(file, parts.ids, parts.x, parts.y))


def _assemble(path: Path, parts: Parts, nodes: NodeTable) -> Graph:
    """Join edges and node table into a graph."""
    known, listed = to_common_kind([parts.ids, nodes.ids])
    pairs, ids = add_nodes(parts.pairs, known, listed)
    if not len(ids):
        raise PGNNError(
            f"{path}: holds no edges (if its first line is an edge, not a header, use header=False)"
        )
    rows = _feature_rows(ids, listed, nodes.path)
    try:
        return Graph.from_edges(
            pairs,
            num_nodes=len(ids),
            weights=parts.weights,
            directed=parts.directed,
            x=None if nodes.x is None else nodes.x[rows],
            y=None if nodes.y is None else nodes.y[rows],
            node_ids=as_node_names(ids),
        )
    except PGNNError as error:
        raise PGNNError(f"{path}: {error}") from error


def _feature_rows(ids: pl.Series, listed: pl.Series, path: Path) -> NDArray[np.int64]:
    """Return the row of the feature table of each node."""
    rows = positions(ids, listed)
    missing = np.flatnonzero(rows < 0)
    if missing.size:
        first = ", ".join(repr(name) for name in ids[missing[:5]])
        raise PGNNError(
            f"{path}: has no row for {missing.size} of the {len(ids)} nodes of the graph (first: "
            f"{first}); add their rows, or leave features out"
        )
    return rows


def write_embeddings(path: StrPath, values: ArrayLike, ids: Graph | ArrayLike) -> None:
    """Write a row of numbers a node, with the node's own id.

    A table has the columns `id`, `z0`, `z1`, ...; an `.npz` the arrays `ids` and `embeddings`. The
    file appears whole or not at all.

    Args:
        path: A file ending in .csv, .csv.gz, .parquet or .npz.
        values: Finite numbers `[num_nodes, num_dimensions]`.
        ids: The graph whose nodes these are, or their ids.

    Raises:
        PGNNError: If the values are not such numbers or the file cannot be written.

    Example:
        >>> import tempfile
        >>> with tempfile.NamedTemporaryFile(suffix=".csv") as file:
        ...     write_embeddings(file.name, [[0.5, 1.0], [2.0, 0.0]], ["ann", "bob"])
        ...     print(Path(file.name).read_text().split())
        ['id,z0,z1', 'ann,0.5,1.0', 'bob,2.0,0.0']
    """
    file, names = _as_path(path, "path"), id_array(ids)
    matrix = _as_floats(values, "values")
    if matrix.ndim != 2 or len(matrix) != len(names):
        raise PGNNError(
            f"values must have a row a node, [{len(names)}, num_dimensions] "
            f"(got {list(matrix.shape)})"
        )
    columns = {"id": names} | {f"z{i}": column for i, column in enumerate(matrix.T)}
    write_columns(file, columns, {"ids": names, "embeddings": matrix})


def write_scores(
    path: StrPath,
    pairs: ArrayLike,
    scores: ArrayLike,
    ids: Graph | ArrayLike,
    *,
    spread: ArrayLike | None = None,
) -> None:
    """Write a score for each pair of nodes, with the nodes' own ids.

    The columns (of an `.npz`: the arrays) are `source`, `target`, `score` and, where given,
    `spread`. The file appears whole or not at all.

    Args:
        path: A file ending in .csv, .csv.gz, .parquet or .npz.
        pairs: Node indices `[num_pairs, 2]`.
        scores: A finite number a pair.
        ids: The graph whose nodes these are, or the ids of its nodes.
        spread: How far the score varied, a finite number a pair.

    Raises:
        PGNNError: If the arrays do not fit or the file cannot be written.
    """
    file, names = _as_path(path, "path"), id_array(ids)
    index = _as_pairs(pairs, len(names))
    columns = {"source": names[index[:, 0]], "target": names[index[:, 1]]}
    columns["score"] = _as_floats(scores, "scores", len(index))
    if spread is not None:
        columns["spread"] = _as_floats(spread, "spread", len(index))
    write_columns(file, columns, columns)


def _as_path(path: StrPath, parameter: str) -> Path:
    if not isinstance(path, str | os.PathLike) or not os.fspath(path):
        raise PGNNError(f"{parameter} must be the path of a file (got {path!r})")
    return Path(path)


def _as_pairs(pairs: ArrayLike, num_nodes: int) -> NDArray[np.integer[Any]]:
    """Return node indices `[num_pairs, 2]`."""
    try:
        index = np.asarray(pairs)
    except ValueError as error:
        raise PGNNError(f"pairs must be node indices [num_pairs, 2] ({error})") from error
    if index.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if index.ndim != 2 or index.shape[1] != 2 or not np.issubdtype(index.dtype, np.integer):
        raise PGNNError(
            f"pairs must be node indices [num_pairs, 2] (got {index.dtype} {list(index.shape)})"
        )
    if index.min() < 0 or index.max() >= num_nodes:
        raise PGNNError(
            f"pairs must hold node indices in 0..{num_nodes - 1} (got {index.min()}..{index.max()})"
        )
    return index


def _as_floats(values: ArrayLike, parameter: str, length: int | None = None) -> NDArray[Any]:
    """Return finite float32 or float64; with a length, one number each."""
    try:
        array = np.asarray(values)
        array = array.astype(np.result_type(array.dtype, np.float32), copy=False)
    except (TypeError, ValueError, RuntimeError) as error:  # RuntimeError: a tensor with gradient
        raise PGNNError(f"{parameter} must be an array of numbers ({error})") from error
    if not np.issubdtype(array.dtype, np.floating):
        raise PGNNError(f"{parameter} must be real numbers (got dtype {array.dtype})")
    if length is not None and array.shape != (length,):
        raise PGNNError(
            f"{parameter} must have one entry a pair, [{length}] (got {list(array.shape)})"
        )
    bad = np.argwhere(~np.isfinite(array))
    if bad.size:
        place = ", ".join(map(str, bad[0]))
        raise PGNNError(
            f"{parameter} must be finite ({parameter}[{place}] = {array[tuple(bad[0])]})"
        )
    return array


def id_array(ids: Graph | ArrayLike) -> NDArray[Any]:
    """Return ids as int64 or strings; other objects (of a networkx graph) by their `str`."""
    if isinstance(ids, Graph):
        names = ids.node_ids
    else:
        try:
            names = as_node_ids(ids, len(ids))  # type: ignore[arg-type]
        except TypeError as error:
            raise PGNNError(f"ids must be a graph or a list of node ids ({error})") from error
    if names.dtype == object:
        texts = np.array([str(name) for name in names])
        if len(np.unique(texts)) < len(texts):
            raise PGNNError("node ids must differ when written as text; give other ids")
        return texts
    return names
