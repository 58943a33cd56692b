"""The most likely missing links of a graph, and the nodes most similar to a node."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgnn import checks
from pgnn.graph import Graph
from pgnn.prediction.candidates import candidate_pairs, top_pairs
from pgnn.training.learners import AnyLearner
from pgnn.training.pair_learner import MISSING, PairLearner

_LIMIT = 2_000_000  # pairs scored at most
_LIMIT_OF_BEST = 300_000  # its columns take longer than an embedding
_MAX_EMBEDDED = 20_000  # nodes among which nearest embeddings are searched for


@dataclass(frozen=True, eq=False)
class Predictions:
    """Pairs of nodes, best first (of several nodes asked about: node by node).

    Attributes:
        pairs: Node indices `[m, 2]`; where nodes were asked about, they come first in their pairs.
        scores: The chance of each pair for the base rate, `[m]`.
        spread: Its standard deviation over the members of the model, or over draws of anchor-sets:
            how much to trust the chance.
        base_rate: The share of links among all pairs that chances are stated for.
        how: Which pairs were looked at, in words.
        exact: Whether those were all there are.
    """

    pairs: NDArray[np.int64]
    scores: NDArray[np.float64]
    spread: NDArray[np.float64]
    base_rate: float
    how: str
    exact: bool


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

    Task "link": pairs without an edge, the best of the graph or of each node asked about. Task
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
    checks.positive_integer("top", top)
    pair_task = learner.recipe.task == "pair"
    listed = np.arange(graph.num_nodes) if pair_task and nodes is None else nodes
    scorer = learner.scorer(graph)
    by_pairs = isinstance(learner, PairLearner)
    embedding = None
    if not by_pairs or (pair_task and graph.num_nodes <= _MAX_EMBEDDED):
        embedding = learner.embed(graph)
    candidates = candidate_pairs(
        graph,
        embedding,
        nodes=nodes,
        include_edges=pair_task,
        limit=(_LIMIT_OF_BEST if by_pairs else _LIMIT) if limit is None else limit,
        num_neighbours=max(20, top) if pair_task else 20,
        metric=learner.recipe.decoder or "distance",
    )
    pairs, _ = top_pairs(candidates, scorer.logits, top, per_node=listed)
    rate = base_rate if base_rate is not None else _base_rate(learner, graph)
    scores, spread = scorer.with_spread(pairs, base_rate=rate)
    return Predictions(pairs, scores, spread, rate, candidates.how, candidates.exact)


def _base_rate(learner: AnyLearner, graph: Graph) -> float:
    """Return the share of links among non-edges that training assumed."""
    if not isinstance(learner, PairLearner) or learner.recipe.task == "pair":
        return 0.5
    free = graph.num_nodes * (graph.num_nodes - 1) / 2 - graph.num_edges
    return float(np.clip(MISSING * graph.num_edges / max(free, 1), 1e-9, 0.5))
