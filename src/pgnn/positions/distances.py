"""Distances from every node to every anchor-set: `anchor_distances` is the one door."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pgnn.checks import checked, fits_memory, positive_integer
from pgnn.errors import Parameter, PGNNError
from pgnn.graph import Graph
from pgnn.graph.arrays import sealed
from pgnn.graph.graph import check_graph
from pgnn.positions.anchors import AnchorSets
from pgnn.threads import Progress, in_blocks, resolve_threads

if TYPE_CHECKING:
    from pgnn.positions.updates import Changes

_COPIED_ROWS = 1 << 14  # copied at once by a thread
_writing = threading.Lock()  # held while an update's arrays are made


@dataclass(frozen=True, eq=False, repr=False)
class AnchorDistances:
    """How far each node is from each anchor-set, and which member is nearest.

    Attributes:
        nearest: Index of the nearest anchor, int32 `[n, k]`, -1 where none is reached.
        hops: Number of edges to it, `[n, k]` in the smallest signed integers that hold the largest,
            -1 where none is reached; None for a weighted graph.
        lengths: Length of the shortest path to it, float64 `[n, k]`, infinite where none is
            reached; None for an unweighted graph. A path's length is summed from the anchor on,
            and rounded to float64 at every edge.
        cutoff: How far was searched; None for no bound.

    The arrays of an update (see `anchor_distances`) are made when they are first read. If nobody
    holds the earlier result any more by then, they are its arrays with the changes written in.
    Otherwise they are copies: a result that is held never changes.

    The arrays are read-only.

    Raises:
        PGNNError: If the arrays do not fit each other. Models check the numbers as they read them.
    """

    nearest: NDArray[np.int32]
    # A factory leaves no default on the class, so that an update's arrays are missed when read.
    hops: NDArray[Any] | None = field(default_factory=lambda: None)
    lengths: NDArray[np.float64] | None = field(default_factory=lambda: None)
    cutoff: float | None = None

    def __post_init__(self) -> None:
        if (self.hops is None) == (self.lengths is None):
            raise PGNNError(Parameter("distances"), " must have either hops or lengths")
        distance = self.lengths if self.hops is None else self.hops
        kinds = ("nearest", self.nearest, "iu"), ("hops", self.hops, "iu")
        for name, array, kind in (*kinds, ("lengths", self.lengths, "f")):
            if array is None and name != "nearest":
                continue
            if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind not in kind:
                numbers = "integers" if kind == "iu" else "floats"
                raise PGNNError(Parameter(name), f" must be an array of {numbers} [n, k]")
        assert distance is not None
        if self.nearest.shape != distance.shape:
            raise PGNNError(
                "nearest and the distances must have the same shape [n, k] "
                f"(got {list(self.nearest.shape)} and {list(distance.shape)})"
            )
        for name in ("nearest", "hops", "lengths"):
            array = getattr(self, name)
            if array is not None:
                object.__setattr__(self, name, sealed(array))

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled or copied: the arrays, also of an update that is not written."""
        return {name: getattr(self, name) for name in ("nearest", "hops", "lengths", "cutoff")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Check again what was pickled or copied: arrays come back writable."""
        self.__dict__.update(state)
        self.__post_init__()

    @staticmethod
    def _of_update(earlier: AnchorDistances, changes: Changes, num_nodes: int) -> AnchorDistances:
        """Return an earlier result with changes, which are written when its arrays are read."""
        updated = object.__new__(AnchorDistances)
        updated.__dict__["cutoff"] = earlier.cutoff
        updated.__dict__["_update"] = earlier, changes, num_nodes
        return updated

    if not TYPE_CHECKING:  # for a type checker the arrays are always there

        def __getattr__(self, name: str) -> Any:
            if name not in ("nearest", "hops", "lengths"):
                raise AttributeError(f"AnchorDistances has no attribute {name!r}")
            with _writing:
                if "nearest" not in self.__dict__:
                    arrays = _updated_arrays(self.__dict__["_update"])
                    self.__dict__.update(arrays)
                    del self.__dict__["_update"]
            return self.__dict__[name]

    @property
    def distance(self) -> NDArray[Any]:
        """The hops of an unweighted graph, the lengths of a weighted one."""
        distance = self.lengths if self.hops is None else self.hops
        assert distance is not None
        return distance

    @property
    def num_nodes(self) -> int:
        """Number of nodes n."""
        return len(self.nearest)

    @property
    def num_sets(self) -> int:
        """Number of sets k."""
        return int(self.nearest.shape[1])

    def __repr__(self) -> str:
        kind = "hops" if self.lengths is None else "lengths"
        return f"AnchorDistances({kind}, num_nodes={self.num_nodes}, num_sets={self.num_sets})"


@checked
def anchor_distances(
    graph: Graph,
    sets: AnchorSets | Sequence[ArrayLike],
    *,
    cutoff: float | None = None,
    num_threads: int | None = None,
    progress: Progress | None = None,
    updated_from: tuple[AnchorDistances, ArrayLike] | None = None,
    removed_edges: ArrayLike | None = None,
) -> AnchorDistances:
    r"""Distance from every node to, and nearest member of, each of k node sets.

    d(v, S_i) = min over u in S_i of d(v, u). In a directed graph d(v, u) follows edges from v to u.
    Among equally near anchors the one with the lowest index is named. The answer is the same for
    any number of threads.

    Args:
        graph: Unweighted (gives hops) or weighted (gives lengths).
        sets: AnchorSets, or any node sets.
        cutoff: Look no farther than this distance (the paper's q); what lies beyond counts as
            unreachable.
        num_threads: By default one per core.
        progress: Called with (sets searched, sets in all) now and then.
        updated_from: An earlier result for the same sets and cutoff, and the edges that arrived
            since, node indices `[m, 2]`. The graph is the one with those edges. It may have more
            nodes, behind those it had. Only what changes is computed, unless a search takes no
            longer; the answer is that of a search. It holds on to the earlier result until its
            arrays are read (see `AnchorDistances`).
        removed_edges: The edges that went since. An edge whose weight changed went and arrived.

    Raises:
        PGNNError: If the sets are not of this graph or an argument is out of range, or if what
            `updated_from` and `removed_edges` say does not fit the graph.

    Example:
        >>> path = Graph.from_edges([(0, 1), (1, 2), (2, 3)])
        >>> d = anchor_distances(path, [[0, 3], [1]])
        >>> d.hops.tolist(), d.nearest.tolist()
        ([[0, 1], [1, 0], [1, 1], [0, 2]], [[0, 1], [0, 1], [3, 1], [3, 1]])
        >>> ring = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)])
        >>> anchor_distances(ring, [[0, 3], [1]], updated_from=(d, [(3, 0)])).hops.tolist()
        [[0, 1], [1, 0], [1, 1], [0, 2]]
    """
    check_graph(graph)
    check_cutoff(cutoff)
    threads = resolve_threads(num_threads)
    if updated_from is not None:
        return _update(graph, sets, cutoff, threads, progress, updated_from, removed_edges)
    if removed_edges is not None:
        raise PGNNError(
            Parameter("removed_edges"), " needs the earlier result, ", Parameter("updated_from")
        )
    return _search(graph, AnchorSets.of(sets, graph.num_nodes), cutoff, threads, progress)


def _search(
    graph: Graph,
    sets: AnchorSets,
    cutoff: float | None,
    threads: int,
    progress: Progress | None = None,
) -> AnchorDistances:
    """Search from all sets."""
    fits_memory("sets", f"{len(sets):,} anchor-sets", 5 * graph.num_nodes * len(sets))
    if graph.weights is not None:
        from pgnn.positions.weighted import length_distances

        lengths, nearest = length_distances(graph, sets, cutoff, threads, progress)
        return AnchorDistances(nearest, lengths=lengths, cutoff=cutoff)
    from pgnn.positions.hops import hop_distances

    limit = None if cutoff is None or np.isinf(cutoff) else int(cutoff)
    hops, nearest = hop_distances(graph, sets, limit, threads, progress)
    return AnchorDistances(_closed(nearest), hops=_closed(hops), cutoff=cutoff)


def _update(
    graph: Graph,
    sets: AnchorSets | Sequence[ArrayLike],
    cutoff: float | None,
    threads: int,
    progress: Progress | None,
    updated_from: tuple[AnchorDistances, ArrayLike],
    removed_edges: ArrayLike | None,
) -> AnchorDistances:
    """Compute what differs from an earlier result, or search if that takes no longer."""
    from pgnn.positions.updates import find_changes

    earlier, added_edges = updated_from
    _check_earlier(earlier, graph, cutoff)
    if isinstance(sets, AnchorSets) and sets.num_nodes == earlier.num_nodes:
        sets = sets if sets.num_nodes == graph.num_nodes else sets.grown(graph.num_nodes)
    sets = AnchorSets.of(sets, graph.num_nodes)

    def search(some: AnchorSets) -> tuple[NDArray[Any], NDArray[np.int32]]:
        result = _search(graph, some, cutoff, threads)
        return result.distance, result.nearest

    changes = find_changes(
        graph,
        sets,
        (earlier.distance, earlier.nearest),
        added=added_edges,
        removed=() if removed_edges is None else removed_edges,
        limit=np.inf if cutoff is None else float(cutoff),
        num_threads=threads,
        search=search,
    )
    if changes is None:
        return _search(graph, sets, cutoff, threads, progress)
    return AnchorDistances._of_update(earlier, changes, graph.num_nodes)


def _check_earlier(earlier: AnchorDistances, graph: Graph, cutoff: float | None) -> None:
    """Refuse an earlier result that cannot be of this graph when it had fewer edges."""
    name = Parameter("updated_from")
    if (earlier.hops is None) != (graph.weights is not None):
        kinds = ("hops", "weighted") if earlier.lengths is None else ("lengths", "unweighted")
        raise PGNNError(name, f" has {kinds[0]}, but the graph is {kinds[1]}")
    if earlier.num_nodes > graph.num_nodes:
        raise PGNNError(
            name,
            f" has {earlier.num_nodes} nodes, more than the graph's {graph.num_nodes}; keep nodes "
            "that lost their edges",
        )
    bounds = [np.inf if bound is None else float(bound) for bound in (earlier.cutoff, cutoff)]
    if bounds[0] != bounds[1]:
        raise PGNNError(
            name, f" was searched with cutoff={earlier.cutoff}, this is with cutoff={cutoff}"
        )


# ---------------------------------------------------------------------- arrays of an update


def _updated_arrays(update: tuple[AnchorDistances, Changes, int]) -> dict[str, Any]:
    """Return the arrays of an earlier result with changes written in.

    They are the earlier result's own if nobody else can see them, and copies otherwise.
    """
    alone = _count_holders(update) == _HOLDERS_IF_ALONE
    earlier, changes, num_nodes = update
    nearest, distance = earlier.nearest, earlier.distance
    is_hops = earlier.lengths is None
    if alone:
        nearest, distance = _unsealed(nearest), _unsealed(distance)
    if is_hops and changes.farthest > np.iinfo(distance.dtype).max:
        distance = distance.astype(np.int32)
    if not alone or num_nodes > len(nearest):
        unreached = -1 if is_hops else np.inf
        nearest = _longer_copy(nearest, num_nodes, -1)
        distance = _longer_copy(distance, num_nodes, unreached)
    changes.write(distance, nearest)
    nearest = sealed(_closed(nearest))
    if not is_hops:
        return {"nearest": nearest, "hops": None, "lengths": sealed(_closed(distance))}
    from pgnn.positions.hops import compact

    return {"nearest": nearest, "hops": sealed(_closed(compact(distance))), "lengths": None}


def _closed(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array of ours, read-only, and so its memory: sealing it then makes no copy."""
    for part in (array.base, array):
        if isinstance(part, np.ndarray):
            part.setflags(write=False)
    return array


def _unsealed(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array that a sealed one is a view of, or a view of the same memory, writable."""
    owner = array.base
    assert isinstance(owner, np.ndarray)
    owner.setflags(write=True)
    if owner.shape == array.shape:
        return owner
    start = array.ctypes.data - owner.ctypes.data
    return owner[start : start + array.nbytes].view(array.dtype).reshape(array.shape)


def _count_holders(update: tuple[AnchorDistances, Changes, int]) -> list[int]:
    """Count who refers to an earlier result and to its arrays; arrays of others count as shared."""
    earlier = update[0]
    counts = [sys.getrefcount(earlier)]
    for name in ("nearest", "hops", "lengths"):
        array = earlier.__dict__[name]
        if array is not None:
            owner = array.base  # of a sealed array; see `sealed`
            own = isinstance(owner, np.ndarray) and owner.flags.owndata
            own = own and (owner.shape == array.shape or _is_memory(owner))
            counts += [sys.getrefcount(array), sys.getrefcount(owner)] if own else [0, 0]
    return counts


def _is_memory(owner: NDArray[Any]) -> bool:
    """Return whether an array is of bytes, to hold another that starts at a cache line."""
    return owner.ndim == 1 and owner.dtype == np.uint8


_HOLDERS_IF_ALONE = _count_holders(
    (AnchorDistances(np.empty((1, 1), np.int32), hops=np.empty((1, 1), np.int8)), None, 1)  # type: ignore[arg-type]
)


def _longer_copy(array: NDArray[Any], num_rows: int, fill: float) -> NDArray[Any]:
    """Return a copy with more rows, made by all cores."""
    longer = np.empty((num_rows, array.shape[1]), dtype=array.dtype)
    longer[len(array) :] = fill

    def work(rows: range, _: None) -> None:
        longer[rows.start : rows.stop] = array[rows.start : rows.stop]

    in_blocks(work, len(array), _COPIED_ROWS, lambda: None, resolve_threads(None))
    return longer


def check_cutoff(cutoff: float | None) -> None:
    """Raise if a cutoff is neither None nor a number >= 0; it may be infinite."""
    if cutoff is None:
        return
    is_number = isinstance(cutoff, int | float | np.integer | np.floating)
    if isinstance(cutoff, bool) or not is_number or not cutoff >= 0:
        raise PGNNError(Parameter("cutoff"), f" must be a number >= 0 (got {cutoff!r})")


class MemberDistances:
    """Proximity 1/(d + 1) of nodes to every single node, searched when a layer reads it.

    All pairs at once would be n x n; this holds the graph and gives rows of that matrix in blocks.

    Args:
        graph: Weighted or not; in a directed graph d(v, u) follows edges from v to u.
        sets: AnchorSets, or any node sets.
        cutoff: Look no farther than this distance; what lies beyond has proximity 0.
        batch: Which graph each node is of, `[n]`, ascending, if this is a disjoint union; only
            members of a node's own graph are aggregated for it.
        num_threads: By default one per core.

    Raises:
        PGNNError: If the sets are not of this graph or an argument is out of range.

    Example:
        >>> path = Graph.from_edges([(0, 1), (1, 2)])
        >>> MemberDistances(path, [[0], [1, 2]]).proximity(0, 2).tolist()
        [[1.0, 0.5, 0.3333333333333333], [0.5, 1.0, 0.5]]
    """

    @checked
    def __init__(
        self,
        graph: Graph,
        sets: AnchorSets | Sequence[ArrayLike],
        *,
        cutoff: float | None = None,
        batch: ArrayLike | None = None,
        num_threads: int | None = None,
    ) -> None:
        check_graph(graph)
        sets = AnchorSets.of(sets, graph.num_nodes)
        check_cutoff(cutoff)
        resolve_threads(num_threads)
        self.graph, self.sets = graph, sets
        self.cutoff, self.num_threads = cutoff, num_threads
        # A search finds distances to its sources: sources v in the reversed graph give d(v, u).
        self._searched = graph.reversed() if graph.directed else graph
        self._bounds = [0, graph.num_nodes]
        if batch is not None:
            try:
                which = np.asarray(batch)
            except (TypeError, ValueError, RuntimeError) as error:
                raise PGNNError(Parameter("batch"), f" must be integers ({error})") from error
            whole = which.dtype.kind in "iu" and which.shape == (graph.num_nodes,)
            if not whole or (which[1:] < which[:-1]).any():
                raise PGNNError(
                    Parameter("batch"),
                    f" must be {graph.num_nodes} ascending graph indices, one per node",
                )
            self._bounds = [0, *(np.flatnonzero(np.diff(which)) + 1).tolist(), graph.num_nodes]

    @property
    def num_nodes(self) -> int:
        """Number of nodes n."""
        return self.graph.num_nodes

    @property
    def num_sets(self) -> int:
        """Number of sets k."""
        return len(self.sets)

    @checked
    def blocks(self, max_rows: int) -> Iterator[tuple[int, int, Sequence[NDArray[np.int32]]]]:
        """Yield ranges start..stop of nodes of one graph, and the members of the k sets there."""
        max_rows = positive_integer("max_rows", max_rows)
        for low, high in zip(self._bounds[:-1], self._bounds[1:], strict=True):
            members = [nodes[(nodes >= low) & (nodes < high)] for nodes in self.sets]
            for start in range(low, high, max_rows):
                yield start, min(start + max_rows, high), members

    @checked
    def proximity(self, start: int, stop: int) -> NDArray[np.float64]:
        """Return 1/(d(v, u) + 1) of v in start..stop and all u, 0 where u is not reached."""
        if not 0 <= start < stop <= self.num_nodes:
            raise PGNNError(
                Parameter("start"),
                " and ",
                Parameter("stop"),
                f" must be a range of the {self.num_nodes} nodes (got {start} and {stop})",
            )
        to_rows = anchor_distances(
            self._searched,
            AnchorSets.from_sets(range(start, stop), self.num_nodes),
            cutoff=self.cutoff,
            num_threads=self.num_threads,
        )
        if to_rows.hops is None:
            assert to_rows.lengths is not None
            return np.ascontiguousarray(1 / (to_rows.lengths.T + 1))
        table = 1 / np.maximum(np.arange(int(to_rows.hops.max()) + 2, dtype=np.float64), 1)
        table[0] = 0  # hops of -1
        return np.ascontiguousarray(table[to_rows.hops.T.astype(np.intp) + 1])

    def __repr__(self) -> str:
        return f"MemberDistances(num_nodes={self.num_nodes}, num_sets={self.num_sets})"
