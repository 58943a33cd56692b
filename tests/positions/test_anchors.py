"""Anchor-sets: the paper's sizes and probabilities, and nothing empty."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgnn import AnchorSets, PGNNError, sample_anchor_sets

SCHEMES = ["bernoulli", "fixed"]


@pytest.mark.parametrize("scheme", SCHEMES)
@given(num_nodes=st.integers(1, 700), c=st.sampled_from([0.1, 0.5, 1.0, 2.5]), seed=st.integers(0))
def test_sets_are_sorted_distinct_nonempty_and_as_many_as_the_paper_says(
    scheme, num_nodes, c, seed
):
    sets = sample_anchor_sets(num_nodes, c, scheme=scheme, rng=seed)
    log_n = max(1, math.floor(math.log2(num_nodes)))
    copies = max(1, math.floor(c * log_n))
    assert len(sets) == log_n * copies
    assert sets.size_class.tolist() == [i for i in range(1, log_n + 1) for _ in range(copies)]
    for nodes in sets:
        assert nodes.size
        assert (np.diff(nodes) > 0).all()
        assert nodes[0] >= 0
        assert nodes[-1] < num_nodes


@pytest.mark.parametrize(("num_nodes", "expected"), [(1, 1), (2, 1), (3, 1), (4, 4), (400, 64)])
def test_number_of_sets_for_small_graphs(num_nodes, expected):
    assert len(sample_anchor_sets(num_nodes, rng=0)) == expected


def test_single_node_is_the_only_anchor():
    assert [nodes.tolist() for nodes in sample_anchor_sets(1, rng=0)] == [[0]]


@pytest.mark.parametrize("i", range(1, 9))
def test_bernoulli_takes_each_node_with_probability_one_in_2_to_the_i(i):
    num_nodes, draws = 400, 300
    sets = sample_anchor_sets(num_nodes, num_sets=8 * draws, rng=1)
    chosen = [
        nodes for nodes, size_class in zip(sets, sets.size_class, strict=True) if size_class == i
    ]
    assert len(chosen) == draws
    p = 0.5**i
    p_nonempty = 1 - (1 - p) ** num_nodes
    sizes = np.array([len(nodes) for nodes in chosen])
    # Mean size within 5 standard errors; empty draws are redrawn, which lifts the mean a little.
    error = 5 * math.sqrt(num_nodes * p / draws)
    assert abs(sizes.mean() - num_nodes * p / p_nonempty) < error
    if i <= 4:  # enough members to see that sizes vary as a binomial's do
        assert 0.65 < sizes.var() / (num_nodes * p * (1 - p)) < 1.4
    counts = np.bincount(np.concatenate(chosen), minlength=num_nodes)
    expected = draws * p / p_nonempty
    spread = math.sqrt(expected * (1 - p))
    assert (np.abs(counts - expected) < 6 * spread + 3).all()


def test_bernoulli_members_are_independent():
    sets = sample_anchor_sets(64, num_sets=6 * 4000, rng=2)
    halves = [nodes for nodes, i in zip(sets, sets.size_class, strict=True) if i == 1]
    matrix = np.zeros((len(halves), 64))
    for row, nodes in enumerate(halves):
        matrix[row, nodes] = 1
    correlation = np.corrcoef(matrix.T) - np.eye(64)
    assert np.abs(correlation).max() < 5.5 / math.sqrt(len(halves))


def test_sets_of_one_class_differ():
    sets = sample_anchor_sets(400, rng=3)
    assert len({tuple(nodes.tolist()) for nodes in sets}) > 50


@pytest.mark.parametrize("num_nodes", [1, 2, 3, 10, 400, 1023, 1024])
def test_fixed_takes_exactly_n_over_2_to_the_i(num_nodes):
    sets = sample_anchor_sets(num_nodes, scheme="fixed", rng=4)
    expected = [max(1, num_nodes // 2**i) for i in sets.size_class]
    assert sets.sizes.tolist() == expected


@pytest.mark.parametrize("scheme", SCHEMES)
def test_same_seed_gives_same_sets(scheme):
    one, two, other = (sample_anchor_sets(500, scheme=scheme, rng=seed) for seed in (7, 7, 8))
    np.testing.assert_array_equal(one.nodes, two.nodes)
    assert not np.array_equal(one.nodes, other.nodes)


def test_generator_moves_on_between_draws():
    rng = np.random.default_rng(9)
    one, two = sample_anchor_sets(500, rng=rng), sample_anchor_sets(500, rng=rng)
    assert not np.array_equal(one.nodes, two.nodes)


@given(num_nodes=st.integers(1, 500), num_sets=st.integers(1, 100))
def test_num_sets_spreads_evenly_over_size_classes(num_nodes, num_sets):
    sets = sample_anchor_sets(num_nodes, num_sets=num_sets, rng=5)
    assert len(sets) == num_sets
    classes = max(1, math.floor(math.log2(num_nodes)))
    counts = np.bincount(sets.size_class, minlength=classes + 1)[1:]
    assert len(counts) == classes
    assert counts.max() - counts.min() <= 1


def test_union_shifts_nodes_set_by_set():
    one = AnchorSets.from_sets([[0, 2], [1]], num_nodes=3)
    two = AnchorSets.from_sets([[1], [0, 1]], num_nodes=2)
    both = AnchorSets.union([one, two])
    assert both.num_nodes == 5
    assert [nodes.tolist() for nodes in both] == [[0, 2, 4], [1, 3, 4]]


def test_indexing_accepts_negative_and_rejects_beyond():
    sets = AnchorSets.from_sets([[0], [1, 0]], num_nodes=2)
    assert sets[-1].tolist() == [0, 1]
    with pytest.raises(IndexError, match="anchor-set 2 of 2"):
        sets[2]


def test_arrays_are_read_only():
    sets = sample_anchor_sets(10, rng=0)
    with pytest.raises(ValueError, match="read-only"):
        sets.nodes[0] = 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_nodes": 0}, "num_nodes must be a positive integer"),
        ({"num_nodes": 5, "c": 0}, "c must be a positive number"),
        ({"num_nodes": 5, "c": -1.0}, "c must be a positive number"),
        ({"num_nodes": 5, "c": math.nan}, "c must be a positive number"),
        ({"num_nodes": 5, "num_sets": 0}, "num_sets must be a positive integer"),
        ({"num_nodes": 5, "scheme": "other"}, "scheme must be 'bernoulli' or 'fixed'"),
    ],
)
def test_bad_arguments_are_one_clear_error(arguments, message):
    with pytest.raises(PGNNError, match=message):
        sample_anchor_sets(**arguments, rng=0)


def test_union_of_different_numbers_of_sets_says_what_to_do():
    one = AnchorSets.from_sets([[0]], num_nodes=1)
    two = AnchorSets.from_sets([[0], [0]], num_nodes=1)
    with pytest.raises(PGNNError, match="same num_sets"):
        AnchorSets.union([one, two])
    with pytest.raises(PGNNError, match="at least one"):
        AnchorSets.union([])
