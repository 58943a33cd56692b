"""Checks of single arguments, each with one message that names the parameter."""

from __future__ import annotations

import math
from collections.abc import Iterable
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


def integer(name: str, value: Any, *, at_least: int) -> int:
    """Return a whole number of at least `at_least`."""
    wrong = isinstance(value, bool) or not isinstance(value, int | np.integer)
    if wrong or value < at_least:
        kind = "a positive integer" if at_least == 1 else f"an integer of at least {at_least}"
        raise PGNNError(Parameter(name), f" must be {kind} (got {value!r})")
    return int(value)


def number(name: str, value: Any) -> float:
    """Return a finite number."""
    wrong = isinstance(value, bool) or not isinstance(value, int | float | np.number)
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
