"""The formats of graph files: edge tables, node tables, sparse matrices, GraphML."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pgnn.errors import PGNNError
from pgnn.graph import conversions
from pgnn.io.ids import as_array, number_nodes, to_common_kind
from pgnn.io.tables import NUMBER, Table, read_table
from pgnn.io.text import read_bytes, shown

if TYPE_CHECKING:
    import polars as pl

SOURCE_TARGET = (
    ("source", "target"),
    ("sourceid", "targetid"),
    ("src", "dst"),
    ("src", "dest"),
    ("source", "destination"),
    ("from", "to"),
    ("fromid", "toid"),
    ("fromnode", "tonode"),
    ("fromnodeid", "tonodeid"),
    ("u", "v"),
    ("node1", "node2"),
    ("node1id", "node2id"),
    ("nodea", "nodeb"),
    ("id1", "id2"),
    ("head", "tail"),
    ("start", "end"),
    ("sender", "receiver"),
)
NODE_ID = ("id", "node", "nodeid", "name", "vertex")
FLOAT32_MAX = float(np.finfo(np.float32).max)


class Parts(NamedTuple):
    """What a graph file says; arguments of `Graph.from_edges`, with ids as a series."""

    pairs: NDArray[np.int32]
    ids: pl.Series
    weights: NDArray[Any] | None
    directed: bool
    x: NDArray[Any] | None = None
    y: NDArray[Any] | None = None


class NodeTable(NamedTuple):
    """What a feature table says, a row a node."""

    path: Path
    ids: pl.Series
    x: NDArray[np.float32] | None
    y: NDArray[Any] | None


def read_edge_table(
    path: Path,
    source: str | int | None,
    target: str | int | None,
    weight: str | int | None,
    header: bool | None,
    listed: pl.Series | None,
) -> Parts:
    """Read an edge list; `listed` are ids of other nodes, which help to decide the ids' kind."""
    if (source is None) != (target is None):
        raise PGNNError("source and target belong together; give both or neither")
    if header not in (None, True, False):
        raise PGNNError(f"header must be True, False or None (got {header!r})")
    keys = [0 if source is None else source, 1 if target is None else target]
    keys += [weight] if weight is not None and weight is not False else []
    table = read_table(path, header, keys, lambda names: known_pair(names) is not None)
    table.require_width(2, "the two ids of an edge")
    columns = edge_columns(table, source, target, weight)
    check = _EdgeCheck(*columns)
    (first, second), numbers = table.load(
        columns[:2], [] if columns[2] is None else [columns[2]], check
    )
    weights = None
    if columns[2] is not None:
        weights = numbers.to_series().to_numpy()
        if not ((weights > 0) & np.isfinite(weights)).all():
            table.fail(check, "has weights that are not positive and finite")
    others = [] if listed is None else [listed]
    first, second, *_ = to_common_kind([first, second, *others])
    pairs, ids = number_nodes(first, second)
    return Parts(pairs, ids, weights, directed=False)


def edge_columns(
    table: Table, source: str | int | None, target: str | int | None, weight: str | int | None
) -> tuple[int, int, int | None]:
    """Return the positions of the source, target and weight columns."""
    if source is None or target is None:
        first, second = known_pair(table.names or []) or (0, 1)
    else:
        first, second = table.position(source, "source"), table.position(target, "target")
    if first == second:
        raise PGNNError(f"{table.path}: source and target are both {table.column_name(first)}")
    if weight is None:
        named = [i for i, name in enumerate(table.names or []) if _plain(name) == "weight"]
        return first, second, next((i for i in named if i not in (first, second)), None)
    return first, second, None if weight is False else table.position(weight, "weight")


@dataclass(frozen=True)
class _EdgeCheck:
    """Says what is wrong with the fields of an edge."""

    source: int
    target: int
    weight: int | None

    def __call__(self, fields: Sequence[str]) -> str | None:
        for role in ("source", "target"):
            if not fields[getattr(self, role)]:
                return f"the {role} id is missing; every edge needs two ids"
        if self.weight is None:
            return None
        value = _parse_number(fields[self.weight])
        if value is None or not 0 < value < np.inf:
            return (
                f"the weight is {fields[self.weight]!r}, but weights must be positive finite "
                "numbers; correct it, or ignore weights with weight=False"
            )
        return None


def read_node_table(path: Path, id_column: str | int | None, label: str | int | None) -> NodeTable:
    """Read ids, features and labels of nodes."""
    keys = [0 if id_column is None else id_column, *([] if label is None else [label])]
    table = read_table(path, None, keys, lambda names: _plain(names[0]) in NODE_ID)
    table.require_width(2, "a node id and a feature or label")
    named = [table.position(keys[0], "id_column")]
    named += [] if label is None else [table.position(label, "label")]
    if len(set(named)) < len(named):
        raise PGNNError(f"{path}: id_column and label are both {table.column_name(named[0])}")
    others = [position for position in range(table.width) if position not in named]
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

    def __call__(self, fields: Sequence[str]) -> str | None:
        for position, role in zip(self.named, ("node id", "label"), strict=False):
            if not fields[position]:
                return f"the {role} is missing; every node needs one"
        for position in self.features:
            value = _parse_number(fields[position])
            if value is None or not abs(value) <= FLOAT32_MAX:
                return (
                    f"{self.table.column_name(position)} is {fields[position]!r}, but features "
                    "must be finite numbers; fill in or drop missing ones, encode words as numbers"
                )
        return None


def _raise_repeated_node(table: Table, column: int) -> None:
    seen: dict[str, int] = {}
    for number, raw, fields in table.records():
        first = seen.setdefault(fields[column], number)
        if first != number:
            raise PGNNError(
                f"{table.path}, {table.unit} {number}: node {fields[column]!r} is already on "
                f"{table.unit} {first}; keep one row a node (got {shown(raw)})"
            )


def read_npz(path: Path, weight: str | int | None, directed: bool | None) -> Parts:
    """Read the adjacency matrix of a scipy .npz file."""
    import polars as pl
    import scipy.sparse as sp

    if not (weight is None or weight is False):
        raise PGNNError(
            f"{path}: the weights of a matrix are its entries; weight must be None or False "
            f"(got {weight!r})"
        )
    data = read_bytes(path)
    try:
        matrix = sp.load_npz(io.BytesIO(data))
    except Exception as error:  # of zipfile, zlib, numpy or scipy
        raise PGNNError(
            f"{path}: holds no sparse matrix, or is damaged; save one with scipy.sparse.save_npz"
        ) from error
    try:
        found = conversions.from_scipy(matrix, directed, False if weight is False else None)
    except PGNNError as error:
        raise PGNNError(f"{path}: {error}") from error
    ids = pl.Series(np.arange(found["num_nodes"], dtype=np.int64))
    return Parts(found["edges"], ids, found["weights"], found["directed"])


def read_graphml(path: Path, weight: str | int | None, directed: bool | None) -> Parts:
    """Read a GraphML file."""
    import networkx as nx
    import polars as pl

    if not (weight is None or weight is False or isinstance(weight, str)):
        raise PGNNError(f"{path}: weight must name an edge attribute (got {weight!r})")
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
            f"{path}: no edge has the attribute weight={weight!r}; there are "
            f"{', '.join(map(repr, sorted(attributes))) or 'none'}"
        )
    if directed and not graph.is_directed():
        graph = graph.to_directed()
    try:
        found = conversions.from_networkx(graph, None if weight is False else weight or "weight")
    except PGNNError as error:
        raise PGNNError(f"{path}: {error}") from error
    ids = pl.Series(found["node_ids"], dtype=pl.String)
    x, y = (None if found[key] is None else np.asarray(found[key]) for key in ("x", "y"))
    way = found["directed"] if directed is None else directed
    return Parts(found["edges"], ids, found["weights"], way, x, y)


def known_pair(names: Sequence[str]) -> tuple[int, int] | None:
    """Return the positions of a pair of names that usually head the ids of edges."""
    plain = [_plain(name) for name in names]
    for first, second in SOURCE_TARGET:
        if first in plain and second in plain:
            return plain.index(first), plain.index(second)
    return None


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))


def _parse_number(field: str) -> float | None:
    return float(field) if NUMBER.fullmatch(field.strip(" ")) else None
