"""Tables of nodes: ids, labels, and columns of any kind that become numbers.

Numbers stay, yes and no become 1 and 0, dates become days, and a column of few different words
becomes one column per word. Blanks are filled. `FeatureEncoding` describes it all in values that
JSON and TOML have, so that a run encodes a later table as it did the first.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from pgnn.checks import checked
from pgnn.errors import Parameter, PGNNError
from pgnn.graph.columns import Column, as_array, plain_name, to_common_kind
from pgnn.io.limits import open_file
from pgnn.io.tables import MISSING, NUMBER, Header, Problem, Table, read_table
from pgnn.io.text import file_errors, shown
from pgnn.io.times import read_times

if TYPE_CHECKING:
    import polars as pl

NODE_ID = ("id", "node", "nodeid", "name", "vertex")
NODE_TYPE = ("type", "kind", "nodetype")
FLOAT32_MAX = float(np.finfo(np.float32).max)
MOST_WORDS = 50  # different words of a column that becomes one column per word
_MOSTLY = 0.8  # share of numbers from which a column is one of numbers, and its words are blanks
_FEW_ROWS = 10  # in a table this short, only words that are all different are no groups
_FLAGS = {"true": 1.0, "yes": 1.0, "y": 1.0, "t": 1.0, "false": 0.0, "no": 0.0, "n": 0.0, "f": 0.0}
_DAY = 24 * 3600
Kind = Literal["number", "flag", "date", "words"]


@dataclass(frozen=True)
class FeatureColumn:
    """How one column of a table becomes one or several columns of numbers.

    Attributes:
        name: Its name, or its position in a table without names.
        kind: "number"; "flag" (yes and no); "date" (days since 1970); "words" (one column per
            word).
        mean: What a blank becomes, for all kinds but words.
        words: The words, in the order of their columns.
        has_blank: Whether blanks have a column of their own, after the words; otherwise a blank is
            all zeros, as is a word that is not listed.
    """

    name: Column
    kind: Kind
    mean: float = 0.0
    words: tuple[str, ...] = ()
    has_blank: bool = False

    @property
    def width(self) -> int:
        """How many columns of numbers it becomes."""
        return len(self.words) + self.has_blank if self.kind == "words" else 1

    @property
    def blank(self) -> NDArray[np.float32]:
        """What a blank becomes, float32 `[width]`."""
        if self.kind != "words":
            return np.array([self.mean], dtype=np.float32)
        row = np.zeros(self.width, dtype=np.float32)
        row[len(self.words) :] = 1
        return row

    def to_json(self) -> dict[str, Any]:
        """Return it as values that JSON and TOML have."""
        if self.kind == "words":
            more: dict[str, Any] = {"words": list(self.words), "has_blank": self.has_blank}
        else:
            more = {"mean": self.mean}
        return {"name": self.name, "kind": self.kind, **more}

    @classmethod
    def from_json(cls, values: Any) -> FeatureColumn:
        """Read what `to_json` gave.

        Raises:
            PGNNError: If it is anything else.
        """
        try:
            name, kind = values["name"], values["kind"]
            mean, words = values.get("mean", 0.0), values.get("words", [])
            blank = values.get("has_blank", False)
            sound = (
                isinstance(name, str | int)
                and not isinstance(name, bool)
                and kind in get_args(Kind)
                and isinstance(mean, int | float)
                and abs(float(mean)) <= FLOAT32_MAX
                and isinstance(words, list)
                and all(isinstance(word, str) for word in words)
                and len(set(words)) == len(words) <= 100 * MOST_WORDS
                and isinstance(blank, bool)
            )
        except (LookupError, TypeError, AttributeError, OverflowError):
            sound = False
        if not sound:
            raise PGNNError("the description of a feature column is damaged; train anew")
        return cls(name, kind, float(mean), tuple(words), blank)


@dataclass(frozen=True)
class FeatureEncoding:
    """How the columns of a table of nodes become features.

    Attributes:
        columns: One description per column that is read.

    Example:
        >>> column = FeatureColumn("city", "words", words=("oslo", "rome"))
        >>> FeatureEncoding((column,)).num_features
        2
    """

    columns: tuple[FeatureColumn, ...]

    @property
    def num_features(self) -> int:
        """How many numbers a node has."""
        return sum(column.width for column in self.columns)

    @property
    def blank(self) -> NDArray[np.float32]:
        """The features of a node of which nothing is known, float32 `[num_features]`."""
        none = np.empty(0, dtype=np.float32)
        return np.concatenate([none, *(column.blank for column in self.columns)])

    def to_json(self) -> list[dict[str, Any]]:
        """Return one description per column, as values that JSON and TOML have."""
        return [column.to_json() for column in self.columns]

    @classmethod
    @checked
    def from_json(cls, values: Any) -> FeatureEncoding:
        """Read what `to_json` gave.

        Raises:
            PGNNError: If it is anything else.
        """
        if not isinstance(values, list):
            raise PGNNError("the description of the features is damaged; train anew")
        return cls(tuple(FeatureColumn.from_json(value) for value in values))


@dataclass(frozen=True)
class FeatureNotes:
    """How the features of a graph were read from a table of nodes.

    Attributes:
        encoding: How columns became numbers.
        sha256: The hash of the file.
        num_blanks: Blanks that were filled.
        num_unseen: Words that the encoding does not list, and so are all zeros.
        num_odd: Words among numbers, which were read as blanks.
        left_out: Columns that were not used, with the reason.
        num_without_row: Nodes of the graph that the table has no row for.
        num_nodes: Nodes of the graph.
    """

    encoding: FeatureEncoding
    sha256: str
    num_blanks: int = 0
    num_unseen: int = 0
    num_odd: int = 0
    left_out: tuple[tuple[str, str], ...] = ()
    num_without_row: int = 0
    num_nodes: int = 0

    def clauses(self) -> list[str]:
        """Say it in short clauses; nothing of what is plain."""
        clauses = []
        worded = [c for c in self.encoding.columns if c.kind == "words"]
        plain = len(self.encoding.columns) - len(worded)
        if plain and (worded or self.left_out):
            clauses.append(f"{plain} column{'s' * (plain != 1)} of numbers")
        clauses += [f"{c.name} as {c.width} one-hot columns" for c in worded]
        if self.num_blanks:
            clauses.append(f"{self.num_blanks:,} blank{'s' * (self.num_blanks != 1)} filled")
        if self.num_odd:
            clauses.append(
                f"{self.num_odd:,} word{'s' * (self.num_odd != 1)} among numbers read as blank"
            )
        if self.num_unseen:
            clauses.append(
                f"{self.num_unseen:,} word{'s' * (self.num_unseen != 1)} that training did not "
                "see read as zeros"
            )
        clauses += [f"{name} left out ({reason})" for name, reason in self.left_out]
        if self.num_without_row:
            clauses.append(
                f"{self.num_without_row:,} of {self.num_nodes:,} nodes have no row and are read as "
                "blank"
            )
        return clauses

    def to_json(self) -> dict[str, Any]:
        """Return the notes as values that JSON has."""
        return {
            "columns": self.encoding.to_json(),
            "sha256": self.sha256,
            "num_blanks": self.num_blanks,
            "num_unseen": self.num_unseen,
            "num_odd": self.num_odd,
            "left_out": [list(each) for each in self.left_out],
            "num_without_row": self.num_without_row,
        }


@dataclass(frozen=True, eq=False)
class NodeTable:
    """What a table of nodes holds, one row per node.

    Attributes:
        path: Where it was read from.
        ids: The ids.
        x: Features `[rows, num_features]`, or None without any.
        y: Labels `[rows]`, or None.
        notes: How features were read; None for features that a graph file brought along.
        header: What the first line of a text table was read as.
        types: The type of each node, a word; empty where it is blank. None without types.
    """

    path: Path
    ids: pl.Series
    x: NDArray[np.float32] | None
    y: NDArray[Any] | None
    notes: FeatureNotes | None = None
    header: Header | None = None
    types: NDArray[Any] | None = None

    @property
    def blank(self) -> NDArray[np.float32] | None:
        """The features of a node without a row."""
        return None if self.notes is None else self.notes.encoding.blank

    def without_rows(self, names: pl.Series, num_joined: int, num_nodes: int) -> NodeTable:
        """Return the table with notes that count nodes of a graph it has no row for.

        Args:
            names: These nodes.
            num_joined: How many nodes the edges name.
            num_nodes: How many nodes the graph has, those of the table alone included.

        Raises:
            PGNNError: If the table has no row for any node of the edges.
        """
        first = ", ".join(repr(name) for name in names.head(5))
        if self.notes is None or len(names) == num_joined:
            raise PGNNError(
                f"{self.path}: has no row for any of the {num_joined} nodes that edges join "
                f"(first: {first}); give the table of these nodes as ",
                Parameter("features"),
            )
        notes = replace(self.notes, num_without_row=len(names), num_nodes=num_nodes)
        return replace(self, notes=notes)


class NodeColumns(NamedTuple):
    """Which columns of a table of nodes to read, and how; None: decide.

    Attributes:
        id_column: Column of the ids; by default the first.
        label: Column of the labels; by default none.
        features: Columns of features; by default all others that can be used.
        encoding: How they become numbers; by default as this table suggests.
        type_column: Column of the types of nodes; by default one of words named so.
    """

    id_column: Column | None = None
    label: Column | None = None
    features: Sequence[Column] | None = None
    encoding: FeatureEncoding | None = None
    type_column: Column | None = None


def read_node_table(path: Path, chosen: NodeColumns, *, header: bool | None = None) -> NodeTable:
    """Read ids, features and labels of nodes.

    Args:
        path: A parquet or text file.
        chosen: Which columns to read.
        header: Whether the first line holds names; None: decide.

    Raises:
        PGNNError: If a column does not exist, an id is missing or repeated, or a number is not
            finite.
    """
    encoding = chosen.encoding
    if encoding is not None and chosen.features is not None:
        known = ", ".join(str(column.name) for column in encoding.columns)
        raise PGNNError(
            Parameter("feature_columns"),
            f" was chosen when the model was trained ({known}); leave it out",
        )
    wanted: Sequence[Column] | None = chosen.features
    if wanted is None and encoding is not None:
        wanted = [column.name for column in encoding.columns]
    keys = [0 if chosen.id_column is None else chosen.id_column]
    keys += [] if chosen.label is None else [chosen.label]
    hints = [*keys, *(name for name in wanted or () if isinstance(name, str))]
    table = read_table(path, header, hints, lambda names: plain_name(names[0]) in NODE_ID)
    table.require_width(2, "a node id and a feature or label")
    named = [table.columns.position(keys[0], "id_column")]
    named += [] if chosen.label is None else [table.columns.position(chosen.label, "label")]
    if len(set(named)) < len(named):
        names = Parameter("id_column"), " and ", Parameter("label")
        raise PGNNError(f"{path}: ", *names, f" are both {table.columns.called(named[0])}")
    type_place = _type_place(table, named, chosen.type_column)
    places = _feature_places(table, named, wanted, known=chosen.features is None)
    check = _NodeCheck(table, named, places)
    loaded = [*named, *places]
    more = [] if type_place is None or type_place in loaded else [type_place]
    (ids, *labels), _, columns = table.load(
        named, [], check, others=[*places, *more], optional=named[1:]
    )
    types = None
    if type_place is not None:
        column = [ids, *labels, *columns][[*loaded, *more].index(type_place)]
        types = column.cast(str).fill_null("").to_numpy()
    columns = columns[: len(places)]
    (ids,) = to_common_kind([ids])
    if ids.n_unique() < len(ids):
        _raise_repeated_node(table, named[0])
    cells = [_Cells.of(column) for column in columns]
    left_out: list[tuple[str, str]] = []
    if encoding is None:
        encoding, cells, left_out = _suggested(table, places, cells, chosen=bool(chosen.features))
    x, counts = _encode(table, cells, encoding, check)
    notes = FeatureNotes(encoding, sha256_of(path), *counts, left_out=tuple(left_out))
    y = _labels(labels[0]) if labels else None
    return NodeTable(path, ids, x, y, notes, table.header, types)


def _labels(column: pl.Series) -> NDArray[Any]:
    """Return labels as integers or strings, None where one is missing."""
    missing = (column.is_null() | (column.cast(str) == "")).fill_null(True)
    known = as_array(to_common_kind([column.filter(~missing)])[0])
    if not missing.any():
        return known
    labels = np.full(len(column), None, dtype=object)
    labels[~missing.to_numpy()] = known.tolist()
    return labels


def _type_place(table: Table, named: list[int], type_column: Column | None) -> int | None:
    """Return the position of the column of types: the one that was named, or one of words."""
    if type_column is not None:
        place = table.columns.position(type_column, "type_column")
        if place == named[0]:
            names = Parameter("id_column"), " and ", Parameter("type_column")
            raise PGNNError(f"{table.path}: ", *names, f" are both {table.columns.called(place)}")
        return place
    for place, name in enumerate(table.columns.names or []):
        if plain_name(name) in NODE_TYPE and place not in named:
            fields = next((fields for _, _, fields in table.records()), None)
            return None if fields is None or NUMBER.fullmatch(fields[place]) else place
    return None


@checked
def sha256_of(path: Path) -> str:
    """Return the hash of a file as it stands, compressed or not."""
    with file_errors(path), open_file(path, pipes=True) as file:
        digest = hashlib.sha256()
        while chunk := file.read(1 << 20):
            digest.update(chunk)
        return digest.hexdigest()


def _feature_places(
    table: Table, named: list[int], wanted: Sequence[Column] | None, *, known: bool
) -> list[int]:
    """Return the positions of the columns of features."""
    if wanted is None:
        return [position for position in range(table.columns.width) if position not in named]
    if known:
        names = table.columns.names
        for name in wanted:
            if isinstance(name, str) and (names is None or name not in names):
                there = "it has no names" if names is None else ", ".join(map(repr, names))
                raise PGNNError(
                    f"{table.path}: has no column {name!r}, which the model was trained with (its "
                    f"columns: {there}); give a table that has it as ",
                    Parameter("features"),
                )
        return [table.columns.position(column, "features") for column in wanted]
    places = [table.columns.position(column, "feature_columns") for column in wanted]
    for place in places:
        if place in named or places.count(place) > 1:
            why = "is named twice" if places.count(place) > 1 else "holds ids or labels"
            raise PGNNError(
                f"{table.path}: ",
                Parameter("feature_columns"),
                f": {table.columns.called(place)} {why}",
            )
    return places


# ---------------------------------------------------------------------- cells


@dataclass(frozen=True, eq=False)
class _Cells:
    """The cells of a column, read in two ways.

    Attributes:
        numbers: Float64, null where the cell is no number.
        texts: String, null where the cell is blank.
        kind: What the column is if it is not of words.
        problem: Why nothing can be made of it, if so.
    """

    numbers: pl.Series
    texts: pl.Series
    kind: Kind = "number"
    problem: str | None = None

    @classmethod
    def of(cls, column: pl.Series) -> _Cells:
        import polars as pl

        if column.dtype == pl.Boolean:
            return cls(column.cast(pl.Float64), column.cast(pl.String), "flag")
        if column.dtype.is_numeric():
            numbers = column.cast(pl.Float64).fill_nan(None)
            return cls(numbers, numbers.cast(pl.String))
        if column.dtype in (pl.Date, pl.Datetime):
            days = pl.Series(read_times(column)[0] / _DAY).fill_nan(None)
            return cls(days, column.cast(pl.String), "date")
        if column.dtype not in (pl.String, pl.Categorical, pl.Enum):
            nothing = pl.Series([None] * len(column), dtype=pl.Float64)
            blank = nothing.cast(pl.String)
            return cls(nothing, blank, problem=f"holds {column.dtype}, no numbers or words")
        texts = column.cast(pl.String).str.strip_chars()
        lower = texts.str.to_lowercase()
        blank = lower.is_in([*MISSING, "nan"])
        texts = pl.select(pl.when(~blank).then(texts)).to_series()
        numbers = pl.select(
            pl.when(texts.str.contains(f"^(?i:{NUMBER.pattern})$")).then(texts)
        ).to_series()
        numbers = numbers.cast(pl.Float64, strict=False)
        present = len(texts) - texts.null_count()
        if len(numbers) - numbers.null_count() < _MOSTLY * present:
            flags = lower.replace_strict(_FLAGS, default=None, return_dtype=pl.Float64)
            if present and len(flags) - flags.null_count() == present:
                return cls(flags, texts, "flag")
            first = texts.drop_nulls().head(1).to_list()
            if first and "-" in first[0]:
                days = pl.Series(read_times(texts)[0] / _DAY).fill_nan(None)
                if len(days) - days.null_count() == present:
                    return cls(days, texts, "date")
        return cls(numbers, texts)

    @property
    def num_present(self) -> int:
        return len(self.texts) - self.texts.null_count()

    @property
    def are_numbers(self) -> bool:
        """Whether nearly all cells that are not blank are numbers."""
        return len(self.numbers) - self.numbers.null_count() >= _MOSTLY * self.num_present


def _suggested(
    table: Table, places: Sequence[int], cells: Sequence[_Cells], *, chosen: bool
) -> tuple[FeatureEncoding, list[_Cells], list[tuple[str, str]]]:
    """Decide what each column becomes; one that tells nothing is left out, unless it was chosen.

    Returns:
        The encoding, the cells of its columns, and the columns that are left out with the reason.
    """
    columns, kept, left_out = [], [], []
    for place, each in zip(places, cells, strict=True):
        name: Column = table.columns.short_name(place)
        if table.columns.names is None or table.columns.names.count(str(name)) > 1:
            name = place
        reason = each.problem or ("it is blank" if not each.num_present else None)
        if reason is None and each.are_numbers:
            mean = each.numbers.mean()
            mean = mean if isinstance(mean, float) and math.isfinite(mean) else 0.0
            columns.append(FeatureColumn(name, each.kind, mean))
            kept.append(each)
            continue
        words = sorted(each.texts.drop_nulls().unique().to_list())
        reason = reason or _why_not_words(len(words), each.num_present, chosen=chosen)
        if reason is None:
            has_blank = each.num_present < len(each.texts)
            columns.append(FeatureColumn(name, "words", words=tuple(words), has_blank=has_blank))
            kept.append(each)
        elif chosen:
            raise PGNNError(
                f"{table.path}: ",
                Parameter("feature_columns"),
                f": {table.columns.called(place)} cannot be used: {reason}; leave it out",
            )
        else:
            left_out.append((str(name), reason))
    return FeatureEncoding(tuple(columns)), kept, left_out


def _why_not_words(num_words: int, num_cells: int, *, chosen: bool) -> str | None:
    """Say why a column of words tells no groups apart; None if it does."""
    if num_words > MOST_WORDS:
        return f"{num_words:,} different words, more than {MOST_WORDS}"
    if chosen:
        return None
    if num_words == 1:
        return "all its words are the same"
    if num_words == num_cells and num_cells > 2:
        return "all its words are different"
    if num_cells > _FEW_ROWS and num_words > num_cells / 2:
        return "most of its words are different"
    return None


def _encode(
    table: Table, cells: Sequence[_Cells], encoding: FeatureEncoding, check: _NodeCheck
) -> tuple[NDArray[np.float32] | None, tuple[int, int, int]]:
    """Encode the cells of the encoding's columns, which are in the same order.

    Returns:
        Features, float32 `[rows, num_features]`; and how many cells were blank, words that the
        encoding does not list, and words among numbers.
    """
    parts, num_blanks, num_unseen, num_odd = [], 0, 0, 0
    for column, each in zip(encoding.columns, cells, strict=True):
        blank = each.texts.is_null().to_numpy()
        num_blanks += int(np.count_nonzero(blank))
        if column.kind == "words":
            part = _one_hot(each.texts, column)
            num_unseen += int(np.count_nonzero(~part.any(axis=1) & ~blank))
        else:
            numbers = each.numbers.to_numpy().astype(np.float64)  # NaN where null
            num_odd += int(np.count_nonzero(np.isnan(numbers) & ~blank))
            with np.errstate(over="ignore"):  # too large for float32 is reported as not finite
                part = np.where(np.isnan(numbers), column.mean, numbers).astype(np.float32)[:, None]
            if not np.isfinite(part).all():
                table.fail(check, "has features that are not finite")
        parts.append(part)
    features = np.concatenate(parts, axis=1) if parts else None
    return features, (num_blanks, num_unseen, num_odd)


def _one_hot(texts: pl.Series, column: FeatureColumn) -> NDArray[np.float32]:
    import polars as pl

    place = {word: index for index, word in enumerate(column.words)}
    codes = texts.replace_strict(place, default=-1, return_dtype=pl.Int64)
    rows = codes.fill_null(-1).to_numpy()
    part = np.zeros((len(rows), column.width), dtype=np.float32)
    known = np.flatnonzero(rows >= 0)
    part[known, rows[known]] = 1
    if column.has_blank:
        part[texts.is_null().to_numpy(), -1] = 1
    return part


@dataclass(frozen=True)
class _NodeCheck:
    """Says what is wrong with the fields of a node."""

    table: Table
    named: list[int]
    features: list[int]

    def __call__(self, fields: Sequence[str]) -> Problem | None:
        if not fields[self.named[0]]:
            return ("the node id is missing; every node needs one",)
        for position in self.features:
            cell = fields[position].strip()
            value = float(cell) if NUMBER.fullmatch(cell) else 0.0
            if abs(value) > FLOAT32_MAX:
                return (
                    f"{self.table.columns.called(position)} is {cell!r}, but features must be "
                    "finite numbers; correct it, or leave it blank",
                )
        return None


def _raise_repeated_node(table: Table, column: int) -> None:
    seen: dict[str, int] = {}
    for number, raw, fields in table.records():
        first = seen.setdefault(fields[column], number)
        if first != number:
            raise PGNNError(
                f"{table.path}, {table.unit} {number}: node {fields[column]!r} is already on "
                f"{table.unit} {first}; keep one row per node (got {shown(raw)})"
            )
