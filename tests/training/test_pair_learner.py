"""`pgnn-best`: it never sees the answer, gives the same numbers again, and is saved whole."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch

from pgnn import Graph, PGNNError
from pgnn.evaluation.metrics import roc_auc
from pgnn.pairs.columns import column_names
from pgnn.pairs.sets import PairSet, Split
from pgnn.training import pair_learner
from pgnn.training.checkpoint import load_checkpoint, save_checkpoint
from pgnn.training.pair_learner import PairLearner, make_pair_learner
from pgnn.training.recipe import Recipe
from pgnn.training.splits import split_links, split_pairs

QUICK = {"epochs": 2, "hidden_channels": 8}


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def town(n=60, seed=0, **more):
    graph = nx.random_geometric_graph(n, 0.25, seed=seed)
    return Graph.from_edges(list(graph.edges), n, **more)


def trained(graph, splits=None, **settings):
    recipe = Recipe(**{**QUICK, **settings})
    if splits is None:
        splits = [split_links(graph, rng=0, val=0.0, test=0.1)]
    learner = make_pair_learner(recipe, [split.graph for split in splits])
    return learner, learner.train(splits), splits


@pytest.fixture(scope="module")
def link_learner():
    return trained(town(), epochs=4)


def test_links_of_a_town_are_found(link_learner):
    learner, fit, (split,) = link_learner
    assert fit.val_auc > 0.85
    scores = learner.scorer(split.graph)(split.test.pairs)
    assert roc_auc(split.test.labels, scores) > 0.85
    assert [record.epoch for record in fit.history] == [1, 2, 3, 4]


def test_held_out_edges_have_no_influence():
    graph = town()
    split = split_links(graph, rng=0, val=0.0, test=0.1)
    rng = np.random.default_rng(1)
    others = replace(split, test=PairSet(split.test.pairs, rng.permutation(split.test.labels)))
    learners = [trained(graph, [part])[0] for part in (split, others)]
    pairs = split.test.pairs
    scores = [learner.scorer(split.graph).logits(pairs) for learner in learners]
    np.testing.assert_array_equal(*scores)


def test_score_of_a_pair_does_not_know_whether_it_is_joined(link_learner):
    learner, _, (split,) = link_learner
    graph = split.graph
    u, v = graph.edges()[7].tolist()
    without = graph.with_edges(np.arange(graph.num_edges) != 7)
    seen, hidden = (learner.scorer(g).logits([(u, v)])[0] for g in (graph, without))
    assert abs(seen - hidden) < 0.2  # but for what is typical of the graph, and the core number
    near = learner.scorer(graph).logits([(v, u)])[0]
    assert near == pytest.approx(seen, abs=1e-5)


def test_same_seed_gives_the_same_numbers_and_another_seed_others():
    graph = town(40)
    pairs = np.array([(0, 1), (2, 9), (5, 30)])
    logits = [trained(graph, seed=seed)[0].scorer(graph).logits(pairs) for seed in (1, 1, 2)]
    np.testing.assert_array_equal(logits[0], logits[1])
    assert not np.array_equal(logits[0], logits[2])


def test_training_leaves_the_global_generator_and_the_threads_alone():
    torch.set_num_threads(2)
    state = torch.get_rng_state()
    trained(town(40))
    assert torch.get_num_threads() == 2
    assert torch.equal(torch.get_rng_state(), state)
    torch.set_num_threads(1)


def test_training_resumes_to_the_same_numbers(tmp_path):
    graph = town(40)
    split = split_links(graph, rng=0, val=0.0, test=0.1)
    recipe = Recipe(**{**QUICK, "epochs": 5})
    whole = make_pair_learner(recipe, [split.graph])
    history = whole.train([split]).history

    def stop(record):
        if record.epoch == 3:
            raise KeyboardInterrupt

    path = tmp_path / "checkpoint.safetensors"
    cut = make_pair_learner(recipe, [split.graph])
    with pytest.raises(KeyboardInterrupt):
        cut.train([split], checkpoint=path, progress=stop)
    again = make_pair_learner(recipe, [split.graph])
    seen = []
    fit = again.train([split], checkpoint=path, resume=True, progress=seen.append)
    assert [record.epoch for record in seen] == [4, 5]
    assert fit.history == history
    for name, tensor in whole.model.state_dict().items():
        assert torch.equal(tensor, again.model.state_dict()[name]), name
    other = make_pair_learner(replace(recipe, seed=9), [split.graph])
    with pytest.raises(PGNNError, match="of a run with other settings"):
        other.train([split], checkpoint=path, resume=True)


@pytest.mark.parametrize("features", [False, True])
def test_a_saved_learner_gives_the_same_bits(tmp_path, features):
    x = np.random.default_rng(0).normal(size=(60, 3)) if features else None
    graph = town(x=x)
    learner, _, _ = trained(graph)
    learner.save(tmp_path / "model.safetensors", note="kept")
    again = PairLearner.load(tmp_path / "model.safetensors")
    pairs = np.array([(0, 1), (3, 50), (9, 12)])
    for first, second in zip(
        learner.scorer(graph).with_spread(pairs),
        again.scorer(graph).with_spread(pairs),
        strict=True,
    ):
        np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(learner.embed(graph), again.embed(graph))
    assert again.recipe == learner.recipe
    assert load_checkpoint(tmp_path / "model.safetensors")[1]["note"] == "kept"


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "learner"},
        {"columns": ["walk_2"]},
        {"num_sets": 0},
        {"recipe": {"nothing": 1}},
    ],
)
def test_files_of_something_else_are_refused(tmp_path, link_learner, change):
    learner, _, _ = link_learner
    path = tmp_path / "model.safetensors"
    learner.save(path)
    tensors, description = load_checkpoint(path)
    save_checkpoint(path, tensors, {**description, **change})
    with pytest.raises(PGNNError, match="not a trained model of pgnn, or damaged"):
        PairLearner.load(path)


def test_chances_follow_the_base_rate_and_never_the_order(link_learner):
    learner, _, (split,) = link_learner
    scorer = learner.scorer(split.graph)
    pairs = split.test.pairs
    half, _ = scorer.with_spread(pairs)
    rare, spread = scorer.with_spread(pairs, base_rate=0.01)
    assert (rare <= half).all()
    assert (spread >= 0).all()
    order = np.argsort(scorer.logits(pairs), kind="stable")
    assert (np.diff(rare[order]) >= -1e-12).all()


def test_embeddings_are_standardised_positions(link_learner):
    learner, _, (split,) = link_learner
    embedding = learner.embed(split.graph)
    assert embedding.shape == (60, learner.num_sets)
    np.testing.assert_allclose(embedding.mean(axis=0), 0, atol=1e-4)
    assert not np.array_equal(embedding, learner.embed(split.graph, draw=1))


def test_features_must_be_those_of_training():
    graph = town(x=np.ones((60, 2)) * np.arange(60)[:, None])
    learner, _, _ = trained(graph)
    with pytest.raises(PGNNError, match="2 features per node, and this graph has none"):
        learner.scorer(town())
    with pytest.raises(PGNNError, match="has 1"):
        learner.scorer(town(x=np.ones((60, 1))))


def test_task_pair_learns_labels_of_one_graph_and_of_several():
    parts = []
    for seed in range(3):
        blocks = nx.planted_partition_graph(3, 10, 0.7, 0.03, seed=seed)
        graph = Graph.from_edges(list(blocks.edges), 30, y=np.arange(30) // 10)
        parts.append(split_pairs(graph, rng=seed, val=0.0, test=0.3))
    for splits in (parts[:1], parts):
        learner, _, _ = trained(None, splits, task="pair", epochs=4)
        test = splits[0].test
        assert roc_auc(test.labels, learner.scorer(splits[0].graph)(test.pairs)) > 0.9


def test_directed_and_weighted_graphs_train():
    graph = town(40)
    rng = np.random.default_rng(0)
    edges = np.concatenate([graph.edges(), graph.edges()[::3, ::-1]])
    other = Graph.from_edges(edges, 40, weights=0.5 + rng.random(len(edges)), directed=True)
    learner, fit, _ = trained(other, weights="strength")
    assert np.isfinite(fit.val_auc)
    assert learner.scorer(other)([(0, 1)]).shape == (1,)


def test_links_of_lone_nodes_are_learnt_only_where_there_are_lone_nodes(monkeypatch):
    described = []

    def stop(heads, data, *_, **__):
        described.append(data)
        raise StopIteration

    monkeypatch.setattr(pair_learner, "fit_heads", stop)
    star = [(0, v) for v in range(1, 6)] + [(u, v) for u in range(6, 12) for v in range(6, u)]
    for lone in (0, 2):
        graph = Graph.from_edges(star, 12 + lone)
        none = PairSet(np.empty((0, 2), dtype=int), np.empty(0, dtype=bool))
        split = Split(graph, PairSet(graph.edges(), np.ones(graph.num_edges, bool)), none, none)
        learner = make_pair_learner(Recipe(**QUICK), [graph])
        with pytest.raises(StopIteration):
            learner.train([split])
        data = described.pop()
        degree = learner._columns(graph, data.ends)[:, column_names().index("degree_min")]
        assert (degree[data.positive] == 0).any() == bool(lone)


def test_without_training_pairs_there_is_nothing_to_learn():
    graph = town(20)
    none = PairSet(np.empty((0, 2), dtype=int), np.empty(0, dtype=bool))
    learner = make_pair_learner(Recipe(**QUICK), [graph])
    with pytest.raises(PGNNError, match="no training pairs"):
        learner.train([Split(graph, none, none, none)])


@pytest.mark.parametrize("name", ["decoder", "dropout", "val", "folds", "patience"])
def test_settings_of_other_models_are_refused(name):
    value = {"decoder": "dot", "dropout": 0.1, "val": 0.2, "folds": 3, "patience": 4}[name]
    with pytest.raises(PGNNError, match=f"{name} is not a setting of pgnn-best"):
        Recipe(**{name: value})
