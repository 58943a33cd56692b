"""Tables as columns, from text or parquet: fast when all is well, exact about what is not."""

from __future__ import annotations

import io
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from pgnn.errors import PGNNError
from pgnn.io.text import SEPARATOR_NAMES, Text, read_bytes, read_text, shown

if TYPE_CHECKING:
    import polars as pl

NUMBER = re.compile(
    r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf|infinity|nan)", re.IGNORECASE
)
MISSING = {"", "na", "n/a", "null", "none"}

Check = Callable[[Sequence[str]], str | None]
"""Says what is wrong with the fields of a record, or None."""


class Table(ABC):
    """Columns of a file, by position.

    Attributes:
        path: Where it was read from.
        names: The names of the columns, or None if the file has no header.
        width: The number of columns.
        layout: What separates them, for messages.
        unit: What a record is called in messages: a line or a row.
    """

    path: Path
    names: list[str] | None
    width: int
    layout: str
    unit: str

    @abstractmethod
    def load(
        self, ids: Sequence[int], numbers: Sequence[int], check: Check
    ) -> tuple[list[pl.Series], pl.DataFrame]:
        """Return columns of ids (each Int64 or String, none missing) and of numbers (Float64).

        Args:
            ids: Positions of the columns of ids.
            numbers: Positions of the columns of numbers; NaN and infinity pass.
            check: Explains the first bad record if a column cannot be loaded.
        """

    @abstractmethod
    def records(self) -> Iterator[tuple[int, str, list[str]]]:
        """Yield the number, the raw text and the fields of each record; slowly."""

    def fail(self, check: Check, otherwise: str) -> NoReturn:
        """Raise for the first record that is ragged or that `check` objects to."""
        for number, raw, fields in self.records():
            if len(fields) != self.width:
                problem: str | None = (
                    f"has {len(fields)} field{'s' * (len(fields) != 1)} where the first record "
                    f"has {self.width}; give every line the same columns"
                )
            else:
                problem = check(fields)
            if problem:
                raise PGNNError(f"{self.path}, {self.unit} {number}: {problem} (got {shown(raw)})")
        raise PGNNError(f"{self.path}: {otherwise}")

    def require_width(self, wanted: int, what: str) -> None:
        """Check that there are at least so many columns."""
        if self.width < wanted:
            problem = f"needs at least {wanted} columns{self.layout}: {what}"
            self.fail(lambda _: problem, problem)

    def position(self, column: str | int, parameter: str) -> int:
        """Return the position of a column given by name or position (negative: from the end)."""
        if isinstance(column, bool) or not isinstance(column, str | int):
            raise PGNNError(f"{parameter} must be a column name or position (got {column!r})")
        if isinstance(column, int):
            if -self.width <= column < self.width:
                return column % self.width
            raise PGNNError(
                f"{self.path}: {parameter}={column}, but there are {self.width} columns; "
                f"count from 0 to {self.width - 1}"
            )
        if self.names is None:
            raise PGNNError(
                f"{self.path}: {parameter}={column!r}, but the table was read without a header; "
                f"give a position from 0 to {self.width - 1}"
            )
        if self.names.count(column) != 1:
            found = "is ambiguous" if column in self.names else "does not exist"
            raise PGNNError(
                f"{self.path}: column {parameter}={column!r} {found}; the columns are "
                f"{', '.join(map(repr, self.names))}"
            )
        return self.names.index(column)

    def column_name(self, position: int) -> str:
        """Return how to call a column in a message."""
        return f"column {position if self.names is None else repr(self.names[position])}"


class TextTable(Table):
    """A table of a text file."""

    def __init__(self, text: Text, names: list[str] | None, width: int) -> None:
        self.path, self.names, self.width = text.path, names, width
        self.layout, self.unit = f" separated by {SEPARATOR_NAMES[text.separator]}", "line"
        self._text = text

    def records(self) -> Iterator[tuple[int, str, list[str]]]:
        """Return the records below the header, with their lines in the file."""
        records = self._text.records()
        if self.names is not None:
            next(records)
        return records

    def load(
        self, ids: Sequence[int], numbers: Sequence[int], check: Check
    ) -> tuple[list[pl.Series], pl.DataFrame]:
        """Parse ids as integers if that loses nothing, else as strings."""
        import polars as pl

        lines = self._text.plain.count(b"\n")
        # polars fills up short lines, but refuses long ones: with the right sum there are neither.
        if self._text.num_separators != (self.width - 1) * lines:
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
        values = frame.select(_name(position) for position in numbers)
        if any(map(_has_missing, [*loaded, *values])):
            self.fail(check, "has missing values")
        return loaded, values

    def _parse(self, kinds: dict[int, type[pl.DataType]]) -> pl.DataFrame:
        """Parse all columns, since polars overlooks long lines when it reads only some."""
        import polars as pl

        return pl.read_csv(
            self._text.plain,
            has_header=False,
            skip_rows=0 if self.names is None else 1,
            separator=self._text.separator.decode(),
            schema={_name(i): kinds.get(i, pl.String) for i in range(self.width)},
        )


class ParquetTable(Table):
    """A table of a parquet file."""

    def __init__(self, path: Path, frame: pl.DataFrame) -> None:
        self.path, self.names, self.width = path, frame.columns, frame.width
        self.layout, self.unit = "", "row"
        self._frame = frame

    def records(self) -> Iterator[tuple[int, str, list[str]]]:
        """Yield the rows, counted from 1."""
        for number, row in enumerate(self._frame.iter_rows(), start=1):
            fields = [_as_field(value) for value in row]
            yield number, ", ".join(fields), fields

    def load(
        self, ids: Sequence[int], numbers: Sequence[int], check: Check
    ) -> tuple[list[pl.Series], pl.DataFrame]:
        """Cast ids to Int64 or String and numbers to Float64."""
        import polars as pl

        loaded = [self._ids(position) for position in ids]
        values = self._frame.select(pl.nth(numbers)) if numbers else pl.DataFrame()
        for position, series in zip(numbers, values, strict=True):
            if not (series.dtype.is_numeric() or series.dtype == pl.Boolean):
                self._refuse(position, "numbers")
        if any(map(_has_missing, [*loaded, *values])):
            self.fail(check, "has missing values")
        return loaded, values.cast(pl.Float64)

    def _ids(self, position: int) -> pl.Series:
        import polars as pl

        series = self._frame.to_series(position)
        if series.dtype.is_integer():
            cast = series.cast(pl.Int64, strict=False)  # null where a UInt64 is too large
            return cast if cast.null_count() == series.null_count() else series.cast(pl.String)
        if series.dtype in (pl.String, pl.Categorical, pl.Enum, pl.Boolean):
            return series.cast(pl.String)
        return self._refuse(position, "integers or strings")

    def _refuse(self, position: int, wanted: str) -> NoReturn:
        raise PGNNError(
            f"{self.path}: {self.column_name(position)} must hold {wanted} "
            f"(got {self._frame.dtypes[position]})"
        )


def read_table(
    path: Path,
    header: bool | None,
    keys: Sequence[str | int],
    is_header: Callable[[list[str]], bool],
) -> Table:
    """Read the table of a file by its suffix.

    Args:
        path: A parquet file, else text, with .gz compressed.
        header: Whether the first record is a header; None decides by `looks_like_header`.
        keys: The columns of ids; one that is given by name says that there is a header.
        is_header: Whether the names in a first record are known.
    """
    suffix = format_suffix(path)
    if suffix == ".parquet":
        return ParquetTable(path, _read_parquet(path))
    text = read_text(path, suffix)
    rows = text.head(100)
    if header is None:
        positions = [key for key in keys if isinstance(key, int)]
        header = len(positions) < len(keys) or looks_like_header(rows, positions, is_header)
    return TextTable(text, rows[0] if header else None, len(rows[0]))


def format_suffix(path: Path) -> str:
    """Return the suffix that tells the format, in lower case and without a final .gz."""
    lower = Path(path.name.lower())
    return Path(lower.stem).suffix if lower.suffix == ".gz" else lower.suffix


def _read_parquet(path: Path) -> pl.DataFrame:
    import polars as pl

    data = read_bytes(path)
    try:
        return pl.read_parquet(io.BytesIO(data))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = str(error).split("\n")[0]
        raise PGNNError(
            f"{path}: cannot be read as parquet ({reason}); it is damaged or of another format"
        ) from error


def looks_like_header(
    rows: list[list[str]], keys: Sequence[int], is_header: Callable[[list[str]], bool]
) -> bool:
    """Decide whether the first record holds names.

    It does if `is_header` knows them and the next records do not use them as ids, or if some column
    holds a word here and nothing but numbers below, while no id here is a number.
    """
    first, rest = rows[0], rows[1:]
    keys = [key % len(first) for key in keys if -len(first) <= key < len(first)]
    below = {row[key] for row in rest for key in keys if key < len(row)}
    if is_header(first):
        return below.isdisjoint(first[key] for key in keys)
    if not rest or any(NUMBER.fullmatch(first[key]) for key in keys):
        return False
    columns = zip(*(row for row in rest if len(row) == len(first)), strict=True)
    return any(
        name.lower() not in MISSING
        and not NUMBER.fullmatch(name)
        and all(map(NUMBER.fullmatch, values))
        for name, values in zip(first, columns, strict=False)
    )


def _name(position: int) -> str:
    return f"column_{position + 1}"  # what polars itself calls the columns of a headless file


def _as_field(value: object) -> str:
    if value is None:
        return ""
    return str(int(value) if isinstance(value, bool) else value)


def _has_missing(series: pl.Series) -> bool:
    import polars as pl

    return series.null_count() > 0 or (series.dtype == pl.String and bool((series == "").any()))
