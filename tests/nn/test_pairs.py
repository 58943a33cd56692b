"""Dot products and distances of pairs: gradients, parts, and what is saved."""

import pytest
import torch

from pgnn.nn import pairs as _pairs
from pgnn.nn.pairs import pair_distances, pair_dots


def random_case(n, k, m, seed, dtype=torch.float64):
    random = torch.Generator().manual_seed(seed)
    z = torch.randn(n, k, generator=random, dtype=dtype).requires_grad_()
    return z, torch.randint(0, n, (m, 2), generator=random), torch.randn(m, generator=random).to(z)


@pytest.mark.parametrize("fused", [pair_dots, pair_distances])
def test_pairs_pass_gradcheck(fused):
    z, pairs, _ = random_case(5, 7, 12, seed=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]  # a distance of 0 has a kink
    assert torch.autograd.gradcheck(lambda z: fused(z, pairs), z)


@pytest.mark.parametrize("fused", [pair_dots, pair_distances])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_parts_do_not_change_numbers_and_repeat_to_the_bit(monkeypatch, dtype, fused):
    z, pairs, grad = random_case(50, 33, 400, seed=1, dtype=dtype)

    def run():
        numbers = fused(z, pairs)
        return numbers, *torch.autograd.grad(numbers, z, grad)

    whole = run()
    monkeypatch.setattr(_pairs, "_NUMBERS_PER_PART", 1)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    parts, again = run(), run()
    for a, b, c in zip(whole, parts, again, strict=True):
        torch.testing.assert_close(a, b)
        assert torch.equal(b, c)


def test_nothing_of_pairs_by_sets_is_saved():
    z, pairs, _ = random_case(10, 64, 1000, seed=2)
    sizes = []
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: sizes.append(t.numel()) or t, lambda t: t
    ):
        pair_dots(z, pairs)
    assert sorted(sizes) == [640, 2000]
