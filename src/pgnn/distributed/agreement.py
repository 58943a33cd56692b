"""What all processes of a group must do alike: go on, or stop for the same reason."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pgnn.distributed.group import LostRankError
from pgnn.errors import Parameter, PGNNError


class Exchanging(Protocol):
    """What parts of a graph need of a group; see `pgnn.distributed.group.Group`."""

    rank: int
    size: int

    def exchange(self, parts: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Give part r to rank r, and return what each has given to this one, by rank."""
        ...

    def exchange_known(
        self, parts: Sequence[NDArray[Any]], counts: Sequence[int]
    ) -> list[NDArray[Any]]:
        """Do what `exchange` does, where it is known how many rows each gives to this one."""
        ...


class Alone:
    """A group of one process."""

    rank = 0
    size = 1

    def exchange(self, parts: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Return what was given."""
        return list(parts)

    def exchange_known(
        self,
        parts: Sequence[NDArray[Any]],
        counts: Sequence[int],  # noqa: ARG002 - of what was given
    ) -> list[NDArray[Any]]:
        """Return what was given."""
        return list(parts)


def shared(group: Exchanging, *numbers: int) -> NDArray[np.int64]:
    """Return the numbers of all, `[size, len(numbers)]`."""
    row = np.array([numbers], dtype=np.int64)
    return np.concatenate(group.exchange_known([row] * group.size, [1] * group.size))


@contextmanager
def agreed(group: Exchanging) -> Iterator[None]:
    """Raise on all what one of them raised: otherwise the others would wait for it for ever.

    Raises:
        PGNNError: That of the lowest rank that has one.
    """
    reason: list[tuple[bool, str]] = []
    try:
        yield
    except LostRankError:
        raise
    except PGNNError as error:
        reason = [(isinstance(part, Parameter), str(part)) for part in error.args]
    told = np.frombuffer(json.dumps(reason).encode(), dtype=np.uint8)
    for heard in group.exchange([told] * group.size):
        parts = json.loads(heard.tobytes())
        if parts:
            raise PGNNError(*(Parameter(text) if named else text for named, text in parts))
