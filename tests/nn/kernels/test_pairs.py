"""The kernels of pairs against gathering both rows, through autograd."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nn.test_pairs import random_case
from pgnn.nn.pairs import pair_distances, pair_dots


def gathered_dots(z, pairs):
    """Slow and obvious: gather both rows."""
    return (z[pairs[:, 0]] * z[pairs[:, 1]]).sum(-1)


def gathered_distances(z, pairs):
    return torch.linalg.vector_norm(z[pairs[:, 0]] - z[pairs[:, 1]], dim=-1)


BOTH = pytest.mark.parametrize(
    ("fused", "gathered"),
    [(pair_dots, gathered_dots), (pair_distances, gathered_distances)],
    ids=["dots", "distances"],
)


@BOTH
@given(st.integers(1, 9), st.integers(1, 40), st.integers(0, 30), st.integers(0, 99))
@settings(max_examples=40)
def test_numbers_and_gradients_equal_the_gathered_form(fused, gathered, n, k, m, seed):
    z, pairs, grad = random_case(n, k, m, seed)  # pairs of a node with itself among them
    torch.testing.assert_close(fused(z, pairs), gathered(z, pairs))
    got = torch.autograd.grad(fused(z, pairs), z, grad)
    torch.testing.assert_close(got, torch.autograd.grad(gathered(z, pairs), z, grad))
