"""Work on consecutive items in blocks, on threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pgnn.threads import Progress, run_blocks

Scratch = TypeVar("Scratch")
Result = TypeVar("Result")


def in_blocks(
    work: Callable[[range, Scratch], Result],
    num_items: int,
    size: int,
    make_scratch: Callable[[], Scratch],
    num_threads: int,
    progress: Progress | None = None,
) -> list[Result]:
    """Do `work` on blocks of `size` items each (the last may be smaller); there may be none.

    Args:
        work: Called with a block and the thread's scratch; blocks write to disjoint places.
        num_items: How many items there are.
        size: Items per block. It does not depend on threads, so neither does the result.
        make_scratch: Called once per thread.
        num_threads: How many threads at most.
        progress: Called with (items finished, items in all) after each block.
    """
    blocks = [range(start, min(start + size, num_items)) for start in range(0, num_items, size)]
    if not blocks:
        return []
    return run_blocks(work, blocks, make_scratch, num_threads, progress)
