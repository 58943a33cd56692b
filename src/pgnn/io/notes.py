"""How a graph was read: one line that says what the reader decided, and warnings of wrong guesses.

Nothing is printed here. `ReadNotes.line` says it in one line, `ReadNotes.warned` what looks wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pgnn.checks import checked
from pgnn.errors import Parameter, PGNNError
from pgnn.graph.arrays import occurrences
from pgnn.graph.columns import PLAIN_INTEGER, known_pair, plain_name
from pgnn.graph.sides import LEFT_RIGHT, Sides
from pgnn.io.node_tables import NODE_ID, FeatureNotes
from pgnn.io.tables import NUMBER, Header, Problem

if TYPE_CHECKING:
    import polars as pl

_FEWEST_EDGES = 5  # a smaller graph is a toy, of which nothing can be said
_MOST_ALONE = 0.9  # share of nodes with a single edge in a graph that looks wrong
LOOKED_AT = 100
"""How many ids of a column warnings are found by."""


@dataclass(frozen=True)
class EventNotes:
    """What was read of the times of edges.

    Attributes:
        column: The column of times.
        first: The earliest time.
        last: The latest time.
        num_events: Rows of the table that were kept.
        num_dropped: Rows that are later than `until`.
        until: The last time that was kept, as it was passed; None: all.
    """

    column: str
    first: str
    last: str
    num_events: int
    num_dropped: int = 0
    until: str | None = None

    def clauses(self) -> list[str]:
        """Say it in short clauses."""
        span = self.first if self.first == self.last else f"{self.first} to {self.last}"
        clauses = [f"time = {self.column} ({span})"]
        if self.num_dropped:
            clauses.append(f"{counted(self.num_dropped, 'event')} after {self.until} dropped")
        return clauses


@dataclass(frozen=True)
class ReadNotes:
    """How a graph was read from its file.

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
        strengths: Whether weights are strengths, which add up, and not lengths.
        sides: The two kinds of nodes that links are asked about, or None.
        events: What was read of times; None without them.
        features: The table of nodes, or None.
        feature_notes: How its columns became features.
        dropped_self_loops: Edges of a node with itself, which were left out.
        dropped_repeats: Edges that repeat another, which were left out.
        warnings: What looks wrong, each in pieces as those of a `PGNNError`.

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
    strengths: bool = False
    sides: Sides | None = None
    events: EventNotes | None = None
    features: Path | None = None
    feature_notes: FeatureNotes | None = None
    dropped_self_loops: int = 0
    dropped_repeats: int = 0
    warnings: tuple[Problem, ...] = ()

    @checked
    def line(self, word_for: Callable[[str], str | None] = lambda _: None) -> str:
        """Say it in one line.

        Args:
            word_for: What a command calls a parameter such as `header=False`; see
                `PGNNError.worded`.
        """
        clauses = [f"{self._nodes()}, {counted(self.num_edges, 'edge')}"]
        if self.source is not None:
            arrow = "->" if self.directed or self.sides else "-"
            clauses.append(f"{self.source} {arrow} {self.target}")
        elif self.directed:
            clauses.append("directed")
        if self.weight is not None:
            meaning = "strength" if self.strengths else "length"
            clauses.append(f"weight = {self.weight} ({meaning})")
        if self.events is not None:
            clauses += self.events.clauses()
        if self.features is not None:
            what = [] if self.feature_notes is None else self.feature_notes.clauses()
            said = f": {', '.join(what)}" if what else ""
            clauses.append(f"nodes of {self.features.name}{said}")
        added_up = self.strengths and self.weight is not None and self.dropped_repeats
        dropped = [
            counted(count, what)
            for count, what in (
                (self.dropped_self_loops, "self-loop"),
                (0 if added_up else self.dropped_repeats, "repeated edge"),
            )
            if count
        ]
        if added_up:
            row = "event" if self.events is not None else "edge"
            clauses.append(f"{counted(self.dropped_repeats, f'repeated {row}')} added up")
        if dropped:
            clauses.append(f"{' and '.join(dropped)} left out")
        pieces = [f"{self.path.name}: {'; '.join(clauses)}", *self._on_the_header()]
        return PGNNError(*pieces).worded(word_for)

    @checked
    def warned(self, word_for: Callable[[str], str | None] = lambda _: None) -> list[str]:
        """Return a line for each thing that looks wrong."""
        return [PGNNError(*pieces).worded(word_for) for pieces in self.warnings]

    def _nodes(self) -> str:
        """Count the nodes, of two sides each by the name of its column."""
        sides = self.sides
        if sides is None:
            return counted(self.num_nodes, "node")
        if sides.names == LEFT_RIGHT:
            left, right = len(sides.left_nodes), len(sides.right_nodes)
            return f"{left:,} + {right:,} nodes (two sides)"
        counts = [len(sides.left_nodes), len(sides.right_nodes)][: 1 if sides.same else 2]
        kinds = [counted(count, name) for count, name in zip(counts, sides.names, strict=False)]
        others = self.num_nodes - sum(counts)
        more = f" + {counted(others, 'other node')}" if others else ""
        return f"{' + '.join(kinds)} ({'one side' if sides.same else 'two sides'}){more}"

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
        header, events = self.header, self.events
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
            "between": None if self.sides is None else list(self.sides.names),
            "events": None if events is None else vars(events).copy(),
            "features": None if self.features is None else str(self.features),
            "feature_notes": None if self.feature_notes is None else self.feature_notes.to_json(),
            "dropped_self_loops": self.dropped_self_loops,
            "dropped_repeats": self.dropped_repeats,
            "warnings": self.warned(),
        }


def counted(count: int, what: str) -> str:
    """Return a number with its noun, such as "1 edge" or "2,000 edges"."""
    return f"{count:,} {what}{'s' * (count != 1 and not what.endswith('s'))}"


def side_name(column: str | None) -> str | None:
    """Return what the nodes of a column are called: `customer_id` holds customers.

    Example:
        >>> side_name("Customer ID"), side_name("0")
        ('customer', None)
    """
    words = (column or "").replace("_", " ").replace("-", " ").lower().split()
    if len(words) > 1 and words[-1] in ("id", "ids", "key", "no", "name"):
        words = words[:-1]
    name = " ".join(words)
    return name if name and not any(map(str.isdigit, name)) else None


@dataclass(frozen=True, eq=False)
class EdgeTableFacts:
    """What warnings are found by.

    Attributes:
        path: The file.
        names: What the columns of ids are called, or their positions.
        num_columns: How many columns the table has.
        header: What the first line was read as; None for parquet.
        first_line: The two ids of the first line of a text table, also if it was read as names.
        ids: The first ids of the two columns.
        pairs: The edges `[m, 2]`.
        num_nodes: Nodes that the edges name.
    """

    path: Path
    names: tuple[str, str]
    num_columns: int
    header: Header | None
    first_line: tuple[str, str] | None
    ids: tuple[pl.Series, pl.Series]
    pairs: NDArray[np.integer[Any]]
    num_nodes: int


def find_warnings(facts: EdgeTableFacts) -> tuple[Problem, ...]:
    """Return what looks wrong with a table that was read as edges."""
    warnings = [*_on_first_line(facts)]
    if len(facts.pairs) < _FEWEST_EDGES:
        return tuple(warnings)
    name = facts.path.name
    degrees = occurrences(facts.pairs, facts.num_nodes)
    if _looks_like_nodes(facts):
        warnings.append(
            (
                f"{name} looks like a table of nodes, not of edges: no id of column "
                f"{facts.names[0]} repeats; give the file of edges, and this one as ",
                Parameter("features"),
            )
        )
    elif (odd := _odd_ids(facts)) is not None:
        warnings.append(
            (
                f"{name}: column {odd} was read as ids of nodes, but holds fractions or dates; "
                "choose the columns of ids with ",
                Parameter("source"),
                " and ",
                Parameter("target"),
            )
        )
    elif np.count_nonzero(degrees == 1) > _MOST_ALONE * facts.num_nodes:
        warnings.append(
            (
                f"{name}: almost no id occurs twice ({np.count_nonzero(degrees == 1):,} of "
                f"{facts.num_nodes:,} nodes have a single edge), so there is little to learn "
                "from; are these the columns of ids? ",
                Parameter("source"),
                " and ",
                Parameter("target"),
                " choose others",
            )
        )
    return tuple(warnings)


def _looks_like_nodes(facts: EdgeTableFacts) -> bool:
    """Whether each row has a first id of its own, and its columns or names are those of nodes."""
    first, second = facts.pairs.T
    if known_pair(facts.names) is not None or occurrences(first, facts.num_nodes).max() > 1:
        return False
    has_names = facts.header is None or facts.header.present
    if has_names and heads_a_table_of_nodes(facts.names):
        return True
    return facts.num_columns > 2 and not np.isin(second, first).any()


def heads_a_table_of_nodes(names: Sequence[str]) -> bool:
    """Whether the first name is that of an id, and the second is not.

    Example:
        >>> heads_a_table_of_nodes(["id", "age"]), heads_a_table_of_nodes(["user_id", "item_id"])
        (True, False)
    """
    if len(names) < 2 or known_pair(names) is not None:
        return False
    plain = [plain_name(name) for name in names[:2]]
    is_id = [name in NODE_ID or name.endswith("id") for name in plain]
    return is_id[0] and (not is_id[1] or plain[1] == "name")


def _odd_ids(facts: EdgeTableFacts) -> str | None:
    """Return the name of a column of ids that holds fractions or dates."""
    for name, ids in zip(facts.names, facts.ids, strict=True):
        texts = [str(value) for value in ids.head(LOOKED_AT).to_list()]
        fractions = all(NUMBER.fullmatch(text) and "." in text for text in texts)
        dates = all(len(text) >= 10 and text[4:5] == text[7:8] == "-" for text in texts)
        if (fractions or dates) and texts:
            return name
    return None


def _on_first_line(facts: EdgeTableFacts) -> list[Problem]:
    """Warn of a header that was taken as an edge, or an edge as a header."""
    if facts.header is None or facts.first_line is None or len(facts.pairs) < 3:
        return []
    name, line = facts.path.name, ", ".join(facts.first_line)
    if facts.header.present:
        if not facts.header.guessed and all(map(NUMBER.fullmatch, facts.first_line)):
            return [
                (
                    f"{name}: its first line ({line}) was read as names, and holds numbers; ",
                    Parameter("header=False"),
                    " reads it as an edge",
                )
            ]
        return []
    degrees = occurrences(facts.pairs, facts.num_nodes)
    alone = bool((degrees[facts.pairs[0]] == 1).all())
    words = not any(map(NUMBER.fullmatch, facts.first_line))
    above_numbers = words and any(
        str(ids.dtype) == "String" and bool(ids[1:LOOKED_AT].str.contains(PLAIN_INTEGER).all())
        for ids in facts.ids
    )
    if above_numbers or (words and alone and facts.header.guessed):
        why = "the ids below are numbers" if above_numbers else "its ids occur nowhere else"
        return [
            (
                f"{name}: its first line ({line}) was read as an edge, but {why}; ",
                Parameter("header=True"),
                " reads it as names",
            )
        ]
    return []
