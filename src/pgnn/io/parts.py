"""Tables of files in parts: one after the other, so that no file is held whole.

A part is a `Table` of its own, of whole lines or rows that know their numbers in the file.
"""

from __future__ import annotations

import os
import tempfile
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from types import TracebackType
from typing import Self

from pgnn.io.limits import MAX_LINE, bomb, check_size, most_unpacked, open_file, unpacked
from pgnn.io.parquet import read_parquet_rows
from pgnn.io.tables import (
    HEAD_RECORDS,
    Header,
    ParquetTable,
    Records,
    Table,
    TextTable,
    as_text_table,
    format_suffix,
)
from pgnn.io.text import (
    BOM,
    Text,
    as_text,
    file_errors,
    raise_long_line,
    raise_no_records,
    with_newlines,
)
from pgnn.memory import is_limited, more_needed

BLOCK_BYTES = 4 << 20
"""How much text is read at once."""

BLOCK_ROWS = 1 << 18
"""How many rows of parquet are read at once."""

_CELL_BYTES = 8  # of a table, at least
_MEMORY_PER_BYTE = 10  # of a text that is smaller than a block
_MEMORY = 64 << 20  # that a block takes while it is read, besides arrays of numpy; as measured


class TableParts(Records):
    """A table in parts; a context that closes the file."""

    @abstractmethod
    def __iter__(self) -> Iterator[Table]:
        """Yield the parts from the first on, at least one."""

    def records(self) -> Iterator[tuple[int, str, list[str]]]:
        """Yield the records of all parts."""
        return chain.from_iterable(part.records() for part in self)

    @abstractmethod
    def close(self) -> None:
        """Close the file."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class FileBytes:
    """The bytes of a file, decompressed, from its beginning as often as they are wanted."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with file_errors(path):
            self._file = open_file(path, pipes=True)
        try:
            self._size = os.fstat(self._file.fileno()).st_size
            if not is_limited():  # else arrays lie in a file
                check_size(path, self._size)
        except BaseException:
            self._file.close()
            raise

    def check_limit(self) -> None:
        """Refuse to begin if a block does not fit below the limit of memory."""
        is_packed = self.path.suffix.lower() in (".gz", ".parquet")
        needed = _MEMORY if is_packed else min(_MEMORY, _MEMORY_PER_BYTE * self._size)
        more_needed(needed, f"reading {self.path}")

    def chunks(self, size: int) -> Iterator[bytes]:
        """Yield all bytes, some at a time."""
        with file_errors(self.path):
            self._file.seek(0)
            if self.path.suffix.lower() == ".gz":
                yield from _joined(unpacked(self.path, self._file, self._size), size)
            else:
                while chunk := self._file.read(size):
                    yield chunk

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _joined(pieces: Iterator[bytes], size: int) -> Iterator[bytes]:
    """Yield small pieces together, as soon as they are long enough."""
    held: list[bytes] = []
    length = 0
    for piece in pieces:
        held.append(piece)
        length += len(piece)
        if length >= size:
            yield b"".join(held)
            held, length = [], 0
    if held:
        yield b"".join(held)


def whole_lines(path: Path, chunks: Iterator[bytes]) -> Iterator[bytes]:
    r"""Yield whole lines, many at once, with newlines at their ends.

    Example:
        >>> list(whole_lines(Path("e.csv"), iter([b"a,b\r\nc", b",d\r", b"\ne,f"])))
        [b'a,b\n', b'c,d\n', b'e,f']
    """
    rest = b""
    for chunk in chunks:
        data = rest + chunk
        end = data.rfind(b"\n") + 1
        # A return at the very end may be one half of an end of line.
        end = max(end, data.rfind(b"\r", end, len(data) - 1) + 1)
        rest = data[end:]
        if len(rest) > MAX_LINE:
            raise_long_line(path)
        if end:
            yield with_newlines(data[:end])
    if rest:
        yield with_newlines(rest)


class TextParts(TableParts):
    """A text table in parts."""

    header: Header

    def __init__(
        self,
        path: Path,
        header: bool | None,
        keys: Sequence[str | int],
        is_known: Callable[[list[str]], bool],
    ) -> None:
        self.path = path
        self._source = FileBytes(path)
        try:
            self._source.check_limit()
            self._suffix = format_suffix(path)
            self._rest: Iterator[tuple[int, bytes]] | None = self._blocks()
            self._num_first = 0
            text = self._read_first(self._rest)
            self._separator = text.separator
            self._first = as_text_table(text, header, keys, is_known)
        except BaseException:
            self.close()
            raise
        self.layout, self.unit = self._first.layout, self._first.unit
        self.columns, self.header = self._first.columns, self._first.header

    @property
    def first_line(self) -> list[str]:
        """The fields of the first line, whatever it was read as."""
        return self._first.first_line

    def use_header(self, header: Header) -> None:
        """Decide otherwise on the first line."""
        self._first = self._first.with_header(header)
        self.columns, self.header = self._first.columns, header

    def __iter__(self) -> Iterator[Table]:
        fields, no_names = self.first_line, Header(False, "it is not the first line of the file")
        yield self._first
        rest, self._rest = self._rest or islice(self._blocks(), self._num_first, None), None
        for line, raw in rest:
            text = as_text(self.path, raw, self._suffix, self._separator, line)
            if text is not None:
                yield TextTable(text, fields, no_names)

    def close(self) -> None:
        """Close the file."""
        self._source.close()

    def _blocks(self) -> Iterator[tuple[int, bytes]]:
        """Yield whole lines, many at once, with the number of the first of them."""
        line, prefix = 1, BOM
        for block in whole_lines(self.path, self._source.chunks(BLOCK_BYTES)):
            yield line, block.removeprefix(prefix)
            line, prefix = line + block.count(b"\n"), b""

    def _read_first(self, blocks: Iterator[tuple[int, bytes]]) -> Text:
        """Read the first part: enough records to decide how the file is read."""
        raw, first_line, is_empty = b"", 1, True
        text: Text | None = None
        for line, block in blocks:
            self._num_first += 1
            first_line = first_line if raw else line
            is_empty = is_empty and not block.strip()
            raw += block
            text = as_text(self.path, raw, self._suffix, first_line=first_line)
            if text is None:
                raw = b""
            elif len(text.head(HEAD_RECORDS)) == HEAD_RECORDS:
                break
        return text or raise_no_records(self.path, is_empty=is_empty)


class ParquetParts(TableParts):
    """A table of a parquet file in parts."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._copy: Path | None = None
        self._rest: Generator[ParquetTable] | None = None
        source = FileBytes(path)
        try:
            source.check_limit()
            if path.suffix.lower() == ".gz" or not path.is_file():  # compressed, or a pipe
                descriptor, name = tempfile.mkstemp(suffix=".parquet")
                self._copy = Path(name)
                with open(descriptor, "wb") as file:
                    file.writelines(source.chunks(BLOCK_BYTES))
            self._rest = self._tables()
            self._first = next(self._rest)
        except BaseException:
            self.close()
            raise
        finally:
            source.close()
        self.layout, self.unit, self.header = self._first.layout, self._first.unit, None
        self.columns = self._first.columns

    def __iter__(self) -> Iterator[Table]:
        if self._rest is not None:
            yield self._first
        rest, self._rest = self._rest or self._tables(), None
        yield from rest

    def close(self) -> None:
        """End the process that reads, and remove what was unpacked."""
        if self._rest is not None:
            self._rest.close()
        if self._copy is not None:
            self._copy.unlink(missing_ok=True)

    def _tables(self) -> Generator[ParquetTable]:
        size = (self._copy or self.path).stat().st_size
        row = 1
        for frame in read_parquet_rows(self.path, BLOCK_ROWS, copy=self._copy):
            if _CELL_BYTES * frame.width * (row + frame.height) > most_unpacked(size):
                raise bomb(self.path, size)  # a million equal rows take a few bytes of a file
            yield ParquetTable(self.path, frame, row)
            row += frame.height


def read_parts(
    path: Path,
    header: bool | None,
    keys: Sequence[str | int],
    is_known: Callable[[list[str]], bool],
) -> TableParts:
    """Read a table as `read_table` does, in parts."""
    if format_suffix(path) == ".parquet":
        return ParquetParts(path)
    return TextParts(path, header, keys, is_known)
