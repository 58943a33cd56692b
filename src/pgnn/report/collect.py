"""From a run directory to what its page shows. Only this file reads runs, learners and outcomes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgnn.checks import checked, positive_integer
from pgnn.evaluation.calibration import NUM_BINS, ReliabilityBin, reliability
from pgnn.experiments.config import COLUMNS
from pgnn.experiments.render import PPI_NOTE
from pgnn.graph import Graph
from pgnn.io import id_array
from pgnn.names import LABELS
from pgnn.nn import PRESETS
from pgnn.pairs.codes import edge_codes, is_among
from pgnn.positions import anchor_distances, anchor_ppr
from pgnn.positions.anchors import AnchorSets, sample_anchor_sets
from pgnn.prediction.explain import first_reasons
from pgnn.prediction.ranking import Predictions, predict
from pgnn.report.links import Surroundings
from pgnn.report.run import Link, Positions, Row, RunReport
from pgnn.training.pair_learner import PairLearner
from pgnn.training.runs import Run

# Metrics of the model alone: a column of one number compares nothing.
_OF_MODELS = ("auc_low", "auc_high", "brier", "calibration_error")
_MAX_SETS = 64  # a reader looks at a few; each adds a column of numbers to the page
_MOST_EMBEDDED = 1 << 26  # numbers of an embedding that is computed for the page
_LEAST = 1e-9  # below it a share of PageRank is none
_REASONED = 10  # links whose reasons are found, in graphs with at most so many edges:
_REASONED_EDGES = 20_000
_SIMILAR_TO = 5  # nodes whose most similar nodes are listed
_SEARCHED = 200  # links that a search in the page looks through
_PAIRS_PER_BIN = 20  # on average; the share of fewer says little
_MOST_PAIRS = 50_000  # that chances are compared with shares by


@checked
def collect_run(run: Run, *, top: int = 20) -> RunReport:
    """Gather the results, curves, positions, embeddings and predictions of a run.

    Args:
        run: The run.
        top: How many predicted links to list.

    Raises:
        PGNNError: If `top` is not positive.
    """
    top = positive_integer("top", top)
    learner, outcome = run.learner, run.outcome
    positions = measure_positions(run)
    links, links_text = _links(run, top)
    calibration = _calibration(run)
    return RunReport(
        title=f"{_label(run)} on {_graph_name(run) or 'a graph'}",
        verdict=_verdict(run),
        about=_about(run, positions),
        facts=_facts(run),
        rows=_rows(run),
        history=run.history,
        best_epoch=outcome.best_epoch,
        roc=_curves(run),
        graph=run.data.seen,
        positions=positions,
        reading=_reading(run, positions),
        embedding=_embedding(run, positions),
        links=links,
        links_title="Most likely missing links" if outcome.task == "link" else "Most similar nodes",
        links_text=links_text,
        num_listed=top,
        held_out=_held_out(run),
        calibration=calibration,
        calibration_text=_calibration_text(run),
        notes=_notes(run),
        num_sets=learner.num_sets or None,
    )


def _label(run: Run) -> str:
    return LABELS.get(run.outcome.model, run.outcome.model)


def _graph_name(run: Run) -> str:
    return str(run.config.get("train", {}).get("graph", ""))


# ---------------------------------------------------------------------- positions


def measure_positions(run: Run) -> Positions:
    """Draw anchor-sets as the recipe does, and measure to them as the model does.

    A P-GNN reads hops, cut where its preset says, or lengths, or PageRank. `pgnn-best` embeds nodes
    by PageRank. A baseline reads nothing of the kind; for it, hops show what a P-GNN would read.
    """
    learner, seen = run.learner, run.data.seen
    sets = sample_anchor_sets(
        seen.num_nodes,
        num_sets=min(learner.num_sets or _MAX_SETS, _MAX_SETS),
        scheme=learner.recipe.scheme,
        rng=learner.recipe.seed,
    )
    if isinstance(learner, PairLearner):
        return _pagerank(_strengths(seen, learner.recipe.weights), sets, alpha=0.15)
    preset = PRESETS.get(learner.recipe.model)
    if preset is None:
        return Positions(sets, _hops(replace(seen, weights=None), sets, None))
    graph = learner.ready(seen)
    if preset.proximity == "ppr":
        return _pagerank(graph, sets, alpha=preset.alpha)
    kind: Any = "hops" if graph.weights is None else "lengths"
    return Positions(sets, _hops(graph, sets, preset.cutoff), kind, preset.cutoff)


def _embedding(run: Run, positions: Positions) -> NDArray[Any]:
    """Return where the model puts nodes; of a large graph as far as the positions here tell.

    `pgnn-best` embeds nodes by the logarithm of PageRank to more sets, which takes minutes there,
    and the page maps a few thousand nodes.
    """
    learner, seen = run.learner, run.data.seen
    is_large = seen.num_nodes * learner.embedding_width > _MOST_EMBEDDED
    if not is_large or not isinstance(learner, PairLearner):
        return learner.embed(seen)
    near = np.log(np.maximum(positions.values, _LEAST))
    near -= near.mean(axis=0)
    return np.asarray(near / np.maximum(near.std(axis=0), 1e-6), dtype=np.float32)


def _hops(graph: Graph, sets: AnchorSets, cutoff: int | None) -> NDArray[Any]:
    distances = anchor_distances(graph, sets, cutoff=cutoff)
    return np.asarray(distances.hops if distances.hops is not None else distances.lengths)


def _pagerank(graph: Graph, sets: AnchorSets, *, alpha: float) -> Positions:
    """Return shares of a walk's time: the mean over a set's nodes, times their number."""
    return Positions(sets, anchor_ppr(graph, sets, alpha=alpha) * sets.sizes, "pagerank")


def _strengths(graph: Graph, meaning: str) -> Graph:
    """Return a graph whose weights are strengths, which a walk follows."""
    if graph.weights is None or meaning == "strength":
        return graph
    return replace(graph, weights=1 / graph.weights)


# ---------------------------------------------------------------------- words


def _about(run: Run, positions: Positions) -> str:
    """Say what the model reads, in words that are true of this model."""
    model, label = run.outcome.model, _label(run)
    walk = (
        "how much of its time a random walk from the node spends on each of them "
        "(personalised PageRank)"
    )
    if isinstance(run.learner, PairLearner):
        features = ", and at the features of both" if run.learner.num_features else ""
        return (
            f"{label} judges pairs of nodes. It looks at how close the two are to each other "
            "(walks, PageRank, neighbours they share), at how far each is from the same random "
            f"groups of nodes, the anchor-sets{features}. The embedding of a node says where the "
            f"node is: {walk}."
        )
    if model == "mlp":
        return (
            "An MLP is a neural network that does not read the graph; it is here to compare with. "
            "It makes the embedding of a node, a list of numbers, from the node's features alone."
        )
    if model not in PRESETS:
        return (
            f"{label} is a graph neural network without anchor-sets; it is here to compare with. "
            "It makes the embedding of a node, a list of numbers, from the features of the node "
            "and of its neighbourhood, and does not know where in the graph the node is."
        )
    near = "the nearest node of each"
    how = {
        "hops": f"its number of hops to {near}",
        "lengths": f"the length of its shortest path to {near}",
        "pagerank": walk,
    }[positions.kind]
    if positions.cutoff is not None:
        how += f", counted up to {positions.cutoff} and no farther"
    return (
        "A P-GNN learns where nodes are in a graph. It draws random groups of nodes, the "
        f"anchor-sets, and describes every node by {how}. From these numbers it learns an "
        "embedding, a list of numbers for each node, such that nodes that belong together get "
        "similar numbers."
    )


def _reading(run: Run, positions: Positions) -> str:
    count = run.learner.num_sets
    name = "share" if positions.kind == "pagerank" else "distance"
    names = f"{count:,} such {name}{'' if count == 1 else 's'}"
    if isinstance(run.learner, PairLearner):
        return f"The embedding of a node is made of {names}."
    if count == 0:
        return f"{_label(run)} does not read such distances; a P-GNN would."
    return f"{_label(run)} describes a node by {names}."


def _facts(run: Run) -> list[tuple[str, str]]:
    outcome, graph, recipe = run.outcome, run.data.graph, run.learner.recipe
    features = run.learner.num_features
    name = _graph_name(run)
    description = [
        *([name] if name else []),
        f"{graph.num_nodes:,} nodes",
        f"{graph.num_edges:,} edges",
        *(["directed"] if graph.directed else []),
        *([f"weighted ({recipe.weights})"] if graph.weights is not None else []),
        *([f"{features} feature{'s' if features > 1 else ''} per node"] if features else []),
        *([f"{graph.num_classes} labels"] if graph.y is not None else []),
    ]
    question = (
        "is there an edge between two nodes?"
        if outcome.task == "link"
        else "do two nodes have the same label?"
    )
    return [
        ("graph", ", ".join(description)),
        ("task", question),
        ("model", f"{_label(run)}, {recipe.hidden_channels} channels"),
        ("anchor-sets", str(run.learner.num_sets or "none")),
        ("judged by", f"{outcome.test_pairs:,} pairs that training never saw"),
        (
            "training",
            f"{outcome.epochs} epochs in {outcome.seconds:.1f} s, best epoch {outcome.best_epoch}",
        ),
        ("seed", str(outcome.seed)),
        ("versions", ", ".join(f"{name} {number}" for name, number in outcome.versions.items())),
    ]


def _notes(run: Run) -> list[str]:
    notes = []
    graphs, experiment = run.outcome.graph.graphs, run.outcome.experiment
    if graphs > 1:
        notes.append(
            f"Results are means over the test graphs of {graphs} graphs; "
            "curves, chances, drawing and map show the first of them."
        )
    if experiment is not None and experiment.column == "ppi":
        notes.append(PPI_NOTE)
    return notes


# ---------------------------------------------------------------------- results


def _rows(run: Run) -> list[Row]:
    outcome = run.outcome
    paper = None
    if outcome.experiment is not None and outcome.experiment.column in COLUMNS:
        paper = COLUMNS[outcome.experiment.column].published(outcome.model)
    rows = []
    if outcome.test is not None:
        shared = {k: v for k, v in outcome.test.metrics.items() if k not in _OF_MODELS}
        rows.append(Row(f"{_label(run)} (this run)", shared, paper))
    return rows + [
        Row(name, judgement.metrics, kind="heuristic")
        for name, judgement in outcome.heuristics.items()
    ]


def _curves(run: Run) -> dict[str, tuple[NDArray[Any], NDArray[Any]]]:
    judgements = {_label(run): run.outcome.test, **run.outcome.heuristics}
    return {
        name: (np.array(judgement.roc["fpr"]), np.array(judgement.roc["tpr"]))
        for name, judgement in judgements.items()
        if judgement is not None and judgement.roc
    }


def _verdict(run: Run) -> str:
    outcome = run.outcome
    if outcome.verdict is not None:
        return outcome.verdict
    if outcome.test_auc is None:
        return "No pairs were kept to judge the model by."
    return f"{_label(run)} has an AUC of {outcome.test_auc:.3f} on {outcome.test_pairs:,} pairs."


def _held_out(run: Run) -> NDArray[np.int64]:
    """Return the edges that the model was not shown."""
    graph, seen = run.data.graph, run.data.seen
    codes, visible = (
        edge_codes(one.edges(), one.num_nodes, directed=one.directed) for one in (graph, seen)
    )
    return graph.edges()[~is_among(codes, np.sort(visible))].astype(np.int64)


def _calibration(run: Run) -> list[ReliabilityBin]:
    """Score the pairs that the run was judged by, and compare chances with shares."""
    pairs, rate = run.data.pairs, run.outcome.base_rate
    if run.outcome.test is None or rate is None or not len(pairs) or not 0 < rate < 1:
        return []
    chosen = np.arange(len(pairs))
    if len(pairs) > _MOST_PAIRS:
        rng = np.random.default_rng(run.outcome.seed)
        chosen = np.sort(rng.choice(len(pairs), _MOST_PAIRS, replace=False))
    scorer = run.learner.scorer(run.data.seen)
    chances, _ = scorer.with_spread(pairs.pairs[chosen], base_rate=rate)
    num_bins = int(np.clip(len(chosen) // _PAIRS_PER_BIN, 2, NUM_BINS))
    return reliability(pairs.labels[chosen], np.clip(chances, 0, 1), num_bins=num_bins)


def _calibration_text(run: Run) -> str:
    metrics = {} if run.outcome.test is None else run.outcome.test.metrics
    sentences = []
    if "calibration_error" in metrics:
        sentences.append(
            f"The calibration error, {metrics['calibration_error']:.3f}, is how far chances are "
            "from shares, on average; 0 is perfect."
        )
    if "brier" in metrics:
        sentences.append(
            f"The Brier score, {metrics['brier']:.3f}, is the mean squared difference between "
            "chance and truth; 0 is perfect, and a chance of 0.5 for every pair gets 0.25."
        )
    return " ".join(sentences)


def _links(run: Run, top: int) -> tuple[list[Link], str]:
    """Predict on the whole graph, where held-out edges are known and are no predictions.

    Returns:
        The links, and what was searched and what their scores and spreads mean.
    """
    learner, graph = run.learner, run.data.graph
    nodes, count = None, max(top, _SEARCHED)
    if run.outcome.task == "pair":
        nodes = np.argsort(-graph.degrees, kind="stable")[:_SIMILAR_TO]
        count = max(1, top // _SIMILAR_TO)
    ranking = predict(learner, graph, top=count, nodes=nodes)
    names = [str(name) for name in id_array(graph).tolist()]
    surroundings = Surroundings(graph)
    # The scores of a baseline do not vary: it draws no anchor-sets.
    spreads = ranking.spread.tolist() if learner.num_sets else [None] * len(ranking.pairs)
    links = []
    for place, (pair, reason) in enumerate(zip(ranking.pairs, _reasons(run, ranking), strict=True)):
        u, v = (int(node) for node in pair)
        between = surroundings.between(u, v)
        reason = reason or between.sentence(names)
        links.append(Link(u, v, float(ranking.scores[place]), spreads[place], reason, between))
    return links, f"Searched: {ranking.how}. {_links_text(run, ranking.base_rate or 0.5)}"


def _reasons(run: Run, ranking: Predictions) -> list[str]:
    """Say of the first links why the model scores them so; empty for the others.

    A reason is put to the test by scoring the pair without its evidence, which takes time.
    """
    graph = run.data.graph
    num_told = 0
    if run.outcome.task == "link" and graph.num_edges <= _REASONED_EDGES:
        num_told = min(_REASONED, len(ranking.pairs))
    told: list[str] = []
    if num_told:
        rate = ranking.base_rate
        reasons = first_reasons(run.learner, graph, ranking.pairs[:num_told], base_rate=rate)
        told = [reason.name for reason in reasons]
    return [*told, *[""] * (len(ranking.pairs) - num_told)]


def _links_text(run: Run, base_rate: float) -> str:
    if isinstance(run.learner, PairLearner):
        heads = run.learner.model.heads.num_members
        spread = f"The spread says how much the {heads} heads of the model disagree."
    elif run.learner.num_sets:
        spread = "The spread says how much a score changes from one draw of anchor-sets to another."
    else:
        spread = ""
    share = "half" if base_rate == 0.5 else f"1 in {round(1 / base_rate):,}"
    if run.outcome.task == "pair":
        score = (
            f"A score is the chance that both nodes have the same label, if {share} of all pairs "
            "do."
        )
    else:
        score = (
            f"A score is the chance that a pair is a link, if {share} of the pairs without an edge "
            "is one."
        )
    return f"{score} {spread}".rstrip()
