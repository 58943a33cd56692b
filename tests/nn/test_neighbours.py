"""Sums over neighbours: gradients, parts for threads, and what is kept of edges."""

import gc

import numpy as np
import pytest
import torch

from pgnn import PGNNError
from pgnn.nn import neighbours as module
from pgnn.nn.neighbours import attend_neighbours, neighbours_of, sum_neighbours

N, D = 6, 4


def random_case(num_edges=14, seed=0, n=N, d=D):
    random = torch.Generator().manual_seed(seed)
    edges = torch.randint(0, n, (2, num_edges), generator=random)
    numbers = [torch.randn(s, generator=random, dtype=torch.float64) for s in ((n, d), n, n)]
    return edges, [tensor.requires_grad_() for tensor in numbers]


def test_sums_pass_gradcheck():
    edges, (x, own, other) = random_case()
    factors = own.detach().numpy(), other.detach().numpy()
    neighbours = neighbours_of(edges, N, loops=False)
    assert torch.autograd.gradcheck(lambda x: sum_neighbours(x, neighbours, *factors), x)


def test_attention_passes_gradcheck():
    edges, leaves = random_case()
    neighbours = neighbours_of(edges, N, loops=True)
    assert torch.autograd.gradcheck(
        lambda x, own, other: attend_neighbours(x, neighbours, own, other, 0.2), leaves
    )


def test_parts_do_not_change_numbers_and_repeat_to_the_bit(monkeypatch):
    edges, leaves = random_case(300, n=40, d=7)
    neighbours = neighbours_of(edges, 40, loops=True)
    ones = np.ones(40)

    def run():
        x, own, other = leaves
        h = sum_neighbours(x, neighbours, ones, ones) + x
        out = attend_neighbours(h, neighbours, own, other, 0.2)
        return out, *torch.autograd.grad(out.square().sum(), leaves)

    whole = run()
    monkeypatch.setattr(module, "_NUMBERS_PER_PART", 1)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    assert len(module._bounds(neighbours.sources, np.empty((40, 7)))) == 4
    parts, again = run(), run()
    for a, b, c in zip(whole, parts, again, strict=True):
        torch.testing.assert_close(a, b)
        assert torch.equal(b, c)


def test_loops_are_taken_once_or_as_they_are():
    edges = torch.tensor([[0, 0, 1, 1], [0, 0, 0, 2]])
    as_they_are = neighbours_of(edges, 3, loops=False)
    assert as_they_are.sources.counts.tolist() == [3, 0, 1]
    assert as_they_are.targets.counts.tolist() == [2, 2, 0]
    once = neighbours_of(edges, 3, loops=True)
    assert [row.tolist() for row in np.split(once.sources.indices, once.sources.indptr[1:-1])] == [
        [1, 0],
        [1],
        [1, 2],
    ]


def test_neighbours_are_kept_until_the_edges_change_or_go():
    before = len(module._kept)
    edges, _ = random_case()
    kept = neighbours_of(edges, N, loops=True)
    assert neighbours_of(edges, N, loops=True) is kept
    assert neighbours_of(edges, N, loops=False) is not kept
    assert neighbours_of(edges.clone(), N, loops=True) is not kept
    edges[0, 0] = (edges[0, 0] + 1) % N
    changed = neighbours_of(edges, N, loops=False)
    assert changed.sources.counts.sum() == 14
    assert neighbours_of(edges, N, loops=True) is not kept
    del edges
    gc.collect()
    assert len(module._kept) == before


@pytest.mark.parametrize(("bad", "named"), [(6, 6), (-1, -1)])
def test_edges_of_nodes_that_are_not_there_are_refused(bad, named):
    edges = torch.tensor([[0, 1], [1, bad]])
    with pytest.raises(PGNNError, match=f"edge_index names node {named}, but there are nodes 0"):
        neighbours_of(edges, N, loops=True)


def test_x_changed_in_place_before_backward_is_an_error():
    edges, (x, own, other) = random_case()
    out = attend_neighbours(x, neighbours_of(edges, N, loops=True), own, other, 0.2)
    with torch.no_grad():
        x += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()
