"""`pgnn-best`: it never sees the answer, gives the same numbers again, and is saved whole."""

import sys
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch

from pgnn import Graph, PGNNError, memory_limit
from pgnn.evaluation.metrics import roc_auc
from pgnn.pairs.columns import column_names
from pgnn.pairs.sets import PairSet, Split
from pgnn.prediction.ranking import predict
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


def stop_before_fitting(monkeypatch):
    """Let training stop when pairs are described, and return the list that will hold them."""
    described = []

    def stop(heads, data, *_, **__):
        described.append(data)
        raise StopIteration

    monkeypatch.setattr(pair_learner, "fit_heads", stop)
    return described


def test_links_of_lone_nodes_are_learnt_only_where_there_are_lone_nodes(monkeypatch):
    described = stop_before_fitting(monkeypatch)
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


def citations(n=260, each=5, seed=0):
    """Papers that cite older ones, well-cited and recent ones rather; ids say nothing of time."""
    rng = np.random.default_rng(seed)
    cited, edges = np.ones(n), []
    for paper in range(each, n):
        liked = cited[:paper] * np.exp(-(paper - np.arange(paper)) / 60)
        for older in rng.choice(paper, size=each, replace=False, p=liked / liked.sum()).tolist():
            cited[older] += 1
            edges.append((paper, older))
    place = rng.permutation(n)
    return Graph.from_edges(place[np.array(edges)], n, directed=True), np.argsort(place)


def test_a_citation_network_gets_no_links_from_older_to_newer_papers():
    graph, time_of = citations()
    split = split_links(graph, rng=0, val=0.0, test=0.15, ordered=True)
    learner = make_pair_learner(Recipe(), [split.graph])
    assert learner.links == "ordered"
    learner.train([split])
    score = learner.scorer(split.graph).logits
    links = split.test.positives
    both = np.concatenate([links, links[:, ::-1]])
    assert roc_auc(np.arange(len(both)) < len(links), score(both)) > 0.9
    edges = split.graph.edges().astype(int)[:200]
    assert np.mean(score(edges) > score(edges[:, ::-1])) > 0.9  # edges that are seen, too
    best = predict(learner, split.graph, top=30)
    assert best.ends == ("source", "target")
    newer = time_of[best.pairs[:, 0]] > time_of[best.pairs[:, 1]]
    assert newer.mean() > 0.9


def test_the_score_of_an_ordered_pair_does_not_know_its_own_edge():
    graph, _ = citations(120, 4)
    split = split_links(graph, rng=0, val=0.0, test=0.1, ordered=True)
    learner = make_pair_learner(Recipe(**QUICK), [split.graph])
    learner.train([split])
    for place in (3, 50, 111):
        edge = graph.edges()[place : place + 1].astype(int)
        without = graph.with_edges(np.arange(graph.num_edges) != place)
        seen, unseen = (learner.scorer(g).logits(edge) for g in (graph, without))
        np.testing.assert_allclose(seen, unseen, atol=0.02)
        turned = learner.scorer(graph).logits(edge[:, ::-1])
        assert not np.allclose(turned, seen, atol=1e-3)


def test_a_run_of_ordered_links_refuses_a_graph_without_directions(tmp_path):
    graph, _ = citations(80, 3)
    split = split_links(graph, rng=0, val=0.0, test=0.1, ordered=True)
    learner = make_pair_learner(Recipe(**QUICK), [split.graph])
    learner.train([split])
    learner.save(tmp_path / "m.safetensors")
    again = PairLearner.load(tmp_path / "m.safetensors")
    assert again.links == "ordered"
    pairs = split.test.pairs
    np.testing.assert_array_equal(
        learner.scorer(graph).logits(pairs), again.scorer(graph).logits(pairs)
    )
    with pytest.raises(PGNNError, match="no directions"):
        again.scorer(Graph.from_edges(graph.edges(), graph.num_nodes)).logits(pairs)


def shop(customers=90, products=50, seed=0):
    rng = np.random.default_rng(seed)
    liked = rng.pareto(1.5, products) + 0.2
    edges = []
    for customer in range(customers):
        taste = np.where(np.arange(products) % 3 == customer % 3, 6.0, 1.0) * liked
        items = rng.choice(products, size=6, replace=False, p=taste / taste.sum())
        edges += [(customer, customers + item) for item in items.tolist()]
    graph = Graph.from_edges(edges, customers + products)
    return graph.with_sides(["customer"] * customers + ["product"] * products)


def test_a_shop_gets_links_across_its_sides_only():
    graph = shop()
    split = split_links(graph, rng=0, val=0.0, test=0.1)
    learner = make_pair_learner(Recipe(**QUICK), [split.graph])
    assert learner.links == "across"
    learner.train([split])
    for limit in (None, 2000):
        best = predict(learner, split.graph, top=40, limit=limit)
        assert best.ends == ("customer", "product")
        assert (best.pairs[:, 0] < 90).all()
        assert (best.pairs[:, 1] >= 90).all()
    one = predict(learner, split.graph, top=10, nodes=np.array([7]))
    assert one.pairs[:, 0].tolist() == [7] * 10
    assert (one.pairs[:, 1] >= 90).all()
    bought = split.graph.neighbors(7)
    assert not np.isin(one.pairs[:, 1], bought).any()
    of_product = predict(learner, split.graph, top=5, nodes=np.array([100]))
    assert of_product.ends == ("product", "customer")
    score = learner.scorer(split.graph).logits
    np.testing.assert_array_equal(score([(0, 95)]), score([(95, 0)]))
    with pytest.raises(PGNNError, match="not across"):
        score([(0, 1)])
    with pytest.raises(PGNNError, match="one kind"):
        learner.scorer(replace(graph, sides=None)).logits([(0, 95)])


def test_undirected_scores_are_symmetric_and_name_no_direction():
    graph = Graph.from_networkx(nx.karate_club_graph(), weight=None)
    split = split_links(graph, rng=0, val=0.0, test=0.1)
    learner = make_pair_learner(Recipe(**QUICK), [split.graph])
    assert learner.links == "any"
    learner.train([split])
    pairs = split.test.pairs
    score = learner.scorer(split.graph).logits
    np.testing.assert_array_equal(score(pairs), score(pairs[:, ::-1]))
    assert predict(learner, split.graph, top=5).ends == ("node1", "node2")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits are kept on Linux only")
def test_training_that_does_not_fit_below_the_limit_of_memory_is_refused(monkeypatch):
    monkeypatch.setattr(pair_learner, "_LEAST_MEMORY", 1e11)
    with (
        memory_limit("8GB"),
        pytest.raises(PGNNError, match=r"memory is too small: training pgnn-best needs 100.\dGB"),
    ):
        trained(town())


def towns(count=3, width=3):
    """Towns whose nodes have features that say about where they are."""
    parts = []
    for seed in range(count):
        places = nx.random_geometric_graph(50, 0.25, seed=seed)
        x = np.array([places.nodes[v]["pos"] for v in places]) @ np.ones((2, width))
        x += np.random.default_rng(seed).normal(scale=0.3, size=x.shape)
        parts.append(Graph.from_edges(list(places.edges), 50, x=x))
    return [split_links(graph, rng=0, val=0.0, test=0.1) for graph in parts]


@pytest.fixture(scope="module")
def towns_learner():
    return trained(None, towns())


def test_features_around_the_nodes_are_read_of_several_graphs_alone(towns_learner, link_learner):
    learner, fit, splits = towns_learner
    assert learner.reads_around
    assert fit.val_auc > 0.85
    assert not link_learner[0].reads_around
    graphs = [split.graph for split in splits]
    assert not make_pair_learner(Recipe(), graphs[:1]).reads_around
    assert not make_pair_learner(
        Recipe(), [replace(graph, x=None) for graph in graphs]
    ).reads_around
    assert make_pair_learner(Recipe(), graphs).recipe.hidden_channels == 128
    assert make_pair_learner(Recipe(), graphs[:1]).recipe.hidden_channels == 64


def test_features_around_the_nodes_do_not_know_the_pairs_own_edge(towns_learner):
    learner, _, (split, *_) = towns_learner
    graph = split.graph
    for place in (0, 20, 41):
        pair = graph.edges()[place : place + 1].astype(np.int64)
        without = graph.with_edges(np.arange(graph.num_edges) != place)
        columns = learner.describe(without, pair).values
        seen, hidden = (learner.scorer(g).judge(columns, pair) for g in (graph, without))
        np.testing.assert_allclose(seen, hidden, atol=1e-5)
        turned = learner.scorer(graph).judge(columns, pair[:, ::-1].copy())
        np.testing.assert_allclose(seen, turned, atol=1e-5)
    asked = np.array([(0, 9), (3, 4)])  # and they matter
    moved = replace(graph, x=np.roll(graph.x, 1, axis=0))
    columns = learner.describe(graph, asked).values
    scores = [learner.scorer(g).judge(columns, asked) for g in (graph, moved)]
    assert not np.allclose(*scores, atol=1e-3)


def test_links_are_learnt_as_neighbours_and_other_pairs_are_not(monkeypatch):
    described = stop_before_fitting(monkeypatch)
    with pytest.raises(StopIteration):
        trained(None, towns(2))
    (data,) = described
    assert data.joined[data.positive].all()
    assert not data.joined[data.negative].any()


def test_a_learner_of_several_graphs_is_saved_whole(tmp_path, towns_learner):
    learner, _, (split, *_) = towns_learner
    learner.save(tmp_path / "model.safetensors")
    again = PairLearner.load(tmp_path / "model.safetensors")
    assert again.reads_around
    pairs = split.test.pairs
    scores = [each.scorer(split.graph).logits(pairs) for each in (learner, again)]
    np.testing.assert_array_equal(*scores)


def test_several_directed_graphs_with_features_train():
    splits = []
    for seed in range(2):
        graph, time_of = citations(60, 3, seed)
        graph = replace(graph, x=time_of[:, None].astype(np.float32))
        splits.append(split_links(graph, rng=0, val=0.0, test=0.1, ordered=True))
    learner, _, _ = trained(None, splits)
    assert learner.links == "ordered"
    assert learner.reads_around
    assert np.isfinite(learner.scorer(splits[0].graph).logits(splits[0].test.pairs)).all()
