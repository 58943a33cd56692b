"""A graph in parts: each rank has the rows of some nodes, and no rank has all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgnn.checks import checked, integer, true_or_false
from pgnn.distributed.agreement import Alone, Exchanging, agreed, shared
from pgnn.distributed.group import current_group
from pgnn.distributed.numbering import Numbered, number_share, starts_of
from pgnn.errors import Parameter, PGNNError
from pgnn.graph import Graph
from pgnn.graph.arrays import check_array, sealed
from pgnn.graph.columns import Column, as_array
from pgnn.graph.graph import check_graph
from pgnn.io.shares import open_shares
from pgnn.io.write import StrPath, as_path

_SENT_PAIRS = 1 << 20  # edges sent at once


_KINDS = {"starts": np.int64, "indptr": np.int64, "indices": np.uint32, "ghosts": np.int32}


@checked
@dataclass(frozen=True, eq=False, repr=False)
class PartitionedGraph:
    """One rank's part of a graph: the rows of nodes `first` to `first + len(indptr) - 2`.

    Nodes are numbered as `pgnn.read_graph` numbers those of the same file, and rank r has an equal
    share of them, in order. Make one with `read_partitioned_graph`, or with `partition` of a graph
    that fits in one memory. The arrays are read-only.

    Neighbours are numbered anew within the part: the rank's own nodes come first, in order, then
    its *ghosts*, the nodes of other ranks that are neighbours of its own.

    Attributes:
        group: Those who have the other parts.
        starts: First node of each rank, and the number of nodes, int64 `[size + 1]`.
        indptr: Row bounds of the own nodes, int64.
        indices: Neighbours as numbered within the part, uint32; within a row in no order.
        ghosts: The node that each ghost is, ascending, int32.
        node_ids: The ids of the own nodes: int64 or strings.
        directed: Whether an edge goes one way only.
        num_edges: Edges of the whole graph; an undirected edge counts once.
        dropped_self_loops: How many self-loops the source had in all.
        dropped_repeats: How many edges of the source repeated another.

    Example:
        >>> part = partition(Graph.from_edges([(0, 1), (1, 2)]))
        >>> part
        PartitionedGraph(num_nodes=3, num_edges=2, part 1 of 1)
    """

    group: Exchanging
    starts: NDArray[np.int64]
    indptr: NDArray[np.int64]
    indices: NDArray[np.uint32]
    ghosts: NDArray[np.int32]
    node_ids: NDArray[Any]
    directed: bool
    num_edges: int
    dropped_self_loops: int = 0
    dropped_repeats: int = 0

    def __post_init__(self) -> None:
        for name, dtype in _KINDS.items():
            check_array(name, getattr(self, name), dtype)
        check_array("node_ids", self.node_ids)
        self._check_rows()
        for name in ("starts", "indptr", "indices", "ghosts", "node_ids"):
            object.__setattr__(self, name, sealed(getattr(self, name)))

    def _check_rows(self) -> None:
        """Refuse arrays by which a search would read the wrong memory."""
        own = int(self.indptr[-1]) if self.indptr.size else -1
        fits = (
            self.starts.shape == (self.group.size + 1,)
            and (np.diff(self.starts) >= 0).all()
            and self.starts[0] >= 0
            and self.starts[-1] < 2**31
            and self.indptr.shape == (np.diff(self.starts)[self.group.rank] + 1,)
            and self.indptr[0] == 0
            and (np.diff(self.indptr) >= 0).all()
            and own == len(self.indices)
            and int(self.indices.max(initial=0)) < max(1, self.num_own + len(self.ghosts))
            and (np.diff(self.ghosts) > 0).all()
            and (self.ghosts.size == 0 or 0 <= self.ghosts[0] <= self.ghosts[-1] < self.num_nodes)
            and len(self.node_ids) == self.num_own
        )
        if not fits:
            raise PGNNError(
                "the arrays of a PartitionedGraph do not fit each other; make one with "
                "read_partitioned_graph or partition"
            )

    @property
    def num_nodes(self) -> int:
        """Nodes of the whole graph."""
        return int(self.starts[-1])

    @property
    def first(self) -> int:
        """The first of the own nodes."""
        return int(self.starts[self.group.rank])

    @property
    def num_own(self) -> int:
        """How many nodes this rank has."""
        return len(self.indptr) - 1

    @checked
    def neighbors(self, place: int) -> NDArray[np.int32]:
        """Return the sorted neighbours of the own node at a place, counted from `first`."""
        place = integer("place", place, at_least=0, at_most=self.num_own - 1)
        local = self.indices[self.indptr[place] : self.indptr[place + 1]].astype(np.int64)
        nodes = np.where(local < self.num_own, local + self.first, 0)
        away = local >= self.num_own
        nodes[away] = self.ghosts[local[away] - self.num_own]
        return np.sort(nodes).astype(np.int32)

    def __repr__(self) -> str:
        parts = [f"num_nodes={self.num_nodes}", f"num_edges={self.num_edges}"]
        parts += ["directed"] * self.directed
        parts.append(f"part {self.group.rank + 1} of {self.group.size}")
        return f"PartitionedGraph({', '.join(parts)})"


@checked
def read_partitioned_graph(
    path: StrPath,
    *,
    source: Column | None = None,
    target: Column | None = None,
    weight: Column | bool | None = None,
    directed: bool | None = None,
    header: bool | None = None,
    group: Exchanging | None = None,
) -> PartitionedGraph:
    r"""Read this rank's part of a graph from a table of edges; all ranks call it together.

    Each rank reads an equal share of the file in blocks and sends every edge to the owners of its
    ends. No rank ever has the whole file or the whole graph. Nodes are numbered as
    `pgnn.read_graph` numbers them: integers ascending, strings in the order of the file.

    Args:
        path: A parquet file, or a text table that is not compressed; every rank must reach it.
        source: Column of the edges' first ids, as for `pgnn.read_graph`.
        target: Column of the second ids.
        weight: False ignores a column named `weight`; weights themselves are refused.
        directed: Whether edges go one way.
        header: Whether the first line of text holds names. By default its words decide, and where
            they do not, an error asks.
        group: Those who have the other parts; by default the processes that torchrun started, or
            this one alone.

    Raises:
        PGNNError: On all ranks, if a line of any share is no edge or the file cannot be used.

    Example:
        >>> import tempfile
        >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        ...     _ = file.write("source,target\nann,bob\nbob,eve\n")
        ...     file.flush()
        ...     part = read_partitioned_graph(file.name)
        >>> part.node_ids.tolist(), part.neighbors(1).tolist()
        (['ann', 'bob', 'eve'], [0, 2])
    """
    group = resolve_group(group)
    with agreed(group):
        file = as_path(path, "path")
        one_way = False if directed is None else true_or_false("directed", directed)
        shares = open_shares(file, source=source, target=target, weight=weight, header=header)
    numbered = number_share(group, lambda: shares.blocks(group.rank, group.size))
    if not numbered.num_nodes:
        raise PGNNError(
            f"{file}: holds no edges (if its first line is an edge, not a header, use ",
            Parameter("header=False"),
            ")",
        )
    if numbered.num_nodes > np.iinfo(np.int32).max:
        raise PGNNError(
            f"{file}: has {numbered.num_nodes:,} nodes, and at most 2^31 - 1 are supported"
        )
    with agreed(group):
        ids = as_array(numbered.ids)
    return _build(group, numbered, ids, one_way)


@checked
def partition(graph: Graph, *, group: Exchanging | None = None) -> PartitionedGraph:
    """Take this rank's part of a graph that each rank has whole; all ranks call it together.

    Args:
        graph: Unweighted; the same on all ranks.
        group: Those who take the other parts; by default the processes that torchrun started, or
            this one alone.

    Raises:
        PGNNError: If the graph is weighted.
    """
    check_graph(graph)
    group = resolve_group(group)
    if graph.weights is not None:
        raise PGNNError(Parameter("graph"), " has weights, and a graph in parts has none")
    import polars as pl

    edges = graph.edges()
    cuts = starts_of(len(edges), group.size)
    own = edges[cuts[group.rank] : cuts[group.rank + 1]]
    starts = starts_of(graph.num_nodes, group.size)
    ids = graph.node_ids[starts[group.rank] : starts[group.rank + 1]]
    return _build(group, Numbered([own], graph.num_nodes, pl.Series()), ids, graph.directed)


def resolve_group(group: Exchanging | None) -> Exchanging:
    """Return the group that was passed, else that of torchrun, else this process alone."""
    return group or current_group() or Alone()


def _build(
    group: Exchanging, numbered: Numbered, ids: NDArray[Any], directed: bool
) -> PartitionedGraph:
    """Send edges to the owners of their ends, and sort what comes into rows."""
    starts = starts_of(numbered.num_nodes, group.size)
    words, self_loops, num_pairs = _exchange_edges(group, numbered.pairs, starts, directed)
    words.sort()
    if len(words):
        kept = np.empty(len(words), dtype=bool)
        kept[0] = True
        np.not_equal(words[1:], words[:-1], out=kept[1:])
        words = words if kept.all() else words[kept]
    first, num_own = int(starts[group.rank]), len(ids)
    indptr = np.zeros(num_own + 1, dtype=np.int64)
    np.cumsum(np.bincount(words >> 32, minlength=num_own), out=indptr[1:])
    nodes = words.astype(np.int32)  # the low half
    del words
    indices, ghosts = _localised(nodes, first, num_own, numbered.num_nodes)
    totals = shared(group, self_loops, num_pairs, len(indices)).sum(axis=0)
    num_edges = int(totals[2]) if directed else int(totals[2]) // 2
    return PartitionedGraph(
        group=group,
        starts=starts,
        indptr=indptr,
        indices=indices,
        ghosts=ghosts,
        node_ids=ids,
        directed=directed,
        num_edges=num_edges,
        dropped_self_loops=int(totals[0]),
        dropped_repeats=int(totals[1]) - num_edges,
    )


def _exchange_edges(
    group: Exchanging, blocks: list[NDArray[np.int32]], starts: NDArray[np.int64], directed: bool
) -> tuple[NDArray[np.int64], int, int]:
    """Return the entries of this rank's rows, as row << 32 | node; loops; pairs that are none."""
    counts = np.zeros(group.size, dtype=np.int64)
    self_loops = 0
    pieces = []
    blocks.reverse()
    while blocks:
        pairs = blocks.pop()
        kept = pairs[pairs[:, 0] != pairs[:, 1]]
        self_loops += len(pairs) - len(kept)
        for end in (0,) if directed else (0, 1):
            counts += np.bincount(_owners(kept[:, end], starts), minlength=group.size)
        pieces += [kept[i : i + _SENT_PAIRS] for i in range(0, len(kept), _SENT_PAIRS)]
    num_pairs = sum(map(len, pieces))
    expected = shared(group, len(pieces), *counts)
    words = np.empty(int(expected[:, 1 + group.rank].sum()), dtype=np.int64)
    filled = 0
    pieces.reverse()
    for _ in range(int(expected[:, 0].max())):
        pairs = pieces.pop() if pieces else np.empty((0, 2), dtype=np.int32)
        for turned in (False,) if directed else (False, True):
            rows, nodes = (pairs[:, 1 - side if turned else side] for side in (0, 1))
            owner = _owners(rows, starts)
            order = np.argsort(owner, kind="stable")
            sent = (rows - starts[owner])[order] << 32 | nodes[order]
            cuts = np.cumsum(np.bincount(owner, minlength=group.size))[:-1]
            for part in group.exchange(np.split(sent, cuts)):
                words[filled : filled + len(part)] = part
                filled += len(part)
    return words, self_loops, num_pairs


def _owners(nodes: NDArray[np.int32], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rank that has each node."""
    return np.searchsorted(starts[1:-1], nodes, side="right")


def _localised(
    nodes: NDArray[np.int32], first: int, num_own: int, num_nodes: int
) -> tuple[NDArray[np.uint32], NDArray[np.int32]]:
    """Number nodes within a part: own ones by their place, others behind them, ascending."""
    is_ghost = np.zeros(num_nodes, dtype=bool)
    is_ghost[nodes] = True
    is_ghost[first : first + num_own] = False
    ghosts = np.flatnonzero(is_ghost).astype(np.int32)
    place = np.empty(num_nodes, dtype=np.uint32)
    place[first : first + num_own] = np.arange(num_own, dtype=np.uint32)
    place[ghosts] = np.arange(num_own, num_own + len(ghosts), dtype=np.uint32)
    return place[nodes], ghosts
