from itertools import combinations

import numpy as np
import pytest
import torch

from pgnn import Graph
from pgnn.errors import PGNNError
from pgnn.evaluation.heuristics import HEURISTICS, heuristic_scores
from pgnn.prediction.ranking import predict, rank_by_heuristic, score_by_heuristic, score_pairs
from pgnn.training.pipeline import Problem, train
from pgnn.training.recipe import Recipe

QUICK = {
    "model": "pgnn-p-2l",
    "epochs": 2,
    "eval_every": 1,
    "eval_draws": 3,
    "hidden_channels": 8,
    "folds": 2,
}


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def sparse(n=24, *, directed=False, alone=1):
    rng = np.random.default_rng(2)
    edges = [(v, (v + 1) % n) for v in range(n)] + rng.integers(n, size=(n, 2)).tolist()
    return Graph.from_edges(edges, n + alone, directed=directed, y=np.arange(n + alone) % 3)


def learner_of(task):
    recipe = Recipe(task=task, **QUICK)
    return train(Problem.of_graph(sparse(), recipe), recipe, heuristics=False).learner


@pytest.fixture(scope="module")
def link_learner():
    return learner_of("link")


@pytest.fixture(scope="module")
def pair_learner():
    return learner_of("pair")


def joined(graph):
    return {frozenset(edge) for edge in graph.edges().tolist()}


def brute_force(learner, graph, *, with_edges=False):
    """All pairs without an edge, best first, pair by pair."""
    pairs = [
        pair
        for pair in combinations(range(graph.num_nodes), 2)
        if with_edges or frozenset(pair) not in joined(graph)
    ]
    scorer = learner.scorer(graph)
    scores = [scorer([pair])[0] for pair in pairs]
    order = sorted(range(len(pairs)), key=lambda i: (-scores[i], pairs[i]))
    return [pairs[i] for i in order], [scores[i] for i in order]


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("top", [1, 15])
def test_links_are_the_best_of_all_pairs_without_an_edge(link_learner, directed, top):
    graph = sparse(directed=directed)
    pairs, scores = brute_force(link_learner, graph)
    found = predict(link_learner, graph, top=top)
    assert np.allclose(found.scores, scores[:top], atol=1e-6)
    assert (np.diff(found.scores) <= 0).all()
    assert not {frozenset(pair) for pair in found.pairs.tolist()} & joined(graph)
    assert {tuple(pair) for pair in found.pairs.tolist()} <= {
        pair for pair, score in zip(pairs, scores, strict=True) if score > scores[top - 1] - 1e-6
    }
    assert found.exact
    assert "without an edge" in found.how


def test_scores_and_spread_are_those_of_the_scorer(link_learner):
    graph = sparse()
    found = predict(link_learner, graph, top=10)
    scores, spread = link_learner.scorer(graph).with_spread(found.pairs)
    assert np.array_equal(found.scores, scores)
    assert np.array_equal(found.spread, spread)
    assert found.spread.any()


def test_top_beyond_what_there_is_gives_all_there_is(link_learner):
    graph = sparse()
    pairs, _ = brute_force(link_learner, graph)
    found = predict(link_learner, graph, top=10_000)
    assert sorted(map(tuple, found.pairs.tolist())) == sorted(pairs)


def test_a_graph_without_missing_links_has_no_predictions(link_learner):
    complete = Graph.from_edges(list(combinations(range(6), 2)))
    found = predict(link_learner, complete)
    assert found.pairs.shape == (0, 2)
    assert found.scores.shape == found.spread.shape == (0,)
    assert found.how.startswith("there are no pairs")
    whole = predict(link_learner, complete, nodes=np.array([2]))
    assert len(whole.pairs) == 0


def test_asked_nodes_come_first_in_their_pairs_and_in_order(link_learner):
    graph = sparse()
    lone = graph.num_nodes - 1
    asked = np.array([lone, 3, 0])
    found = predict(link_learner, graph, top=4, nodes=asked)
    assert found.pairs[:, 0].tolist() == [lone] * 4 + [3] * 4 + [0] * 4
    pairs, scores = brute_force(link_learner, graph)
    for node in asked.tolist():
        mine = [s for pair, s in zip(pairs, scores, strict=True) if node in pair]
        rows = found.pairs[:, 0] == node
        assert np.allclose(found.scores[rows], mine[:4], atol=1e-6)
    assert not {frozenset(pair) for pair in found.pairs.tolist()} & joined(graph)


def test_one_node_with_few_candidates_gives_them_all(link_learner):
    star = Graph.from_edges([(0, v) for v in range(1, 9)] + [(1, 2)], 10)
    found = predict(link_learner, star, top=50, nodes=np.array([0]))
    assert found.pairs.tolist() == [[0, 9]]
    found = predict(link_learner, star, top=50, nodes=np.array([9]))
    assert sorted(found.pairs.tolist()) == [[9, v] for v in range(9)]


@pytest.mark.parametrize("nodes", [None, [5, 24]])
def test_task_pair_gives_the_most_similar_nodes_of_each_node_joined_or_not(pair_learner, nodes):
    graph = sparse()
    found = predict(pair_learner, graph, top=3, nodes=None if nodes is None else np.array(nodes))
    asked = list(range(graph.num_nodes)) if nodes is None else nodes
    assert found.pairs[:, 0].tolist() == np.repeat(asked, 3).tolist()
    pairs, scores = brute_force(pair_learner, graph, with_edges=True)
    for node in asked:
        mine = [s for pair, s in zip(pairs, scores, strict=True) if node in pair]
        assert np.allclose(found.scores[found.pairs[:, 0] == node], mine[:3], atol=1e-6)
    assert found.exact


def test_task_pair_lists_neighbours_too(pair_learner):
    graph = sparse()
    found = predict(pair_learner, graph, top=graph.num_nodes)
    assert joined(graph) <= {frozenset(pair) for pair in found.pairs.tolist()}
    assert len(found.pairs) == graph.num_nodes * (graph.num_nodes - 1)


def test_limit_bounds_what_is_scored_and_says_so(link_learner):
    graph = sparse()
    found = predict(link_learner, graph, top=1000, limit=40)
    assert len(found.pairs) <= 40
    assert not found.exact
    assert not {frozenset(pair) for pair in found.pairs.tolist()} & joined(graph)


def test_predictions_of_the_same_learner_are_the_same_again(link_learner):
    first, second = (predict(link_learner, sparse(), top=5) for _ in range(2))
    assert np.array_equal(first.pairs, second.pairs)
    assert np.array_equal(first.scores, second.scores)


def test_links_of_a_graph_of_another_size_keep_to_its_nodes(link_learner):
    graph = sparse(40, alone=0)
    found = predict(link_learner, graph, top=2000)
    assert len(found.pairs) == 40 * 39 // 2 - graph.num_edges
    assert set(graph.node_ids[found.pairs].ravel().tolist()) <= set(range(40))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"top": 0}, "top must be a positive integer .got 0"),
        ({"top": -3}, "top must be a positive integer"),
        ({"nodes": np.array([25])}, "nodes must be node indices, in 0..24"),
        ({"nodes": np.array([-1])}, "nodes must be node indices"),
        ({"nodes": np.array([], dtype=int)}, "one or more node indices"),
        ({"limit": 0}, "limit must be a positive integer"),
    ],
)
def test_predict_refuses_what_cannot_be_asked(link_learner, given, words):
    with pytest.raises(PGNNError, match=words):
        predict(link_learner, sparse(), **given)


# ---------------------------------------------------------------------- pairs of one's own


@pytest.mark.parametrize("directed", [False, True])
def test_own_pairs_are_scored_in_order_without_the_edges_among_them(link_learner, directed):
    graph = sparse(directed=directed)
    edges = graph.edges()[[3, 8]].astype(int)
    pairs = [(0, 12), edges[0].tolist(), (24, 3), edges[1][::-1].tolist(), (0, 12)]
    found = score_pairs(link_learner, graph, pairs, base_rate=0.5)
    assert found.pairs.tolist() == [list(pair) for pair in pairs]
    assert (found.num_edges, found.exact, found.base_rate) == (2, True, 0.5)
    gone = {frozenset(edge) for edge in edges.tolist()}
    kept = [i for i, e in enumerate(graph.edges().tolist()) if frozenset(e) not in gone]
    scores, spread = link_learner.scorer(graph.with_edges(kept)).with_spread(pairs)
    assert np.allclose(found.scores, scores, atol=1e-6)
    assert np.allclose(found.spread, spread, atol=1e-6)


def test_own_pairs_of_labels_hide_nothing(pair_learner):
    edges = sparse().edges()[:4]
    found = score_pairs(pair_learner, sparse(), edges)
    assert np.array_equal(found.scores, pair_learner.scorer(sparse())(edges))
    assert found.num_edges == 4


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ([(0, 1), (2, 2)], "two different nodes"),
        ([(0, 99)], "node indices must lie in"),
        (sparse().edges(), "edges of the graph are among the pairs"),
    ],
)
def test_own_pairs_that_cannot_be_scored_are_refused(link_learner, pairs, words):
    with pytest.raises(PGNNError, match=words):
        score_pairs(link_learner, sparse(), pairs)


def test_no_own_pairs_have_no_scores(link_learner):
    found = score_pairs(link_learner, sparse(), np.empty((0, 2), dtype=int))
    assert len(found.pairs) == len(found.scores) == len(found.spread) == 0


# ---------------------------------------------------------------------- heuristics


@pytest.mark.parametrize("name", HEURISTICS)
def test_a_heuristic_ranks_pairs_without_an_edge_as_its_scores_do(name):
    graph = sparse()
    found = rank_by_heuristic(name, graph, top=7)
    pairs = [p for p in combinations(range(25), 2) if frozenset(p) not in joined(graph)]
    scores = heuristic_scores(graph, pairs, name)
    assert found.scores.tolist() == sorted(scores.tolist(), reverse=True)[:7]
    assert found.scores.tolist() == heuristic_scores(graph, found.pairs, name).tolist()
    assert (found.base_rate, found.exact) == (None, True)
    assert not joined(graph) & {frozenset(pair) for pair in found.pairs.tolist()}


def test_a_heuristic_lists_similar_nodes_of_each_node_for_task_pair():
    found = rank_by_heuristic("katz", sparse(), task="pair", top=2, nodes=np.array([4, 1]))
    assert found.pairs[:, 0].tolist() == [4, 4, 1, 1]


def test_a_heuristic_scores_own_pairs_in_their_order():
    graph = sparse()
    pairs = [(3, 9), (0, 1), (3, 9)]
    found = score_by_heuristic("common-neighbours", graph, pairs)
    assert found.pairs.tolist() == [list(pair) for pair in pairs]
    assert found.scores.tolist() == heuristic_scores(graph, pairs, "common neighbours").tolist()
    assert found.num_edges == 1
    with pytest.raises(PGNNError, match="two different nodes"):
        score_by_heuristic("katz", graph, [(2, 2)])
