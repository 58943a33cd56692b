import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri

from pgnn.training.column_scale import NUM_KNOTS, ColumnScale


def test_scores_of_many_different_values_are_normal():
    values = np.random.default_rng(0).lognormal(size=(20_000, 2))
    scores = ColumnScale.of(values)(values)
    assert abs(scores.mean()) < 0.01
    assert abs(scores.std() - 1) < 0.05


def test_equal_values_share_the_middle_of_their_quantiles():
    values = np.repeat([0.0, 1.0], [300, 100])[:, None]
    scores = ColumnScale.of(values)(np.array([[0.0], [1.0], [-5.0], [9.0]]))[:, 0]
    np.testing.assert_allclose(scores[:2], ndtri([0.375, 0.875]), atol=0.02)
    assert scores[2] == scores[0]
    assert scores[3] == scores[1]


@settings(max_examples=30)
@given(
    st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=2, max_size=60),
    st.lists(st.floats(-1e7, 1e7, allow_subnormal=False), min_size=1, max_size=20),
)
def test_scores_keep_the_order_and_stay_within_the_known(measured, asked):
    scale = ColumnScale.of(np.array(measured)[:, None])
    assert scale.knots.shape == (1, NUM_KNOTS)
    order = np.sort(np.float32(asked))
    scores = scale(order[:, None])[:, 0]
    assert (np.diff(scores) >= 0).all()
    assert np.isfinite(scores).all()
    assert np.abs(scores).max() <= abs(ndtri(0.5 / (NUM_KNOTS - 1))) + 1e-5
