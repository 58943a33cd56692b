"""What a run's page shows, gathered from a run directory."""

from __future__ import annotations

from typing import Any

import numpy as np

from pgnn.experiments.config import COLUMNS
from pgnn.experiments.render import PPI_NOTE
from pgnn.io import id_array
from pgnn.names import LABELS
from pgnn.positions import anchor_distances
from pgnn.positions.anchors import sample_anchor_sets
from pgnn.prediction.ranking import predict
from pgnn.report.values import Row, RunReport
from pgnn.training.runs import Run

_MAX_SETS = 64  # a reader looks at a few; each adds a column of distances to the page
_ASKED = 5  # nodes that similar ones are listed of


def collect_run(run: Run, *, top: int = 20) -> RunReport:
    """Gather results, curves, one draw of anchor-sets, embeddings and predictions of a run."""
    learner, metrics = run.learner, run.outcome.to_json()
    recipe = learner.recipe
    sets = sample_anchor_sets(
        run.data.seen.num_nodes,
        num_sets=min(learner.num_sets or _MAX_SETS, _MAX_SETS),
        rng=recipe.seed,
    )
    found = anchor_distances(run.data.seen, sets)
    return RunReport(
        title=f"{_label(recipe.model)} on {run.config.get('train', {}).get('graph', 'a graph')}",
        facts=_facts(run),
        rows=_rows(metrics, recipe.model),
        history=run.history,
        best_epoch=int(metrics["best_epoch"]),
        roc=_curves(metrics, _label(recipe.model)),
        graph=run.data.seen,
        sets=sets,
        num_sets=learner.num_sets or None,
        hops=np.asarray(found.hops if found.hops is not None else found.lengths),
        embedding=learner.embed(run.data.seen),
        links=_links(run, top),
        links_title="Most likely missing links" if recipe.task == "link" else "Most similar nodes",
        notes=_notes(run),
    )


def _label(model: str) -> str:
    return LABELS.get(model, model)


def _facts(run: Run) -> list[tuple[str, str]]:
    metrics, graph, recipe = run.outcome.to_json(), run.data.graph, run.learner.recipe
    kinds = [
        *(["directed"] * graph.directed),
        *(["weighted"] * (graph.weights is not None)),
        *([f"{run.learner.num_features} features per node"] * (run.learner.num_features > 0)),
        *([] if graph.y is None else [f"{len(np.unique(graph.y))} labels"]),
    ]
    size = f"{graph.num_nodes:,} nodes, {graph.num_edges:,} edges"
    return [
        ("graph", ", ".join([str(run.config.get("train", {}).get("graph", "")), size, *kinds])),
        ("task", "is there an edge?" if recipe.task == "link" else "have two nodes one label?"),
        ("model", f"{_label(recipe.model)}, {recipe.hidden_channels} channels"),
        ("anchor-sets", f"{run.learner.num_sets}" if run.learner.num_sets else "none"),
        ("judged by", f"{metrics.get('test_pairs', 0):,} pairs that training never saw"),
        ("training", f"{metrics['epochs']} epochs in {metrics['seconds']:.1f} s, "
                     f"best epoch {metrics['best_epoch']}"),
        ("seed", str(recipe.seed)),
        ("versions", ", ".join(f"{k} {v}" for k, v in metrics["versions"].items())),
    ]  # fmt: skip


def _rows(metrics: dict[str, Any], model: str) -> list[Row]:
    paper = None
    experiment = metrics["experiment"]
    if experiment is not None and experiment["column"] in COLUMNS:
        paper = COLUMNS[experiment["column"]].published(model)
    rows = []
    if metrics["test"] is not None:
        rows.append(Row(f"{_label(model)} (this run)", metrics["test"], paper=paper))
    rows += [
        Row(name, found["metrics"], kind="heuristic")
        for name, found in metrics.get("heuristics", {}).items()
    ]
    return rows


def _curves(metrics: dict[str, Any], name: str) -> dict[str, tuple[Any, Any]]:
    curves = {name: metrics["roc"]} if metrics["roc"] else {}
    curves |= {k: v["roc"] for k, v in metrics.get("heuristics", {}).items() if v["roc"]}
    return {k: (np.array(v["fpr"]), np.array(v["tpr"])) for k, v in curves.items()}


def _links(run: Run, top: int) -> list[dict[str, Any]]:
    """Predict on the whole graph: a held-out edge is known, and is no prediction."""
    asked = None
    if run.learner.recipe.task == "pair":
        asked = np.argsort(-run.data.graph.degrees, kind="stable")[:_ASKED]
        top = max(1, top // _ASKED)
    found = predict(run.learner, run.data.graph, top=top, nodes=asked)
    ids = id_array(run.data.graph)
    return [
        {"source": ids[u].item(), "target": ids[v].item(), "score": score, "spread": spread}
        for (u, v), score, spread in zip(
            found.pairs, found.scores.tolist(), found.spread.tolist(), strict=True
        )
    ]


def _notes(run: Run) -> list[str]:
    notes = []
    facts, experiment = run.outcome.graph, run.outcome.experiment
    if facts.graphs > 1:
        notes.append(
            f"Results are means over the test graphs of {facts.graphs} graphs; "
            "curves, drawing and map are of the first of them."
        )
    if experiment is not None and experiment.column == "ppi":
        notes.append(PPI_NOTE)
    return notes
