"""`evaluate`: judge a run on a graph, on pairs that are passed or held out here."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgnn import checks
from pgnn.checks import checked
from pgnn.errors import Parameter, PGNNError
from pgnn.evaluation.judging import (
    MODEL,
    Judgement,
    held_out,
    hide_pairs,
    judge_model,
    judge_more,
    score_heuristics,
    share_of_links,
)
from pgnn.graph import Graph
from pgnn.io import Events, id_array
from pgnn.names import NEGATIVES, Negatives
from pgnn.pairs.codes import as_pairs, edge_codes, is_among, sorted_distinct, unordered_codes
from pgnn.pairs.negatives import draw_negatives
from pgnn.pairs.sets import PairSet
from pgnn.training.outcome import GraphFacts
from pgnn.training.pair_learner import PairLearner
from pgnn.training.runs import Run
from pgnn.training.splits import TimeFacts, split_by_time

_DRAWN = {  # what is said of negatives that are drawn here
    "uniform": "as many drawn without a link",
    "two-hop": "as many drawn two hops apart",
    "degree": "as many drawn by degree",
}


@dataclass(frozen=True, eq=False)
class ScoredPairs:
    """What a run says about each pair it was judged by.

    Attributes:
        pairs: The pairs and their labels.
        scores: The chance of each for the base rate, `[m]`.
        spread: Its standard deviation over the members of the model, or over draws of anchor-sets.
    """

    pairs: PairSet
    scores: NDArray[np.float64]
    spread: NDArray[np.float64]


@dataclass(frozen=True)
class Evaluation:
    """How good a run is on some pairs of a graph.

    Attributes:
        task: "link" or "pair".
        model: Name of the model.
        graph: What the pairs are of.
        pairs: Which pairs, in words.
        num_positive: How many are links, or of the same label.
        num_negative: How many are not.
        hidden_edges: How many edges of the graph were hidden from the model before it was asked;
            None for the test pairs of its own training graph, whose edges were hidden in training.
        metrics: See `pgnn.evaluation.judging.Judgement`.
        direction_auc: Of links against the same pairs turned round; None where links have no
            direction.
        mean_spread: Mean over the pairs of the standard deviation of the chance.
        base_rate: The share of links that chances are stated for.
        lone_pairs: How many pairs have a node without edges in what the model saw.
        without_lone: How good the run is on the other pairs; None if there are no lone pairs, or
            the others are all of one kind.
        repeated_pairs: How many of the pairs that were passed repeat another, and were left out.
        verdict: A sentence: which is best, the run or a heuristic, by how much, whether that is
            more than chance, and what to do.
        as_good: The heuristic that is as good as the run or better; None if there is none.
        scored: The pairs and what the run says about each; not in the JSON form.
        time: How events were split into past and future; None without times.
    """

    task: str
    model: str
    graph: GraphFacts
    pairs: str
    num_positive: int
    num_negative: int
    hidden_edges: int | None
    metrics: dict[str, float]
    direction_auc: float | None
    mean_spread: float
    base_rate: float
    lone_pairs: int
    without_lone: Judgement | None
    repeated_pairs: int
    verdict: str
    as_good: str | None
    scored: ScoredPairs = field(compare=False, repr=False)
    time: TimeFacts | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        document = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "scored"}
        others = None if self.without_lone is None else self.without_lone.to_json()
        time = None if self.time is None else asdict(self.time)
        return document | {"graph": asdict(self.graph), "without_lone": others, "time": time}


@checked
def evaluate(
    run: Run,
    graph: Graph,
    *,
    pairs: NDArray[np.int64] | None = None,
    labels: NDArray[np.bool_] | None = None,
    share: float = 0.1,
    negatives: Negatives | None = None,
    base_rate: float | None = None,
    seed: int = 0,
) -> Evaluation:
    """Judge a run on a graph.

    - With pairs: edges among them are hidden from the model first. A pair that is repeated (turned
      round, too, unless the graph is directed) counts once.
    - The graph the run was trained on: its own test pairs, which training never saw.
    - Another graph: a share of its edges (task "pair": of its pairs of labelled nodes) is held out.

    Args:
        run: The run.
        graph: The graph.
        pairs: Node indices `[m, 2]`.
        labels: Whether each pair is a link (or of the same label); None if all are.
        share: How much to hold out of another graph.
        negatives: Which pairs without a link are drawn, see
            `pgnn.pairs.negatives.draw_negatives`; by default uniform ones. Of the training graph's
            own test pairs, the links are kept and other negatives are drawn for them; by default,
            those of training.
        base_rate: The share of links that chances are stated for, by default that among the pairs.
            Brier score and calibration error are small only if it is near that.
        seed: Decides what is held out, and which negatives are drawn.

    Raises:
        PGNNError: If the graph has not what the task needs, or it is the training graph of a run
            that kept no test pairs; if a pair is of a node with itself, or is repeated with
            another label.
    """
    checks.share("share", share)
    if base_rate is not None:
        checks.share("base_rate", base_rate)
    learner = run.learner
    _check_negatives(negatives, learner.recipe.task, labelled=labels is not None)
    kind: Negatives = negatives or "uniform"
    ordered = isinstance(learner, PairLearner) and learner.links == "ordered"
    hidden: int | None = 0
    num_repeated = 0
    if pairs is not None:
        directed = graph.directed and learner.recipe.task == "link"
        pairs, labels, num_repeated = _each_once(graph, pairs, labels, directed=directed)
    if pairs is not None and learner.recipe.task == "pair":
        if labels is None:
            raise PGNNError("for task 'pair', pairs need a label column: 1 for the same label")
        seen, judged = graph, PairSet(pairs, labels)  # edges do not tell labels: none is hidden
        which = "given pairs"
    elif pairs is not None:
        seen, judged, hidden = hide_pairs(
            graph, pairs, labels, rng=seed, negatives=kind, ordered=ordered
        )
        which = "given pairs" if labels is not None else f"given pairs and {_DRAWN[kind]}"
    elif (own := _own_test_pairs(run, graph)) is not None:
        seen, judged = own
        hidden = None
        which = "the test pairs of the training graph, which training never saw"
        if negatives is not None:
            judged = _with_negatives(graph, seen, judged.positives, kind, seed)
            which = f"the test links of the training graph, and {_DRAWN[kind]}"
    else:
        seen, judged = held_out(
            graph, learner.recipe.task, share, rng=seed, negatives=kind, ordered=ordered
        )
        hidden = graph.num_edges - seen.num_edges
        which = f"a share of {share:g} held out of this graph, which is not the one trained on"
        if kind != "uniform":
            which = f"{which}, and {_DRAWN[kind]}"
    rate = share_of_links([judged]) if base_rate is None else base_rate
    scorer = learner.scorer(seen)
    scores, spread = scorer.with_spread(judged.pairs, base_rate=rate)
    is_link = learner.recipe.task == "link"
    result = judge_model([(seen, judged)], [scores], base_rate=rate, hidden=is_link)
    more = judge_more(seen, judged, scorer.logits, heuristics=False) if is_link else {}
    metrics = result.test.metrics | more.get(MODEL, {})
    verdict = score_heuristics([(seen, judged)]).verdict(learner.recipe.model, [scores])
    return Evaluation(
        task=learner.recipe.task,
        model=learner.recipe.model,
        graph=GraphFacts.of(graph),
        pairs=which,
        num_positive=int(judged.labels.sum()),
        num_negative=int((~judged.labels).sum()),
        hidden_edges=hidden,
        metrics=metrics,
        direction_auc=metrics.get("direction_auc"),
        mean_spread=float(spread.mean()),
        base_rate=rate,
        lone_pairs=result.lone_pairs,
        without_lone=result.without_lone,
        repeated_pairs=num_repeated,
        verdict=verdict.sentence,
        as_good=verdict.as_good,
        scored=ScoredPairs(judged, scores, spread),
    )


def evaluate_by_time(
    run: Run,
    events: Events,
    *,
    test_from: str | None = None,
    share: float = 0.1,
    negatives: Negatives | None = None,
    base_rate: float | None = None,
    seed: int = 0,
) -> tuple[Evaluation, Graph]:
    """Judge a run by links of the future, which the model sees nothing of.

    Args:
        run: A run of task "link".
        events: Edges with times.
        test_from: Where the future begins. By default where it began when the run was trained; for
            the graph of the run these are its own test pairs.
        share: If neither is known, how much of the new links to leave to the future.
        negatives: As for `evaluate`.
        base_rate: As for `evaluate`.
        seed: Decides which negatives are drawn.

    Returns:
        The result, and the graph of the past, whose nodes the pairs are of.

    Raises:
        PGNNError: If there is no past, or the future has no new links of known nodes.
    """
    before = None
    known = run.outcome.time
    if test_from is not None:
        before = events.scale.earliest("test_from", test_from)
    elif known is not None and known.test_from is not None:
        before = events.scale.earliest("test_from", known.test_from)
        past = events.times < before
        if past.any():
            graph = events.graph(before=before)
            if _own_test_pairs(run, graph) is not None:
                options: dict[str, Any] = {"negatives": negatives, "base_rate": base_rate}
                own = evaluate(run, graph, **options, seed=seed)
                return replace(own, time=known), graph
        if past.all() or not past.any():
            before = None  # a file of another time
    parts = split_by_time(
        events, rng=seed, test_from=before, test=share, negatives=negatives or "uniform"
    )
    test = parts.split.test
    judged = evaluate(run, parts.graph, pairs=test.pairs, labels=test.labels, base_rate=base_rate)
    kind = _DRAWN[negatives or "uniform"].replace("without a link", "of pairs never linked")
    which = f"links that are new from {parts.facts.test_from} on, and {kind}"
    return replace(judged, pairs=which, time=parts.facts), parts.graph


def _check_negatives(negatives: str | None, task: str, *, labelled: bool) -> None:
    if negatives is None:
        return
    checks.one_of("negatives", negatives, NEGATIVES)
    if task == "pair":
        raise PGNNError(Parameter("negatives"), " is for runs of task 'link'; leave it out")
    if labelled:
        raise PGNNError(
            Parameter("negatives"), " is for pairs that are drawn, and these pairs have labels; "
            "leave it out",
        )  # fmt: skip


def _each_once(
    graph: Graph,
    pairs: NDArray[np.int64],
    labels: NDArray[np.bool_] | None,
    *,
    directed: bool,
) -> tuple[NDArray[np.int64], NDArray[np.bool_] | None, int]:
    """Return each pair once, in the order of the first of its kind, and how many repeat another."""
    pairs = as_pairs(pairs, graph.num_nodes)
    if (pairs[:, 0] == pairs[:, 1]).any():
        raise PGNNError("a pair must be of two different nodes (got a node with itself)")
    codes = edge_codes(pairs, graph.num_nodes, directed=directed)
    _, first, which = np.unique(codes, return_index=True, return_inverse=True)
    kept = np.sort(first)
    if labels is None:
        return pairs[kept], None, len(pairs) - len(kept)
    truth = checks.numbers("labels", labels, None).astype(bool)
    if truth.shape != (len(pairs),):
        raise PGNNError(
            Parameter("labels"),
            f" must have one entry per pair, [{len(pairs)}] (got {list(truth.shape)})",
        )
    other = np.flatnonzero(truth != truth[first][which])
    if len(other):
        u, v = id_array(graph)[pairs[other[0]]].tolist()
        raise PGNNError(
            f"the pair of {u!r} and {v!r} is listed with label 1 and with label 0; leave one out"
        )
    return pairs[kept], truth[kept], len(pairs) - len(kept)


def _with_negatives(
    graph: Graph, seen: Graph, links: NDArray[np.int64], kind: Negatives, seed: int
) -> PairSet:
    """Return links and as many pairs of another kind that no edge of the whole graph joins."""
    joined = sorted_distinct(unordered_codes(graph.edges().astype(np.int64)))
    generator = np.random.default_rng(checks.integer("seed", seed, at_least=0))
    drawn = draw_negatives(generator, seen, joined, len(links), kind=kind)
    return PairSet.join(links, drawn)


def _own_test_pairs(run: Run, graph: Graph) -> tuple[Graph, PairSet] | None:
    """Return what training saw of this graph and its test pairs, if it is the graph of the run.

    It is if the edges are the same, by the nodes' ids: files may list nodes in another order.
    """
    facts = run.outcome.graph
    same_size = (graph.num_nodes, graph.num_edges, graph.directed) == (
        facts.nodes,
        facts.edges,
        facts.directed,
    )
    if facts.graphs == 1 and facts.nodes and not same_size:
        return None  # told apart without reading the graph of the run
    data = run.data
    if (graph.num_nodes, graph.num_edges, graph.directed) != (
        data.graph.num_nodes,
        data.graph.num_edges,
        data.graph.directed,
    ):
        return None
    place = _places(data.graph, graph)

    def codes(pairs: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        return edge_codes(pairs, graph.num_nodes, directed=graph.directed)

    edges = codes(graph.edges())
    if not is_among(edges, np.sort(codes(place[data.graph.edges()]))).all():
        return None
    if not len(data.pairs):
        raise PGNNError(
            "the run was trained on this very graph and kept no test pairs of it, so nothing of it "
            "is unseen; give pairs, or another graph"
        )
    seen = is_among(edges, np.sort(codes(place[data.seen.edges()])))
    return graph.with_edges(seen), PairSet(place[data.pairs.pairs], data.pairs.labels)


def _places(before: Graph, now: Graph) -> NDArray[np.int64]:
    """Return where each node of a graph is in another: by its id, or as it was for other ids."""
    old, new = id_array(before), id_array(now)
    by_old, by_new = np.argsort(old), np.argsort(new)
    if not np.array_equal(old[by_old], new[by_new]):
        return np.arange(before.num_nodes)
    places = np.empty_like(by_new)
    places[by_old] = by_new
    return places
