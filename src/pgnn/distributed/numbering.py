"""Node numbers for ids that no process has all of: the numbers that `read_graph` gives.

Integers are numbered in ascending order, strings in the order of the file. While edges are read, an
id stands as a 64-bit *name*: an integer as itself, a string as its hash. Names are owned by ranges:
a rank knows the number of each name in its range, and answers those who ask.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pgnn.distributed.agreement import Exchanging, agreed, shared
from pgnn.errors import PGNNError

if TYPE_CHECKING:
    import polars as pl

    from pgnn.io.shares import Block

Names = list[NDArray[np.int64]]
"""Edges of one rank's share, in blocks `[m, 2]` of names."""

_SAMPLED = 4096  # names of each rank by which ranges are chosen
_DENSE_SPAN = 1 << 28  # integers of a smaller range are numbered by a table on every rank
_PLACE_BITS = 48  # of a place within a share; the rank of the reader stands above
_SEEDS = 8  # of hashes: how often two strings may have met in one


def starts_of(num_nodes: int, size: int) -> NDArray[np.int64]:
    """Return the first node of each rank, and the number of nodes: equal parts of all nodes.

    Example:
        >>> starts_of(10, 4).tolist()
        [0, 2, 5, 7, 10]
    """
    return num_nodes * np.arange(size + 1, dtype=np.int64) // size


class Numbered:
    """Edges of one rank's share by node numbers, and the ids of this rank's own nodes.

    Attributes:
        pairs: Blocks `[m, 2]` of node numbers, int32.
        num_nodes: How many nodes all ranks have together.
        ids: The ids of this rank's nodes, Int64 or String.
    """

    def __init__(self, pairs: list[NDArray[np.int32]], num_nodes: int, ids: pl.Series) -> None:
        self.pairs, self.num_nodes, self.ids = pairs, num_nodes, ids


def number_share(group: Exchanging, blocks: Callable[[], Iterator[Block]]) -> Numbered:
    """Read this rank's share of edges and number their ends.

    Args:
        group: Those who read the other shares.
        blocks: Begins to read the share; called again if ids turn out to be strings late.

    Raises:
        PGNNError: What reading any of the shares raised.
    """
    names = _read_integers(group, blocks)
    if names is None:
        return _number_strings(group, blocks)
    count = sum(map(len, names))
    low = min((int(block.min()) for block in names if block.size), default=0)
    high = max((int(block.max()) for block in names if block.size), default=0)
    rows = shared(group, count, low, high)
    total, rows = int(rows[:, 0].sum()), rows[rows[:, 0] > 0]
    if not total:
        return Numbered([], 0, _series(np.empty(0, dtype=np.int64)))
    low, span = int(rows[:, 1].min()), int(rows[:, 2].max()) - int(rows[:, 1].min()) + 1
    if span <= min(4 * total + 2**20, _DENSE_SPAN):
        return _number_dense(group, names, low, span)
    return _number_sparse(group, names)


def _series(values: Any) -> pl.Series:
    import polars as pl

    return pl.Series("id", values)


def _read_integers(group: Exchanging, blocks: Callable[[], Iterator[Block]]) -> Names | None:
    """Return the edges if all ids of all shares are integers, else None."""
    import polars as pl

    names: Names = []
    reader = blocks()
    is_integer = True

    def read(most: int | None) -> None:
        nonlocal is_integer
        with agreed(group):
            while is_integer and (most is None or len(names) < most):
                block = next(reader, None)
                if block is None:
                    break
                is_integer = block[0].dtype == pl.Int64
                if is_integer:
                    names.append(np.stack([end.to_numpy() for end in block], axis=1))
        is_integer = not shared(group, not is_integer).any()

    for most in (1, None):  # strings mostly show in the first block of some share
        read(most)
        if not is_integer:
            return None
    return names


# ---------------------------------------------------------------------- integers


def _number_dense(group: Exchanging, names: Names, low: int, span: int) -> Numbered:
    """Number integers of a small range by a table of the whole range on every rank."""
    seen = np.zeros(span, dtype=bool)
    for block in names:
        seen[block[:, 0] - low] = True
        seen[block[:, 1] - low] = True
    cuts = starts_of(span, group.size)
    parts = group.exchange([seen[cuts[r] : cuts[r + 1]] for r in range(group.size)])
    own = np.logical_or.reduce(parts)
    seen = np.concatenate(group.exchange([own] * group.size))
    num_nodes = int(np.count_nonzero(seen))
    starts = starts_of(num_nodes, group.size)
    first, last = int(starts[group.rank]), int(starts[group.rank + 1])
    if num_nodes == span:
        ids = np.arange(low + first, low + last, dtype=np.int64)
        return Numbered(_replace(names, lambda block: block - low), num_nodes, _series(ids))
    index = np.cumsum(seen, dtype=np.int32)
    index -= 1
    ids = np.flatnonzero(seen)[first:last] + low
    return Numbered(_replace(names, lambda block: index[block - low]), num_nodes, _series(ids))


def _replace(
    names: Names, number: Callable[[NDArray[np.int64]], NDArray[Any]]
) -> list[NDArray[np.int32]]:
    """Number block by block, letting go of names as numbers come."""
    pairs = []
    names.reverse()
    while names:
        pairs.append(number(names.pop()).astype(np.int32))
    return pairs


def _number_sparse(group: Exchanging, names: Names) -> Numbered:
    """Number integers that lie far apart, in ascending order."""
    owners = _Owners.by_sample(group, names)
    for block in _rounds(group, names):
        owners.add(np.unique(block))
    known = owners.known()
    counts = shared(group, len(known))[:, 0]
    before, num_nodes = int(counts[: group.rank].sum()), int(counts.sum())
    numbers = np.arange(before, before + len(known), dtype=np.int64)
    pairs = owners.ask(names, numbers)
    starts = starts_of(num_nodes, group.size)
    sent = np.split(known, np.searchsorted(numbers, starts[1:-1]))
    ids = np.concatenate(group.exchange(sent))  # of ascending ranges, from rank to rank
    return Numbered(pairs, num_nodes, _series(ids))


def _rounds(group: Exchanging, names: Names) -> Iterator[NDArray[np.int64]]:
    """Yield this rank's blocks, and empty ones as long as another rank has more."""
    most = int(shared(group, len(names)).max())
    nothing = np.empty((0, 2), dtype=np.int64)
    return (names[i] if i < len(names) else nothing for i in range(most))


class _Owners:
    """Who owns which names, by ranges.

    Args:
        group: The ranks.
        bounds: Where the ranges of ranks 1, 2, ... begin.
        known: The names of this rank's range, as far as they are known, ascending.
    """

    def __init__(
        self, group: Exchanging, bounds: NDArray[np.int64], known: NDArray[np.int64]
    ) -> None:
        self._group, self._bounds, self._known = group, bounds, known
        self._kept: list[NDArray[np.int64]] = []
        self._num_kept = 0

    @classmethod
    def by_sample(cls, group: Exchanging, names: Names) -> _Owners:
        """Choose ranges that are about equally full."""
        sample = np.concatenate([block.ravel()[:_SAMPLED] for block in names[:1]] or [_NOTHING])
        every = np.sort(np.concatenate(group.exchange([sample] * group.size)))
        return cls(group, every[starts_of(len(every), group.size)[1:-1]], _NOTHING)

    def split(self, names: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Cut ascending names where another rank's range begins."""
        return np.split(names, np.searchsorted(names, self._bounds))

    def add(self, names: NDArray[np.int64]) -> None:
        """Tell the owners that there are these names, ascending; all ranks call it."""
        self._kept += self._group.exchange(self.split(names))
        self._num_kept += sum(map(len, self._kept[-self._group.size :]))
        if self._num_kept > 2 * len(self._known) + (1 << 20):
            self.known()

    def known(self) -> NDArray[np.int64]:
        """Return the names of this rank's range, ascending."""
        self._known = np.unique(np.concatenate([self._known, *self._kept]))
        self._kept, self._num_kept = [], 0
        return self._known

    def ask(self, names: Names, numbers: NDArray[np.int64]) -> list[NDArray[np.int32]]:
        """Return blocks of names as numbers; this rank gives `numbers` to its `known` names."""
        pairs = []
        num_blocks = len(names)
        for place, block in enumerate(_rounds(self._group, names)):
            wanted, inverse = np.unique(block, return_inverse=True)
            asked = self._group.exchange(self.split(wanted))
            told = [numbers[np.searchsorted(self._known, each)] for each in asked]
            answers = np.concatenate(self._group.exchange(told))
            if place < num_blocks:
                pairs.append(answers[inverse].reshape(block.shape).astype(np.int32))
                names[place] = _NO_PAIRS  # numbered: let go
        return pairs


_NOTHING = np.empty(0, dtype=np.int64)
_NO_PAIRS = np.empty((0, 2), dtype=np.int64)


# ---------------------------------------------------------------------- strings


def _number_strings(group: Exchanging, blocks: Callable[[], Iterator[Block]]) -> Numbered:
    """Number strings in the order of the file."""
    for seed in range(_SEEDS):
        numbered = _number_hashed(group, blocks, seed)
        if numbered is not None:
            return numbered
    raise PGNNError("the ids cannot be told apart by 64-bit hashes; use other ids")


def _number_hashed(
    group: Exchanging, blocks: Callable[[], Iterator[Block]], seed: int
) -> Numbered | None:
    """Number strings by their hashes; None if two have the same."""
    import polars as pl

    def hashed(column: pl.Series) -> NDArray[np.int64]:
        return column.hash(seed).to_numpy().view(np.int64)

    probe = shared(group, *hashed(pl.Series(["a", "bc"])).tolist())
    if (probe != probe[0]).any():
        raise PGNNError("the processes hash strings differently; use the same version of polars")
    reader = blocks()
    names: Names = []
    equal = [rank * 2**64 // group.size - 2**63 for rank in range(1, group.size)]
    bounds = np.array(equal, dtype=np.int64)
    table = pl.DataFrame(schema={"id": pl.String, "place": pl.Int64})
    num_merged = 0
    place = group.rank << _PLACE_BITS
    while True:
        block = None
        with agreed(group):
            block = next(reader, None)
        if not shared(group, block is not None).any():
            break
        frame = table.clear()
        if block is not None:
            ends = [end.cast(pl.String) for end in block]
            names.append(np.stack([hashed(end) for end in ends], axis=1))
            places = np.arange(place, place + 2 * len(ends[0]), 2)
            place += 2 * len(ends[0])
            frame = _first_places(
                [pl.DataFrame({"id": end, "place": places + i}) for i, end in enumerate(ends)]
            )
        owner = np.searchsorted(bounds, hashed(frame["id"]), side="right")
        received = _exchange_frames(group, frame, owner)
        table = pl.concat([table, received])
        if len(table) > 2 * num_merged + (1 << 18):
            table = _first_places([table])
            num_merged = len(table)
    table = _first_places([table])
    table = table.with_columns(name=pl.Series(hashed(table["id"]))).sort("name")
    known = table["name"].to_numpy()
    if shared(group, bool((known[1:] == known[:-1]).any())).any():
        return None
    numbers, num_nodes = _number_places(group, table["place"].to_numpy())
    pairs = _Owners(group, bounds, known).ask(names, numbers)
    starts = starts_of(num_nodes, group.size)
    home = np.searchsorted(starts[1:-1], numbers, side="right")
    named = pl.DataFrame({"id": table["id"], "place": numbers})
    return Numbered(pairs, num_nodes, _exchange_frames(group, named, home).sort("place")["id"])


def _first_places(frames: list[pl.DataFrame]) -> pl.DataFrame:
    import polars as pl

    return pl.concat(frames).group_by("id").agg(pl.col("place").min())


def _exchange_frames(
    group: Exchanging, frame: pl.DataFrame, owner: NDArray[np.int64]
) -> pl.DataFrame:
    """Send each row to its owner; return the rows that came."""
    import polars as pl

    sent = []
    for rank in range(group.size):
        buffer = io.BytesIO()
        frame.filter(pl.Series(owner == rank)).write_ipc(buffer)
        sent.append(np.frombuffer(buffer.getvalue(), dtype=np.uint8))
    return pl.concat([pl.read_ipc(io.BytesIO(part.tobytes())) for part in group.exchange(sent)])


def _number_places(group: Exchanging, places: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Return the rank of each place among all places of all ranks, and how many there are."""
    order = np.argsort(places)
    readers = np.arange(1, group.size, dtype=np.int64) << _PLACE_BITS
    sent = np.split(places[order], np.searchsorted(places[order], readers))
    received = group.exchange(sent)
    lengths = [len(part) for part in received]
    mixed = np.concatenate(received)
    counts = shared(group, len(mixed))[:, 0]
    numbers = np.empty(len(mixed), dtype=np.int64)
    numbers[np.argsort(mixed)] = np.arange(len(mixed)) + counts[: group.rank].sum()
    told = group.exchange(np.split(numbers, np.cumsum(lengths)[:-1]))
    result = np.empty(len(places), dtype=np.int64)
    result[order] = np.concatenate(told)
    return result, int(counts.sum())
