"""Rows of length 1: torch's `normalize`, rows that are too short included."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pgnn.nn.kernels.lengths import scale_rows, unscale_gradient

SHORT = 5e-13  # half of what torch divides by at least


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(1, 6),
    k=st.integers(1, 40),
    short=st.booleans(),
    dtype=st.sampled_from([torch.float32, torch.float64]),
    seed=st.integers(0, 99),
)
def test_rows_and_gradients_are_those_of_normalize(n, k, short, dtype, seed):
    random = torch.Generator().manual_seed(seed)
    z, grad = (torch.randn(n, k, generator=random, dtype=dtype) for _ in range(2))
    if short:
        z[0] *= SHORT / z[0].norm()
    z.requires_grad_()
    expected = torch.nn.functional.normalize(z, dim=-1)
    (expected_grad,) = torch.autograd.grad(expected, z, grad)
    rows, lengths = z.detach().clone().numpy(), np.empty(n, dtype=z.detach().numpy().dtype)
    scale_rows(rows, lengths, 0, n)
    result = np.empty_like(rows)
    unscale_gradient(rows, lengths, grad.numpy(), result, 0, n)
    # A length is a sum of k squares: single numbers may cancel, so they are judged by the largest.
    precision = 20 * k * float(np.finfo(rows.dtype).eps)
    assert np.abs(rows - expected.detach().numpy()).max() <= precision
    size = max(1.0, expected_grad.abs().max().item())
    assert np.abs(result - expected_grad.numpy()).max() <= precision * size * 10


def test_only_the_rows_asked_for_are_written():
    rows, lengths = np.full((3, 4), 2.0), np.zeros(3)
    scale_rows(rows, lengths, 1, 2)
    assert rows.tolist() == [[2.0] * 4, [0.5] * 4, [2.0] * 4]
    assert lengths.tolist() == [0, 4, 0]
    result = np.zeros((3, 4))
    unscale_gradient(rows, np.full(3, 4.0), np.ones((3, 4)), result, 0, 1)
    assert result[1:].tolist() == [[0] * 4] * 2
    assert result[0] == pytest.approx([(1 - 2 * 8) / 4] * 4)
