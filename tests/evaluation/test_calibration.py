import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss

from pgnn import PGNNError
from pgnn.evaluation.calibration import (
    Calibration,
    brier_score,
    calibration_error,
    fit_calibration,
    reliability,
)


def drawn(slope, offset, count=40_000, seed=0):
    """Logits of links and others for which sigmoid(slope * logit + offset) is the truth."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 3, size=count)
    links = rng.random(count) < 1 / (1 + np.exp(-(slope * logits + offset)))
    return logits[links], logits[~links], links, logits


@pytest.mark.parametrize(("slope", "offset"), [(1.0, 0.0), (0.5, 0.7), (1.8, -1.0)])
def test_fitted_line_makes_chances_true_at_the_base_rate(slope, offset):
    high, low, links, logits = drawn(slope, offset)
    line = fit_calibration(high, low)
    assert abs(line.slope - slope) < 0.05 * max(1, slope)
    chances = line.chances(logits, base_rate=links.mean())
    assert calibration_error(links, chances) < 0.01
    assert calibration_error(links, Calibration().chances(logits, base_rate=0.5)) > 0.02 or (
        slope == 1
    )


def test_another_base_rate_is_met_by_thinning_the_links():
    high, low, _, _ = drawn(1.0, 0.0)
    line = fit_calibration(high, low)
    few = high[: len(low) // 19]
    labels = np.arange(len(few) + len(low)) < len(few)
    chances = line.chances(np.concatenate([few, low]), base_rate=0.05)
    assert calibration_error(labels, chances) < 0.01


def test_few_pairs_stay_close_to_the_identity():
    line = fit_calibration([2.0], [-2.0])
    assert 0.5 < line.slope < 2
    assert fit_calibration([], [1.0]) == Calibration()


def test_far_apart_logits_do_not_throw_the_line_off():
    rng = np.random.default_rng(0)
    high, low = rng.normal(12, 4, 300), rng.normal(-25, 6, 3000)
    line = fit_calibration(high, low)
    assert 0.05 <= line.slope <= 3
    assert abs(line.offset) < 20
    chances = line.chances(np.concatenate([high, low]), base_rate=0.5)
    assert chances[:300].min() > chances[300:].max()
    assert np.median(chances[:300]) > 0.99


def test_perfectly_told_apart_logits_give_a_finite_line():
    line = fit_calibration(np.full(100, 5.0), np.full(100, -5.0))
    assert 0 < line.slope <= 3
    assert Calibration.from_json(line.to_json()) == line


@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=1, max_size=50),
    st.integers(1, 20),
)
def test_brier_score_and_bins_equal_the_plain_sums(rows, num_bins):
    labels, chances = (np.array(column) for column in zip(*rows, strict=True))
    expected = brier_score_loss(labels, chances, labels=[False, True])
    assert brier_score(labels, chances) == pytest.approx(expected, abs=1e-12)
    bins = reliability(labels, chances, num_bins=num_bins)
    assert sum(row.num_pairs for row in bins) == len(labels)
    assert sum(row.num_pairs * row.share for row in bins) == pytest.approx(labels.sum())
    total = 0.0
    for number in range(num_bins):
        inside = np.minimum((chances * num_bins).astype(int), num_bins - 1) == number
        if inside.any():
            total += abs(chances[inside].sum() - labels[inside].sum())
    wanted = total / len(labels)
    assert calibration_error(labels, chances, num_bins=num_bins) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize(
    ("labels", "chances", "words"),
    [([1], [1.5], "between 0 and 1"), ([1, 0], [0.5], "one entry per pair"), ([], [], "one entry")],
)
def test_wrong_chances_are_refused(labels, chances, words):
    with pytest.raises(PGNNError, match=words):
        brier_score(labels, chances)


@pytest.mark.parametrize("rate", [0, 1, -0.5, float("nan")])
def test_base_rates_out_of_range_are_refused(rate):
    with pytest.raises(PGNNError, match="base_rate must be"):
        Calibration().chances([0.0], base_rate=rate)
