"""Dot products and distances of pairs: gradients, parts, and what is saved."""

import pytest
import torch

from pgnn.nn import pairs as _pairs
from pgnn.nn.pairs import Scale, pair_distances, pair_dots, pair_loss


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


@pytest.mark.parametrize("distances", [False, True])
@pytest.mark.parametrize("scaled", [False, True])
def test_loss_passes_gradcheck_and_is_cross_entropy(distances, scaled):
    z, pairs, weights = random_case(5, 7, 12, seed=3)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    weights = weights[: len(pairs)].abs()
    labels = (torch.arange(len(pairs)) % 3 == 0).to(z)
    learned = [z, *(torch.tensor(n, dtype=z.dtype, requires_grad=True) for n in (1.7, -0.4))]

    def loss(z, factor, shift):
        scale = Scale(factor, shift) if scaled else None
        return pair_loss(z, pairs, labels, weights, distances=distances, scale=scale)

    leaves = learned if scaled else [z]
    assert torch.autograd.gradcheck(lambda *some: loss(*some, *learned[len(some) :]), leaves)
    numbers = pair_distances(z, pairs) if distances else pair_dots(z, pairs)
    factor, shift = learned[1:] if scaled else (1, 0)
    logits = shift + (-1 if distances else 1) * factor * numbers
    expected = torch.nn.functional.binary_cross_entropy_with_logits(
        logits, labels, weight=weights, reduction="sum"
    )
    torch.testing.assert_close(loss(*learned), expected)


def test_loss_of_extreme_logits_is_finite_and_has_a_slope():
    z = torch.tensor([[100.0], [100.0], [-100.0]], requires_grad=True)
    pairs, labels = torch.tensor([[0, 1], [0, 2]]), torch.tensor([0.0, 1.0])
    loss = pair_loss(z, pairs, labels, torch.ones(2))
    assert loss.item() == 20_000
    loss.backward()
    assert z.grad.squeeze(1).tolist() == [200, 100, -100]
