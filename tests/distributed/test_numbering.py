"""Ids are numbered over all ranks as one process numbers them."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgnn.distributed import numbering
from pgnn.distributed.agreement import Alone
from pgnn.distributed.numbering import number_share, starts_of
from pgnn.errors import PGNNError
from pgnn.graph.columns import to_common_kind
from pgnn.graph.numbering import number_nodes
from rank_threads import on_ranks

KINDS = {
    "dense integers": st.integers(3, 12),
    "far integers": st.sampled_from([-(2**62), -5, 0, 1, 10**12, 2**62, 2**62 + 1]),
    "words": st.sampled_from(["ann", "bob", "", "ü", "1", "b b"]).map(lambda word: f"x{word}"),
    "integers and words": st.sampled_from(["7", "12", "007", "x", "-3"]),
}


def blocks_of(rows, size):
    """Cut rows of written ids into blocks, each with ids of the common kind."""
    parts = [rows[start : start + size] for start in range(0, len(rows), size)]
    return [
        tuple(to_common_kind([pl.Series([str(row[end]) for row in part]) for end in (0, 1)]))
        for part in parts
    ]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=8, deadline=None)
@given(data=st.data(), size=st.integers(1, 3), block=st.integers(1, 4))
def test_numbers_are_those_of_one_process(kind, data, size, block):
    rows = data.draw(st.lists(st.tuples(KINDS[kind], KINDS[kind]), min_size=1, max_size=14))
    columns = to_common_kind([pl.Series([str(row[end]) for row in rows]) for end in (0, 1)])
    pairs, ids = number_nodes(*columns)
    cuts = starts_of(len(rows), size)

    def work(group):
        own = rows[cuts[group.rank] : cuts[group.rank + 1]]
        return number_share(group, lambda: iter(blocks_of(own, block)))

    numbered = on_ranks(size, work)
    found = np.concatenate([np.empty((0, 2)), *(part for each in numbered for part in each.pairs)])
    np.testing.assert_array_equal(found, pairs)
    assert pl.concat([each.ids.alias("") for each in numbered]).to_list() == ids.to_list()
    assert {each.num_nodes for each in numbered} == {len(ids)}
    starts = starts_of(len(ids), size)
    assert [len(each.ids) for each in numbered] == np.diff(starts).tolist()


def test_integers_far_apart_are_numbered_without_a_table(monkeypatch):
    monkeypatch.setattr(numbering, "_DENSE_SPAN", 0)
    rows = [(5, 1), (9, 5), (1, 9), (100, 2)]
    numbered = on_ranks(2, lambda group: number_share(group, lambda: iter(blocks_of(rows, 3))))
    assert np.concatenate(numbered[0].pairs).tolist() == [[2, 0], [3, 2], [0, 3], [4, 1]]
    assert [each.ids.to_list() for each in numbered] == [[1, 2], [5, 9, 100]]


def test_strings_with_the_same_hash_are_hashed_anew(monkeypatch):
    tried = []
    real = numbering._number_hashed

    def once_in_vain(group, blocks, seed):
        tried.append(seed)
        return None if seed == 0 else real(group, blocks, seed)

    monkeypatch.setattr(numbering, "_number_hashed", once_in_vain)
    numbered = number_share(Alone(), lambda: iter(blocks_of([("a", "b")], 1)))
    assert tried == [0, 1]
    assert numbered.ids.to_list() == ["a", "b"]


def test_equal_hashes_are_noticed(monkeypatch):
    monkeypatch.setattr(
        pl.Series, "hash", lambda self, seed: pl.Series([7] * len(self), dtype=pl.UInt64)
    )
    with pytest.raises(PGNNError, match="cannot be told apart"):
        number_share(Alone(), lambda: iter(blocks_of([("a", "b")], 1)))
