"""Walk probabilities and PageRank of pairs, each without the pair's own edge: the exact way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgnn.graph import Graph
from pgnn.threads import Progress, in_blocks, rows_of

Array = NDArray[np.float64]

LENGTHS = (2, 3, 4, 5, 6, 8, 12, 16, 24)
RESTARTS = (0.15, 0.5)
LONGEST = LENGTHS[-1]

# What is smaller is rounding, of the algebra that leaves an edge out, and is written as 0.
SMALLEST_WALK = 1e-12
SMALLEST_PAGERANK = 1e-8

# Steps after which PageRank is within 1e-10 (undirected) and 3e-8 (directed) of its limit.
UNDIRECTED_STEPS = 44
DIRECTED_STEPS = 120

_BLOCK_EDGES = 4096


@dataclass(frozen=True, eq=False)
class WalkMatrix:
    """S = D_out^-1/2 A D_in^-1/2 of the edges' strengths, in the rows of a graph.

    Attributes:
        graph: The graph whose rows these are.
        strengths: One number per stored edge.
        out_strength, in_strength: Row and column sums, one number per node.
        entries: S, one number per stored edge.
    """

    graph: Graph
    strengths: Array
    out_strength: Array
    in_strength: Array
    entries: Array

    @classmethod
    def of(cls, graph: Graph, strengths: Array) -> WalkMatrix:
        """Normalise the strengths of a graph's edges."""
        n = graph.num_nodes
        rows = np.repeat(np.arange(n), graph.degrees)
        # Of no edges at all, bincount makes integers.
        out_strength = np.bincount(rows, strengths, minlength=n).astype(np.float64)
        in_strength = out_strength
        if graph.directed:
            in_strength = np.bincount(graph.indices, strengths, minlength=n).astype(np.float64)
        entries = strengths / np.sqrt(out_strength[rows] * in_strength[graph.indices])
        return cls(graph, strengths, out_strength, in_strength, entries)

    def transposed(self) -> WalkMatrix:
        """The matrix of the reversed graph; of an undirected graph, itself."""
        if not self.graph.directed:
            return self
        turned = self.graph.reversed()
        order = np.argsort(self.graph.indices, kind="stable")
        return WalkMatrix(
            turned,
            self.strengths[order],
            self.in_strength,
            self.out_strength,
            self.entries[order],
        )

    @property
    def rows(self) -> tuple[NDArray[np.int64], NDArray[np.int32], Array]:
        """What kernels read."""
        return self.graph.indptr, self.graph.indices, self.entries

    @property
    def factored_rows(self) -> tuple[NDArray[Any], ...]:
        """What `kernels.balls` reads: strengths instead of entries, and roots to multiply by.

        The strengths are left out, an empty array, where all are 1.
        """
        roots = []
        for strength in (self.out_strength, self.in_strength):
            has_any = strength > 0
            roots.append(np.where(has_any, 1 / np.sqrt(np.where(has_any, strength, 1.0)), 0.0))
        strengths = self.strengths if (self.strengths != 1).any() else self.strengths[:0]
        indices = self.graph.indices.view(np.uint32)
        return self.graph.indptr, indices, strengths, roots[0] * roots[1], *roots

    def shares(self, edges: NDArray[np.int64], places: NDArray[np.int64]) -> tuple[Array, Array]:
        """Share of each edge in its source's outgoing and its target's incoming strength.

        It is exactly 1 where the edge is the only one, whatever rounding says.
        """
        source, target = edges.T
        strength = self.strengths[places]
        out_degree, in_degree = self.graph.degrees, self.graph.degrees
        if self.graph.directed:
            in_degree = np.bincount(self.graph.indices, minlength=self.graph.num_nodes)
        share_u = np.where(out_degree[source] == 1, 1.0, strength / self.out_strength[source])
        share_v = np.where(in_degree[target] == 1, 1.0, strength / self.in_strength[target])
        return share_u, share_v


@dataclass(frozen=True, eq=False)
class Walks:
    """Walks of all pairs.

    Attributes:
        ways: Columns, `[m, len(LENGTHS) + len(RESTARTS)]`; directed: there and back.
        hops: Of each way, the edges of a shortest path; 0 where walks did not get so far. None
            where they were not counted.
        three_paths: Sums of 1 / sqrt(d_a d_b) over 3-paths, -1 where they were not summed up,
            `[m]`. None where none were.
        note: A sentence that says what is estimated, or "".
    """

    ways: list[Array]
    hops: list[NDArray[np.int64]] | None = None
    three_paths: Array | None = None
    note: str = ""


@dataclass(frozen=True, eq=False)
class _Reads:
    """Which S^k[node, source] are needed: those of pairs, and [v, v] for the ends of edges.

    Attributes:
        sources: Sorted distinct nodes to walk from.
        nodes: One node per read, by source.
        places: Index of the read's source in `sources`.
        order: What each read is of: pair 0, 1, ... or, from the number of pairs on, an end.
        kept: Row of the reads whose whole series is needed, by what they are of; -1 for the others.
    """

    sources: NDArray[np.int64]
    nodes: NDArray[np.int64]
    places: NDArray[np.int64]
    order: NDArray[np.int64]
    kept: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        source: NDArray[np.int64],
        other: NDArray[np.int64],
        is_edge: NDArray[np.bool_],
        ends: NDArray[np.int64],
    ) -> _Reads:
        sources, places = np.unique(np.concatenate([source, ends]), return_inverse=True)
        order = np.argsort(places, kind="stable")
        nodes = np.concatenate([other, ends])[order]
        needed = np.concatenate([is_edge, np.ones(len(ends), dtype=bool)])
        kept = np.where(needed, np.cumsum(needed) - 1, -1)
        return cls(sources, nodes, places[order], order, kept)


def steps_of(graph: Graph) -> int:
    """Steps that the exact way walks from each source, both directions counted."""
    return 2 * DIRECTED_STEPS if graph.directed else UNDIRECTED_STEPS


def choose_sources(pairs: NDArray[np.int64], num_nodes: int) -> NDArray[np.bool_]:
    """Whether to walk from the first node of each pair, not from the second.

    The node that stands in more pairs is taken, so that a few nodes asked about with many others,
    on whichever side, are walked from once each.
    """
    counts = np.bincount(pairs.ravel(), minlength=num_nodes)
    return np.asarray(counts[pairs[:, 0]] >= counts[pairs[:, 1]])


def exact_walks(
    matrix: WalkMatrix,
    pairs: NDArray[np.int64],
    places: NDArray[np.int64],
    num_threads: int,
    progress: Progress | None,
) -> Walks:
    """Walk from every source, as many steps as it takes.

    Args:
        matrix: S.
        pairs: Node indices, `[m, 2]`.
        places: Where the edge of each pair stands among the stored edges, -1 where it is none.
        num_threads: How many threads.
        progress: Called with (reads made, reads in all).
    """
    directed = matrix.graph.directed
    first = choose_sources(pairs, matrix.graph.num_nodes)
    source = np.where(first, pairs[:, 0], pairs[:, 1])
    other = np.where(first, pairs[:, 1], pairs[:, 0])
    is_edge = places >= 0
    ends = np.unique(pairs[is_edge])
    reads = _Reads.of(source, other, is_edge, ends)
    # Column `source` of S^k holds the walks other -> source; the transposed matrix those back.
    passes = [_walk(matrix, reads, len(pairs), num_threads, progress)]
    if directed:
        passes.append(_walk(matrix.transposed(), reads, len(pairs), num_threads, progress))
    ways = [columns for columns, _ in passes]
    num_edges = int(is_edge.sum())
    edge_ways = [kept[:num_edges] for _, kept in passes]
    if directed:
        ways = _by_direction(first, ways)
        edge_ways = _by_direction(first[is_edge], edge_ways)
    if num_edges:
        edges = pairs[is_edge]
        closed = passes[0][1][num_edges:][np.searchsorted(ends, edges)]  # [num_edges, 2, 27]
        shares = matrix.shares(edges, places[is_edge])
        left_out = leave_out(closed, edge_ways, shares, directed, num_threads)
        for way, summary in zip(ways, left_out, strict=True):
            way[is_edge] = select_columns(summary)
    return Walks(ways)


def _by_direction(first: NDArray[np.bool_], passes: list[Array]) -> list[Array]:
    """Turn walks (to the source, from the source) into walks (u to v, v to u)."""
    to_source, from_source = passes
    return [
        np.where(first[:, None], from_source, to_source),
        np.where(first[:, None], to_source, from_source),
    ]


def select_columns(summary: Array) -> Array:
    """Take the lengths that are columns and the PageRanks; write rounding as 0."""
    walks, pageranks = summary[:, list(LENGTHS)], summary[:, LONGEST + 1 :]
    return np.concatenate(
        [
            np.where(walks < SMALLEST_WALK, 0.0, walks),
            np.where(pageranks < SMALLEST_PAGERANK, 0.0, pageranks),
        ],
        axis=1,
    )


def _walk(
    matrix: WalkMatrix, reads: _Reads, num_pairs: int, num_threads: int, progress: Progress | None
) -> tuple[Array, Array]:
    """Columns of all pairs, `[num_pairs, 11]`, and the whole summaries of the kept reads.

    A summary is S^k for k = 0 .. LONGEST, then the PageRanks.
    """
    from pgnn.pairs.kernels.lanes import LANES, walk_block

    factors = pagerank_factors(matrix.graph.directed)
    columns = np.empty((num_pairs, len(LENGTHS) + len(RESTARTS)))
    kept = np.empty((int(reads.kept.max(initial=-1)) + 1, LONGEST + 1 + len(RESTARTS)))
    n = matrix.graph.num_nodes

    def work(block: range, scratch: tuple[Array, Array]) -> None:
        span = slice(*np.searchsorted(reads.places, [block.start, block.stop]))
        nodes = reads.nodes[span]
        summary = np.empty((len(nodes), kept.shape[1]))
        sources = reads.sources[block.start : block.stop]
        lanes = reads.places[span] - block.start
        walk_block(matrix.rows, sources, (nodes, lanes), factors, summary, scratch)
        item = reads.order[span]
        row = reads.kept[item]
        columns[item[row < 0]] = select_columns(summary[row < 0])
        kept[row[row >= 0]] = summary[row >= 0]

    def make_rows() -> tuple[Array, Array]:
        return np.empty((n, LANES)), np.empty((n, LANES))

    def fills(block: range) -> list[tuple[Array, NDArray[np.int64]]]:
        item = reads.order[slice(*np.searchsorted(reads.places, [block.start, block.stop]))]
        row = reads.kept[item]
        return [(columns, item[row < 0]), (kept, row[row >= 0])]

    in_blocks(work, len(reads.sources), LANES, make_rows, num_threads, progress, fills=fills)
    return columns, kept


def pagerank_factors(directed: bool) -> Array:
    """Factors c_k, `[steps + 1, len(RESTARTS)]`, with sum_k c_k S^k = (I - (1 - a) S)^-1.

    The eigenvalues of an undirected S lie in [-1, 1], where Chebyshev's expansion of 1 / (1 - bx),
    b = 1 - a, converges as ((1 + sqrt(1 - b^2)) / b)^-k, much faster than powers of b. It is
    written as powers of x here; the factors add up to less than 10^6, so rounding stays below
    10^-10. More steps would have larger factors. For a directed S, whose eigenvalues lie anywhere
    in the disc, nothing is better than powers of b.
    """
    columns = []
    for restart in RESTARTS:
        b = 1 - restart
        if directed:
            columns.append(b ** np.arange(DIRECTED_STEPS + 1.0))
            continue
        root = np.sqrt(1 - b * b)
        terms = 2 / root * ((1 - root) / b) ** np.arange(UNDIRECTED_STEPS + 1)
        terms[0] /= 2
        columns.append(np.polynomial.chebyshev.cheb2poly(terms))
    return np.stack(columns, axis=1)


def leave_out(
    closed: Array, ways: list[Array], shares: tuple[Array, Array], directed: bool, num_threads: int
) -> list[Array]:
    """Turn walks of edges into walks without that edge (see `kernels.series`).

    Args:
        closed: Summaries of [u, u] and [v, v], `[num_edges, 2, LONGEST + 1 + len(RESTARTS)]`.
        ways: Summaries of [u, v] and, directed, of [v, u].
        shares: Share of the edge in the strength of u and of v.
        directed: Whether only the arc from u to v goes.
        num_threads: How many threads.

    Returns:
        Summaries like `ways`.
    """
    from pgnn.pairs.kernels.series import without_arc, without_edge

    results = [np.empty_like(way) for way in ways]
    length = LONGEST + 1

    def work(block: range, _: None) -> None:
        span = slice(block.start, block.stop)
        series = [np.ascontiguousarray(closed[span, end, :length]) for end in (0, 1)]
        series += [np.ascontiguousarray(way[span, :length]) for way in ways]
        target = [np.empty_like(series[0]) for _ in ways]
        kernel = without_arc if directed else without_edge
        kernel(*series, shares[0][span], shares[1][span], *target)
        for result, values in zip(results, target, strict=True):
            result[span, :length] = values

    in_blocks(work, len(closed), _BLOCK_EDGES, lambda: None, num_threads, fills=rows_of(*results))
    rule: Callable[..., tuple[Array, ...]] = _pagerank_without_edge
    if directed:
        rule = _pagerank_without_arc
    for i, restart in enumerate(RESTARTS):
        numbers: list[Array] = [closed[:, 0, length + i], closed[:, 1, length + i]]
        numbers += [way[:, length + i] for way in ways]
        for result, values in zip(results, rule(1 - restart, *numbers, *shares), strict=True):
            result[:, length + i] = values
    return results


def _pagerank_without_edge(
    z: float, uu: Array, vv: Array, uv: Array, a: Array, b: Array
) -> tuple[Array, ...]:
    """The rule of `kernels.series.without_edge` at one number z."""
    s, det = np.sqrt(a * b), uu * vv - uv * uv
    bottom = 1 - a * uu - b * vv + 2 * z * s * uv + a * b * (1 - z * z) * det
    top = np.sqrt((1 - np.minimum(a, 1)) * (1 - np.minimum(b, 1))) * (uv - z * s * det)
    alone = (a >= 1) | (b >= 1)
    return (np.where(alone, 0.0, top / np.where(alone, 1.0, bottom)),)


def _pagerank_without_arc(
    z: float, uu: Array, vv: Array, uv: Array, vu: Array, a: Array, b: Array
) -> tuple[Array, ...]:
    """The rule of `kernels.series.without_arc` at one number z."""
    s, det = np.sqrt(a * b), uu * vv - uv * vu
    p = np.where(a >= 1, 0.0, 1 - np.sqrt(1 - np.minimum(a, 1)))
    q = np.where(b >= 1, 0.0, 1 - np.sqrt(1 - np.minimum(b, 1)))
    bottom = 1 - p * uu - q * vv + p * q * det + z * s * vu
    forward = np.where((a >= 1) | (b >= 1), 0.0, (uv - z * s * det) / bottom)
    return forward, (1 - p) * (1 - q) * vu / bottom
