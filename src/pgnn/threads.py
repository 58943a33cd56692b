"""Blocks of work on Python threads: kernels release the GIL, so no threading layer is needed.

`run_blocks` does given blocks, `in_blocks` cuts consecutive items into blocks first. Where several
processes work together, a team, each does some of the blocks and gets the others' results. Blocks
do not depend on the number of threads or processes, so neither does what comes out.

Kernels that run between torch's operations use torch's own threads instead; see `pgnn.nn.threads`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from pgnn.checks import positive_integer
from pgnn.errors import PGNNError
from pgnn.memory import use_limit_here

Scratch = TypeVar("Scratch")
Result = TypeVar("Result")
Progress = Callable[[int, int], object]
Fills = Callable[[range], Iterable[tuple[NDArray[Any], Any]]]
_default_threads: int | None = None


def resolve_threads(num_threads: int | None) -> int:
    """Return the number of threads to use: by default, the cores this process may run on."""
    if num_threads is None:
        return num_cores() if _default_threads is None else _default_threads
    return positive_integer("num_threads", num_threads)


def num_cores() -> int:
    """Return how many cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def set_default_threads(num_threads: int | None) -> None:
    """Let threads be so many where nobody says how many; None for one per core.

    For processes that share the cores of a machine.
    """
    global _default_threads
    _default_threads = num_threads


class Team(Protocol):
    """Processes that share blocks of work: `pgnn.distributed.group.Group`."""

    rank: int
    size: int

    def gather_numbers(self, number: int) -> list[int]:
        """Return one integer of each, by rank."""

    def gather_known(self, array: NDArray[Any], counts: Sequence[int]) -> list[NDArray[Any]]:
        """Return the arrays of all, by rank, whose lengths all know."""

    def exchange_known(
        self, parts: Sequence[NDArray[Any]], counts: Sequence[int]
    ) -> list[NDArray[Any]]:
        """Give part r to rank r, and return what each has given to this one, by rank."""


_team: ContextVar[Team | None] = ContextVar("processes that share blocks of work", default=None)


def current_team() -> Team | None:
    """Return the processes that this one shares blocks of work with; None if it works alone.

    A thread has no team unless it was given one: what two threads exchange would get mixed up.
    """
    return _team.get()


@contextmanager
def working_with(team: Team | None) -> Iterator[None]:
    """Share blocks of work with a team, or with nobody."""
    token = _team.set(team)
    try:
        yield
    finally:
        _team.reset(token)


Watcher = Callable[[str, int, int], object]
_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)
_step: ContextVar[str] = ContextVar("step", default="")


@contextmanager
def watched_by(tell: Watcher) -> Iterator[None]:
    """Tell someone what long work is at, from here to its end.

    Args:
        tell: Called with the name of the step, and of how many items how many are finished; with 0
            and 0 when a step begins.

    Example:
        >>> with watched_by(print), step("squares"):
        ...     squares = run_blocks(lambda block, _: block[0] ** 2, [range(3, 4)], object, 1)
        squares 0 0
        squares 1 1
    """
    token = _watcher.set(tell)
    try:
        yield
    finally:
        _watcher.reset(token)


@contextmanager
def step(name: str) -> Iterator[None]:
    """Say what the work within is, to whom it concerns; see `watched_by`."""
    token = _step.set(name)
    _tell(0, 0)
    try:
        yield
    finally:
        _step.reset(token)


def _tell(num_finished: int, total: int) -> None:
    tell, name = _watcher.get(), _step.get()
    if tell is not None and name:
        tell(name, num_finished, total)


class ElsewhereError(PGNNError):
    """Another process of the team could not do its blocks."""


def run_blocks(
    work: Callable[[range, Scratch], Result],
    blocks: Sequence[range],
    make_scratch: Callable[[], Scratch],
    num_threads: int,
    progress: Progress | None = None,
    *,
    apart: bool = False,
    fills: Fills | None = None,
) -> list[Result]:
    """Do `work` on every block, each thread with a scratch of its own.

    Where there is a team, and `fills` says what a block writes, each process does some of the
    blocks, and all end with the same arrays. Otherwise each does all of them.

    Args:
        work: Called with a block and the thread's scratch; blocks write to disjoint places.
        blocks: Ranges of items, such as anchor-sets, the costliest first.
        make_scratch: Called once per thread.
        num_threads: How many threads at most.
        progress: Called on the caller's thread after each block, with how many items are finished
            and how many there are.
        apart: Whether a single thread is another than the caller's: blocks that take seconds then
            do not keep Ctrl-C waiting.
        fills: Called with a block; returns what it writes as arrays and places in them, such as
            (array, slice) or (array, indices). What `work` returns is then not to be used.

    Returns:
        What `work` returned, in the order in which the blocks were finished.

    Raises:
        BaseException: What `work` or `progress` raised; blocks that have not begun are dropped.
        ElsewhereError: If another process of the team raised something.
    """
    team = current_team()
    with working_with(None):  # a block is one process's own
        if team is not None and team.size > 1 and fills is not None and len(blocks) > 1:
            own = blocks[team.rank :: team.size]
            _share(
                lambda: _run(work, own, make_scratch, num_threads, progress, apart=apart),
                blocks,
                fills,
                team,
            )
            return []
        return _run(work, blocks, make_scratch, num_threads, progress, apart=apart)


def _share(work: Callable[[], object], blocks: Sequence[range], fills: Fills, team: Team) -> None:
    """Do this process's blocks, and exchange what was written."""
    failure: Exception | None = None
    try:
        work()
    except Exception as error:  # the others wait: they are told first
        failure = error
    of_rank = [
        [place for block in blocks[rank :: team.size] for place in fills(block)]
        for rank in range(team.size)
    ]
    sizes = [[_size(array, index) for array, index in places] for places in of_rank]
    states = team.gather_numbers(failure is not None)
    if failure is not None:
        raise failure
    if any(states):
        raise ElsewhereError("another process of this run could not do its share of the work")
    counts = [sum(of_one) for of_one in sizes]
    own = [
        np.ascontiguousarray(array[index]).reshape(-1).view(np.uint8)
        for array, index in of_rank[team.rank]
    ]
    packed = np.concatenate([np.empty(0, dtype=np.uint8), *own])
    for rank, data in enumerate(team.gather_known(packed, counts)):
        if rank == team.rank:
            continue
        stop = 0
        for (array, index), size in zip(of_rank[rank], sizes[rank], strict=True):
            start, stop = stop, stop + size
            array[index] = data[start:stop].view(array.dtype).reshape(_shape(array, index))


def _shape(array: NDArray[Any], index: Any) -> tuple[int, ...]:
    """Return the shape of array[index], without a copy."""
    if isinstance(index, np.ndarray):
        return (len(index), *array.shape[1:])
    return tuple(array[index].shape)


def _size(array: NDArray[Any], index: Any) -> int:
    """Return how many bytes array[index] has."""
    return int(np.prod(_shape(array, index), dtype=np.int64)) * array.itemsize


def _run(
    work: Callable[[range, Scratch], Result],
    blocks: Sequence[range],
    make_scratch: Callable[[], Scratch],
    num_threads: int,
    progress: Progress | None,
    *,
    apart: bool,
) -> list[Result]:
    """Do `work` on every block, in this process."""
    if not blocks:
        return []
    total = sum(len(block) for block in blocks)
    results: list[Result] = []
    num_finished = 0
    if min(num_threads, len(blocks)) == 1 and not apart:
        scratch = make_scratch()
        for block in blocks:
            results.append(work(block, scratch))
            num_finished += len(block)
            _tell(num_finished, total)
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

    pool = ThreadPoolExecutor(min(num_threads, len(blocks)), initializer=use_limit_here)
    sizes = {pool.submit(task, block): len(block) for block in blocks}
    try:
        for future in as_completed(sizes):
            results.append(future.result())
            num_finished += sizes[future]
            _tell(num_finished, total)
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
    *,
    fills: Fills | None = None,
) -> list[Result]:
    """Do `work` on blocks of `size` items each (the last may be smaller); there may be none.

    Args:
        work: Called with a block and the thread's scratch; blocks write to disjoint places.
        num_items: How many items there are.
        size: Items per block. It does not depend on threads, so neither does the result.
        make_scratch: Called once per thread.
        num_threads: How many threads at most.
        progress: Called with (items finished, items in all) after each block.
        fills: What a block writes; see `run_blocks`.
    """
    blocks = [range(start, min(start + size, num_items)) for start in range(0, num_items, size)]
    if not blocks:
        return []
    return run_blocks(work, blocks, make_scratch, num_threads, progress, fills=fills)


def rows_of(*arrays: NDArray[Any]) -> Fills:
    """Return what a block writes that fills rows start..stop of some arrays, for `fills`."""
    return lambda block: [(array, slice(block.start, block.stop)) for array in arrays]


def columns_of(*arrays: NDArray[Any]) -> Fills:
    """Return what a block writes that fills columns start..stop of some arrays, for `fills`."""
    return lambda block: [
        (array, (slice(None), slice(block.start, block.stop))) for array in arrays
    ]
