"""The most likely missing links of a graph, and the nodes most similar to a node."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgnn.errors import PGNNError
from pgnn.graph import Graph
from pgnn.prediction.candidates import candidate_pairs, top_pairs
from pgnn.training.learner import Learner


@dataclass(frozen=True, eq=False)
class Predictions:
    """Pairs of nodes, best first (of several asked nodes: node by node).

    Attributes:
        pairs: Node indices `[m, 2]`; where nodes were asked for, they come first in their pairs.
        scores: Mean over anchor draws of the chance of each pair, `[m]`.
        spread: Standard deviation over the draws: how much to trust the score.
        how: Which pairs were looked at, in words.
        exact: Whether those were all there are.
    """

    pairs: NDArray[np.int64]
    scores: NDArray[np.float64]
    spread: NDArray[np.float64]
    how: str
    exact: bool


def predict(
    learner: Learner,
    graph: Graph,
    *,
    top: int = 20,
    nodes: NDArray[np.int64] | None = None,
    limit: int = 2_000_000,
) -> Predictions:
    """Find the pairs of nodes with the highest scores.

    Task "link": pairs without an edge, the best of the graph or of each given node. Task "pair":
    the most similar nodes of each given node, or of all nodes, joined or not.

    Not all n^2 pairs of a large graph are scored, but those within a few hops and those of nearest
    embeddings; of a graph with few pairs, all.

    Args:
        learner: A trained learner.
        graph: Any graph.
        top: How many pairs, or how many of each node.
        nodes: Indices of nodes that are asked about.
        limit: Most pairs scored.

    Raises:
        PGNNError: If `top` is not positive or a node is not one of the graph.
    """
    if top < 1:
        raise PGNNError(f"top must be a positive integer (got {top})")
    pair_task = learner.recipe.task == "pair"
    asked = np.arange(graph.num_nodes) if pair_task and nodes is None else nodes
    scorer = learner.scorer(graph)
    candidates = candidate_pairs(
        graph,
        np.asarray(scorer.embeddings[0].cpu()),
        nodes=nodes,
        include_edges=pair_task,
        limit=limit,
        num_neighbours=max(20, top) if pair_task else 20,
        metric=learner.recipe.decoder,
    )
    pairs, _ = top_pairs(candidates, scorer, top, per_node=asked)
    scores, spread = scorer.with_spread(pairs)
    return Predictions(pairs, scores, spread, candidates.how, candidates.exact)
