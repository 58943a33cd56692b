"""Blocks of work on Python threads: kernels release the GIL, so no threading layer is needed.

`run_blocks` does given blocks, `in_blocks` cuts consecutive items into blocks first.

Kernels that run between torch's operations use torch's own threads instead; see `pgnn.nn.threads`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TypeVar

from pgnn.checks import positive_integer

Scratch = TypeVar("Scratch")
Result = TypeVar("Result")
Progress = Callable[[int, int], object]


def resolve_threads(num_threads: int | None) -> int:
    """Return the number of threads to use: by default, the cores this process may run on."""
    if num_threads is None:
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1
    return positive_integer("num_threads", num_threads)


def run_blocks(
    work: Callable[[range, Scratch], Result],
    blocks: Sequence[range],
    make_scratch: Callable[[], Scratch],
    num_threads: int,
    progress: Progress | None = None,
    *,
    apart: bool = False,
) -> list[Result]:
    """Do `work` on every block, each thread with a scratch of its own.

    Args:
        work: Called with a block and the thread's scratch; blocks write to disjoint places.
        blocks: Ranges of items, such as anchor-sets, the costliest first.
        make_scratch: Called once per thread.
        num_threads: How many threads at most.
        progress: Called on the caller's thread after each block, with how many items are finished
            and how many there are.
        apart: Whether a single thread is another than the caller's: blocks that take seconds then
            do not keep Ctrl-C waiting.

    Returns:
        What `work` returned, in the order in which the blocks were finished.

    Raises:
        BaseException: What `work` or `progress` raised; blocks that have not begun are dropped.
    """
    total = sum(len(block) for block in blocks)
    results: list[Result] = []
    num_finished = 0
    if min(num_threads, len(blocks)) == 1 and not apart:
        scratch = make_scratch()
        for block in blocks:
            results.append(work(block, scratch))
            num_finished += len(block)
            if progress is not None:
                progress(num_finished, total)
        return results
    local = threading.local()
    stop = threading.Event()
    workers: set[threading.Thread] = set()

    def task(block: range) -> Result:
        _here.stop = stop
        workers.add(threading.current_thread())
        if not hasattr(local, "scratch"):
            local.scratch = make_scratch()
        return work(block, local.scratch)

    pool = ThreadPoolExecutor(min(num_threads, len(blocks)))
    sizes = {pool.submit(task, block): len(block) for block in blocks}
    try:
        for future in as_completed(sizes):
            results.append(future.result())
            num_finished += sizes[future]
            if progress is not None:
                progress(num_finished, total)
    except BaseException as error:
        stop.set()
        # Ctrl-C is answered at once: a thread in the middle of a block ends by itself.
        is_wrong = isinstance(error, Exception)
        pool.shutdown(wait=is_wrong, cancel_futures=True)
        if not is_wrong:
            _left_behind.extend(workers)
        raise
    pool.shutdown()
    return results


_here = threading.local()
_left_behind: list[threading.Thread] = []


def is_thread_left_behind() -> bool:
    """Return whether a thread is still at work that was left when the user pressed Ctrl-C."""
    return any(thread.is_alive() for thread in _left_behind)


class _StoppedError(Exception):
    """Nobody waits for this thread's block any more."""


def leave_if_stopped() -> None:
    """End a block of `run_blocks` that is of no use any more; for work that takes many steps."""
    stop = getattr(_here, "stop", None)
    if stop is not None and stop.is_set():
        raise _StoppedError


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
