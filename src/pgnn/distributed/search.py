"""Distances to anchor-sets in a graph in parts: level by level, with an exchange in between.

The search is that of `pgnn.positions.hops.search_by_levels`. Each rank has rows of keys for its own
nodes and for its ghosts, and pulls or pushes as suits its part. Between two levels it sends the
keys that became final to those ranks that have the node as a ghost, so a key crosses once to each
of them. The answer is the least fixed point of one equation, so it does not depend on the parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pgnn.checks import checked, fits_memory
from pgnn.distributed.agreement import agreed, shared
from pgnn.distributed.kernels import parts as kernels
from pgnn.distributed.partitioned import PartitionedGraph
from pgnn.errors import Parameter, PGNNError
from pgnn.positions.anchors import AnchorSets
from pgnn.positions.distances import AnchorDistances, check_cutoff
from pgnn.positions.hops import (
    EARLY_FETCH_AHEAD,
    EARLY_FETCH_BYTES,
    PUSH_ADVANTAGE,
    RANKS,
    KeyForm,
    level_blocks,
)
from pgnn.positions.kernels.rows import ROW_BYTES, empty_rows
from pgnn.positions.kernels.search import READ_ROWS, Rows, emit_block, emit_ranked, pull, push
from pgnn.threads import Progress


@dataclass
class Traffic:
    """What a search cost: bytes that this rank sent, and levels that all searched together."""

    num_bytes: int = 0
    num_levels: int = 0


@checked
def partitioned_distances(
    graph: PartitionedGraph,
    sets: AnchorSets | Sequence[ArrayLike],
    *,
    cutoff: float | None = None,
    progress: Progress | None = None,
    traffic: Traffic | None = None,
) -> AnchorDistances:
    """Distance from each of this rank's nodes to, and nearest member of, each of k node sets.

    All ranks call it together, with the same sets. Row i belongs to node `graph.first + i`. The
    rows of all ranks, one below the other, are what `pgnn.anchor_distances` gives for the whole
    graph.

    Args:
        graph: This rank's part.
        sets: Anchor-sets of the whole graph.
        cutoff: Look no farther than this many hops.
        progress: Called with (sets searched, sets in all) now and then.
        traffic: Counts up what was exchanged.

    Raises:
        PGNNError: If the sets are not of this graph or an argument is out of range.

    Example:
        >>> from pgnn import Graph
        >>> from pgnn.distributed import partition
        >>> part = partition(Graph.from_edges([(0, 1), (1, 2), (2, 3)]))
        >>> partitioned_distances(part, [[0, 3], [1]]).hops.tolist()
        [[0, 1], [1, 0], [1, 1], [0, 2]]
    """
    if not isinstance(graph, PartitionedGraph):
        raise PGNNError(
            Parameter("graph"),
            f" must be a PartitionedGraph (got {type(graph).__name__}); make one with "
            "read_partitioned_graph or partition",
        )
    check_cutoff(cutoff)
    limit = None if cutoff is None or np.isinf(cutoff) else int(cutoff)
    anchors = AnchorSets.of(sets, graph.num_nodes)
    with agreed(graph.group):
        num_bytes = 5 * graph.num_own * len(anchors)
        fits_memory("sets", f"{len(anchors):,} anchor-sets", num_bytes)
    search = _Search(graph, anchors, limit, traffic or Traffic())
    hops, nearest = search.run(progress)
    return AnchorDistances(nearest, hops=hops, cutoff=cutoff)


class _Search:
    """One call of `partitioned_distances`."""

    def __init__(
        self, graph: PartitionedGraph, sets: AnchorSets, cutoff: int | None, traffic: Traffic
    ) -> None:
        self.graph, self.group, self.cutoff, self.traffic = graph, graph.group, cutoff, traffic
        self.sizes = sets.sizes
        self.sets = sets.indptr, sets.nodes.view(np.uint32)
        num_own, num_ghosts = graph.num_own, len(graph.ghosts)
        num_rows = num_own + num_ghosts
        turned_ptr = np.empty(num_rows + 1, dtype=np.int64)
        turned_idx = np.empty(len(graph.indices), dtype=np.uint32)
        kernels.turn_rows(graph.indptr, graph.indices, turned_ptr, turned_idx)
        self.rows: Rows = graph.indptr, graph.indices, turned_ptr, turned_idx
        # Ghosts ascend, so those of each rank stand together.
        self.ghost_starts = np.searchsorted(graph.ghosts, graph.starts)
        self.wanted, self.links = self._find_links()
        self.key = empty_rows(num_rows, np.uint32)
        self.masks = [np.empty(num_rows, dtype=np.uint32) for _ in range(3)]
        self.lists = [np.empty(num_rows + 1, dtype=np.uint32) for _ in range(3)]
        self.ahead = EARLY_FETCH_AHEAD if num_rows * ROW_BYTES > EARLY_FETCH_BYTES else 0
        self.hops: NDArray[Any] = np.empty((num_own, len(sets)), dtype=np.int8)
        self.nearest = np.empty((num_own, len(sets)), dtype=np.int32)

    def _find_links(self) -> tuple[list[NDArray[np.int32]], kernels.Links]:
        """Ask which own nodes are ghosts of other ranks: by rank and place, and by node."""
        cuts = self.ghost_starts[1:-1]
        ghosts = self.group.exchange(np.split(self.graph.ghosts, cuts))
        wanted = [part - np.int32(self.graph.first) for part in ghosts]
        nodes = np.concatenate(wanted)
        lengths = [len(part) for part in wanted]
        rank = np.repeat(np.arange(self.group.size, dtype=np.uint16), lengths)
        place = np.concatenate([np.arange(length, dtype=np.uint32) for length in lengths])
        order = np.argsort(nodes, kind="stable")
        link_ptr = np.zeros(self.graph.num_own + 1, dtype=np.int64)
        np.cumsum(np.bincount(nodes, minlength=self.graph.num_own), out=link_ptr[1:])
        return wanted, (link_ptr, rank[order], place[order])

    def run(self, progress: Progress | None) -> tuple[NDArray[Any], NDArray[np.int32]]:
        """Search from all sets, block by block; returns (hops, nearest) of the own nodes."""
        types = (np.uint32, np.uint64)
        indexed = [KeyForm.of_indices(key_type, self.graph.num_nodes) for key_type in types]
        forms = [RANKS, *indexed]
        fitting = 0  # distances did not fit in the forms before this one
        num_searched = 0
        for numbers in level_blocks(self.sizes, indexed[0].lanes):
            start = max(fitting, int(len(numbers) <= indexed[0].lanes))
            for form in forms[start:]:
                if self._search_all(form, numbers):
                    break
                fitting = forms.index(form) + 1
            num_searched += len(numbers)
            if progress is not None:
                progress(num_searched, len(self.sizes))
        farthest = int(shared(self.group, int(self.hops.max(initial=0))).max())
        smallest = np.min_scalar_type(-farthest - 1)
        return self.hops.astype(smallest, copy=False), self.nearest

    def _search_all(self, form: KeyForm, numbers: range) -> bool:
        """Search a block, in pieces if the keys have fewer lanes; False if it is too far."""
        pieces = (
            numbers[start : start + form.lanes] for start in range(0, len(numbers), form.lanes)
        )
        return all(self._search(form, piece) for piece in pieces)

    def _search(self, form: KeyForm, numbers: range) -> bool:
        """Search from some sets; False if a distance does not fit in the keys."""
        cap = form.cap(self.cutoff, np.int32)
        block = form.block(numbers, cap)
        num_rows = len(self.masks[0])
        key = self.key.view(form.key_type)
        seen, front, fresh = (mask.view(form.mask_type)[:num_rows] for mask in self.masks)
        active, frontier, spare = self.lists
        scratch = key, seen, front, fresh, active, frontier
        num_frontier, edges, unfinished, active_edges = kernels.seed(
            self.rows, self.sets, block, form.ranked, self.graph.first, scratch
        )
        num_active, level = unfinished, 0
        while True:
            told = _Told(self, form, num_frontier, unfinished, active_edges, front, frontier)
            if told.is_end:
                break
            if level == cap:
                if cap != self.cutoff:
                    return False
                break
            level += 1
            if told.is_asking:
                count = kernels.list_needs(self.rows, block, num_active, seen, active, fresh, spare)
                messages = told.ask(key, seen, fresh, np.sort(spare[:count]))
            else:
                messages = told.exchange(key, front, frontier)
            if not unfinished:
                num_frontier = 0
                continue
            for rank, (places, masks, keys) in enumerate(messages):
                first_ghost = self.graph.num_own + int(self.ghost_starts[rank])
                edges += kernels.unpack(
                    places, masks, keys, first_ghost, self.rows[2], num_frontier,
                    key, front, frontier,
                )  # fmt: skip
                num_frontier += len(places)
            if edges * PUSH_ADVANTAGE < active_edges:
                num_frontier, edges, num_finished, finished_edges = push(
                    self.rows, block, num_frontier, key, seen, front, fresh, frontier, spare
                )
                frontier, spare = spare, frontier
                unfinished -= num_finished
                active_edges -= finished_edges
            else:
                num_frontier, edges, num_active, active_edges = pull(
                    self.rows, block, level, self.ahead, READ_ROWS, num_active,
                    key, seen, front, fresh, active, frontier,
                )  # fmt: skip
                unfinished = num_active
        self.traffic.num_levels += level
        self._emit(form, block, key, level)
        return True

    def _emit(self, form: KeyForm, block: tuple[int, int, int, int], key: Any, level: int) -> None:
        """Write the keys of the own nodes to their columns of the result."""
        if level > np.iinfo(self.hops.dtype).max:
            self.hops = self.hops.astype(np.min_scalar_type(-level - 1))
        own = key[: self.graph.num_own]
        if form.ranked:
            emit_ranked(own, self.sets, block, self.hops, self.nearest)
        else:
            places = np.arange(len(own), dtype=np.uint32)
            emit_block(own, places, block, self.hops, self.nearest)


# An edge of an unfinished node costs this many bytes if nodes ask for what they miss: its place,
# its lanes, and a lane or two in return. They ask where that saves more than the further exchanges
# take.
ASKED_BYTES = 16
LEAST_SAVED = 1 << 16

_Message = tuple[NDArray[np.uint32], NDArray[Any], NDArray[Any]]


class _Told:
    """What ranks tell each other before a level: how much each will send, and who is finished."""

    def __init__(
        self,
        search: _Search,
        form: KeyForm,
        num_frontier: int,
        unfinished: int,
        active_edges: int,
        front: NDArray[Any],
        frontier: NDArray[np.uint32],
    ) -> None:
        self._search, self._form, self._num_frontier = search, form, num_frontier
        group = search.group
        told = np.empty((group.size, 6), dtype=np.int64)
        kernels.count_messages(search.links, num_frontier, front, frontier, told)
        num_bytes = int(self._layout(told)[0].sum())
        told[:, 2:] = num_frontier, unfinished, active_edges if unfinished else 0, num_bytes
        heard = np.concatenate(group.exchange_known(list(told[:, None]), [1] * group.size))
        self.is_end = not heard[:, 2].any() or not heard[:, 3].any()
        saved = heard[:, 5].sum() - ASKED_BYTES * heard[:, 4].sum()
        self.is_asking = bool(saved > LEAST_SAVED * group.size)
        # Nothing is sent to those who have all they need.
        self._sent = np.where(heard[:, 3:4] > 0, told[:, :2], 0)
        self._received = heard[:, :2] if unfinished else np.zeros((group.size, 2), dtype=np.int64)

    def exchange(
        self, key: NDArray[Any], front: NDArray[Any], frontier: NDArray[np.uint32]
    ) -> list[_Message]:
        """Send what the frontier was reached by; return the messages of all, by rank."""
        search = self._search
        sizes, sections = self._layout(self._sent)
        starts = np.cumsum(sizes) - sizes
        buffer = np.empty(int(sizes.sum()), dtype=np.uint8)
        views = [buffer.view(dtype) for dtype in self._types]
        widths = np.array([view.itemsize for view in views])
        heads = (starts[:, None] + sections) // widths
        heads[self._sent[:, 0] == 0] = -1
        kernels.pack(search.links, self._num_frontier, key, front, frontier, heads, *views)
        search.traffic.num_bytes += len(buffer)
        expected, _ = self._layout(self._received)
        parts = search.group.exchange_known(np.split(buffer, starts[1:]), expected.tolist())
        return [
            self._message(part, count) for part, count in zip(parts, self._received, strict=True)
        ]

    def ask(
        self,
        key: NDArray[Any],
        seen: NDArray[Any],
        wanted: NDArray[Any],
        ghosts: NDArray[np.uint32],
    ) -> list[_Message]:
        """Ask for the lanes that are wanted of some ghosts, ascending; return the answers, by rank.

        What is wanted is zero again afterwards.
        """
        search, group = self._search, self._search.group
        starts = search.ghost_starts + search.graph.num_own
        cuts = np.searchsorted(ghosts, starts[1:-1])
        places = [
            part - np.uint32(start)
            for part, start in zip(np.split(ghosts, cuts), starts, strict=False)
        ]
        lanes = np.split(wanted[ghosts], cuts)
        wanted[ghosts] = 0
        asked = group.exchange(places)
        counts = [len(part) for part in asked]
        masks, keys = [], []
        for rank, bits in enumerate(group.exchange_known(lanes, counts)):
            masks.append(np.empty_like(bits))
            keys.append(np.empty(int(np.bitwise_count(bits).sum()), dtype=key.dtype))
            nodes = search.wanted[rank][asked[rank]]
            count = kernels.answer(nodes, bits, seen, key, masks[-1], keys[-1])
            keys[-1] = keys[-1][:count]
        sent = [*places, *lanes, *masks, *keys]
        search.traffic.num_bytes += sum(part.nbytes for part in sent)
        reached = group.exchange_known(masks, [len(part) for part in places])
        return list(zip(places, reached, group.exchange(keys), strict=True))

    @property
    def _types(self) -> tuple[Any, Any, Any]:
        return np.uint32, self._form.mask_type, self._form.key_type

    def _layout(self, counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the bytes of each message, and where its three sections begin, `[size, 3]`."""
        place_bytes, mask_bytes, key_bytes = (np.dtype(each).itemsize for each in self._types)
        masks = place_bytes * counts[:, 0]
        keys = _rounded(masks + mask_bytes * counts[:, 0])
        ends = _rounded(keys + key_bytes * counts[:, 1])
        return ends, np.stack([np.zeros_like(masks), masks, keys], axis=1)

    def _message(self, part: NDArray[np.uint8], count: NDArray[np.int64]) -> _Message:
        _, ((_, masks, keys),) = self._layout(count[None])
        num_ghosts, num_keys = count
        return (
            part[:masks].view(np.uint32),
            part[masks:].view(self._form.mask_type)[:num_ghosts],
            part[keys:].view(self._form.key_type)[:num_keys],
        )


def _rounded(num_bytes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Round up to whole words of 8 bytes, which all types begin at."""
    return -(-num_bytes // 8) * 8
