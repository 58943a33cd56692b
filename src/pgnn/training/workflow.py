"""From a graph to a trained run, and from a run to scores: what the commands and estimator do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgnn.errors import PGNNError
from pgnn.evaluation.judging import held_out, hide_pairs, judge, judge_heuristics, roc_points
from pgnn.graph import Graph
from pgnn.io import id_array
from pgnn.io.atomic import make_folder
from pgnn.pairs.codes import edge_codes
from pgnn.training.fit import Progress
from pgnn.training.learner import Learner, Trained
from pgnn.training.recipe import Recipe
from pgnn.training.runs import CHECKPOINT, Run, check_free, save_run
from pgnn.training.splits import PairSet
from pgnn.training.versions import versions


def train_on(
    graph: Graph,
    recipe: Recipe,
    *,
    out: Path,
    config: Mapping[str, Any],
    device: str = "cpu",
    resume: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Train on a graph, judge the result, and leave a run directory; return its metrics.

    Args:
        graph: The whole graph.
        recipe: The settings.
        out: The run directory; made if it is not there.
        config: What was asked, to be kept beside the run.
        device: Where the model computes.
        resume: Whether to go on from the directory's checkpoint.
        progress: Called with each epoch's record.

    Raises:
        PGNNError: If the directory holds a finished run, or training is not possible.
    """
    if not resume:
        check_free(out)
    make_folder(out)
    learner = Learner(recipe, graph, device=device)
    trained = learner.train(graph, checkpoint=out / CHECKPOINT, resume=resume, progress=progress)
    metrics = {
        "task": recipe.task,
        "model": learner.recipe.model,
        "graph": describe(graph),
        **_course(trained),
        **_judged(learner, trained),
        "num_sets": learner.num_sets,
        "recipe": asdict(learner.recipe),
        "versions": versions(),
    }
    save_run(
        out,
        learner=learner,
        graph=graph,
        seen=trained.split.graph,
        pairs=trained.split.test,
        metrics=metrics,
        history=trained.fit.history,
        config=config,
    )
    return metrics


def describe(graph: Graph) -> dict[str, Any]:
    """Return what there is to say of a graph in a few numbers."""
    return {
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "directed": graph.directed,
        "weighted": graph.weights is not None,
        "features": 0 if graph.x is None else graph.x.shape[1],
        "classes": 0 if graph.y is None else len(np.unique(graph.y)),
        "dropped_self_loops": graph.dropped_self_loops,
        "dropped_repeats": graph.dropped_repeats,
    }


def _course(trained: Trained) -> dict[str, Any]:
    fit = trained.fit
    return {
        "best_epoch": fit.best_epoch,
        "epochs": len(fit.history),
        "seconds": round(fit.seconds, 2),
        "val_auc": fit.val_auc,
    }


def _judged(learner: Learner, trained: Trained) -> dict[str, Any]:
    """Judge the model and the heuristics on the test pairs; nothing if there are none."""
    split = trained.split
    if not len(split.test):
        return {}
    scores = learner.scorer(split.graph)(split.test.pairs)
    return {
        "test_pairs": len(split.test),
        "test": judge(split.test.labels, scores),
        "roc": roc_points(split.test.labels, scores),
        "heuristics": judge_heuristics(split.graph, split.test),
    }


def evaluate(
    run: Run,
    graph: Graph,
    *,
    pairs: NDArray[np.int64] | None = None,
    labels: NDArray[np.bool_] | None = None,
    share: float = 0.1,
    seed: int = 0,
) -> dict[str, Any]:
    """Judge a run on a graph, on pairs that are given or held out here.

    - Pairs given: edges among them are hidden from the model first.
    - The graph the run was trained on: its own test pairs, which training never saw.
    - Another graph: a share of its edges (task "pair": of its pairs of labelled nodes) is held out.

    Args:
        run: The run.
        graph: The graph.
        pairs: Node indices `[m, 2]`.
        labels: Whether each pair is a link (or of one label); None if all are.
        share: What to hold out of another graph.
        seed: Decides what is held out, and the negatives drawn for given pairs.

    Raises:
        PGNNError: If the graph has not what the task needs, or it is the training graph of a run
            that kept no test pairs.
    """
    learner = run.learner
    hidden = 0
    if pairs is not None and learner.recipe.task == "pair":
        if labels is None:
            raise PGNNError("for task 'pair', pairs need a label column: 1 for the same label")
        seen, asked = graph, PairSet(pairs, labels)  # edges do not tell labels: none is hidden
        how = "given pairs"
    elif pairs is not None:
        seen, asked, hidden = hide_pairs(graph, pairs, labels, rng=seed)
        how = (
            "given pairs" if labels is not None else "given pairs and as many drawn without a link"
        )
    elif (own := _own_test_pairs(run, graph)) is not None:
        seen, asked = own
        how = "the test pairs of the training graph, which training never saw"
    else:
        seen, asked = held_out(graph, learner.recipe.task, share, rng=seed)
        how = f"a share of {share:g} held out of this graph, which is not the one trained on"
    scores, spread = learner.scorer(seen).with_spread(asked.pairs)
    return {
        "task": learner.recipe.task,
        "model": learner.recipe.model,
        "graph": describe(graph),
        "pairs": how,
        "num_positive": int(asked.labels.sum()),
        "num_negative": int((~asked.labels).sum()),
        "hidden_edges": hidden,
        "metrics": judge(asked.labels, scores),
        "mean_spread": float(spread.mean()),
    }


def _own_test_pairs(run: Run, graph: Graph) -> tuple[Graph, PairSet] | None:
    """Return what training saw of this graph and its test pairs, if it is the graph of the run.

    It is if the edges are the same, by the nodes' ids: files may list nodes in another order.
    """
    if (graph.num_nodes, graph.num_edges, graph.directed) != (
        run.graph.num_nodes,
        run.graph.num_edges,
        run.graph.directed,
    ):
        return None
    place = _places(run.graph, graph)
    edges = _codes(graph, graph.edges())
    if not np.isin(edges, _codes(graph, place[run.graph.edges()])).all():
        return None
    if not len(run.pairs):
        raise PGNNError(
            "the run was trained on this very graph and kept no test pairs of it, so nothing of it "
            "is unseen; give pairs, or another graph"
        )
    seen = np.isin(edges, _codes(graph, place[run.seen.edges()]))
    return graph.with_edges(seen), PairSet(place[run.pairs.pairs], run.pairs.labels)


def _places(before: Graph, now: Graph) -> NDArray[np.int64]:
    """Return where each node of a graph is in another: by its id, or as it was for other ids."""
    old, new = id_array(before), id_array(now)
    by_old, by_new = np.argsort(old), np.argsort(new)
    if not np.array_equal(old[by_old], new[by_new]):
        return np.arange(before.num_nodes)
    places = np.empty_like(by_new)
    places[by_old] = by_new
    return places


def _codes(graph: Graph, edges: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    return edge_codes(edges, graph.num_nodes, directed=graph.directed)
