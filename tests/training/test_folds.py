import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from pgnn import Graph
from pgnn.errors import PGNNError
from pgnn.training.splits import PairSet, Split, hide_in_folds, split_links
from strategies import graphs


def as_set(pairs):
    return {(int(u), int(v)) for u, v in pairs}


def unordered(pairs):
    return {frozenset((int(u), int(v))) for u, v in pairs}


def weight_of(graph):
    weights = graph.edge_weights()
    if weights is None:
        return dict.fromkeys(as_set(graph.edges()))
    return dict(zip(map(tuple, graph.edges().tolist()), weights.tolist(), strict=True))


@st.composite
def splits_and_folds(draw):
    """A split as `split_links` makes it, of any kind of graph, and a number of folds."""
    graph = draw(graphs())
    joined = len(unordered(graph.edges()))
    assume(joined >= 4)
    try:
        split = split_links(graph, rng=draw(st.integers(0, 99)))
    except PGNNError:  # too dense for as many negatives
        assume(False)
    training = len(unordered(split.graph.edges()))
    assume(training >= 2)
    return split, draw(st.integers(2, min(training, 6)))


def check_folds(split, parts, num_folds):
    """The obvious twin: sets of tuples, edge by edge."""
    first, *folds = parts
    assert len(folds) == num_folds
    whole = weight_of(split.graph)
    for edge in whole:
        learnt_in = [i for i, part in enumerate(folds) if edge in as_set(part.train.positives)]
        missing_in = [i for i, part in enumerate(folds) if edge not in weight_of(part.graph)]
        assert len(learnt_in) == 1
        assert missing_in == learnt_in
    for part in folds:
        assert not unordered(part.train.positives) & unordered(part.graph.edges())
        assert all(whole[edge] == weight for edge, weight in weight_of(part.graph).items())
        assert part.graph.directed == split.graph.directed
        assert len(part.val) == len(part.test) == 0
    listed = sorted(pair for part in folds for pair in part.train.negatives.tolist())
    assert listed == sorted(split.train.negatives.tolist())
    sizes = [len(unordered(part.train.positives)) for part in folds]
    assert max(sizes) - min(sizes) <= 1
    sizes = [len(part.train.negatives) for part in folds]
    assert max(sizes) - min(sizes) <= 1
    assert len(first.train) == 0
    assert (first.val, first.test, first.graph) == (split.val, split.test, split.graph)


@given(splits_and_folds(), st.integers(0, 99))
@settings(max_examples=60, suppress_health_check=[HealthCheck.filter_too_much])
def test_folds_hide_each_training_edge_in_exactly_one(case, seed):
    split, num_folds = case
    check_folds(split, hide_in_folds(split, num_folds, rng=seed), num_folds)


def two_way(num_nodes=12):
    ring = [(v, (v + 1) % num_nodes) for v in range(num_nodes)]
    one_way = [(v, (v + 4) % num_nodes) for v in range(0, num_nodes, 2)]
    edges = ring + [(v, u) for u, v in ring] + one_way
    weights = np.arange(1, len(edges) + 1) / 4
    return Graph.from_edges(edges, weights=weights, directed=True)


@pytest.mark.parametrize("seed", range(5))
def test_folds_keep_both_directions_of_a_two_way_edge_together(seed):
    split = split_links(two_way(), rng=seed)
    parts = hide_in_folds(split, 4, rng=seed)
    check_folds(split, parts, 4)
    seen = as_set(split.graph.edges())
    for part in parts[1:]:
        positives = as_set(part.train.positives)
        assert all((v, u) in positives for u, v in positives if (v, u) in seen)
    assert any((v, u) in seen for u, v in seen)


def test_folds_keep_features_labels_and_ids():
    ring = Graph.from_edges(
        [(v, (v + 1) % 10) for v in range(10)],
        x=np.arange(10.0),
        y=list("aabbaabbab"),
        node_ids=[f"n{v}" for v in range(10)],
    )
    split = split_links(ring, rng=0)
    for part in hide_in_folds(split, 3, rng=0):
        for name in ("x", "y", "classes", "node_ids"):
            assert np.array_equal(getattr(part.graph, name), getattr(ring, name))


def test_folds_are_the_same_for_the_same_seed_and_differ_for_others():
    split = split_links(two_way(), rng=0)

    def learnt(seed):
        return [part.train.pairs.tolist() for part in hide_in_folds(split, 3, rng=seed)]

    assert learnt(1) == learnt(1)
    assert learnt(1) != learnt(2)


@pytest.mark.parametrize("num_folds", [-1, 0, 1, 9])
def test_folds_refuse_a_number_that_hides_all_or_nothing(num_folds):
    split = split_links(Graph.from_edges([(v, (v + 1) % 10) for v in range(10)]), rng=0)
    with pytest.raises(PGNNError, match=r"at most the number of training edges, 8 \(got"):
        hide_in_folds(split, num_folds, rng=0)


def test_folds_count_a_two_way_edge_once():
    edges = [(0, 1), (1, 0), (2, 3), (3, 2)]
    none = PairSet(np.empty((0, 2), dtype=np.int64), [])
    split = Split(Graph.from_edges(edges, 6, directed=True), none, none, none)
    assert len(hide_in_folds(split, 2, rng=0)) == 3
    with pytest.raises(PGNNError, match="number of training edges, 2"):
        hide_in_folds(split, 3, rng=0)


@given(graphs(), st.data())
@settings(max_examples=60)
def test_with_edges_keeps_exactly_the_chosen_ones(graph, data):
    size = graph.num_edges
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)), dtype=bool)
    found = graph.with_edges(mask)
    whole = weight_of(graph)
    chosen = {tuple(edge) for edge, kept in zip(graph.edges().tolist(), mask, strict=True) if kept}
    assert weight_of(found) == {edge: whole[edge] for edge in chosen}
    assert (found.num_nodes, found.directed) == (graph.num_nodes, graph.directed)
