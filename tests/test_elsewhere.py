"""The whole pipeline on a device that is not the CPU: nothing reads its memory, nothing mixes."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from elsewhere import There, elsewhere
from pgnn import anchor_distances, anchor_ppr, sample_anchor_sets
from pgnn.datasets.synthetic import communities
from pgnn.nn import Positions, make_baseline, make_pgnn
from pgnn.prediction.ranking import predict
from pgnn.training.learners import load_learner
from pgnn.training.pipeline import Problem, train
from pgnn.training.recipe import Recipe

GRAPH = communities(4, 6, rng=0)
MODELS = ["gcn", "gat", "pgnn-e-2l", "pgnn-p-2l", "pgnn-best"]


def recipe(model):
    return Recipe(model=model, epochs=3, eval_draws=2)


def graph_of(model):
    features = np.random.default_rng(0).normal(size=(GRAPH.num_nodes, 3))
    return GRAPH if model == "pgnn-e-2l" else replace(GRAPH, x=features.astype(np.float32))


# ---------------------------------------------------------------------- the stand-in itself


def test_stand_in_refuses_numpy_and_mixing():
    with elsewhere() as device:
        there, here = torch.ones(3, device=device), torch.ones(3)
        assert isinstance(there, There)
        assert isinstance(there + there, There)
        with pytest.raises(RuntimeError, match="numpy"):
            there.numpy()
        with pytest.raises(RuntimeError, match="numpy"):
            np.asarray(there)
        with pytest.raises(RuntimeError, match="same device"):
            there + here
        assert (there.cpu() + here).tolist() == [2, 2, 2]
        assert (here.to(device) * 3).sum().item() == 9
        there.requires_grad_()
        there.square().sum().backward()
        assert isinstance(there.grad, There)
        assert there.grad.tolist() == [2, 2, 2]


# ---------------------------------------------------------------------- train, ask, save, load


@pytest.mark.parametrize("model", MODELS)
def test_pipeline_gives_the_same_there_as_here(model, tmp_path):
    graph = graph_of(model)
    problem = Problem.of_graph(graph, recipe(model))
    here = train(problem, recipe(model))
    pairs = [[0, 1], [3, 20], [5, 2]]
    with elsewhere() as device:
        there = train(problem, recipe(model), device=device, out=tmp_path / "run")
        assert all(isinstance(p, There) for p in there.learner.model.parameters())
        assert there.outcome.test_auc == pytest.approx(here.outcome.test_auc, abs=0.01)
        losses = [[e.loss for e in run.fit.history] for run in (there, here)]
        assert losses[0] == pytest.approx(losses[1], rel=1e-3)
        embedding = there.learner.embed(graph)
        scores = there.learner.scorer(graph)(pairs)
        assert len(predict(there.learner, graph, top=5).pairs) == 5
        loaded = load_learner(tmp_path / "run" / "model.safetensors", device=device)
        assert all(isinstance(p, There) for p in loaded.model.parameters())
        assert loaded.scorer(graph)(pairs) == pytest.approx(scores)
    assert type(embedding) is np.ndarray
    back = load_learner(tmp_path / "run" / "model.safetensors")
    assert back.scorer(graph)(pairs) == pytest.approx(scores, rel=1e-4)


# ---------------------------------------------------------------------- without numbers


@pytest.mark.parametrize("name", ["pgnn-e-2l", "pgnn-f-1l", "pgnn-p-2l"])
@pytest.mark.parametrize("variant", ["paper", "released"])
def test_a_pgnn_without_numbers_has_the_shapes_of_one_with(name, variant):
    """Nothing on the way looks at numbers: a device would have to wait for them."""
    sets = sample_anchor_sets(GRAPH.num_nodes, rng=0)
    if name == "pgnn-p-2l":
        positions = Positions.from_proximity(anchor_ppr(GRAPH, sets), sets)
        positions = positions.standardised().quantised().to(dtype=torch.float32)
    else:
        positions = Positions.from_distances(anchor_distances(GRAPH, sets))
    model, x = make_pgnn(name, 3, variant=variant), torch.ones(GRAPH.num_nodes, 3)
    z, h = model.encode(x, positions)
    shapes = model.to("meta").encode(x.to("meta"), positions.to("meta"))
    assert [each.shape for each in shapes] == [z.shape, h.shape]
    sum(each.sum() for each in shapes).backward()
    assert all(p.grad is None or p.grad.is_meta for p in model.parameters())


@pytest.mark.parametrize("name", ["sage", "gin", "mlp"])  # PyG looks for loops in the others
def test_a_baseline_without_numbers_has_the_shapes_of_one_with(name):
    x, edges = torch.ones(4, 3), torch.tensor([[0, 1, 2], [1, 2, 3]])
    model = make_baseline(name, 3)
    shape = model(x, edges).shape
    assert model.to("meta")(x.to("meta"), edges.to("meta")).shape == shape
