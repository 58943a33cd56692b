"""Group: the processes that torchrun started. Joining it, exchanging arrays, and losing one.

Everything goes through `torch.distributed`: gloo on CPUs, and nccl beside it where the model is on
GPUs. Arrays of numpy are exchanged as bytes, so any type is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from itertools import count
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray

from pgnn.distributed.launch import Launch
from pgnn.errors import PGNNError
from pgnn.threads import current_team, working_with

TIMEOUT = timedelta(minutes=10)  # how long to wait for a process that neither answers nor ends


_joined = count()  # a process may join one group after the other, each with names of its own


class LostRankError(PGNNError):
    """Another process of the group has ended, or cannot be reached."""


class Group:
    """Some processes that do one work together; each calls the same methods in the same order.

    Args:
        rank: Number of this process, from 0.
        size: How many there are.
        backend: What `torch.distributed` made: a process group, or gloo's own of a test.
        store: torch's store of names and values that outlives any of the processes, or None.

    Raises:
        LostRankError: By every method, if another process has ended or cannot be reached.
    """

    def __init__(self, rank: int, size: int, backend: Any, store: Any = None) -> None:
        self.rank, self.size, self.backend, self.store = rank, size, backend, store

    @property
    def is_first(self) -> bool:
        """Whether this is rank 0, which alone prints and writes files."""
        return self.rank == 0

    def is_first_to_fail(self, machine: int = 0) -> bool:
        """Return True to the first process of a machine that asks; to the others False."""
        if self.store is None:
            return self.is_first
        try:
            return int(self.store.add(f"pgnn failed on machine {machine}", 1)) == 1
        except RuntimeError:  # the store is gone, and so are those who would say it
            return True

    def barrier(self) -> None:
        """Wait until all have come here."""
        with _losing():
            self.backend.barrier().wait()

    def broadcast(self, array: NDArray[Any], root: int = 0) -> NDArray[Any]:
        """Fill an array without gaps, of one shape and type on all, with that of one; return it."""
        if array.size:
            with _losing():
                self.backend.broadcast(torch.from_numpy(_as_bytes(array)), root).wait()
        return array

    def broadcast_bytes(self, data: bytes | None, root: int = 0) -> bytes:
        """Return on all the bytes that one has; what the others give is not read."""
        own = data if self.rank == root and data is not None else b""
        length = int(self.broadcast(np.array([len(own)], dtype=np.int64), root)[0])
        buffer = np.zeros(length, dtype=np.uint8)
        if self.rank == root:
            buffer[:] = np.frombuffer(own, dtype=np.uint8)
        return self.broadcast(buffer, root).tobytes()

    def gather(self, array: NDArray[Any]) -> list[NDArray[Any]]:
        """Return the arrays of all, by rank; they may differ in length but in nothing else."""
        counts = self.gather_numbers(len(array))
        return self.gather_known(array, counts)

    def gather_numbers(self, number: int) -> list[int]:
        """Return one integer of each, by rank."""
        own = torch.tensor([number], dtype=torch.int64)
        every = [torch.empty_like(own) for _ in range(self.size)]
        with _losing():
            self.backend.allgather([every], [own]).wait()
        return [int(each) for each in every]

    def gather_known(self, array: NDArray[Any], counts: Sequence[int]) -> list[NDArray[Any]]:
        """Return the arrays of all, by rank, whose lengths all know."""
        width = _row_bytes(array)
        most = max(counts) * width
        sent = np.empty(most, dtype=np.uint8)
        sent[: len(array) * width] = _as_bytes(array)
        taken = torch.empty(self.size * most, dtype=torch.uint8)
        if most:
            with _losing():
                self.backend._allgather_base(taken, torch.from_numpy(sent)).wait()
        rows = taken.numpy().reshape(self.size, most)
        return [
            row[: count * width].view(array.dtype).reshape(count, *array.shape[1:])
            for row, count in zip(rows, counts, strict=True)
        ]

    def exchange(self, parts: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Give part r to rank r, and return what each has given to this one, by rank.

        Args:
            parts: One array per rank, of any length, all of one type and width.
        """
        counts = np.array([len(part) for part in parts], dtype=np.int64)
        known = self.exchange_known([counts[r : r + 1] for r in range(self.size)], [1] * self.size)
        return self.exchange_known(parts, [int(count[0]) for count in known])

    def exchange_known(
        self, parts: Sequence[NDArray[Any]], counts: Sequence[int]
    ) -> list[NDArray[Any]]:
        """Do what `exchange` does, where it is known how many rows each gives to this one."""
        received = self.begin_exchange(parts, counts)
        return received.wait()

    def begin_exchange(self, parts: Sequence[NDArray[Any]], counts: Sequence[int]) -> Exchange:
        """Begin what `exchange_known` does; work may go on until its `wait` is called."""
        like = parts[0]
        width = _row_bytes(like)
        sent = torch.from_numpy(np.concatenate([_as_bytes(part) for part in parts]))
        taken = torch.empty(sum(counts) * width, dtype=torch.uint8)
        with _losing():
            work = self.backend.alltoall_base(
                taken, sent, [c * width for c in counts], [len(p) * width for p in parts]
            )
        shapes = [(count, *like.shape[1:]) for count in counts]
        return Exchange(work, sent, taken.numpy(), like.dtype, shapes)

    def all_equal(self, data: bytes) -> bool:
        """Return whether all gave the same bytes."""
        return all(other.tobytes() == data for other in self.gather(np.frombuffer(data, np.uint8)))


class Exchange:
    """Arrays on their way."""

    def __init__(
        self,
        work: Any,
        sent: torch.Tensor,
        taken: NDArray[np.uint8],
        dtype: np.dtype[Any],
        shapes: Sequence[tuple[int, ...]],
    ) -> None:
        self._work, self._sent, self._taken = work, sent, taken
        self._dtype, self._shapes = dtype, shapes

    def wait(self) -> list[NDArray[Any]]:
        """Return the arrays that others gave to this process, by rank.

        Raises:
            LostRankError: If another process has ended.
        """
        with _losing():
            self._work.wait()
        sizes = [int(np.prod(shape, dtype=np.int64)) for shape in self._shapes]
        parts = np.split(self._taken, np.cumsum(sizes)[:-1] * self._dtype.itemsize)
        return [
            part.view(self._dtype).reshape(shape)
            for part, shape in zip(parts, self._shapes, strict=True)
        ]


def current_group() -> Group | None:
    """Return the group that this process has joined; None where it works alone."""
    team = current_team()
    return team if isinstance(team, Group) else None


def writes_files() -> bool:
    """Return whether this process writes files: one that works alone, or rank 0."""
    group = current_group()
    return group is None or group.is_first


@contextmanager
def joined_group(launch: Launch, *, device: str = "cpu") -> Iterator[Group]:
    """Join the group that torchrun started, and leave it.

    Args:
        launch: What torchrun said.
        device: Where models compute: nccl is used beside gloo for "cuda".

    Raises:
        PGNNError: If not all processes come.
    """
    from torch.distributed.rendezvous import rendezvous

    backend = "cpu:gloo,cuda:nccl" if device.startswith("cuda") else "gloo"
    try:
        store, rank, size = next(iter(rendezvous("env://", timeout=TIMEOUT)))
        store = dist.PrefixStore(  # type: ignore[attr-defined]
            f"pgnn {next(_joined)}", store
        )
        store.set_timeout(TIMEOUT)
        dist.init_process_group(backend, store=store, rank=rank, world_size=size, timeout=TIMEOUT)
    except (RuntimeError, ValueError) as error:
        raise PGNNError(
            f"the {launch.size} processes did not find each other ({_first_line(error)}); see "
            "whether all were started and reach "
            f"{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}"
        ) from error
    with working_with(group := Group(rank, size, dist.group.WORLD, store)):
        yield group
        group.barrier()  # when a command ends anywhere, what rank 0 writes is there
    # Not after an error: the others may be gone, and there is nobody to say good-bye to.
    dist.destroy_process_group()


@contextmanager
def _losing() -> Iterator[None]:
    """Say in one line that another process is gone, where torch says it in its own words."""
    try:
        yield
    except RuntimeError as error:
        raise LostRankError(
            f"another process of this run has ended or does not answer ({_first_line(error)})"
        ) from error


def _first_line(error: BaseException) -> str:
    """Return the first sentence of a message, without the place in gloo's code."""
    line = (str(error).splitlines() or [type(error).__name__])[0].partition(". ")[0]
    return re.sub(r"^\[[^\]]*\.(cc|h|cpp):\d+\] ", "", line)


def _as_bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    """Return the memory of an array as bytes, copied only where it has gaps."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _row_bytes(array: NDArray[Any]) -> int:
    return int(np.prod(array.shape[1:], dtype=np.int64)) * array.itemsize
