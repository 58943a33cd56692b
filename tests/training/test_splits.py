"""Splits: nothing held out is visible, negatives are negative, released flaws are as documented."""

from collections import Counter
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pgnn import Graph, PGNNError, anchor_distances, sample_anchor_sets
from pgnn.pairs.labelled import LabelledPairs
from pgnn.training.splits import hide_in_folds, make_splits, split_links, split_pairs
from strategies import graphs

PARTS = ("train", "val", "test")


def grid(side=20):
    return Graph.from_networkx(nx.convert_node_labels_to_integers(nx.grid_2d_graph(side, side)))


def caveman():
    edges = np.array(nx.connected_caveman_graph(20, 20).edges)
    return Graph.from_edges(edges, 400, y=np.arange(400) // 20)


def sets_of(split):
    return [getattr(split, name) for name in PARTS]


def unordered(pairs):
    return [frozenset(pair) for pair in pairs.tolist()]


def ordered(pairs):
    return {tuple(pair) for pair in pairs.tolist()}


def complete_minus(num_nodes, missing, directed=False):
    """A complete graph without the pairs in `missing`."""
    pairs = [pair for pair in combinations(range(num_nodes), 2) if pair not in missing]
    return Graph.from_edges(np.array(pairs), num_nodes, directed=directed)


# ---------------------------------------------------------------------- links, protocol "paper"


@settings(max_examples=80)
@given(graph=graphs(), seed=st.integers(0, 2**32))
def test_links_of_any_graph_do_not_leak(graph, seed):
    edges = ordered(graph.edges())
    joined = set(unordered(graph.edges()))
    non_edges = graph.num_nodes * (graph.num_nodes - 1) // 2 - len(joined)
    if len(joined) < 3 or len(edges) > non_edges:
        with pytest.raises(PGNNError, match=r"too few|too dense"):
            split_links(graph, rng=seed)
        return
    split = split_links(graph, rng=seed)
    held_out = unordered(split.val.positives) + unordered(split.test.positives)
    assert not set(unordered(split.graph.edges())) & set(held_out)
    assert ordered(split.graph.edges()) == ordered(split.train.positives)
    negatives = [pair for part in sets_of(split) for pair in unordered(part.negatives)]
    assert not joined & set(negatives)
    assert len(set(negatives)) == len(negatives)
    assert all(len(pair) == 2 for pair in negatives)
    positives = [tuple(pair) for part in sets_of(split) for pair in part.positives.tolist()]
    assert sorted(positives) == sorted(edges)
    parts = [set(unordered(part.positives)) for part in sets_of(split)]
    assert all(parts)
    assert not parts[0] & parts[1] | parts[0] & parts[2] | parts[1] & parts[2]
    for part in sets_of(split):
        assert len(part.positives) == len(part.negatives)


@settings(max_examples=30)
@given(graph=graphs(directed=False), seed=st.integers(0, 2**32), data=st.data())
def test_visible_graph_depends_on_training_edges_alone(graph, seed, data):
    """Another graph with the same training edges and other held-out ones looks the same."""
    assume(3 <= graph.num_edges <= graph.num_nodes * (graph.num_nodes - 1) // 4)
    split = split_links(graph, rng=seed)
    train = split.train.positives
    index = st.integers(0, graph.num_nodes - 1)
    others = data.draw(st.lists(st.tuples(index, index), max_size=30))
    others = [tuple(sorted(p)) for p in others if p[0] != p[1]]
    others = sorted(set(others) - ordered(train))
    edges = np.array([*map(tuple, train.tolist()), *others])
    weights = None
    if graph.weights is not None:
        length = dict(zip(map(tuple, graph.edges().tolist()), graph.edge_weights(), strict=True))
        weights = [length[tuple(p)] for p in train.tolist()] + [0.25] * len(others)
    changed = Graph.from_edges(edges, graph.num_nodes, weights=weights)
    kept = np.flatnonzero([tuple(pair) in ordered(train) for pair in changed.edges().tolist()])
    visible = changed.with_edges(kept)
    assert visible == split.graph
    anchors = sample_anchor_sets(graph.num_nodes, rng=0)
    one, two = anchor_distances(visible, anchors), anchor_distances(split.graph, anchors)
    np.testing.assert_array_equal(one.nearest, two.nearest)


def test_distances_of_a_split_are_those_without_the_held_out_edges():
    path = Graph.from_edges([(v, v + 1) for v in range(30)])
    split = split_links(path, rng=3)
    cut_at = int(split.test.positives.max(axis=1).min())
    d = anchor_distances(split.graph, [[0]])
    assert (d.hops[cut_at:] == -1).all()
    rebuilt = nx.Graph(split.train.positives.tolist())
    rebuilt.add_nodes_from(range(31))
    reached = nx.single_source_shortest_path_length(rebuilt, 0)
    assert d.hops[:, 0].tolist() == [reached.get(v, -1) for v in range(31)]


def test_links_keep_nodes_features_labels_ids_and_weights():
    rng = np.random.default_rng(0)
    edges = rng.integers(0, 40, (120, 2))
    graph = Graph.from_edges(
        edges,
        50,
        weights=rng.random(120) + 0.1,
        x=rng.random((50, 3)),
        y=[f"label {v % 3}" for v in range(50)],
        node_ids=[f"node {v}" for v in range(50)],
    )
    visible = split_links(graph, rng=0).graph
    assert visible.num_nodes == 50
    for name in ("x", "y", "classes", "node_ids"):
        np.testing.assert_array_equal(getattr(visible, name), getattr(graph, name))
    weight = dict(zip(map(tuple, graph.edges().tolist()), graph.edge_weights(), strict=True))
    expected = [weight[tuple(pair)] for pair in visible.edges().tolist()]
    assert visible.edge_weights().tolist() == expected


def test_links_are_split_80_10_10():
    split = split_links(grid(), rng=0)
    assert [len(part) for part in sets_of(split)] == [2 * 608, 2 * 76, 2 * 76]
    assert split.train.labels[:608].all()
    assert not split.train.labels[608:].any()
    split = split_links(grid(), rng=0, val=0.0, test=0.25)
    assert [len(part) for part in sets_of(split)] == [2 * 570, 0, 2 * 190]


def test_held_out_links_may_be_limited_and_training_negatives_left_out():
    split = split_links(grid(), rng=0, most=20)
    assert [len(part) for part in sets_of(split)] == [2 * 720, 2 * 20, 2 * 20]
    assert split.graph.num_edges == 720
    few = split_links(grid(), rng=0, test=0.01, val=0.0, most=20, train_negatives=False)
    assert [len(part) for part in sets_of(few)] == [752, 0, 2 * 8]
    assert few.train.labels.all()
    joined = {tuple(edge) for edge in grid().edges().tolist()}
    assert not joined & set(map(tuple, few.test.negatives.tolist()))


def test_same_seed_gives_the_same_split_and_another_seed_another():
    one, two, other = (split_links(grid(), rng=seed) for seed in (4, 4, 5))
    np.testing.assert_array_equal(one.test.pairs, two.test.pairs)
    assert one.graph == two.graph
    assert one.graph != other.graph


@pytest.mark.parametrize("directed", [False, True])
def test_dense_graphs_use_every_last_non_edge(directed):
    # 12 nodes: 66 pairs, 33 joined, so that all the other 33 are negatives.
    every = list(combinations(range(12), 2))
    missing = set(every[::2])
    graph = complete_minus(12, missing, directed)
    split = split_links(graph, rng=0)
    negatives = [pair for part in sets_of(split) for pair in unordered(part.negatives)]
    assert sorted(map(sorted, negatives)) == sorted(map(list, missing))


@pytest.mark.parametrize("num_missing", [0, 1, 5])
def test_too_dense_a_graph_says_how_many_are_needed_and_there(num_missing):
    graph = complete_minus(15, set(list(combinations(range(15), 2))[:num_missing]))
    message = rf"{105 - num_missing} negative pairs are needed.* only {num_missing} pairs"
    with pytest.raises(PGNNError, match=message):
        split_links(graph, rng=0)


def test_negatives_are_uniform_over_non_edges():
    graph = Graph.from_edges([(0, v) for v in range(1, 9)])  # a star: 8 of 36 pairs joined
    seen = Counter()
    for seed in range(400):
        split = split_links(graph, rng=seed)
        seen.update(pair for part in sets_of(split) for pair in unordered(part.negatives))
    expected = 400 * 8 / 28
    assert len(seen) == 28
    assert all(abs(count - expected) < 5 * expected**0.5 for count in seen.values())


def test_directed_links_keep_direction_and_both_ways_of_a_pair_together():
    rng = np.random.default_rng(1)
    edges = rng.integers(0, 60, (300, 2))
    graph = Graph.from_edges(np.concatenate([edges, edges[:150, ::-1]]), 60, directed=True)
    split = split_links(graph, rng=2)
    assert split.graph.directed
    for part in sets_of(split):
        assert ordered(part.positives) <= ordered(graph.edges())
        assert len(part.positives) == len(part.negatives)
    hidden = set(unordered(split.test.positives)) | set(unordered(split.val.positives))
    assert not hidden & set(unordered(split.graph.edges()))
    turned = np.mean([u > v for u, v in split.train.negatives.tolist()])
    assert 0.4 < turned < 0.6


# ---------------------------------------------------------------------- pairs, protocol "paper"


@settings(max_examples=50)
@given(
    labels=st.lists(st.integers(0, 3), min_size=2, max_size=30),
    seed=st.integers(0, 2**32),
    most=st.sampled_from([7, 1000]),
)
def test_pairs_have_true_labels_and_none_twice(labels, seed, most):
    graph = Graph.from_edges(np.empty((0, 2), dtype=int), y=labels)
    every = list(combinations(labels, 2))
    same = sum(a == b for a, b in every)
    count = min(same, len(every) - same, most)
    if count < 3:
        with pytest.raises(PGNNError, match=r"too few|same label"):
            split_pairs(graph, rng=seed, max_positives=most)
        return
    split = split_pairs(graph, rng=seed, max_positives=most)
    assert split.graph is graph
    y = np.array(labels)
    pairs = np.concatenate([part.pairs for part in sets_of(split)])
    assert (pairs[:, 0] < pairs[:, 1]).all()
    assert len(ordered(pairs)) == len(pairs)
    for part in sets_of(split):
        np.testing.assert_array_equal(y[part.pairs[:, 0]] == y[part.pairs[:, 1]], part.labels)
        assert len(part.positives) == len(part.negatives) > 0
    assert len(pairs) == 2 * count


def test_pairs_of_communities_are_all_taken_and_split_80_10_10():
    split = split_pairs(caveman(), rng=0)
    assert [len(part.positives) for part in sets_of(split)] == [3040, 380, 380]


def test_pairs_of_a_large_graph_are_sampled_not_listed():
    labels = np.random.default_rng(0).integers(0, 3, 200_000)  # 6.7e9 positive pairs
    graph = Graph.from_edges([(0, 1)], y=labels)
    split = split_pairs(graph, rng=0, max_positives=5000)
    assert [len(part) for part in sets_of(split)] == [8000, 1000, 1000]
    nodes = split.train.pairs.ravel()
    assert 0.45 < np.mean(nodes < 100_000) < 0.55


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (None, "needs node labels, and the graph has none"),
        ([7, 7, 7], r"all 3 nodes have the same label \(7\)"),
        ([0, 1, 2], "no two nodes have the same label"),
        ([0, 0, 1], r"has 1 pairs of the same label, too few .*at least 3"),
    ],
)
def test_labels_that_cannot_be_split_are_one_clear_error(labels, message):
    graph = Graph.from_edges([(0, 1), (1, 2)], y=labels)
    with pytest.raises(PGNNError, match=message):
        split_pairs(graph, rng=0)


# ---------------------------------------------------------------------- several graphs


def many(count, seed=0):
    rng = np.random.default_rng(seed)
    return [
        Graph.from_edges(rng.integers(0, 20, (40, 2)), 20, y=rng.integers(0, 3, 20))
        for _ in range(count)
    ]


@pytest.mark.parametrize("task", ["link", "pair"])
@pytest.mark.parametrize(
    ("count", "expected"), [(3, [1, 1, 1]), (7, [5, 1, 1]), (10, [7, 1, 2]), (24, [17, 2, 5])]
)
def test_whole_graphs_are_held_out(task, count, expected):
    found = make_splits(many(count), task, rng=0)
    used = [[len(part) > 0 for part in sets_of(split)] for split in found]
    assert all(sum(parts) == 1 for parts in used)
    assert np.sum(used, axis=0).tolist() == expected


def test_held_out_graphs_are_chosen_at_random():
    choices = {
        tuple(len(split.test) > 0 for split in make_splits(many(7), "pair", rng=seed))
        for seed in range(20)
    }
    assert len(choices) > 3


def test_pairs_of_several_graphs_keep_graphs_whole_and_use_all_positives():
    given_graphs = many(5)
    for graph, split in zip(given_graphs, make_splits(given_graphs, "pair", rng=1), strict=True):
        assert split.graph is graph
        positives = sum(len(part.positives) for part in sets_of(split))
        assert positives == LabelledPairs.of(graph.y).num_same


def test_links_of_several_graphs_hide_as_many_edges_in_each_and_use_them_once():
    given_graphs = many(6)
    for graph, split in zip(given_graphs, make_splits(given_graphs, "link", rng=1), strict=True):
        hidden = ordered(graph.edges()) - ordered(split.graph.edges())
        assert len(hidden) == round(0.2 * graph.num_edges)
        assert ordered(split.graph.edges()) < ordered(graph.edges())
        if len(split.train):
            assert ordered(split.train.positives) == ordered(split.graph.edges())
        else:
            assert ordered(split.val.positives) | ordered(split.test.positives) == hidden
        for part in sets_of(split):
            assert not set(unordered(part.negatives)) & set(unordered(graph.edges()))
            assert len(part.positives) == len(part.negatives)


@pytest.mark.parametrize("task", ["link", "pair"])
def test_one_graph_in_a_list_is_split_as_alone(task):
    alone = {"link": split_links, "pair": split_pairs}[task](caveman(), rng=3)
    (listed,) = make_splits([caveman()], task, rng=3)
    assert listed.graph == alone.graph
    for one, two in zip(sets_of(alone), sets_of(listed), strict=True):
        np.testing.assert_array_equal(one.pairs, two.pairs)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"graphs": []}, "at least one graph is needed"),
        ({"graphs": many(2)}, r"at least 3, one a part \(got 2\)"),
        ({"task": "node"}, "task must be one of link, pair"),
        ({"protocol": "mine"}, "protocol must be one of paper, released"),
        ({"val": 0.5, "test": 0.5}, "must be shares >= 0"),
        ({"val": -0.1}, "must be shares >= 0"),
        ({"test": float("nan")}, "must be shares >= 0"),
        ({"val": 0.0, "test": 0.0}, "must not be 0"),
        ({"graphs": [*many(3), Graph.from_edges([(0, 1)])]}, "graph 3 of 4: the graph has 1 pairs"),
        ({"task": "pair", "max_positives": 0}, "max_positives must be a positive integer"),
    ],
)
def test_bad_arguments_are_one_clear_error(arguments, message):
    given_arguments = {"graphs": many(4), "task": "link", "rng": 0, **arguments}
    with pytest.raises(PGNNError, match=message):
        make_splits(**given_arguments)


# ---------------------------------------------------------------------- protocol "released"


def false_share(split_of, is_positive, parts, seeds):
    """Share of the negatives of some parts that are positives, over some seeds."""
    drawn = [getattr(split_of(seed), part).negatives for seed in range(seeds) for part in parts]
    return is_positive(np.concatenate(drawn)).mean()


def joined_in(graph):
    return lambda pairs: graph.to_scipy().toarray()[tuple(pairs.T)] > 0


@pytest.mark.parametrize(
    ("graph", "documented", "seeds"),
    [(grid(), 0.005, 150), (caveman(), 0.024, 20)],
    ids=["grid", "communities"],
)
def test_released_link_negatives_are_false_as_often_as_documented(graph, documented, seeds):
    def split_of(seed):
        return split_links(graph, rng=seed, protocol="released")

    share = false_share(split_of, joined_in(graph), ["val", "test"], seeds)
    assert share == pytest.approx(documented, rel=0.35)  # of 23,000 (15,000) negatives
    # A training negative may be any edge turned round, or a held-out one (20%) as it stands.
    edges, pairs = graph.num_edges, 400 * 399
    share = false_share(split_of, joined_in(graph), ["train"], seeds)
    assert share == pytest.approx(1.2 * edges / (pairs - 0.8 * edges), rel=0.12)


@pytest.mark.parametrize(("same", "documented"), [(0.225, 0.127), (0.481, 0.317)])
def test_released_pair_negatives_are_false_as_often_as_documented(same, documented):
    """With the share of same-label pairs that Email and Protein have: s / (2 - s) are false."""
    assert same / (2 - same) == pytest.approx(documented, abs=0.002)
    large = round(150 * np.sqrt(same))  # one large class, all others alone
    y = np.concatenate([np.zeros(large, dtype=int), np.arange(1, 151 - large)])
    graph = Graph.from_edges([(0, 1)], y=y)

    def split_of(seed):
        return split_pairs(graph, rng=seed, protocol="released")

    share = false_share(split_of, lambda pairs: y[pairs[:, 0]] == y[pairs[:, 1]], ["test"], 20)
    assert share == pytest.approx(documented, rel=0.1)


def test_released_negatives_are_never_stored_positives():
    graph = caveman()
    for split in (split_links(graph, rng=0, protocol="released"),
                  split_pairs(graph, rng=0, protocol="released")):  # fmt: skip
        train, val, test = sets_of(split)
        stored = ordered(np.concatenate([part.positives for part in sets_of(split)]))
        assert not ordered(train.negatives) & ordered(train.positives)
        assert ordered(train.negatives) & (ordered(val.positives) | ordered(test.positives))
        assert not (ordered(val.negatives) | ordered(test.negatives)) & stored
        assert all(u < v for u, v in stored)
        for part in sets_of(split):
            assert (part.pairs[:, 0] != part.pairs[:, 1]).all()
            assert len(part.positives) == len(part.negatives)


def test_released_splits_every_graph_by_its_pairs():
    for task in ("link", "pair"):
        for split in make_splits(many(4), task, rng=0, protocol="released"):
            assert all(len(part) for part in sets_of(split))
    assert len(make_splits(many(2), "link", rng=0, protocol="released")) == 2


@settings(max_examples=40)
@given(graph=graphs(directed=False, weighted=False), seed=st.integers(0, 2**32))
def test_released_links_hide_what_they_hold_out(graph, seed):
    split = split_links(graph, rng=seed, protocol="released")
    assert ordered(split.graph.edges()) == ordered(split.train.positives)
    held_out = ordered(split.val.positives) | ordered(split.test.positives)
    assert not held_out & ordered(split.graph.edges())
    assert held_out | ordered(split.graph.edges()) == ordered(graph.edges())


def test_released_links_of_the_grid_have_the_released_sizes():
    split = split_links(grid(), rng=0, protocol="released")
    assert [len(part.positives) for part in sets_of(split)] == [608, 76, 76]


def test_released_on_a_complete_directed_graph_says_there_is_no_negative():
    pairs = np.array([(u, v) for u in range(12) for v in range(12) if u != v])
    with pytest.raises(PGNNError, match="every ordered pair of the 12 nodes is positive"):
        split_links(Graph.from_edges(pairs, directed=True), rng=0, protocol="released")


def test_of_a_graph_with_sides_pairs_are_across_and_other_edges_stay_visible():
    rng = np.random.default_rng(0)
    buys = [(c, 20 + p) for c in range(20) for p in range(15) if rng.random() < 0.4]
    friends = [(c, c + 1) for c in range(19)]
    graph = Graph.from_edges([*buys, *friends], 35).with_sides(["c"] * 20 + ["p"] * 15, ("p", "c"))
    split = split_links(graph, rng=0)
    for part in (split.train, split.val, split.test):
        assert (part.pairs[:, 0] >= 20).all()
        assert (part.pairs[:, 1] < 20).all()
        assert part.labels.sum() * 2 == len(part)
    visible = set(map(tuple, split.graph.edges().tolist()))
    assert set(friends) <= visible
    hidden = {(c, p) for p, c in np.concatenate([split.val.positives, split.test.positives])}
    assert not hidden & visible
    assert split.graph.sides == graph.sides
    for fold in hide_in_folds(split, 3, rng=0)[1:]:
        assert set(friends) <= set(map(tuple, fold.graph.edges().tolist()))
        assert (fold.train.pairs[:, 0] >= 20).all()


def test_directions_of_a_two_way_edge_are_hidden_one_by_one_where_scores_are_ordered():
    ring = [(v, (v + 1) % 40) for v in range(40)]
    graph = Graph.from_edges([*ring, *((v, u) for u, v in ring)], directed=True)

    def alone(ordered):
        hidden = split_links(graph, rng=0, val=0.0, test=0.2, ordered=ordered).test.positives
        hidden = set(map(tuple, hidden.tolist()))
        return sum((v, u) not in hidden for u, v in hidden)

    assert alone(False) == 0
    assert alone(True) > 5
