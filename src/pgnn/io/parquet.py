"""Parquet files, read by a child process: the reader aborts at some damaged files.

A length that was altered makes the reader ask for 2^60 bytes, which ends the process that asks. No
check of the file beforehand knows all such lengths, so another process reads it, with limits of
memory and time, and hands the table over in Arrow's format. That costs a third of a second.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event, Timer
from typing import IO, TYPE_CHECKING

from pgnn.checks import total_memory
from pgnn.errors import PGNNError
from pgnn.io import parquet_child
from pgnn.io.limits import bomb, most_unpacked
from pgnn.memory import more_needed

if TYPE_CHECKING:
    import polars as pl

_SECONDS = 60.0  # for any file, and more for a large one
_BYTES_PER_SECOND = 4 << 20
_MEMORY_PER_BYTE = 4  # of a table of random integers, besides the file; as it was measured


def read_parquet(path: Path, data: bytes) -> pl.DataFrame:
    """Read a table.

    Args:
        path: Where the bytes are from, for messages.
        data: The whole file.

    Raises:
        PGNNError: If it is damaged, of another format, or takes too much memory or time, as a
            small file of many equal rows does.
    """
    more_needed(_MEMORY_PER_BYTE * len(data), f"reading {path}")
    import polars as pl

    wanted = ["whole", str(most_unpacked(len(data)))]
    return pl.read_ipc(io.BytesIO(_output(path, data, wanted)))


def read_parquet_schema(path: Path) -> tuple[int, pl.DataFrame]:
    """Return how many rows a file has, and a table without rows but with its columns.

    Raises:
        PGNNError: If it is damaged or of another format.
    """
    import polars as pl

    count, _, table = _output(path, b"", ["schema", str(path)]).partition(b"\n")
    return int(count), pl.read_ipc(io.BytesIO(table))


def read_parquet_rows(
    path: Path,
    size: int,
    *,
    columns: Sequence[int] = (),
    rows: range | None = None,
    copy: Path | None = None,
) -> Iterator[pl.DataFrame]:
    """Yield a table in parts of at most `size` rows; at least one, perhaps without rows.

    Args:
        path: The file, for messages.
        size: How many rows are handed over at once; others are not held.
        columns: The positions of the columns; by default all.
        rows: Which rows; by default all.
        copy: Where the file is, if not at `path`.

    Raises:
        PGNNError: If the file is damaged or of another format, or takes too much time.
    """
    import polars as pl

    file = path if copy is None else copy
    bounds = ["0", ""] if rows is None else [str(rows.start), str(rows.stop)]
    wanted = ["rows", str(file.absolute()), ",".join(map(str, columns)), *bounds, str(size)]
    limit = _SECONDS + os.stat(file).st_size / _BYTES_PER_SECOND
    with tempfile.TemporaryFile() as errors:
        try:
            child = subprocess.Popen(  # noqa: S603 - our own script, no shell
                _command(wanted), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors
            )
        except OSError as error:
            raise _not_started(path, error) from error
        with child:
            assert child.stdout is not None
            try:
                while data := _next_table(path, child, child.stdout, limit):
                    yield pl.read_ipc(io.BytesIO(data))
            except BaseException:
                child.kill()
                raise
        errors.seek(0)
        _check_end(path, child.returncode, errors.read())


def _next_table(path: Path, child: subprocess.Popen[bytes], out: IO[bytes], limit: float) -> bytes:
    """Return the next table of a child, or nothing; end a child that takes too long for it."""
    is_late = Event()

    def end() -> None:
        is_late.set()
        child.kill()

    timer = Timer(limit, end)
    timer.start()
    try:
        length = int.from_bytes(out.read(parquet_child.LENGTH_BYTES), "little")
        data = out.read(length)
    finally:
        timer.cancel()
        timer.join()
    if is_late.is_set():
        raise _refused(path, f"it took more than {limit:.0f} seconds")
    return data if len(data) == length else b""


def _command(wanted: Sequence[str]) -> list[str]:
    # -P: modules beside the script are not to be found by name.
    return [sys.executable, "-P", parquet_child.__file__, str(total_memory()), *wanted]


def _output(path: Path, data: bytes, wanted: Sequence[str]) -> bytes:
    """Return what a child writes."""
    limit = _SECONDS + len(data) / _BYTES_PER_SECOND
    try:
        child = subprocess.run(  # noqa: S603 - our own script, no shell
            _command(wanted), input=data, capture_output=True, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise _refused(path, f"it took more than {limit:.0f} seconds") from error
    except OSError as error:
        raise _not_started(path, error) from error
    if child.returncode == parquet_child.TOO_LARGE:
        raise bomb(path, len(data))
    _check_end(path, child.returncode, child.stderr)
    return child.stdout


def _check_end(path: Path, code: int, errors: bytes) -> None:
    """Raise if a child could not read the file, with what it said."""
    if code == 0:
        return
    if code == parquet_child.REFUSED:
        lines = errors.decode(errors="replace").strip().splitlines()
        raise _refused(path, lines[-1] if lines else "no reason")
    raise _refused(path, "the reader ended on it")


def _not_started(path: Path, error: OSError) -> PGNNError:
    return PGNNError(f"{path}: no process could be started to read it ({error})")


def _refused(path: Path, reason: str) -> PGNNError:
    return PGNNError(
        f"{path}: cannot be read as parquet ({reason}); it is damaged or of another format"
    )
