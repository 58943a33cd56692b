"""Judging a run: held-out edges never reach a score, and the run's own test pairs are known."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from pgnn import Graph
from pgnn.errors import PGNNError
from pgnn.evaluation import evaluate as evaluation
from pgnn.evaluation.evaluate import evaluate
from pgnn.evaluation.judging import judge_model
from pgnn.training.learner import Learner
from pgnn.training.outcome import GraphFacts
from pgnn.training.pipeline import Problem, train
from pgnn.training.recipe import Recipe
from pgnn.training.runs import load_run

QUICK = {
    "model": "pgnn-p-2l",
    "epochs": 3,
    "eval_every": 1,
    "eval_draws": 2,
    "hidden_channels": 8,
    "folds": 2,
}


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
    recipe = Recipe(**{**QUICK, **settings})
    train(Problem.of_graph(graph, recipe), recipe, out=folder, heuristics=False)
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

    def judged(tested, scores, **more):
        kept.append((tested[0][1].labels, scores[0]))
        return judge_model(tested, scores, **more)

    monkeypatch.setattr(evaluation, "judge_model", judged)
    return kept


# ---------------------------------------------------------------------- leakage


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        ("pgnn-p-2l", {}),
        ("pgnn-p-2l", {"weighted": True, "directed": True}),
        ("pgnn-e-2l", {"weighted": True}),
        ("pgnn-e-2l", {"directed": True}),
        ("sage", {}),
    ],
)
def test_held_out_edges_planted_or_removed_change_no_score(tmp_path, scored, model, kind):
    graph = blocks(**kind)
    run = run_on(tmp_path, graph, model=model)
    held = run.data.pairs
    pairs, labels = held.pairs, held.labels
    turned = held.positives[:, ::-1]
    assert len(turned) > 2
    versions = {
        "whole": graph,
        "removed": changed(graph, without=pairs),
        "turned": changed(graph, without=pairs, more=turned),
        "planted": changed(graph, more=held.negatives),
        "both": changed(graph, without=turned[::2], more=held.negatives[:, ::-1]),
    }
    assert len({g.num_edges for g in versions.values()}) > 2
    scored.clear()
    results = {name: evaluate(run, g, pairs=pairs, labels=labels) for name, g in versions.items()}
    (truth, scores), *others = scored
    assert len(others) == 4
    assert len(np.unique(scores)) > 3
    for again, values in others:
        assert np.array_equal(truth, again)
        assert np.array_equal(scores, values)
    for result in results.values():
        assert result.metrics == results["whole"].metrics
        assert result.mean_spread == results["whole"].mean_spread
    assert results["removed"].hidden_edges == 0
    assert results["whole"].hidden_edges == len(held.positives)
    assert results["planted"].hidden_edges == len(held)


def test_held_out_edges_change_no_score_where_negatives_are_drawn(link_run, scored):
    pairs = link_run.data.pairs.positives[:, ::-1]
    without = changed(blocks(), without=pairs)
    first = evaluate(link_run, blocks(), pairs=pairs, seed=4)
    second = evaluate(link_run, without, pairs=pairs, seed=4)
    assert np.array_equal(scored[0][1], scored[1][1])
    assert first.metrics == second.metrics
    assert (first.hidden_edges, second.hidden_edges) == (len(pairs), 0)
    assert first.num_positive == first.num_negative == len(pairs)
    assert "as many drawn without a link" in first.pairs


def test_an_edge_that_is_not_asked_about_does_change_scores(link_run, scored):
    """The test above could not fail if scores did not read the graph."""
    pairs, labels = link_run.data.pairs.pairs, link_run.data.pairs.labels
    evaluate(link_run, blocks(), pairs=pairs, labels=labels)
    u, v = next(e for e in link_run.data.seen.edges().tolist())
    evaluate(link_run, changed(blocks(), without=[(u, v)]), pairs=pairs, labels=labels)
    assert not np.array_equal(scored[0][1], scored[1][1])


# ---------------------------------------------------------------------- evaluate


@pytest.mark.parametrize("task", ["link", "pair"])
def test_evaluate_on_the_training_graph_gives_the_result_of_the_run(task, link_run, pair_run):
    run = link_run if task == "link" else pair_run
    result = evaluate(run, blocks())
    assert result.metrics == run.outcome.test.metrics
    assert result.num_positive + result.num_negative == len(run.data.pairs)
    assert "test pairs of the training graph" in result.pairs
    assert result.hidden_edges is None  # nothing was hidden now: it was hidden in training
    assert result.graph == GraphFacts.of(blocks())
    assert (result.task, result.model) == (task, "pgnn-p-2l")


@pytest.mark.parametrize("seed", [0, 3])
def test_evaluation_is_strict_json(link_run, seed):
    document = evaluate(link_run, blocks(seed=seed)).to_json()
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert document["graph"]["nodes"] == 27


def test_evaluate_tells_a_graph_of_another_size_without_reading_that_of_the_run(link_run):
    run = load_run(link_run.folder)
    evaluate(run, blocks(size=12, seed=3))
    assert "data" not in vars(run)
    evaluate(run, blocks())
    assert "data" in vars(run)


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
    shown = []
    scorer = Learner.scorer
    monkeypatch.setattr(Learner, "scorer", lambda self, g: shown.append(g) or scorer(self, g))
    result = evaluate(run, other)
    assert "test pairs of the training graph" in result.pairs
    truth, scores = scored[-1]
    wanted = scorer(run.learner, run.data.seen)(run.data.pairs.pairs)
    assert np.ptp(wanted) > 1e-2
    assert np.array_equal(truth, run.data.pairs.labels)
    assert np.allclose(scores, wanted, atol=1e-4)

    def by_id(seen):
        return {tuple(seen.node_ids[edge]) for edge in seen.edges()} | {
            tuple(seen.node_ids[edge[::-1]]) for edge in seen.edges() if not directed
        }

    assert by_id(shown[0]) == by_id(run.data.seen)


def test_evaluate_reads_weights_of_the_graph_that_is_given(tmp_path, scored):
    graph = blocks(weighted=True)
    run = run_on(tmp_path, graph, model="pgnn-e-2l")
    scored.clear()
    evaluate(run, graph)
    evaluate(run, replace(graph, weights=graph.weights * 5))
    assert not np.array_equal(scored[0][1], scored[1][1])


def test_evaluate_takes_a_changed_graph_for_another(link_run):
    u, v = blocks().edges()[0]
    missing = changed(blocks(), without=[(u, v)])
    apart = next(p for p in link_run.data.pairs.negatives.tolist())
    moved = changed(blocks(), without=[(u, v)], more=[apart])  # as many edges as before
    assert moved.num_edges == blocks().num_edges
    for graph in (missing, moved):
        assert "held out of this graph" in evaluate(link_run, graph).pairs


def test_evaluate_on_the_training_graph_of_a_run_without_test_pairs_is_refused(tmp_path):
    run = run_on(tmp_path, blocks(), test=0)
    with pytest.raises(PGNNError, match="kept no test pairs of it, so nothing of it is unseen"):
        evaluate(run, blocks())
    assert evaluate(run, blocks(seed=5)).num_positive > 0


def test_evaluate_holds_a_share_of_another_graph_out(link_run, pair_run):
    other = blocks(size=12, seed=3)
    result = evaluate(link_run, other, share=0.25, seed=1)
    assert result.num_positive == result.num_negative == round(other.num_edges / 4)
    assert result.hidden_edges == result.num_positive
    assert result.pairs.startswith("a share of 0.25 held out")
    assert result == evaluate(link_run, other, share=0.25, seed=1)
    assert result != evaluate(link_run, other, share=0.25, seed=2)
    assert evaluate(pair_run, other, share=0.5).hidden_edges == 0


@pytest.mark.parametrize("share", [2, 0, 0.0, 1.0, -0.1, float("nan"), "0.1", None, True])
def test_share_is_checked_by_the_library(link_run, share):
    with pytest.raises(PGNNError, match=r"share must be (above 0 and below 1|a (finite )?number)"):
        evaluate(link_run, blocks(seed=3), share=share)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ({"share": 0.999}, "too few to give every part at least one"),
        ({"pairs": np.empty((0, 2), dtype=np.int64)}, "both classes are needed"),
        ({"pairs": np.array([(0, 99)])}, "node indices must lie in"),
        ({"pairs": np.array([(3, 3)])}, "two different nodes"),
        ({"pairs": np.array([(0, 1)]), "labels": np.array([True])}, "both classes are needed"),
    ],
)
def test_evaluate_refuses_what_cannot_be_judged(link_run, question, words):
    with pytest.raises(PGNNError, match=words):
        evaluate(link_run, blocks(seed=3), **question)


def test_evaluate_of_labels_needs_them_and_hides_no_edge(pair_run, scored):
    graph = blocks(seed=3)
    edges = graph.edges().astype(np.int64)
    with pytest.raises(PGNNError, match="pairs need a label column"):
        evaluate(pair_run, graph, pairs=edges)
    labels = graph.y[edges[:, 0]] == graph.y[edges[:, 1]]
    asked = {"pairs": edges, "labels": labels, "base_rate": 0.5}
    result = evaluate(pair_run, graph, **asked)  # all edges, and all are seen
    assert result.hidden_edges == 0
    assert np.array_equal(scored[0][1], pair_run.learner.scorer(graph)(edges))
    with pytest.raises(PGNNError, match="node indices must lie in"):
        evaluate(pair_run, graph, pairs=edges + 50, labels=labels)
    with pytest.raises(PGNNError, match="needs node labels"):
        evaluate(pair_run, replace(graph, y=None))


# ---------------------------------------------------------------------- repeated pairs, negatives


@pytest.mark.parametrize("directed", [False, True])
def test_a_repeated_pair_counts_once_and_turned_round_unless_directed(link_run, directed):
    graph = blocks(directed=directed)
    pairs = np.array([(0, 1), (1, 0), (0, 20), (0, 1), (3, 25)])
    labels = np.array([1, 1, 0, 1, 0], dtype=bool)
    result = evaluate(link_run, graph, pairs=pairs, labels=labels)
    assert result.repeated_pairs == (1 if directed else 2)
    assert result.num_positive + result.num_negative == 5 - result.repeated_pairs
    assert (
        result.scored.pairs.pairs.tolist()
        == pairs[[0, 1, 2, 4] if directed else [0, 2, 4]].tolist()
    )
    assert len(result.scored.scores) == len(result.scored.spread) == len(result.scored.pairs)
    with pytest.raises(PGNNError, match="'n0' and 'n1' is listed with label 1 and with label 0"):
        evaluate(link_run, graph, pairs=pairs, labels=labels & (np.arange(5) != 3))


def test_a_pair_of_a_node_with_itself_is_refused(link_run):
    for labels in (None, np.array([True, False])):
        with pytest.raises(PGNNError, match="two different nodes"):
            evaluate(link_run, blocks(), pairs=np.array([(0, 1), (2, 2)]), labels=labels)


@pytest.mark.parametrize("kind", ["two-hop", "degree"])
def test_negatives_of_every_kind_are_no_edges_wherever_they_are_drawn(link_run, kind):
    graph, own = blocks(), link_run.data.pairs
    joined = unordered(graph.edges())
    results = {
        "own": evaluate(link_run, graph, negatives=kind),
        "given": evaluate(link_run, graph, pairs=graph.edges()[:5].astype(int), negatives=kind),
        "other": evaluate(link_run, blocks(seed=4), negatives=kind, share=0.2),
    }
    for name, result in results.items():
        taken = unordered(blocks(seed=4).edges()) if name == "other" else joined
        assert not unordered(result.scored.pairs.negatives) & taken
        assert "as many drawn" in result.pairs
        assert result.num_positive == result.num_negative
    assert unordered(results["own"].scored.pairs.positives) == unordered(own.positives)
    assert unordered(results["own"].scored.pairs.negatives) != unordered(own.negatives)
    again = evaluate(link_run, graph, negatives=kind)
    assert again.to_json() == results["own"].to_json()


def test_evaluation_in_json_has_no_scores(link_run):
    document = evaluate(link_run, blocks()).to_json()
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert "scored" not in document
    assert {"base_rate", "lone_pairs", "without_lone", "repeated_pairs"} <= set(document)
