"""Tables as columns, from text or parquet: fast when all is well, exact about what is not."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import numpy as np

from pgnn.checks import checked
from pgnn.errors import PGNNError
from pgnn.graph.columns import Columns, as_id_column
from pgnn.io.parquet import read_parquet
from pgnn.io.text import BOM, FORMULA, SEPARATOR_NAMES, Text, read_bytes, read_text, shown

if TYPE_CHECKING:
    import polars as pl

HEAD_RECORDS = 100
"""How many records `find_header` looks at."""

BLOCK_BYTES = 32 << 20  # of text that is parsed at once; more than a line may have


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


NUMBER = re.compile(
    r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf|infinity|nan)", re.IGNORECASE
)
MISSING = {"", "na", "n/a", "null", "none"}

Problem = tuple[str, ...]
"""What is wrong with a record, in pieces as those of a `PGNNError`."""

Check = Callable[[Sequence[str]], Problem | None]
"""Says what is wrong with the fields of a record, or None."""


class Loaded(NamedTuple):
    """Columns of a table.

    Attributes:
        ids: Each Int64 or String, none missing.
        numbers: Float64.
        others: As they stand: of a text file String, of parquet any type; null where blank.
    """

    ids: list[pl.Series]
    numbers: pl.DataFrame
    others: list[pl.Series]


class Records(ABC):
    """Records of a file.

    Attributes:
        path: Where they were read from.
        columns: How many columns there are and what they are called.
        header: What the first line of a text file was read as; None for parquet.
        layout: What separates columns, for messages.
        unit: What a record is called in messages: a line or a row.
    """

    path: Path
    columns: Columns
    header: Header | None
    layout: str
    unit: str

    @abstractmethod
    def records(self) -> Iterator[tuple[int, str, list[str]]]:
        """Yield the number, the raw text and the fields of each record; slowly."""

    def fail(self, check: Check, otherwise: str) -> NoReturn:
        """Raise for the first record that is ragged or that `check` objects to."""
        for number, raw, fields in self.records():
            if len(fields) != self.columns.width:
                problem: Problem | None = (
                    f"has {len(fields)} field{'s' * (len(fields) != 1)} where the first record "
                    f"has {self.columns.width}; give every line the same columns",
                )
            else:
                problem = check(fields)
            if problem:
                place = f"{self.path}, {self.unit} {number}: "
                raise PGNNError(place, *problem, f" (got {shown(raw)})")
        raise PGNNError(f"{self.path}: {otherwise}")

    def require_width(self, wanted: int, what: str) -> None:
        """Check that there are at least so many columns."""
        if self.columns.width < wanted:
            problem = f"needs at least {wanted} columns{self.layout}: {what}"
            self.fail(lambda _: (problem,), problem)


class Table(Records):
    """Columns of a file, by position."""

    @abstractmethod
    def load(
        self,
        ids: Sequence[int],
        numbers: Sequence[int],
        check: Check,
        *,
        others: Sequence[int] = (),
        optional: Sequence[int] = (),
    ) -> Loaded:
        """Return columns by what they hold.

        Args:
            ids: Positions of the columns of ids.
            numbers: Positions of the columns of numbers; NaN and infinity pass.
            check: Explains the first bad record if a column cannot be loaded.
            others: Positions of columns that may hold anything.
            optional: Which of `ids` may have missing values.
        """


class TextTable(Table):
    """A table of a text file."""

    header: Header

    def __init__(self, text: Text, first: list[str], header: Header) -> None:
        names = first if header.present else None
        self.path, self.header = text.path, header
        self.columns = Columns(len(first), names, f"{text.path}: ")
        self.layout, self.unit = f" separated by {SEPARATOR_NAMES[text.separator]}", "line"
        self._text = text

    @property
    def first_line(self) -> list[str]:
        """The fields of the first line, whatever it was read as."""
        return self._text.head(1)[0]

    def with_header(self, header: Header) -> TextTable:
        """Return the same table with another decision on its first line."""
        return TextTable(self._text, self.first_line, header)

    def records(self) -> Iterator[tuple[int, str, list[str]]]:
        """Return the records below the header, with their lines in the file."""
        records = self._text.records()
        if self.columns.names is not None:
            next(records)
        return records

    def load(
        self,
        ids: Sequence[int],
        numbers: Sequence[int],
        check: Check,
        *,
        others: Sequence[int] = (),
        optional: Sequence[int] = (),
    ) -> Loaded:
        """Parse ids as integers if that loses nothing, else as strings."""
        import polars as pl

        lines = self._text.plain.count(b"\n")
        # polars fills up short lines, but refuses long ones: with the right sum there are neither.
        if self._text.num_separators != (self.columns.width - 1) * lines:
            self.fail(check, "its lines do not all have the same number of columns")
        kinds: list[type[pl.DataType]] = [pl.Int64, pl.String]
        for kind in kinds[1:] if self._text.may_hold_odd_integers() else kinds:
            try:
                frame = self._parse(dict.fromkeys(numbers, pl.Float64) | dict.fromkeys(ids, kind))
                break
            except pl.exceptions.PolarsError as error:
                reason = str(error).split("\n")[0]
        else:
            self.fail(check, f"cannot be read as a table ({reason})")
        loaded = [frame[_name(position)] for position in ids]
        if b"'" in self._text.plain:  # what `write_columns` put before a formula
            loaded = [
                column if column.dtype != pl.String else _without_apostrophe(column)
                for column in loaded
            ]
        values = frame.select(_name(position) for position in numbers)
        needed = [
            one for position, one in zip(ids, loaded, strict=True) if position not in optional
        ]
        if any(map(_has_missing, [*needed, *values])):
            self.fail(check, "has missing values")
        return Loaded(loaded, values, [frame[_name(position)] for position in others])

    def _parse(self, kinds: dict[int, type[pl.DataType]]) -> pl.DataFrame:
        """Parse all columns, since polars overlooks long lines when it reads only some."""
        plain = self._text.plain
        is_large = len(plain) > BLOCK_BYTES and len(kinds) == self.columns.width
        frame = self._parse_blocks(kinds) if is_large else None
        if frame is not None:
            return frame
        return self._parse_text(plain, kinds, skip_rows=0 if self.columns.names is None else 1)

    def _parse_blocks(self, kinds: dict[int, type[pl.DataType]]) -> pl.DataFrame | None:
        """Parse columns of numbers, of which only the numbers are kept; None if one is missing.

        polars would hold the columns twice, and the text besides.
        """
        import polars as pl

        types: dict[type[pl.DataType], str] = {pl.Int64: "int64", pl.Float64: "float64"}
        if not set(kinds.values()) <= set(types):
            return None
        plain = self._text.plain
        start = 0 if self.columns.names is None else plain.index(b"\n") + 1
        num_lines = plain.count(b"\n", start)
        arrays = {i: np.empty(num_lines, dtype=types[kind]) for i, kind in kinds.items()}
        row = 0
        while start < len(plain):
            stop = plain.rfind(b"\n", start, start + BLOCK_BYTES) + 1
            frame = self._parse_text(plain[start:stop], kinds)
            if row + frame.height > num_lines or any(column.null_count() for column in frame):
                return None
            for i, array in arrays.items():
                array[row : row + frame.height] = frame[_name(i)].to_numpy()
            row, start = row + frame.height, stop
        return pl.DataFrame({_name(i): array for i, array in arrays.items()})

    def _parse_text(
        self, text: bytes, kinds: dict[int, type[pl.DataType]], *, skip_rows: int = 0
    ) -> pl.DataFrame:
        import polars as pl

        return pl.read_csv(
            BOM + text if text.startswith(BOM) else text,  # polars takes one away
            has_header=False,
            skip_rows=skip_rows,
            separator=self._text.separator.decode(),
            schema={_name(i): kinds.get(i, pl.String) for i in range(self.columns.width)},
        )


class ParquetTable(Table):
    """A table of a parquet file, or rows of it from `first_row` on, counted from 1."""

    def __init__(self, path: Path, frame: pl.DataFrame, first_row: int = 1) -> None:
        self.path, self.header = path, None
        self.columns = Columns(frame.width, frame.columns, f"{path}: ")
        self.layout, self.unit = "", "row"
        self._frame, self._first_row = frame, first_row

    def records(self) -> Iterator[tuple[int, str, list[str]]]:
        """Yield the rows, counted from 1."""
        for number, row in enumerate(self._frame.iter_rows(), start=self._first_row):
            fields = [_as_field(value) for value in row]
            yield number, ", ".join(fields), fields

    def load(
        self,
        ids: Sequence[int],
        numbers: Sequence[int],
        check: Check,
        *,
        others: Sequence[int] = (),
        optional: Sequence[int] = (),
    ) -> Loaded:
        """Cast ids to Int64 or String and numbers to Float64."""
        import polars as pl

        loaded = [self._ids(position) for position in ids]
        values = self._frame.select(pl.nth(numbers)) if numbers else pl.DataFrame()
        for position, series in zip(numbers, values, strict=True):
            if not (series.dtype.is_numeric() or series.dtype == pl.Boolean):
                self._refuse(position, "numbers")
        needed = [
            one for position, one in zip(ids, loaded, strict=True) if position not in optional
        ]
        if any(map(_has_missing, [*needed, *values])):
            self.fail(check, "has missing values")
        rest = [self._frame.to_series(position) for position in others]
        return Loaded(loaded, values.cast(pl.Float64), rest)

    def _ids(self, position: int) -> pl.Series:
        ids = as_id_column(self._frame.to_series(position))
        return self._refuse(position, "integers or strings") if ids is None else ids

    def _refuse(self, position: int, wanted: str) -> NoReturn:
        raise PGNNError(
            f"{self.path}: {self.columns.called(position)} must hold {wanted} "
            f"(got {self._frame.dtypes[position]})"
        )


def read_table(
    path: Path,
    header: bool | None,
    keys: Sequence[str | int],
    is_known: Callable[[list[str]], bool],
) -> Table:
    """Read the table of a file by its suffix.

    Args:
        path: A parquet file, else text, with .gz compressed.
        header: Whether the first record holds names; None decides by `find_header`.
        keys: The columns of ids; one that was passed by name says that there is a header.
        is_known: Whether the names in a first record are usual ones.
    """
    suffix = format_suffix(path)
    if suffix == ".parquet":
        return ParquetTable(path, read_parquet(path, read_bytes(path)))
    return as_text_table(read_text(path, suffix), header, keys, is_known)


def as_text_table(
    text: Text,
    header: bool | None,
    keys: Sequence[str | int],
    is_known: Callable[[list[str]], bool],
) -> TextTable:
    """Decide what the first line of a text is; see `read_table`."""
    rows = text.head(HEAD_RECORDS)
    if header is not None:
        return TextTable(text, rows[0], Header(header, f"header={header} was passed"))
    positions = [key for key in keys if isinstance(key, int)]
    if len(positions) < len(keys):
        return TextTable(text, rows[0], Header(True, "a column was chosen by its name"))
    return TextTable(text, rows[0], find_header(rows, positions, is_known))


@checked
def format_suffix(path: Path) -> str:
    """Return the suffix that tells the format, in lower case and without a final .gz."""
    lower = Path(path.name.lower())
    return Path(lower.stem).suffix if lower.suffix == ".gz" else lower.suffix


@checked
def has_column(path: Path, column: str | int) -> bool:
    """Whether a table has a column of this name, or at this position; false for no table."""
    suffix = format_suffix(path)
    try:
        names = (
            read_parquet(path, read_bytes(path)).columns
            if suffix == ".parquet"
            else read_text(path, suffix).head(1)[0]
        )
    except PGNNError:
        return False
    return column in names if isinstance(column, str) else -len(names) <= column < len(names)


def find_header(
    rows: list[list[str]], keys: Sequence[int], is_known: Callable[[list[str]], bool]
) -> Header:
    """Decide by the first records whether the very first holds names.

    Args:
        rows: The fields of the first records.
        keys: Positions of the columns of ids.
        is_known: Whether the names in a first record are usual ones.

    Returns:
        The decision. It is `undecided` where the first record is all words and nothing else speaks
        for names; the caller, who reads all records, may see that the first stands apart.
    """
    first, rest = rows[0], rows[1:]
    keys = [key % len(first) for key in keys if -len(first) <= key < len(first)]
    ids = [first[key] for key in keys]
    below = [[row[key] for row in rest if key < len(row)] for key in keys]
    if is_known(first):
        if any(not set(ids).isdisjoint(column) for column in below):
            return Header(False, "its ids occur again below it")
        return Header(True, "its names are usual ones")
    if any(map(NUMBER.fullmatch, ids)):
        return Header(False, "an id in it is a number")
    columns = zip(*(row for row in rest if len(row) == len(first)), strict=True)
    for name, values in zip(first, columns, strict=False):
        if _is_word(name) and all(map(NUMBER.fullmatch, values)):
            return Header(True, "a word stands above a column of numbers")
    if not all(map(_is_word, first)):
        return Header(False, "it holds a number or a missing value")
    if len(rest) > 1 and not any(map(_has_digit, ids)) and all(map(_has_digit, chain(*below))):
        return Header(True, "all ids below it have digits, and it has none", guessed=True)
    if not rest:
        return Header(False, "it is the only line", guessed=True)
    return Header(False, "it looks like the other lines", guessed=True)


def _is_word(field: str) -> bool:
    return field.lower() not in MISSING and not NUMBER.fullmatch(field)


def _has_digit(field: str) -> bool:
    return any(map(str.isdigit, field))


def _name(position: int) -> str:
    return f"column_{position + 1}"  # what polars itself calls the columns of a headless file


def _as_field(value: object) -> str:
    if value is None:
        return ""
    return str(int(value) if isinstance(value, bool) else value)


def _without_apostrophe(column: pl.Series) -> pl.Series:
    marked = column.str.contains(f"(?s)^'{FORMULA[1:]}")
    return column.zip_with(~marked.fill_null(value=False), column.str.slice(1))


def _has_missing(series: pl.Series) -> bool:
    import polars as pl

    return series.null_count() > 0 or (series.dtype == pl.String and bool((series == "").any()))
