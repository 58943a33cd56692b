"""Pairs of nodes from tables, and nodes by the ids of their file."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from pgnn.checks import checked
from pgnn.errors import Parameter, PGNNError
from pgnn.graph import Graph
from pgnn.graph.arrays import as_written_ids
from pgnn.graph.columns import edge_columns, known_pair, positions, to_common_kind
from pgnn.io.tables import Header, Problem, Table, TextTable, read_table
from pgnn.io.text import shown

if TYPE_CHECKING:
    import polars as pl

_LISTED = 3  # unknown names that an error lists
_MOST_COMPARED = 50_000  # ids whose spelling is compared with that of an unknown name


@dataclass(frozen=True, eq=False)
class PairTable:
    """Pairs of nodes as a table lists them, in its order; repeated pairs are kept.

    Attributes:
        pairs: Node indices `[m, 2]`.
        labels: Whether each pair is positive, if the table has a column `label`; else None.
        num_skipped: How many pairs were skipped because they name a node the graph does not have.
        unknown: The first three names of such nodes.
        num_unknown: How many there are.
    """

    pairs: NDArray[np.int64]
    labels: NDArray[np.bool_] | None
    num_skipped: int = 0
    unknown: tuple[str, ...] = ()
    num_unknown: int = 0


@checked
def read_pairs(path: Path, graph: Graph) -> tuple[NDArray[np.int64], NDArray[np.bool_] | None]:
    """Read pairs of ids of a graph's nodes from a table as `pgnn.read_graph` reads edges.

    A first line of words is read as names also if neither of its ids is a node of the graph, while
    all ids below it are.

    Returns:
        Node indices `[m, 2]`, and whether each pair is positive, if the table has a column named
        `label`, of 0 and 1; else None.

    Raises:
        PGNNError: If the table cannot be read, names a node the graph does not have, or pairs a
            node with itself.
    """
    table = read_pair_table(path, graph)
    return table.pairs, table.labels


@checked
def read_pair_table(path: Path, graph: Graph, *, skip_unknown: bool = False) -> PairTable:
    """Read pairs as `read_pairs` does, and say what was skipped.

    Args:
        path: The table.
        graph: The graph whose nodes it names.
        skip_unknown: Whether to skip pairs that name a node the graph does not have, rather than
            to refuse the table.

    Raises:
        PGNNError: If the table cannot be read, has no pairs of nodes of the graph, or pairs a node
            with itself; or names a node the graph does not have, unless such pairs are skipped.
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
    pairs = np.stack(indices, axis=1)
    loops = np.flatnonzero((pairs[:, 0] == pairs[:, 1]) & (pairs[:, 0] >= 0))
    if len(loops):
        _refuse_loop(table, int(loops[0]))
    known = (pairs >= 0).all(axis=1)
    if known.all():
        return PairTable(pairs, labels)
    names = _unknown_names(ends, indices)
    num_skipped = int(np.count_nonzero(~known))
    if not skip_unknown:
        raise PGNNError(
            f"{path}: {_no_such_nodes(names, graph)}; {num_skipped:,} of {len(pairs):,} pairs name "
            "such nodes; correct them, or skip them with ", Parameter("skip_unknown=True"),
        )  # fmt: skip
    if num_skipped == len(pairs):
        raise PGNNError(f"{path}: {_no_such_nodes(names, graph)}; no pair is left")
    kept = None if labels is None else labels[known]
    return PairTable(pairs[known], kept, num_skipped, tuple(names[:_LISTED]), len(names))


def _refuse_loop(table: Table, row: int) -> NoReturn:
    """Raise for the record that pairs a node with itself."""
    for place, (number, raw, _) in enumerate(table.records()):
        if place == row:
            raise PGNNError(
                f"{table.path}, {table.unit} {number}: a pair must be of two different nodes "
                f"(got {shown(raw)})"
            )
    raise PGNNError(f"{table.path}: a pair must be of two different nodes")


def _unknown_names(ends: list[pl.Series], indices: list[NDArray[np.int64]]) -> list[str]:
    """Return the different names that are no nodes, in the order of the table."""
    rows = np.flatnonzero((np.stack(indices) < 0).any(axis=0)).tolist()
    names = (
        str(column[row])
        for row in rows
        for column, places in zip(ends, indices, strict=True)
        if places[row] < 0
    )
    return list(dict.fromkeys(names))


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

    ends, numbers, _ = table.load([first, second], [] if label is None else [label], check)
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


@checked
def find_nodes(graph: Graph, names: Sequence[str]) -> NDArray[np.int64]:
    """Return the indices of nodes by the ids they have in their file.

    Raises:
        PGNNError: If an id is not one of the graph's.
    """
    import polars as pl

    try:
        column = pl.Series([name.strip() for name in names], dtype=pl.String)
    except UnicodeEncodeError as error:
        raise PGNNError(Parameter("names"), f" must be valid Unicode ({error.reason})") from error
    places = _places(column, graph)
    _check_known(column, places, graph)
    return places


def _places(names: pl.Series, graph: Graph) -> NDArray[np.int64]:
    """Return the index of each name among the graph's nodes, -1 where it has none."""
    import polars as pl

    column, known = to_common_kind([names, pl.Series(as_written_ids(graph.node_ids))])
    return positions(column, known)


def _check_known(names: pl.Series, places: NDArray[np.int64], graph: Graph) -> None:
    missing = np.flatnonzero(places < 0).tolist()
    if missing:
        unknown = list(dict.fromkeys(str(names[row]) for row in missing))
        raise PGNNError(_no_such_nodes(unknown, graph))


def _no_such_nodes(names: list[str], graph: Graph) -> str:
    """Say that the graph has no such nodes; the first few are listed."""
    listed = ", ".join(map(repr, names[:_LISTED]))
    more = f" or {len(names) - _LISTED:,} others" if len(names) > _LISTED else ""
    ids = as_written_ids(graph.node_ids)
    near = list(dict.fromkeys(each for name in names[:_LISTED] for each in near_ids(name, ids)))
    if near:
        return f"the graph has no node {listed}{more}; did you mean {' or '.join(map(repr, near))}?"
    examples = ", ".join(str(name) for name in ids[:3])
    return f"the graph has no node {listed}{more} (its ids are like {examples})"


def near_ids(name: str, ids: NDArray[Any]) -> list[str]:
    """Return up to three ids that are spelt like a name, the nearest first.

    Case and blanks do not count. Of very many ids, only those that begin or end alike are compared.

    Example:
        >>> near_ids("Alcie", np.array(["alice", "bob", "alina"]))
        ['alice']
    """
    texts = [str(each) for each in ids.tolist()]
    plain = name.strip().casefold()
    if len(texts) > _MOST_COMPARED:
        ends = (plain[:2], plain[-2:])
        texts = [t for t in texts if t[:2].casefold() == ends[0] or t[-2:].casefold() == ends[1]]
        texts = texts[:_MOST_COMPARED]
    by_plain: dict[str, list[str]] = {}
    for text in texts:
        by_plain.setdefault(text.strip().casefold(), []).append(text)
    matches = difflib.get_close_matches(plain, by_plain, n=_LISTED, cutoff=0.7)
    return [text for match in matches for text in by_plain[match]][:_LISTED]
