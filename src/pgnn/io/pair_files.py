"""Pairs of nodes from tables, and nodes by the ids of their file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pgnn.errors import PGNNError
from pgnn.graph import Graph
from pgnn.graph.arrays import as_written_ids
from pgnn.graph.columns import edge_columns, known_pair
from pgnn.graph.numbering import positions, to_common_kind
from pgnn.io.notes import Header
from pgnn.io.tables import Problem, Table, TextTable, read_table

if TYPE_CHECKING:
    import polars as pl


def read_pairs(path: Path, graph: Graph) -> tuple[NDArray[np.int64], NDArray[np.bool_] | None]:
    """Read pairs of ids of a graph's nodes from a table as `pgnn.read_graph` reads edges.

    A first line of words is read as names also if neither of its ids is a node of the graph, while
    all ids below it are.

    Returns:
        Node indices `[m, 2]`, and whether each pair is positive, if the table has a column named
        `label`, of 0 and 1; else None.

    Raises:
        PGNNError: If the table cannot be read, or names a node the graph does not have.
    """
    table = read_table(path, None, [0, 1], lambda names: known_pair(names) is not None)
    table.require_width(2, "the two ids of a pair")
    ends, labels = _load_pairs(table)
    indices = [_places(column, graph) for column in ends]
    if isinstance(table, TextTable) and table.header.undecided and _only_first_unknown(indices):
        reason = "its ids are not nodes of the graph, and all others are"
        table = table.with_header(Header(True, reason, guessed=True))
        ends, labels = _load_pairs(table)
        indices = [column[1:] for column in indices]
    for column, places in zip(ends, indices, strict=True):
        _check_known(column, places, graph, f"{path}: ")
    pairs = np.stack(indices, axis=1)
    if (pairs[:, 0] == pairs[:, 1]).any():
        raise PGNNError(f"{path}: a pair must be of two different nodes")
    return pairs, labels


def _load_pairs(table: Table) -> tuple[list[pl.Series], NDArray[np.bool_] | None]:
    """Return the two columns of ids, and the labels if there are any."""
    first, second, _ = edge_columns(table.columns, None, None, False)
    names = [name.strip().lower() for name in table.columns.names or []]
    label = names.index("label") if "label" in names else None
    if label in (first, second):
        raise PGNNError(
            f"{table.path}: the column `label` stands where an id is expected; name the columns of "
            "ids source and target"
        )

    def check(fields: Sequence[str]) -> Problem | None:
        if not fields[first] or not fields[second]:
            return ("an id is missing; every pair needs two",)
        if label is not None and fields[label] not in ("0", "1"):
            return (f"the label is {fields[label]!r}, but it must be 0 or 1",)
        return None

    ends, numbers = table.load([first, second], [] if label is None else [label], check)
    if not len(ends[0]):
        raise PGNNError(f"{table.path}: holds no pairs")
    if label is None:
        return ends, None
    values = numbers.to_series().to_numpy()
    if not np.isin(values, (0, 1)).all():
        table.fail(check, "the column `label` must hold 0 and 1 only")
    return ends, values == 1


def _only_first_unknown(indices: list[NDArray[np.int64]]) -> bool:
    """Whether both ids of the first line are unknown, and none of any other line."""
    unknown = [places < 0 for places in indices]
    return len(unknown[0]) > 1 and all(bool(each[0]) and not each[1:].any() for each in unknown)


def find_nodes(graph: Graph, names: Sequence[str]) -> NDArray[np.int64]:
    """Return the indices of nodes by the ids they have in their file.

    Raises:
        PGNNError: If an id is not one of the graph's.
    """
    import polars as pl

    column = pl.Series([name.strip() for name in names], dtype=pl.String)
    places = _places(column, graph)
    _check_known(column, places, graph, "")
    return places


def _places(names: pl.Series, graph: Graph) -> NDArray[np.int64]:
    """Return the index of each name among the graph's nodes, -1 where it has none."""
    import polars as pl

    column, known = to_common_kind([names, pl.Series(as_written_ids(graph.node_ids))])
    return positions(column, known)


def _check_known(names: pl.Series, places: NDArray[np.int64], graph: Graph, prefix: str) -> None:
    missing = np.flatnonzero(places < 0)
    if missing.size:
        examples = ", ".join(str(name) for name in as_written_ids(graph.node_ids)[:3])
        raise PGNNError(
            f"{prefix}the graph has no node {str(names[int(missing[0])])!r} "
            f"(its ids are like {examples})"
        )
