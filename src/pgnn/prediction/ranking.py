"""The most likely missing links of a graph, and the nodes most similar to a node."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pgnn import checks
from pgnn.errors import PGNNError
from pgnn.evaluation.heuristics import heuristic_named, heuristic_scores
from pgnn.evaluation.judging import hide_pairs
from pgnn.graph import Graph
from pgnn.names import Task
from pgnn.pairs.codes import as_pairs, edge_codes, is_among
from pgnn.pairs.columns import undirected
from pgnn.prediction.candidates import both_ways, candidate_pairs, top_pairs
from pgnn.training.learners import AnyLearner
from pgnn.training.pair_learner import MISSING, PairLearner

_LIMIT = 2_000_000  # pairs scored at most
LIMIT_OF_BEST = 300_000  # its columns take longer than an embedding
_MAX_EMBEDDED = 20_000  # nodes among which nearest embeddings are searched for


@dataclass(frozen=True, eq=False)
class Predictions:
    """Pairs of nodes, best first (of several nodes asked about: node by node).

    Attributes:
        pairs: Node indices `[m, 2]`: source and target, where links are ordered. If not, nodes that
            were asked about come first in their pairs, else the left of two sides.
        scores: The chance of each pair for the base rate, `[m]`; of a heuristic, its score.
        spread: Its standard deviation over the members of the model, or over draws of anchor-sets:
            how much to trust the chance.
        base_rate: The share of links among all pairs that chances are stated for; None if the
            scores are no chances.
        how: Which pairs were looked at, in words.
        exact: Whether those were all there are.
        num_edges: Of pairs that were passed, how many are edges of the graph; each is scored
            without its own edge.
        ends: What the two nodes of a pair are called: `source` and `target` where links have a
            direction, the names of two sides, or `node1` and `node2`.
    """

    pairs: NDArray[np.int64]
    scores: NDArray[np.float64]
    spread: NDArray[np.float64]
    base_rate: float | None
    how: str
    exact: bool
    num_edges: int = 0
    ends: tuple[str, str] = ("node1", "node2")


def predict(
    learner: AnyLearner,
    graph: Graph,
    *,
    top: int = 20,
    nodes: NDArray[np.int64] | None = None,
    limit: int | None = None,
    base_rate: float | None = None,
) -> Predictions:
    """Find the pairs of nodes with the highest scores.

    Task "link": pairs without an edge, the best of the graph or of each node asked about; of a run
    of ordered links, pairs from source to target; of a graph with sides, pairs across them. Task
    "pair": the most similar nodes of each node asked about, or of all nodes, joined or not.

    Not all n^2 pairs of a large graph are scored, but those within a few hops that share most, and
    of a model with embeddings those of nearest embeddings; of a graph with few pairs, all.

    Args:
        learner: A trained learner.
        graph: Any graph.
        top: How many pairs, or how many per node asked about.
        nodes: Indices of nodes that are asked about.
        limit: Most pairs scored; by default 300,000 for pgnn-best, 2,000,000 for others.
        base_rate: The share of links among the pairs in question that chances are stated for. By
            default, for pgnn-best, one missing link for every ten that are there; for other models
            a half, as in their training.

    Raises:
        PGNNError: If `top` is not positive or a node is not one of the graph.
    """
    top = checks.positive_integer("top", top)
    pair_task = learner.recipe.task == "pair"
    listed = np.arange(graph.num_nodes) if pair_task and nodes is None else nodes
    scorer = learner.scorer(graph)
    by_pairs = isinstance(learner, PairLearner)
    embedding = None
    if not by_pairs or (pair_task and graph.num_nodes <= _MAX_EMBEDDED):
        embedding = learner.embed(graph)
    most = (LIMIT_OF_BEST if by_pairs else _LIMIT) if limit is None else limit
    ordered = _is_ordered(learner)
    asked_graph = replace(graph, sides=None) if pair_task else graph
    candidates = candidate_pairs(
        asked_graph,
        embedding,
        nodes=nodes,
        include_edges=pair_task,
        limit=max(1, most // 3) if ordered else most,
        num_neighbours=max(20, top) if pair_task else 20,
        metric=learner.recipe.decoder or "distance",
    )
    if ordered:
        candidates = both_ways(candidates, graph, nodes=nodes, most_turned=max(1, most // 3))
    pairs, _ = top_pairs(candidates, scorer.logits, top, per_node=listed, ordered=ordered)
    if listed is None and asked_graph.sides is not None:
        pairs = asked_graph.sides.left_first(pairs)
    rate = base_rate if base_rate is not None else default_base_rate(learner, graph)
    scores, spread = scorer.with_spread(pairs, base_rate=rate)
    return Predictions(
        pairs,
        scores,
        spread,
        rate,
        candidates.how,
        candidates.exact,
        ends=_ends(asked_graph, pairs, ordered=ordered),
    )


def score_pairs(
    learner: AnyLearner,
    graph: Graph,
    pairs: ArrayLike,
    *,
    base_rate: float | None = None,
) -> Predictions:
    """Score pairs of one's own, in their order; repeated pairs are scored each time.

    A pair's own edge is never read. pgnn-best leaves out just that edge. For another model of links
    all edges that are asked about are hidden at once, since it embeds the graph as a whole. (Edges
    do not tell labels, so such a model of task "pair" reads all of them.)

    Args:
        learner: A trained learner.
        graph: Any graph.
        pairs: Node indices of two different nodes, `[m, 2]`.
        base_rate: As for `predict`.

    Raises:
        PGNNError: If a pair is not of two different nodes of the graph, or hiding leaves no edge.
    """
    ordered = _is_ordered(learner)
    asked, num_edges = _asked_pairs(graph, pairs, ordered=ordered)
    seen = graph
    if num_edges and learner.recipe.task == "link" and not isinstance(learner, PairLearner):
        seen, _, _ = hide_pairs(graph, asked, np.zeros(len(asked), dtype=bool), rng=0)
    rate = base_rate if base_rate is not None else default_base_rate(learner, graph)
    scores, spread = learner.scorer(seen).with_spread(asked, base_rate=rate)
    asked_graph = replace(graph, sides=None) if learner.recipe.task == "pair" else graph
    ends = _ends(asked_graph, asked, ordered=ordered)
    return Predictions(asked, scores, spread, rate, _how_asked(asked), True, num_edges, ends)


def _asked_pairs(graph: Graph, pairs: ArrayLike, *, ordered: bool) -> tuple[NDArray[np.int64], int]:
    """Return pairs of two different nodes, and how many of them are edges."""
    checked = as_pairs(pairs, graph.num_nodes)
    if (checked[:, 0] == checked[:, 1]).any():
        raise PGNNError("a pair must be of two different nodes (got a node with itself)")
    joined = np.sort(edge_codes(graph.edges(), graph.num_nodes, directed=ordered))
    own = is_among(edge_codes(checked, graph.num_nodes, directed=ordered), joined)
    return checked, int(np.count_nonzero(own))


def _is_ordered(learner: AnyLearner) -> bool:
    return isinstance(learner, PairLearner) and learner.links == "ordered"


def _ends(graph: Graph, pairs: NDArray[np.int64], *, ordered: bool) -> tuple[str, str]:
    """Return what the first and the second node of the pairs are called."""
    sides = graph.sides
    if ordered:
        return "source", "target"
    if sides is not None and not sides.same and len(pairs):
        if sides.left[pairs[:, 0]].all():
            return sides.names
        if sides.right[pairs[:, 0]].all():
            return sides.names[1], sides.names[0]
    return "node1", "node2"


def _how_asked(asked: NDArray[np.int64]) -> str:
    return f"the {len(asked):,} pairs that were asked about"


def rank_by_heuristic(
    name: str,
    graph: Graph,
    *,
    task: Task = "link",
    top: int = 20,
    nodes: NDArray[np.int64] | None = None,
    limit: int = LIMIT_OF_BEST,
) -> Predictions:
    """Find the pairs of nodes with the highest scores of a heuristic.

    The same pairs are looked at as for a model, near embeddings apart. The scores are those of
    `pgnn.evaluation.heuristics`, no chances.

    Args:
        name: One of `pgnn.evaluation.heuristics.heuristic_names(graph)`.
        graph: Any graph.
        task: Of "link", pairs without an edge are listed; of "pair", nodes joined or not.
        top: How many pairs, or how many per node asked about.
        nodes: Indices of nodes that are asked about.
        limit: Most pairs scored.

    Raises:
        PGNNError: If there is no such heuristic, `top` is not positive, or a node is not one of
            the graph.
    """
    top = checks.positive_integer("top", top)
    if task == "pair":
        graph = replace(undirected(graph) if graph.directed else graph, sides=None)
    heuristic = heuristic_named(name, graph)
    ordered = graph.has_ordered_links
    listed = np.arange(graph.num_nodes) if task == "pair" and nodes is None else nodes
    most = max(1, limit // 3) if ordered else limit
    candidates = candidate_pairs(graph, nodes=nodes, include_edges=task == "pair", limit=most)
    if ordered:
        candidates = both_ways(candidates, graph, nodes=nodes, most_turned=most)
    pairs, scores = top_pairs(
        candidates,
        lambda some: heuristic_scores(graph, some, heuristic),
        top,
        per_node=listed,
        ordered=ordered,
    )
    if listed is None and graph.sides is not None:
        pairs = graph.sides.left_first(pairs)
    return Predictions(
        pairs,
        scores,
        np.zeros(len(pairs)),
        None,
        candidates.how,
        candidates.exact,
        ends=_ends(graph, pairs, ordered=ordered),
    )


def score_by_heuristic(name: str, graph: Graph, pairs: ArrayLike) -> Predictions:
    """Score pairs of one's own by a heuristic, in their order, each without its own edge.

    Raises:
        PGNNError: If there is no such heuristic, or a pair is not of two different nodes.
    """
    ordered = graph.has_ordered_links
    asked, num_edges = _asked_pairs(graph, pairs, ordered=ordered)
    scores = heuristic_scores(graph, asked, heuristic_named(name, graph))
    ends = _ends(graph, asked, ordered=ordered)
    none = np.zeros(len(asked))
    return Predictions(asked, scores, none, None, _how_asked(asked), True, num_edges, ends)


def default_base_rate(learner: AnyLearner, graph: Graph) -> float:
    """Return the share of links among non-edges that training assumed."""
    if not isinstance(learner, PairLearner) or learner.recipe.task == "pair":
        return 0.5
    plain = graph
    if graph.directed and not _is_ordered(learner):
        plain = undirected(graph)
    num_links, free = len(plain.links()), plain.num_free_pairs
    return float(np.clip(MISSING * num_links / max(free, 1), 1e-9, 0.5))
