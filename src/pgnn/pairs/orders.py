"""pair_orders: where two nodes of a directed graph stand along its edges.

In a citation network edges lead from newer papers to older ones, in a food chain from prey to
predator. Two things tell who comes first, without any path between the two nodes: levels, and
directed distances to anchor-sets.

A level belongs to a node and depends on all edges. To leave out just the pair's own edge would take
a search of its own for each pair, so edges are cut into folds instead: a pair, joined or not, has a
fold, and what is said about it comes from the graph without the edges of that fold.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pgnn.graph import Graph
from pgnn.pairs.codes import as_pairs, fold_of_pairs
from pgnn.positions import anchor_distances, sample_anchor_sets
from pgnn.threads import resolve_threads

Array = NDArray[np.float64]

_KINDS = ("level_drop", "bound_out", "bound_in", "barred_out", "barred_in")
ORDER_COLUMNS = tuple(f"{kind}_{way}" for way in ("forward", "backward") for kind in _KINDS)
_PULL = 0.1  # of each level towards 0: where little is known, levels stay near each other
_MAX_ITERATIONS = 500
_BLOCK_PAIRS = 1 << 14


def pair_orders(
    graph: Graph,
    pairs: ArrayLike,
    *,
    num_sets: int | None = None,
    rng: int | np.random.Generator = 0,
    num_threads: int | None = None,
) -> Array:
    """Say where the nodes of pairs stand along the edges of a directed graph, float64 `[m, 10]`.

    For (u, v) the columns that end in `_forward`; those that end in `_backward` are the same of
    (v, u):

    - `level_drop`: level(u) - level(v), with the levels of `node_levels`: 1 where u is one edge
      before v.
    - `bound_out`: the largest d(u, S) - d(v, S) over anchor-sets S that both reach, `bound_in` the
      largest d(S, v) - d(S, u): lower bounds on the distance from u to v, as Bourgain's.
    - `barred_out`: the share of sets that v reaches and u does not; `barred_in`: of those that
      reach u and not v. Where a path leads from u to v, both are 0.

    Each pair is described by the graph without the edges of the pair's fold, its own among them.

    Args:
        graph: A directed graph; weights are not read.
        pairs: Node indices of different nodes, `[m, 2]`.
        num_sets: Number of anchor-sets; by default log^2 n.
        rng: Seed or generator for them.
        num_threads: By default all cores. It does not change the result.

    Example:
        >>> line = Graph.from_edges([(v, v + 1) for v in range(30)], directed=True)
        >>> drop = pair_orders(line, [(3, 5), (5, 3)])[:, 0]
        >>> bool(drop[0] > 0 > drop[1])
        True
    """
    checked = as_pairs(pairs, graph.num_nodes)
    threads = resolve_threads(num_threads)
    sets = sample_anchor_sets(graph.num_nodes, num_sets=num_sets, rng=rng)
    edges = graph.edges().astype(np.int64)
    edge_fold, pair_fold = fold_of_pairs(edges), fold_of_pairs(checked)
    result = np.zeros((len(checked), len(ORDER_COLUMNS)))
    half = len(_KINDS)
    for fold in np.unique(pair_fold).tolist():
        seen = graph.with_edges(edge_fold != fold)
        plain = Graph.from_edges(seen.edges(), seen.num_nodes, directed=True)
        level = node_levels(plain)
        to_sets = np.asarray(anchor_distances(plain, sets, num_threads=threads).hops)
        from_sets = np.asarray(anchor_distances(plain.reversed(), sets, num_threads=threads).hops)
        rows = np.flatnonzero(pair_fold == fold)
        for first in range(0, len(rows), _BLOCK_PAIRS):
            block = rows[first : first + _BLOCK_PAIRS]
            u, v = checked[block].T
            result[block, 0] = level[u] - level[v]
            result[block, half] = -result[block, 0]
            ends = (to_sets[u], to_sets[v], from_sets[u], from_sets[v])
            result[block, 1:half] = _bounds(*ends)
            result[block, half + 1 :] = _bounds(ends[1], ends[0], ends[3], ends[2])
    return result


def node_levels(graph: Graph) -> Array:
    """Return levels such that each edge leads down by about 1, `[num_nodes]`.

    They minimise the sum over edges u -> v of (level(u) - level(v) - 1)^2, and a tenth of all
    squared levels (SpringRank; De Bacco, Larremore and Moore, arXiv:1709.09002).

    Example:
        >>> node_levels(Graph.from_edges([(0, 1)], directed=True)).round(3).tolist()
        [0.476, -0.476]
    """
    import scipy.sparse as sp
    from scipy.sparse.linalg import LinearOperator, cg

    n = graph.num_nodes
    ones = np.ones(len(graph.indices))
    out = sp.csr_array((ones, graph.indices, graph.indptr), shape=(n, n))
    into = out.T.tocsr()
    degree = graph.degrees + np.diff(into.indptr) + _PULL

    def apply(levels: Array) -> Array:
        return np.asarray(degree * levels - out @ levels - into @ levels)

    matrix = LinearOperator((n, n), matvec=apply, dtype=np.float64)
    scale = LinearOperator((n, n), matvec=lambda levels: levels / degree, dtype=np.float64)
    target = (graph.degrees - np.diff(into.indptr)).astype(np.float64)
    levels, _ = cg(matrix, target, rtol=1e-8, maxiter=_MAX_ITERATIONS, M=scale)
    return np.asarray(levels)


def _bounds(
    u_out: NDArray[np.integer],
    v_out: NDArray[np.integer],
    u_in: NDArray[np.integer],
    v_in: NDArray[np.integer],
) -> Array:
    """Return bounds and barred shares of the way from u to v, `[m, 4]`; hops are -1 for none."""
    columns = []
    for near, far in ((u_out, v_out), (v_in, u_in)):
        both = (near >= 0) & (far >= 0)
        gap = np.where(both, near.astype(np.int64) - far, np.iinfo(np.int32).min).max(axis=1)
        columns.append(np.where(both.any(axis=1), gap, 0))
    for reached, not_reached in ((v_out, u_out), (u_in, v_in)):
        columns.append(((reached >= 0) & (not_reached < 0)).mean(axis=1))
    return np.stack(columns, axis=1).astype(np.float64)
