"""What speaks for sets: means as torch has them, with gradients."""

import pytest
import torch

from pgnn.nn.speakers import mean_of_groups

BOUNDS = torch.tensor([0, 2, 2, 5, 6])
NODES = torch.tensor([0, 3, 1, 1, 4, 2])


def features(dtype):
    return torch.randn(5, 3, generator=torch.Generator().manual_seed(0), dtype=dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_means_and_gradients_equal_torchs(dtype):
    x, same = (features(dtype).requires_grad_() for _ in range(2))
    means = mean_of_groups(x, BOUNDS, NODES)
    theirs = torch.nn.functional.embedding_bag(NODES, same, BOUNDS[:-1], mode="mean")
    torch.testing.assert_close(means, theirs)
    assert not means[1].any()  # a group without members
    for each in (means, theirs):
        each.pow(3).sum().backward()
    torch.testing.assert_close(x.grad, same.grad)


def test_means_pass_gradcheck():
    x = features(torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: mean_of_groups(x, BOUNDS, NODES), x)


def test_rows_with_gaps_and_half_precision_are_taken():
    wide = torch.arange(20.0).view(5, 4)
    torch.testing.assert_close(
        mean_of_groups(wide[:, ::2], BOUNDS, NODES),
        mean_of_groups(wide[:, ::2].contiguous(), BOUNDS, NODES),
    )
    halves = mean_of_groups(wide.bfloat16(), BOUNDS, NODES)
    assert halves.dtype == torch.bfloat16
