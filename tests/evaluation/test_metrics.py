"""Metrics against slow twins that compare every positive with every negative."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from pgnn import PGNNError
from pgnn.evaluation.metrics import hits_at, mrr, pair_metrics, roc_auc, without_rounding


@st.composite
def scored(draw, min_each=1):
    """Labels of both classes and scores with many ties."""
    positives = draw(st.lists(st.integers(-3, 3), min_size=min_each, max_size=12))
    negatives = draw(st.lists(st.integers(-3, 3), min_size=min_each, max_size=12))
    order = draw(st.permutations(range(len(positives) + len(negatives))))
    labels = np.array([1] * len(positives) + [0] * len(negatives))[order]
    return labels, np.array(positives + negatives, dtype=float)[order] / 4


def slow_auc(labels, scores):
    wins = [(p > n) + (p == n) / 2 for p in scores[labels == 1] for n in scores[labels == 0]]
    return sum(wins) / len(wins)


def slow_ranks(labels, scores):
    """Average of the best and the worst rank that breaking ties could give."""
    ranks = []
    for p in scores[labels == 1]:
        best = 1 + sum(n > p for n in scores[labels == 0])
        worst = 1 + sum(n >= p for n in scores[labels == 0])
        ranks.append((best + worst) / 2)
    return ranks


@settings(max_examples=60)
@given(scored())
def test_pair_metrics_equal_the_slow_twin_and_sklearn(case):
    labels, scores = case
    found = pair_metrics(labels, scores)
    assert found["roc_auc"] == pytest.approx(slow_auc(labels, scores))
    assert found["average_precision"] == pytest.approx(average_precision_score(labels, scores))
    assert set(found) == {"roc_auc", "average_precision"}


@settings(max_examples=60)
@given(scored(), st.integers(1, 15))
def test_hits_and_mrr_equal_the_slow_twin(case, k):
    labels, scores = case
    ranks = slow_ranks(labels, scores)
    assert hits_at(k, labels, scores) == pytest.approx(np.mean([rank <= k for rank in ranks]))
    assert mrr(labels, scores) == pytest.approx(np.mean([1 / rank for rank in ranks]))


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 50), st.integers(0, 2**32))
def test_hits_without_ties_count_positives_above_the_kth_negative(num_pos, num_neg, k, seed):
    scores = np.random.default_rng(seed).permutation(num_pos + num_neg).astype(float)
    labels = np.arange(num_pos + num_neg) < num_pos
    highest = np.sort(scores[num_pos:])[::-1]
    expected = 1.0 if num_neg < k else np.mean(scores[:num_pos] > highest[k - 1])
    assert hits_at(k, labels, scores) == pytest.approx(expected)


def test_constant_scores_earn_no_more_than_chance():
    labels = np.arange(200) < 100
    assert roc_auc(labels, np.zeros(200)) == 0.5
    assert hits_at(20, labels, np.zeros(200)) == 0.0
    assert mrr(labels, np.zeros(200)) == pytest.approx(1 / 51)


@settings(max_examples=60)
@given(st.lists(scored(min_each=0), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_auc_of_groups_is_the_mean_of_each_groups_auc(cases, random):
    labels = np.concatenate([labels for labels, _ in cases]).astype(int)
    scores = np.concatenate([scores for _, scores in cases])
    groups = np.repeat(np.arange(len(cases)) * 3 - 2, [len(labels) for labels, _ in cases])
    order = np.array(random.sample(range(len(labels)), len(labels)), dtype=int)
    areas = [roc_auc_score(y, s) for y, s in cases if len(set(y.tolist())) == 2]
    if areas:
        found = roc_auc(labels[order], scores[order], groups=groups[order])
        assert found == pytest.approx(np.mean(areas))
    else:
        with pytest.raises(PGNNError, match=r"one class|both classes"):
            roc_auc(labels[order], scores[order], groups=groups[order])


def test_auc_of_groups_differs_from_pooled_when_scales_differ():
    labels, scores = [1, 0, 1, 0], [10.0, 9.0, 1.0, 0.0]
    assert roc_auc(labels, scores, groups=[5, 5, 7, 7]) == 1.0
    assert roc_auc(labels, scores) == 0.75


def test_auc_of_groups_takes_extreme_scores():
    labels, scores = [1, 0, 1, 0], [1.7e308, -1.7e308, -1.7e308, 1.7e308]
    assert roc_auc(labels, scores, groups=[0, 0, 1, 1]) == 0.5


@pytest.mark.parametrize("metric", [pair_metrics, roc_auc, mrr, lambda y, s: hits_at(3, y, s)])
@pytest.mark.parametrize(
    ("labels", "scores", "message"),
    [
        ([1, 1], [0.1, 0.2], "both classes are needed .got 2 positive and 0 negative"),
        ([0, 0], [0.1, 0.2], "got 0 positive and 2 negative"),
        ([], [], "both classes are needed"),
        ([1, 0], [0.1, math.nan], r"scores must be finite .*scores\[1\] = nan"),
        ([1, 0], [math.inf, 0.0], r"scores\[0\] = inf"),
        ([1, 0, 1], [0.1, 0.2], r"got shapes \[3\] and \[2\]"),
        ([1, 2], [0.1, 0.2], "labels must be bool, or 0 and 1"),
    ],
)
def test_bad_input_is_one_clear_error(metric, labels, scores, message):
    with pytest.raises(PGNNError, match=message):
        metric(labels, scores)


def test_bad_groups_and_ranks_are_refused():
    with pytest.raises(PGNNError, match="groups must be an integer a pair"):
        roc_auc([1, 0], [0.1, 0.2], groups=[0])
    with pytest.raises(PGNNError, match=r"k must be a positive integer \(got 0\)"):
        hits_at(0, [1, 0], [0.1, 0.2])


def test_without_rounding_makes_ties_of_what_float32_cannot_tell_apart():
    rng = np.random.default_rng(0)
    scores = (1 + 1e-7 * rng.standard_normal(50)).astype(np.float32)
    scores[:3] = [4.0, -2.0, 1.5]
    found = without_rounding(scores, np.zeros(50, dtype=int))
    np.testing.assert_array_equal(found[:3], scores[:3])
    assert len(np.unique(found[3:])) == 1


def test_without_rounding_leaves_scores_that_differ():
    scores = np.linspace(-1, 1, 41)
    np.testing.assert_array_equal(without_rounding(scores, np.zeros(41, dtype=int)), scores)


def test_without_rounding_looks_at_each_graph_by_itself():
    scores = np.array([1.0, 1.0 + 1e-8, 1.0, 5.0, 5.0 + 1e-8, 7.0, 9.0])
    groups = np.array([0, 0, 0, 1, 1, 1, 1])
    found = without_rounding(scores, groups)
    assert found[:3].tolist() == [1.0, 1.0, 1.0]
    assert found[3:].tolist() == scores[3:].tolist()  # two of four are no majority
    assert scores[1] != 1.0  # the input is as it was
