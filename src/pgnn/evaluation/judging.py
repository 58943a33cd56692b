"""How good a learner's scores are, beside what needs no learning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pgnn.errors import PGNNError
from pgnn.evaluation.heuristics import HEURISTICS, heuristic_scores
from pgnn.evaluation.metrics import hits_at, mrr, pair_metrics, roc_curve
from pgnn.graph import Graph
from pgnn.pairs.codes import as_pairs, is_among, sorted_distinct, unordered_codes
from pgnn.pairs.negatives import draw_non_edges
from pgnn.training.splits import PairSet, split_links, split_pairs

HITS = (10, 50, 100)
_SEARCHES = ("shortest path", "ppr")  # one search for each node of one side of the pairs
_SEARCH_WORK = 2_000_000_000  # nodes and edges visited by them in all: a minute at most
_ROC_POINTS = 200


@dataclass(frozen=True)
class Judgement:
    """How good scores of some pairs are.

    Attributes:
        num_pairs: How many pairs were scored.
        metrics: `roc_auc`, `average_precision`, `hits@K`, `mrr`; of several graphs, means.
        roc: The ROC curve, `fpr` and `tpr`, of one graph; None where there is no one curve.
    """

    num_pairs: int
    metrics: dict[str, float]
    roc: dict[str, list[float]] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        return {"num_pairs": self.num_pairs, "metrics": self.metrics, "roc": self.roc}

    @classmethod
    def from_json(cls, document: Mapping[str, Any], num_pairs: int) -> Judgement:
        """Read what `to_json` gave; `num_pairs` where an older version did not say."""
        metrics = {str(name): float(value) for name, value in document["metrics"].items()}
        return cls(int(document.get("num_pairs", num_pairs)), metrics, document.get("roc"))


def judge(labels: ArrayLike, scores: ArrayLike) -> dict[str, float]:
    """Return ROC AUC, average precision, Hits@K and MRR of scores of pairs."""
    metrics = pair_metrics(labels, scores)
    for k in HITS:
        metrics[f"hits@{k}"] = hits_at(k, labels, scores)
    return metrics | {"mrr": mrr(labels, scores)}


def judge_graphs(pair_sets: Sequence[PairSet], scores: Sequence[NDArray[np.floating]]) -> Judgement:
    """Judge scores of the pairs of one graph or of several; of several, metrics are means.

    Graphs whose pairs are all of one kind are left out.

    Raises:
        PGNNError: If no graph has positive and negative pairs.
    """
    both = [
        (pairs.labels, values)
        for pairs, values in zip(pair_sets, scores, strict=True)
        if 0 < np.count_nonzero(pairs.labels) < len(pairs)
    ]
    if not both:
        raise PGNNError("no graph has positive and negative pairs, so there is nothing to judge by")
    judged = [judge(labels, values) for labels, values in both]
    metrics = {name: float(np.mean([one[name] for one in judged])) for name in judged[0]}
    curve = roc_points(*both[0]) if len(both) == 1 else None
    return Judgement(sum(len(pairs) for pairs in pair_sets), metrics, curve)


def roc_points(labels: ArrayLike, scores: ArrayLike) -> dict[str, list[float]]:
    """Return the ROC curve, thinned to a few hundred points."""
    false, true = roc_curve(labels, scores)
    kept = np.unique(np.linspace(0, len(false) - 1, min(len(false), _ROC_POINTS)).astype(int))
    return {"fpr": false[kept].tolist(), "tpr": true[kept].tolist()}


def judge_heuristics(
    tested: Sequence[tuple[Graph, PairSet]], *, rng: int | np.random.Generator = 0
) -> dict[str, Judgement]:
    """Judge scores that need no learning on the pairs of one graph or of several.

    Where a heuristic searches the graph from each node, and the graph is large, it is judged on a
    sample of the pairs; `num_pairs` says of how many.
    """
    generator = np.random.default_rng(rng)
    judged = {}
    for name in HEURISTICS:
        chosen = []
        for graph, pairs in tested:
            most = max(1000, _SEARCH_WORK // (graph.num_nodes + len(graph.indices)))
            chosen.append(_sample(pairs, most, generator) if name in _SEARCHES else pairs)
        scores = [
            heuristic_scores(graph, pairs.pairs, name)
            for (graph, _), pairs in zip(tested, chosen, strict=True)
        ]
        judged[name] = judge_graphs(chosen, scores)
    return judged


def _sample(pairs: PairSet, most: int, generator: np.random.Generator) -> PairSet:
    """Return at most this many pairs, of both kinds alike."""
    if len(pairs) <= most:
        return pairs
    positive = generator.permutation(np.flatnonzero(pairs.labels))[: most - most // 2]
    negative = generator.permutation(np.flatnonzero(~pairs.labels))[: most // 2]
    kept = np.sort(np.concatenate([positive, negative]))
    return PairSet(pairs.pairs[kept], pairs.labels[kept])


def held_out(
    graph: Graph, task: str, share: float, *, rng: int | np.random.Generator
) -> tuple[Graph, PairSet]:
    """Split a graph never seen in training: what may be seen of it, and pairs to judge by."""
    if task == "pair":
        split = split_pairs(graph, rng=rng, val=0.0, test=share)
    else:
        split = split_links(graph, rng=rng, val=0.0, test=share)
    return split.graph, split.test


def hide_pairs(
    graph: Graph,
    pairs: NDArray[np.int64],
    labels: NDArray[np.bool_] | None,
    *,
    rng: int | np.random.Generator,
) -> tuple[Graph, PairSet, int]:
    """Hide from the graph every edge that is asked about, so that no score can know it.

    Args:
        graph: The graph.
        pairs: Pairs to judge by, `[m, 2]`.
        labels: Whether each is a link; None if all are, and as many pairs without a link are drawn.
        rng: Seed or generator.

    Returns:
        What may be seen, the pairs with labels, and how many edges were hidden.

    Raises:
        PGNNError: If a pair is not of two nodes of the graph, no edge is left, or there are not
            enough pairs without a link.
    """
    pairs = as_pairs(pairs, graph.num_nodes)
    if (pairs[:, 0] == pairs[:, 1]).any():
        raise PGNNError("a pair must be of two different nodes (got a node with itself)")
    edges = graph.edges().astype(np.int64)
    asked = sorted_distinct(unordered_codes(pairs))
    hidden = is_among(unordered_codes(edges), asked)
    if hidden.all():
        raise PGNNError(
            f"all {len(edges)} edges of the graph are among the pairs asked about, so the model "
            "would see none; ask about fewer pairs"
        )
    seen = graph.with_edges(~hidden) if hidden.any() else graph
    if labels is None:
        joined = sorted_distinct(np.concatenate([unordered_codes(edges), asked]))
        generator = np.random.default_rng(rng)
        others = draw_non_edges(generator, joined, graph.num_nodes, len(pairs))
        return seen, PairSet.join(pairs, others), int(hidden.sum())
    return seen, PairSet(pairs, labels), int(hidden.sum())
