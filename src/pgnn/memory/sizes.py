"""Sizes of memory as people write them: 4GB, 500MB, 2GiB."""

from __future__ import annotations

import re
from typing import Any

from pgnn.errors import Parameter, PGNNError

_UNITS = {
    **{letter + "B": 1000**power for power, letter in enumerate("KMGT", 1)},
    **{letter + "IB": 1024**power for power, letter in enumerate("KMGT", 1)},
}
_SIZE = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([A-Za-z]+)\s*", re.ASCII)


_MOST = 1 << 60  # bytes: no machine has more


def parse_size(size: Any) -> int:
    """Return a size in bytes, given as an integer or as a number and a unit.

    Raises:
        PGNNError: If it is none.

    Example:
        >>> parse_size("4GB"), parse_size("1.5 GiB"), parse_size(500_000_000)
        (4000000000, 1610612736, 500000000)
    """
    if isinstance(size, int) and not isinstance(size, bool) and 0 < size <= _MOST:
        return size
    match = _SIZE.fullmatch(size) if isinstance(size, str) else None
    factor = None if match is None else _UNITS.get(match[2].upper())
    num_bytes = 0 if match is None or factor is None else min(float(match[1]) * factor, 2 * _MOST)
    if not 0 < int(num_bytes) <= _MOST:
        raise PGNNError(
            Parameter("memory"), f" must be a size such as 4GB, 500MB or 2GiB (got {size!r})"
        )
    return int(num_bytes)


def say_size(num_bytes: float) -> str:
    """Return a size as a person would write it, rounded up.

    Example:
        >>> say_size(1_210_000_000), say_size(411_200_000)
        ('1.3GB', '412MB')
    """
    if num_bytes >= 1e9:
        return f"{-(-num_bytes // 10**8) / 10:g}GB"
    return f"{-(-num_bytes // 10**6):.0f}MB"
