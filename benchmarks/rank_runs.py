"""Commands under torchrun, for the benchmarks of several processes."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pgnn.bench.graphs import preferential_graph

_OF_THE_CLOCK = ("seconds", "run")


@dataclass(frozen=True)
class Finished:
    """What a command printed, how long it took, and what it cost its processors."""

    code: int
    stdout: str
    stderr: str
    seconds: float
    processor_seconds: float

    def metrics(self) -> dict[str, Any]:
        """Return the JSON document, without what the clock decides."""
        document = json.loads(self.stdout)
        return {key: value for key, value in document.items() if key not in _OF_THE_CLOCK}


def write_graph(path: Path, num_nodes: int, seed: int = 0) -> None:
    """Write the edges of a generated graph whose nodes have five edges or more."""
    edges = preferential_graph(num_nodes, 5, rng=seed).edges()
    np.savetxt(path, edges, fmt="%d", delimiter=",")


def launcher(size: int, *options: str) -> list[str]:
    """Return how a program is started as so many processes on this machine; 1: as it is."""
    if size == 1 and not options:
        return [sys.executable]
    where = options or ("--standalone",)
    processes = ["--nproc-per-node", str(size)]
    return [sys.executable, "-m", "torch.distributed.run", *where, *processes]


def run(
    command: Sequence[object], folder: Path, environment: Mapping[str, str] | None = None
) -> Finished:
    """Run a command in a folder and wait for it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    finished = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
    )
    seconds = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cost = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Finished(finished.returncode, finished.stdout, finished.stderr, seconds, cost)
