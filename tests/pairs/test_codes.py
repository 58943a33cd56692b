"""Codes of pairs: without gaps, exact for the largest graphs, the same wherever pairs meet."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgnn import PGNNError
from pgnn.pairs.codes import (
    as_pairs,
    edge_codes,
    is_among,
    low_high,
    ordered_codes,
    ordered_pairs,
    sorted_distinct,
    unordered_codes,
    unordered_pairs,
)
from strategies import graphs


@given(st.integers(2, 40))
def test_codes_are_bijections(num_nodes):
    pairs = np.array(list(combinations(range(num_nodes), 2)))
    codes = unordered_codes(pairs)
    assert sorted(codes.tolist()) == list(range(num_nodes * (num_nodes - 1) // 2))
    np.testing.assert_array_equal(codes, unordered_codes(pairs[:, ::-1]))
    np.testing.assert_array_equal(unordered_pairs(codes), pairs)
    both = np.concatenate([pairs, pairs[:, ::-1]])
    codes = ordered_codes(both, num_nodes)
    assert sorted(codes.tolist()) == list(range(num_nodes * (num_nodes - 1)))
    np.testing.assert_array_equal(ordered_pairs(codes, num_nodes), both)


@given(st.integers(1, 2**31 - 2), st.integers(0, 3))
def test_codes_are_exact_for_the_largest_graphs(high, offset):
    low = [min(offset, high - 1), max(high - 1 - offset, 0)]
    pairs = np.array([(node, high) for node in low])
    np.testing.assert_array_equal(unordered_pairs(unordered_codes(pairs)), pairs)
    np.testing.assert_array_equal(ordered_pairs(ordered_codes(pairs, 2**31), 2**31), pairs)


@given(st.integers(2, 30), st.integers(0, 2**32))
def test_sorted_ordered_codes_are_sorted_pairs(num_nodes, seed):
    pairs = np.random.default_rng(seed).integers(0, num_nodes, (20, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    by_code = pairs[np.argsort(ordered_codes(pairs, num_nodes), kind="stable")]
    assert by_code.tolist() == sorted(pairs.tolist())


@given(graphs())
def test_edge_codes_of_a_graph_are_sorted_and_distinct(graph):
    codes = edge_codes(graph.edges(), graph.num_nodes, directed=graph.directed)
    assert (np.diff(codes) > 0).all()
    turned = edge_codes(graph.edges()[:, ::-1], graph.num_nodes, directed=graph.directed)
    if not graph.directed:
        np.testing.assert_array_equal(turned, codes)
    elif len(codes):
        assert (turned != codes).all()


@given(st.lists(st.integers(0, 20)), st.lists(st.integers(0, 20)))
def test_membership_is_that_of_sets(codes, members):
    codes, members = np.array(codes, dtype=np.int64), np.array(members, dtype=np.int64)
    distinct = sorted_distinct(members)
    assert distinct.tolist() == sorted(set(members.tolist()))
    np.testing.assert_array_equal(is_among(codes, distinct), np.isin(codes, members))


def test_low_high_turns_pairs_of_any_integer_type():
    turned = low_high(np.array([(3, 1), (1, 3)], dtype=np.int32))
    assert turned.tolist() == [[1, 3], [1, 3]]
    assert turned.dtype == np.int64


def test_no_pairs_are_pairs():
    assert as_pairs([]).shape == (0, 2)
    assert unordered_codes(as_pairs([])).tolist() == []
    assert edge_codes(as_pairs([]), 1, directed=True).tolist() == []


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(0, 1), (2,)], r"pairs must be integer node indices of shape \[num_pairs, 2\] \("),
        ([0, 1], r"\(got int64 of shape \[2\]\)"),
        ([(0.0, 1.0)], r"\(got float64 of shape \[1, 2\]\)"),
        ([(0, 1), (0, 3)], r"pairs\[1\] is \(0, 3\), but node indices must lie in 0\.\.2"),
        ([(0, -1)], r"pairs\[0\] is \(0, -1\)"),
    ],
)
def test_bad_pairs_are_one_clear_error(pairs, message):
    with pytest.raises(PGNNError, match=message):
        as_pairs(pairs, num_nodes=3)
