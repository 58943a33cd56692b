"""Groups of processes: what is given is what arrives, and losing one is one clear line."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgnn.distributed.group import Group, LostRankError, current_group
from rank_threads import on_ranks


def array_of(rank, rows, dtype, width):
    return (np.arange(rows * width) + 10 * rank).astype(dtype).reshape(rows, width)


@settings(max_examples=15, deadline=None)
@given(
    lengths=st.lists(st.integers(0, 5), min_size=1, max_size=3),
    dtype=st.sampled_from(["int8", "int64", "float32", "bool"]),
    width=st.integers(0, 3),
)
def test_gather_gives_all_the_arrays_of_all(lengths, dtype, width):
    arrays = [array_of(rank, rows, dtype, width) for rank, rows in enumerate(lengths)]
    for gathered in on_ranks(len(lengths), lambda group: group.gather(arrays[group.rank])):
        for array, expected in zip(gathered, arrays, strict=True):
            assert array.dtype == expected.dtype
            np.testing.assert_array_equal(array, expected)


@settings(max_examples=15, deadline=None)
@given(data=st.data(), size=st.integers(1, 3))
def test_exchange_gives_each_its_part(data, size):
    rows = [[data.draw(st.integers(0, 4)) for _ in range(size)] for _ in range(size)]
    parts = [
        [array_of(10 * a + b, rows[a][b], "int32", 2) for b in range(size)] for a in range(size)
    ]
    taken = on_ranks(size, lambda group: group.exchange(parts[group.rank]))
    for a in range(size):
        for b in range(size):
            np.testing.assert_array_equal(taken[b][a], parts[a][b])


def test_bytes_and_numbers_of_one_reach_all():
    def work(group):
        text = group.broadcast_bytes(b"hello" if group.rank == 1 else None, root=1)
        return text, group.gather_numbers(group.rank), group.all_equal(b"x"), group.is_first

    results = on_ranks(2, work)
    assert results == [(b"hello", [0, 1], True, True), (b"hello", [0, 1], True, False)]


def test_different_bytes_are_told_apart():
    assert on_ranks(2, lambda group: group.all_equal(b"x" * group.rank)) == [False, False]


def test_lost_rank_is_one_clear_error():
    def work(group):
        if group.rank == 1:
            return  # ends without a word; its connections close
        group.barrier()

    with pytest.raises(LostRankError, match="another process of this run has ended"):
        on_ranks(2, work, timeout=1)


def test_group_is_current_only_while_it_acts():
    assert current_group() is None
    assert all(on_ranks(2, lambda group: current_group() is group))
    assert current_group() is None


def test_group_of_one_needs_nobody():
    assert Group(0, 1, None).is_first
