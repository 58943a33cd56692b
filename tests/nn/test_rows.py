"""Rows in blocks: sums are one tree, whoever has the blocks."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pgnn.nn import DistanceDecoder, DotDecoder, Positions, make_pgnn
from pgnn.nn import rows as rows_module
from pgnn.nn.rows import Rows, _subtrees
from rank_threads import on_ranks


def halved_sum(blocks):
    """The sum in a binary tree, the obvious way."""
    if len(blocks) == 1:
        return blocks[0]
    middle = len(blocks) // 2
    return halved_sum(blocks[:middle]) + halved_sum(blocks[middle:])


@settings(max_examples=20, deadline=None)
@given(
    num_rows=st.integers(8, 30),
    exponent=st.integers(15, 26),
    num_ranks=st.integers(1, 4),
    seed=st.integers(0, 99),
)
def test_sums_and_rows_do_not_depend_on_the_number_of_processes(
    num_rows, exponent, num_ranks, seed
):
    blocks = np.random.default_rng(seed).normal(size=(16, num_rows, 3)).astype(np.float32)

    def work(group):
        rows = Rows(num_rows, 1 << exponent, 1, group)
        first = rows._first
        own = blocks[first : first + len(rows.bounds) - 1]
        every = np.arange(2.0 * num_rows).reshape(num_rows, 2)
        gathered = rows.gather(every[rows.own], np.empty_like(every))
        np.testing.assert_array_equal(gathered, every)
        return rows.num_blocks, rows.own, rows.total(list(own)), rows.total_rows(list(own))

    for count, own, total, of_own in on_ranks(num_ranks, work):
        expected = halved_sum(list(blocks[:count]))
        np.testing.assert_array_equal(total, expected)
        np.testing.assert_array_equal(of_own, expected[own])


@given(first=st.integers(0, 40), count=st.integers(0, 40))
def test_subtrees_cover_blocks_once_and_are_whole(first, count):
    places = _subtrees(first, first + count)
    covered = [block for start, size in places for block in range(start, start + size)]
    assert covered == list(range(first, first + count))
    assert all(size & (size - 1) == 0 and start % size == 0 for start, size in places)


@pytest.mark.parametrize("decoder_type", [DistanceDecoder, DotDecoder])
def test_a_training_step_is_the_same_on_any_number_of_processes(decoder_type, monkeypatch):
    monkeypatch.setattr(rows_module, "_PAIRS", (1, 1, 1))  # eight blocks
    monkeypatch.setattr("pgnn.nn.pairs._NUMBERS_PER_PART", 512)
    rng = np.random.default_rng(0)
    n, k, m = 610, 7, 400
    positions = Positions(
        torch.from_numpy(rng.integers(-1, n, (n, k))),
        codes=torch.from_numpy(rng.integers(-1, 4, (n, k)).astype(np.int8)),
        levels=torch.rand(5, generator=torch.Generator().manual_seed(0)),
        first_code=-1,
    )
    x = torch.from_numpy(rng.normal(size=(n, 3)).astype(np.float32))
    pairs = torch.from_numpy(rng.integers(0, n, (m, 2)))
    labels = torch.from_numpy((rng.random(m) < 0.5).astype(np.float32))
    model = make_pgnn("pgnn-e-2l", 3, hidden_channels=32).eval()
    parameters = list(model.parameters())

    def step(_=None):
        decoder = decoder_type()
        z = model(x, positions)
        loss = decoder.loss(z, pairs, labels, torch.ones(m))
        learned = [*parameters, *decoder.parameters()]
        gradients = torch.autograd.grad(loss, learned, allow_unused=True)
        return [loss, z, *(each for each in gradients if each is not None)]

    alone = step()
    for num_ranks in (2, 3):
        for shared in on_ranks(num_ranks, step):
            for one, other in zip(shared, alone, strict=True):
                assert torch.equal(one, other)


def test_few_blocks_are_not_shared():
    assert on_ranks(2, lambda group: Rows(10, 1, 1, group).are_all_here) == [True, True]
