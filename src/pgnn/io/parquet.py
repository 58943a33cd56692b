"""Parquet files, read by a child process: the reader aborts at some damaged files.

A length that was altered makes the reader ask for 2^60 bytes, which ends the process that asks. No
check of the file beforehand knows all such lengths, so another process reads it, with limits of
memory and time, and hands the table over in Arrow's format. That costs a third of a second.
"""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pgnn.checks import total_memory
from pgnn.errors import PGNNError
from pgnn.io import parquet_child

if TYPE_CHECKING:
    import polars as pl

_SECONDS = 60.0  # for any file, and more for a large one
_BYTES_PER_SECOND = 4 << 20


def read_parquet(path: Path, data: bytes) -> pl.DataFrame:
    """Read a table.

    Args:
        path: Where the bytes are from, for messages.
        data: The whole file.

    Raises:
        PGNNError: If it is damaged, of another format, or takes too much memory or time.
    """
    import polars as pl

    # -P: modules beside the script are not to be found by name.
    command = [sys.executable, "-P", parquet_child.__file__, str(total_memory())]
    limit = _SECONDS + len(data) / _BYTES_PER_SECOND
    try:
        child = subprocess.run(  # noqa: S603 - our own script, no shell
            command, input=data, capture_output=True, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise _refused(path, f"it took more than {limit:.0f} seconds") from error
    except OSError as error:
        raise PGNNError(f"{path}: no process could be started to read it ({error})") from error
    if child.returncode == 0:
        return pl.read_ipc(io.BytesIO(child.stdout))
    if child.returncode == parquet_child.REFUSED:
        lines = child.stderr.decode(errors="replace").strip().splitlines()
        raise _refused(path, lines[-1] if lines else "no reason")
    raise _refused(path, "the reader ended on it")


def _refused(path: Path, reason: str) -> PGNNError:
    return PGNNError(
        f"{path}: cannot be read as parquet ({reason}); it is damaged or of another format"
    )
