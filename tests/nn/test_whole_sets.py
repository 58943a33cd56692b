"""AGG_M over all members of a set against Algorithm 1, and in blocks of rows."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nn.test_layer import (
    GRAPH,
    SETS,
    OwnMessage,
    assert_same,
    dense_proximity,
    features,
    outputs_and_gradients,
    randomised,
    reference_of,
)
from pgnn import AnchorSets, Graph, MemberDistances
from pgnn.nn import PGNNLayer
from pgnn.nn import whole_sets as _whole_sets
from pgnn.nn.reference import run_algorithm_1
from strategies import graphs_with_sets

AGGREGATES = ["mean", "min", "max", "sum"]


def assert_layer_is_algorithm_1(layer, graph, sets, cutoff=None, dtype=torch.float64):
    randomised(layer, dtype=dtype)
    x = features(graph.num_nodes, layer.in_channels, dtype=dtype)
    leaves = [x, *layer.parameters()]
    got = outputs_and_gradients(layer(x, MemberDistances(graph, sets, cutoff=cutoff)), leaves)
    loops = reference_of(layer, sets, dense_proximity(graph, cutoff))
    expected = outputs_and_gradients(run_algorithm_1(x, [loops]), leaves)
    assert_same(got, expected, 1e-10 if dtype == torch.float64 else 1e-5)


@pytest.mark.parametrize("agg_m", AGGREGATES)
@pytest.mark.parametrize("gate", ["none", "scalar", "vector"])
@pytest.mark.parametrize("message", ["paper", "released"])
def test_whole_sets_equal_algorithm_1(message, gate, agg_m):
    layer = PGNNLayer(3, 5, message=message, gate=gate, agg_m=agg_m, sigma="tanh")
    assert_layer_is_algorithm_1(layer, GRAPH, SETS)


@pytest.mark.parametrize("agg_m", AGGREGATES)
def test_whole_sets_in_float32_equal_algorithm_1(agg_m):
    layer = PGNNLayer(3, 5, agg_m=agg_m)
    assert_layer_is_algorithm_1(layer, GRAPH, SETS, dtype=torch.float32)


@pytest.mark.parametrize("agg_m", AGGREGATES)
def test_own_message_over_whole_sets_equals_algorithm_1(agg_m):
    layer = PGNNLayer(3, 4, message=OwnMessage(3, 4), agg_m=agg_m, agg_s="sum")
    assert_layer_is_algorithm_1(layer, GRAPH, SETS)


@given(
    problem=graphs_with_sets(max_nodes=7),
    agg_m=st.sampled_from(AGGREGATES),
    agg_s=st.sampled_from(AGGREGATES),
    gate=st.sampled_from(["none", "scalar", "vector"]),
    cutoff=st.none() | st.integers(0, 3),
)
@settings(max_examples=25)
def test_whole_sets_on_any_graph_equal_algorithm_1(problem, agg_m, agg_s, gate, cutoff):
    graph, sets = problem
    layer = PGNNLayer(2, 3, agg_m=agg_m, agg_s=agg_s, gate=gate, message="released")
    assert_layer_is_algorithm_1(layer, graph, sets, cutoff)


@pytest.mark.parametrize("agg_m", AGGREGATES)
def test_union_equals_each_graph_alone(agg_m):
    other = Graph.from_edges([(0, 1), (1, 2), (0, 2), (2, 3)])
    other_sets = AnchorSets.from_sets([[3], [0, 1], [2], [0, 1, 2, 3], [1]], 4)
    union = MemberDistances(
        Graph.disjoint_union([GRAPH, other]),
        AnchorSets.union([SETS, other_sets]),
        batch=[0] * 10 + [1] * 4,
    )
    layer = randomised(PGNNLayer(3, 5, agg_m=agg_m, gate="scalar"))
    x = features(14, 3)
    leaves = [x, *layer.parameters()]
    alone = [
        layer(x[:10], MemberDistances(GRAPH, SETS)),
        layer(x[10:], MemberDistances(other, other_sets)),
    ]
    expected = outputs_and_gradients(map(torch.cat, zip(*alone, strict=True)), leaves)
    assert_same(outputs_and_gradients(layer(x, union), leaves), expected)


@pytest.mark.parametrize("agg_m", AGGREGATES)
def test_set_without_a_member_in_the_graph_is_nobody(agg_m):
    """As an unreached set is for the closest anchor: F(0, h_v, 0)."""
    union = Graph.disjoint_union([GRAPH, GRAPH])
    layer = randomised(PGNNLayer(3, 5, agg_m=agg_m, gate="scalar", message="released"))
    x = features(20, 3)
    z, h = layer(x, MemberDistances(union, [[0]], batch=[0] * 10 + [1] * 10))
    message = (x[10:] @ layer.weight[0].T + layer.bias).relu()
    assert_same([h[10:], z[10:, 0]], [message, message @ layer.w + layer.w_bias])


class Recorder:
    """Members' proximity that notes which rows it was asked for."""

    def __init__(self, distances: MemberDistances) -> None:
        self.distances, self.asked = distances, []
        self.num_nodes, self.num_sets = distances.num_nodes, distances.num_sets

    def blocks(self, max_rows: int):
        return self.distances.blocks(max_rows)

    def proximity(self, start: int, stop: int):
        self.asked.append((start, stop))
        return self.distances.proximity(start, stop)


@pytest.mark.parametrize("message", ["paper", "own"])
@pytest.mark.parametrize("rows", [1, 3])
def test_rows_are_asked_for_in_blocks_which_do_not_change_the_result(rows, message, monkeypatch):
    options = {"message": OwnMessage(3, 4)} if message == "own" else {"gate": "vector"}
    layer = randomised(PGNNLayer(3, 4, agg_m="mean", **options))
    x = features(10, 3)
    leaves = [x, *layer.parameters()]
    once = Recorder(MemberDistances(GRAPH, SETS))
    expected = outputs_and_gradients(layer(x, once), leaves)
    assert set(once.asked) == {(0, 10)}
    width = 3 if message == "own" else 4
    monkeypatch.setattr(_whole_sets, "_BLOCK_NUMBERS", rows * 10 * width)
    blocks = Recorder(MemberDistances(GRAPH, SETS))
    assert_same(outputs_and_gradients(layer(x, blocks), leaves), expected)
    assert max(stop - start for start, stop in blocks.asked) == rows
    asked = {node for start, stop in blocks.asked for node in range(start, stop)}
    assert asked == set(range(10))


def test_messages_of_whole_sets_are_not_saved(monkeypatch):
    monkeypatch.setattr(_whole_sets, "_BLOCK_NUMBERS", 100)
    saved = {}

    def pack(tensor):
        saved[tensor.data_ptr()] = tensor
        return tensor

    layer = PGNNLayer(3, 40, agg_m="mean")
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        z, _ = layer(torch.rand(10, 3), MemberDistances(GRAPH, SETS))
    assert 0 < sum(tensor.numel() for tensor in saved.values()) < 10 * 10 * 40 / 2
    z.sum().backward()
    assert layer.weight.grad.abs().sum() > 0
