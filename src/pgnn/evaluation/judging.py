"""How good a learner's scores are, beside what needs no learning."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pgnn.checks import as_generator, checked, integer, number
from pgnn.errors import Parameter, PGNNError
from pgnn.evaluation.calibration import brier_score, calibration_error
from pgnn.evaluation.heuristics import all_heuristics
from pgnn.evaluation.metrics import (
    auc_difference,
    auc_interval,
    hits_at,
    mrr,
    pair_metrics,
    roc_auc,
    roc_curve,
)
from pgnn.graph import Graph
from pgnn.names import Negatives
from pgnn.pairs.codes import (
    Pairs,
    as_pairs,
    edge_codes,
    is_among,
    sorted_distinct,
    unordered_codes,
)
from pgnn.pairs.negatives import draw_negatives
from pgnn.training.splits import MOST_HELD_OUT, PairSet, split_links, split_pairs

Scores = NDArray[np.floating]

HITS = (10, 50, 100)
_MOST_PAIRS = 200_000  # of a graph, that heuristics are judged by: half a minute at most
_ROC_POINTS = 200


@checked
@dataclass(frozen=True)
class Judgement:
    """How good scores of some pairs are.

    Attributes:
        num_pairs: How many pairs were scored.
        metrics: `roc_auc`, `average_precision`, `hits@K`, `mrr`; of several graphs, means. Of a
            model's scores also `auc_low` and `auc_high`, between which the AUC lies with 95%
            confidence, and of chances `brier` and `calibration_error`. Where links are ordered,
            `direction_auc`; across two kinds of nodes, `hits@10_per_node`; see `judge_more`.
        roc: The ROC curve, `fpr` and `tpr`, of one graph; None where there is no one curve.
    """

    num_pairs: int
    metrics: dict[str, float]
    roc: dict[str, list[float]] | None = None

    @checked
    def with_metrics(self, more: Mapping[str, float]) -> Judgement:
        """Return it with more metrics."""
        return replace(self, metrics=self.metrics | dict(more))

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        return {"num_pairs": self.num_pairs, "metrics": self.metrics, "roc": self.roc}

    @classmethod
    @checked
    def from_json(cls, document: Mapping[str, Any], num_pairs: int) -> Judgement:
        """Read what `to_json` gave; `num_pairs` where an older version did not say.

        Raises:
            PGNNError: If something is missing or of another kind.
        """
        metrics = read_metrics(document.get("metrics"))
        count = integer("num_pairs", document.get("num_pairs", num_pairs), at_least=0)
        return cls(count, metrics, read_curve(document.get("roc")))


def read_metrics(values: Any) -> dict[str, float]:
    """Return metrics by name as a JSON document has them, each a number.

    Raises:
        PGNNError: If they are something else.
    """
    if not isinstance(values, dict):
        raise PGNNError("metrics must be numbers by name")
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise PGNNError(f"the metric {name[:50]!r} must be a number (got {str(value)[:50]!r})")
    return {name: float(value) for name, value in values.items()}


def read_curve(roc: Any) -> dict[str, list[float]] | None:
    """Return a ROC curve as a JSON document has it.

    Raises:
        PGNNError: If it is something else.
    """
    if roc is None:
        return None
    if not isinstance(roc, dict) or set(roc) != {"fpr", "tpr"}:
        raise PGNNError("a ROC curve must have fpr and tpr")
    rates = {name: [number(name, rate) for rate in list(values)] for name, values in roc.items()}
    if len(rates["fpr"]) != len(rates["tpr"]):
        raise PGNNError("a ROC curve must have as many fpr as tpr")
    return rates


@checked
def judge(labels: ArrayLike, scores: ArrayLike) -> dict[str, float]:
    """Return ROC AUC, average precision, Hits@K and MRR of scores of pairs.

    Hits@K is left out where K is the number of negatives or more: there every positive is a hit, or
    nearly so.
    """
    metrics = pair_metrics(labels, scores)
    num_negatives = int(np.count_nonzero(~np.asarray(labels).astype(bool)))
    for k in HITS:
        if k < num_negatives:
            metrics[f"hits@{k}"] = hits_at(k, labels, scores)
    return metrics | {"mrr": mrr(labels, scores)}


@checked
def judge_graphs(pair_sets: Sequence[PairSet], scores: Sequence[Scores]) -> Judgement:
    """Judge scores of the pairs of one graph or of several; of several, metrics are means.

    Graphs whose pairs are all of one kind are left out, and so are metrics that not all graphs
    have.

    Raises:
        PGNNError: If no graph has positive and negative pairs.
    """
    if len(pair_sets) != len(scores):
        raise PGNNError(
            Parameter("scores"),
            f" must have one entry per graph, {len(pair_sets)} (got {len(scores)})",
        )
    both = [
        (pairs.labels, values)
        for pairs, values in zip(pair_sets, scores, strict=True)
        if 0 < np.count_nonzero(pairs.labels) < len(pairs)
    ]
    if not both:
        raise PGNNError("no graph has positive and negative pairs, so there is nothing to judge by")
    judged = [judge(labels, values) for labels, values in both]
    names = [name for name in judged[0] if all(name in one for one in judged)]
    metrics = {name: float(np.mean([one[name] for one in judged])) for name in names}
    curve = roc_points(*both[0]) if len(both) == 1 else None
    return Judgement(sum(len(pairs) for pairs in pair_sets), metrics, curve)


def roc_points(labels: ArrayLike, scores: ArrayLike) -> dict[str, list[float]]:
    """Return the ROC curve, thinned to a few hundred points."""
    false, true = roc_curve(labels, scores)
    kept = np.unique(np.linspace(0, len(false) - 1, min(len(false), _ROC_POINTS)).astype(int))
    return {"fpr": false[kept].tolist(), "tpr": true[kept].tolist()}


# ---------------------------------------------------------------------- models


@dataclass(frozen=True)
class ModelJudgement:
    """How good a model's scores of test pairs are, and how good where hiding helped nobody.

    Attributes:
        test: Of all pairs.
        base_rate: The share of links among the pairs, which chances are stated for.
        lone_pairs: How many pairs have a node without edges in what the model saw. Such a node is
            almost always the end of a hidden edge, which flatters a model that reads degrees.
        without_lone: Of the other pairs; None if there are no lone pairs, or the others are all of
            one kind.
    """

    test: Judgement
    base_rate: float
    lone_pairs: int
    without_lone: Judgement | None


def judge_model(
    tested: Sequence[tuple[Graph, PairSet]],
    scores: Sequence[Scores],
    *,
    base_rate: float | None,
    hidden: bool = True,
) -> ModelJudgement:
    """Judge a model's scores of the pairs of one graph or of several.

    Args:
        tested: What the model saw of each graph, and the pairs it was asked about.
        scores: One array per graph.
        base_rate: The share of links that the scores are chances for; None if they are no chances,
            and so have no Brier score and calibration error.
        hidden: Whether edges were hidden, so that there may be lone nodes.

    Raises:
        PGNNError: If no graph has positive and negative pairs.
    """
    pair_sets = [pairs for _, pairs in tested]
    test = _judge_scores(pair_sets, scores, chances=base_rate is not None)
    lone = [has_lone_node(graph, pairs.pairs) & hidden for graph, pairs in tested]
    num_lone = sum(int(np.count_nonzero(each)) for each in lone)
    others = None
    if num_lone:
        kept = [
            PairSet(p.pairs[~each], p.labels[~each])
            for p, each in zip(pair_sets, lone, strict=True)
        ]
        if any(0 < np.count_nonzero(pairs.labels) < len(pairs) for pairs in kept):
            of_kept = [values[~each] for values, each in zip(scores, lone, strict=True)]
            others = replace(_judge_scores(kept, of_kept, chances=False), roc=None)
    rate = share_of_links(pair_sets) if base_rate is None else base_rate
    return ModelJudgement(test, rate, num_lone, others)


MODEL = "model"  # what `judge_more` calls the scores it was passed
PER_NODE = "hits@10_per_node"
_PER_NODE_PAIRS = 60_000  # most pairs that are scored to rank nodes for nodes


def judge_more(
    seen: Graph,
    pairs: PairSet,
    score: Callable[[Pairs], NDArray[np.float64]],
    *,
    heuristics: bool = True,
    rng: int | np.random.Generator = 0,
) -> dict[str, dict[str, float]]:
    """Judge what a set of pairs does not tell: directions, and what is best for each node.

    - Where links are ordered, `direction_auc`: the area under the ROC curve of hidden links against
      the same pairs turned round, those left out that are edges both ways. A score that does not
      know directions has 0.5.
    - Across two kinds of nodes, `hits@10_per_node`: for each left node with hidden links, all right
      nodes that it is not seen joined to are ranked, and a hidden link that fewer than ten of
      those without a link outrank is a hit. The mean over left nodes (a sample of very many) of the
      share of their hidden links that are hits.

    Args:
        seen: What a model may see of the graph.
        pairs: The pairs it is judged by.
        score: Scores pairs, `[m, 2]` to `[m]`.
        heuristics: Whether to judge scores that need no learning as well.
        rng: Seed or generator for the sample.

    Returns:
        Metrics by the name of a heuristic; those of `score` under "model".
    """
    scores: dict[str, NDArray[np.float64]]
    if seen.has_ordered_links:
        known = np.concatenate([seen.edges(), pairs.positives])
        edges = np.sort(edge_codes(known, seen.num_nodes, directed=True))
        back = edge_codes(pairs.positives[:, ::-1], seen.num_nodes, directed=True)
        links = pairs.positives[~is_among(back, edges)]
        if not len(links):
            return {}
        both = np.concatenate([links, links[:, ::-1]])
        labels = np.arange(len(both)) < len(links)
        scores = {MODEL: score(both), **(all_heuristics(seen, both) if heuristics else {})}
        return {name: {"direction_auc": roc_auc(labels, s)} for name, s in scores.items()}
    sides = seen.sides
    if sides is None or sides.same or not pairs.labels.any():
        return {}
    links = sides.left_first(pairs.positives)
    nodes = as_generator(rng).permutation(np.unique(links[:, 0]))
    nodes = nodes[: max(1, _PER_NODE_PAIRS // len(sides.right_nodes))]
    ranked = np.stack(
        [np.repeat(nodes, len(sides.right_nodes)), np.tile(sides.right_nodes, len(nodes))], axis=1
    )
    joined = sorted_distinct(unordered_codes(seen.edges().astype(np.int64)))
    ranked = ranked[~is_among(unordered_codes(ranked), joined)]
    hidden = is_among(unordered_codes(ranked), sorted_distinct(unordered_codes(links)))
    scores = {MODEL: score(ranked), **(all_heuristics(seen, ranked) if heuristics else {})}
    starts = np.flatnonzero(np.diff(ranked[:, 0], prepend=-1))[1:]
    parts = [p for p in np.split(np.arange(len(ranked)), starts) if 0 < hidden[p].sum() < len(p)]
    if not parts:
        return {}
    return {
        name: {PER_NODE: float(np.mean([hits_at(10, hidden[p], s[p]) for p in parts]))}
        for name, s in scores.items()
    }


def share_of_links(pair_sets: Sequence[PairSet]) -> float:
    """Return the share of positive pairs among all pairs of some graphs.

    Raises:
        PGNNError: If there are only positive or only negative pairs.
    """
    labels = np.concatenate([pairs.labels for pairs in pair_sets])
    if labels.all() or not labels.any():
        raise PGNNError(
            f"both classes are needed (got {int(labels.sum())} positive and "
            f"{int((~labels).sum())} negative pairs)"
        )
    return float(labels.mean())


def has_lone_node(graph: Graph, pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether each pair has a node that no edge leads to or from."""
    joined = np.zeros(graph.num_nodes, dtype=bool)
    joined[graph.edges().ravel()] = True
    return np.asarray(~joined[pairs].all(axis=1))


def _judge_scores(
    pair_sets: Sequence[PairSet], scores: Sequence[Scores], *, chances: bool
) -> Judgement:
    """Judge scores, with the interval of their AUC."""
    judged = judge_graphs(pair_sets, scores)
    labels, values, groups = _together(pair_sets, scores)
    area = auc_interval(labels, values, groups=groups)
    more = {"auc_low": area.low, "auc_high": area.high}
    if chances:
        more["brier"] = brier_score(labels, values)
        more["calibration_error"] = calibration_error(labels, values)
    return replace(judged, metrics=judged.metrics | more)


def _together(
    pair_sets: Sequence[PairSet], scores: Sequence[Scores]
) -> tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.int64] | None]:
    """Return labels and scores of all pairs, and the graph of each; None for a single graph."""
    labels = np.concatenate([pairs.labels for pairs in pair_sets])
    values = np.concatenate([np.asarray(each, dtype=np.float64) for each in scores])
    sizes = [len(pairs) for pairs in pair_sets]
    return labels, values, None if len(sizes) == 1 else np.repeat(np.arange(len(sizes)), sizes)


# ---------------------------------------------------------------------- heuristics


class Verdict(NamedTuple):
    """What a comparison of a model with heuristics comes to.

    Attributes:
        sentence: For people: the winner, the margin, its interval, and what to do.
        as_good: The heuristic that is as good as the model or better; None if there is none.
    """

    sentence: str
    as_good: str | None


@dataclass(frozen=True, eq=False)
class Peers:
    """Scores that need no learning, of the pairs of one graph or of several.

    Attributes:
        rows: Which of each graph's pairs were scored: all, or a sample of very many.
        pair_sets: These pairs.
        scores: By the heuristic's name, one array per graph.
    """

    rows: list[NDArray[np.int64]]
    pair_sets: list[PairSet]
    scores: dict[str, list[Scores]]

    def judged(self) -> dict[str, Judgement]:
        """Judge each heuristic."""
        return {name: judge_graphs(self.pair_sets, each) for name, each in self.scores.items()}

    def verdict(self, model: str, scores: Sequence[Scores]) -> Verdict:
        """Say which is best, the model or a heuristic, by how much, how surely, and what to do.

        The model is compared with the heuristic of the largest AUC, both on the same bootstrap
        samples of the pairs.

        Args:
            model: The model's name.
            scores: Its scores of all pairs of each graph.
        """
        own = [np.asarray(each)[rows] for each, rows in zip(scores, self.rows, strict=True)]
        areas = {name: judged.metrics["roc_auc"] for name, judged in self.judged().items()}
        peer = max(areas, key=lambda name: areas[name])
        labels, values, groups = _together(self.pair_sets, own)
        _, others, _ = _together(self.pair_sets, self.scores[peer])
        more = auc_difference(labels, values, others, groups=groups)
        area, low, high = areas[peer] + more.value, more.low, more.high
        use_peer = f"`pgnn predict RUN GRAPH --model {shlex.quote(peer)}`"
        if low > 0:
            return Verdict(
                f"{model} is best: AUC {area:.3f}, {more.value:.3f} above {peer} "
                f"(95% interval {low:.3f} to {high:.3f}: more than chance); use "
                "`pgnn predict RUN GRAPH`.",
                None,
            )
        if high < 0:
            return Verdict(
                f"{peer} is best: AUC {areas[peer]:.3f}, {-more.value:.3f} above {model} "
                f"(95% interval {-high:.3f} to {-low:.3f}: more than chance); use {use_peer}.",
                peer,
            )
        return Verdict(
            f"{model} (AUC {area:.3f}) is no different from {peer} ({areas[peer]:.3f}) as far as "
            f"{len(labels):,} pairs tell (difference {more.value:.3f}, 95% interval {low:.3f} to "
            f"{high:.3f}); {peer} is as good: use {use_peer}.",
            peer,
        )


def score_heuristics(
    tested: Sequence[tuple[Graph, PairSet]], *, rng: int | np.random.Generator = 0
) -> Peers:
    """Score the pairs of one graph or of several without learning.

    Of a graph with very many pairs a sample is scored. A heuristic that one of the graphs is too
    large for is left out.
    """
    generator = as_generator(rng)
    if len(tested) == 0:
        raise PGNNError(Parameter("tested"), " must be at least one graph and its pairs")
    rows = [_sample(pairs, _MOST_PAIRS, generator) for _, pairs in tested]
    pair_sets = [
        PairSet(pairs.pairs[chosen], pairs.labels[chosen])
        for (_, pairs), chosen in zip(tested, rows, strict=True)
    ]
    scored = [
        all_heuristics(graph, pairs.pairs)
        for (graph, _), pairs in zip(tested, pair_sets, strict=True)
    ]
    names = [name for name in scored[0] if all(name in each for each in scored)]
    return Peers(rows, pair_sets, {name: [each[name] for each in scored] for name in names})


@checked
def judge_heuristics(
    tested: Sequence[tuple[Graph, PairSet]], *, rng: int | np.random.Generator = 0
) -> dict[str, Judgement]:
    """Judge scores that need no learning on the pairs of one graph or of several.

    Of a graph with very many pairs they are judged on a sample; `num_pairs` says of how many.
    """
    return score_heuristics(tested, rng=rng).judged()


def _sample(pairs: PairSet, most: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Return the rows of at most this many pairs, of both kinds alike."""
    if len(pairs) <= most:
        return np.arange(len(pairs))
    positive = generator.permutation(np.flatnonzero(pairs.labels))[: most - most // 2]
    negative = generator.permutation(np.flatnonzero(~pairs.labels))[: most // 2]
    return np.sort(np.concatenate([positive, negative]))


# ---------------------------------------------------------------------- pairs to judge by


def held_out(
    graph: Graph,
    task: str,
    share: float,
    *,
    rng: int | np.random.Generator,
    negatives: Negatives = "uniform",
    ordered: bool = False,
) -> tuple[Graph, PairSet]:
    """Split a graph never seen in training: what may be seen of it, and pairs to judge by."""
    if task == "pair":
        split = split_pairs(graph, rng=rng, val=0.0, test=share)
    else:
        split = split_links(
            graph,
            rng=rng,
            val=0.0,
            test=share,
            negatives=negatives,
            ordered=ordered,
            most=MOST_HELD_OUT,
            train_negatives=share * graph.num_edges <= MOST_HELD_OUT,
        )
    return split.graph, split.test


def hide_pairs(
    graph: Graph,
    pairs: NDArray[np.int64],
    labels: NDArray[np.bool_] | None,
    *,
    rng: int | np.random.Generator,
    negatives: Negatives = "uniform",
    ordered: bool = False,
) -> tuple[Graph, PairSet, int]:
    """Hide from the graph every edge that is asked about, so that no score can know it.

    Args:
        graph: The graph.
        pairs: Pairs to judge by, `[m, 2]`.
        labels: Whether each is a link; None if all are, and as many pairs without a link are drawn.
        rng: Seed or generator.
        negatives: Which pairs without a link are drawn, see
            `pgnn.pairs.negatives.draw_negatives`.
        ordered: Whether pairs are ordered, so that of a two-way edge only the direction that is
            asked about is hidden.

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
    codes_asked = sorted_distinct(unordered_codes(pairs))
    hidden = is_among(unordered_codes(edges), codes_asked)
    if ordered:
        codes = np.sort(edge_codes(pairs, graph.num_nodes, directed=True))
        hidden = is_among(edge_codes(edges, graph.num_nodes, directed=True), codes)
    if hidden.all():
        raise PGNNError(
            f"all {len(edges)} edges of the graph are among the pairs asked about, so the model "
            "would see none; ask about fewer pairs"
        )
    seen = graph.with_edges(~hidden) if hidden.any() else graph
    if labels is None:
        joined = sorted_distinct(np.concatenate([unordered_codes(edges), codes_asked]))
        generator = as_generator(rng)
        others = draw_negatives(generator, seen, joined, len(pairs), kind=negatives)
        return seen, PairSet.join(pairs, others), int(hidden.sum())
    return seen, PairSet(pairs, labels), int(hidden.sum())
