import json
from dataclasses import asdict, replace

import numpy as np
import pytest
import torch

from pgnn import Graph, workflow
from pgnn.errors import PGNNError
from pgnn.evaluation import judge
from pgnn.heuristics import HEURISTICS
from pgnn.recipe import Recipe
from pgnn.runs import CHECKPOINT, load_run
from pgnn.workflow import describe, evaluate, train_on

QUICK = {"epochs": 3, "eval_every": 1, "eval_draws": 2, "hidden_channels": 8, "folds": 2}


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def blocks(size=9, num_blocks=3, *, seed=0, weighted=False, directed=False):
    rng = np.random.default_rng(seed)
    n = size * num_blocks
    edges = [
        (u, v) for u in range(n) for v in range(u) if u // size == v // size and rng.random() < 0.5
    ]
    edges += [(b * size, (b + 1) % num_blocks * size) for b in range(num_blocks)]
    if directed:
        edges += [(v, u) for u, v in edges[::2]]
    return Graph.from_edges(
        edges,
        n,
        y=np.arange(n) // size,
        weights=0.25 + rng.random(len(edges)) if weighted else None,
        directed=directed,
        node_ids=[f"n{v}" for v in range(n)],
    )


def unordered(pairs):
    return {frozenset((int(u), int(v))) for u, v in pairs}


def changed(graph, *, without=(), more=()):
    """The graph without some pairs of nodes joined, and with edges more."""
    gone = unordered(without)
    kept = [i for i, e in enumerate(graph.edges().tolist()) if frozenset(e) not in gone]
    edges = np.concatenate([graph.edges()[kept], np.array(more, dtype=int).reshape(-1, 2)])
    weights = graph.edge_weights()
    if weights is not None:
        weights = np.concatenate([weights[kept], np.full(len(more), 3.0)])
    return Graph.from_edges(
        edges,
        graph.num_nodes,
        weights=weights,
        directed=graph.directed,
        y=graph.y,
        node_ids=graph.node_ids,
    )


def run_on(folder, graph, **settings):
    train_on(graph, Recipe(**{**QUICK, **settings}), out=folder, config={"train": {"graph": "g"}})
    return load_run(folder)


@pytest.fixture(scope="module")
def link_run(tmp_path_factory):
    return run_on(tmp_path_factory.mktemp("runs") / "link", blocks())


@pytest.fixture(scope="module")
def pair_run(tmp_path_factory):
    return run_on(tmp_path_factory.mktemp("runs") / "pair", blocks(), task="pair")


@pytest.fixture
def scored(monkeypatch):
    """Keeps the scores that are judged."""
    kept = []
    monkeypatch.setattr(workflow, "judge", lambda y, s: kept.append((y, s)) or judge(y, s))
    return kept


# ---------------------------------------------------------------------- leakage


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        ("pgnn-best", {}),
        ("pgnn-best", {"weighted": True, "directed": True}),
        ("pgnn-e-2l", {"weighted": True}),
        ("pgnn-e-2l", {"directed": True}),
        ("sage", {}),
    ],
)
def test_held_out_edges_planted_or_removed_change_no_score(tmp_path, scored, model, kind):
    graph = blocks(**kind)
    run = run_on(tmp_path, graph, model=model)
    pairs, labels = run.pairs.pairs, run.pairs.labels
    turned = run.pairs.positives[:, ::-1]
    assert len(turned) > 2
    given = {
        "whole": graph,
        "removed": changed(graph, without=pairs),
        "turned": changed(graph, without=pairs, more=turned),
        "planted": changed(graph, more=run.pairs.negatives),
        "both": changed(graph, without=turned[::2], more=run.pairs.negatives[:, ::-1]),
    }
    assert len({g.num_edges for g in given.values()}) > 2
    scored.clear()
    results = {name: evaluate(run, g, pairs=pairs, labels=labels) for name, g in given.items()}
    (truth, scores), *others = scored
    assert len(others) == 4
    assert len(np.unique(scores)) > 3
    for again, values in others:
        assert np.array_equal(truth, again)
        assert np.array_equal(scores, values)
    for found in results.values():
        assert found["metrics"] == results["whole"]["metrics"]
        assert found["mean_spread"] == results["whole"]["mean_spread"]
    assert results["removed"]["hidden_edges"] == 0
    assert results["whole"]["hidden_edges"] == graph.num_edges - run.seen.num_edges_without(pairs)
