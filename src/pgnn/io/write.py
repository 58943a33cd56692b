"""Columns to csv, parquet and npz files, each whole or not at all."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from pgnn.errors import PGNNError
from pgnn.io.atomic import check_place, open_atomic

if TYPE_CHECKING:
    import polars as pl

SUFFIXES = (".csv", ".csv.gz", ".parquet", ".npz")


def check_writable(path: Path) -> str:
    """Return which of `SUFFIXES` a path ends in; before long work, whose result needs a place.

    Raises:
        PGNNError: If it ends in none of them, its folder does not exist, or it is a folder.
    """
    suffix = next((end for end in SUFFIXES if path.name.lower().endswith(end)), None)
    if suffix is None:
        raise PGNNError(f"{path}: the file name must end in {', '.join(SUFFIXES)}")
    check_place(path)
    return suffix


def write_columns(
    path: Path, columns: dict[str, NDArray[Any]], arrays: dict[str, NDArray[Any]]
) -> None:
    """Write columns as a table, or arrays as an `.npz`, by the suffix of the path."""
    suffix = check_writable(path)
    frame = None if suffix == ".npz" else _as_frame(columns)
    with open_atomic(path) as file:
        if frame is None:
            np.savez(file, **arrays)  # type: ignore[arg-type]  # no array is named allow_pickle
        elif suffix == ".parquet":
            frame.write_parquet(file)
        elif suffix == ".csv":
            _write_csv(frame, file)
        else:
            # Without a time in the header equal tables give equal files.
            with gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as compressed:
                _write_csv(frame, cast("IO[bytes]", compressed))


def _as_frame(columns: dict[str, NDArray[Any]]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame(
        {
            name: pl.Series(column.tolist(), dtype=pl.String)
            if column.dtype.kind == "U"
            else column
            for name, column in columns.items()
        }
    )


def _write_csv(frame: pl.DataFrame, file: IO[bytes]) -> None:
    """Write a table whose first line is the header, quoting ids only if they need it."""
    import polars as pl

    odd = r"^[#%\s]|\s$"  # would be read as a comment, or lose its blanks
    quoted = any(ids.str.contains(odd).any() for ids in frame.select(pl.col(pl.String)))
    frame.write_csv(file, quote_style="non_numeric" if quoted else "necessary")
