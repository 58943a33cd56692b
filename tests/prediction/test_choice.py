"""Pairs are taken once each, the best ranks first, and no more than fit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgnn.pairs.codes import edge_codes
from pgnn.prediction.choice import Ranked, Taken

NUM_NODES = 8


def ranked(rows, whole=True):
    """Ranked pairs of rows (source, target, rank)."""
    source, target, rank = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return Ranked(source, target.astype(np.int32), rank, whole)


def codes_of(pairs):
    return edge_codes(np.array(pairs, dtype=np.int64).reshape(-1, 2), NUM_NODES, directed=False)


def taken(seed=0):
    return Taken(NUM_NODES, np.random.default_rng(seed))


def found_rows():
    node = st.integers(0, NUM_NODES - 1)
    row = st.tuples(node, node, st.integers(0, 5)).filter(lambda row: row[0] != row[1])
    return st.lists(row, max_size=40)


@given(rows=found_rows(), limit=st.integers(0, 30), whole=st.booleans())
def test_best_ranks_are_taken_each_pair_once(rows, limit, whole):
    best = {}
    for u, v, rank in rows:
        pair = (min(u, v), max(u, v))
        best[pair] = min(rank, best.get(pair, rank))
    chosen = taken()
    assert chosen.add(ranked(rows, whole), limit) == (whole and len(best) <= limit)
    codes = chosen.codes.tolist()
    assert codes == sorted(set(codes))
    rank_of = dict(zip(codes_of(list(best)).tolist(), best.values(), strict=True))
    assert sorted(rank_of[code] for code in codes) == sorted(best.values())[:limit]


def test_pair_that_both_nodes_found_counts_by_the_better_rank():
    chosen = taken()
    assert not chosen.add(ranked([(0, 1, 5), (2, 3, 3), (1, 0, 0)]), 1)
    assert chosen.codes.tolist() == codes_of([(0, 1)]).tolist()


def test_limit_is_of_all_that_is_taken_and_pairs_are_not_taken_again():
    chosen = taken()
    assert chosen.add_codes(codes_of([(0, 1), (0, 2)]), 3)
    assert not chosen.add(ranked([(1, 0, 0), (0, 3, 1), (0, 4, 2)]), 3)
    assert chosen.codes.tolist() == codes_of([(0, 1), (0, 2), (0, 3)]).tolist()
    assert not chosen.add_codes(codes_of([(5, 6)]), 3)
    assert chosen.add_codes(codes_of([(0, 3)]), 3)  # nothing that is new is left out
    assert len(chosen.codes) == 3


@pytest.mark.parametrize("limit", [2, 4])
def test_equal_ranks_that_do_not_all_fit_are_drawn(limit):
    pairs = [(0, v) for v in range(1, 7)]
    counts = np.zeros(NUM_NODES**2)
    for seed in range(200):
        chosen = taken(seed)
        assert not chosen.add_codes(codes_of(pairs), limit)
        counts[chosen.codes] += 1
        again = taken(seed)
        again.add_codes(codes_of(pairs), limit)
        np.testing.assert_array_equal(again.codes, chosen.codes)
    drawn = counts[codes_of(pairs)]
    assert drawn.sum() == 200 * limit
    assert np.abs(drawn - 200 * limit / 6).max() < 40
