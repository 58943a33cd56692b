"""Parquet in, Arrow out, in a process of its own: a damaged file can end only that.

Run by its path, with the file on standard input; it imports nothing of pgnn, to start fast.
"""

from __future__ import annotations

import io
import sys
from typing import BinaryIO

REFUSED = 3  # the exit code if the file cannot be read; standard error says why


def convert(source: BinaryIO, target: BinaryIO) -> None:
    """Read parquet and write the same table in Arrow's file format."""
    import polars as pl

    frame = pl.read_parquet(io.BytesIO(source.read()))
    buffer = io.BytesIO()  # polars wants to know where it is in a file
    frame.write_ipc(buffer)
    target.write(buffer.getbuffer())


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
    """Convert standard input to standard output."""
    limit_memory(int(sys.argv[1]))
    try:
        convert(sys.stdin.buffer, sys.stdout.buffer)
    except BaseException as error:  # polars' panics are no Exceptions
        print(str(error).partition("\n")[0] or type(error).__name__, file=sys.stderr)
        return REFUSED
    return 0


if __name__ == "__main__":
    sys.exit(main())
