"""Launch: what torchrun says to a process it starts. It needs no torch, which takes seconds."""

from __future__ import annotations

import os
from dataclasses import dataclass

from pgnn.errors import PGNNError

_LAUNCHED = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


@dataclass(frozen=True)
class Launch:
    """What torchrun said to this process.

    Attributes:
        rank: Number of this process among all, from 0.
        size: How many there are.
        local_rank: Number among those of this machine.
        local_size: How many are on this machine.
        machine: Number of this machine.
    """

    rank: int
    size: int
    local_rank: int
    local_size: int
    machine: int

    @classmethod
    def of_environment(cls) -> Launch | None:
        """Read the environment; None outside of torchrun, and for one process alone."""
        if not all(name in os.environ for name in _LAUNCHED):
            return None

        def number(name: str, default: int) -> int:
            try:
                return int(os.environ.get(name, default))
            except ValueError as error:
                value = os.environ[name]
                raise PGNNError(f"{name} must be an integer (got {value!r})") from error

        rank, size = number("RANK", 0), number("WORLD_SIZE", 1)
        if size == 1:
            return None
        return cls(
            rank,
            size,
            number("LOCAL_RANK", rank),
            number("LOCAL_WORLD_SIZE", size),
            number("GROUP_RANK", 0),
        )
