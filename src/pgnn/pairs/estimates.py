"""Walk probabilities and PageRank of pairs on large graphs: short ones exact, long ones estimated.

Short walks come from balls around both ends (`kernels.balls`), which are exact and, on sparse
graphs such as roads, reach all the way. Where they end, on graphs that mix well, the largest
eigenvalues of S have taken over, and continue them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgnn.graph import Graph
from pgnn.graph.keeping import keep
from pgnn.pairs.walks import (
    LENGTHS,
    LONGEST,
    RESTARTS,
    SMALLEST_PAGERANK,
    SMALLEST_WALK,
    WalkMatrix,
    Walks,
    choose_sources,
)
from pgnn.threads import Progress, in_blocks, resolve_threads

Array = NDArray[np.float64]
Pairs = NDArray[np.int64]

# Edges that the walks from one node may follow: where the graph mixes fast, so that eigenvectors
# soon take over (a node of 20 neighbours needs as many for 2 steps), and where it does not (for 3).
BALL_EDGES = (2_048, 16_384)
# Eigenvalues that continue long walks of undirected graphs. Where the second one is small, the
# first is enough.
RANK = 24
_SMALL_GAP = 0.7
# Lanczos' method reads the graph hundreds of times, one column at a time: of more stored entries,
# a block of columns is multiplied a few times instead.
LANCZOS_ENTRIES = 1 << 22
_MORE_COLUMNS = 8  # than eigenvalues that are wanted: a multiple of 16 in all
_STAGES = 2
_DEGREE = 6
_BLOCK_NODES = 8192
_GAP_STEPS = 12
# PageRank is summed up to here; beyond, walks are taken to stay as they are.
_STEPS = 40
_BLOCK_PAIRS = 1024
_EIGENVECTOR_ERROR = 1e-3
_POWER_STEPS = 200
_SMALLEST_EIGENVALUE = 0.05


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Largest eigenvalues of S, with S^k close to sum_i values_i^k right_i left_i^T.

    Attributes:
        values: `[rank]`.
        right, left: `[n, rank]`; the same for an undirected graph, where the first column belongs
            to the eigenvalue 1 of every component.
        rest: Size of the eigenvalues that are not known.
        mixes_fast: Whether all but the first eigenvalue are known to be small.
        volume: Summed strength of each node's component, `[n]`; None for a directed graph.
    """

    values: Array
    right: Array
    left: Array
    rest: float
    mixes_fast: bool = False
    volume: Array | None = None

    @classmethod
    def of(cls, matrix: WalkMatrix) -> Spectrum:
        """Compute the spectrum; the same for the same graph."""
        return _arc_spectrum(matrix) if matrix.graph.directed else _edge_spectrum(matrix)


def estimated_walks(
    matrix: WalkMatrix,
    spectrum: Spectrum,
    pairs: Pairs,
    places: Pairs,
    same_component: NDArray[np.bool_],
    num_threads: int,
    progress: Progress | None,
    sums_three_paths: bool = False,
) -> Walks:
    """Walk columns as `exact_walks` gives, and what was learnt on the way.

    Args:
        matrix: S.
        spectrum: Its largest eigenvalues.
        pairs: Node indices, `[m, 2]`.
        places: Where the edge of each pair stands among the stored edges, -1 where it is none.
        same_component: Whether a path joins the pair without its own edge; there are no walks
            otherwise.
        num_threads: How many threads.
        progress: Called with (pairs finished, pairs in all).
        sums_three_paths: Whether to sum up 3-paths too, of an undirected graph.
    """
    if not matrix.graph.directed:
        first = choose_sources(pairs, matrix.graph.num_nodes)
        pairs = np.where(first[:, None], pairs, pairs[:, ::-1])
    own = _OwnEdges.of(matrix, spectrum, pairs, places)
    worth = np.empty(0)
    if sums_three_paths:
        worth = 1 / np.sqrt(np.maximum(matrix.graph.degrees, 1))
    meetings = []
    for backward in (False, True)[: 1 + matrix.graph.directed]:
        meeting = _Meeting(matrix, matrix.transposed(), spectrum, pairs, own, worth, backward)
        meetings.append(meeting.run(same_component, num_threads, progress))
    horizons = np.concatenate([met.horizon for met in meetings])
    least, middle = int(np.min(horizons)), int(np.median(horizons))
    note = (
        f"Walks are exact up to {least} steps at least, and up to {middle} for half of the pairs; "
        "longer ones, and PageRank from there on, are estimated from eigenvectors of the graph "
        f"({len(spectrum.values)} of them)."
    )
    three_paths = meetings[0].three_paths if sums_three_paths else None
    return Walks(
        [met.columns for met in meetings], [met.hops for met in meetings], three_paths, note
    )


@dataclass(frozen=True, eq=False)
class _OwnEdges:
    """What leaving out the own edge of each pair does to S.

    Attributes:
        is_edge: Whether the pair is an edge.
        entry: S[u, v], 0 where it is none.
        growth: Row u and column v are multiplied by these, `[m, 2]`; undirected: u and v.
        first: Factor of the weight of the first eigenvalue: its component has less strength.
    """

    is_edge: NDArray[np.bool_]
    entry: Array
    growth: Array
    first: Array

    @classmethod
    def of(cls, matrix: WalkMatrix, spectrum: Spectrum, pairs: Pairs, places: Pairs) -> _OwnEdges:
        is_edge = places >= 0
        entry, growth = np.zeros(len(pairs)), np.ones((len(pairs), 2))
        first = np.ones(len(pairs))
        if is_edge.any():
            entry[is_edge] = matrix.entries[places[is_edge]]
            shares = np.stack(matrix.shares(pairs[is_edge], places[is_edge]), axis=1)
            # A row that becomes empty needs no scale.
            growth[is_edge] = 1 / np.sqrt(1 - np.where(shares < 1, shares, 0))
            if spectrum.volume is not None:
                part = 2 * matrix.strengths[places] / spectrum.volume[pairs[:, 0]]
                first = np.where(is_edge & (part < 1), 1 / (1 - np.where(part < 1, part, 0)), 1.0)
        return cls(is_edge, entry, growth, first)


@dataclass(frozen=True, eq=False)
class _Met:
    """What `meet_pairs` says about all pairs.

    Attributes:
        columns: Walks and PageRanks, `[m, len(LENGTHS) + len(RESTARTS)]`.
        horizon: The last exact step.
        hops: Edges of a shortest path, 0 where walks did not get so far.
        three_paths: Sums over 3-paths, -1 where there are none.
    """

    columns: Array
    horizon: NDArray[np.int64]
    hops: NDArray[np.int64]
    three_paths: Array

    @classmethod
    def of_size(cls, num_pairs: int) -> _Met:
        horizon, hops = np.empty((2, num_pairs), dtype=np.int64)
        columns = np.empty((num_pairs, len(LENGTHS) + len(RESTARTS)))
        return cls(columns, horizon, hops, np.empty(num_pairs))


@dataclass(frozen=True, eq=False)
class _Meeting:
    """Walks from the first to the second node of each pair or, backward, the other way."""

    out_matrix: WalkMatrix
    in_matrix: WalkMatrix
    spectrum: Spectrum
    pairs: Pairs
    own: _OwnEdges
    worth: Array
    backward: bool

    @property
    def ball_edges(self) -> int:
        """Edges that one ball may follow."""
        return BALL_EDGES[0 if self.spectrum.mixes_fast else 1]

    def edges(self, rows: Pairs) -> tuple[NDArray[np.int64], Array]:
        """What `meet_pairs` has to leave out of these pairs, and the scales from either end."""
        is_edge, scales = self.own.is_edge[rows], np.ones((len(rows), 8))
        kind = 2
        if is_edge.any():
            u, v = self.own.growth[rows].T
            if not self.out_matrix.graph.directed:
                scales[:] = np.stack([u, v, u, v, v, u, v, u], axis=1)
            else:
                # Along arcs, row u is scaled before a step and column v after it; against them
                # row v and column u.
                kind = -1 if self.backward else 1
                scales[:, 0], scales[:, 3], scales[:, 4], scales[:, 7] = u, v, v, u
        return kind * is_edge.astype(np.int64), scales

    def weights(self, rows: Pairs) -> Array:
        """Weights of the known eigenvalues in S^k of these pairs, `[len(rows), rank]`."""
        right, left = self.spectrum.right, self.spectrum.left
        u, v = self.pairs[rows].T
        if self.backward:
            return np.asarray(right[v] * left[u])
        weights = right[u] * left[v]
        edges = np.flatnonzero(self.own.is_edge[rows])
        if len(edges):
            u, v, rows = u[edges], v[edges], rows[edges]
            # An eigenvector is the sum of what its neighbours have: take the own edge's part out.
            part = self.own.entry[rows, None] / self.spectrum.values
            right_u = (right[u] - part * right[v]) * self.own.growth[rows, :1]
            left_v = (left[v] - part * left[u]) * self.own.growth[rows, 1:]
            weights[edges] = right_u * left_v
            weights[edges, 0] *= self.own.first[rows]
        return np.asarray(weights)

    def run(
        self, same_component: NDArray[np.bool_], num_threads: int, progress: Progress | None
    ) -> _Met:
        """Let both ends of all pairs meet, and continue their walks."""
        from pgnn.pairs.kernels.balls import extend_series, meet_pairs, write_columns

        met = _Met.of_size(len(self.pairs))
        powers = self.spectrum.values ** np.arange(_STEPS + 1)[:, None]
        summary = np.array(LENGTHS), _pagerank_sums(), np.array([SMALLEST_WALK, SMALLEST_PAGERANK])
        pairs = np.ascontiguousarray(self.pairs[:, ::-1]) if self.backward else self.pairs
        order = np.argsort(pairs[:, 0], kind="stable")
        out_rows = in_rows = self.out_matrix.factored_rows
        if self.in_matrix is not self.out_matrix:
            in_rows = self.in_matrix.factored_rows

        def work(block: range, balls: Any) -> None:
            rows = order[block.start : block.stop]
            size = len(rows)
            series = np.zeros((size, _STEPS + 1))
            last, hops = np.empty((2, size), dtype=np.int64)
            result = (series, last, hops, np.empty(size))
            ends, edges = pairs[rows], self.edges(rows)
            meet_pairs(out_rows, in_rows, ends, edges, self.worth, self.ball_edges, result, balls)
            extend_series(series, last, self.weights(rows), powers, self.spectrum.rest)
            series[~same_component[rows]] = 0.0
            write_columns(series, rows, *summary, met.columns)
            met.horizon[rows], met.hops[rows], met.three_paths[rows] = result[1:]

        def fills(block: range) -> list[tuple[NDArray[Any], NDArray[np.int64]]]:
            rows = order[block.start : block.stop]
            filled = (met.columns, met.horizon, met.hops, met.three_paths)
            return [(array, rows) for array in filled]

        in_blocks(
            work, len(order), _BLOCK_PAIRS, self._make_balls, num_threads, progress, fills=fills
        )
        return met

    def _make_balls(self) -> Any:
        from pgnn.pairs.kernels.balls import MORE_AT_FIRST

        n = self.out_matrix.graph.num_nodes
        degrees = [m.graph.degrees.max(initial=0) for m in (self.out_matrix, self.in_matrix)]
        size = int(min(n, MORE_AT_FIRST * self.ball_edges + max(degrees) + 1))

        def ball() -> tuple[NDArray[Any], ...]:
            counts = np.zeros(LONGEST // 2 + 2, dtype=np.int64)  # the last: of the latest ball
            x, between = np.empty((LONGEST // 2 + 1, size)), np.empty(size)
            return np.empty(size, np.int32), np.full(n, -1, np.int32), x, counts, between

        return ball(), ball(), np.empty(size, np.int32), np.empty(size)


def _pagerank_sums() -> Array:
    """Factors of S^k, `[_STEPS + 1, len(RESTARTS)]`; the last two stand for all that follow."""
    columns = []
    for restart in RESTARTS:
        b = 1 - restart
        factors = b ** np.arange(_STEPS + 1.0)
        factors[-2:] /= 1 - b * b
        columns.append(factors)
    return np.stack(columns, axis=1)


def _edge_spectrum(matrix: WalkMatrix) -> Spectrum:
    """Eigenvalues of largest size of a symmetric S.

    Each component has the eigenvalue 1, with the root of the degrees as its eigenvector. Others are
    computed only where they matter, on the components that are not tiny.
    """
    graph = matrix.graph
    n = graph.num_nodes
    number, sizes, total = _components(matrix)
    volume = np.where(total > 0, total, 1.0)[number]
    first = np.sqrt(matrix.out_strength / volume)
    large = np.flatnonzero(sizes[number] > 4 * RANK)
    if not len(large):
        return Spectrum(np.ones(1), first[:, None], first[:, None], _SMALL_GAP, False, volume)
    deflated = _Deflated.of(matrix, large, number, first)
    x = np.random.default_rng(0).standard_normal(len(large))
    second = 0.0
    for _ in range(_GAP_STEPS):
        x = deflated(x)
        second = float(np.linalg.norm(x))
        if second == 0:
            break
        x /= second
    if second < _SMALL_GAP:
        return Spectrum(np.ones(1), first[:, None], first[:, None], second, True, volume)
    if len(deflated.rows[1]) > LANCZOS_ENTRIES:
        values, basis = deflated.leading()
    else:
        values, basis = deflated.lanczos(x)
    is_useful = np.abs(values) > _SMALLEST_EIGENVALUE
    values, basis = values[is_useful], basis[:, is_useful]
    rest = float(np.abs(values).min()) if len(values) else second
    vectors = np.zeros((n, len(values) + 1))
    vectors[:, 0] = first
    vectors[large, 1:] = basis
    return Spectrum(np.append(1.0, values), vectors, vectors, rest, False, volume)


@dataclass(frozen=True, eq=False)
class _Deflated:
    """S of the components that are not tiny, without the part of their first eigenvectors.

    Attributes:
        rows: `(indptr, indices, entries)`.
        number: Component of each node.
        known: The first eigenvector of each component, side by side in one column, `[n]`.
    """

    rows: tuple[NDArray[np.int64], NDArray[np.int32], Array]
    number: NDArray[np.int64]
    known: Array

    @classmethod
    def of(
        cls, matrix: WalkMatrix, nodes: NDArray[np.int64], number: NDArray[np.int64], first: Array
    ) -> _Deflated:
        """Take some whole components of S."""
        rows = matrix.rows
        if len(nodes) < len(number):
            inner = _csr(rows)[nodes][:, nodes]
            rows = (inner.indptr.astype(np.int64), inner.indices.astype(np.int32), inner.data)
        _, compact = np.unique(number[nodes], return_inverse=True)
        return cls(rows, compact, first[nodes])

    @cached_property
    def _matrix(self) -> Any:
        return _csr(self.rows)

    @cached_property
    def _by_component(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Nodes by component, and where each component begins."""
        order = np.argsort(self.number, kind="stable")
        return order, np.searchsorted(self.number[order], np.arange(self.number.max() + 1))

    def __call__(self, x: Array) -> Array:
        """S x without the part of the first eigenvectors, one of each component, `[n]`."""
        x = np.asarray(x).ravel()
        share = np.bincount(self.number, weights=self.known * x)
        return np.asarray(self._matrix @ (x - self.known * share[self.number]))

    def lanczos(self, start: Array) -> tuple[Array, Array]:
        """The largest eigenvalues and their vectors, by Lanczos' method: as many as converge."""
        from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

        shape = len(start), len(start)
        operator = LinearOperator(shape, matvec=self, dtype=np.float64)
        options = {"k": RANK, "which": "LM", "v0": start, "tol": _EIGENVECTOR_ERROR, "maxiter": 20}
        try:
            return eigsh(operator, **options)  # type: ignore[no-any-return]
        except ArpackNoConvergence as stopped:
            return stopped.eigenvalues, stopped.eigenvectors

    def leading(self) -> tuple[Array, Array]:
        """The largest eigenvalues and their vectors, by powers of a block: nearly.

        Those that stand out are accurate. Where eigenvalues lie close together none stands out, and
        the vectors are mixtures. Chebyshev polynomials take the place of powers: they grow fastest
        outside of the interval of eigenvalues that are not wanted.
        """
        basis = np.random.default_rng(0).standard_normal((len(self.known), RANK + _MORE_COLUMNS))
        edge = 1.0
        for _ in range(_STAGES):
            filtered = self._by_lanes(basis, partial(self._filtered, edge=edge))
            basis, values = self._rotated(filtered)
            edge = float(np.clip(np.abs(values).min(), _SMALLEST_EIGENVALUE, 0.999))
        best = np.argsort(-np.abs(values))[:RANK]
        return values[best], basis[:, best]

    def _by_lanes(self, columns: Array, work: Callable[[Array], Array]) -> Array:
        """Do work on 16 columns at a time."""
        from pgnn.pairs.kernels.lanes import LANES

        result = np.empty_like(columns)
        for first in range(0, columns.shape[1], LANES):
            span = slice(first, first + LANES)
            result[:, span] = work(np.ascontiguousarray(columns[:, span]))
        return result

    def _filtered(self, x: Array, edge: float) -> Array:
        """Apply the Chebyshev polynomial of the interval -edge..edge, or a power if edge is 1."""
        before = self._without_first(x)  # S keeps it so
        now = self._product(before) / edge
        for _ in range(_DEGREE - 1):
            product = self._product(now)
            if edge < 1:
                product *= 2 / edge
                product -= before
            before, now = now, product
        return now

    def _rotated(self, columns: Array) -> tuple[Array, Array]:
        """Return orthonormal columns of the same span, closest to eigenvectors, and values."""
        scale, vectors = np.linalg.eigh(columns.T @ columns)
        # Columns that others span up to rounding become 0.
        is_useful = scale > 1e-12 * scale[-1]
        factors = np.where(is_useful, 1 / np.sqrt(np.where(is_useful, scale, 1.0)), 0.0)
        columns = columns @ (vectors * factors)
        values, vectors = np.linalg.eigh(columns.T @ self._by_lanes(columns, self._product))
        return columns @ vectors, values

    def _without_first(self, x: Array) -> Array:
        """Take the part of the first eigenvector of each component out of columns."""
        order, starts = self._by_component
        share = np.add.reduceat((self.known[:, None] * x)[order], starts, axis=0)
        return np.asarray(x - self.known[:, None] * share[self.number])

    def _product(self, x: Array) -> Array:
        """S x of 16 columns, `[n, 16]`."""
        from pgnn.pairs.kernels.lanes import multiply_rows

        result = np.empty_like(x)

        def work(block: range, _: None) -> None:
            multiply_rows(self.rows, block.start, block.stop, x, result)

        in_blocks(work, len(x), _BLOCK_NODES, lambda: None, resolve_threads(None))
        return result


def _csr(rows: tuple[NDArray[np.int64], NDArray[np.int32], Array]) -> Any:
    import scipy.sparse as sp

    indptr, indices, entries = rows
    n = len(indptr) - 1
    return sp.csr_array((entries, indices, indptr), shape=(n, n))


def component_tree(graph: Graph) -> tuple[NDArray[np.int64], ...]:
    """What `kernels.nodes.components_and_bridges` gives, searched once per graph."""
    from pgnn.pairs.kernels.nodes import components_and_bridges

    return keep(graph, "components", lambda: components_and_bridges(graph.indptr, graph.indices))


def _components(matrix: WalkMatrix) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Component of each node, and of each component the number of nodes and the summed strength."""
    _, number = np.unique(component_tree(matrix.graph)[0], return_inverse=True)
    return number, np.bincount(number), np.bincount(number, weights=matrix.out_strength)


def _arc_spectrum(matrix: WalkMatrix) -> Spectrum:
    """The dominant eigenvalue of a directed S, by powers of (I + S) / 2, which has no period."""
    import scipy.sparse as sp

    graph = matrix.graph
    n = graph.num_nodes
    s = sp.csr_array((matrix.entries, graph.indices, graph.indptr), shape=(n, n))
    vectors = []
    for way in (s, s.T.tocsr()):
        x = np.full(n, 1 / np.sqrt(n))
        for _ in range(_POWER_STEPS):
            x = (x + way @ x) / 2
            x /= np.linalg.norm(x)
        vectors.append(x)
    right, left = vectors
    overlap = float(left @ right)
    value = float(left @ (s @ right)) / overlap if overlap > 0 else 0.0
    scale = 1 / overlap if overlap > 1e-6 and value > 0.1 else 0.0
    return Spectrum(np.array([max(value, 0.1)]), (scale * right)[:, None], left[:, None], rest=0.5)
