"""Groups and labels of nodes by what a model of task "pair" holds for alike."""

import networkx as nx
import numpy as np
import pytest
import torch
from sklearn.metrics import adjusted_rand_score

from pgnn import Graph
from pgnn.errors import PGNNError
from pgnn.prediction import groups as module
from pgnn.prediction.groups import find_groups
from pgnn.training.pipeline import Problem, train
from pgnn.training.recipe import Recipe

TEAMS = np.repeat(np.arange(4), 15)


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def communities(y, seed=0):
    graph = nx.planted_partition_graph(4, 15, 0.5, 0.03, seed=seed)
    return Graph.from_edges(list(graph.edges()), 60, y=y)


def some_unknown(seed=1):
    """Names of teams, about a third of them missing."""
    unknown = np.random.default_rng(seed).random(60) < 0.35
    return [None if gone else f"team {team}" for gone, team in zip(unknown, TEAMS, strict=True)]


def learner_of(graph, **settings):
    recipe = Recipe(**{"task": "pair", "epochs": 6, **settings})
    return train(Problem.of_graph(graph, recipe), recipe, heuristics=False).learner


@pytest.fixture(scope="module")
def best():
    return learner_of(communities(some_unknown()))


def test_groups_are_the_teams_and_unknown_labels_are_predicted(best):
    graph = communities(some_unknown())
    found = find_groups(best, graph)
    assert found.num_groups == 4
    assert adjusted_rand_score(TEAMS, found.group) > 0.9
    assert found.predicted.tolist() == [label is None for label in some_unknown()]
    truth = [f"team {team}" for team in TEAMS]
    right = np.array([one == other for one, other in zip(found.labels, truth, strict=True)])
    assert right[~found.predicted].all()
    assert right[found.predicted].mean() > 0.9
    assert ((found.chance[found.predicted] > 0) & (found.chance[found.predicted] < 1)).all()
    assert (np.diff(np.bincount(found.group)) <= 0).all()  # the largest first


def test_number_of_groups_is_found_without_labels(best):
    found = find_groups(best, communities(None, seed=5))
    assert found.num_groups == 4
    assert adjusted_rand_score(TEAMS, found.group) > 0.9
    assert found.labels is None
    assert set(found.rows()[0]) == {"id", "group"}
    assert "the largest gap between eigenvalues" in found.how


def test_number_of_groups_can_be_typed(best):
    graph = communities(some_unknown())
    assert find_groups(best, graph, num_groups=7).num_groups == 7
    assert find_groups(best, graph, num_groups=1).group.tolist() == [0] * 60
    with pytest.raises(PGNNError, match="groups must be at most the number of nodes, 60"):
        find_groups(best, graph, num_groups=61)
    with pytest.raises(PGNNError, match="groups must be a positive integer"):
        find_groups(best, graph, num_groups=-1)


def test_a_large_graph_is_divided_by_near_pairs(best, monkeypatch):
    monkeypatch.setattr(module, "ALL_PAIRS", 100)
    found = find_groups(best, communities(some_unknown()))
    assert " of 1,770 pairs" in found.how
    assert adjusted_rand_score(TEAMS, found.group) > 0.7
    truth = np.array([f"team {team}" for team in TEAMS])
    assert (np.array(found.labels) == truth)[found.predicted].mean() > 0.9


def test_a_node_without_edges_gets_a_group_and_a_label(best):
    labels = [*some_unknown(), None]
    graph = Graph.from_edges(communities(None).edges(), 61, y=labels)
    found = find_groups(best, graph)
    assert found.labels[60] in {f"team {team}" for team in range(4)}
    assert found.chance[60] < 0.9


def test_an_embedding_finds_groups_too():
    graph = communities(TEAMS)
    learner = learner_of(graph, model="pgnn-p-2l", hidden_channels=8, eval_draws=2, epochs=20)
    found = find_groups(learner, graph)
    assert found.num_groups == 4
    assert found.labels == TEAMS.tolist()
    assert not found.predicted.any()


def test_a_run_of_links_has_no_groups():
    graph = communities(None)
    with pytest.raises(PGNNError, match="groups is for runs of task 'pair'"):
        find_groups(learner_of(graph, task="link", epochs=2), graph)
