"""Scores of node pairs that need no learning: what a model has to beat."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pgnn.errors import Parameter, PGNNError
from pgnn.graph import Graph
from pgnn.pairs.codes import Pairs, as_pairs, edge_codes, is_among
from pgnn.pairs.proximities import pair_proximities
from pgnn.pairs.walks import choose_sources
from pgnn.threads import in_blocks, resolve_threads

Scores = NDArray[np.float64]

# Multiply-adds up to which Katz is computed: some seconds. It is the distinct nodes on one side of
# the pairs, times the edges in both directions, times the steps.
KATZ_WORK = 2e10
KATZ_STEPS = 30  # what longer walks add is below 1e-9
KATZ_DECAY = 0.5  # beta times the largest eigenvalue

_MAX_HOPS = 1000
_COLUMNS = {  # columns of `pair_proximities` that are scores as they are
    "common neighbours": "common_neighbours",
    "Adamic-Adar": "adamic_adar",
    "resource allocation": "resource_allocation",
    "3-paths": "three_paths",
    "pagerank": "pagerank_0.15",
}

HEURISTICS = (
    "shortest path",
    "common neighbours",
    "Adamic-Adar",
    "resource allocation",
    "preferential attachment",
    "3-paths",
    "pagerank",
    "katz",
)
FORMER_HEURISTICS = ("ppr",)  # rows of stored results: PageRank by degree, not symmetric


def heuristic_named(name: str) -> str:
    """Return which of `HEURISTICS` is meant; case, blanks, dashes and underscores do not matter.

    Raises:
        PGNNError: If there is none of that name.

    Example:
        >>> heuristic_named("resource-allocation"), heuristic_named("ADAMIC_ADAR")
        ('resource allocation', 'Adamic-Adar')
    """
    for known in HEURISTICS:
        if _spelling(known) == _spelling(name):
            return known
    raise PGNNError(Parameter("model"), f" must be one of {', '.join(HEURISTICS)} (got {name!r})")


def _spelling(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))


def heuristic_scores(graph: Graph, pairs: ArrayLike, name: str) -> Scores:
    """Score node pairs by the structure of the graph; a higher score is a likelier link.

    With N(u) the neighbours of u, A the adjacency matrix and S = D^-1/2 A D^-1/2, the score of
    (u, v) is, by name:

    - "shortest path": minus the number of hops; minus the larger of `num_nodes` and 1001 where
      there is no path, or none of up to 1000 hops.
    - "common neighbours": how many nodes w are in N(u) and N(v).
    - "Adamic-Adar": the sum over these w of 1 / log |N(w)|.
    - "resource allocation": the sum over these w of 1 / |N(w)|.
    - "preferential attachment": |N(u)| * |N(v)|.
    - "3-paths": the sum over paths u - a - b - v of 1 / sqrt(|N(a)| |N(b)|).
    - "pagerank": (I - 0.85 S)^-1[u, v], personalised PageRank with restart 0.15 in its symmetric
      form.
    - "katz": the sum over l >= 1 of beta^l A^l[u, v], with beta half of 1 / the largest eigenvalue
      of A, so that walks of 30 steps and more no longer count.

    Like pgnn-best, they never see a pair's own edge: the score of a pair that is an edge is that
    of the graph without this edge (A's largest eigenvalue apart, which is that of the whole graph).
    All are the same for (u, v) and (v, u). Weights and directions of edges are not read.
    Score with the graph of a split, not with the whole graph: other held-out edges would leak.

    On large graphs "pagerank", "3-paths" and "shortest path" are estimated as
    `pgnn.pair_proximities` says.

    Args:
        graph: The graph.
        pairs: Node indices of two different nodes, `[m, 2]`.
        name: One of `HEURISTICS`.

    Returns:
        Finite float64 `[m]`.

    Raises:
        PGNNError: If the name is unknown, or a pair is not one of two different nodes.

    Example:
        >>> square = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)])
        >>> heuristic_scores(square, [(0, 2), (0, 1)], "common neighbours").tolist()
        [2.0, 0.0]
    """
    if name not in HEURISTICS:
        raise PGNNError(f"there is no heuristic {name!r}; choose one of {', '.join(HEURISTICS)}")
    plain, checked = _plain(graph), _sorted_pairs(pairs, graph)
    if name == "katz":
        return _katz(plain, checked)
    return _of_proximities(plain, checked)[name]


def all_heuristics(graph: Graph, pairs: ArrayLike) -> dict[str, Scores]:
    """Score node pairs by every heuristic at once, which costs little more than one of them.

    Args:
        graph: The graph.
        pairs: Node indices of two different nodes, `[m, 2]`.

    Returns:
        The scores of `heuristic_scores` by name, in the order of `HEURISTICS`. "katz" is left out
        where the distinct nodes on one side of the pairs, times the edges in both directions, times
        30 steps are more than 2e10 (some seconds).

    Raises:
        PGNNError: If a pair is not one of two different nodes.

    Example:
        >>> path = Graph.from_edges([(0, 1), (1, 2), (2, 3)])
        >>> scores = all_heuristics(path, [(0, 3)])
        >>> scores["shortest path"].tolist(), scores["3-paths"].tolist()
        ([-3.0], [0.5])
    """
    plain, checked = _plain(graph), _sorted_pairs(pairs, graph)
    scores = _of_proximities(plain, checked)
    if _katz_work(plain, checked) <= KATZ_WORK:
        scores["katz"] = _katz(plain, checked)
    return {name: scores[name] for name in HEURISTICS if name in scores}


def _plain(graph: Graph) -> Graph:
    """Return the graph without directions and weights."""
    if graph.directed or graph.weights is not None:
        return Graph.from_edges(graph.edges(), graph.num_nodes)
    return graph


def _sorted_pairs(pairs: ArrayLike, graph: Graph) -> Pairs:
    """Return (smaller node, larger node): a pair turned round has the same score."""
    checked = np.sort(as_pairs(pairs, graph.num_nodes), axis=1)
    loops = np.flatnonzero(checked[:, 0] == checked[:, 1])
    if len(loops):
        at = int(loops[0])
        raise PGNNError(
            Parameter("pairs"),
            f" must be of two different nodes (got pairs[{at}] = ({checked[at, 0]}, "
            f"{checked[at, 1]}))",
        )
    return checked


def _of_proximities(graph: Graph, pairs: Pairs) -> dict[str, Scores]:
    """All heuristics but Katz."""
    near = pair_proximities(graph, pairs, max_hops=_MAX_HOPS)
    scores = {name: near.column(column).astype(np.float64) for name, column in _COLUMNS.items()}
    degrees = (near.column(f"degree_{which}").astype(np.float64) for which in ("min", "max"))
    scores["preferential attachment"] = np.multiply(*degrees)
    hops = near.column("hops").astype(np.float64)
    farthest = max(graph.num_nodes, _MAX_HOPS + 1)
    scores["shortest path"] = -np.where(hops > _MAX_HOPS, farthest, hops)
    return scores


# ---------------------------------------------------------------------- Katz


def _katz(graph: Graph, pairs: Pairs) -> Scores:
    """Sum beta^l A^l[u, v] by walks from 16 sources at once, without the pair's own edge.

    K = (I - beta A)^-1 holds the sums, and 1 more on its diagonal. Without the edge uv, the block
    of K at {u, v} is (block^-1 + beta X)^-1 with X = [[0, 1], [1, 0]] (Woodbury's identity), which
    is K[u, v] - beta D over 1 + 2 beta K[u, v] - beta^2 D, D the determinant of the block.
    """
    beta = KATZ_DECAY / max(_largest_eigenvalue(graph), 1.0)
    is_edge = _are_edges(graph, pairs)
    edges = pairs[is_edge]
    ends = np.unique(edges)
    first = choose_sources(pairs, graph.num_nodes)
    source = np.where(first, pairs[:, 0], pairs[:, 1])
    other = np.where(first, pairs[:, 1], pairs[:, 0])
    sums = _walk_sums(graph, beta, np.concatenate([source, ends]), np.concatenate([other, ends]))
    scores, closed = sums[: len(pairs)], sums[len(pairs) :]
    if len(edges):
        uu, vv = closed[np.searchsorted(ends, edges)].T
        uv = scores[is_edge]
        det = uu * vv - uv * uv
        without = (uv - beta * det) / (1 + 2 * beta * uv - beta * beta * det)
        # What is smaller is rounding of this algebra.
        scores[is_edge] = np.where(without < 1e-12, 0.0, without)
    return scores


def _walk_sums(graph: Graph, beta: float, sources: Pairs, nodes: Pairs) -> Scores:
    """Entries [node, source] of the sum over l >= 0 of beta^l A^l, `[len(sources)]`."""
    from pgnn.pairs.kernels.lanes import LANES, walk_block

    distinct, places = np.unique(sources, return_inverse=True)
    order = np.argsort(places, kind="stable")
    places, nodes = places[order], nodes[order]
    matrix = (graph.indptr, graph.indices, np.full(len(graph.indices), beta))
    factors = np.ones((KATZ_STEPS + 1, 1))
    sums = np.empty(len(order))

    def work(block: range, scratch: tuple[Scores, Scores]) -> None:
        span = slice(*np.searchsorted(places, [block.start, block.stop]))
        reads = (nodes[span], places[span] - block.start)
        summary = np.empty((len(reads[0]), 1))
        walk_block(matrix, distinct[block.start : block.stop], reads, factors, summary, scratch)
        sums[order[span]] = summary[:, 0]

    def make_rows() -> tuple[Scores, Scores]:
        return np.empty((graph.num_nodes, LANES)), np.empty((graph.num_nodes, LANES))

    in_blocks(work, len(distinct), LANES, make_rows, resolve_threads(None))
    return sums


def _katz_work(graph: Graph, pairs: Pairs) -> float:
    first = choose_sources(pairs, graph.num_nodes)
    source = np.where(first, pairs[:, 0], pairs[:, 1])
    ends = pairs[_are_edges(graph, pairs)]
    num_sources = len(np.unique(np.concatenate([source, ends.ravel()])))
    return float(num_sources) * len(graph.indices) * KATZ_STEPS


def _are_edges(graph: Graph, pairs: Pairs) -> NDArray[np.bool_]:
    joined = np.sort(edge_codes(graph.edges(), graph.num_nodes, directed=False))
    return is_among(edge_codes(pairs, graph.num_nodes, directed=False), joined)


def _largest_eigenvalue(graph: Graph) -> float:
    """The largest eigenvalue of A by the power method.

    Of a bipartite graph, minus that number is an eigenvalue as well, so the method is applied to
    A + I, whose largest eigenvalue stands alone. A few digits are enough for beta.
    """
    adjacency = graph.to_scipy().astype(np.float64)
    vector = np.sqrt(graph.degrees + 1.0)
    value = 1.0
    for _ in range(100):
        vector /= np.linalg.norm(vector)
        following = adjacency @ vector + vector
        before, value = value, float(vector @ following)
        vector = following
        if abs(value - before) <= 1e-10 * value:
            break
    return value - 1
