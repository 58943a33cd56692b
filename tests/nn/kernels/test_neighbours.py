"""Sums over neighbours: as dense products say, in the rows asked for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgnn.nn.kernels.neighbours import attend, attend_backward, sum_rows
from pgnn.nn.neighbours import _sorted_rows

SLOPE = 0.2


@st.composite
def cases(draw, *, loops):
    """Rows of a graph with loops and repeats, a matrix that counts its edges, and numbers."""
    n, d = draw(st.integers(1, 6)), draw(st.integers(1, 9))
    edges = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=12))
    array = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    counts = np.zeros((n, n))
    np.add.at(counts, (array[1], array[0]), 1)
    if loops:
        np.fill_diagonal(counts, 1)
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    rows = _sorted_rows(array, n, loops).sources
    return rows, counts, rng.normal(size=(n, d)), *rng.normal(size=(2, n))


@settings(max_examples=50, deadline=None)
@given(case=cases(loops=False))
def test_sums_are_a_product_with_the_matrix_of_edges(case):
    rows, counts, x, own, other = case
    out = np.full_like(x, np.nan)
    sum_rows(*rows, own, other, x, out, 0, len(x))
    assert out == pytest.approx(own[:, None] * (counts @ (other[:, None] * x)))


def dense_attention(counts, x, own, other):
    before = own[:, None] + other[None]
    raw = counts * np.exp(np.where(before > 0, before, SLOPE * before))
    return raw / raw.sum(1, keepdims=True)


@settings(max_examples=50, deadline=None)
@given(case=cases(loops=True))
def test_attention_is_a_softmax_over_neighbours(case):
    rows, counts, x, own, other = case
    out, tops, totals = np.full_like(x, np.nan), np.empty(len(x)), np.empty(len(x))
    attend(*rows, own, other, SLOPE, x, out, tops, totals, 0, len(x))
    assert out == pytest.approx(dense_attention(counts, x, own, other) @ x)


@settings(max_examples=50, deadline=None)
@given(case=cases(loops=True))
def test_gradient_of_attention_is_the_limit_of_differences(case):
    rows, counts, x, own, other = case
    grad = np.cos(np.arange(x.size)).reshape(x.shape)
    out, tops, totals = np.empty_like(x), np.empty(len(x)), np.empty(len(x))
    given_arrays = (*rows, own, other, SLOPE, x, out, tops, totals)
    attend(*given_arrays, 0, len(x))
    grads = np.empty(len(x)), np.zeros(len(x)), np.zeros_like(x)
    attend_backward(*given_arrays, grad, *grads, 0, len(x))
    step = 1e-6
    for number, gradient in enumerate(grads):
        for place in np.ndindex(gradient.shape):
            ends = []
            for sign in (step, -step):
                moved = [own.copy(), other.copy(), x.copy()]
                moved[number][place] += sign
                ends.append((dense_attention(counts, moved[2], *moved[:2]) @ moved[2] * grad).sum())
            if np.abs(own[:, None] + other[None]).min() > 1e-4:  # away from the kink
                assert gradient[place] == pytest.approx((ends[0] - ends[1]) / step / 2, abs=1e-4)


def test_large_scores_do_not_overflow():
    rows = _sorted_rows(np.array([[0], [1]]), 2, loops=True).sources
    x, out = np.eye(2, dtype=np.float32), np.empty((2, 2), dtype=np.float32)
    own, other = np.float32([0, 5000]), np.float32([5000, 0])
    attend(*rows, own, other, np.float32(SLOPE), x, out, *np.empty((2, 2), dtype=np.float32), 0, 2)
    assert out.tolist() == [[1, 0], [1, 0]]


def test_only_the_rows_asked_for_are_written():
    rows = _sorted_rows(np.array([[0, 1, 2], [1, 2, 0]]), 3, loops=True).sources
    out = np.full((3, 2), 7.0)
    sum_rows(*rows, np.ones(3), np.ones(3), np.ones((3, 2)), out, 1, 2)
    assert out.tolist() == [[7, 7], [2, 2], [7, 7]]
