"""Pairs of nodes from tables, and nodes by the ids of their file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pgnn.errors import PGNNError
from pgnn.graph import Graph
from pgnn.io.files import id_array
from pgnn.io.graph_files import edge_columns, known_pair
from pgnn.io.ids import positions, to_common_kind
from pgnn.io.tables import read_table

if TYPE_CHECKING:
    import polars as pl


def read_pairs(path: Path, graph: Graph) -> tuple[NDArray[np.int64], NDArray[np.bool_] | None]:
    """Read pairs of ids of a graph's nodes from a table as `pgnn.read_graph` reads edges.

    Returns:
        Node indices `[m, 2]`, and whether each pair is positive, if the table has a column named
        `label`, of 0 and 1; else None.

    Raises:
        PGNNError: If the table cannot be read, or names a node the graph does not have.
    """
    table = read_table(path, None, [0, 1], lambda names: known_pair(names) is not None)
    table.require_width(2, "the two ids of a pair")
    first, second, _ = edge_columns(table, None, None, False)
    names = [name.strip().lower() for name in table.names or []]
    label = names.index("label") if "label" in names else None
    if label in (first, second):
        raise PGNNError(
            f"{path}: the column `label` stands where an id is expected; name the columns of ids "
            "source and target"
        )

    def check(fields: Sequence[str]) -> str | None:
        if not fields[first] or not fields[second]:
            return "an id is missing; every pair needs two"
        if label is not None and fields[label] not in ("0", "1"):
            return f"the label is {fields[label]!r}, but it must be 0 or 1"
        return None

    (source, target), numbers = table.load([first, second], [] if label is None else [label], check)
    if not len(source):
        raise PGNNError(f"{path}: holds no pairs")
    ends = [_indices(column, graph, path) for column in (source, target)]
    pairs = np.stack(ends, axis=1)
    if (pairs[:, 0] == pairs[:, 1]).any():
        raise PGNNError(f"{path}: a pair must be of two different nodes")
    if label is None:
        return pairs, None
    values = numbers.to_series().to_numpy()
    if not np.isin(values, (0, 1)).all():
        table.fail(check, "the column `label` must hold 0 and 1 only")
    return pairs, values == 1


def find_nodes(graph: Graph, names: Sequence[str]) -> NDArray[np.int64]:
    """Return the indices of nodes by the ids they have in their file.

    Raises:
        PGNNError: If an id is not one of the graph's.
    """
    import polars as pl

    return _indices(pl.Series([name.strip() for name in names], dtype=pl.String), graph, None)


def _indices(names: pl.Series, graph: Graph, path: Path | None) -> NDArray[np.int64]:
    import polars as pl

    ids = pl.Series(id_array(graph))
    given, known = to_common_kind([names, ids])
    found = positions(given, known)
    missing = np.flatnonzero(found < 0)
    if missing.size:
        place = "" if path is None else f"{path}: "
        examples = ", ".join(str(name) for name in ids[:3].to_list())
        raise PGNNError(
            f"{place}the graph has no node {str(names[int(missing[0])])!r} "
            f"(its ids are like {examples})"
        )
    return found
