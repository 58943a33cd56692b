"""Edges with times, read from a table: what was known at a moment is a graph of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pgnn import checks
from pgnn.checks import checked
from pgnn.errors import Parameter, PGNNError
from pgnn.graph import Graph
from pgnn.graph.arrays import Repeats, as_written_ids
from pgnn.graph.columns import Column, positions, to_common_kind
from pgnn.graph.numbering import number_nodes
from pgnn.io.graph_files import (
    Contents,
    EdgeRows,
    HowToRead,
    assemble,
    check_options,
    notes_of,
    read_edge_rows,
    read_nodes,
    with_header,
)
from pgnn.io.node_tables import NodeTable
from pgnn.io.notes import EventNotes, ReadNotes, find_warnings
from pgnn.io.tables import format_suffix
from pgnn.io.times import TimeScale, read_times
from pgnn.io.write import StrPath, as_path


@dataclass(frozen=True, eq=False)
class Events:
    """Edges with times. `read_events` reads them from a file, `Events.of` takes arrays.

    A graph of the events before a moment is numbered by these events alone: what comes later
    decides nothing in it, neither its nodes nor their order nor a weight.

    Attributes:
        path: The file.
        rows: One row per event.
        nodes: The table of nodes, or None.
        directed: Whether edges go one way.
        strengths: Whether weights are strengths, so that repeated events add up; events without a
            weight then count as 1 each. Otherwise they are lengths, and the shortest stays.
        num_dropped: Events later than `until`, which are not in `rows`.
        until: The last time that was kept, as it was passed; None: all.

    Example:
        >>> events = Events.of(["a", "b", "a"], ["b", "c", "b"], [1, 2, 3])
        >>> events.graph(before=2), events.graph()
        (Graph(num_nodes=2, num_edges=1, weighted), Graph(num_nodes=3, num_edges=2, weighted))
    """

    path: Path
    rows: EdgeRows
    nodes: NodeTable | None = None
    directed: bool = False
    strengths: bool = True
    num_dropped: int = 0
    until: str | None = None
    between: str | Sequence[str] | None = None

    @classmethod
    @checked
    def of(
        cls,
        source: Sequence[Any],
        target: Sequence[Any],
        times: Sequence[Any],
        *,
        weights: ArrayLike | None = None,
        directed: bool = False,
        strengths: bool = True,
    ) -> Events:
        """Make events of columns: integer or string ids, and times that are numbers or dates.

        Raises:
            PGNNError: If a time cannot be read, or columns are not equally long.
        """
        import polars as pl

        source, target = _flat("source", source), _flat("target", target)
        times = _flat("times", times)
        numbers = None if weights is None else checks.numbers("weights", weights)
        if numbers is not None and numbers.ndim != 1:
            raise PGNNError(Parameter("weights"), " must be a list with one number for each event")
        for name, values in (("target", target), ("times", times), ("weights", numbers)):
            if values is not None and len(values) != len(source):
                raise PGNNError(
                    Parameter(name), f" has {len(values)} entries, ",
                    Parameter("source"), f" has {len(source)}; both need one for each event",
                )  # fmt: skip
        try:
            column = pl.Series(times)
        except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError) as error:
            raise PGNNError(Parameter("times"), " must be numbers, dates or texts") from error
        moments, scale = read_times(column)
        if np.isnan(moments).any():
            bad = int(np.flatnonzero(np.isnan(moments))[0])
            raise PGNNError(Parameter("times"), f"[{bad}] is {times[bad]!r}, which is no time")
        try:
            ends = [pl.Series(ids, dtype=_kind(ids)) for ids in (source, target)]
        except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError) as error:
            raise PGNNError(
                Parameter("source"), " and ", Parameter("target"), " must be integers or texts"
            ) from error
        names = ("source", "target", None if weights is None else "weight", "time")
        pairs, nodes = number_nodes(*to_common_kind(ends))
        rows = EdgeRows(pairs, nodes, numbers, moments, scale, names, None, 3, None)
        return cls(Path("events"), rows, directed=directed, strengths=strengths)

    @property
    def times(self) -> NDArray[np.float64]:
        """The time of each event."""
        assert self.rows.times is not None
        return self.rows.times

    @property
    def scale(self) -> TimeScale:
        """What the times are: dates or numbers."""
        assert self.rows.scale is not None
        return self.rows.scale

    def __len__(self) -> int:
        return len(self.times)

    @cached_property
    def pairs(self) -> NDArray[np.int64]:
        """Two numbers per event that tell its nodes apart, int64 `[m, 2]`; no graph's indices."""
        return self.rows.numbered(None).pairs.astype(np.int64)

    @checked
    def graph(self, *, before: float | None = None) -> Graph:
        """Return the graph of all events, or of those before a moment.

        Raises:
            PGNNError: If there are none.
        """
        return self.graph_with_notes(before=before)[0]

    @checked
    def graph_with_notes(self, *, before: float | None = None) -> tuple[Graph, ReadNotes]:
        """Return the same, and how it was read."""
        if before is not None:
            checks.number("before", before)
        kept = np.ones(len(self), dtype=bool) if before is None else self.times < before
        if not kept.any():
            when = "" if before is None else f" before {self.scale.shown(before)}"
            raise PGNNError(f"{self.path}: has no events{when}")
        rows = self.rows if kept.all() else self.rows.only(kept)
        contents = rows.numbered(self.nodes)._replace(directed=self.directed)
        if self.strengths and contents.weights is None:
            contents = contents._replace(
                weights=np.ones(len(rows.pairs)), weight="number of events"
            )
        repeats: Repeats = "sum" if self.strengths else "shortest"
        graph, nodes = assemble(
            self.path, contents, self.nodes, repeats, (rows.names[0], rows.names[1]), self.between
        )
        warnings = find_warnings(rows.facts(self.path, contents))
        notes = notes_of(self.path, graph, contents.weight, rows, nodes, self.strengths, warnings)
        return graph, replace(notes, events=self._notes(rows, contents))

    def _notes(self, rows: EdgeRows, contents: Contents) -> EventNotes:
        assert rows.times is not None
        return EventNotes(
            str(rows.names[3]),
            self.scale.shown(float(rows.times.min())),
            self.scale.shown(float(rows.times.max())),
            len(contents.pairs),
            self.num_dropped,
            self.until,
        )

    @checked
    def places(self, graph: Graph) -> NDArray[np.int64]:
        """Return the two nodes of each event in a graph, by their ids; -1 where it has none."""
        import polars as pl

        known = pl.Series(as_written_ids(graph.node_ids))
        named, ids = to_common_kind([self.rows.ids, known])
        return positions(named, ids)[self.rows.pairs]


def _flat(name: str, values: Sequence[Any]) -> list[Any]:
    """Return a column as a list; polars follows lists in lists, also one that holds itself."""
    column = list(values)
    if any(hasattr(value, "__len__") and not isinstance(value, str) for value in column):
        raise PGNNError(Parameter(name), " must be a flat list, one entry per event")
    return column


def _kind(ids: Sequence[Any]) -> Any:
    import polars as pl

    return pl.String if any(isinstance(name, str) for name in ids) else pl.Int64


@checked
def read_events(
    path: StrPath, time: Column, *, until: str | None = None, **how: Unpack[HowToRead]
) -> Events:
    r"""Read a table of edges with times.

    Times are ISO dates and datetimes (without a zone: UTC), or numbers: years, unix times, steps.

    Args:
        path: A parquet or text table.
        time: Its column of times, by name or position.
        until: The last time to keep; later events are dropped as if they had not happened yet. Of
            a day, a month or a year the whole is kept.
        how: As for `pgnn.read_graph`. With `repeats="sum"` weights are strengths.

    Raises:
        PGNNError: If the file cannot be used, with its name, the line and what to do.

    Example:
        >>> import tempfile
        >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        ...     _ = file.write("who,what,day\nann,pen,2024-01-01\nbob,pen,2024-02-01\n")
        ...     file.flush()
        ...     events = read_events(file.name, "day", until="2024-01")
        >>> len(events), events.num_dropped
        (1, 1)
    """
    file = as_path(path, "path")
    check_options(how)
    if format_suffix(file) in (".npz", ".graphml"):
        raise PGNNError(f"{file}: ", Parameter("time"), " names a column of a table of edges")
    nodes = read_nodes(how)
    rows = read_edge_rows(file, how, nodes, time=time)
    num_dropped = 0
    assert rows.times is not None
    assert rows.scale is not None
    if until is not None:
        kept = rows.times <= rows.scale.latest("until", until)
        num_dropped = int(np.count_nonzero(~kept))
        if not kept.any():
            first = rows.scale.shown(float(rows.times.min()))
            raise PGNNError(
                f"{file}: all events are after ", Parameter("until"), f" ({until}); the first is "
                f"at {first}",
            )  # fmt: skip
        rows = rows.only(kept)
    nodes = with_header(nodes, rows.numbered(nodes).ids, how)
    return Events(
        file,
        rows,
        nodes,
        directed=bool(how.get("directed")),
        strengths=how.get("repeats") == "sum",
        num_dropped=num_dropped,
        until=until,
        between=how.get("between"),
    )
