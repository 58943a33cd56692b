"""Reasons of a score: which groups there are, and whether the score falls without them."""

import networkx as nx
import numpy as np
import pytest
import torch

from pgnn import Graph
from pgnn.errors import PGNNError
from pgnn.pairs.columns import column_names
from pgnn.pairs.paths import without_edges
from pgnn.pairs.proximities import proximity_columns
from pgnn.prediction.explain import explain, first_reasons, group_of
from pgnn.prediction.ranking import predict, score_pairs
from pgnn.training.pipeline import Problem, train
from pgnn.training.recipe import Recipe


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def communities(*, seed=0, x=None):
    graph = nx.planted_partition_graph(4, 15, 0.5, 0.02, seed=seed)
    labels = [f"team {v // 15}" for v in graph]
    return Graph.from_edges(
        list(graph.edges()), 60, y=labels, x=x, node_ids=[f"n{v}" for v in graph]
    )


def learner_of(graph, **settings):
    recipe = Recipe(**settings)
    return train(Problem.of_graph(graph, recipe), recipe, heuristics=False).learner


@pytest.fixture(scope="module")
def best():
    return learner_of(communities(), epochs=6)


@pytest.fixture(scope="module")
def embedding():
    return learner_of(communities(), model="pgnn-e-2l", epochs=5, hidden_channels=8, eval_draws=2)


@pytest.fixture(scope="module")
def teams():
    return learner_of(communities(), task="pair", epochs=3)


# ---------------------------------------------------------------------- groups of columns


@pytest.mark.parametrize("task", ["link", "pair"])
def test_every_column_has_a_group_and_none_is_left_over(task):
    assert "other" not in {group_of(name) for name in column_names(task)}


def test_columns_of_directed_graphs_find_their_groups_by_name():
    groups = {name: group_of(name) for name in proximity_columns(directed=True)}
    assert "other" not in groups.values()
    assert groups["walk_2_forward"] == groups["common_successors"] == "common"
    assert groups["walk_24_backward"] == groups["pagerank_0.5_forward"] == "walks"
    assert groups["three_paths_backward"] == groups["walk_3_forward"] == "three"
    assert groups["in_degree_source"] == groups["core_target"] == "ends"
    assert groups["reverse_edge"] == "joined"
    assert group_of("something_new") == "other"


# ---------------------------------------------------------------------- effects


def test_first_reasons_evidence_is_needed_by_the_score(best):
    graph = communities()
    likely = predict(best, graph, top=30)
    reasons = first_reasons(best, graph, likely.pairs, base_rate=likely.base_rate)
    fell = 0
    for pair, score, reason in zip(likely.pairs, likely.scores, reasons, strict=True):
        less = without_edges(graph, reason.evidence)
        after = score_pairs(best, less, [pair], base_rate=likely.base_rate).scores[0]
        assert after == pytest.approx(reason.without)
        assert reason.effect > 0
        fell += after < score
    assert fell >= 29


def test_first_reason_is_that_of_explain(best):
    graph = communities()
    pairs = predict(best, graph, top=6).pairs
    for (u, v), reason in zip(pairs.tolist(), first_reasons(best, graph, pairs), strict=True):
        first = explain(best, graph, u, v).reasons[0]
        assert (first.name, first.effect) == (reason.name, pytest.approx(reason.effect))


def test_score_and_effects_are_those_of_the_model(best):
    graph = communities()
    ((u, v),) = predict(best, graph, top=1).pairs.tolist()
    explanation = explain(best, graph, u, v)
    asked = score_pairs(best, graph, [(u, v)])
    assert explanation.score == pytest.approx(asked.scores[0])
    assert (explanation.base_rate, explanation.is_edge) == (asked.base_rate, False)
    effects = [reason.effect for reason in explanation.reasons[1:]]
    assert effects == sorted(effects, reverse=True)
    assert all(-1 <= effect <= explanation.score for effect in effects)
    common = next(each for each in explanation.reasons if each.group == "common")
    shared = sorted(nx.common_neighbors(graph.to_networkx(), f"n{u}", f"n{v}"))
    assert common.value == len(shared)
    assert common.name.startswith(f"{len(shared)} common neighbours (n")
    cut = {end for edge in common.evidence.tolist() for end in edge} - {u, v}
    assert sorted(f"n{node}" for node in cut) == shared


def test_paths_and_heuristics_leave_out_the_pairs_own_edge(best):
    graph = communities()
    u, v = graph.edges()[0].tolist()
    explanation = explain(best, graph, u, v)
    assert explanation.is_edge
    assert all(len(path) > 2 for path in explanation.paths)
    without = explain(best, without_edges(graph, np.array([(u, v)])), u, v)
    assert not without.is_edge
    assert explanation.paths == without.paths
    assert (
        explanation.heuristics["resource allocation"] == without.heuristics["resource allocation"]
    )
    assert explanation.score == pytest.approx(score_pairs(best, graph, [(u, v)]).scores[0])


def test_nodes_of_different_components_are_explained(best):
    edges = communities().edges()
    apart = Graph.from_edges(np.concatenate([edges, edges + 60]))
    explanation = explain(best, apart, 0, 61)
    assert explanation.paths == []
    assert {"no common neighbours", "no path"} <= {each.name for each in explanation.reasons}


def test_a_node_with_itself_is_refused(best):
    with pytest.raises(PGNNError, match="two different nodes \\(got 'n3' twice\\)"):
        explain(best, communities(), 3, 3)


# ---------------------------------------------------------------------- other models


def test_a_model_of_embeddings_has_reasons_by_their_evidence(embedding):
    graph = communities()
    ((u, v),) = predict(embedding, graph, top=1).pairs.tolist()
    explanation = explain(embedding, graph, u, v)
    assert explanation.reasons
    for reason in explanation.reasons:
        assert len(reason.evidence)
        assert reason.effect == pytest.approx(explanation.score - reason.without)
    assert set(explanation.to_json()) >= {"source", "target", "score", "reasons", "paths"}


def test_an_edge_is_evidence_for_the_same_label(teams):
    graph = communities()
    u, v = graph.edges()[0].tolist()
    explanation = explain(teams, graph, u, v)
    assert explanation.task == "pair"
    joined = next(each for each in explanation.reasons if each.group == "joined")
    assert (joined.name, joined.value) == ("joined by an edge", 1.0)
    assert joined.evidence.tolist() == [[u, v]]


def test_features_are_a_reason_where_there_are_some():
    rng = np.random.default_rng(0)
    kind = np.repeat(np.eye(4), 15, axis=0) + 0.05 * rng.normal(size=(60, 4))
    graph = communities(x=kind.astype(np.float32))
    learner = learner_of(graph, epochs=6)
    same = explain(learner, graph, 0, 5)
    (reason,) = (each for each in same.reasons if each.group == "features")
    assert reason.name == "similar features"
    assert reason.value == pytest.approx(1, abs=0.05)
    assert (len(reason.evidence), reason.without) == (0, None)


def test_directed_graphs_are_explained_with_edges_that_they_have(best):
    edges = communities().edges()
    graph = Graph.from_edges(edges[:, ::-1], directed=True)
    explanation = explain(best, graph, 0, 1)
    stored = {frozenset(edge) for edge in edges.tolist()}
    for reason in explanation.reasons:
        assert all(frozenset(edge) in stored for edge in reason.evidence.tolist())


def test_a_recommendation_is_explained_by_pairs_across_the_sides():
    rng = np.random.default_rng(0)
    rows = {(c, 30 + (c % 3) * 5 + int(rng.integers(5))) for c in range(30) for _ in range(5)}
    shop = Graph.from_edges(sorted(rows), 45).with_sides(["customer"] * 30 + ["product"] * 15)
    recipe = Recipe(epochs=3, test=0.0)
    learner = train(Problem.of_graph(shop, recipe), recipe, heuristics=False).learner
    pair = next((0, p) for p in range(30, 35) if (0, p) not in rows)
    explained = explain(learner, shop, *pair)
    assert explained.reasons
    assert "item-based filtering" in explained.heuristics
    assert "common neighbours" not in explained.heuristics


def test_a_directed_link_is_explained_from_source_to_target():
    rng = np.random.default_rng(0)
    edges = {(t, int(rng.integers(t))) for t in range(5, 60) for _ in range(4)}
    cites = Graph.from_edges(sorted(edges), 60, directed=True)
    recipe = Recipe(epochs=3, test=0.0)
    learner = train(Problem.of_graph(cites, recipe), recipe, heuristics=False).learner
    pair = next((50, v) for v in range(50) if (50, v) not in edges)
    ahead, back = explain(learner, cites, *pair), explain(learner, cites, *pair[::-1])
    assert ahead.score > back.score
    assert "common successors" in ahead.heuristics
