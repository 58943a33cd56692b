"""Means of rows over groups: as a product with the matrix of shares says."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pgnn.nn.kernels.speakers import mean_rows, mean_rows_backward


@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_means_and_gradients_are_products_with_shares(data):
    n, d = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 9))
    groups = data.draw(st.lists(st.lists(st.integers(0, n - 1), max_size=6), max_size=4))
    bounds = np.cumsum([0, *map(len, groups)])
    nodes = np.array([u for group in groups for u in group], dtype=np.int64)
    shares = np.zeros((len(groups), n))
    for g, group in enumerate(groups):
        for u in group:
            shares[g, u] += 1 / len(group)
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    x, grad, before = (rng.normal(size=(rows, d)) for rows in (n, len(groups), n))
    out = np.full((len(groups), d), np.nan)
    mean_rows(x, bounds, nodes, out)
    np.testing.assert_allclose(out, shares @ x, atol=1e-12)
    grad_x = before.copy()
    mean_rows_backward(grad, bounds, nodes, grad_x)
    np.testing.assert_allclose(grad_x, before + shares.T @ grad, atol=1e-12)
