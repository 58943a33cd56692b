"""The stopwatch of the benchmarks, and processes of their own."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any


def best_time(
    call: Callable[[], Any], repeats: int, *, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Return the least time of several calls, by the wall's clock or `time.process_time`."""
    times = []
    for _ in range(repeats):
        start = clock()
        call()
        times.append(clock() - start)
    return min(times)


def in_child(module: str, *arguments: object) -> dict[str, Any]:
    """Run a module in a new process, so that peaks of memory do not mix; return its JSON."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    child = subprocess.run(command, stdout=subprocess.PIPE, check=True)  # noqa: S603
    document: dict[str, Any] = json.loads(child.stdout)
    return document
