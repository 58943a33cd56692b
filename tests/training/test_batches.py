"""Batches: unions of graphs give what each graph gives alone, and see visible edges only."""

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pgnn import AnchorSets, Graph, PGNNError, anchor_ppr, sample_anchor_sets
from pgnn.datasets.synthetic import communities, grid
from pgnn.nn import PGNN, DotDecoder, Positions
from pgnn.training import batches
from pgnn.training.batches import Batch, Draws, default_num_sets
from pgnn.training.splits import PairSet, Split, split_links

NONE = PairSet(np.zeros((0, 2)), np.zeros(0))
DRAWS = {"hops": Draws(num_sets=6), "ppr": Draws("ppr", num_sets=6)}


def three_splits():
    """Graphs of different sizes, the last without training pairs."""
    splits = [split_links(communities(3, n, rng=n), rng=n, val=0.2) for n in (4, 6, 5)]
    return [*splits[:2], Split(splits[2].graph, NONE, splits[2].val, splits[2].test)]


def proximity_of(positions):
    if positions.proximity is not None:
        return positions.proximity
    return positions.levels[positions.codes.long() - positions.first_code]


@pytest.fixture
def drawing(monkeypatch):
    """Let `draw` take these sets, and keep proximities exact."""
    monkeypatch.setattr(Positions, "quantised", lambda positions: positions)

    def draw(batch, sets, draws):
        monkeypatch.setattr(batches, "sample_anchor_sets", lambda *_, **__: sets)
        return batch.draw(draws, np.random.default_rng(0))

    return draw


# ---------------------------------------------------------------------- pairs


@pytest.mark.parametrize("part", ["train", "val", "test"])
def test_pairs_count_nodes_through_the_union(part):
    splits = three_splits()
    pairs = Batch(splits).pairs(part)
    starts = np.cumsum([0] + [split.graph.num_nodes for split in splits])
    for number, split in enumerate(splits):
        mine = pairs.graph == number
        chosen = getattr(split, part)
        assert np.array_equal(pairs.nodes.numpy()[mine] - starts[number], chosen.pairs)
        assert np.array_equal(pairs.labels.numpy()[mine] > 0, chosen.labels)
    assert pairs.nodes.dtype == torch.int64


@pytest.mark.parametrize("part", ["train", "val"])
def test_pairs_weights_are_the_mean_over_graphs_of_means(part):
    splits = three_splits()
    pairs = Batch(splits).pairs(part)
    numbers = np.random.default_rng(0).random(len(pairs.graph))
    having = [number for number, split in enumerate(splits) if len(getattr(split, part))]
    means = [numbers[pairs.graph == number].mean() for number in having]
    assert len(having) == (2 if part == "train" else 3)
    assert float(pairs.weights.numpy() @ numbers) == pytest.approx(np.mean(means), rel=1e-5)


def test_pairs_of_a_part_without_any_are_none():
    assert Batch([Split(grid(2, 2), NONE, NONE, NONE)]).pairs("train") is None


def test_sample_draws_distinct_pairs_and_keeps_sums_on_average():
    pairs = Batch(three_splits()).pairs("train")
    rng = np.random.default_rng(0)
    total, times = 0.0, 400
    for _ in range(times):
        some = pairs.sample(10, rng)
        rows = {(*nodes, int(g)) for nodes, g in zip(some.nodes.tolist(), some.graph, strict=True)}
        assert len(rows) == 10 == len(some.weights) == len(some.labels)
        total += float(some.weights.sum())
    assert total / times == pytest.approx(1.0, abs=0.05)
    whole = dict(zip(map(tuple, pairs.nodes.tolist()), pairs.labels.tolist(), strict=True))
    assert [whole[u, v] for u, v in some.nodes.tolist()] == some.labels.tolist()
    assert pairs.sample(len(pairs.graph), rng) is pairs


# ---------------------------------------------------------------------- graphs


def test_edge_index_has_both_directions_of_undirected_edges():
    splits = three_splits()
    found = set(map(tuple, Batch(splits).edge_index.T.tolist()))
    wanted, start = set(), 0
    for split in splits:
        for u, v in split.graph.edges().tolist():
            wanted |= {(u + start, v + start), (v + start, u + start)}
        start += split.graph.num_nodes
    assert found == wanted
    assert Batch(splits).edge_index.shape[1] == len(wanted)


def test_edge_index_of_a_directed_graph_goes_along_its_edges():
    graph = Graph.from_edges([(0, 1), (2, 1)], directed=True, x=np.ones((3, 1)))
    assert Batch([Split(graph, NONE, NONE, NONE)]).edge_index.tolist() == [[0, 2], [1, 1]]


def test_batch_x_and_node_graph_follow_the_graphs():
    splits = three_splits()
    batch = Batch(splits)
    sizes = [split.graph.num_nodes for split in splits]
    assert batch.sizes.tolist() == sizes
    assert batch.node_graph.tolist() == [g for g, size in enumerate(sizes) for _ in range(size)]
    assert batch.x.dtype == torch.float32
    assert np.array_equal(batch.x.numpy(), np.concatenate([s.graph.x for s in splits]))


def test_batch_without_features_says_what_to_do():
    bare = Split(Graph.from_edges([(0, 1)]), NONE, NONE, NONE)
    with pytest.raises(PGNNError, match="with_constant_features"):
        Batch([three_splits()[0], bare])


# ---------------------------------------------------------------------- positions


@settings(max_examples=60)
@given(num_nodes=st.integers(1, 3000), c=st.sampled_from([0.1, 0.5, 1.0, 1.7, 4.0]))
def test_default_num_sets_is_what_sampling_takes(num_nodes, c):
    assert default_num_sets(num_nodes, c) == len(sample_anchor_sets(num_nodes, c, rng=0))


def test_draw_takes_the_number_of_sets_of_the_largest_graph():
    splits = three_splits()
    found = Batch(splits).draw(Draws(c=2.0), np.random.default_rng(0))
    assert found.num_sets == default_num_sets(18, 2.0)


@pytest.mark.parametrize("proximity", DRAWS)
def test_draw_of_a_union_is_that_of_each_graph_alone(drawing, proximity):
    splits = three_splits()
    sets = [sample_anchor_sets(s.graph.num_nodes, num_sets=6, rng=5) for s in splits]
    union = drawing(Batch(splits), AnchorSets.union(sets), DRAWS[proximity])
    start = 0
    for number, (split, own) in enumerate(zip(splits, sets, strict=True)):
        alone = drawing(Batch([split]), own, DRAWS[proximity])
        rows = slice(start, start + split.graph.num_nodes)
        torch.testing.assert_close(proximity_of(union)[rows], proximity_of(alone))
        # The speakers of a node: its own graph's anchors, or its own graph's groups of members.
        shift = start if union.members is None else 6 * number
        unreached = alone.nearest < 0
        wanted = torch.where(unreached, -1, alone.nearest + shift)
        assert torch.equal(union.nearest[rows], wanted.int())
        start = rows.stop


@pytest.mark.parametrize("kind", ["hops", "cut", "fixed", "ppr", "weighted", "one graph"])
def test_draw_each_is_draw_with_each_seed(kind):
    splits = three_splits()[:1] if kind == "one graph" else three_splits()
    if kind == "weighted":
        graph = Graph.from_edges(
            [(0, 1), (1, 2), (2, 3)], weights=[1.0, 2.5, 3.0], x=np.ones((4, 1))
        )
        splits = [Split(graph, NONE, NONE, NONE)]
    draws = {
        "cut": Draws(num_sets=5, cutoff=1),
        "fixed": Draws(num_sets=5, scheme="fixed"),
        "ppr": DRAWS["ppr"],
    }.get(kind, DRAWS["hops"])
    batch, seeds = Batch(splits), [3, 1, 4, 15]
    drawn = batch.draw_each(draws, seeds)
    for positions, seed in zip(drawn, seeds, strict=True):
        expected = batch.draw(draws, np.random.default_rng(seed))
        assert torch.equal(positions.nearest, expected.nearest)
        assert torch.equal(positions.levels, expected.levels)
        assert torch.equal(positions.codes.int(), expected.codes.int())
        assert positions.first_code == expected.first_code
        positions.checked()
    assert batch.num_positions(draws) == drawn[0].nearest.numel()


@pytest.mark.parametrize(("proximity", "agg_m"), [("hops", "closest"), ("ppr", "mean")])
def test_loss_of_a_batch_is_the_mean_of_the_losses_of_its_graphs(drawing, proximity, agg_m):
    splits = [s for s in three_splits() if len(s.train)]
    sets = [sample_anchor_sets(s.graph.num_nodes, num_sets=6, rng=5) for s in splits]
    torch.manual_seed(0)
    model = PGNN(1, 8, gate="scalar", agg_m=agg_m, normalize=True)

    def loss(batch, chosen):
        pairs = batch.pairs("train")
        z = model(batch.x, drawing(batch, chosen, DRAWS[proximity]))
        return torch.nn.functional.binary_cross_entropy_with_logits(
            DotDecoder()(z, pairs.nodes), pairs.labels, weight=pairs.weights, reduction="sum"
        )

    with torch.no_grad():
        alone = [loss(Batch([s]), own) for s, own in zip(splits, sets, strict=True)]
        together = loss(Batch(splits), AnchorSets.union(sets))
    assert alone[0] != alone[1]
    torch.testing.assert_close(together, torch.stack(alone).mean())


@pytest.mark.parametrize("alpha", [0.05, 0.5])
def test_ppr_kept_for_small_graphs_equals_anchor_ppr(alpha, monkeypatch):
    batch = Batch(three_splits())
    sets = sample_anchor_sets(batch.sizes.tolist(), num_sets=9, rng=1)
    direct = anchor_ppr(batch.graph, sets, alpha=alpha)
    # A union set's mean is over all its members; a graph's part of it is over its own.
    counts = np.array([np.bincount(batch.node_graph[s], minlength=3) for s in sets])
    scale = (sets.sizes[:, None] / counts).T[batch.node_graph]
    for _ in range(2):  # the second time from what was kept
        np.testing.assert_allclose(
            batch._ppr(sets, Draws(alpha=alpha), 1), direct * scale, atol=5e-6
        )
    monkeypatch.setattr(batches, "_ALL_PAIRS_NODES", 0)
    np.testing.assert_array_equal(Batch(batch.splits)._ppr(sets, Draws(alpha=alpha), 1), direct)


@pytest.mark.parametrize(
    ("limits", "kept"),
    [
        ({}, True),
        ({"_ALL_PAIRS_NODES": 19}, False),
        ({"_ALL_PAIRS_NODES": 20}, True),
        ({"_ALL_PAIRS_BYTES": 4 * 20 * 20 - 1}, False),
        ({"_ALL_PAIRS_BYTES": 4 * 20 * 20}, True),
        ({"_SPARSE_NODES": 19, "_DENSE_SHARE": 0.2}, False),
        ({"_SPARSE_NODES": 20, "_DENSE_SHARE": 0.2}, True),
        ({"_SPARSE_NODES": 19, "_DENSE_SHARE": 0.05}, True),
    ],
)
def test_ppr_of_all_nodes_is_kept_where_it_is_small_and_pays(limits, kept, monkeypatch):
    batch = Batch([split_links(grid(4, 5), rng=0)])
    for name, value in limits.items():
        monkeypatch.setattr(batches, name, value)
    batch._ppr(batch.sample(Draws(num_sets=4), np.random.default_rng(0)), Draws(), 1)
    assert bool(batch._all_pairs) == kept


def test_ppr_kept_or_not_gives_the_same_standing(drawing, monkeypatch):
    """Whose mean a set's number is cancels where standings are taken, graph by graph."""
    splits = three_splits()
    batch = Batch(splits)
    sets = sample_anchor_sets(batch.sizes.tolist(), num_sets=9, rng=1)
    kept = drawing(batch, sets, DRAWS["ppr"]).proximity
    monkeypatch.setattr(batches, "_ALL_PAIRS_NODES", 0)
    torch.testing.assert_close(drawing(Batch(splits), sets, DRAWS["ppr"]).proximity, kept,
                               atol=1e-3, rtol=0)  # fmt: skip


def test_draw_sees_the_visible_edges_only():
    graph = grid(4, 5)
    split = split_links(graph, rng=3, val=0.2, test=0.2)
    found = Batch([split]).draw(Draws(num_sets=8), np.random.default_rng(9))
    sets = sample_anchor_sets(20, num_sets=8, rng=np.random.default_rng(9))
    visible = nx.Graph()
    visible.add_nodes_from(range(20))
    visible.add_edges_from(split.train.positives.tolist())
    whole = graph.to_networkx()

    def expected(seen):
        rows = np.zeros((20, 8))
        for i, nodes in enumerate(sets):
            for v, d in nx.multi_source_dijkstra_path_length(seen, set(nodes.tolist())).items():
                rows[v, i] = 1 / (d + 1)
        return rows

    np.testing.assert_allclose(proximity_of(found), expected(visible), rtol=1e-6)
    assert not np.allclose(expected(whole), expected(visible))


@pytest.mark.parametrize("proximity", DRAWS)
def test_batch_does_not_depend_on_held_out_pairs(proximity):
    one = split_links(grid(4, 5), rng=3, val=0.2, test=0.2)
    swapped = Split(one.graph, one.train, one.test, one.val)
    first, second = Batch([one]), Batch([swapped])
    drawn = [b.draw(DRAWS[proximity], np.random.default_rng(0)) for b in (first, second)]
    assert torch.equal(proximity_of(drawn[0]), proximity_of(drawn[1]))
    assert torch.equal(drawn[0].nearest, drawn[1].nearest)
    assert torch.equal(first.x, second.x)
    assert torch.equal(first.edge_index, second.edge_index)
    assert torch.equal(first.pairs("train").nodes, second.pairs("train").nodes)
    assert not torch.equal(first.pairs("val").nodes, second.pairs("val").nodes)
