"""Parts of work on the threads torch already has.

torch's OpenMP threads spin for milliseconds after every operation, waiting for the next. Threads of
our own, as in `pgnn.threads`, would share the cores with them and come out slower than one thread;
torch's threads start at once. This needs torch, which `pgnn.threads` must not import.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
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
