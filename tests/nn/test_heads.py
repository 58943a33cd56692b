import pytest
import torch

from pgnn.nn.heads import PairHeads


def made(**options):
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)
        return PairHeads(6, **options).double()


def one_by_one(heads, member, columns, features=None):
    """What one member computes, written without batched products."""

    def apply(layer, x):
        return x @ layer.weight[member] + layer.bias[member]

    h = columns
    if features is not None:
        ends = []
        for x in features:
            for layer in heads.tower:
                x = torch.nn.functional.silu(apply(layer, x))
            ends.append(x)
        a, b = ends
        h = torch.cat([h, (a - b).abs(), a * b, a + b], dim=-1)
    for layer in heads.hidden:
        h = torch.nn.functional.silu(apply(layer, h))
    return apply(heads.last, h)[:, 0]


@pytest.mark.parametrize("num_features", [0, 3])
def test_members_compute_what_each_would_alone(num_features):
    heads = made(num_features=num_features, num_members=4, width=5, depth=3)
    columns = torch.randn(7, 6, dtype=torch.double)
    features = None
    if num_features:
        features = tuple(torch.randn(7, num_features, dtype=torch.double) for _ in range(2))
    logits = heads(columns, features)
    assert logits.shape == (4, 7)
    for member in range(4):
        torch.testing.assert_close(logits[member], one_by_one(heads, member, columns, features))


def test_members_differ_and_may_read_pairs_of_their_own():
    heads = made(num_members=3)
    columns = torch.randn(3, 5, 6, dtype=torch.double)
    logits = heads(columns)
    for member in range(3):
        torch.testing.assert_close(logits[member], heads(columns[member])[member])
    same = heads(columns[0])
    assert not torch.allclose(same[0], same[1])


def test_logits_do_not_change_when_both_ends_change_places():
    heads = made(num_features=4)
    columns = torch.randn(9, 6, dtype=torch.double)
    u, v = torch.randn(2, 9, 4, dtype=torch.double)
    torch.testing.assert_close(heads(columns, (u, v)), heads(columns, (v, u)))
