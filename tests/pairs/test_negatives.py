"""Negatives: distinct, uniform, and never one of the pairs that are taken."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgnn import PGNNError
from pgnn.pairs.codes import as_pairs, sorted_distinct, unordered_codes
from pgnn.pairs.negatives import draw_distinct, draw_non_edges, draw_not_stored, step_over


@given(st.sets(st.integers(0, 30)))
def test_step_over_lists_what_is_not_taken(taken):
    free = [number for number in range(40) if number not in taken]
    numbers = step_over(np.arange(len(free)), np.array(sorted(taken), dtype=np.int64))
    assert numbers.tolist() == free


@pytest.mark.parametrize(("count", "population"), [(2, 5), (2, 30), (5, 5), (0, 3)])
def test_draws_are_distinct_and_uniform(count, population):
    rng = np.random.default_rng(0)
    seen = Counter()
    for _ in range(600):
        drawn = draw_distinct(rng, count, population).tolist()
        assert len(set(drawn)) == len(drawn) == count
        seen.update(drawn)
    expected = 600 * count / population
    for number in range(population):
        assert abs(seen[number] - expected) <= 5 * expected**0.5


@given(st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6))), st.integers(0, 2**32))
def test_non_edges_are_all_pairs_that_no_edge_joins(edges, seed):
    edges = as_pairs([edge for edge in edges if edge[0] != edge[1]])
    joined = sorted_distinct(unordered_codes(edges))
    rng, free = np.random.default_rng(seed), 21 - len(joined)
    drawn = draw_non_edges(rng, joined, 7, free)
    together = np.concatenate([joined, unordered_codes(drawn)])
    assert sorted(together.tolist()) == list(range(21))
    assert (drawn[:, 0] < drawn[:, 1]).all()
    with pytest.raises(PGNNError, match=f"only {free} pairs of its 7 nodes"):
        draw_non_edges(rng, joined, 7, free + 1)


def test_draws_beside_stored_pairs_may_be_their_reverse_but_never_themselves():
    stored = np.array([(0, 1), (0, 2), (1, 2)])
    drawn = draw_not_stored(np.random.default_rng(0), stored, 3, 200)
    assert {tuple(pair) for pair in drawn.tolist()} == {(1, 0), (2, 0), (2, 1)}
    every = np.array([(u, v) for u in range(3) for v in range(3) if u != v])
    with pytest.raises(PGNNError, match="every ordered pair of the 3 nodes is positive"):
        draw_not_stored(np.random.default_rng(0), every, 3, 1)
