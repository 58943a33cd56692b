import json
from dataclasses import asdict, replace

import numpy as np
import pytest
import torch
from pgnn.training.workflow import describe, evaluate, train_on

from pgnn import Graph
from pgnn.errors import PGNNError
from pgnn.evaluation.heuristics import HEURISTICS
from pgnn.evaluation.judging import judge
from pgnn.training import workflow
from pgnn.training.recipe import Recipe
from pgnn.training.runs import CHECKPOINT, load_run

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
    assert results["whole"]["hidden_edges"] == len(run.pairs.positives)
    assert results["planted"]["hidden_edges"] == len(run.pairs)


def test_held_out_edges_change_no_score_where_negatives_are_drawn(link_run, scored):
    pairs = link_run.pairs.positives[:, ::-1]
    without = changed(link_run.graph, without=pairs)
    first = evaluate(link_run, link_run.graph, pairs=pairs, seed=4)
    second = evaluate(link_run, without, pairs=pairs, seed=4)
    assert np.array_equal(scored[0][1], scored[1][1])
    assert first["metrics"] == second["metrics"]
    assert (first["hidden_edges"], second["hidden_edges"]) == (len(pairs), 0)
    assert first["num_positive"] == first["num_negative"] == len(pairs)
    assert "as many drawn without a link" in first["pairs"]


def test_an_edge_that_is_not_asked_about_does_change_scores(link_run, scored):
    """The test above could not fail if scores did not read the graph."""
    pairs, labels = link_run.pairs.pairs, link_run.pairs.labels
    evaluate(link_run, link_run.graph, pairs=pairs, labels=labels)
    u, v = next(e for e in link_run.seen.edges().tolist())
    evaluate(link_run, changed(link_run.graph, without=[(u, v)]), pairs=pairs, labels=labels)
    assert not np.array_equal(scored[0][1], scored[1][1])


# ---------------------------------------------------------------------- train_on


@pytest.mark.parametrize("task", ["link", "pair"])
def test_train_on_leaves_a_run_that_says_what_was_measured(task, link_run, pair_run):
    run = link_run if task == "link" else pair_run
    metrics = run.metrics
    assert (metrics["task"], metrics["model"], metrics["epochs"]) == (task, "pgnn-best", 3)
    assert metrics["graph"] == describe(blocks())
    assert metrics["test_pairs"] == len(run.pairs) > 0
    scores = run.learner.scorer(run.seen)(run.pairs.pairs)
    assert metrics["test"] == judge(run.pairs.labels, scores)
    assert set(metrics["heuristics"]) == set(HEURISTICS)
    assert metrics["num_sets"] == run.learner.num_sets
    assert Recipe.from_dict(metrics["recipe"]) == run.learner.recipe
    assert {"pgnn", "python", "torch", "numpy", "numba"} == set(metrics["versions"])
    assert metrics["best_epoch"] in (1, 2, 3)
    best = run.history[metrics["best_epoch"] - 1]
    assert (best["epoch"], best["val_auc"]) == (metrics["best_epoch"], metrics["val_auc"])
    assert run.config == {"train": {"graph": "g"}}
    assert run.graph == blocks()
    hidden = run.graph.num_edges - run.seen.num_edges
    assert hidden > 0 if task == "link" else hidden == 0
    assert not unordered(run.seen.edges()) & unordered(run.pairs.positives) or task == "pair"


def test_train_on_is_strict_json(link_run):
    text = (link_run.folder / "metrics.json").read_text()

    def refuse(name):
        raise AssertionError(name)

    assert json.loads(text, parse_constant=refuse) == link_run.metrics


def test_train_on_gives_the_same_numbers_for_the_same_seed(tmp_path, link_run):
    again = run_on(tmp_path, blocks())
    one, two = ({**run.metrics, "seconds": 0, "sha256": 0} for run in (link_run, again))
    assert one == two
    assert link_run.history == again.history


def test_train_on_refuses_a_finished_run_and_resumes_a_cut_off_one(tmp_path, monkeypatch, link_run):
    recipe = Recipe(**QUICK)
    with pytest.raises(PGNNError, match="holds a finished run"):
        train_on(blocks(), recipe, out=link_run.folder, config={})

    def stop(record):
        if record.epoch == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("pgnn.training.fit._CHECKPOINT_SECONDS", 0.0)
        with pytest.raises(KeyboardInterrupt):
            train_on(blocks(), recipe, out=tmp_path, config={}, progress=stop)
    assert [path.name for path in tmp_path.iterdir()] == [CHECKPOINT]
    with pytest.raises(PGNNError, match="go on with --resume"):
        load_run(tmp_path)
    seen = []
    metrics = train_on(blocks(), recipe, out=tmp_path, config={}, resume=True, progress=seen.append)
    assert [record.epoch for record in seen] == [2, 3]
    assert metrics["test"] == link_run.metrics["test"]
    assert load_run(tmp_path).history == link_run.history


def test_train_on_without_test_pairs_judges_nothing(tmp_path):
    run = run_on(tmp_path, blocks(), test=0)
    assert not {"test", "test_pairs", "roc", "heuristics"} & set(run.metrics)
    assert len(run.pairs) == 0
    with pytest.raises(PGNNError, match="kept no test pairs of it, so nothing of it is unseen"):
        evaluate(run, blocks())
    assert evaluate(run, blocks(seed=5))["num_positive"] > 0


def test_describe_counts_what_there_is():
    graph = Graph.from_edges(
        [(0, 1), (1, 0), (2, 2), (1, 2)],
        5,
        weights=[1, 2, 3, 4],
        x=np.ones((5, 3)),
        y=[0, 7, 7, 7, 7],
    )
    assert describe(graph) == {
        "nodes": 5,
        "edges": 2,
        "directed": False,
        "weighted": True,
        "features": 3,
        "classes": 2,
        "dropped_self_loops": 1,
        "dropped_repeats": 1,
    }
    assert describe(Graph.from_edges([(0, 1)], directed=True))["classes"] == 0


# ---------------------------------------------------------------------- evaluate


@pytest.mark.parametrize("task", ["link", "pair"])
def test_evaluate_on_the_training_graph_gives_the_result_of_the_run(task, link_run, pair_run):
    run = link_run if task == "link" else pair_run
    found = evaluate(run, blocks())
    assert found["metrics"] == run.metrics["test"]
    assert found["num_positive"] + found["num_negative"] == len(run.pairs)
    assert "test pairs of the training graph" in found["pairs"]
    assert found["graph"] == describe(blocks())
    assert json.loads(json.dumps(found)) == found


def reordered(graph, seed=0):
    """The same graph, its nodes in another order."""
    order = np.random.default_rng(seed).permutation(graph.num_nodes)  # new place of each node
    back = np.argsort(order)
    return Graph.from_edges(
        order[graph.edges()],
        graph.num_nodes,
        x=graph.x[back],
        y=graph.y[back],
        node_ids=graph.node_ids[back],
        directed=graph.directed,
    )


@pytest.mark.parametrize("directed", [False, True])
def test_evaluate_knows_the_training_graph_in_another_order(
    tmp_path, monkeypatch, scored, directed
):
    x = np.random.default_rng(8).normal(size=(27, 3)).astype(np.float32)
    graph = replace(blocks(directed=directed), x=x)
    run = run_on(tmp_path, graph, model="sage")  # its scores do not depend on the order
    other = reordered(graph)
    assert not np.array_equal(other.indices, graph.indices)
    given = []
    scorer = run.learner.scorer
    monkeypatch.setattr(run.learner, "scorer", lambda g: given.append(g) or scorer(g))
    found = evaluate(run, other)
    assert "test pairs of the training graph" in found["pairs"]
    truth, scores = scored[-1]
    wanted = scorer(run.seen)(run.pairs.pairs)
    assert np.ptp(wanted) > 1e-2
    assert np.array_equal(truth, run.pairs.labels)
    assert np.allclose(scores, wanted, atol=1e-4)

    def by_id(seen):
        return {tuple(seen.node_ids[edge]) for edge in seen.edges()} | {
            tuple(seen.node_ids[edge[::-1]]) for edge in seen.edges() if not directed
        }

    assert by_id(given[0]) == by_id(run.seen)


def test_evaluate_reads_weights_of_the_graph_that_is_given(tmp_path, scored):
    graph = blocks(weighted=True)
    run = run_on(tmp_path, graph, model="pgnn-e-2l")
    scored.clear()
    evaluate(run, graph)
    evaluate(run, replace(graph, weights=graph.weights * 5))
    assert not np.array_equal(scored[0][1], scored[1][1])


def test_evaluate_takes_a_changed_graph_for_another(link_run):
    u, v = link_run.graph.edges()[0]
    found = evaluate(link_run, changed(link_run.graph, without=[(u, v)]))
    assert "held out of this graph" in found["pairs"]


def test_evaluate_holds_a_share_of_another_graph_out(link_run, pair_run):
    other = blocks(size=12, seed=3)
    found = evaluate(link_run, other, share=0.25, seed=1)
    assert found["num_positive"] == found["num_negative"] == round(other.num_edges / 4)
    assert found["pairs"].startswith("a share of 0.25 held out")
    assert found == evaluate(link_run, other, share=0.25, seed=1)
    assert found != evaluate(link_run, other, share=0.25, seed=2)
    assert evaluate(pair_run, other, share=0.5)["hidden_edges"] == 0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"share": 0.0}, "both classes are needed"),
        ({"share": 1.0}, "leave some for training"),
        ({"pairs": np.empty((0, 2), dtype=np.int64)}, "both classes are needed"),
        ({"pairs": np.array([(0, 99)])}, "node indices must lie in"),
        ({"pairs": np.array([(3, 3)])}, "two different nodes"),
        ({"pairs": np.array([(0, 1)]), "labels": np.array([True])}, "both classes are needed"),
    ],
)
def test_evaluate_refuses_what_cannot_be_judged(link_run, given, words):
    with pytest.raises(PGNNError, match=words):
        evaluate(link_run, blocks(seed=3), **given)


def test_evaluate_of_labels_needs_them_and_hides_no_edge(pair_run, scored):
    graph = blocks(seed=3)
    edges = graph.edges().astype(np.int64)
    with pytest.raises(PGNNError, match="pairs need a label column"):
        evaluate(pair_run, graph, pairs=edges)
    labels = graph.y[edges[:, 0]] == graph.y[edges[:, 1]]
    found = evaluate(pair_run, graph, pairs=edges, labels=labels)  # all edges, and all are seen
    assert found["hidden_edges"] == 0
    assert np.array_equal(scored[0][1], pair_run.learner.scorer(graph)(edges))
    with pytest.raises(PGNNError, match="node indices must lie in"):
        evaluate(pair_run, graph, pairs=edges + 50, labels=labels)
    with pytest.raises(PGNNError, match="needs node labels"):
        evaluate(pair_run, replace(graph, y=None))


def test_recipe_in_metrics_is_the_one_that_was_used(tmp_path, link_run):
    assert link_run.metrics["recipe"] == asdict(Recipe(**QUICK))
    open_recipe = Recipe(**{**QUICK, "folds": None, "model": "mlp"})
    metrics = train_on(blocks(), open_recipe, out=tmp_path, config={})
    assert metrics["recipe"]["folds"] == 5
