"""Anchor-sets: the paper's sizes and probabilities, nothing empty, and the same in a union."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgnn import AnchorSets, PGNNError, sample_anchor_sets
from pgnn.positions import anchors
from pgnn.positions.anchors import MAX_SETS, draw_at_once, sample_several

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
        ({"num_nodes": 5, "c": math.nan}, "c must be a finite number"),
        ({"num_nodes": 5, "num_sets": 0}, "num_sets must be a positive integer"),
        ({"num_nodes": 5, "num_sets": 2.5}, r"num_sets must be an integer or None \(got 2.5\)"),
        ({"num_nodes": 5, "scheme": "other"}, "scheme must be one of bernoulli, fixed"),
        ({"num_nodes": 2.7}, r"num_nodes must be an integer or a sequence, .* \(got 2.7\)"),
        ({"num_nodes": True}, r"num_nodes must be an integer or a sequence, .* \(got True\)"),
        (
            {"num_nodes": [2.7, 3], "num_sets": 4},
            "num_nodes must be an integer or a sequence, each an integer",
        ),
    ],
)
def test_bad_arguments_are_one_clear_error(arguments, message):
    with pytest.raises(PGNNError, match=message):
        sample_anchor_sets(**arguments, rng=0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_sets": 100_000_000}, r"num_sets must be at most 100,000 \(got 100000000\)"),
        ({"num_sets": MAX_SETS + 1}, "num_sets must be at most 100,000"),
        ({"c": 1e6}, "c = 1e\\+06 makes more than 100,000 anchor-sets"),
    ],
)
@pytest.mark.parametrize("num_nodes", [100, 1_000_000])
def test_too_many_sets_are_refused_before_any_is_drawn(num_nodes, options, message):
    rng = np.random.default_rng(0)
    with pytest.raises(PGNNError, match=message):
        sample_anchor_sets(num_nodes, **options, rng=rng)
    assert rng.random() == np.random.default_rng(0).random()


def test_as_many_sets_as_documented_are_drawn():
    assert len(sample_anchor_sets(3, num_sets=MAX_SETS, rng=0)) == MAX_SETS


# ---------------------------------------------------------------------- made by hand


def flat(**changes):
    """The sets {0, 2} and {1} of three nodes, with some of the arrays changed."""
    arrays = {
        "indptr": np.array([0, 2, 3]),
        "nodes": np.array([0, 2, 1], dtype=np.int32),
        "num_nodes": 3,
        "size_class": np.zeros(2, dtype=np.int64),
    }
    return AnchorSets(**{**arrays, **changes})


def test_sets_made_by_hand_are_taken_if_right():
    assert [nodes.tolist() for nodes in flat()] == [[0, 2], [1]]


def int32(*numbers):
    return np.array(numbers, dtype=np.int32)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"nodes": int32(0, 3, 1)}, r"nodes holds 3, but node indices must lie in 0..2"),
        ({"nodes": int32(-1, 2, 1)}, r"nodes holds -1, but node indices must lie in 0..2"),
        ({"num_nodes": 2}, r"nodes holds 2, but node indices must lie in 0..1"),
        ({"num_nodes": 2.5}, "num_nodes must be a positive integer"),
        ({"nodes": int32(2, 0, 1)}, "nodes must ascend within each set"),
        ({"nodes": int32(2, 2, 1)}, "nodes must ascend within each set"),
        ({"nodes": np.array([0, 2, 1])}, "nodes must be a flat array of int32"),
        ({"nodes": [0, 2, 1]}, "nodes must be a flat array of int32; AnchorSets.from_sets"),
        ({"indptr": np.array([0, 2, 9])}, "indptr must be the bounds"),
        ({"indptr": np.array([1, 2, 3])}, "indptr must be the bounds"),
        ({"indptr": np.array([0, 3, 3])}, "indptr must be the bounds"),
        ({"indptr": np.array([0, -1, 3])}, "indptr must be the bounds"),
        ({"indptr": np.array([0]), "nodes": int32()}, "indptr must be the bounds"),
        ({"size_class": np.zeros(3, dtype=np.int64)}, "an entry of size_class for each set"),
    ],
)
@pytest.mark.parametrize("way", ["new", "replaced"])
def test_sets_made_by_hand_are_checked(changes, message, way):
    with pytest.raises(PGNNError, match=message):
        flat(**changes) if way == "new" else replace(flat(), **changes)


def test_chain_puts_sets_one_after_the_other():
    parts = [sample_anchor_sets(9, num_sets=k, rng=k) for k in (3, 1, 4)]
    chained = AnchorSets.chain(parts)
    expected = [nodes.tolist() for part in parts for nodes in part]
    assert [nodes.tolist() for nodes in chained] == expected
    assert chained.size_class.tolist() == [i for part in parts for i in part.size_class]


@pytest.mark.parametrize("sizes", [[], [3, 4]])
def test_chain_of_no_or_different_graphs_is_refused(sizes):
    with pytest.raises(PGNNError, match="must be of one graph"):
        AnchorSets.chain([sample_anchor_sets(n, rng=0) for n in sizes])


def test_union_of_different_numbers_of_sets_says_what_to_do():
    one = AnchorSets.from_sets([[0]], num_nodes=1)
    two = AnchorSets.from_sets([[0], [0]], num_nodes=1)
    with pytest.raises(PGNNError, match="same num_sets"):
        AnchorSets.union([one, two])
    with pytest.raises(PGNNError, match="at least one"):
        AnchorSets.union([])


# ---------------------------------------------------------------------- disjoint unions

UNIONS = st.lists(st.integers(1, 70), min_size=2, max_size=12)


def counts_by_graph(sets, sizes):
    """How many nodes of each graph are in each set, `[k, graphs]`."""
    graph = np.repeat(np.arange(len(sizes)), sizes)
    return np.array([np.bincount(graph[nodes], minlength=len(sizes)) for nodes in sets])


def size_classes(size, num_sets):
    """The i of each set of a graph of this size, spread evenly, as for a single graph."""
    return sample_anchor_sets(size, num_sets=num_sets, rng=0).size_class


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(max_examples=40)
@given(sizes=UNIONS, num_sets=st.integers(1, 40), seed=st.integers(0, 2**32))
def test_union_sets_are_sorted_and_nonempty_in_every_graph(scheme, sizes, num_sets, seed):
    sets = sample_anchor_sets(sizes, num_sets=num_sets, scheme=scheme, rng=seed)
    assert len(sets) == num_sets
    assert sets.num_nodes == sum(sizes)
    assert sets.indptr[-1] == len(sets.nodes)
    assert all((np.diff(nodes) > 0).all() for nodes in sets)
    assert counts_by_graph(sets, sizes).min() >= 1


@settings(max_examples=40)
@given(sizes=UNIONS, num_sets=st.integers(1, 40), seed=st.integers(0, 2**32))
def test_union_fixed_takes_exactly_n_over_2_to_the_i_of_each_graph(sizes, num_sets, seed):
    sets = sample_anchor_sets(sizes, num_sets=num_sets, scheme="fixed", rng=seed)
    wanted = np.stack([np.maximum(1, n >> size_classes(n, num_sets)) for n in sizes], axis=1)
    assert np.array_equal(counts_by_graph(sets, sizes), wanted)


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(max_examples=30)
@given(sizes=UNIONS | st.lists(st.integers(1, 90), min_size=1, max_size=1), seed=st.integers(0))
def test_sets_are_the_rows_of_what_was_decided_at_once(scheme, sizes, seed):
    rng = np.random.default_rng(seed)
    members, _ = draw_at_once(rng, np.array(sizes), 12, fixed=scheme == "fixed")
    sets = sample_anchor_sets(sizes, num_sets=12, scheme=scheme, rng=seed)
    assert [nodes.tolist() for nodes in sets] == [np.flatnonzero(m).tolist() for m in members]
    assert sets.nodes.dtype == np.int32


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("sizes", [7, [7], [5, 1, 9], 600, [600, 500]])
def test_several_draws_are_each_what_it_is_alone(scheme, sizes):
    seeds = [3, 1, 4]
    rngs = [np.random.default_rng(seed) for seed in seeds]
    several = sample_several(sizes, num_sets=6, scheme=scheme, rngs=rngs)
    alone = [sample_anchor_sets(sizes, num_sets=6, scheme=scheme, rng=seed) for seed in seeds]
    chained = AnchorSets.chain(alone)
    assert np.array_equal(several.nodes, chained.nodes)
    assert np.array_equal(several.indptr, chained.indptr)
    assert np.array_equal(several.size_class, chained.size_class)


def test_union_fixed_takes_every_node_equally_often():
    sizes, num_sets = [5, 16], 6000
    sets = sample_anchor_sets(sizes, num_sets=num_sets, scheme="fixed", rng=1)
    often = np.bincount(sets.nodes, minlength=21)
    for nodes, size in ((slice(0, 5), 5), (slice(5, 21), 16)):
        share = np.maximum(1, size >> size_classes(size, num_sets)) / size
        deviation = np.sqrt((share * (1 - share)).sum())
        assert (np.abs(often[nodes] - share.sum()) < 5 * deviation).all()


def test_union_bernoulli_takes_each_node_with_probability_one_in_2_to_the_i():
    sizes, num_sets = [40, 100, 7], 4800
    sets = sample_anchor_sets(sizes, num_sets=num_sets, rng=2)
    counts = counts_by_graph(sets, sizes)
    for graph, size in enumerate(sizes):
        classes = size_classes(size, num_sets)
        for i in np.unique(classes):
            # Empty draws are repeated, so the chance is that of a draw that is not empty.
            chance = 0.5**i
            expected = chance / (1 - (1 - chance) ** size)
            drawn = counts[classes == i, graph]
            deviation = np.sqrt(size * chance / len(drawn)) / size
            assert abs(drawn.mean() / size - expected) < 5 * deviation, (size, i)


def test_union_bernoulli_graphs_are_drawn_independently():
    sets = sample_anchor_sets([2, 2], num_sets=8000, rng=3)
    member = np.zeros((8000, 4), dtype=bool)
    member[np.repeat(np.arange(8000), sets.sizes), sets.nodes] = True
    # A set of two nodes, not empty, is {0}, {1} or {0, 1}: each pair of them 1 in 9.
    kinds = (member[:, 0] + 2 * member[:, 1] - 1) * 3 + (member[:, 2] + 2 * member[:, 3] - 1)
    often = np.bincount(kinds, minlength=9)
    assert ((often - 8000 / 9) ** 2 / (8000 / 9)).sum() < 35  # chi squared, 8 degrees, 1 in 40,000


@pytest.mark.parametrize("scheme", SCHEMES)
def test_union_of_single_nodes_has_them_in_every_set(scheme):
    sets = sample_anchor_sets([1, 1, 1], num_sets=5, scheme=scheme, rng=0)
    assert [nodes.tolist() for nodes in sets] == [[0, 1, 2]] * 5


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("sizes", [[9, 30, 4], [600, 700]], ids=["small", "large"])
def test_union_seed_decides_the_sets(scheme, sizes):
    def nodes(seed):
        return sample_anchor_sets(sizes, num_sets=12, scheme=scheme, rng=seed).nodes.tolist()

    assert nodes(4) == nodes(4)
    assert nodes(4) != nodes(5)


def test_union_generator_moves_on_between_draws():
    rng = np.random.default_rng(0)
    first, second = (sample_anchor_sets([20, 20], num_sets=8, rng=rng) for _ in range(2))
    assert first.nodes.tolist() != second.nodes.tolist()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_union_of_large_graphs_is_nonempty_and_of_the_same_sizes(scheme, monkeypatch):
    """Large graphs are drawn one by one, small ones at once; both keep the same promises."""
    sizes, num_sets = [40, 3, 90], 24
    monkeypatch.setattr(anchors, "_SMALL_GRAPH", 0)
    sets = sample_anchor_sets(sizes, num_sets=num_sets, scheme=scheme, rng=0)
    counts = counts_by_graph(sets, sizes)
    assert counts.min() >= 1
    if scheme == "fixed":
        wanted = np.stack([np.maximum(1, n >> size_classes(n, num_sets)) for n in sizes], axis=1)
        assert np.array_equal(counts, wanted)


def test_list_of_one_graph_is_that_graph():
    """A list with one number is no union: the sets are those of the number, size classes kept."""
    alone, listed = sample_anchor_sets(50, rng=7), sample_anchor_sets([50], rng=7)
    assert alone.nodes.tolist() == listed.nodes.tolist()
    assert alone.indptr.tolist() == listed.indptr.tolist()
    assert alone.size_class.tolist() == listed.size_class.tolist()


def test_union_size_class_is_zero_however_it_was_drawn():
    small = sample_anchor_sets([20, 30], num_sets=6, rng=0)
    large = sample_anchor_sets([600, 700], num_sets=6, rng=0)
    assert small.size_class.tolist() == [0] * 6
    assert large.size_class.tolist() == [0] * 6


@pytest.mark.parametrize(
    ("sizes", "options", "message"),
    [
        ([3, 4], {}, "give num_sets"),
        ([3, 4], {"num_sets": 0}, "num_sets must be a positive integer"),
        ([3, 0], {"num_sets": 2}, "num_nodes must be a positive integer"),
        ([], {"num_sets": 2}, "num_nodes must be a positive integer"),
        ([3, 4], {"num_sets": 2, "scheme": "other"}, "scheme must be"),
    ],
)
def test_union_arguments_that_cannot_be_are_named(sizes, options, message):
    with pytest.raises(PGNNError, match=message):
        sample_anchor_sets(sizes, rng=0, **options)
