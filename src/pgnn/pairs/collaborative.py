"""pair_tastes: collaborative filtering of pairs across two sides, such as customers and products.

Where all edges lead across, two nodes of different sides have no neighbours in common, and the
shortest evidence is a path of three edges: a customer, a product bought, another customer who
bought it, another product. Item-based filtering weighs these paths by the cosine of both products.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pgnn.graph import Graph
from pgnn.pairs.codes import as_pairs, edge_codes, is_among
from pgnn.threads import in_blocks, resolve_threads, rows_of

Array = NDArray[np.float64]

TASTE_COLUMNS = ("item_cosine", "peer_cosine", "basket_share")
_BLOCK_PAIRS = 16_384
_HUB_DEGREE = 20_000  # nodes with more neighbours are taken to be joined at random


def pair_tastes(graph: Graph, pairs: ArrayLike, *, num_threads: int | None = None) -> Array:
    """Score pairs by collaborative filtering, each without its own edge; float64 `[m, 3]`.

    With N(u) the neighbours of u, |N(u)| = d_u and cos(a, v) = |N(a) & N(v)| / sqrt(d_a d_v):

    - `item_cosine`: the sum over a in N(u) of cos(a, v): what u has is like v.
    - `peer_cosine`: the sum over b in N(v) of cos(u, b): who has v is like u.
    - `basket_share`: the sum over a in N(u) of |N(a) & N(v)| / d_a, over d_u: how many of those who
      have something of u have v.

    Directions and weights of edges are not read.

    Args:
        graph: An undirected graph.
        pairs: Node indices (u, v) of different nodes, `[m, 2]`: u is of the left side.
        num_threads: By default all cores. It does not change the result.

    Example:
        >>> shop = Graph.from_edges([(0, 2), (0, 3), (1, 2), (1, 3), (1, 4)])
        >>> pair_tastes(shop, [(0, 4)]).round(3).tolist()
        [[1.414, 0.816, 0.5]]
    """
    checked = as_pairs(pairs, graph.num_nodes)
    edges = np.sort(edge_codes(graph.edges(), graph.num_nodes, directed=False))
    lost = is_among(edge_codes(checked, graph.num_nodes, directed=False), edges)
    order = np.argsort(checked[:, 0], kind="stable")
    degree = np.maximum(graph.degrees, 1).astype(np.float64)
    of_u, of_v = np.maximum(graph.degrees[checked] - lost[:, None], 1).T.astype(np.float64)
    one, root = np.ones(graph.num_nodes), 1 / np.sqrt(degree)
    threads = resolve_threads(num_threads)
    worths = ((root, one), (one, root), (1 / degree, one))
    sums = np.empty((len(checked), len(worths)))
    for place, worth in enumerate(worths):
        sums[order, place] = _path_sums(graph, checked[order], worth, threads)
    return np.asarray(sums / np.stack([np.sqrt(of_v), np.sqrt(of_u), of_u], axis=1))


def _path_sums(
    graph: Graph, pairs: NDArray[np.int64], worth: tuple[Array, Array], threads: int
) -> Array:
    """Return sums of worth over paths of three edges; pairs are sorted by their first node."""
    from pgnn.pairs.kernels.counts import sum_three_paths

    rows, n = (graph.indptr, graph.indices), graph.num_nodes
    result = np.empty(len(pairs))

    def work(block: range, scratch: tuple[Array, NDArray[np.int32]]) -> None:
        span = slice(block.start, block.stop)
        sum_three_paths(rows, rows, pairs[span], worth, _HUB_DEGREE, result[span], scratch)

    def make_scratch() -> tuple[Array, NDArray[np.int32]]:
        return np.zeros(n), np.empty(n, dtype=np.int32)

    in_blocks(work, len(pairs), _BLOCK_PAIRS, make_scratch, threads, fills=rows_of(result))
    return result
