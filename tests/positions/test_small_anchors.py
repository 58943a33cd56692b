"""Anchor-sets of disjoint unions: in every graph they are what the graph would get alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgnn import PGNNError, sample_anchor_sets
from pgnn.positions import anchors
from pgnn.positions.small_anchors import draw_at_once

SCHEMES = ["bernoulli", "fixed"]
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
