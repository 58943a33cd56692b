"""Checks of single arguments, each with one message that names the parameter."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from pgnn.errors import Parameter, PGNNError


def positive_integer(name: str, value: Any) -> int:
    """Return a whole number of at least 1.

    Raises:
        PGNNError: If it is anything else; numpy's integers are integers, True is not.

    Example:
        >>> positive_integer("top", 3)
        3
    """
    return integer(name, value, at_least=1)


def integer(name: str, value: Any, *, at_least: int, at_most: int | None = None) -> int:
    """Return a whole number of at least `at_least`, and of at most `at_most` if that is set."""
    wrong = isinstance(value, bool) or not isinstance(value, int | np.integer)
    if wrong or value < at_least:
        kind = "a positive integer" if at_least == 1 else f"an integer of at least {at_least}"
        raise PGNNError(Parameter(name), f" must be {kind} (got {value!r})")
    if at_most is not None and value > at_most:
        raise PGNNError(Parameter(name), f" must be at most {at_most:,} (got {value})")
    return int(value)


def number(name: str, value: Any) -> float:
    """Return a finite number."""
    real = int | float | np.integer | np.floating
    wrong = isinstance(value, bool) or not isinstance(value, real)
    if wrong or not math.isfinite(value):
        raise PGNNError(Parameter(name), f" must be a finite number (got {value!r})")
    return float(value)


def share(name: str, value: Any) -> float:
    """Return a number above 0 and below 1."""
    checked = number(name, value)
    if not 0 < checked < 1:
        raise PGNNError(Parameter(name), f" must be above 0 and below 1 (got {checked:g})")
    return checked


def one_of(name: str, value: Any, choices: Iterable[str]) -> str:
    """Return a name that is among the choices."""
    known = tuple(choices)
    if not isinstance(value, str) or value not in known:
        raise PGNNError(Parameter(name), f" must be one of {', '.join(known)} (got {value!r})")
    return value


def true_or_false(name: str, value: Any) -> bool:
    """Return a truth value; numpy's are truth values, 0 and 1 are not."""
    if not isinstance(value, bool | np.bool_):
        raise PGNNError(Parameter(name), f" must be True or False (got {value!r})")
    return bool(value)


def as_generator(rng: Any) -> np.random.Generator:
    """Return a generator of a seed, or the generator that was passed."""
    if isinstance(rng, np.random.Generator):
        return rng
    return np.random.default_rng(integer("rng", rng, at_least=0))


def fits_memory(name: str, value: Any, num_bytes: int) -> None:
    """Refuse what needs more memory than there is, before the machine looks for it.

    Args:
        name: The parameter to make smaller.
        value: What was passed for it.
        num_bytes: How much the work needs at least.
    """
    if num_bytes > total_memory():
        raise PGNNError(
            Parameter(name),
            f" = {value} needs {num_bytes / 2**30:,.0f} GiB of memory, and this machine has "
            f"{total_memory() / 2**30:,.1f}; use less",
        )


@cache
def total_memory() -> int:
    """Return how many bytes this process may use at most: the machine's, or its container's."""
    try:
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # not on this system
        return 1 << 40
    with suppress(OSError, ValueError):  # no container, or "max"
        total = min(total, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return total
