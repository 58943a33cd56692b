"""Graphs from files: edge tables, node tables, sparse matrices, GraphML."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from pgnn.checks import checked, shown
from pgnn.errors import Parameter, PGNNError
from pgnn.graph import Graph
from pgnn.graph.arrays import Repeats, occurrences
from pgnn.graph.columns import (
    Column,
    EdgeColumns,
    add_nodes,
    as_node_names,
    edge_columns,
    known_pair,
    positions,
    to_common_kind,
)
from pgnn.graph.conversions import from_networkx, from_scipy
from pgnn.graph.graph import build_graph
from pgnn.graph.growing import GrowingArray
from pgnn.graph.numbering import NodeNumbers, in_order
from pgnn.graph.sides import LEFT_RIGHT, sides_of_table
from pgnn.io.limits import MAX_EMPTY_NODES, check_archive
from pgnn.io.node_tables import FeatureEncoding, NodeColumns, NodeTable, read_node_table
from pgnn.io.notes import (
    LOOKED_AT,
    EdgeTableFacts,
    ReadNotes,
    find_warnings,
    heads_a_table_of_nodes,
    side_name,
)
from pgnn.io.parts import TableParts, TextParts, read_parts
from pgnn.io.tables import NUMBER, Header, Problem, format_suffix
from pgnn.io.text import read_bytes
from pgnn.io.times import WANTED, TimeScale, is_readable, read_times
from pgnn.io.write import StrPath, as_path

if TYPE_CHECKING:
    import polars as pl

MOST_ALONE = 0.1  # share of lines that share no id with another, in files where most do


@checked
def read_graph(
    path: StrPath,
    *,
    source: Column | None = None,
    target: Column | None = None,
    weight: Column | bool | None = None,
    directed: bool | None = None,
    header: bool | None = None,
    features: StrPath | None = None,
    id_column: Column | None = None,
    label: Column | None = None,
    feature_columns: Sequence[Column] | None = None,
    encoding: FeatureEncoding | None = None,
    type_column: Column | None = None,
    between: str | Sequence[str] | None = None,
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
        features: A second table (parquet or text) with one row per node: its id, features and
            perhaps a label. Nodes without edges are kept. Numbers stay, yes and no (true and false)
            become 1 and 0, dates days; a column of at most 50 different words becomes one column
            per word, and a column of more words is left out. A blank number becomes the mean of
            its column, a blank word has a column of its own. A node without a row is all blank.
        id_column: Column of the ids in `features`, by default the first.
        label: Column of the labels in `features`, strings or integers; an empty one is unknown,
            and so is that of a node without a row.
        feature_columns: Which columns of `features` are features, by default all others; without
            any, `x` is None.
        encoding: How columns become numbers, as `ReadNotes.feature_notes` told of another table;
            by default as this table suggests.
        type_column: Column of the types of nodes in `features`. By default one of words named
            `type` or `kind`, if there is one.
        between: The two kinds of nodes that links are asked about, such as "customer,product":
            types, or the names of the two columns of ids. By default they are recognised: two
            types, or two columns, that all edges lead across; see
            `pgnn.graph.sides.sides_of_table`. "all": links between any two nodes.
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
        feature_columns=feature_columns,
        encoding=encoding,
        type_column=type_column,
        between=between,
        repeats=repeats,
    )
    return graph


class HowToRead(TypedDict, total=False):
    """The options of `read_graph`, which other readers of graphs share."""

    source: Column | None
    target: Column | None
    weight: Column | None
    directed: bool | None
    header: bool | None
    features: StrPath | None
    id_column: Column | None
    label: Column | None
    feature_columns: Sequence[Column] | None
    encoding: FeatureEncoding | None
    type_column: Column | None
    between: str | Sequence[str] | None
    repeats: Repeats


@checked
def read_graph_with_notes(path: StrPath, **how: Unpack[HowToRead]) -> tuple[Graph, ReadNotes]:
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
    check_options(how)
    nodes = read_nodes(how)
    suffix = format_suffix(file)
    directed, weight = how.get("directed"), how.get("weight")
    rows: EdgeRows | None = None
    warnings: tuple[Problem, ...] = ()
    if suffix in (".npz", ".graphml"):
        if any(how.get(name) is not None for name in ("source", "target", "header")):
            names = Parameter("source"), ", ", Parameter("target"), " and ", Parameter("header")
            raise PGNNError(f"{file}: ", *names, f" are for tables, not {suffix}")
        contents = (read_npz if suffix == ".npz" else read_graphml)(file, weight, directed)
    else:
        rows = read_edge_rows(file, how, nodes)
        contents = rows.numbered(nodes)._replace(directed=bool(directed))
        warnings = find_warnings(rows.facts(file, contents))
        rows = rows.without_pairs()  # they are used up below
    nodes = with_header(nodes, contents.ids, how)
    columns = None if rows is None else (rows.names[0], rows.names[1])
    graph, nodes = assemble(
        file,
        contents,
        nodes,
        how.get("repeats", "shortest"),
        columns,
        how.get("between"),
        overwrite=True,
    )
    if how.get("type_column") is not None and how.get("between") is None and graph.sides is None:
        raise PGNNError(
            f"{file}: ", Parameter("type_column"), " alone does not tell which links are asked "
            "about: not every edge leads from one of two types to the other; name two types with ",
            Parameter("between"),
        )  # fmt: skip
    strengths = how.get("repeats") == "sum"
    return graph, notes_of(file, graph, contents.weight, rows, nodes, strengths, warnings)


def notes_of(
    path: Path,
    graph: Graph,
    weight: str | None,
    rows: EdgeRows | None,
    nodes: NodeTable | None,
    strengths: bool,
    warnings: tuple[Problem, ...],
) -> ReadNotes:
    """Say how a graph was made of what was read."""
    return ReadNotes(
        path=path,
        num_nodes=graph.num_nodes,
        num_edges=graph.num_edges,
        directed=graph.directed,
        header=None if rows is None else rows.header,
        source=None if rows is None else rows.names[0],
        target=None if rows is None else rows.names[1],
        weight=weight,
        strengths=strengths,
        sides=graph.sides,
        features=None if nodes is None else nodes.path,
        feature_notes=None if nodes is None else nodes.notes,
        dropped_self_loops=graph.dropped_self_loops,
        dropped_repeats=graph.dropped_repeats,
        warnings=warnings,
    )


def check_options(how: HowToRead) -> None:
    """Refuse options that do not fit together."""
    _check_choice("directed", how.get("directed"))
    _check_choice("header", how.get("header"))
    columns = ("id_column", "label", "feature_columns", "type_column")
    if how.get("features") is None and any(how.get(name) is not None for name in columns):
        raise PGNNError(
            Parameter("id_column"),
            ", ",
            Parameter("label"),
            ", ",
            Parameter("feature_columns"),
            " and ",
            Parameter("type_column"),
            " name columns of a feature table; give ",
            Parameter("features"),
            " too",
        )


def read_nodes(how: HowToRead, *, header: bool | None = None) -> NodeTable | None:
    """Read the table of nodes, if there is one."""
    features = how.get("features")
    if features is None:
        return None
    chosen = NodeColumns(
        how.get("id_column"),
        how.get("label"),
        how.get("feature_columns"),
        how.get("encoding"),
        how.get("type_column"),
    )
    return read_node_table(as_path(features, "features"), chosen, header=header)


def with_header(nodes: NodeTable | None, ids: pl.Series, how: HowToRead) -> NodeTable | None:
    """Read the first line of a table of nodes as names, if it alone names no node of the edges."""
    if nodes is None or nodes.header is None or not nodes.header.undecided or len(nodes.ids) < 2:
        return nodes
    listed, known = to_common_kind([nodes.ids, ids])
    unknown = positions(listed, known) < 0
    return read_nodes(how, header=True) if unknown[0] and not unknown[1:].all() else nodes


def _check_choice(parameter: str, value: Any) -> None:
    if value is not None and not isinstance(value, bool | np.bool_):
        raise PGNNError(Parameter(parameter), f" must be True, False or None (got {shown(value)})")


class Contents(NamedTuple):
    """What a graph file holds; `weight` is what its weights are called, None without any."""

    pairs: NDArray[np.integer[Any]]
    ids: pl.Series
    weights: NDArray[Any] | None
    directed: bool
    x: NDArray[Any] | None = None
    y: NDArray[Any] | None = None
    weight: str | None = None


def assemble(
    path: Path,
    contents: Contents,
    nodes: NodeTable | None,
    repeats: Repeats,
    columns: tuple[str, str] | None = None,
    between: str | Sequence[str] | None = None,
    *,
    overwrite: bool = False,
) -> tuple[Graph, NodeTable | None]:
    """Join edges and node table into a graph; the table's notes count nodes without a row.

    With `overwrite`, the pairs are destroyed: sorting them takes no other memory.
    """
    table = nodes or NodeTable(path, contents.ids, contents.x, contents.y)
    known, listed = to_common_kind([contents.ids, table.ids])
    pairs, ids, rows = contents.pairs, known, None
    if nodes is not None or (known.dtype.is_integer() and not known.is_sorted()):
        pairs, ids = add_nodes(pairs, known, listed)
        without_row = known.filter(_mask(positions(known, listed) < 0))
        if len(without_row):
            table = table.without_rows(without_row, len(known), len(ids))
        rows = positions(ids, listed)
    if not len(ids):
        raise PGNNError(
            f"{path}: holds no edges (if its first line is an edge, not a header, use ",
            Parameter("header=False"),
            ")",
        )
    x, y, types = _of_nodes(table, rows)
    if between is None and columns is not None:
        words = side_name(columns[0]), side_name(columns[1])
        if words[0] and words[1] and words[0] != words[1]:
            columns = words[0], words[1]
        elif all(map(str.isdecimal, columns)):
            columns = LEFT_RIGHT
    try:
        sides = sides_of_table(pairs, len(ids), columns=columns, types=types, between=between)
        graph = build_graph(
            pairs,
            num_nodes=len(ids),
            weights=contents.weights,
            directed=contents.directed,
            x=x,
            y=y,
            node_ids=as_node_names(ids),
            repeats=repeats,
            overwrite=overwrite,
        )
        graph = replace(graph, sides=sides)
    except PGNNError as error:
        raise PGNNError(f"{path}: ", *error.args) from error
    return graph, None if nodes is None else table


def _of_nodes(
    table: NodeTable, rows: NDArray[np.int64] | None
) -> tuple[NDArray[Any] | None, NDArray[Any] | None, NDArray[Any] | None]:
    """Return features, labels and types of nodes, by their rows; None for the rows as they are."""
    x, y, types = table.x, table.y, table.types
    if rows is None:
        return x, y, types
    if x is not None and table.blank is not None:
        x = np.concatenate([x, table.blank[None]])[rows]  # the last row, -1, is the blank one
    elif x is not None:
        x = x[rows]
    labels = None if y is None else _labels_of(y, rows)
    return x, labels, None if types is None else np.append(types, "")[rows]


def _labels_of(y: NDArray[Any], rows: NDArray[np.int64]) -> NDArray[Any]:
    """Return the label of each node, None where it has no row."""
    if (rows >= 0).all():
        return y[rows]
    labels = np.full(len(rows), None, dtype=object)
    labels[rows >= 0] = y[rows[rows >= 0]].tolist()
    return labels


# ---------------------------------------------------------------------- edge tables


class EdgeRows(NamedTuple):
    """The rows of a table of edges.

    Attributes:
        pairs: Two places in `ids` per row, `[m, 2]`.
        ids: Distinct ids, Int64 or String.
        weights: One per row, or None.
        times: One per row, or None.
        scale: What the times are.
        names: What the columns of source, target, weight and time are called, or their positions.
        header: What the first line of a text table was read as; None for parquet.
        num_columns: How many columns the table has.
        first_line: The two ids of the first line of a text table, also if it was read as names.
    """

    pairs: NDArray[np.int32]
    ids: pl.Series
    weights: NDArray[np.float64] | None
    times: NDArray[np.float64] | None
    scale: TimeScale | None
    names: tuple[str, str, str | None, str | None]
    header: Header | None
    num_columns: int
    first_line: tuple[str, str] | None

    def numbered(self, nodes: NodeTable | None) -> Contents:
        """Number the ids; those of the table of nodes help to decide whether ids are integers."""
        others = [] if nodes is None else [nodes.ids]
        ids, *_ = to_common_kind([self.ids, *others])
        pairs, ids = in_order(self.pairs, ids)
        return Contents(pairs, ids, self.weights, directed=False, weight=self.names[2])

    def only(self, kept: NDArray[np.bool_]) -> EdgeRows:
        """Return some of the rows."""
        pairs = self.pairs[kept]
        named = occurrences(pairs, len(self.ids)) > 0
        places = np.cumsum(named, dtype=np.int32) - np.int32(1)
        return self._replace(
            pairs=places[pairs],
            ids=self.ids.filter(_mask(named)),
            weights=None if self.weights is None else self.weights[kept],
            times=None if self.times is None else self.times[kept],
        )

    def without_pairs(self) -> EdgeRows:
        """Return what is known of the rows without what they hold."""
        return self._replace(pairs=self.pairs[:0].copy(), ids=self.ids.clear())

    def facts(self, path: Path, contents: Contents) -> EdgeTableFacts:
        """Return what warnings are found by."""
        first, second = (self.ids[self.pairs[:LOOKED_AT, place]] for place in (0, 1))
        return EdgeTableFacts(
            path,
            self.names[:2],
            self.num_columns,
            self.header,
            self.first_line,
            (first, second),
            contents.pairs,
            len(contents.ids),
        )


def _mask(kept: NDArray[np.bool_]) -> pl.Series:
    import polars as pl

    return pl.Series(kept)


def read_edge_rows(
    path: Path, how: HowToRead, nodes: NodeTable | None, *, time: Column | None = None
) -> EdgeRows:
    """Read an edge list.

    Args:
        path: A parquet or text file.
        how: Which columns to read, and whether the first line holds names.
        nodes: The table of nodes; its ids help to decide what the first line is.
        time: The column of times.
    """
    source, target, weight = how.get("source"), how.get("target"), how.get("weight")
    keys = [0 if source is None else source, 1 if target is None else target]
    keys += [weight] if weight is not None and weight is not False else []
    keys += [] if time is None else [time]
    header = how.get("header")
    with read_parts(path, header, keys, lambda names: known_pair(names) is not None) as parts:
        parts.require_width(2, "the two ids of an edge")
        rows = _load_edges(parts, (source, target, weight), time)
        if (
            isinstance(parts, TextParts)
            and parts.header.undecided
            and _first_stands_apart(rows.numbered(nodes), None if nodes is None else nodes.ids)
        ):
            reason = "its ids occur in no other line, while those of other lines repeat"
            parts.use_header(Header(True, reason, guessed=True))
            rows = _load_edges(parts, (source, target, weight), time)
    return rows


def _load_edges(
    parts: TableParts,
    chosen: tuple[Column | None, Column | None, Column | None],
    time: Column | None,
) -> EdgeRows:
    columns = edge_columns(parts.columns, *chosen)
    when = None if time is None else parts.columns.position(time, "time")
    if when is not None and when in columns:
        what = "weights" if when == columns.weight else "ids"
        raise PGNNError(
            parts.columns.place, Parameter("time"), f" is {parts.columns.called(when)}, which "
            f"holds {what}",
        )  # fmt: skip
    check = EdgeCheck(columns, heads_a_table_of_nodes(parts.columns.names or ()))
    numbers, lengths, moments = NodeNumbers(), GrowingArray(np.float64), []
    for part in parts:
        ids, values, (*others,) = part.load(
            columns[:2],
            [] if columns.weight is None else [columns.weight],
            check,
            others=[] if when is None else [when],
        )
        first, second = to_common_kind(ids) if numbers.are_integers else ids
        numbers.add(first, second)
        moments += others
        if columns.weight is not None:
            weights = values.to_series().to_numpy()
            if not ((weights > 0) & np.isfinite(weights)).all():
                part.fail(check, "has weights that are not positive and finite")
            lengths.append(weights)
    times, scale = None, None
    if when is not None:
        times, scale = read_times(_joined(moments))
        if np.isnan(times).any():
            parts.fail(_TimeCheck(when, scale), "has times that cannot be read")
    ends = [parts.columns.short_name(position) for position in columns[:2]]
    line = parts.first_line if isinstance(parts, TextParts) else None
    pairs, nodes = numbers.taken()
    return EdgeRows(
        pairs,
        nodes,
        None if columns.weight is None else lengths.taken(),
        times,
        scale,
        (
            ends[0],
            ends[1],
            None if columns.weight is None else parts.columns.short_name(columns.weight),
            None if when is None else parts.columns.short_name(when),
        ),
        parts.header,
        parts.columns.width,
        None if line is None else (line[columns.source], line[columns.target]),
    )


def _joined(parts: Sequence[pl.Series]) -> pl.Series:
    import polars as pl

    return pl.concat(parts)


def _first_stands_apart(contents: Contents, listed: pl.Series | None) -> bool:
    """Whether the first line shares no id with another, while nearly all others do.

    Of real edges that is rare where most nodes have several; of a line of names it is the rule.
    """
    pairs = contents.pairs
    if len(pairs) < 3:
        return False
    is_single = occurrences(pairs, len(contents.ids)) == 1
    alone = is_single[pairs].all(axis=1)
    if not alone[0] or np.count_nonzero(alone[1:]) > MOST_ALONE * (len(pairs) - 1):
        return False
    return listed is None or bool((positions(contents.ids[pairs[0]], listed) < 0).all())


@dataclass(frozen=True)
class EdgeCheck:
    """Says what is wrong with the fields of an edge."""

    columns: EdgeColumns
    of_nodes: bool

    def __call__(self, fields: Sequence[str]) -> Problem | None:
        """Return the first problem of the fields of a record, or None."""
        for role in ("source", "target"):
            if not fields[getattr(self.columns, role)]:
                problem = f"the {role} id is missing; every edge needs two ids"
                if not self.of_nodes:
                    return (problem,)
                return (f"{problem}; a table of nodes belongs to ", Parameter("features"))
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


@dataclass(frozen=True)
class _TimeCheck:
    """Says what is wrong with the time of an edge."""

    column: int
    scale: TimeScale

    def __call__(self, fields: Sequence[str]) -> Problem | None:
        cell = fields[self.column]
        if is_readable(cell, self.scale):
            return None
        if not cell:
            return ("the time is missing; every edge needs one",)
        if self.scale.kind == "number":
            return (f"the time is {cell!r}, but the first is a number, so all must be numbers",)
        return (f"the time is {cell!r}, but {WANTED}",)


# ---------------------------------------------------------------------- other formats


def read_npz(path: Path, weight: Column | None, directed: bool | None) -> Contents:
    """Read the adjacency matrix of a scipy .npz file."""
    import polars as pl
    import scipy.sparse as sp

    if not (weight is None or weight is False):
        raise PGNNError(
            f"{path}: the weights of a matrix are its entries; ",
            Parameter("weight"),
            f" must be None or False (got {shown(weight)})",
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
            f"{path}: ", Parameter("weight"), f" must name an edge attribute (got {shown(weight)})"
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
