import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import auc, average_precision_score, roc_auc_score

from pgnn import Graph
from pgnn.errors import PGNNError
from pgnn.evaluation import judging
from pgnn.evaluation.heuristics import HEURISTICS
from pgnn.evaluation.judging import (
    Judgement,
    held_out,
    hide_pairs,
    judge,
    judge_graphs,
    judge_heuristics,
    judge_more,
    roc_points,
)
from pgnn.training.splits import PairSet
from strategies import graphs


def unordered(pairs):
    return {frozenset((int(u), int(v))) for u, v in pairs}


def ring(n=20, **more):
    return Graph.from_edges([(v, (v + 1) % n) for v in range(n)], **more)


# ---------------------------------------------------------------------- judge, roc_points


def test_judge_gives_values_computed_by_hand():
    found = judge([1, 1, 0, 0], [0.9, 0.2, 0.5, 0.1])  # ranks of positives: 1 and 2
    assert found == {
        "roc_auc": 0.75,
        "average_precision": pytest.approx((1 + 2 / 3) / 2),
        "mrr": 0.75,
    }


@pytest.mark.parametrize(("num_negatives", "hits"), [(10, 0), (11, 1), (50, 1), (51, 2), (101, 3)])
def test_judge_leaves_out_hits_where_k_reaches_the_number_of_negatives(num_negatives, hits):
    found = judge(np.arange(num_negatives + 1) < 1, np.arange(num_negatives + 1.0))
    assert [name for name in found if name.startswith("hits")] == [
        f"hits@{k}" for k in (10, 50, 100)[:hits]
    ]


def test_judge_counts_hits_by_rank_among_negatives():
    scores = np.concatenate([[120.5, 95.5, 60.5, 0.5], np.arange(1.0, 121.0)])  # ranks 1 26 61 121
    found = judge(np.arange(124) < 4, scores)
    assert [found[f"hits@{k}"] for k in (10, 50, 100)] == [0.25, 0.5, 0.75]
    assert found["mrr"] == pytest.approx((1 + 1 / 26 + 1 / 61 + 1 / 121) / 4)


labelled_scores = st.lists(
    st.tuples(st.booleans(), st.integers(0, 6)), min_size=2, max_size=60
).filter(lambda rows: len({label for label, _ in rows}) == 2)


@given(labelled_scores)
@settings(max_examples=60)
def test_judge_agrees_with_sklearn(rows):
    labels, scores = np.array(rows).T
    found = judge(labels, scores / 7)
    assert found["roc_auc"] == pytest.approx(roc_auc_score(labels, scores))
    assert found["average_precision"] == pytest.approx(average_precision_score(labels, scores))


def test_judge_needs_both_kinds_of_pairs():
    with pytest.raises(PGNNError, match="both classes are needed"):
        judge([1, 1], [0.1, 0.2])


@given(labelled_scores)
@settings(max_examples=60)
def test_roc_points_rise_from_corner_to_corner(rows):
    labels, scores = np.array(rows).T
    found = roc_points(labels, scores)
    false, true = found["fpr"], found["tpr"]
    assert (false[0], true[0], false[-1], true[-1]) == (0, 0, 1, 1)
    assert (np.diff(false) >= 0).all()
    assert (np.diff(true) >= 0).all()
    assert auc(false, true) == pytest.approx(roc_auc_score(labels, scores))


def test_roc_points_of_many_pairs_are_few_and_keep_the_area():
    rng = np.random.default_rng(0)
    labels = rng.random(20_000) < 0.5
    scores = labels + rng.normal(size=20_000)
    found = roc_points(labels, scores)
    assert 100 < len(found["fpr"]) == len(found["tpr"]) <= 200
    assert (found["fpr"][0], found["tpr"][0], found["fpr"][-1], found["tpr"][-1]) == (0, 0, 1, 1)
    assert auc(found["fpr"], found["tpr"]) == pytest.approx(roc_auc_score(labels, scores), abs=1e-3)


# ---------------------------------------------------------------------- judge_graphs


def labelled(labels):
    return PairSet(np.array([(0, v + 1) for v in range(len(labels))]), labels)


def test_judge_graphs_of_one_graph_has_its_metrics_and_its_curve():
    labels, scores = [1, 1, 0, 0], np.array([0.9, 0.2, 0.5, 0.1])
    judged = judge_graphs([labelled(labels)], [scores])
    assert judged == Judgement(4, judge(labels, scores), roc_points(labels, scores))


def test_judge_graphs_of_several_gives_means_and_leaves_graphs_of_one_kind_out():
    sets = [labelled([1, 1, 0, 0]), labelled([1, 0]), labelled([1, 1, 1])]
    scores = [np.array([0.9, 0.2, 0.5, 0.1]), np.array([0.1, 0.9]), np.ones(3)]
    judged = judge_graphs(sets, scores)
    assert judged.metrics["roc_auc"] == (0.75 + 0) / 2
    assert judged.num_pairs == 9
    assert judged.roc is None
    assert judge_graphs(sets[::2], scores[::2]).roc is not None  # only one has a curve


def test_judge_graphs_without_both_kinds_is_refused():
    with pytest.raises(PGNNError, match="no graph has positive and negative pairs"):
        judge_graphs([labelled([1, 1]), labelled([0])], [np.ones(2), np.ones(1)])


@pytest.mark.parametrize("curve", [None, {"fpr": [0.0, 1.0], "tpr": [0.0, 1.0]}])
def test_judgement_survives_a_round_trip_through_json(curve):
    judged = Judgement(7, {"roc_auc": 0.5, "mrr": 1.0}, curve)
    document = judged.to_json()
    assert Judgement.from_json(document, 99) == judged
    del document["num_pairs"]  # as an older version wrote it
    assert Judgement.from_json(document, 99).num_pairs == 99
    del document["metrics"]
    with pytest.raises(PGNNError, match="metrics must be numbers by name"):
        Judgement.from_json(document, 99)


# ---------------------------------------------------------------------- heuristics


def all_pairs(graph):
    pairs = np.array(list(combinations(range(graph.num_nodes), 2)))
    joined = unordered(graph.edges())
    return PairSet(pairs, [frozenset(pair) in joined for pair in pairs.tolist()])


def test_heuristics_judge_every_pair_of_a_small_graph():
    graph = ring(12)
    pairs = all_pairs(graph)
    judged = judge_heuristics([(graph, pairs)])
    assert set(judged) == set(HEURISTICS)
    assert all(one.num_pairs == len(pairs) for one in judged.values())
    # Without its own edge a pair is far apart, and its degrees are 1 where those of others are 2.
    assert judged["shortest path"].metrics["roc_auc"] == 0
    assert judged["preferential attachment"].metrics["roc_auc"] == 0
    assert judged["common neighbours"].roc["fpr"][-1] == 1


def test_heuristics_of_several_graphs_are_means_over_graphs():
    tested = [(graph, all_pairs(graph)) for graph in (ring(9), ring(12), ring(20))]
    together, alone = judge_heuristics(tested), [judge_heuristics([one]) for one in tested]
    for name in HEURISTICS:
        assert together[name].num_pairs == sum(len(pairs) for _, pairs in tested)
        for metric, value in together[name].metrics.items():
            mean = np.mean([one[name].metrics[metric] for one in alone])
            assert value == pytest.approx(mean), (name, metric)
        assert together[name].roc is None


def test_heuristics_judge_a_sample_of_very_many_pairs(monkeypatch):
    graph = Graph.from_edges([(u, v) for u, v in combinations(range(60), 2) if (u * v) % 2])
    pairs = all_pairs(graph)
    monkeypatch.setattr(judging, "_MOST_PAIRS", 200)
    found = judge_heuristics([(graph, pairs)])
    assert {judged.num_pairs for judged in found.values()} == {200}
    assert found == judge_heuristics([(graph, pairs)])


@pytest.mark.parametrize("most", [1, 2, 7, 8, 100])
def test_sample_holds_at_most_so_many_of_both_kinds(most):
    pairs = PairSet.join(np.array([(0, v) for v in range(1, 21)]), np.array([(1, 0)] * 30))
    rows = judging._sample(pairs, most, np.random.default_rng(0))
    positives = int(pairs.labels[rows].sum())
    assert len(np.unique(rows)) == len(rows) == min(most, len(pairs))
    assert most >= len(pairs) or abs(2 * positives - len(rows)) <= 1


# ---------------------------------------------------------------------- held_out


def test_held_out_links_are_hidden_from_what_is_seen():
    graph = ring(30)
    seen, asked = held_out(graph, "link", 0.2, rng=0)
    hidden = unordered(asked.positives)
    assert len(hidden) == 6 == len(asked.negatives)
    assert hidden | unordered(seen.edges()) == unordered(graph.edges())
    assert not hidden & unordered(seen.edges())
    assert not unordered(asked.negatives) & unordered(graph.edges())


def test_held_out_pairs_are_of_labels_and_hide_nothing():
    graph = ring(12, y=[0, 1] * 6)
    seen, asked = held_out(graph, "pair", 0.5, rng=0)
    assert seen == graph
    same = graph.y[asked.pairs[:, 0]] == graph.y[asked.pairs[:, 1]]
    assert np.array_equal(same, asked.labels)
    assert len(asked) == 30  # half of the 30 pairs of one label, and as many others


def test_held_out_pairs_need_labels():
    with pytest.raises(PGNNError, match="needs node labels"):
        held_out(ring(), "pair", 0.1, rng=0)


# ---------------------------------------------------------------------- hide_pairs


@st.composite
def graphs_and_pairs(draw):
    graph = draw(graphs(max_nodes=14))
    assume(graph.num_edges > 1 and graph.num_nodes > 3)
    index = st.integers(0, graph.num_nodes - 1)
    some = st.tuples(index, index).filter(lambda pair: pair[0] != pair[1])
    pairs = draw(st.lists(some, min_size=1, max_size=4))
    u, v = draw(st.sampled_from(graph.edges().tolist()))
    return graph, np.array([*pairs, (v, u)])


@given(graphs_and_pairs(), st.integers(0, 9))
@settings(max_examples=80)
def test_hide_pairs_hides_both_orientations_and_draws_true_negatives(case, seed):
    graph, pairs = case
    free = math.comb(graph.num_nodes, 2) - len(unordered(graph.edges()) | unordered(pairs))
    assume(free >= len(pairs) and not unordered(graph.edges()) <= unordered(pairs))
    seen, asked, hidden = hide_pairs(graph, pairs, None, rng=seed)
    edges = [tuple(edge) for edge in graph.edges().tolist()]
    weights = [None] * len(edges) if graph.weights is None else graph.edge_weights().tolist()
    kept = {
        e: w for e, w in zip(edges, weights, strict=True) if frozenset(e) not in unordered(pairs)
    }
    left = [tuple(edge) for edge in seen.edges().tolist()]
    assert left == list(kept)
    if graph.weights is not None:
        assert seen.edge_weights().tolist() == list(kept.values())
    assert hidden == len(edges) - len(kept)
    assert seen.directed == graph.directed
    assert asked.positives.tolist() == pairs.tolist()
    negatives = unordered(asked.negatives)
    assert len(negatives) == len(pairs) == len(asked.negatives)
    assert not negatives & (unordered(edges) | unordered(pairs))


def test_hide_pairs_hides_both_directions_of_a_directed_edge():
    graph = Graph.from_edges([(0, 1), (1, 0), (1, 2), (2, 3)], directed=True)
    seen, asked, hidden = hide_pairs(graph, np.array([(1, 0), (2, 1)]), np.array([1, 0]), rng=0)
    assert seen.edges().tolist() == [[2, 3]]
    assert hidden == 3
    assert asked.labels.tolist() == [True, False]


def test_hide_pairs_gives_the_same_with_and_without_the_asked_edges():
    whole = ring(12)
    pairs = np.array([(0, 1), (5, 4), (11, 0)])
    without = Graph.from_edges(
        [edge for edge in whole.edges().tolist() if frozenset(edge) not in unordered(pairs)], 12
    )
    first, asked, hidden = hide_pairs(whole, pairs, None, rng=3)
    second, again, none = hide_pairs(without, pairs, None, rng=3)
    assert (hidden, none) == (3, 0)
    assert first == second == without
    assert asked.pairs.tolist() == again.pairs.tolist()


def test_hide_pairs_leaves_a_graph_without_them_as_it_is():
    graph = ring()
    assert hide_pairs(graph, np.array([(0, 2)]), np.array([False]), rng=0)[0] is graph


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ([(0, 1), (1, 2), (0, 2)], "all 3 edges of the graph are among the pairs"),
        ([(0, 1), (0, 0)], "two different nodes"),
        ([(0, 3)], "node indices must lie in 0..2"),
        ([(0, 1)], "too dense: 1 negative pairs are needed"),
    ],
)
def test_hide_pairs_refuses_what_cannot_be_asked(pairs, words):
    triangle = Graph.from_edges([(0, 1), (1, 2), (0, 2)])
    with pytest.raises(PGNNError, match=words):
        hide_pairs(triangle, np.array(pairs), None, rng=0)


def test_direction_is_judged_by_links_against_the_same_pairs_turned_round():
    seen = Graph.from_edges([(0, 1), (3, 2), (1, 4)], 6, directed=True)
    pairs = PairSet.join(np.array([(0, 2), (1, 5), (2, 3)]), np.array([(4, 5)]))
    asked = []

    def score(both):
        asked.extend(map(tuple, both.tolist()))
        return (both[:, 1] - both[:, 0]).astype(float)

    more = judge_more(seen, pairs, score)
    assert asked == [(0, 2), (1, 5), (2, 0), (5, 1)]  # 3 -> 2 is an edge, so 2 -> 3 says nothing
    assert more["model"] == {"direction_auc": 1.0}
    assert "preferential attachment" in more
    turned = judge_more(seen, pairs, lambda both: -score(both), heuristics=False)
    assert turned == {"model": {"direction_auc": 0.0}}
    alike = judge_more(seen, pairs, lambda both: np.zeros(len(both)), heuristics=False)
    assert alike["model"]["direction_auc"] == 0.5


def test_hits_per_node_rank_all_that_a_left_node_is_not_joined_to():
    edges = [(0, 10), (0, 11), (1, 12), (2, 40)]
    seen = Graph.from_edges(edges, 50).with_sides(["c"] * 10 + ["p"] * 40)
    pairs = PairSet.join(np.array([(0, 30), (1, 13), (1, 49)]), np.array([(3, 20)]))
    asked = []

    def score(ranked):
        asked.extend(map(tuple, ranked.tolist()))
        return -ranked[:, 1].astype(float)  # small numbers first

    more = judge_more(seen, pairs, score, heuristics=False)
    assert {u for u, _ in asked} == {0, 1}
    assert not {(0, 10), (0, 11), (1, 12)} & set(asked)
    assert all(v >= 10 for _, v in asked)
    # 13 is the third product for node 1, 49 the last, and 30 the nineteenth for node 0.
    assert more == {"model": {"hits@10_per_node": 0.25}}


def test_there_is_no_more_to_judge_where_any_two_nodes_may_be_joined():
    pairs = PairSet.join(np.array([(0, 2)]), np.array([(0, 3)]))
    assert judge_more(ring(), pairs, lambda p: np.zeros(len(p))) == {}


def test_only_the_direction_that_is_asked_about_is_hidden_where_pairs_are_ordered():
    graph = Graph.from_edges([(0, 1), (1, 0), (1, 2), (2, 3)], directed=True)
    seen, _, hidden = hide_pairs(graph, np.array([(0, 1)]), np.array([True]), rng=0, ordered=True)
    assert (hidden, seen.edges().tolist()) == (1, [[1, 0], [1, 2], [2, 3]])
