"""A command under torchrun: all processes work, rank 0 speaks, the first to fail says why."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING

import numpy as np

from pgnn.distributed.launch import Launch
from pgnn.errors import PGNNError
from pgnn.threads import num_cores, set_default_threads
from pgnn.version import __version__

if TYPE_CHECKING:
    from pgnn.distributed.group import Group
    from pgnn.graph import Graph

_PATIENCE = 3.0  # seconds for another process to say one line
SHARED = (
    "train",
    "evaluate",
    "embed",
    "predict",
    "distances",
)  # commands whose work processes share


class _Processes:
    """What torchrun said, and the group that was joined; both None for a command alone."""

    launch: Launch | None = None
    group: Group | None = None
    exits: ExitStack


_processes = _Processes()


@contextmanager
def together() -> Iterator[None]:
    """Run a command as one of the processes that torchrun started, if it did.

    Processes other than rank 0 are silent; the group, if one was joined, is left at the end.
    """
    _processes.launch, _processes.group = Launch.of_environment(), None
    with ExitStack() as exits:
        _processes.exits = exits
        if not is_first():
            nowhere = exits.enter_context(open(os.devnull, "w"))
            exits.enter_context(redirect_stdout(nowhere))
            exits.enter_context(redirect_stderr(nowhere))
        yield


def are_several() -> bool:
    """Return whether torchrun started more than one process."""
    return _processes.launch is not None


def is_first() -> bool:
    """Return whether this process prints and writes: one that works alone, or rank 0."""
    return _processes.launch is None or _processes.launch.rank == 0


def check_shared(command: str | None) -> None:
    """Refuse a command under torchrun whose work cannot be shared.

    Raises:
        PGNNError: If it cannot.
    """
    if are_several() and command not in SHARED:
        raise PGNNError(
            f"torchrun shares the work of pgnn {', '.join(SHARED)}; run `pgnn {command}` without it"
        )


def own_device(name: str) -> str:
    """Return the device of this process: of "cuda", each process of a machine takes another."""
    launch = _processes.launch
    return name if launch is None or name != "cuda" else f"cuda:{launch.local_rank}"


def join(*, threads: int | None, device: str) -> None:
    """Join the processes that torchrun started, each with its share of the cores.

    Args:
        threads: What the user typed; by default the share of the cores.
        device: The device of this process.

    Raises:
        PGNNError: If the others do not come.
    """
    launch = _processes.launch
    if launch is None or _processes.group is not None:
        return
    import torch
    from threadpoolctl import threadpool_limits

    from pgnn.distributed.group import joined_group

    share = threads or _share_of_cores(launch)
    torch.set_num_threads(share)
    set_default_threads(share)
    _processes.exits.callback(set_default_threads, None)
    _processes.exits.enter_context(threadpool_limits(share, user_api="blas"))
    group = joined_group(launch, device=device)
    _processes.group = _processes.exits.enter_context(group)


def _share_of_cores(launch: Launch) -> int:
    """Return the threads of this process: as OMP_NUM_THREADS says, or its share of the cores.

    torchrun sets OMP_NUM_THREADS to 1 where the user has not set it, so 1 says nothing.
    """
    typed = os.environ.get("OMP_NUM_THREADS", "1")
    if typed.isdecimal() and int(typed) > 1:
        return int(typed)
    return max(1, num_cores() // launch.local_size)


def check_same_graph(graph: Graph) -> None:
    """Refuse to work together on different graphs, as of files that differ from machine to machine.

    Raises:
        PGNNError: If not all processes have read the same graph, with the same version of pgnn.
    """
    if _processes.group is None:
        return
    digest = hashlib.sha256(__version__.encode())
    for array in (graph.indptr, graph.indices, graph.weights, graph.x, graph.y):
        digest.update(b"-" if array is None else np.ascontiguousarray(array).tobytes())
    if not _processes.group.all_equal(digest.digest()):
        raise PGNNError(
            "the processes have read different graphs, or have different versions of pgnn; give "
            "all machines the same files"
        )


def may_say_why() -> bool:
    """Return whether this process says why the command failed: the first on its machine does.

    The others fail because this one did, or for the same reason.
    """
    launch, group = _processes.launch, _processes.group
    if launch is None:
        return True
    if group is None:  # nothing was read yet, so all have the same reason
        if launch.local_rank:
            time.sleep(_PATIENCE)  # torchrun stops all when one has ended, also who is to say why
        return launch.local_rank == 0
    return group.is_first_to_fail(launch.machine)


def resuming(place: str) -> str:
    """Return the command that goes on with a run."""
    command = "torchrun ... -m pgnn" if are_several() else "pgnn"
    return f"`{command} train --resume --out {place}`"
