"""Anchor distances on PyG's Data: alone, batched, taken apart, loaded by workers."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Batch, Data, HeteroData, InMemoryDataset
from torch_geometric.data.datapipes import DatasetAdapter
from torch_geometric.loader import DataLoader
from torch_geometric.transforms import Compose, ToUndirected

import pgnn
from pgnn.errors import PGNNError
from pgnn.nn import PGNNLayer
from pgnn.transforms import AddAnchorDistances, positions_of
from strategies import graphs

# Sixteenths multiply and add without rounding, so that the product x W does not depend on how
# many rows x has, and outputs can be compared exactly.
LAYER = PGNNLayer(4, 8, message="released")
with torch.no_grad():
    LAYER.weight.copy_((LAYER.weight * 16).round() / 16)


def features(num_nodes, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(-16, 17, (num_nodes, 4), generator=generator) / 16


def as_data(graph, seed=0):
    data = graph.to_pyg()
    data.x = features(graph.num_nodes, seed)
    return data


def path(num_nodes, seed=0):
    edges = [(v, v + 1) for v in range(num_nodes - 1)]
    return as_data(pgnn.Graph.from_edges(np.reshape(edges, (-1, 2)).astype(int), num_nodes), seed)


def islands(seed=0):
    """A path of four nodes, a pair and a lonely node: some sets miss some components."""
    return as_data(pgnn.Graph.from_edges([(0, 1), (1, 2), (2, 3), (4, 5)], 7), seed)


def output(data):
    with torch.no_grad():
        return LAYER(data.x, positions_of(data))


def assert_same_data(one, other):
    assert sorted(one.keys()) == sorted(other.keys())
    for key in one.keys():  # noqa: SIM118  PyG iterates over pairs
        if isinstance(one[key], torch.Tensor):
            assert one[key].dtype == other[key].dtype, key
            assert torch.equal(one[key], other[key]), key
        else:
            assert one[key] == other[key], key


def assert_batch_is_its_graphs(batch, graphs):
    z, h = output(batch)
    alone = [output(graph) for graph in graphs]
    assert torch.equal(z, torch.cat([z for z, _ in alone]))
    assert torch.equal(h, torch.cat([h for _, h in alone]))


# ---------------------------------------------------------------------- what is stored


@given(graphs(), st.sampled_from([None, 0, 1, 2.5]), st.integers(0, 99))
@settings(max_examples=30)
def test_positions_are_those_of_anchor_distances(graph, cutoff, seed):
    data = AddAnchorDistances(num_sets=5, cutoff=cutoff, rng=seed)(as_data(graph))
    sets = pgnn.sample_anchor_sets(graph.num_nodes, num_sets=5, rng=seed)
    expected = pgnn.anchor_distances(graph, sets, cutoff=cutoff)
    if expected.hops is None:
        assert np.array_equal(data.anchor_lengths, expected.lengths)
        assert "anchor_hops" not in data
    else:
        assert np.array_equal(data.anchor_hops, expected.hops)
        assert "anchor_lengths" not in data
    assert np.array_equal(positions_of(data).nearest, expected.nearest)
    with torch.no_grad():
        z, h = LAYER(data.x, expected)
    assert torch.equal(output(data)[0], z)
    assert torch.equal(output(data)[1], h)


def test_transform_leaves_its_input_alone():
    data = islands()
    before = copy.copy(data)
    result = AddAnchorDistances()(data)
    assert_same_data(data, before)
    assert result.x is data.x  # a shallow copy, as PyG's own transforms make


@pytest.mark.parametrize(("c", "expected"), [(1.0, 9), (2.0, 18), (0.1, 3)])
def test_c_decides_the_number_of_sets(c, expected):
    assert AddAnchorDistances(c)(path(8)).anchor_hops.shape == (8, expected)


def test_scheme_is_the_samplers():
    data = AddAnchorDistances(num_sets=3, scheme="fixed")(path(8))
    assert (data.anchor_hops == 0).sum(0).tolist() == [4, 2, 1]


def test_asymmetric_weights_are_followed_as_stored():
    data = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2, x=features(2))
    data.edge_weight = torch.tensor([1.0, 5.0])
    for seed in range(4):
        lengths = AddAnchorDistances(num_sets=8, rng=seed)(data).anchor_lengths
        away = {(v, float(d)) for v in (0, 1) for d in lengths[v] if d > 0}
        assert away <= {(0, 1.0), (1, 5.0)}
        assert away


def test_weighted_false_ignores_edge_weight_and_removes_stale_lengths():
    data = path(6)
    data.edge_weight = torch.full((data.num_edges,), 0.5)
    weighted = AddAnchorDistances(num_sets=4)(data)
    both = AddAnchorDistances(num_sets=4, weighted=False)(weighted)
    assert torch.equal(weighted.anchor_lengths, both.anchor_hops / 2)
    assert "anchor_lengths" not in both
    assert "anchor_lengths" in weighted


def test_two_prefixes_hold_two_draws():
    twice = Compose([AddAnchorDistances(), AddAnchorDistances(prefix="second", rng=1)])
    data = twice(path(16))
    assert not torch.equal(data.anchor_hops, data.second_hops)
    assert torch.equal(positions_of(data, prefix="second").codes, data.second_hops)


def test_functional_form_is_the_class():
    data_list = [path(5), islands()]
    pipe = DatasetAdapter(data_list).add_anchor_distances(num_sets=3, rng=4)
    transform = AddAnchorDistances(num_sets=3, rng=4)
    for result, data in zip(pipe, data_list, strict=True):
        assert_same_data(result, transform(data))


# ---------------------------------------------------------------------- batches


@given(st.data(), st.booleans(), st.integers(0, 99))
@settings(max_examples=30)
def test_batch_gives_what_each_graph_gives_alone(draw, weighted, seed):
    drawn_graphs = draw.draw(
        st.lists(graphs(max_nodes=9, weighted=weighted), min_size=1, max_size=4)
    )
    transform = AddAnchorDistances(num_sets=4, rng=seed)
    data_list = [transform(as_data(g, seed=i)) for i, g in enumerate(drawn_graphs)]
    batch = Batch.from_data_list(data_list)
    assert_batch_is_its_graphs(batch, data_list)
    for result, data in zip(batch.to_data_list(), data_list, strict=True):
        assert_same_data(result, data)


@given(st.data(), st.booleans(), st.integers(0, 99))
@settings(max_examples=30)
def test_transformed_batch_is_the_batch_of_transformed_graphs(draw, weighted, seed):
    drawn_graphs = draw.draw(
        st.lists(graphs(max_nodes=9, weighted=weighted), min_size=1, max_size=4)
    )
    data_list = [as_data(g, seed=i) for i, g in enumerate(drawn_graphs)]
    batch = AddAnchorDistances(num_sets=4, rng=seed)(Batch.from_data_list(data_list))
    transform = AddAnchorDistances(num_sets=4, rng=seed)
    transformed = [transform(data) for data in data_list]
    assert_same_data(batch, Batch.from_data_list(transformed))
    assert_batch_is_its_graphs(batch, transformed)
    for result, data in zip(batch.to_data_list(), transformed, strict=True):
        assert_same_data(result, data)


def test_nobody_stays_nobody_in_a_batch():
    data_list = [AddAnchorDistances(num_sets=6, rng=s)(islands(s)) for s in range(3)]
    nearest = positions_of(Batch.from_data_list(data_list)).nearest
    missed = [positions_of(data).nearest == -1 for data in data_list]
    assert torch.equal(nearest == -1, torch.cat(missed))
    assert all(bool(part.any()) for part in missed)


def test_batch_of_batches_and_slices_of_it_keep_their_anchors():
    transform = AddAnchorDistances(num_sets=3)
    data_list = [transform(path(n, seed=n)) for n in (3, 5, 2, 4)]
    inner = [Batch.from_data_list(data_list[:2]), Batch.from_data_list(data_list[2:])]
    outer = Batch.from_data_list(inner)
    assert_batch_is_its_graphs(outer, data_list)
    assert_batch_is_its_graphs(outer.get_example(1), data_list[2:])
    drawn = transform(Batch.from_data_list(inner))
    graph_of_anchor = drawn.batch[positions_of(drawn).nearest.long()]
    assert torch.equal(graph_of_anchor, drawn.batch[:, None].expand_as(graph_of_anchor))


def test_transforming_a_batch_leaves_it_alone():
    batch = Batch.from_data_list([path(4), path(4)])
    AddAnchorDistances()(batch)
    assert "anchor_hops" not in batch
    assert "anchor_hops" not in batch._slice_dict


@pytest.mark.parametrize("num_workers", [0, 1])
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_long_and_short_graphs_share_a_batch(num_workers):
    # Smallest integer types would differ, and a worker would join them into the smaller one.
    data_list = [path(3), path(400)]
    data_list = [AddAnchorDistances(num_sets=8, rng=0)(data) for data in data_list]
    assert data_list[1].anchor_hops.max() > 127
    (batch,) = DataLoader(data_list, batch_size=2, num_workers=num_workers)
    assert_batch_is_its_graphs(batch, data_list)


def test_shuffled_loader_gives_each_graph_its_own_output():
    transform = AddAnchorDistances(num_sets=5)
    data_list = [transform(islands(seed)) if seed % 2 else transform(path(9)) for seed in range(8)]
    for number, data in enumerate(data_list):
        data.number = number
    torch_rng = torch.Generator().manual_seed(0)
    seen = []
    for batch in DataLoader(data_list, batch_size=3, shuffle=True, generator=torch_rng):
        order = batch.number.tolist()
        assert_batch_is_its_graphs(batch, [data_list[number] for number in order])
        seen += order
    assert seen != sorted(seen)
    assert sorted(seen) == list(range(8))


def test_attributes_move_to_another_device():
    data = AddAnchorDistances(num_sets=3)(path(5))
    before = output(data)[0]
    assert torch.equal(output(data.to("cpu"))[0], before)
    moved = data.to("meta")
    assert {moved.anchor_hops.device.type, moved.anchor_offset.device.type} == {"meta"}


def test_saved_dataset_keeps_its_draw(tmp_path):
    class Paths(InMemoryDataset):
        processed_file_names = ("paths.pt",)

        def process(self):
            self.save([self.pre_transform(path(n, n)) for n in (4, 6, 3)], self.processed_paths[0])

    def load():
        dataset = Paths(tmp_path, pre_transform=AddAnchorDistances(num_sets=4), log=False)
        dataset.load(dataset.processed_paths[0])
        return [dataset[i] for i in range(3)]

    transform = AddAnchorDistances(num_sets=4)
    for first, again, n in zip(load(), load(), (4, 6, 3), strict=True):
        assert_same_data(first, again)
        assert torch.equal(first.anchor_hops, transform(path(n, n)).anchor_hops)


# ---------------------------------------------------------------------- randomness


def draws(transform, count=4):
    return [tuple(transform(path(32)).anchor_hops.flatten().tolist()) for _ in range(count)]


def test_one_seed_gives_each_call_another_draw():
    assert len(set(draws(AddAnchorDistances(rng=3)))) == 4


def test_same_seed_gives_the_same_stream():
    assert draws(AddAnchorDistances(rng=3)) == draws(AddAnchorDistances(rng=3))
    assert draws(AddAnchorDistances(rng=3)) != draws(AddAnchorDistances(rng=4))


def test_generator_is_shared_with_the_caller():
    generator = np.random.default_rng(3)
    assert draws(AddAnchorDistances(rng=generator)) == draws(AddAnchorDistances(rng=3))
    assert generator.random() != np.random.default_rng(3).random()


def test_pickled_transform_continues_its_stream():
    transform = AddAnchorDistances(rng=3)
    draws(transform, 1)
    copied = pickle.loads(pickle.dumps(transform))
    assert repr(copied) == repr(transform)
    assert draws(copied) == draws(transform)


class Paths(torch.utils.data.Dataset):
    """The same path four times, transformed at each access."""

    def __init__(self, rng):
        self.transform = AddAnchorDistances(rng=rng)

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return self.transform(path(32))


def epochs_of_workers(torch_seed, count=2):
    torch_rng = torch.Generator().manual_seed(torch_seed)
    loader = DataLoader(Paths(rng=0), batch_size=1, num_workers=2, generator=torch_rng)
    return [tuple(b.anchor_hops.flatten().tolist()) for _ in range(count) for b in loader]


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_workers_and_epochs_draw_different_sets_and_repeat_with_their_seeds():
    result = epochs_of_workers(0)
    assert len(set(result)) == 8
    assert epochs_of_workers(0) == result
    assert epochs_of_workers(1) != result


# ---------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"c": 0}, "c must be a positive number"),
        ({"num_sets": 0}, "num_sets must be a positive integer"),
        ({"cutoff": -1}, "cutoff must be a number >= 0"),
        ({"scheme": "best"}, "scheme must be"),
        ({"num_sets": 100_000_000}, "num_sets must be at most 100,000"),
        ({"prefix": "anchor_index"}, "prefix must be"),
        ({"prefix": "batch"}, "prefix must be"),
        ({"prefix": ""}, "prefix must be"),
        ({"rng": None}, "rng must be an integer or a Generator"),
        ({"rng": -1}, "rng must be a seed"),
        ({"rng": True}, "rng must be an integer or a Generator"),
    ],
)
def test_bad_arguments_are_refused_at_once(arguments, message):
    with pytest.raises(PGNNError, match=message):
        AddAnchorDistances(**arguments)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (Data(x=torch.ones(3, 1)), "edge_index is missing"),
        (HeteroData(), "homogeneous Data or Batch .got HeteroData"),
        ([Data()], "homogeneous Data or Batch .got list"),
        (Data(edge_index=torch.tensor([[0], [5]]), num_nodes=2), "5"),
        (Data(edge_index=torch.empty(2, 0, dtype=torch.long), num_nodes=0), "num_nodes"),
    ],
)
def test_bad_data_is_refused(data, message):
    with pytest.raises(PGNNError, match=message):
        AddAnchorDistances()(data)


def test_batch_of_unequal_graphs_needs_num_sets():
    batch = Batch.from_data_list([path(4), path(20)])
    with pytest.raises(PGNNError, match=r"equally many anchor-sets .got \[4, 16\].*num_sets"):
        AddAnchorDistances()(batch)
    assert AddAnchorDistances(num_sets=7)(batch).anchor_hops.shape == (24, 7)


class MixedPaths(torch.utils.data.Dataset):
    """Paths of 4 and of 20 nodes, transformed at each access."""

    def __init__(self, **options):
        self.transform = AddAnchorDistances(**options)

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return self.transform(path((4, 20)[index % 2]))


@pytest.mark.parametrize("num_workers", [0, 1])
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_loader_of_mixed_sizes_without_num_sets_is_one_clear_error(num_workers):
    with pytest.raises(PGNNError, match=r"anchor-sets \(here 4 and 16\).* give num_sets"):
        list(DataLoader(MixedPaths(), batch_size=2, num_workers=num_workers))
    batches = list(DataLoader(MixedPaths(num_sets=7), batch_size=2, num_workers=num_workers))
    assert [batch.anchor_hops.shape for batch in batches] == [(24, 7)] * 2


def test_batches_may_differ_in_their_number_of_sets():
    transform = AddAnchorDistances()
    for size, num_sets in ((4, 4), (20, 16)):
        batch = transform(Batch.from_data_list([path(size), path(size)]))
        assert batch.anchor_hops.shape == (2 * size, num_sets)


@pytest.mark.parametrize("keep", [[2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [0, 1, 2]])
def test_nodes_numbered_anew_are_noticed(keep):
    data = AddAnchorDistances(num_sets=8)(path(6))
    rows = Data(x=data.x[keep], edge_index=torch.empty(2, 0, dtype=torch.long))
    rows.anchor_hops, rows.anchor_offset = data.anchor_hops[keep], data.anchor_offset[keep]
    with pytest.raises(PGNNError, match="removed, added or reordered"):
        positions_of(rows)


def test_added_nodes_are_noticed():
    data = AddAnchorDistances()(path(6))
    data.num_nodes = 7
    with pytest.raises(PGNNError, match="removed, added or reordered"):
        positions_of(data)


def test_positions_of_untransformed_data_says_what_to_do():
    with pytest.raises(PGNNError, match="AddAnchorDistances first"):
        positions_of(path(3))


def test_transform_after_undirecting_reads_both_ways():
    one_way = Data(edge_index=torch.tensor([[0, 1], [1, 2]]), x=features(3))
    both = Compose([ToUndirected(), AddAnchorDistances(num_sets=4, rng=0)])(one_way)
    assert (both.anchor_hops >= 0).all()
    # Along the edges alone, node 2 reaches nobody but itself.
    only = AddAnchorDistances(num_sets=4, rng=0)(one_way)
    assert set(only.anchor_hops[2].tolist()) <= {-1, 0}


def test_transforms_load_when_first_named():
    code = """
import sys, pgnn
before = "torch" in sys.modules
pgnn.transforms
print(before, "transforms" in dir(pgnn), "torch" in sys.modules)
"""
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert process.stdout.split() == ["False", "True", "True"]
