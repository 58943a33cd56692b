"""Tables of edges in shares: each of several processes reads its own lines or rows, in blocks.

Shares are consecutive, so that those of parts 0, 1, ... together are the file in its order. No more
than a block is held at once, whatever the size of the file.
"""

from __future__ import annotations

import os
import re
import stat
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from pgnn.errors import Parameter, PGNNError
from pgnn.graph.columns import (
    Column,
    Columns,
    EdgeColumns,
    edge_columns,
    known_pair,
    to_common_kind,
)
from pgnn.io.graph_files import EdgeCheck
from pgnn.io.limits import MAX_LINE
from pgnn.io.notes import heads_a_table_of_nodes
from pgnn.io.parquet import read_parquet_rows, read_parquet_schema
from pgnn.io.tables import (
    HEAD_RECORDS,
    Header,
    ParquetTable,
    TextTable,
    as_text_table,
    format_suffix,
)
from pgnn.io.text import BOM, as_text, raise_no_records

if TYPE_CHECKING:
    import polars as pl

BLOCK_BYTES = 4 << 20
"""How much text is read at once."""

BLOCK_ROWS = 1 << 18
"""How many rows of parquet are read at once."""

_HEAD_BYTES = 1 << 20
_SKIPPED_START = re.compile(rb"(?:[ \t\r]*(?:[#%][^\n]*)?\n)*")

Block = tuple["pl.Series", "pl.Series"]
"""The first and the second ids of some edges: both Int64, or both String."""


class EdgeShares(ABC):
    """A file of edges that is read in shares.

    Attributes:
        path: The file.
        names: What the columns of the first and second ids are called, or their positions.
    """

    path: Path
    names: tuple[str, str]

    @abstractmethod
    def blocks(self, part: int, num_parts: int) -> Iterator[Block]:
        """Yield the edges of one of several equal shares.

        A block's ids are integers if all of them are, as Python writes them; those of another may
        be strings.

        Raises:
            PGNNError: If a line or row is no edge.
        """


def open_shares(
    path: Path,
    *,
    source: Column | None = None,
    target: Column | None = None,
    weight: Column | None = None,
    header: bool | None = None,
) -> EdgeShares:
    """Look at the beginning of a file of edges, and decide as `read_graph` does how it is read.

    Args:
        path: A parquet file or a text table.
        source: Column of the first ids.
        target: Column of the second ids.
        weight: False to ignore weights, which are not supported.
        header: Whether the first line of text holds names.

    Raises:
        PGNNError: If it is no such file, is compressed, has weights, or does not show by its first
            lines whether the very first holds names.
    """
    size = _size_of(path)
    suffix = format_suffix(path)
    if path.suffix.lower() == ".gz":
        raise PGNNError(f"{path}: a compressed file cannot be read in parts; unpack it first")
    if suffix in (".npz", ".graphml"):
        raise PGNNError(
            f"{path}: {suffix} cannot be read in parts; give the edges as parquet or csv"
        )
    if suffix == ".parquet":
        return _ParquetShares(path, source, target, weight)
    return _TextShares(path, size, (source, target, weight), header)


def _size_of(path: Path) -> int:
    """Return the size of a regular file."""
    try:
        status = os.stat(path)
    except FileNotFoundError as error:
        raise PGNNError(f"{path}: there is no such file; check the path") from error
    except OSError as error:
        raise PGNNError(f"{path}: cannot be read ({error.strerror})") from error
    if stat.S_ISDIR(status.st_mode):
        raise PGNNError(f"{path}: is a folder; give the path of a file in it")
    if not stat.S_ISREG(status.st_mode):
        raise PGNNError(f"{path}: is a device or a pipe; only a regular file is read in parts")
    return status.st_size


def _choose(
    columns: Columns, source: Column | None, target: Column | None, weight: Column | None
) -> EdgeColumns:
    """Choose the columns; refuse weights."""
    chosen = edge_columns(columns, source, target, weight)
    if chosen.weight is not None:
        raise PGNNError(
            f"{columns.place}{columns.called(chosen.weight)} holds weights, and a graph in parts "
            "has none; ignore them with ",
            Parameter("weight=False"),
        )
    return chosen


class _ParquetShares(EdgeShares):
    def __init__(
        self, path: Path, source: Column | None, target: Column | None, weight: Column | None
    ) -> None:
        self.path = path
        self._num_rows, frame = read_parquet_schema(path)
        columns = Columns(frame.width, frame.columns, f"{path}: ")
        ParquetTable(path, frame).require_width(2, "the two ids of an edge")
        self._chosen = _choose(columns, source, target, weight)
        self.names = frame.columns[self._chosen.source], frame.columns[self._chosen.target]

    def blocks(self, part: int, num_parts: int) -> Iterator[Block]:
        first, last = (self._num_rows * (part + more) // num_parts for more in (0, 1))
        check = EdgeCheck(EdgeColumns(0, 1, None), heads_a_table_of_nodes(self.names))
        rows = range(first, last)
        for frame in read_parquet_rows(self.path, BLOCK_ROWS, columns=self._chosen[:2], rows=rows):
            table = ParquetTable(self.path, frame, first + 1)
            ids = to_common_kind(table.load([0, 1], [], check).ids)
            yield ids[0], ids[1]
            first += len(frame)


class _TextShares(EdgeShares):
    def __init__(
        self,
        path: Path,
        size: int,
        chosen: tuple[Column | None, Column | None, Column | None],
        header: bool | None,
    ) -> None:
        self.path, self._size = path, size
        self._suffix = format_suffix(path)
        raw = _head(path, self._suffix)
        text = as_text(path, raw.removeprefix(BOM), self._suffix)
        if text is None:
            raise_no_records(path, is_empty=not raw.strip())
        source, target, weight = chosen
        keys = [0 if source is None else source, 1 if target is None else target]
        table = as_text_table(text, header, keys, lambda names: known_pair(names) is not None)
        if table.header.undecided:
            raise PGNNError(
                f"{path}: whether its first line holds names does not show by the lines below it; "
                "say so with ",
                Parameter("header=True"),
                " or ",
                Parameter("header=False"),
            )
        table.require_width(2, "the two ids of an edge")
        self._separator, self._fields = text.separator, table.first_line
        self._has_header = table.header.present
        self._chosen = _choose(table.columns, source, target, weight)
        self._check = EdgeCheck(self._chosen, heads_a_table_of_nodes(table.columns.names or ()))
        ends = [table.columns.short_name(position) for position in self._chosen[:2]]
        self.names = ends[0], ends[1]
        # Where the first record begins.
        self._start = len(BOM) if raw.startswith(BOM) else 0
        skipped = _SKIPPED_START.match(raw, self._start)
        self._start = self._start if skipped is None else skipped.end()

    def blocks(self, part: int, num_parts: int) -> Iterator[Block]:
        low, high = (
            self._start - (self._start - self._size) * (part + more) // -num_parts * -1
            for more in (0, 1)
        )
        is_header_ahead = self._has_header and part == 0
        with open(self.path, "rb") as file:
            for place, raw in self._lines(file, low, high):
                block = self._load(file, place, raw, is_header_ahead)
                if block is not None:
                    is_header_ahead = False
                    yield block

    def _lines(self, file: BinaryIO, low: int, high: int) -> Iterator[tuple[int, bytes]]:
        """Yield the lines that begin in a range of bytes, many at once, and where they begin."""
        place = low
        if low > self._start:
            file.seek(low - 1)
            place += len(file.readline()) - 1
        while place < high:
            file.seek(place)
            raw = file.read(min(BLOCK_BYTES, high - place))
            if not raw.endswith(b"\n"):
                raw += file.readline(MAX_LINE + 1)
            if not raw:
                return
            yield place, raw
            place += len(raw)

    def _load(self, file: BinaryIO, place: int, raw: bytes, skips_header: bool) -> Block | None:
        try:
            return self._parse(raw, 1, skips_header)
        except PGNNError:
            self._parse(raw, _lines_before(file, place) + 1, skips_header)
            raise

    def _parse(self, raw: bytes, first_line: int, skips_header: bool) -> Block | None:
        text = as_text(self.path, raw, self._suffix, self._separator, first_line)
        if text is None:
            return None
        table = TextTable(text, self._fields, Header(skips_header, "found in the first lines"))
        first, second = to_common_kind(table.load(self._chosen[:2], [], self._check).ids)
        return first, second


def _head(path: Path, suffix: str) -> bytes:
    """Return the first lines of a text file: enough to decide how it is read."""
    length = _HEAD_BYTES
    with open(path, "rb") as file:
        while True:
            file.seek(0)
            raw = file.read(length)
            if len(raw) == length:
                raw += file.readline(MAX_LINE + 1)
            text = as_text(path, raw.removeprefix(BOM), suffix)
            is_enough = text is not None and len(text.head(HEAD_RECORDS)) == HEAD_RECORDS
            if is_enough or len(raw) < length:
                return raw
            length *= 4


def _lines_before(file: BinaryIO, place: int) -> int:
    """Count the lines in front of a place in a file."""
    file.seek(0)
    count = 0
    while place > 0 and (raw := file.read(min(BLOCK_BYTES, place))):
        count += raw.count(b"\n")
        place -= len(raw)
    return count
