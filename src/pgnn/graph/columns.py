"""Which columns of a table hold the edges: by name, by position, or by the names that are usual."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pgnn.errors import Parameter, PGNNError

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
            raise PGNNError(name, f" must be a column name or position (got {column!r})")
        if isinstance(column, int):
            if -self.width <= column < self.width:
                return column % self.width
            raise PGNNError(
                self.place,
                name,
                f"={column}, but there are {self.width} columns; count from 0 to {self.width - 1}",
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
                f"={column!r} {problem}; the columns are {', '.join(map(repr, self.names))}",
            )
        return self.names.index(column)

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
