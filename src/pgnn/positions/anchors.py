"""Anchor-sets: the random node sets, shared by all nodes, to which positions are measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pgnn.errors import PGNNError
from pgnn.positions.small_anchors import draw_at_once

Scheme = Literal["bernoulli", "fixed"]

_SMALL_GRAPH = 1 << 9  # graphs up to this many nodes are drawn at once
_CHUNK_TRIALS = 1 << 22  # (node, set) pairs decided at once while sampling


@dataclass(frozen=True, eq=False, repr=False)
class AnchorSets:
    """k non-empty sets of nodes, stored flat; `sets[i]` is the i-th as sorted node indices.

    Attributes:
        indptr: Bounds of the sets in `nodes`, int64 `[k + 1]`.
        nodes: The members of all sets, one set after the other, each sorted, int32.
        num_nodes: How many nodes the graph has that the indices refer to.
        size_class: The i of S_(i,j), int64 `[k]`: set (i, j) takes about num_nodes / 2**i nodes.
            0 for a set that was given, or is a union of sets of different graphs.

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
        for array in (self.indptr, self.nodes, self.size_class):
            array.setflags(write=False)

    @classmethod
    def from_sets(cls, sets: Iterable[ArrayLike], num_nodes: int) -> AnchorSets:
        """Build from any node sets; a repeated member counts once.

        Raises:
            PGNNError: If there is no set, a set is empty, or an index is not a node.
        """
        members: list[NDArray[np.int32]] = []
        for position, given in enumerate(sets):
            array = np.atleast_1d(np.asarray(given))
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
    def of(cls, sets: AnchorSets | Iterable[ArrayLike], num_nodes: int) -> AnchorSets:
        """Return AnchorSets of a graph of so many nodes: as they are, or built from any node sets.

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

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many nodes each set has, `[k]`."""
        return np.diff(self.indptr)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, index: int) -> NDArray[np.int32]:
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
        c: The paper's constant; at least one set a size class is drawn.
        num_sets: Draw this many sets instead, spread evenly over the size classes.
        scheme: How a set is drawn.
        rng: Seed or generator; the same seed gives the same sets.

    Raises:
        PGNNError: If an argument is out of range.

    Example:
        >>> sets = sample_anchor_sets(400, rng=0)
        >>> len(sets), sets.size_class[[0, 8, -1]].tolist()
        (64, [1, 2, 8])
    """
    sizes = np.atleast_1d(np.asarray(num_nodes, dtype=np.int64))
    if sizes.size == 0 or sizes.min() < 1:
        raise PGNNError(f"num_nodes must be a positive integer (got {num_nodes})")
    if sizes.size > 1 and num_sets is None:
        raise PGNNError("several graphs need the same number of sets; give num_sets")
    if not (c > 0 and np.isfinite(c)):
        raise PGNNError(f"c must be a positive number (got {c})")
    if num_sets is not None and num_sets < 1:
        raise PGNNError(f"num_sets must be a positive integer (got {num_sets})")
    if scheme not in ("bernoulli", "fixed"):
        raise PGNNError(f"scheme must be 'bernoulli' or 'fixed' (got {scheme!r})")
    generator = np.random.default_rng(rng)
    if sizes.size > 1:
        assert num_sets is not None
        if sizes.mean() > _SMALL_GRAPH:
            parts = (
                sample_anchor_sets(int(size), num_sets=num_sets, scheme=scheme, rng=generator)
                for size in sizes
            )
            return AnchorSets.union(list(parts))
        return _sample_at_once(generator, sizes, num_sets, scheme)
    num_nodes = int(sizes[0])
    classes = max(1, num_nodes.bit_length() - 1)  # floor(log2 n)
    if num_sets is None:
        num_sets = classes * max(1, int(c * classes))
    if num_nodes <= _SMALL_GRAPH:
        return _sample_at_once(generator, sizes, num_sets, scheme)
    size_class = 1 + np.arange(num_sets, dtype=np.int64) * classes // num_sets
    draw = _draw_bernoulli if scheme == "bernoulli" else _draw_fixed
    members: list[NDArray[np.int32]] = []
    for i, count in zip(*np.unique(size_class, return_counts=True), strict=True):
        members += draw(generator, num_nodes, int(i), int(count))
    return AnchorSets._flat(members, num_nodes, size_class)


def _sample_at_once(
    generator: np.random.Generator, sizes: NDArray[np.int64], num_sets: int, scheme: Scheme
) -> AnchorSets:
    """Draw sets for each of some small graphs by deciding all (set, node) pairs at once."""
    members, size_class = draw_at_once(generator, sizes, num_sets, fixed=scheme == "fixed")
    num_nodes = int(sizes.sum())
    entries = np.flatnonzero(members)  # set * n + node
    indptr = np.searchsorted(entries, np.arange(num_sets + 1) * num_nodes)
    nodes = (entries % num_nodes).astype(np.int32)
    return AnchorSets(indptr.astype(np.int64), nodes, num_nodes, size_class)


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
    if i <= 3:  # the AND of i fair bits, eight trials a byte
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
