"""Functions of rows, some rows at a time."""

import sys

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import pgnn
from pgnn.nn import by_rows as module
from pgnn.nn.by_rows import by_rows
from pgnn.nn.pairs import pair_dots

FUNCTIONS = {
    "tanh": torch.tanh,
    "relu": torch.relu,
    "normalize": lambda z: torch.nn.functional.normalize(z, dim=-1),
}


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(sorted(FUNCTIONS)), st.integers(1, 40), st.integers(1, 9), st.integers(1, 50)
)
def test_blocks_give_the_numbers_and_gradients_of_the_whole(name, num_rows, width, at_once):
    function = FUNCTIONS[name]
    generator = torch.Generator().manual_seed(num_rows * 100 + width)
    z, outer = torch.randn(2, num_rows, width, generator=generator)
    whole, part = (z.clone().requires_grad_() for _ in range(2))
    expected = function(whole)
    got = module._ByRows.apply(function, part, at_once)
    assert torch.equal(got, expected)
    for tensor in (got, expected):
        tensor.backward(outer)
    assert torch.equal(part.grad, whole.grad)


def test_without_a_limit_it_is_the_function():
    z = torch.randn(5, 3, generator=torch.Generator().manual_seed(0))
    assert torch.equal(by_rows(torch.tanh, z), torch.tanh(z))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits are kept on Linux only")
def test_with_a_limit_large_tensors_are_taken_in_blocks(monkeypatch):
    monkeypatch.setattr(module, "rows_at_once", lambda num_rows, _: num_rows // 3)
    z = torch.randn(20, 3, generator=torch.Generator().manual_seed(0), requires_grad=True)
    with pgnn.memory_limit("8GB"):
        result = by_rows(torch.tanh, z)
    assert type(result.grad_fn).__name__ == "_ByRowsBackward"
    assert torch.equal(result, torch.tanh(z))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits are kept on Linux only")
def test_pairs_can_be_scored_by_what_was_taken_in_blocks(monkeypatch):
    monkeypatch.setattr(module, "rows_at_once", lambda num_rows, _: num_rows // 3)
    z = torch.randn(20, 3, generator=torch.Generator().manual_seed(0), requires_grad=True)
    pairs = torch.tensor([[0, 1], [5, 19]])
    dots = pair_dots(by_rows(torch.tanh, z), pairs)
    dots.sum().backward()
    assert torch.allclose(dots, (torch.tanh(z)[pairs[:, 0]] * torch.tanh(z)[pairs[:, 1]]).sum(1))
    assert (z.grad.abs().sum(1) > 0).nonzero()[:, 0].tolist() == [0, 1, 5, 19]
