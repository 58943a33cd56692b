"""Anchor-sets: the random node sets, shared by all nodes, to which positions are measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pgnn import checks
from pgnn.checks import (
    as_generator,
    checked,
    fits_memory,
    integer,
    number,
    one_of,
    positive_integer,
)
from pgnn.errors import Parameter, PGNNError
from pgnn.graph.arrays import sealed

Scheme = Literal["bernoulli", "fixed"]

MAX_SETS = 100_000
"""The most sets that `sample_anchor_sets` draws: the paper's k is below 1,000 for any graph."""

_SMALL_GRAPH = 1 << 9  # sets of graphs up to this many nodes are drawn at once
_CHUNK_TRIALS = 1 << 22  # (node, set) pairs decided at once while sampling


@dataclass(frozen=True, eq=False, repr=False)
class AnchorSets:
    """k non-empty sets of nodes, stored flat; `sets[i]` is the i-th as sorted node indices.

    Make one with `sample_anchor_sets` or `from_sets`. The arrays are read-only, and checked however
    the object was made, because searches address memory by them.

    Attributes:
        indptr: Bounds of the sets in `nodes`, int64 `[k + 1]`.
        nodes: The members of all sets, one set after the other, each sorted, int32.
        num_nodes: How many nodes the graph has that the indices refer to.
        size_class: The i of S_(i,j), int64 `[k]`: set (i, j) takes about num_nodes / 2**i nodes.
            0 for a set that was not sampled, or is a union of sets of different graphs.

    Raises:
        PGNNError: If the arrays are not as described.

    Example:
        >>> sets = AnchorSets.from_sets([[2, 0], [1]], num_nodes=3)
        >>> len(sets), sets[0].tolist(), sets.sizes.tolist()
        (2, [0, 2], [2, 1])
    """

    indptr: NDArray[np.int64]
    nodes: NDArray[np.int32]
    num_nodes: int
    size_class: NDArray[np.int64]

    def __post_init__(self) -> None:
        _check_flat(self.indptr, self.nodes, self.num_nodes, self.size_class)
        for name in ("indptr", "nodes", "size_class"):
            object.__setattr__(self, name, sealed(getattr(self, name)))

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Check again what was pickled or copied: arrays come back writable."""
        for name, value in state.items():
            object.__setattr__(self, name, value)
        self.__post_init__()

    @classmethod
    @checked
    def from_sets(cls, sets: Iterable[ArrayLike], num_nodes: int) -> AnchorSets:
        """Build from any node sets; a repeated member counts once.

        Raises:
            PGNNError: If there is no set, a set is empty, or an index is not a node.
        """
        num_nodes = positive_integer("num_nodes", num_nodes)
        members: list[NDArray[np.int32]] = []
        for position, candidate in enumerate(_as_several(sets)):
            try:
                array = np.atleast_1d(np.asarray(candidate))
            except (TypeError, ValueError, RuntimeError) as error:
                raise PGNNError(
                    f"anchor-set {position} must be a list of node indices ({error})"
                ) from error
            if array.size == 0:
                raise PGNNError(f"anchor-set {position} is empty; give it at least one node")
            if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
                raise PGNNError(
                    f"anchor-set {position} must be a list of node indices "
                    f"(got {array.dtype} of shape {list(array.shape)})"
                )
            nodes = np.unique(array)
            if nodes[0] < 0 or nodes[-1] >= num_nodes:
                bad = nodes[0] if nodes[0] < 0 else nodes[-1]
                raise PGNNError(
                    f"anchor-set {position} holds node {bad}, but node indices must lie in "
                    f"0..{num_nodes - 1}"
                )
            members.append(nodes.astype(np.int32))
        if not members:
            raise PGNNError("at least one anchor-set is needed (got none)")
        return cls._flat(members, num_nodes, np.zeros(len(members), dtype=np.int64))

    @classmethod
    @checked
    def of(cls, sets: AnchorSets | Iterable[ArrayLike], num_nodes: int) -> AnchorSets:
        """Return AnchorSets of a graph of `num_nodes` nodes, built from any node sets if need be.

        Raises:
            PGNNError: If they are of another graph, or `from_sets` refuses them.
        """
        if not isinstance(sets, AnchorSets):
            return cls.from_sets(sets, num_nodes)
        if sets.num_nodes != num_nodes:
            raise PGNNError(
                f"the anchor-sets are of a graph of {sets.num_nodes} nodes, this one has "
                f"{num_nodes}; sample them with num_nodes={num_nodes}"
            )
        return sets

    @classmethod
    def _flat(
        cls, members: Sequence[NDArray[np.int32]], num_nodes: int, size_class: NDArray[np.int64]
    ) -> AnchorSets:
        sizes = np.fromiter((len(nodes) for nodes in members), dtype=np.int64, count=len(members))
        indptr = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])
        return cls(indptr, np.concatenate(members), num_nodes, size_class)

    @staticmethod
    @checked
    def union(parts: Sequence[AnchorSets]) -> AnchorSets:
        """Join the sets of several graphs for their disjoint union, set by set.

        The i-th set of the union holds the i-th sets of all graphs, with indices shifted as
        `Graph.disjoint_union` shifts nodes. A search never crosses from one graph to another, so
        distances in the union are the distances in each graph.

        Raises:
            PGNNError: If the graphs have different numbers of sets; sample with `num_sets`.

        Example:
            >>> one = AnchorSets.from_sets([[0], [1]], num_nodes=2)
            >>> both = AnchorSets.union([one, one])
            >>> [nodes.tolist() for nodes in both]
            [[0, 2], [1, 3]]
        """
        if not parts:
            raise PGNNError("a union needs at least one graph's anchor-sets (got none)")
        if len({len(part) for part in parts}) > 1:
            raise PGNNError(
                f"graphs of a union need equally many anchor-sets (got {[len(p) for p in parts]}); "
                "sample each with the same num_sets"
            )
        shifts = np.cumsum([0] + [part.num_nodes for part in parts])
        members = [
            np.concatenate([p[i] + np.int32(s) for p, s in zip(parts, shifts, strict=False)])
            for i in range(len(parts[0]))
        ]
        return AnchorSets._flat(members, int(shifts[-1]), np.zeros(len(members), dtype=np.int64))

    @staticmethod
    @checked
    def chain(parts: Sequence[AnchorSets]) -> AnchorSets:
        """Put sets of the same graph one after the other.

        Raises:
            PGNNError: If there are none, or they are of graphs of different sizes.

        Example:
            >>> one = AnchorSets.from_sets([[0], [1]], num_nodes=2)
            >>> [nodes.tolist() for nodes in AnchorSets.chain([one, one])]
            [[0], [1], [0], [1]]
        """
        sizes = {part.num_nodes for part in parts}
        if len(sizes) != 1:
            raise PGNNError(f"the anchor-sets must be of one graph (got {len(sizes)})")
        starts = np.cumsum([0, *(len(part.nodes) for part in parts)])
        return AnchorSets(
            np.concatenate(
                [starts[:1], *(p.indptr[1:] + s for p, s in zip(parts, starts, strict=False))]
            ),
            np.concatenate([part.nodes for part in parts]),
            sizes.pop(),
            np.concatenate([part.size_class for part in parts]),
        )

    @checked
    def select(self, numbers: ArrayLike) -> AnchorSets:
        """Return some of the sets, by their numbers.

        Example:
            >>> AnchorSets.from_sets([[0], [1], [2]], num_nodes=3).select([2, 0]).nodes.tolist()
            [2, 0]
        """
        chosen = checks.numbers("numbers", numbers, None)
        if chosen.ndim != 1 or chosen.size == 0 or not np.issubdtype(chosen.dtype, np.integer):
            raise PGNNError(
                Parameter("numbers"),
                f" must be at least one whole number, [m] (got {checks.shown(chosen)})",
            )
        beyond = chosen[(chosen < -len(self)) | (chosen >= len(self))]
        if beyond.size:
            raise PGNNError(
                Parameter("numbers"),
                f" must be below {len(self)}, the number of sets (got {beyond[0]})",
            )
        return AnchorSets._flat([self[i] for i in chosen], self.num_nodes, self.size_class[chosen])

    @checked
    def grown(self, num_nodes: int) -> AnchorSets:
        """Return the same sets of a graph that has got more nodes, behind those it had.

        Raises:
            PGNNError: If it has fewer nodes.
        """
        if num_nodes < self.num_nodes:
            raise PGNNError(
                Parameter("num_nodes"),
                f" must be at least {self.num_nodes}, as many as there were (got {num_nodes})",
            )
        return AnchorSets(self.indptr, self.nodes, num_nodes, self.size_class)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many nodes each set has, `[k]`."""
        return np.diff(self.indptr)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, index: int) -> NDArray[np.int32]:
        if not isinstance(index, int | np.integer):
            raise TypeError(f"an anchor-set is found by its number (got {index!r})")
        if not -len(self) <= index < len(self):
            raise IndexError(f"anchor-set {index} of {len(self)}")
        index %= len(self)
        return self.nodes[self.indptr[index] : self.indptr[index + 1]]

    def __iter__(self) -> Iterator[NDArray[np.int32]]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return (
            f"AnchorSets(num_sets={len(self)}, num_nodes={self.num_nodes}, "
            f"sizes={self.sizes.min()}..{self.sizes.max()})"
        )


def _as_several(sets: Any) -> Iterable[Any]:
    """Return what was passed for sets, if it can be gone through."""
    try:
        if isinstance(sets, str | bytes):
            raise TypeError("it is a text")
        return list(sets)
    except (TypeError, ValueError, RuntimeError, NotImplementedError) as error:
        raise PGNNError(
            Parameter("sets"), f" must be AnchorSets or several lists of nodes ({error})"
        ) from error


def _check_flat(indptr: Any, nodes: Any, num_nodes: int, size_class: Any) -> None:
    """Refuse arrays by which a search would read the wrong memory, or name the wrong anchor."""
    arrays = (("indptr", indptr, np.int64), ("nodes", nodes, np.int32))
    for name, array, dtype in (*arrays, ("size_class", size_class, np.int64)):
        if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != 1:
            raise PGNNError(
                f"{name} must be a flat array of {np.dtype(dtype)}; "
                "AnchorSets.from_sets makes one of any node sets"
            )
    num_nodes = positive_integer("num_nodes", num_nodes)
    bounds_fit = len(indptr) > 1 and indptr[0] == 0 and indptr[-1] == len(nodes)
    if not bounds_fit or (indptr[1:] <= indptr[:-1]).any() or len(size_class) != len(indptr) - 1:
        raise PGNNError(
            Parameter("indptr"),
            " must be the bounds of one or more non-empty sets within nodes, "
            "with an entry of size_class for each set",
        )
    low, high = nodes.min(), nodes.max()
    if low < 0 or high >= num_nodes:
        bad = low if low < 0 else high
        raise PGNNError(f"nodes holds {bad}, but node indices must lie in 0..{num_nodes - 1}")
    falls = np.flatnonzero(nodes[1:] <= nodes[:-1]) + 1  # only from one set to the next
    if (indptr[indptr.searchsorted(falls)] != falls).any():
        raise PGNNError(Parameter("nodes"), " must ascend within each set, without repeats")


# ---------------------------------------------------------------------- sampling


@checked
def sample_anchor_sets(
    num_nodes: int | Sequence[int],
    c: float = 1.0,
    *,
    num_sets: int | None = None,
    scheme: Scheme = "bernoulli",
    rng: int | np.random.Generator,
) -> AnchorSets:
    """Draw the anchor-sets S_(i,j) of the paper, i = 1..L, j = 1..floor(c L), L = floor(log2 n).

    With scheme "bernoulli" (the paper), S_(i,j) takes each node independently with probability
    1/2^i, and is drawn again if it comes out empty. With "fixed" (the released code) it takes
    exactly floor(n/2^i) nodes. Sets are ordered by i, then j, so k = L * floor(c L) and set t has
    `size_class[t]` = i. A graph of one node has the one set {0}.

    Args:
        num_nodes: Number of nodes n; or, for a disjoint union, of each of its graphs. Then the i-th
            set is the union of an i-th set of each graph, and `num_sets` must be given.
        c: The paper's constant; at least one set per size class is drawn.
        num_sets: Draw this many sets instead, spread evenly over the size classes. At most 100,000,
            as for the number that `c` asks for.
        scheme: How a set is drawn.
        rng: Seed or generator; the same seed gives the same sets.

    Raises:
        PGNNError: If an argument is out of range.

    Example:
        >>> sets = sample_anchor_sets(400, rng=0)
        >>> len(sets), sets.size_class[[0, 8, -1]].tolist()
        (64, [1, 2, 8])
    """
    sizes = _graph_sizes(num_nodes)
    if number("c", c) <= 0:
        raise PGNNError(Parameter("c"), f" must be a positive number (got {c})")
    one_of("scheme", scheme, get_args(Scheme))
    if num_sets is not None:
        num_sets = positive_integer("num_sets", num_sets)
        if num_sets > MAX_SETS:
            raise PGNNError(
                Parameter("num_sets"), f" must be at most {MAX_SETS:,} (got {num_sets})"
            )
    elif sizes.size > 1:
        raise PGNNError("several graphs need the same number of sets; give ", Parameter("num_sets"))
    generator = as_generator(rng)
    if sizes.size > 1:
        assert num_sets is not None
        if sizes.mean() > _SMALL_GRAPH:
            parts = (
                sample_anchor_sets(int(size), num_sets=num_sets, scheme=scheme, rng=generator)
                for size in sizes
            )
            return AnchorSets.union(list(parts))
        return _sample_at_once([generator], sizes, num_sets, scheme)
    size = int(sizes[0])
    classes = _num_size_classes(size)
    if num_sets is None:
        if c * classes * classes > MAX_SETS:
            raise PGNNError(
                Parameter("c"), f" = {c:g} makes more than {MAX_SETS:,} anchor-sets; give less"
            )
        num_sets = classes * max(1, int(c * classes))
    if size <= _SMALL_GRAPH:
        return _sample_at_once([generator], sizes, num_sets, scheme)
    needed = max(4 * num_sets // classes, 16) * size  # all sets, or the drawing of the largest
    fits_memory("num_sets", f"{num_sets:,} sets of {size:,} nodes", needed)
    size_class = 1 + np.arange(num_sets, dtype=np.int64) * classes // num_sets
    draw = _draw_bernoulli if scheme == "bernoulli" else _draw_fixed
    members: list[NDArray[np.int32]] = []
    for i, count in zip(*np.unique(size_class, return_counts=True), strict=True):
        members += draw(generator, size, int(i), int(count))
    return AnchorSets._flat(members, size, size_class)


def sample_several(
    num_nodes: int | Sequence[int],
    *,
    num_sets: int,
    scheme: Scheme,
    rngs: Sequence[np.random.Generator],
) -> AnchorSets:
    """Draw what `sample_anchor_sets` does with each of some generators, one draw after the other.

    Example:
        >>> rngs = [np.random.default_rng(seed) for seed in (0, 1)]
        >>> len(sample_several(9, num_sets=4, scheme="fixed", rngs=rngs))
        8
    """
    sizes = _graph_sizes(num_nodes)
    if sizes.mean() <= _SMALL_GRAPH:
        return _sample_at_once(rngs, sizes, num_sets, scheme)
    return AnchorSets.chain(
        [sample_anchor_sets(num_nodes, num_sets=num_sets, scheme=scheme, rng=rng) for rng in rngs]
    )


def _graph_sizes(num_nodes: Any) -> NDArray[np.int64]:
    """Return the number of nodes of each graph."""
    if isinstance(num_nodes, int | float | np.number) or num_nodes is None:
        most = int(np.iinfo(np.int32).max)
        return np.array([integer("num_nodes", num_nodes, at_least=1, at_most=most)])
    try:
        sizes = np.asarray(num_nodes)
    except (TypeError, ValueError, RuntimeError) as error:
        raise PGNNError(Parameter("num_nodes"), f" must be integers ({error})") from error
    if sizes.ndim != 1 or sizes.size == 0 or sizes.dtype.kind not in "iu" or sizes.min() < 1:
        raise PGNNError(
            Parameter("num_nodes"), f" must be a positive integer, or several (got {sizes.dtype})"
        )
    if sizes.astype(np.float64).sum() > np.iinfo(np.int32).max:
        raise PGNNError(Parameter("num_nodes"), " must be below 2^31 together")
    return sizes.astype(np.int64)


def _num_size_classes(num_nodes: int) -> int:
    """Return L = floor(log2 n), at least 1."""
    return max(1, num_nodes.bit_length() - 1)


# ---------------------------------------------------------------------- large graphs, set by set


def _draw_bernoulli(
    generator: np.random.Generator, num_nodes: int, i: int, count: int
) -> list[NDArray[np.int32]]:
    """Draw non-empty sets that take each node with probability 1/2^i.

    The sets of a chunk are one long line of trials, set after set, cut where a set ends.
    """
    if num_nodes == 1:
        return [np.zeros(1, dtype=np.int32)] * count
    at_once = max(1, _CHUNK_TRIALS // num_nodes)
    members: list[NDArray[np.int32]] = []
    while len(members) < count:
        rows = min(at_once, count - len(members))
        hits = _successes(generator, rows * num_nodes, i)
        cuts = np.searchsorted(hits, np.arange(1, rows) * num_nodes)
        nodes = (hits % num_nodes).astype(np.int32)
        members += [part for part in np.split(nodes, cuts) if part.size]
    return members


def _successes(generator: np.random.Generator, trials: int, i: int) -> NDArray[np.int64]:
    """Return which of many independent trials succeed, each with probability 1/2^i, ascending."""
    if i <= 3:  # the AND of i fair bits, eight trials per byte
        num_bytes = (trials + 7) // 8
        fair = np.frombuffer(generator.bytes(i * num_bytes), dtype=np.uint8)
        bits = np.bitwise_and.reduce(fair.reshape(i, num_bytes), axis=0)
        return np.flatnonzero(np.unpackbits(bits, count=trials))
    # Gaps between successes are geometric: work shrinks with the size of the sets.
    probability = 0.5**i
    parts: list[NDArray[np.int64]] = []
    last = -1
    while last < trials:
        expected = (trials - last) * probability
        gaps = generator.geometric(probability, size=int(expected + 4 * expected**0.5) + 8)
        parts.append(last + np.cumsum(gaps))
        last = int(parts[-1][-1])
    hits = np.concatenate(parts)
    return hits[: np.searchsorted(hits, trials)]


def _draw_fixed(
    generator: np.random.Generator, num_nodes: int, i: int, count: int
) -> list[NDArray[np.int32]]:
    """Draw sets of exactly floor(n/2^i) nodes, at least one."""
    size = max(1, num_nodes >> i)
    draws = (generator.choice(num_nodes, size, replace=False, shuffle=False) for _ in range(count))
    return [np.sort(nodes).astype(np.int32) for nodes in draws]


# ---------------------------------------------------------------------- small graphs, all at once


def _sample_at_once(
    generators: Sequence[np.random.Generator],
    sizes: NDArray[np.int64],
    num_sets: int,
    scheme: Scheme,
) -> AnchorSets:
    """Draw the sets of one or several small graphs by deciding all (set, node) pairs at once."""
    draws = [draw_at_once(rng, sizes, num_sets, fixed=scheme == "fixed") for rng in generators]
    num_nodes, num_sets = int(sizes.sum()), num_sets * len(draws)
    entries = np.flatnonzero(np.concatenate([members for members, _ in draws]))  # set * n + node
    indptr = np.searchsorted(entries, np.arange(num_sets + 1) * num_nodes)
    nodes = (entries % num_nodes).astype(np.int32)
    size_class = np.concatenate([classes for _, classes in draws])
    return AnchorSets(indptr.astype(np.int64), nodes, num_nodes, size_class)


def draw_at_once(
    generator: np.random.Generator, sizes: NDArray[np.int64], num_sets: int, *, fixed: bool
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return which nodes are in which set, `[num_sets, n]`, and the size class i of each set.

    In each graph, set t takes each node with probability 1/2^i, drawn again while it is empty, or
    exactly size/2^i of them. Graphs of a union have size classes of their own; those of a single
    graph are returned, 0 for a union.
    """
    plan = _plan(tuple(sizes.tolist()), num_sets)
    if fixed:
        return _draw_fixed_at_once(generator, plan), plan.shown
    trials = generator.random(plan.shape, dtype=np.float32)
    limits = plan.chance if len(sizes) == 1 else np.repeat(plan.chance, sizes, axis=1)
    members = np.asarray(trials < limits)
    while True:
        empty = ~np.logical_or.reduceat(members, plan.starts[:-1], axis=1)  # [k, graphs]
        if not empty.any():
            return members, plan.shown
        for t, g in zip(*np.nonzero(empty), strict=True):
            nodes = slice(plan.starts[g], plan.starts[g + 1])
            members[t, nodes] = generator.random(sizes[g], dtype=np.float32) < plan.chance[t, g]


class _Plan(NamedTuple):
    """What is the same in every draw.

    Attributes:
        shape: Number of sets and of nodes.
        starts: First node of each graph, and the number of all nodes.
        shown: Size class of each set, 0 for a union.
        chance: Probability that a set takes a node of a graph, float32 `[k, graphs]`.
        counts: How many nodes of a graph a set of a fixed size takes, `[k, graphs]`.
    """

    shape: tuple[int, int]
    starts: NDArray[np.int64]
    shown: NDArray[np.int64]
    chance: NDArray[np.float32]
    counts: NDArray[np.int64]


@lru_cache(maxsize=64)
def _plan(sizes: tuple[int, ...], num_sets: int) -> _Plan:
    classes = np.array([_num_size_classes(size) for size in sizes])
    size_class = 1 + np.arange(num_sets)[:, None] * classes // num_sets  # [k, graphs]
    shown = size_class[:, 0] if len(sizes) == 1 else np.zeros(num_sets, dtype=np.int64)
    starts = np.cumsum([0, *sizes])
    chance = np.float32(0.5) ** size_class.astype(np.float32)
    chance[:, np.array(sizes) == 1] = 1
    counts = np.maximum(1, np.array(sizes) >> size_class)
    return _Plan((num_sets, int(starts[-1])), starts, shown, chance, counts)


def _draw_fixed_at_once(generator: np.random.Generator, plan: _Plan) -> NDArray[np.bool_]:
    """Take as many nodes as planned for each set: those with the smallest random keys."""
    from pgnn.positions.kernels.smallest import mark_smallest

    keys = generator.random(plan.shape)
    members = np.empty(plan.shape, dtype=bool)
    mark_smallest(keys, plan.starts, plan.counts, members)
    return members
