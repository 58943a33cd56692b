"""What is said about a model beside heuristics: intervals, chances, lone nodes, and a sentence."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgnn import Graph
from pgnn.errors import PGNNError
from pgnn.evaluation.calibration import brier_score, calibration_error
from pgnn.evaluation.judging import (
    Peers,
    has_lone_node,
    judge,
    judge_model,
    score_heuristics,
    share_of_links,
)
from pgnn.evaluation.metrics import auc_difference, auc_interval, roc_auc
from pgnn.pairs.sets import PairSet

RING = Graph.from_edges([(v, (v + 1) % 40) for v in range(40)], 42)


def pairs_of(labels):
    """Different pairs of the ring, one for each label."""
    some = np.array([(u, v) for v in range(40) for u in range(v)])
    return PairSet(some[: len(labels)], labels)


def noisy(labels, noise, seed=0):
    """Chances that tell labels apart, the worse the larger the noise."""
    labels = np.asarray(labels, dtype=float)
    draws = np.random.default_rng(seed).normal(size=len(labels))
    return 1 / (1 + np.exp(-(4 * labels - 2 + noise * draws)))


LABELS = np.arange(400) % 2 == 0


# ---------------------------------------------------------------------- intervals


@given(st.integers(0, 99), st.floats(0.5, 8))
@settings(max_examples=20)
def test_interval_holds_the_area_and_narrows_with_more_pairs(seed, noise):
    few, many = (auc_interval(y, noisy(y, noise, seed)) for y in (LABELS[:60], LABELS))
    for area, labels in ((few, LABELS[:60]), (many, LABELS)):
        assert area.low <= area.value <= area.high
        assert area.value == roc_auc(labels, noisy(labels, noise, seed))
    if 0.6 < many.value < 0.95:
        assert many.high - many.low < few.high - few.low


def test_interval_of_a_known_area_covers_it_about_as_often_as_it_says():
    covered = 0
    for seed in range(60):
        labels = np.arange(200) % 2 == 0
        scores = labels + np.random.default_rng(seed).normal(size=200)
        area = auc_interval(labels, scores, rng=seed)
        covered += area.low <= 0.7602 <= area.high  # that of two normal curves one apart
    assert covered >= 52


def test_interval_of_groups_is_of_the_mean_over_groups():
    labels = np.tile(LABELS[:100], 3)
    scores = np.concatenate([noisy(LABELS[:100], noise, 1) for noise in (1, 4, 9)])
    groups = np.repeat([4, 1, 7], 100)
    area = auc_interval(labels, scores, groups=groups)
    assert area.value == roc_auc(labels, scores, groups=groups)
    assert area.low < area.value < area.high
    one_kind = np.concatenate([groups, [9, 9]])  # a group of one kind is left out
    with_more = auc_interval(
        np.append(labels, [True] * 2), np.append(scores, [1, 1]), groups=one_kind
    )
    assert with_more.value == area.value
    assert abs(with_more.low - area.low) < 0.02
    with pytest.raises(PGNNError, match=r"groups must be an integer per pair, \[300\]"):
        auc_interval(labels, scores, groups=[1, 2])


def test_difference_of_groups_is_paired_within_them():
    labels, groups = np.tile(LABELS[:100], 2), np.repeat([0, 1], 100)
    one = np.concatenate([noisy(LABELS[:100], 2, 1), 100 + noisy(LABELS[:100], 3, 2)])
    two = np.concatenate([noisy(LABELS[:100], 6, 3), noisy(LABELS[:100], 7, 4)])
    more = auc_difference(labels, one, two, groups=groups)
    assert more.value == pytest.approx(
        roc_auc(labels, one, groups=groups) - roc_auc(labels, two, groups=groups)
    )
    assert 0 < more.low < more.value < more.high
    assert auc_difference(labels, one, one, groups=groups).high == 0


# ---------------------------------------------------------------------- models


def test_model_is_judged_by_ranks_interval_and_chances():
    pairs, chances = pairs_of(LABELS), noisy(LABELS, 2)
    judged = judge_model([(RING, pairs)], [chances], base_rate=0.5)
    area = auc_interval(LABELS, chances)
    assert judged.test.metrics == judge(LABELS, chances) | {
        "auc_low": area.low,
        "auc_high": area.high,
        "brier": brier_score(LABELS, chances),
        "calibration_error": calibration_error(LABELS, chances),
    }
    assert (judged.base_rate, judged.lone_pairs, judged.without_lone) == (0.5, 0, None)


def test_scores_that_are_no_chances_have_no_brier_score():
    judged = judge_model([(RING, pairs_of(LABELS))], [7 * noisy(LABELS, 2)], base_rate=None)
    assert "auc_low" in judged.test.metrics
    assert not {"brier", "calibration_error"} & set(judged.test.metrics)
    assert judged.base_rate == 0.5  # the share of links among the pairs


def test_chances_of_several_graphs_are_judged_together():
    sets, chances = [pairs_of(LABELS[:80]), pairs_of(LABELS[:120])], []
    chances = [noisy(LABELS[:80], 1, 1), noisy(LABELS[:120], 5, 2)]
    judged = judge_model([(RING, pairs) for pairs in sets], chances, base_rate=0.5)
    labels = np.concatenate([pairs.labels for pairs in sets])
    assert judged.test.metrics["brier"] == brier_score(labels, np.concatenate(chances))
    low, area, high = (judged.test.metrics[name] for name in ("auc_low", "roc_auc", "auc_high"))
    assert low < area < high


def test_pairs_of_lone_nodes_are_counted_and_judged_without():
    pairs = PairSet(np.array([(0, 1), (2, 40), (5, 41), (3, 9), (0, 7)]), [1, 1, 1, 0, 0])
    chances = np.array([0.2, 0.9, 0.9, 0.3, 0.1])  # of lone nodes: high, and so right
    judged = judge_model([(RING, pairs)], [chances], base_rate=0.6)
    assert judged.lone_pairs == 2
    assert judged.test.metrics["roc_auc"] == pytest.approx(5 / 6)
    assert judged.without_lone.num_pairs == 3
    assert judged.without_lone.metrics["roc_auc"] == 0.5
    nothing_hidden = judge_model([(RING, pairs)], [chances], base_rate=0.6, hidden=False)
    assert (nothing_hidden.lone_pairs, nothing_hidden.without_lone) == (0, None)


def test_where_all_other_pairs_are_of_one_kind_nothing_is_said_about_them():
    pairs = PairSet(np.array([(2, 40), (3, 9), (0, 7)]), [1, 0, 0])
    judged = judge_model([(RING, pairs)], [np.array([0.9, 0.3, 0.1])], base_rate=0.5)
    assert (judged.lone_pairs, judged.without_lone) == (1, None)


@pytest.mark.parametrize("directed", [False, True])
def test_a_lone_node_has_no_edge_in_either_direction(directed):
    graph = Graph.from_edges([(0, 1), (1, 2)], 5, directed=directed)
    pairs = np.array([(0, 2), (1, 3), (4, 2), (2, 1)])
    assert has_lone_node(graph, pairs).tolist() == [False, True, True, False]


def test_share_of_links_needs_both_kinds():
    assert share_of_links([pairs_of([1, 0, 0]), pairs_of([1])]) == 0.5
    with pytest.raises(PGNNError, match=r"both classes are needed \(got 2 positive and 0 negative"):
        share_of_links([pairs_of([1, 1])])


# ---------------------------------------------------------------------- the sentence


def peers(*noises, labels=LABELS):
    """Heuristics a, b, c, ... of growing noise."""
    scores = {"abc"[i]: [noisy(labels, noise, 9 + i)] for i, noise in enumerate(noises)}
    return Peers([np.arange(len(labels))], [pairs_of(labels)], scores)


def test_verdict_says_that_the_model_is_best_and_by_how_much():
    said = peers(9, 6, 12).verdict("pgnn-best", [noisy(LABELS, 1)])
    match = re.fullmatch(
        r"pgnn-best is best: AUC (0\.\d{3}|1\.000), (0\.\d{3}) above b \(95% interval "
        r"(0\.\d{3}) to (0\.\d{3}): more than chance\); use `pgnn predict RUN GRAPH`\.",
        said.sentence,
    )
    assert match, said
    assert said.as_good is None
    area, more, low, high = map(float, match.groups())
    assert area == pytest.approx(roc_auc(LABELS, noisy(LABELS, 1)), abs=6e-4)
    assert 0 < low <= more <= high


def test_verdict_says_to_use_a_heuristic_that_is_better():
    said = peers(1, 6).verdict("gcn", [noisy(LABELS, 9)])
    assert re.fullmatch(
        r"a is best: AUC \d\.\d{3}, 0\.\d{3} above gcn \(95% interval 0\.\d{3} to 0\.\d{3}: more "
        r"than chance\); use `pgnn predict RUN GRAPH --model a`\.",
        said.sentence,
    ), said
    assert said.as_good == "a"


def test_verdict_says_that_there_is_no_difference():
    said = peers(3).verdict("gcn", [noisy(LABELS, 3)])
    assert re.fullmatch(
        r"gcn \(AUC \d\.\d{3}\) is no different from a \(\d\.\d{3}\) as far as 400 pairs tell "
        r"\(difference -?\d\.\d{3}, 95% interval -0\.\d{3} to 0\.\d{3}\); a is as good: use "
        r"`pgnn predict RUN GRAPH --model a`\.",
        said.sentence,
    ), said
    assert said.as_good == "a"
    same = peers(3)
    assert (
        "(difference 0.000, 95% interval 0.000 to 0.000)"
        in same.verdict("gcn", same.scores["a"]).sentence
    )


def test_verdict_compares_on_the_pairs_that_heuristics_were_scored_on():
    labels = LABELS[:200]
    rows = np.sort(np.random.default_rng(0).permutation(200)[:70])
    chosen = PairSet(pairs_of(labels).pairs[rows], labels[rows])
    sampled = Peers([rows], [chosen], {"a": [noisy(labels, 9)[rows]]})
    model = noisy(labels, 1)
    assert sampled.verdict("gcn", [model]).sentence.startswith(
        f"gcn is best: AUC {roc_auc(labels[rows], model[rows]):.3f}, "
    )


def test_heuristics_of_a_ring_of_cliques_are_peers_of_a_model_that_knows():
    edges = [(8 * c + u, 8 * c + v) for c in range(8) for v in range(8) for u in range(v)]
    rng = np.random.default_rng(0)
    hidden = rng.permutation(len(edges))[:60]
    seen = Graph.from_edges(np.delete(np.array(edges), hidden, axis=0), 64)
    others = np.array([(u, v) for v in range(64) for u in range(v) if u // 8 != v // 8])
    pairs = PairSet.join(np.array(edges)[hidden], others[rng.permutation(len(others))[:60]])
    scored = score_heuristics([(seen, pairs)])
    assert scored.judged()["common neighbours"].metrics["roc_auc"] == 1
    said = scored.verdict("gcn", [pairs.labels.astype(float)])
    assert said.sentence.startswith("gcn (AUC 1.000) is no different from shortest path")
    assert said.sentence.endswith("use `pgnn predict RUN GRAPH --model 'shortest path'`.")
