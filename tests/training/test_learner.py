import json
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from pgnn import Graph
from pgnn.errors import PGNNError
from pgnn.names import MODELS
from pgnn.nn import PRESETS, DotDecoder
from pgnn.training import learner
from pgnn.training.batches import default_num_sets
from pgnn.training.checkpoint import load_checkpoint, save_checkpoint
from pgnn.training.learner import Inputs, Learner, Scorer, make_learner, usable_device
from pgnn.training.pipeline import split_graph
from pgnn.training.recipe import Recipe

QUICK = {
    "model": "pgnn-e-2l",
    "epochs": 2,
    "eval_every": 1,
    "eval_draws": 2,
    "hidden_channels": 8,
    "folds": 2,
}


@pytest.fixture(autouse=True)
def _one_thread():
    """Threads of torch cost more than they do on graphs as small as these."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def recipe(**settings):
    return Recipe(**{**QUICK, **settings})


def fresh(graph, **settings):
    """A learner made for a graph, not trained."""
    return make_learner(recipe(**settings), [graph])


def learnt(graph, **settings):
    """A learner trained on a graph."""
    split = split_graph(graph, recipe(**settings))
    made = fresh(split.graph, **settings)
    made.train([split])
    return made


def blocks(size=10, num_blocks=3, *, alone=0, seed=0, **more):
    """Communities in a ring, and perhaps nodes without edges."""
    rng = np.random.default_rng(seed)
    n = size * num_blocks
    edges = [
        (u, v) for u in range(n) for v in range(u) if u // size == v // size and rng.random() < 0.5
    ]
    edges += [(b * size, (b + 1) % num_blocks * size) for b in range(num_blocks)]
    labels = np.minimum(np.arange(n + alone) // size, num_blocks - 1)
    return Graph.from_edges(edges, n + alone, y=labels, **more)


def with_weights(graph, *, factor=1.0, directed=False):
    weights = 0.25 + np.random.default_rng(5).random(graph.num_edges)
    return Graph.from_edges(
        graph.edges(), graph.num_nodes, weights=factor * weights, directed=directed, y=graph.y
    )


def unordered(pairs):
    return {frozenset((int(u), int(v))) for u, v in pairs}


def pairs_of(graph):
    return np.random.default_rng(1).integers(graph.num_nodes, size=(40, 2))


def state(found):
    return {**found.model.state_dict(), **found.decoder.state_dict()}


def assert_same_state(first, second):
    assert state(first).keys() == state(second).keys()
    for name, tensor in state(first).items():
        assert torch.equal(tensor, state(second)[name]), name


# ---------------------------------------------------------------------- leakage


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("folds", [0, 4])
def test_training_sees_nothing_of_held_out_pairs(monkeypatch, directed, folds):
    graph = blocks()
    if directed:  # one edge in two goes both ways
        edges = graph.edges()
        edges = np.concatenate([edges, edges[::2, ::-1]])
        graph = Graph.from_edges(edges, graph.num_nodes, directed=True)
    given = []
    fit = learner.fit
    monkeypatch.setattr(
        learner,
        "fit",
        lambda m, d, splits, **more: given.extend(splits) or fit(m, d, splits, **more),
    )
    split = split_graph(graph, recipe())
    fresh(split.graph, folds=folds).train([split])
    held = [split.val, split.test]
    secret = unordered(np.concatenate([part.positives for part in held]))
    asked = unordered(np.concatenate([part.pairs for part in held]))
    assert len(given) == (1 + folds if folds else 1)
    for part in given:
        assert not unordered(part.graph.edges()) & secret
        assert not unordered(part.train.pairs) & asked
    for part in given[1:]:
        assert not unordered(part.graph.edges()) & unordered(part.train.positives)
        assert len(part.val) == len(part.test) == 0
    learnt = unordered(np.concatenate([part.train.positives for part in given]))
    assert learnt == unordered(split.graph.edges())
    assert learnt | secret == unordered(graph.edges())
    assert [part.pairs.tolist() for part in held] == [
        part.pairs.tolist() for part in (given[0].val, given[0].test)
    ]


@pytest.mark.parametrize("model", ["pgnn-e-2l", "pgnn-p-2l"])
def test_weights_of_held_out_edges_have_no_influence(model):
    graph = with_weights(blocks())
    split = split_graph(graph, recipe())
    found = learnt(graph, model=model)
    seen = unordered(split.graph.edges())
    weights = graph.edge_weights().copy()
    weights[[frozenset(edge) not in seen for edge in graph.edges().tolist()]] *= 100
    other = Graph.from_edges(graph.edges(), graph.num_nodes, weights=weights, y=graph.y)
    assert split_graph(other, recipe()).graph == split.graph
    again = learnt(other, model=model)
    assert_same_state(found, again)
    scores = [one.scorer(split.graph)(split.test.pairs) for one in (found, again)]
    assert np.array_equal(*scores)


# ---------------------------------------------------------------------- seeds and settings


def test_same_seed_gives_the_same_numbers_and_another_seed_others():
    graph = blocks()
    runs = []
    for seed in (3, 3, 4):
        split = split_graph(graph, recipe(seed=seed))
        found = fresh(split.graph, seed=seed)
        torch.rand(5)  # the global generator has no say
        history = found.train([split]).history
        runs.append((found.embed(graph), found.scorer(graph)(pairs_of(graph)), history))
    assert np.array_equal(runs[0][0], runs[1][0])
    assert np.array_equal(runs[0][1], runs[1][1])
    assert runs[0][2] == runs[1][2]
    assert not np.array_equal(runs[0][0], runs[2][0])


def test_a_learner_leaves_the_global_generator_alone():
    graph = blocks()
    before = torch.get_rng_state()
    learnt(graph)
    assert torch.equal(torch.get_rng_state(), before)


def test_draws_differ_and_each_is_the_same_again():
    graph = blocks()
    found = fresh(graph)
    first, second = found.embed(graph), found.embed(graph, draw=1)
    assert np.array_equal(first, found.embed(graph, draw=0))
    assert not np.array_equal(first, second)
    embeddings = found.scorer(graph).embeddings
    assert np.array_equal(embeddings[0], first)
    assert np.array_equal(embeddings[1], second)
    assert len(found.scorer(graph, num_draws=5).embeddings) == 5


@pytest.mark.parametrize("model", sorted(set(PRESETS) - {"pgnn-best"}))
def test_num_sets_is_the_recipes_or_that_of_the_model(model):
    graph = blocks()
    assert fresh(graph, model=model, num_sets=5).embed(graph).shape == (30, 5)
    found = fresh(graph, model=model)
    assert found.num_sets == default_num_sets(30, PRESETS[model].c)
    assert found.embed(graph).shape == (30, found.num_sets)
    assert found.embedding_width == found.num_sets
    assert fresh(graph, model=model, c=2.0).num_sets == default_num_sets(30, 2.0)


def test_inputs_of_several_graphs_are_those_of_all_together():
    graphs = [features(blocks(size=size), seed=size) for size in (5, 10)]
    inputs = Inputs.of(recipe(), graphs)
    x = np.concatenate([graph.x for graph in graphs])
    assert inputs.num_sets == default_num_sets(30, 1.0)
    assert np.allclose(inputs.mean, x.mean(0))
    assert np.allclose(inputs.scale[[0, 2, 3]], x.std(0)[[0, 2, 3]])
    weighted = [with_weights(blocks(size=size)) for size in (5, 10)]
    unit = np.concatenate([graph.weights for graph in weighted]).mean()
    assert Inputs.of(recipe(), weighted).unit == unit
    assert Inputs.of(recipe(), [Graph.from_edges([], 4, weights=[])]).unit == 1


def test_inputs_that_are_standardised_already_stay_as_they_are():
    graph = features(blocks())
    made = make_learner(recipe(), [graph], standardise=False)
    assert np.array_equal(made.ready(graph).x, graph.x)
    ones = replace(graph, x=np.ones((30, 1), dtype=np.float32))
    made = make_learner(recipe(), [ones], standardise=False)
    assert made.num_features == 0  # the same for all nodes: any graph can be asked about
    assert np.array_equal(made.embed(blocks()), made.embed(ones))


def test_scheme_decides_how_sets_are_drawn():
    graph = blocks()
    found = [fresh(graph, scheme=scheme) for scheme in ("bernoulli", "fixed")]
    assert [one._draws(5).scheme for one in found] == ["bernoulli", "fixed"]
    assert not np.array_equal(*(one.embed(graph) for one in found))


@pytest.mark.parametrize("model", sorted(set(PRESETS) - {"pgnn-best"}))
def test_draws_are_those_of_the_preset(model):
    preset, draws = PRESETS[model], fresh(blocks(), model=model)._draws(None)
    names = ("proximity", "cutoff", "c", "alpha", "tol")
    assert [getattr(draws, name) for name in names] == [getattr(preset, name) for name in names]
    assert fresh(blocks(), model=model, c=0.5)._draws(None).c == 0.5
    assert fresh(blocks(), model="gcn")._draws(None) is None


@pytest.mark.parametrize(("num_sets", "drawn"), [(None, None), (7, 7)])
def test_training_draws_as_many_sets_as_each_batch_needs_unless_told(monkeypatch, num_sets, drawn):
    seen = []
    fit = learner.fit
    monkeypatch.setattr(
        learner, "fit", lambda *a, draws, **more: seen.append(draws) or fit(*a, draws=draws, **more)
    )
    learnt(blocks(), num_sets=num_sets)
    assert [draws.num_sets for draws in seen] == [drawn]


@pytest.mark.parametrize("variant", ["paper", "released"])
def test_variant_decides_how_a_model_is_built(variant):
    model = fresh(blocks(), variant=variant).model
    assert {layer.message for layer in model.layers} == {variant}


@pytest.mark.parametrize("name", ["dot", "distance"])
def test_decoder_is_the_recipes(name):
    graph = blocks()
    found = fresh(graph, decoder=name)
    z = found.embed(graph)
    u, v = pairs_of(graph).T
    logits = (z[u] * z[v]).sum(1) if name == "dot" else -np.linalg.norm(z[u] - z[v], axis=1)
    scores = found.scorer(graph, num_draws=1)(pairs_of(graph))
    assert np.allclose(scores, 1 / (1 + np.exp(-logits)), atol=1e-6)


# ---------------------------------------------------------------------- every kind of graph


@pytest.mark.parametrize(
    ("model", "task"),
    [
        *((m, "link") for m in MODELS if m != "pgnn-best"),  # see test_pipeline
        ("pgnn-p-2l", "pair"),
        ("pgnn-e-1l", "pair"),
        ("gat", "pair"),
    ],
)
def test_every_model_trains_for_both_tasks(model, task):
    graph = blocks(alone=2)
    split = split_graph(graph, recipe(task=task))
    found = fresh(split.graph, model=model, task=task)
    before = {name: tensor.clone() for name, tensor in state(found).items()}
    assert len(found.train([split]).history) == 2
    assert any(not torch.equal(before[name], tensor) for name, tensor in state(found).items())
    scores, spread = found.scorer(graph).with_spread(pairs_of(graph))
    assert ((scores >= 0) & (scores <= 1)).all()
    assert (spread >= 0).all()
    larger = blocks(size=15, seed=4)
    assert found.embed(larger).shape == (45, found.embed(graph).shape[1])
    assert (found.num_sets > 0) == (model in PRESETS)


@pytest.mark.parametrize(
    ("model", "directed", "meaning"),
    [
        ("pgnn-p-2l", True, "length"),
        ("pgnn-p-2l", False, "length"),
        ("pgnn-p-2l", True, "strength"),
        ("pgnn-p-2l", False, "strength"),
        ("pgnn-e-2l", True, "length"),
        ("pgnn-e-2l", False, "strength"),
        ("pgnn-f-2l", False, "length"),
        ("sage", True, "length"),
    ],
)
def test_weighted_and_directed_graphs_train(model, directed, meaning):
    graph = with_weights(blocks(alone=1), directed=directed)
    found = learnt(graph, model=model, weights=meaning)
    embedding = found.embed(graph)
    assert np.isfinite(embedding).all()
    if found.num_sets:
        plain = Graph.from_edges(graph.edges(), graph.num_nodes, directed=directed)
        assert not np.array_equal(embedding, found.embed(plain))


@pytest.mark.parametrize("model", ["pgnn-p-2l", "pgnn-e-2l"])
def test_disconnected_graphs_and_lone_nodes_train(model):
    parts = [blocks(size=8, num_blocks=1, seed=s) for s in range(4)]
    graph = Graph.disjoint_union(parts)
    graph = Graph.from_edges(graph.edges(), graph.num_nodes + 3)
    found = learnt(graph, model=model)
    assert np.isfinite(found.embed(graph)).all()
    lone = Graph.from_edges([], 5)
    assert found.scorer(lone)([(0, 1), (3, 4)]).shape == (2,)


@pytest.mark.parametrize(
    ("model", "meaning", "factor"),
    [
        ("pgnn-e-2l", "length", 4.0),
        ("pgnn-e-2l", "length", 10.0),
        ("pgnn-e-2l", "strength", 10.0),
        ("pgnn-p-2l", "length", 10.0),
    ],
)
def test_the_unit_of_weights_does_not_matter(model, meaning, factor):
    embeddings = []
    for scale in (1.0, factor):
        graph = with_weights(blocks(), factor=scale)
        embeddings.append(learnt(graph, model=model, weights=meaning).embed(graph))
    assert np.allclose(*embeddings, atol=1e-3 if factor == 10 else 1e-6)


@pytest.mark.parametrize("model", ["pgnn-e-2l", "pgnn-f-1l", "pgnn-p-2l", "gcn"])
@pytest.mark.parametrize("meaning", ["length", "strength"])
def test_ready_inverts_weights_where_the_model_reads_the_other_kind(model, meaning):
    graph = with_weights(blocks())
    found = fresh(graph, model=model, weights=meaning)
    reads = {"pgnn-e-2l": "length", "pgnn-f-1l": "length", "gcn": meaning}.get(model, "strength")
    plain = graph.weights / graph.weights.mean()
    wanted = plain if reads == meaning else 1 / plain
    assert np.allclose(found.ready(graph).weights, wanted, rtol=1e-12)
    assert found.ready(blocks()).weights is None


def test_lengths_of_another_graph_are_measured_in_the_unit_of_training():
    graph = with_weights(blocks())
    found = learnt(graph)
    unit = split_graph(graph, recipe()).graph.weights.mean()
    assert found.inputs.unit == unit != graph.weights.mean()
    longer = with_weights(blocks(seed=2), factor=3.0)
    assert np.array_equal(found.ready(longer).weights, longer.weights / unit)
    assert not np.allclose(found.embed(longer), found.embed(with_weights(blocks(seed=2))))


@pytest.mark.parametrize("meaning", ["length", "strength"])
def test_weights_out_of_all_proportion_are_refused(meaning):
    graph = with_weights(blocks())
    found = fresh(graph, weights=meaning)
    huge = with_weights(blocks(), factor=1e308)
    tiny = replace(huge, weights=huge.weights * 0 + 5e-324)
    unit = 1e-3 if meaning == "length" else 1e3
    found = replace(found, inputs=replace(found.inputs, unit=unit))
    with pytest.raises(PGNNError, match="too far from the mean weight in training"):
        found.embed(huge if meaning == "length" else tiny)
    with pytest.raises(PGNNError, match="too far from the mean weight"):
        learnt(huge)


# ---------------------------------------------------------------------- features


def features(graph, seed=0):
    x = np.random.default_rng(seed).normal(3, 2, size=(graph.num_nodes, 4)).astype(np.float32)
    x[:, 1] = 0.1  # constant, and no sum of tenths is exact
    x[:, 2] *= 1000
    return replace(graph, x=x)


def test_features_are_standardised_by_the_training_graph():
    graph = features(blocks())
    found = fresh(graph)
    x = found.ready(graph).x
    assert x.dtype == np.float32
    assert np.array_equal(x[:, 1], np.zeros(30))
    moving = x[:, [0, 2, 3]]
    assert np.allclose(moving.mean(0), 0, atol=1e-5)
    assert np.allclose(moving.std(0), 1, atol=1e-5)
    other = features(blocks(seed=3), seed=7)
    inputs = found.inputs
    assert np.allclose(found.ready(other).x, (other.x - inputs.mean) / inputs.scale)
    assert not np.allclose(found.ready(other).x.mean(0), 0, atol=1e-3)


def test_features_too_even_for_float32_stay_finite():
    graph = blocks()
    x = np.zeros((30, 1), dtype=np.float32)
    x[0] = 1e-45
    graph = replace(graph, x=x)
    assert np.isfinite(fresh(graph).ready(graph).x).all()


@pytest.mark.parametrize("model", ["pgnn-p-2l", "pgnn-e-1l", "gcn"])
def test_features_train_and_are_needed_again(model):
    graph = features(blocks())
    found = learnt(graph, model=model)
    assert found.num_features == 4
    assert np.isfinite(found.embed(features(blocks(size=12), seed=2))).all()
    with pytest.raises(
        PGNNError, match="trained with 4 features per node, and this graph has none"
    ):
        found.embed(blocks())
    for width in (3, 5):
        with pytest.raises(
            PGNNError, match=f"with 4 features per node, and this graph has {width};"
        ):
            found.scorer(replace(graph, x=np.ones((30, width), dtype=np.float32)))


@pytest.mark.parametrize("x", [None, np.empty((30, 0), dtype=np.float32)])
def test_features_are_ignored_by_a_model_trained_without(x):
    graph = replace(blocks(), x=x)
    found = learnt(graph)
    assert found.inputs.mean is None
    assert found.num_features == 0
    assert np.array_equal(found.embed(features(blocks())), found.embed(graph))
    assert np.array_equal(found.ready(features(blocks())).x, np.ones((30, 1)))


# ---------------------------------------------------------------------- scorer


def test_baseline_has_one_draw_and_no_spread():
    graph = blocks()
    scorer = fresh(graph, model="sage").scorer(graph, num_draws=7)
    assert len(scorer.embeddings) == 1
    assert not scorer.with_spread(pairs_of(graph))[1].any()


def test_scorer_gives_mean_and_deviation_over_draws():
    rng = np.random.default_rng(0)
    embeddings = [torch.from_numpy(rng.normal(size=(6, 3))) for _ in range(4)]
    pairs = np.array([(0, 1), (2, 2), (5, 0)])
    each = [1 / (1 + np.exp(-np.array([float(z[u] @ z[v]) for u, v in pairs]))) for z in embeddings]
    scorer = Scorer(DotDecoder(), embeddings)
    scores, spread = scorer.with_spread(pairs)
    assert np.allclose(scores, np.mean(each, axis=0))
    assert np.allclose(spread, np.std(each, axis=0))
    assert np.array_equal(scorer(pairs), scores)
    assert np.array_equal(scorer(pairs[:, ::-1]), scores)
    assert scorer(np.empty((0, 2), dtype=np.int64)).shape == (0,)
    assert scorer([]).shape == (0,)


@pytest.mark.parametrize(
    ("pairs", "words"),
    [([(0, 6)], "0..5"), ([(-1, 0)], "0..5"), ([0, 1], "shape"), ("ab", "pairs")],
)
def test_scorer_refuses_pairs_that_are_not(pairs, words):
    with pytest.raises(PGNNError, match=words):
        Scorer(DotDecoder(), [torch.ones(6, 3)])(pairs)


def test_embeddings_that_are_not_finite_are_refused():
    graph = blocks()
    found = fresh(graph)
    with torch.no_grad():
        next(found.model.parameters()).fill_(float("nan"))
    with pytest.raises(PGNNError, match="not finite"):
        found.embed(graph)


# ---------------------------------------------------------------------- devices and errors


@pytest.mark.parametrize("device", ["nonsense", "cuda:77", "meta", ""])
def test_device_that_is_not_there_is_refused(device, tmp_path):
    graph = blocks()
    with pytest.raises(PGNNError, match=f"device '{device}' cannot be used .*; use cpu"):
        make_learner(recipe(), [graph], device=device)
    fresh(graph).save(tmp_path / "model.safetensors")
    with pytest.raises(PGNNError, match=f"^device '{device}' cannot be used"):
        Learner.load(tmp_path / "model.safetensors", device=device)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is CUDA")
def test_cuda_is_refused_where_there_is_none():
    with pytest.raises(PGNNError, match="device 'cuda' cannot be used"):
        make_learner(recipe(), [blocks()], device="cuda")


def test_device_of_a_learner_is_where_its_model_is():
    assert fresh(blocks()).device == usable_device("cpu") == torch.device("cpu")


@pytest.mark.parametrize(
    ("graph", "settings", "words"),
    [
        (Graph.from_edges([(0, 1), (1, 2)], 5), {}, "too few to give every part"),
        (Graph.from_edges([(v, v + 1) for v in range(4)]), {"folds": 5}, "number of folds"),
        (Graph.from_edges([], 9), {}, "too few"),
        (Graph.from_edges([(u, v) for u in range(6) for v in range(u)]), {}, "too dense"),
        (Graph.from_edges([(v, v + 1) for v in range(30)]), {"task": "pair"}, "needs node labels"),
        (Graph.from_edges([(0, 1)], 9, y=[1] * 9), {"task": "pair"}, "the same label"),
    ],
)
def test_graphs_that_cannot_be_split_are_refused(graph, settings, words):
    with pytest.raises(PGNNError, match=words):
        learnt(graph, **settings)


def test_training_resumes_from_its_checkpoint(tmp_path):
    split = split_graph(blocks(), recipe())
    whole = fresh(split.graph, epochs=6)
    history = whole.train([split]).history

    def stop(record):
        if record.epoch == 4:
            raise KeyboardInterrupt

    path = tmp_path / "checkpoint.safetensors"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pgnn.training.fit._CHECKPOINT_SECONDS", -1.0)
        with pytest.raises(KeyboardInterrupt):
            fresh(split.graph, epochs=6).train([split], checkpoint=path, progress=stop)
    again = fresh(split.graph, epochs=6)
    seen = []
    course = again.train([split], checkpoint=path, resume=True, progress=seen.append)
    assert [record.epoch for record in seen] == [4, 5, 6]
    assert course.history == history
    assert_same_state(whole, again)


# ---------------------------------------------------------------------- files


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("plain", {}),
        ("features", {"task": "pair", "decoder": "dot"}),
        ("weighted", {"weights": "strength", "num_sets": 6}),
        ("weighted", {"model": "pgnn-p-2l", "c": 0.5}),
        ("plain", {"variant": "paper"}),
        ("features", {"model": "pgnn-f-1l", "scheme": "fixed"}),
        ("plain", {"model": "gat"}),
    ],
)
def test_a_saved_learner_gives_the_same_bits(tmp_path, settings, kind):
    graph = {"plain": blocks, "features": lambda: features(blocks())}.get(
        kind, lambda: with_weights(blocks(), factor=3.0)
    )()
    found = learnt(graph, **settings)
    found.save(tmp_path / "model.safetensors")
    again = Learner.load(tmp_path / "model.safetensors")
    assert again.recipe == found.recipe
    assert (again.num_sets, again.inputs.unit) == (found.num_sets, found.inputs.unit)
    assert np.array_equal(again.embed(graph, draw=3), found.embed(graph, draw=3))
    pairs = pairs_of(graph)
    for first, second in zip(
        found.scorer(graph).with_spread(pairs), again.scorer(graph).with_spread(pairs), strict=True
    ):
        assert np.array_equal(first, second)


def test_a_saved_paper_variant_loads_as_the_paper_variant(tmp_path):
    made = fresh(blocks(), variant="paper")
    made.save(tmp_path / "model.safetensors")
    again = Learner.load(tmp_path / "model.safetensors")
    assert again.recipe.variant == "paper"
    assert repr(again.model.layers) == repr(made.model.layers)
    assert repr(again.model.layers) != repr(fresh(blocks(), variant="released").model.layers)


def test_a_file_that_does_not_name_the_variant_is_of_the_released_one(tmp_path):
    """Files of earlier versions do not: they knew no other."""
    path = tmp_path / "model.safetensors"
    made = fresh(blocks())
    made.save(path)
    tensors, written = load_checkpoint(path)
    del written["recipe"]["variant"]
    save_checkpoint(path, tensors, written)
    assert Learner.load(path).recipe == made.recipe


def test_modules_made_elsewhere_are_a_learner_and_can_be_saved(tmp_path):
    graph = features(blocks())
    other = make_learner(recipe(model="gcn", decoder="dot", seed=9), [graph], standardise=False)
    zeros, ones = np.zeros(4, dtype=np.float32), np.ones(4, dtype=np.float32)
    inputs = Inputs(0, zeros, ones)
    chosen = recipe(model="gcn", decoder="dot").resolved(30)
    made = Learner(chosen, inputs, other.model, DotDecoder())
    assert np.array_equal(made.ready(graph).x, graph.x)
    assert made.embed(graph).shape == (30, 8)
    made.save(tmp_path / "model.safetensors")
    again = Learner.load(tmp_path / "model.safetensors")
    assert np.array_equal(again.embed(graph), made.embed(graph))


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "model.safetensors"
    graph = features(blocks())
    fresh(graph).save(path)
    return path


def change(path, change_tensors=None, **description):
    tensors, written = load_checkpoint(path)
    if change_tensors is not None:
        change_tensors(tensors)
    save_checkpoint(path, tensors, {**written, **description})


@pytest.mark.parametrize(
    "description",
    [
        {"kind": "training"},
        {"recipe": {"layers": 3}},
        {"recipe": {"model": "gcn"}},
        {"recipe": {"hidden_channels": 9}},
        {"recipe": 5},
        {"num_sets": "many"},
        {"num_sets": 0},
        {"num_sets": -1},
        {"num_sets": float("inf")},
        {"unit": 0},
        {"unit": float("nan")},
        {"unit": None},
    ],
)
def test_load_refuses_a_description_that_makes_no_sense(saved, description):
    change(saved, **description)
    with pytest.raises(PGNNError, match="not a trained model of pgnn, or damaged") as raised:
        Learner.load(saved)
    assert str(saved) in str(raised.value)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda tensors: tensors.pop("features.scale"),
        lambda tensors: tensors.pop("features.mean"),
        lambda tensors: tensors.update({"features.scale": torch.ones(3)}),
        lambda tensors: tensors.update({"features.scale": torch.zeros(4)}),
        lambda tensors: tensors.update({"features.mean": torch.full((4,), torch.nan)}),
        lambda tensors: tensors.update({"features.mean": torch.ones(())}),
        lambda tensors: tensors.pop("decoder.bias"),
        lambda tensors: tensors.update({"decoder.more": torch.ones(1)}),
        lambda tensors: tensors.update({"decoder.bias": torch.ones(7)}),
    ],
)
def test_load_refuses_tensors_that_do_not_fit(saved, spoil):
    change(saved, spoil)
    with pytest.raises(PGNNError, match="not a trained model of pgnn, or damaged"):
        Learner.load(saved)


def test_load_says_that_pgnn_best_of_an_earlier_version_was_another_model(saved):
    description = load_checkpoint(saved)[1]
    change(saved, recipe={**description["recipe"], "model": "pgnn-best"})
    with pytest.raises(PGNNError, match="an earlier version wrote it, whose pgnn-best was another"):
        Learner.load(saved)


def test_load_refuses_a_description_that_is_no_table(saved):
    tensors, _ = load_checkpoint(saved)
    written = save_checkpoint.__wrapped__  # past the door, as a stranger may write it
    written(saved, tensors, json.loads('["kind", "learner"]'))
    with pytest.raises(PGNNError, match=r"damaged .its description is no table"):
        Learner.load(saved)


class Bomb:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_load_executes_nothing(tmp_path):
    sign, path = tmp_path / "executed", tmp_path / "model.safetensors"
    pickle.loads(pickle.dumps(Bomb(sign)))
    assert sign.exists()  # the trap works
    sign.unlink()
    for write in (
        lambda: path.write_bytes(pickle.dumps(Bomb(sign))),
        lambda: torch.save(Bomb(sign), path),
    ):
        write()
        with pytest.raises(PGNNError, match="damaged"):
            Learner.load(path)
        assert not sign.exists()


def test_load_says_that_there_is_no_file(tmp_path):
    with pytest.raises(PGNNError, match="there is no such checkpoint"):
        Learner.load(tmp_path / "model.safetensors")


def test_save_keeps_the_old_file_if_it_is_cut_off(monkeypatch, saved):
    before = saved.read_bytes()

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(PGNNError, match="No space left"):
        fresh(blocks(), seed=9).save(saved)
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]


@pytest.mark.parametrize(("model", "counted"), [("pgnn-p-2l", True), ("pgnn-e-2l", False)])
def test_training_with_pagerank_says_what_memory_it_needs(monkeypatch, model, counted):
    needs = []
    monkeypatch.setattr(learner, "least_needed", lambda size, work: needs.append((size, work)))
    found = learnt(blocks(), model=model)
    positions = blocks().num_nodes * found.num_sets
    expected = [(600e6 + 25 * positions, f"training {model}")]
    assert needs == (expected if counted else [])
