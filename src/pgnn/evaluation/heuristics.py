"""Scores of node pairs that need no learning: what a model has to beat."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pgnn.checks import checked
from pgnn.errors import Parameter, PGNNError
from pgnn.graph import Graph
from pgnn.pairs.codes import Pairs, as_pairs, edge_codes, is_among
from pgnn.pairs.collaborative import pair_tastes
from pgnn.pairs.columns import Links, across_sides, kind_of_links
from pgnn.pairs.proximities import Ends, pair_proximities
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

_DIRECTED_COLUMNS = {
    "2-paths": "two_paths_forward",
    "common successors": "common_successors",
    "common predecessors": "common_predecessors",
}

HEURISTICS = (
    "shortest path",
    "common neighbours",
    "Adamic-Adar",
    "resource allocation",
    "preferential attachment",
    "3-paths",
    "pagerank",
    "pagerank per degree",
    "katz",
)
DIRECTED_HEURISTICS = (
    "shortest path",
    "2-paths",
    "common successors",
    "common predecessors",
    "Adamic-Adar",
    "resource allocation",
    "preferential attachment",
    "3-paths",
    "pagerank",
    "katz",
)
SIDED_HEURISTICS = (
    "shortest path",
    "preferential attachment",
    "popularity",
    "3-paths",
    "item-based filtering",
    "pagerank",
    "katz",
)
_BY_NEIGHBOURS = ("common neighbours", "Adamic-Adar", "resource allocation")


def heuristic_names(graph: Graph) -> tuple[str, ...]:
    """Return the heuristics that make sense for the links of a graph.

    Across two kinds of nodes, where all edges lead across, no two nodes have a common neighbour.

    Example:
        >>> shop = Graph.from_edges([(0, 2), (1, 2), (1, 3)]).with_sides(["c", "c", "p", "p"])
        >>> "common neighbours" in heuristic_names(shop), "popularity" in heuristic_names(shop)
        (False, True)
    """
    links = kind_of_links(graph)
    if links == "ordered":
        return DIRECTED_HEURISTICS
    if links == "any" or graph.sides is None:
        return HEURISTICS
    all_across = bool(graph.sides.contain(graph.edges()).all())
    return SIDED_HEURISTICS if all_across else (*SIDED_HEURISTICS, *_BY_NEIGHBOURS)


def heuristic_named(name: str, graph: Graph) -> str:
    """Return which heuristic of a graph is meant; case, blanks and dashes do not matter.

    Raises:
        PGNNError: If there is none of that name.

    Example:
        >>> ring = Graph.from_edges([(v, (v + 1) % 8) for v in range(8)])
        >>> heuristic_named("resource-allocation", ring), heuristic_named("ADAMIC_ADAR", ring)
        ('resource allocation', 'Adamic-Adar')
    """
    names = heuristic_names(graph)
    for known in names:
        if _spelling(known) == _spelling(name):
            return known
    raise PGNNError(Parameter("model"), f" must be one of {', '.join(names)} (got {name!r})")


def _spelling(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))


@checked
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
    - "pagerank per degree": the same over sqrt(|N(u)| |N(v)|), which is (I - 0.85 D^-1 A)^-1[u, v]
      over |N(v)|: where a walk from u is, beside where any walk is. It tells communities best.
    - "katz": the sum over l >= 1 of beta^l A^l[u, v], with beta half of 1 / the largest eigenvalue
      of A, so that walks of 30 steps and more no longer count.

    Across two kinds of nodes, u of the left and v of the right side, also:

    - "popularity": |N(v)|.
    - "item-based filtering": the sum over a in N(u) of the cosine of a and v; see
      `pgnn.pairs.collaborative.pair_tastes`.

    In a directed graph all follow edges from u to v:

    - "2-paths" counts u -> w -> v, and "resource allocation" sums 1 / (edges out of w) over them;
      "common successors" counts the w with u -> w and v -> w, "common predecessors" those with
      w -> u and w -> v; "Adamic-Adar" sums 1 / log over both, of edges into and out of w.
    - "preferential attachment": edges out of u times edges into v.
    - "shortest path", "3-paths", "pagerank" (of D_out^-1/2 A D_in^-1/2) and "katz" (beta is that of
      the graph without directions) go from u to v.

    Like pgnn-best, they never see a pair's own edge: the score of a pair that is an edge is that
    of the graph without this edge (A's largest eigenvalue apart, which is that of the whole graph).
    Undirected, all but "popularity" and "item-based filtering" are the same for (u, v) and (v, u).
    Weights of edges are not read.
    Score with the graph of a split, not with the whole graph: other held-out edges would leak.

    On large graphs "pagerank", "3-paths" and "shortest path" are estimated as
    `pgnn.pair_proximities` says.

    Args:
        graph: The graph.
        pairs: Node indices of two different nodes, `[m, 2]`.
        name: One of `heuristic_names(graph)`.

    Returns:
        Finite float64 `[m]`.

    Raises:
        PGNNError: If the name is unknown, or a pair is not one of two different nodes or not across
            the sides.

    Example:
        >>> square = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)])
        >>> heuristic_scores(square, [(0, 2), (0, 1)], "common neighbours").tolist()
        [2.0, 0.0]
    """
    names = heuristic_names(graph)
    if name not in names:
        raise PGNNError(f"there is no heuristic {name!r}; choose one of {', '.join(names)}")
    question = _Asked.of(graph, pairs)
    return question.katz() if name == "katz" else question.of_proximities()[name]


@checked
def all_heuristics(graph: Graph, pairs: ArrayLike) -> dict[str, Scores]:
    """Score node pairs by every heuristic at once, which costs little more than one of them.

    Args:
        graph: The graph.
        pairs: Node indices of two different nodes, `[m, 2]`.

    Returns:
        The scores of `heuristic_scores` by name, in the order of `heuristic_names(graph)`. "katz"
        is left out where the distinct nodes on one side of the pairs, times the edges in both
        directions, times 30 steps are more than 2e10 (some seconds).

    Raises:
        PGNNError: If a pair is not one of two different nodes.

    Example:
        >>> path = Graph.from_edges([(0, 1), (1, 2), (2, 3)])
        >>> scores = all_heuristics(path, [(0, 3)])
        >>> scores["shortest path"].tolist(), scores["3-paths"].tolist()
        ([-3.0], [0.5])
    """
    question = _Asked.of(graph, pairs)
    scores = question.of_proximities()
    if _katz_work(question.plain, question.pairs) <= KATZ_WORK:
        scores["katz"] = question.katz()
    return {name: scores[name] for name in heuristic_names(graph) if name in scores}


@dataclass(frozen=True, eq=False)
class _Asked:
    """Pairs of a graph without weights.

    Attributes:
        graph: The graph; without directions too, unless links are ordered.
        plain: The graph without directions.
        pairs: As they are scored: ordered, (left, right), or (smaller node, larger node).
        links: Which pairs may be links.
    """

    graph: Graph
    plain: Graph
    pairs: Pairs
    links: Links

    @classmethod
    def of(cls, graph: Graph, pairs: ArrayLike) -> _Asked:
        links, checked = kind_of_links(graph), _checked_pairs(pairs, graph)
        plain = graph
        if graph.directed or graph.weights is not None:
            plain = Graph.from_edges(graph.edges(), graph.num_nodes)
        if links == "ordered":
            ahead = Graph.from_edges(graph.edges(), graph.num_nodes, directed=True)
            return cls(ahead, plain, checked, links)
        ends = across_sides(graph, checked) if links == "across" else np.sort(checked, axis=1)
        return cls(plain, plain, ends, links)

    def of_proximities(self) -> dict[str, Scores]:
        """All heuristics but Katz."""
        order: Ends = "sorted" if self.links == "any" else "ordered"
        near = pair_proximities(self.graph, self.pairs, max_hops=_MAX_HOPS, ends=order)

        def column(name: str) -> Scores:
            return near.column(name).astype(np.float64)

        way = "_forward" if self.links == "ordered" else ""
        scores = {name: column(_COLUMNS[name] + way) for name in ("3-paths", "pagerank")}
        hops = column(f"hops{way}")
        farthest = max(self.graph.num_nodes, _MAX_HOPS + 1)
        scores["shortest path"] = -np.where(hops > _MAX_HOPS, farthest, hops)
        scores["resource allocation"] = column(f"resource_allocation{way}")
        if self.links == "ordered":
            for name in ("2-paths", "common successors", "common predecessors"):
                scores[name] = column(_DIRECTED_COLUMNS[name])
            both = (column(f"adamic_adar_{which}") for which in ("successors", "predecessors"))
            scores["Adamic-Adar"] = np.add(*both)
            degrees = column("out_degree_source"), column("in_degree_target")
        else:
            scores |= {name: column(_COLUMNS[name]) for name in _BY_NEIGHBOURS}
            which = ("min", "max") if self.links == "any" else ("source", "target")
            degrees = column(f"degree_{which[0]}"), column(f"degree_{which[1]}")
        scores["preferential attachment"] = np.multiply(*degrees)
        if self.links == "any":  # without neighbours there is no walk: 0
            ends = np.sqrt(np.maximum(scores["preferential attachment"], 1))
            scores["pagerank per degree"] = scores["pagerank"] / ends
        if self.links == "across":
            scores["popularity"] = degrees[1]
            scores["item-based filtering"] = pair_tastes(self.graph, self.pairs)[:, 0]
        return scores

    def katz(self) -> Scores:
        """Sums over walks from u to v."""
        if self.links == "ordered":
            return _directed_katz(self.graph, self.plain, self.pairs)
        return _katz(self.plain, self.pairs)


def _checked_pairs(pairs: ArrayLike, graph: Graph) -> Pairs:
    checked = as_pairs(pairs, graph.num_nodes)
    loops = np.flatnonzero(checked[:, 0] == checked[:, 1])
    if len(loops):
        at = int(loops[0])
        raise PGNNError(
            Parameter("pairs"),
            f" must be of two different nodes (got pairs[{at}] = ({checked[at, 0]}, "
            f"{checked[at, 1]}))",
        )
    return checked


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


def _directed_katz(graph: Graph, plain: Graph, pairs: Pairs) -> Scores:
    """Sum beta^l A^l[u, v] of a directed graph, without the pair's own edge.

    With K as in `_katz`, leaving out u -> v takes beta K[u, u] K[v, v] / (1 + beta K[v, u]) from
    K[u, v] (Sherman and Morrison).
    """
    beta = KATZ_DECAY / max(_largest_eigenvalue(plain), 1.0)
    u, v = pairs.T
    scores = _walk_sums(graph, beta, v, u)
    codes = np.sort(edge_codes(graph.edges(), graph.num_nodes, directed=True))
    own = is_among(edge_codes(pairs, graph.num_nodes, directed=True), codes)
    if own.any():
        u, v = u[own], v[own]
        uu, vv, vu = np.split(
            _walk_sums(graph, beta, np.concatenate([u, v, u]), np.concatenate([u, v, v])), 3
        )
        without = scores[own] - beta * uu * vv / (1 + beta * vu)
        scores[own] = np.where(without < 1e-12, 0.0, without)
    return scores


def _walk_sums(graph: Graph, beta: float, sources: Pairs, nodes: Pairs) -> Scores:
    """Entries [node, source] of the sum over l >= 0 of beta^l A^l, `[len(sources)]`.

    They are of walks from node to source; row v of the graph holds the edges from v.
    """
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

    def fills(block: range) -> list[tuple[Scores, NDArray[np.int64]]]:
        return [(sums, order[slice(*np.searchsorted(places, [block.start, block.stop]))])]

    in_blocks(work, len(distinct), LANES, make_rows, resolve_threads(None), fills=fills)
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
