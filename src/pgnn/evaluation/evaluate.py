"""`evaluate`: judge a run on a graph, on pairs that are passed or held out here."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgnn import checks
from pgnn.errors import PGNNError
from pgnn.evaluation.judging import held_out, hide_pairs, judge
from pgnn.graph import Graph
from pgnn.io import id_array
from pgnn.pairs.codes import edge_codes
from pgnn.pairs.sets import PairSet
from pgnn.training.outcome import GraphFacts
from pgnn.training.runs import Run


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
        metrics: See `pgnn.evaluation.judging.judge`.
        mean_spread: Mean over the pairs of the standard deviation over anchor draws.
    """

    task: str
    model: str
    graph: GraphFacts
    pairs: str
    num_positive: int
    num_negative: int
    hidden_edges: int | None
    metrics: dict[str, float]
    mean_spread: float

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        return asdict(self)


def evaluate(
    run: Run,
    graph: Graph,
    *,
    pairs: NDArray[np.int64] | None = None,
    labels: NDArray[np.bool_] | None = None,
    share: float = 0.1,
    seed: int = 0,
) -> Evaluation:
    """Judge a run on a graph.

    - With pairs: edges among them are hidden from the model first.
    - The graph the run was trained on: its own test pairs, which training never saw.
    - Another graph: a share of its edges (task "pair": of its pairs of labelled nodes) is held out.

    Args:
        run: The run.
        graph: The graph.
        pairs: Node indices `[m, 2]`.
        labels: Whether each pair is a link (or of the same label); None if all are.
        share: How much to hold out of another graph.
        seed: Decides what is held out, and the negatives drawn for pairs without labels.

    Raises:
        PGNNError: If the graph has not what the task needs, or it is the training graph of a run
            that kept no test pairs.
    """
    checks.share("share", share)
    learner = run.learner
    hidden: int | None = 0
    if pairs is not None and learner.recipe.task == "pair":
        if labels is None:
            raise PGNNError("for task 'pair', pairs need a label column: 1 for the same label")
        seen, judged = graph, PairSet(pairs, labels)  # edges do not tell labels: none is hidden
        which = "given pairs"
    elif pairs is not None:
        seen, judged, hidden = hide_pairs(graph, pairs, labels, rng=seed)
        which = (
            "given pairs" if labels is not None else "given pairs and as many drawn without a link"
        )
    elif (own := _own_test_pairs(run, graph)) is not None:
        seen, judged = own
        hidden = None
        which = "the test pairs of the training graph, which training never saw"
    else:
        seen, judged = held_out(graph, learner.recipe.task, share, rng=seed)
        hidden = graph.num_edges - seen.num_edges
        which = f"a share of {share:g} held out of this graph, which is not the one trained on"
    scores, spread = learner.scorer(seen).with_spread(judged.pairs)
    return Evaluation(
        task=learner.recipe.task,
        model=learner.recipe.model,
        graph=GraphFacts.of(graph),
        pairs=which,
        num_positive=int(judged.labels.sum()),
        num_negative=int((~judged.labels).sum()),
        hidden_edges=hidden,
        metrics=judge(judged.labels, scores),
        mean_spread=float(spread.mean()),
    )


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
    if not np.isin(edges, codes(place[data.graph.edges()])).all():
        return None
    if not len(data.pairs):
        raise PGNNError(
            "the run was trained on this very graph and kept no test pairs of it, so nothing of it "
            "is unseen; give pairs, or another graph"
        )
    seen = np.isin(edges, codes(place[data.seen.edges()]))
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
