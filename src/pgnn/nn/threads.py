"""Parts of work on the threads torch already has.

torch's OpenMP threads spin for milliseconds after every operation, waiting for the next. Threads of
our own, as in `pgnn.threads`, would share the cores with them and come out slower than one thread;
torch's threads start at once. This needs torch, which `pgnn.threads` must not import.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import torch

_Callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def run_parts(work: Callable[[int], None], num_parts: int) -> None:
    """Call work(0), ..., work(num_parts - 1), at once where there are threads; wait for all.

    Raises:
        BaseException: What one of the calls raised.
    """
    num_threads = min(num_parts, torch.get_num_threads())
    if num_threads == 1:
        for part in range(num_parts):
            work(part)
        return
    failures: list[BaseException] = []
    parts = count()

    def take(_: Any = None) -> None:
        while (part := next(parts)) < num_parts:
            try:
                work(part)
            except BaseException as failure:  # raised again on the caller's thread
                failures.append(failure)

    start = _torch_pool()
    if start is not None:
        start(_Callback(take), None, num_threads, 0)
    else:
        threads = [threading.Thread(target=take) for _ in range(num_threads - 1)]
        for thread in threads:
            thread.start()
        take()
        for thread in threads:
            thread.join()
    if failures:
        raise failures[0]


@contextmanager
def without_denormals() -> Iterator[None]:
    """Let all of torch's threads take numbers below 1e-38 for zero.

    A weight that weight decay alone moves shrinks until it is such a number. Processors compute
    with those many times more slowly, so that training slows down from epoch to epoch. torch can
    switch them off, but only for the thread that asks. If some threads kept them, results would
    depend on the number of threads: where torch's threads cannot be told, none is.
    """
    start = _torch_pool()
    if start is None:
        yield
        return
    before: dict[int, bool] = {}

    def switch_off(_: Any = None) -> None:
        before[threading.get_ident()] = _has_denormals()
        torch.set_flush_denormal(True)

    def put_back(_: Any = None) -> None:
        torch.set_flush_denormal(not before.get(threading.get_ident(), True))

    num_threads = torch.get_num_threads()
    start(_Callback(switch_off), None, num_threads, 0)
    try:
        yield
    finally:
        start(_Callback(put_back), None, num_threads, 0)


def _has_denormals() -> bool:
    """Return whether this thread computes with numbers below 1e-38."""
    return bool(torch.full((), 1e-20) * 1e-20 > 0)


@cache
def _torch_pool() -> Any:
    """Return GNU OpenMP's entry point as torch has loaded it, or None where torch has another."""
    try:
        library = ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"))
        start = library.GOMP_parallel
    except (OSError, AttributeError):
        return None
    start.argtypes = [_Callback, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint]
    start.restype = None
    return start
