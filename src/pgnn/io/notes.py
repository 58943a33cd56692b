"""How a file was read: what the reader decided by itself, so that a wrong guess is seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pgnn.errors import Parameter, PGNNError


@dataclass(frozen=True)
class Header:
    """Whether the first line of a text table was read as names of columns, and why.

    Attributes:
        present: True: as names. False: as an edge.
        reason: What decided it.
        guessed: Whether the line might as well be the other thing, as far as its own words tell.
    """

    present: bool
    reason: str
    guessed: bool = False

    @property
    def undecided(self) -> bool:
        """Whether it is read as an edge only because nothing speaks for names so far."""
        return self.guessed and not self.present


@dataclass(frozen=True)
class ReadNotes:
    """How a graph was read from its file. Nothing is printed: `line` says it in one line.

    Attributes:
        path: The file.
        num_nodes: Nodes of the graph.
        num_edges: Edges of the graph.
        directed: Whether edges go one way.
        header: What the first line of a text table was read as; None for other formats.
        source: What the column of the first ids is called, or its position; None for formats
            without columns.
        target: The column of the second ids.
        weight: The column (of GraphML: the attribute) of the weights; None if there is none.
        features: The table of nodes, or None.
        dropped_self_loops: Edges of a node with itself, which were left out.
        dropped_repeats: Edges that repeat another, which were left out.

    Example:
        >>> header = Header(True, "its ids occur in no other line", guessed=True)
        >>> print(ReadNotes(Path("e.csv"), 4, 3, False, header, "buyer", "item").line())
        e.csv: 4 nodes, 3 edges; buyer - item; its first line was read as names (its ids occur in \
no other line; header=False reads it as an edge)
    """

    path: Path
    num_nodes: int
    num_edges: int
    directed: bool
    header: Header | None = None
    source: str | None = None
    target: str | None = None
    weight: str | None = None
    features: Path | None = None
    dropped_self_loops: int = 0
    dropped_repeats: int = 0

    def line(self, word_for: Callable[[str], str | None] = lambda _: None) -> str:
        """Say it in one line.

        Args:
            word_for: What a command calls a parameter such as `header=False`; see
                `PGNNError.worded`.
        """
        clauses = [f"{_counted(self.num_nodes, 'node')}, {_counted(self.num_edges, 'edge')}"]
        if self.source is not None:
            arrow = "->" if self.directed else "-"
            clauses.append(f"{self.source} {arrow} {self.target}")
        elif self.directed:
            clauses.append("directed")
        if self.weight is not None:
            clauses.append(f"weight = {self.weight}")
        if self.features is not None:
            clauses.append(f"nodes of {self.features.name}")
        dropped = [
            _counted(count, what)
            for count, what in (
                (self.dropped_self_loops, "self-loop"),
                (self.dropped_repeats, "repeated edge"),
            )
            if count
        ]
        if dropped:
            clauses.append(f"{' and '.join(dropped)} left out")
        pieces = [f"{self.path.name}: {'; '.join(clauses)}", *self._on_the_header()]
        return PGNNError(*pieces).worded(word_for)

    def _on_the_header(self) -> list[str]:
        """Return what to say of the first line, in pieces; nothing where it is plain."""
        if self.header is None or not self.header.guessed:
            return []
        if self.header.present:
            otherwise = (Parameter("header=False"), " reads it as an edge)")
            return [f"; its first line was read as names ({self.header.reason}; ", *otherwise]
        otherwise = (Parameter("header=True"), " reads it as names)")
        return [f"; its first line was read as an edge ({self.header.reason}; ", *otherwise]

    def to_json(self) -> dict[str, Any]:
        """Return the notes as values that JSON has."""
        header = self.header
        return {
            "path": str(self.path),
            "num_nodes": self.num_nodes,
            "num_edges": self.num_edges,
            "directed": self.directed,
            "header": None if header is None else header.present,
            "header_reason": None if header is None else header.reason,
            "source": self.source,
            "target": self.target,
            "weight": self.weight,
            "features": None if self.features is None else str(self.features),
            "dropped_self_loops": self.dropped_self_loops,
            "dropped_repeats": self.dropped_repeats,
        }


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"
