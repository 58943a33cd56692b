"""Many runs on several processes, whose records come back as they end."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import wait
from typing import Any, TypeVar

from pgnn.checks import positive_integer
from pgnn.experiments.run import Job, run_heuristics, run_job
from pgnn.names import Protocol
from pgnn.threads import set_default_threads

_Job = TypeVar("_Job")
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class HeuristicsJob:
    """All heuristics on the test pairs of one column, protocol and seed."""

    column: str
    protocol: Protocol
    seed: int


def run_jobs(
    jobs: Sequence[Job | HeuristicsJob], *, num_processes: int, data_dir: str | None
) -> Iterator[list[dict[str, Any]]]:
    """Run jobs on processes of one thread each, and give the records of each job as it ends.

    Raises:
        PGNNError: If there is no process to run them on, or a job raises it.
    """
    return run_on_processes(
        partial(records_of, data_dir=data_dir), jobs, num_processes=num_processes
    )


def run_on_processes(
    work: Callable[[_Job], _Result], jobs: Sequence[_Job], *, num_processes: int
) -> Iterator[_Result]:
    """Call a function with each job, on processes of one thread each; results come as they end.

    Args:
        work: A function of a module, which other processes can find by its name.
        jobs: What it is called with.
        num_processes: How many processes.

    Raises:
        PGNNError: If there is no process to run them on, or a job raises it.
    """
    num_processes = positive_integer("num_processes", num_processes)
    # Spawned, not forked: the thread pools of torch and numba do not survive a fork.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(num_processes, context, initializer=_one_thread) as pool:
        futures = [pool.submit(work, job) for job in jobs]
        try:
            for future in as_completed(futures):
                yield future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in multiprocessing.active_children():
                process.terminate()  # its job may take hours more
            raise


def records_of(job: Job | HeuristicsJob, data_dir: str | None) -> list[dict[str, Any]]:
    """Run one job in this process: one record for a model, one for each heuristic."""
    if isinstance(job, HeuristicsJob):
        return run_heuristics(job.column, job.protocol, job.seed, data_dir)
    return [run_job(job, data_dir=data_dir)]


def _one_thread() -> None:
    import torch

    torch.set_num_threads(1)
    set_default_threads(1)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Wait until the process that started this one is gone, however it ended, and go too."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
