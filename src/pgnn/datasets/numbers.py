"""Text that holds a table of numbers -> array, with errors that name the line."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgnn.errors import PGNNError


def parse_integers(
    data: bytes, source: str, *, columns: int, delimiter: str | None = None
) -> NDArray[np.int64]:
    r"""Read lines of `columns` integers each, int64 `[lines, columns]`.

    Args:
        data: The text.
        source: What messages call it.
        columns: How many numbers each line must have.
        delimiter: What stands between them; by default white space.

    Raises:
        PGNNError: For a line that is something else, with its number and text.

    Example:
        >>> parse_integers(b"0 1\n2 3\n", "edges.txt", columns=2).tolist()
        [[0, 1], [2, 3]]
    """
    return _parse(data, source, columns, delimiter, np.int64)


def parse_floats(
    data: bytes, source: str, *, columns: int, delimiter: str | None = None
) -> NDArray[np.float64]:
    """Read lines of `columns` finite numbers each, float64 `[lines, columns]`."""
    table = _parse(data, source, columns, delimiter, np.float64)
    if not np.isfinite(table).all():
        line = int(np.argwhere(~np.isfinite(table))[0, 0]) + 1
        raise PGNNError(f"{source}, line {line}: holds a number that is not finite")
    return table


def expect(got: int, wanted: int, what: str, source: str) -> None:
    """Compare a count with what the data set is known to have.

    Raises:
        PGNNError: If they differ: the file is not the one that the paper used.
    """
    if got != wanted:
        raise PGNNError(
            f"{source}: {wanted:,} {what} expected (got {got:,}); the file is damaged, truncated "
            "or another one: delete it and load the data set again, which downloads the original"
        )


def _parse(
    data: bytes, source: str, columns: int, delimiter: str | None, dtype: type[Any]
) -> NDArray[Any]:
    if not data.strip():
        raise PGNNError(f"{source}: is empty; delete it and load the data set again")
    try:
        table = np.loadtxt(
            io.BytesIO(data), dtype=dtype, delimiter=delimiter, ndmin=2, comments=None
        )
    except (ValueError, OverflowError) as error:
        raise _bad_line(data, source, columns, delimiter, dtype) from error
    if table.shape[1] != columns:
        raise _bad_line(data, source, columns, delimiter, dtype)
    return table


def _bad_line(
    data: bytes, source: str, columns: int, delimiter: str | None, dtype: type[Any]
) -> PGNNError:
    """The error for the first line that is not `columns` numbers."""
    kind = "integers" if dtype is np.int64 else "numbers"
    for number, raw in enumerate(data.decode("utf-8", "replace").splitlines(), start=1):
        fields = raw.split(delimiter)
        if raw.strip() and (len(fields) != columns or not _all_numbers(fields, dtype)):
            return PGNNError(
                f"{source}, line {number}: {columns} {kind} expected (got {raw[:60]!r}); the file "
                "is damaged or truncated: delete it and load the data set again"
            )
    return PGNNError(f"{source}: is not a table of {columns} {kind} per line")


def _all_numbers(fields: list[str], dtype: type[Any]) -> bool:
    try:
        np.array([int(field) if dtype is np.int64 else float(field) for field in fields], dtype)
    except (ValueError, OverflowError):
        return False
    return True
