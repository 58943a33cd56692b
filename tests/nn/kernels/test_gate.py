"""The gate of a table's levels, forward and backward, against torch's own steps."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pgnn.nn.kernels.gate import gate_backward, gate_forward


def torch_gate(levels, weight, bias, out_weight, out_bias):
    hidden = torch.nn.functional.linear(levels[:, None], weight, bias).relu()
    return torch.nn.functional.linear(hidden, out_weight, out_bias)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(
    num_levels=st.integers(1, 9),
    hidden=st.integers(1, 7),
    out=st.integers(1, 5),
    seed=st.integers(0, 999),
)
@settings(max_examples=30)
def test_gate_and_its_gradients_are_torchs(dtype, num_levels, hidden, out, seed):
    rng = np.random.default_rng(seed)
    levels = rng.random(num_levels).astype(dtype)
    shapes = ((hidden, 1), (hidden,), (out, hidden), (out,))
    weights = [rng.normal(size=shape).astype(dtype) for shape in shapes]
    leaves = [torch.from_numpy(weight).requires_grad_() for weight in weights]
    expected = torch_gate(torch.from_numpy(levels), *leaves)
    values = np.empty((num_levels, out), dtype=dtype)
    gate_forward(levels, *weights, values)
    tolerance = {"rtol": 1e-4, "atol": 1e-5} if dtype is np.float32 else {"rtol": 1e-10}
    np.testing.assert_allclose(values, expected.detach().numpy(), **tolerance)
    grad = rng.normal(size=values.shape).astype(dtype)
    grads = [np.zeros_like(weight) for weight in weights]
    gate_backward(levels, *weights, grad, *grads)
    wanted = torch.autograd.grad(expected, leaves, torch.from_numpy(grad))
    for got, want in zip(grads, wanted, strict=True):
        np.testing.assert_allclose(got, want.numpy(), rtol=1e-3, atol=1e-4)


def test_not_a_number_is_passed_on():
    one = np.ones((1, 1))
    values = np.zeros((1, 1))
    gate_forward(np.array([np.nan]), one, np.ones(1), one, np.ones(1), values)
    assert np.isnan(values).all()
