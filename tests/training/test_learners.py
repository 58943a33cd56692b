"""Either kind of learner, by the model of its recipe and by what its file says."""

import networkx as nx
import numpy as np
import pytest
import torch

from pgnn import Graph, PGNNError
from pgnn.names import BEST
from pgnn.training.checkpoint import save_checkpoint
from pgnn.training.learner import Learner
from pgnn.training.learners import load_learner, make_any_learner
from pgnn.training.pair_learner import PairLearner
from pgnn.training.recipe import Recipe

KINDS = {BEST: PairLearner, "pgnn-e-1l": Learner, "gcn": Learner, "mlp": Learner}


def town():
    x = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)
    edges = list(nx.connected_caveman_graph(4, 5).edges)
    return Graph.from_edges(edges, x=x)


def fresh(model, **options):
    return make_any_learner(Recipe(model=model, hidden_channels=8), [town()], **options)


@pytest.mark.parametrize("model", KINDS)
def test_model_decides_the_kind(model):
    made = fresh(model)
    assert type(made) is KINDS[model]
    assert made.recipe.model == model


@pytest.mark.parametrize("model", KINDS)
def test_file_gives_back_the_kind_and_the_weights(model, tmp_path):
    made = fresh(model)
    made.save(tmp_path / "model.safetensors")
    loaded = load_learner(tmp_path / "model.safetensors")
    assert type(loaded) is KINDS[model]
    assert loaded.recipe == made.recipe
    for name, tensor in made.model.state_dict().items():
        assert torch.equal(tensor, loaded.model.state_dict()[name]), name


@pytest.mark.parametrize("kind", ["something else", None])
def test_file_of_another_kind_is_refused(kind, tmp_path):
    path = tmp_path / "model.safetensors"
    save_checkpoint(path, {"a": torch.zeros(1)}, {"kind": kind})
    with pytest.raises(PGNNError, match="not a trained model of pgnn, or damaged"):
        load_learner(path)


def test_file_that_is_absent_is_named(tmp_path):
    with pytest.raises(PGNNError, match=r"nosuch\.safetensors"):
        load_learner(tmp_path / "nosuch.safetensors")


@pytest.mark.parametrize("model", [BEST, "gcn"])
def test_options_reach_both_kinds(model, tmp_path):
    with pytest.raises(PGNNError, match="device"):
        fresh(model, device="nosuch")
    fresh(model).save(tmp_path / "model.safetensors")
    with pytest.raises(PGNNError, match="device"):
        load_learner(tmp_path / "model.safetensors", device="nosuch")
