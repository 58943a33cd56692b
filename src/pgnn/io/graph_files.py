"""Graphs from files: edge tables, node tables, sparse matrices, GraphML."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pgnn.errors import Parameter, PGNNError
from pgnn.graph import Graph
from pgnn.graph.arrays import Repeats
from pgnn.graph.columns import (
    Column,
    EdgeColumns,
    add_nodes,
    as_array,
    as_node_names,
    edge_columns,
    known_pair,
    number_nodes,
    plain_name,
    positions,
    to_common_kind,
)
from pgnn.graph.conversions import from_networkx, from_scipy
from pgnn.io.limits import MAX_EMPTY_NODES, check_archive
from pgnn.io.tables import (
    NUMBER,
    Header,
    Problem,
    ReadNotes,
    Table,
    TextTable,
    format_suffix,
    read_table,
)
from pgnn.io.text import read_bytes, shown
from pgnn.io.write import StrPath, as_path

if TYPE_CHECKING:
    import polars as pl

NODE_ID = ("id", "node", "nodeid", "name", "vertex")
FLOAT32_MAX = float(np.finfo(np.float32).max)
MOST_ALONE = 0.1  # share of lines that share no id with another, in files where most do


def read_graph(
    path: StrPath,
    *,
    source: Column | None = None,
    target: Column | None = None,
    weight: Column | None = None,
    directed: bool | None = None,
    header: bool | None = None,
    features: StrPath | None = None,
    id_column: Column | None = None,
    label: Column | None = None,
    repeats: Repeats = "shortest",
) -> Graph:
    r"""Read a graph from a file: an edge list, a sparse matrix or GraphML.

    The suffix tells the format; a further `.gz` says that the file is compressed.

    - `.parquet`, `.csv` (commas; semicolons or tabs if the first line has no comma), `.tsv` (tabs),
      any other suffix (tabs, commas, semicolons or runs of blanks, whichever the first line has):
      a table with one row per edge. Blank lines and lines that begin with `#` or `%` are skipped;
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
        target: Column of the second ids; passed together with `source`.
        weight: Column of the edges' weights; of GraphML, the attribute. By default a column
            *named* `weight` if there is one. Any other column, such as the third of a file without
            a header, may hold times or types and is used only when it is named here. False
            ignores weights.
        directed: Whether edges go one way. By default tables are undirected, a matrix is directed
            if it is not symmetric, and GraphML says it.
        header: Whether the first line holds names. By default it does if a column is chosen by its
            name, if its names are a known pair, if a column has a word there and only numbers
            below, if all ids below have digits and those in it have none, or if its ids occur in no
            other line while those of nearly all other lines do. `read_graph_with_notes` tells what
            was decided.
        features: A second table (parquet or text) with one row per node: its id, numeric features
            and perhaps a label. Nodes without edges are kept.
        id_column: Column of the ids in `features`, by default the first.
        label: Column of the labels in `features`, strings or integers. All other columns of
            `features` are features; without any, `x` is None.
        repeats: What an edge weighs that is listed more than once: "shortest", the smallest of its
            weights (right for lengths), or "sum", all together (right for strengths).

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
    graph, _ = read_graph_with_notes(
        path,
        source=source,
        target=target,
        weight=weight,
        directed=directed,
        header=header,
        features=features,
        id_column=id_column,
        label=label,
        repeats=repeats,
    )
    return graph


def read_graph_with_notes(
    path: StrPath,
    *,
    source: Column | None = None,
    target: Column | None = None,
    weight: Column | None = None,
    directed: bool | None = None,
    header: bool | None = None,
    features: StrPath | None = None,
    id_column: Column | None = None,
    label: Column | None = None,
    repeats: Repeats = "shortest",
) -> tuple[Graph, ReadNotes]:
    r"""Read a graph as `read_graph` does, and say how the file was read.

    Example:
        >>> import tempfile
        >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        ...     _ = file.write("buyer,item\nann,pen\nbob,pen\nann,ink\n")
        ...     file.flush()
        ...     graph, notes = read_graph_with_notes(file.name)
        >>> notes.source, notes.header.present
        ('buyer', True)
    """
    file = as_path(path, "path")
    _check_choice("directed", directed)
    _check_choice("header", header)
    nodes = None
    if features is not None:
        nodes = read_node_table(as_path(features, "features"), id_column, label)
    elif id_column is not None or label is not None:
        raise PGNNError(
            Parameter("id_column"),
            " and ",
            Parameter("label"),
            " name columns of a feature table; give ",
            Parameter("features"),
            " too",
        )
    suffix = format_suffix(file)
    if suffix in (".npz", ".graphml"):
        if (source, target, header) != (None, None, None):
            names = Parameter("source"), ", ", Parameter("target"), " and ", Parameter("header")
            raise PGNNError(f"{file}: ", *names, f" are for tables, not {suffix}")
        contents = (read_npz if suffix == ".npz" else read_graphml)(file, weight, directed)
    else:
        listed = None if nodes is None else nodes.ids
        contents = read_edge_table(file, (source, target, weight), header, listed)
        contents = contents._replace(directed=bool(directed))
    graph = _assemble(file, contents, nodes, repeats)
    notes = ReadNotes(
        path=file,
        num_nodes=graph.num_nodes,
        num_edges=graph.num_edges,
        directed=graph.directed,
        header=contents.header,
        source=contents.source,
        target=contents.target,
        weight=contents.weight,
        features=None if nodes is None else nodes.path,
        dropped_self_loops=graph.dropped_self_loops,
        dropped_repeats=graph.dropped_repeats,
    )
    return graph, notes


def _check_choice(parameter: str, value: Any) -> None:
    if value is not None and not isinstance(value, bool | np.bool_):
        raise PGNNError(Parameter(parameter), f" must be True, False or None (got {value!r})")


class Contents(NamedTuple):
    """What a graph file holds, and which columns were read for what (None: it has no such)."""

    pairs: NDArray[np.integer[Any]]
    ids: pl.Series
    weights: NDArray[Any] | None
    directed: bool
    x: NDArray[Any] | None = None
    y: NDArray[Any] | None = None
    header: Header | None = None
    source: str | None = None
    target: str | None = None
    weight: str | None = None


class NodeTable(NamedTuple):
    """What a feature table holds, one row per node."""

    path: Path
    ids: pl.Series
    x: NDArray[np.float32] | None
    y: NDArray[Any] | None


def _assemble(path: Path, contents: Contents, nodes: NodeTable | None, repeats: Repeats) -> Graph:
    """Join edges and node table into a graph."""
    nodes = nodes or NodeTable(path, contents.ids, contents.x, contents.y)
    known, listed = to_common_kind([contents.ids, nodes.ids])
    pairs, ids = add_nodes(contents.pairs, known, listed)
    if not len(ids):
        raise PGNNError(
            f"{path}: holds no edges (if its first line is an edge, not a header, use ",
            Parameter("header=False"),
            ")",
        )
    rows = _feature_rows(ids, listed, nodes.path)
    try:
        return Graph.from_edges(
            pairs,
            num_nodes=len(ids),
            weights=contents.weights,
            directed=contents.directed,
            x=None if nodes.x is None else nodes.x[rows],
            y=None if nodes.y is None else nodes.y[rows],
            node_ids=as_node_names(ids),
            repeats=repeats,
        )
    except PGNNError as error:
        raise PGNNError(f"{path}: ", *error.args) from error


def _feature_rows(ids: pl.Series, listed: pl.Series, path: Path) -> NDArray[np.int64]:
    """Return the row of the feature table of each node."""
    rows = positions(ids, listed)
    missing = np.flatnonzero(rows < 0)
    if missing.size:
        first = ", ".join(repr(name) for name in ids[missing[:5]])
        raise PGNNError(
            f"{path}: has no row for {missing.size} of the {len(ids)} nodes of the graph (first: "
            f"{first}); add their rows, or leave ",
            Parameter("features"),
            " out",
        )
    return rows


# ---------------------------------------------------------------------- edge tables


def read_edge_table(
    path: Path,
    chosen: tuple[Column | None, Column | None, Column | None],
    header: bool | None,
    listed: pl.Series | None,
) -> Contents:
    """Read an edge list.

    Args:
        path: A parquet or text file.
        chosen: The columns of source, target and weight, or None for each that was not passed.
        header: Whether the first line holds names; None: decide.
        listed: Ids of nodes that another table has; they help to decide what ids are.
    """
    source, target, weight = chosen
    keys = [0 if source is None else source, 1 if target is None else target]
    keys += [weight] if weight is not None and weight is not False else []
    table = read_table(path, header, keys, lambda names: known_pair(names) is not None)
    table.require_width(2, "the two ids of an edge")
    contents = _load_edges(table, chosen, listed)
    if (
        isinstance(table, TextTable)
        and table.header.undecided
        and _first_stands_apart(contents, listed)
    ):
        reason = "its ids occur in no other line, while those of other lines repeat"
        table = table.with_header(Header(True, reason, guessed=True))
        contents = _load_edges(table, chosen, listed)
    return contents


def _load_edges(
    table: Table,
    chosen: tuple[Column | None, Column | None, Column | None],
    listed: pl.Series | None,
) -> Contents:
    columns = edge_columns(table.columns, *chosen)
    check = _EdgeCheck(columns)
    numbers = [] if columns.weight is None else [columns.weight]
    (first, second), values = table.load(columns[:2], numbers, check)
    weights = None
    if columns.weight is not None:
        weights = values.to_series().to_numpy()
        if not ((weights > 0) & np.isfinite(weights)).all():
            table.fail(check, "has weights that are not positive and finite")
    others = [] if listed is None else [listed]
    first, second, *_ = to_common_kind([first, second, *others])
    pairs, ids = number_nodes(first, second)
    names = [None if i is None else table.columns.short_name(i) for i in columns]
    return Contents(
        pairs,
        ids,
        weights,
        directed=False,
        header=table.header,
        source=names[0],
        target=names[1],
        weight=names[2],
    )


def _first_stands_apart(contents: Contents, listed: pl.Series | None) -> bool:
    """Whether the first line shares no id with another, while nearly all others do.

    Of real edges that is rare where most nodes have several; of a line of names it is the rule.
    """
    pairs = contents.pairs
    if len(pairs) < 3:
        return False
    degrees = np.bincount(pairs.ravel())
    alone = (degrees[pairs] == 1).all(axis=1)
    if not alone[0] or np.count_nonzero(alone[1:]) > MOST_ALONE * (len(pairs) - 1):
        return False
    return listed is None or bool((positions(contents.ids[pairs[0]], listed) < 0).all())


@dataclass(frozen=True)
class _EdgeCheck:
    """Says what is wrong with the fields of an edge."""

    columns: EdgeColumns

    def __call__(self, fields: Sequence[str]) -> Problem | None:
        for role in ("source", "target"):
            if not fields[getattr(self.columns, role)]:
                return (f"the {role} id is missing; every edge needs two ids",)
        if self.columns.weight is None:
            return None
        field = fields[self.columns.weight]
        value = _parse_number(field)
        if value is None or not 0 < value < np.inf:
            return (
                f"the weight is {field!r}, but weights must be positive finite numbers; "
                "correct it, or ignore weights with ",
                Parameter("weight=False"),
            )
        return None


# ---------------------------------------------------------------------- node tables


def read_node_table(path: Path, id_column: Column | None, label: Column | None) -> NodeTable:
    """Read ids, features and labels of nodes."""
    keys = [0 if id_column is None else id_column, *([] if label is None else [label])]
    table = read_table(path, None, keys, lambda names: plain_name(names[0]) in NODE_ID)
    table.require_width(2, "a node id and a feature or label")
    named = [table.columns.position(keys[0], "id_column")]
    named += [] if label is None else [table.columns.position(label, "label")]
    if len(set(named)) < len(named):
        names = Parameter("id_column"), " and ", Parameter("label")
        raise PGNNError(f"{path}: ", *names, f" are both {table.columns.called(named[0])}")
    others = [position for position in range(table.columns.width) if position not in named]
    check = _NodeCheck(table, named, others)
    (ids, *labels), numbers = table.load(named, others, check)
    with np.errstate(over="ignore"):  # too large for float32 is reported as not finite
        features = numbers.to_numpy().astype(np.float32)
    if not np.isfinite(features).all():
        table.fail(check, "has features that are not finite")
    (ids,) = to_common_kind([ids])
    if ids.n_unique() < len(ids):
        _raise_repeated_node(table, named[0])
    y = as_array(to_common_kind(labels)[0]) if labels else None
    return NodeTable(path, ids, features if others else None, y)


@dataclass(frozen=True)
class _NodeCheck:
    """Says what is wrong with the fields of a node."""

    table: Table
    named: list[int]
    features: list[int]

    def __call__(self, fields: Sequence[str]) -> Problem | None:
        for position, role in zip(self.named, ("node id", "label"), strict=False):
            if not fields[position]:
                return (f"the {role} is missing; every node needs one",)
        for position in self.features:
            value = _parse_number(fields[position])
            if value is None or not abs(value) <= FLOAT32_MAX:
                return (
                    f"{self.table.columns.called(position)} is {fields[position]!r}, but features "
                    "must be finite numbers; fill in or drop missing ones, encode words as numbers",
                )
        return None


def _raise_repeated_node(table: Table, column: int) -> None:
    seen: dict[str, int] = {}
    for number, raw, fields in table.records():
        first = seen.setdefault(fields[column], number)
        if first != number:
            raise PGNNError(
                f"{table.path}, {table.unit} {number}: node {fields[column]!r} is already on "
                f"{table.unit} {first}; keep one row per node (got {shown(raw)})"
            )


# ---------------------------------------------------------------------- other formats


def read_npz(path: Path, weight: Column | None, directed: bool | None) -> Contents:
    """Read the adjacency matrix of a scipy .npz file."""
    import polars as pl
    import scipy.sparse as sp

    if not (weight is None or weight is False):
        raise PGNNError(
            f"{path}: the weights of a matrix are its entries; ",
            Parameter("weight"),
            f" must be None or False (got {weight!r})",
        )
    data = read_bytes(path)
    try:
        size = check_archive(path, data)
        matrix = sp.load_npz(io.BytesIO(data))
    except PGNNError:
        raise
    except Exception as error:  # of zipfile, zlib, numpy or scipy
        raise PGNNError(
            f"{path}: holds no sparse matrix, or is damaged; save one with scipy.sparse.save_npz"
        ) from error
    if max(matrix.shape, default=0) > max(MAX_EMPTY_NODES, size):
        raise PGNNError(
            f"{path}: says that it has {max(matrix.shape):,} nodes, and has far fewer entries; "
            "save the matrix as csr"
        )
    try:
        parts = from_scipy(matrix, directed, False if weight is False else None)
    except PGNNError as error:
        raise PGNNError(f"{path}: ", *error.args) from error
    ids = pl.Series(np.arange(parts.num_nodes, dtype=np.int64))
    weights = None if parts.weights is None else np.asarray(parts.weights)
    name = None if weights is None else "the entries"
    return Contents(parts.edges, ids, weights, parts.directed, weight=name)


def read_graphml(path: Path, weight: Column | None, directed: bool | None) -> Contents:
    """Read a GraphML file."""
    import networkx as nx
    import polars as pl

    if not (weight is None or weight is False or isinstance(weight, str)):
        raise PGNNError(
            f"{path}: ", Parameter("weight"), f" must name an edge attribute (got {weight!r})"
        )
    data = read_bytes(path)
    try:
        graph = nx.read_graphml(io.BytesIO(data))
    except Exception as error:  # networkx lets errors of many kinds through
        raise PGNNError(
            f"{path}: cannot be read as GraphML ({str(error) or type(error).__name__}); "
            "it is damaged or of another format"
        ) from error
    attributes = {name for *_, values in graph.edges(data=True) for name in values}
    if weight and weight not in attributes:
        raise PGNNError(
            f"{path}: no edge has the attribute ",
            Parameter("weight"),
            f"={weight!r}; there are {', '.join(map(repr, sorted(attributes))) or 'none'}",
        )
    if directed and not graph.is_directed():
        graph = graph.to_directed()
    attribute = None if weight is False else weight or "weight"
    try:
        parts = from_networkx(graph, attribute)
    except PGNNError as error:
        raise PGNNError(f"{path}: ", *error.args) from error
    return Contents(
        parts.edges,
        pl.Series(parts.node_ids, dtype=pl.String),
        None if parts.weights is None else np.asarray(parts.weights),
        parts.directed if directed is None else directed,
        x=None if parts.x is None else np.asarray(parts.x),
        y=None if parts.y is None else np.asarray(parts.y),
        weight=None if parts.weights is None else attribute,
    )


def _parse_number(field: str) -> float | None:
    return float(field) if NUMBER.fullmatch(field.strip(" ")) else None
