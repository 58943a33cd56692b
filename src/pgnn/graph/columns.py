"""Edges in a table: which columns hold them, and of which kind their ids are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pgnn.checks import shown
from pgnn.errors import Parameter, PGNNError
from pgnn.graph.arrays import check_lengths

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

Column = str | int
"""A column by name, or by position: from 0, or from -1 backwards."""


class Columns(NamedTuple):
    """The columns of a table.

    Attributes:
        width: How many there are.
        names: Their names, or None for a table without a header.
        place: What messages begin with, such as the name of the file and a colon.
    """

    width: int
    names: Sequence[str] | None
    place: str = ""

    def position(self, column: Column, parameter: str) -> int:
        """Return the position of a column, from 0.

        Args:
            column: Its name or position.
            parameter: The parameter that it was passed as.

        Raises:
            PGNNError: If there is no such column, or there are two of the name.
        """
        name = Parameter(parameter)
        if isinstance(column, bool) or not isinstance(column, str | int):
            raise PGNNError(name, f" must be a column name or position (got {shown(column)})")
        if isinstance(column, int):
            if -self.width <= column < self.width:
                return column % self.width
            raise PGNNError(
                self.place,
                name,
                f"={shown(column)}, but there are {self.width} columns; count from 0 to "
                f"{self.width - 1}",
            )
        if self.names is None:
            raise PGNNError(
                self.place,
                name,
                f"={column!r}, but the table was read without a header; "
                f"give a position from 0 to {self.width - 1}",
            )
        if self.names.count(column) != 1:
            problem = "is ambiguous" if column in self.names else "does not exist"
            raise PGNNError(
                f"{self.place}column ",
                name,
                f"={column!r} {problem}; the columns are {self._listed()}",
            )
        return self.names.index(column)

    def _listed(self) -> str:
        """Return the names for a message: the first 50."""
        names = list(map(repr, self.names or []))
        return ", ".join(names[:50]) + (f" and {len(names) - 50:,} more" if names[50:] else "")

    def short_name(self, position: int) -> str:
        """Return the name of a column, or its position in a table without names."""
        return str(position) if self.names is None else self.names[position]

    def called(self, position: int) -> str:
        """Return how to call a column in a message.

        Example:
            >>> Columns(2, ["buyer", "item"]).called(1), Columns(2, None).called(1)
            ("column 'item'", 'column 1')
        """
        return f"column {position if self.names is None else repr(self.names[position])}"


class EdgeColumns(NamedTuple):
    """The positions of the columns of an edge table; `weight` is None if it has none."""

    source: int
    target: int
    weight: int | None


def edge_columns(
    columns: Columns, source: Column | None, target: Column | None, weight: Column | None
) -> EdgeColumns:
    """Choose the columns of edges.

    Args:
        columns: What there is to choose from.
        source: Column of the first ids; None: of a known pair of names, else the first column.
        target: Column of the second ids; passed together with `source`.
        weight: Column of the weights; None: one named `weight`, if there is one; False: none.

    Raises:
        PGNNError: If a column does not exist or would serve twice.

    Example:
        >>> edge_columns(Columns(3, ["weight", "to", "from"]), None, None, None)
        EdgeColumns(source=2, target=1, weight=0)
    """
    ends = Parameter("source"), " and ", Parameter("target")
    if (source is None) != (target is None):
        raise PGNNError(*ends, " belong together; give both or neither")
    if source is None or target is None:
        first, second = known_pair(columns.names or []) or (0, 1)
    else:
        first, second = columns.position(source, "source"), columns.position(target, "target")
    if first == second:
        raise PGNNError(columns.place, *ends, f" are both {columns.called(first)}")
    if weight is False:
        return EdgeColumns(first, second, None)
    if weight is None:
        named = (i for i, name in enumerate(columns.names or []) if plain_name(name) == "weight")
        return EdgeColumns(
            first, second, next((i for i in named if i not in (first, second)), None)
        )
    third = columns.position(weight, "weight")
    if third in (first, second):
        raise PGNNError(
            columns.place, Parameter("weight"), f" is {columns.called(third)}, which holds ids"
        )
    return EdgeColumns(first, second, third)


def known_pair(names: Sequence[str]) -> tuple[int, int] | None:
    """Return the positions of a pair of names that usually head the ids of edges."""
    plain = [plain_name(name) for name in names]
    for first, second in SOURCE_TARGET:
        if first in plain and second in plain:
            return plain.index(first), plain.index(second)
    return None


def plain_name(name: str) -> str:
    """Return a name without case, blanks and punctuation: `From Node_ID` is `fromnodeid`."""
    return "".join(filter(str.isalnum, name.lower()))


PLAIN_INTEGER = r"^(?:0|-?[1-9][0-9]*)$"


def as_id_column(column: pl.Series) -> pl.Series | None:
    """Return a column of integers or strings as Int64 or String; None for other types.

    Unsigned integers too large for 64 bits become strings.
    """
    import polars as pl

    if column.dtype.is_integer():
        integers = column.cast(pl.Int64, strict=False)  # null where a UInt64 is too large
        fits = integers.null_count() == column.null_count()
        return integers if fits else column.cast(pl.String)
    if column.dtype in (pl.String, pl.Categorical, pl.Enum, pl.Boolean):
        return column.cast(pl.String)
    return None


def to_common_kind(columns: Sequence[pl.Series]) -> list[pl.Series]:
    """Return all columns as Int64 if every id is an integer as Python writes it, else as String.

    Integers too large for 64 bits and spellings such as 007 or +7 would change on the way to an
    integer and back; one of them keeps all ids as they were written.
    """
    import polars as pl

    integers = [_as_integers(column) for column in columns]
    whole = [column for column in integers if column is not None]
    if len(whole) == len(columns):
        return whole
    return [column.cast(pl.String) for column in columns]


def _as_integers(column: pl.Series) -> pl.Series | None:
    import polars as pl

    if column.dtype == pl.Int64:
        return column
    if not column.str.contains(PLAIN_INTEGER).all():
        return None
    integers = column.cast(pl.Int64, strict=False)
    return None if integers.null_count() else integers


def positions(values: pl.Series, ids: pl.Series) -> NDArray[np.int64]:
    """Return the position of each value in the distinct `ids`, -1 where it has none."""
    import polars as pl

    table = pl.DataFrame({"id": ids}).with_row_index("position")
    joined = pl.DataFrame({"id": values}).join(table, on="id", how="left", maintain_order="left")
    return joined["position"].cast(pl.Int64).fill_null(-1).to_numpy()


def add_nodes(
    pairs: NDArray[np.integer[Any]], ids: pl.Series, listed: pl.Series
) -> tuple[NDArray[np.integer[Any]], pl.Series]:
    """Append listed ids that no edge has, and put integer ids back in ascending order."""
    import polars as pl

    ids = pl.concat([ids.alias("id"), listed.alias("id")]).unique(maintain_order=True)
    if ids.dtype != pl.Int64 or ids.is_sorted():
        return pairs, ids
    order = ids.arg_sort().to_numpy()
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return place[pairs], ids.sort()


def as_array(values: pl.Series) -> NDArray[Any]:
    """Return ids or labels as int64 or as numpy strings."""
    import polars as pl

    if values.dtype == pl.Int64:
        return values.to_numpy()
    longest = values.str.len_chars().max() if len(values) else 0
    check_lengths(int(longest or 0), len(values))  # type: ignore[arg-type]
    return np.array(values.to_list(), dtype=str)


def as_node_names(ids: pl.Series) -> NDArray[Any] | None:
    """Return ids as an array, or None for 0, 1, 2, ..., which a graph numbers so by itself."""
    names = as_array(ids)
    in_order = names.dtype == np.int64 and np.array_equal(names, np.arange(len(names)))
    return None if in_order else names
