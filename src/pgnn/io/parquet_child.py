"""Parquet in, Arrow out, in a process of its own: a damaged file can end only that.

Run by its path; it imports nothing of pgnn, to start fast. Its arguments are the bytes of memory
that it may use and what is wanted:

- `whole MOST`: the table on standard input, if it takes at most so many bytes;
- `schema PATH`: a table without rows but with the columns of a file, behind a line with the number
  of its rows;
- `rows PATH COLUMNS FIRST LAST SIZE`: the columns at these positions of rows FIRST to LAST - 1, in
  tables of at most SIZE rows, each behind its number of bytes; at least one, perhaps without rows.
  COLUMNS may be empty for all, and LAST for the end of the file.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    import polars as pl

REFUSED = 3  # the exit code if the file cannot be read; standard error says why
TOO_LARGE = 4  # and if its table is larger than wanted
LENGTH_BYTES = 8  # of the number of bytes that stands before a table


class TooLargeError(Exception):
    """The table takes more bytes than it may."""


def convert(source: BinaryIO, target: BinaryIO, most: int) -> None:
    """Read parquet and write the same table in Arrow's file format."""
    import polars as pl

    data = io.BytesIO(source.read())
    if least_bytes(data) > most:  # a million equal rows take a few bytes of a file
        raise TooLargeError
    data.seek(0)
    frame = pl.read_parquet(data)
    buffer = io.BytesIO()  # polars wants to know where it is in a file
    frame.write_ipc(buffer)
    write_all(buffer.getbuffer(), target)


def least_bytes(data: BinaryIO) -> int:
    """Return how many bytes a table takes, whatever the texts in it."""
    import polars as pl

    table = pl.scan_parquet(data)
    num_rows = table.select(pl.len()).collect().item()
    kinds = list(table.collect_schema().dtypes())
    row = {kind: pl.Series([None] * 1000, dtype=kind).estimated_size() / 1000 for kind in {*kinds}}
    return int(num_rows * sum(row[kind] for kind in kinds))


def write_all(data: memoryview, target: BinaryIO) -> None:
    """Write bytes; an unbuffered target takes 2 GiB at a time and says so."""
    while data:
        data = data[target.write(data) :]


def write_schema(path: str, target: BinaryIO) -> None:
    """Write the number of rows and an empty table with the columns of a file."""
    import polars as pl

    table = pl.scan_parquet(path, glob=False)
    num_rows = table.select(pl.len()).collect().item()
    buffer = io.BytesIO()
    table.head(0).collect().write_ipc(buffer)
    target.write(b"%d\n" % num_rows)
    write_all(buffer.getbuffer(), target)


def write_rows(
    path: str, columns: Sequence[int], first: int, last: int | None, size: int, target: BinaryIO
) -> None:
    """Write some columns of some rows in tables of at most `size` rows, each behind its length."""
    import polars as pl

    table = pl.scan_parquet(path, glob=False)
    if columns:
        table = table.select(pl.nth(*columns))
    if first or last is not None:
        table = table.slice(first, None if last is None else last - first)
    frames = table.collect_batches(chunk_size=size, maintain_order=True)
    is_empty = True
    for frame in frames:
        is_empty = False
        _write_table(frame, target)
    if is_empty:
        _write_table(table.head(0).collect(), target)


def _write_table(frame: pl.DataFrame, target: BinaryIO) -> None:
    """Write a table behind the number of its bytes."""
    buffer = io.BytesIO()
    frame.write_ipc(buffer)
    target.write(len(buffer.getbuffer()).to_bytes(LENGTH_BYTES, "little"))
    write_all(buffer.getbuffer(), target)


def limit_memory(num_bytes: int) -> None:
    """Let the system refuse more memory than that."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = num_bytes if hard == resource.RLIM_INFINITY else min(num_bytes, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main() -> int:
    """Do what the arguments say."""
    limit_memory(int(sys.argv[1]))
    wanted, target = sys.argv[2:], sys.stdout.buffer
    try:
        if wanted[0] == "whole":
            convert(sys.stdin.buffer, target, int(wanted[1]))
        elif wanted[0] == "schema":
            write_schema(wanted[1], target)
        else:
            path, columns, first, last, size = wanted[1:]
            chosen = [int(column) for column in columns.split(",") if column]
            end = int(last) if last else None
            write_rows(path, chosen, int(first), end, int(size), target)
    except TooLargeError:
        return TOO_LARGE
    except BaseException as error:  # polars' panics are no Exceptions
        print(str(error).partition("\n")[0] or type(error).__name__, file=sys.stderr)
        return REFUSED
    return 0


if __name__ == "__main__":
    sys.exit(main())
