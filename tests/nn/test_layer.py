"""PGNNLayer against Algorithm 1 as loops: values and all gradients, compiled and eager."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csgraph
from torch import Tensor, nn

from pgnn import AnchorSets, Graph, MemberDistances, PGNNError, anchor_distances
from pgnn.nn import Gate, PGNNLayer, Positions
from pgnn.nn import layer as layer_module
from pgnn.nn.reference import ReferenceLayer, linear_message, run_algorithm_1
from strategies import graphs_with_sets

TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-5}
SIGMAS = {"relu": torch.relu, "sigmoid": torch.sigmoid, "tanh": torch.tanh}

# A path, a triangle and two lone nodes; some nodes reach no member of some sets.
GRAPH = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 4), (5, 6), (6, 7), (5, 7)], num_nodes=10)
SETS = AnchorSets.from_sets([[0], [4, 5], [9], [1, 3, 6, 8], list(range(10))], 10)


class OwnMessage(nn.Module):
    """A user's F, with a weight of its own for each argument."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.linear = nn.Linear(2 * in_channels + 1, out_channels)

    def forward(self, s: Tensor, h_v: Tensor, h_u: Tensor) -> Tensor:
        assert s.shape == (len(h_v), 1)
        assert h_v.shape == h_u.shape
        return torch.tanh(self.linear(torch.cat([s, h_v, s * h_u], dim=1)))


def dense_proximity(graph: Graph, cutoff: float | None = None) -> Tensor:
    """1/(d + 1) of all pairs by scipy's search, 0 where there is no path."""
    d = csgraph.shortest_path(graph.to_scipy(), unweighted=graph.weights is None)
    d[d > (np.inf if cutoff is None else cutoff)] = np.inf
    return torch.from_numpy(1 / (d + 1))


def plain_gate(gate: Gate, s: Tensor) -> Tensor:
    """The gate by torch's own steps, `[..., 1]` -> `[..., out]`."""
    hidden = nn.functional.linear(s, gate.hidden.weight, gate.hidden.bias).relu()
    return nn.functional.linear(hidden, gate.out.weight, gate.out.bias)


def reference_of(layer: PGNNLayer, sets: AnchorSets, proximity: Tensor) -> ReferenceLayer:
    """The reference with the layer's own parameters, so that gradients meet in them."""
    if isinstance(layer.message, nn.Module):
        own = layer.message

        def message(s: Tensor, h_v: Tensor, h_u: Tensor) -> Tensor:
            return own(s[None, None], h_v[None], h_u[None])[0]

    elif layer.gate is not None and layer.gate.out.out_features > 1:
        paper = layer.message == "paper"

        def message(s: Tensor, h_v: Tensor, h_u: Tensor) -> Tensor:
            t = plain_gate(layer.gate, s[None])
            own, anchor = layer.weight[0] @ h_v, layer.weight[1] @ h_u
            before = t * (own + anchor) if paper else own + t * anchor
            return (before if layer.bias is None else before + layer.bias).relu()

    else:
        halves = [layer.weight[0], layer.weight[1]]
        weight = torch.cat(halves if layer.message == "paper" else halves[::-1], dim=1)
        gate = None if layer.gate is None else lambda s: plain_gate(layer.gate, s[None])
        message = linear_message(layer.message, weight, layer.bias, gate=gate)
    return ReferenceLayer(
        [nodes.tolist() for nodes in sets], proximity.to(layer.w.dtype), message, layer.w,
        layer.w_bias, SIGMAS.get(layer.sigma, layer.sigma), layer.agg_m, layer.agg_s,
    )  # fmt: skip


def randomised(module: nn.Module, seed: int = 0, dtype=torch.float64):
    """The module with every parameter drawn, biases too, which would otherwise be zero."""
    rng = torch.Generator().manual_seed(seed)
    for parameter in module.to(dtype).parameters():
        parameter.data = torch.randn(parameter.shape, generator=rng, dtype=dtype)
    return module


def features(num_nodes: int, channels: int, seed: int = 1, dtype=torch.float64) -> Tensor:
    rng = torch.Generator().manual_seed(seed)
    return torch.randn(num_nodes, channels, generator=rng, dtype=dtype).requires_grad_()


def outputs_and_gradients(outputs, leaves) -> list[Tensor]:
    """The outputs, and the gradients of one random weighting of them."""
    outputs, rng = list(outputs), torch.Generator().manual_seed(2)
    loss = sum(
        (out * torch.randn(out.shape, generator=rng, dtype=out.dtype)).sum() for out in outputs
    )
    return [*outputs, *torch.autograd.grad(loss, leaves)]


def assert_same(got, expected, tolerance: float = 1e-10) -> None:
    """Every tensor within the tolerance of its largest number."""
    for one, other in zip(got, expected, strict=True):
        scale = max(1.0, float(other.detach().abs().max())) if other.numel() else 1.0
        torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance * scale)


def assert_layer_is_algorithm_1(layer, graph, sets, dtype=torch.float64, cutoff=None) -> None:
    randomised(layer, dtype=dtype)
    x = features(graph.num_nodes, layer.in_channels, dtype=dtype)
    leaves = [x, *layer.parameters()]
    got = outputs_and_gradients(layer(x, anchor_distances(graph, sets, cutoff=cutoff)), leaves)
    loops = reference_of(layer, sets, dense_proximity(graph, cutoff))
    expected = outputs_and_gradients(run_algorithm_1(x, [loops]), leaves)
    assert_same(got, expected, TOLERANCE[dtype])


# ---------------------------------------------------------------------- Algorithm 1


@pytest.mark.parametrize("gate", ["none", "scalar", "vector"])
@pytest.mark.parametrize("message", ["paper", "released"])
@pytest.mark.parametrize(
    ("agg_s", "kernel"),
    [("mean", "fused"), ("mean", "eager"), ("sum", "fused"), ("sum", "eager"),
     ("min", "eager"), ("max", "eager")],
)  # fmt: skip
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_layer_equals_algorithm_1(message, gate, agg_s, kernel, dtype):
    layer = PGNNLayer(
        3, 7, message=message, gate=gate, agg_s=agg_s, sigma="tanh", kernel=kernel
    )  # fmt: skip
    assert_layer_is_algorithm_1(layer, GRAPH, SETS, dtype)


@pytest.mark.parametrize("kernel", ["fused", "eager"])
@pytest.mark.parametrize("message", ["paper", "released"])
@pytest.mark.parametrize("channels", [1, 7, 32, 33, 70])
def test_layer_of_any_width_equals_algorithm_1(channels, message, kernel):
    layer = PGNNLayer(2, channels, message=message, gate="scalar", kernel=kernel)
    assert_layer_is_algorithm_1(layer, GRAPH, SETS)
    assert_layer_is_algorithm_1(layer, GRAPH, SETS, torch.float32)


@given(
    problem=graphs_with_sets(max_nodes=9),
    options=st.fixed_dictionaries(
        {
            "message": st.sampled_from(["paper", "released"]),
            "gate": st.sampled_from(["none", "scalar", "vector"]),
            "agg_s": st.sampled_from(["mean", "sum", "min", "max"]),
            "sigma": st.sampled_from([None, "relu", "sigmoid", torch.tanh]),
            "bias": st.booleans(),
            "kernel": st.sampled_from(["auto", "eager"]),
        }
    ),
    cutoff=st.none() | st.integers(0, 3),
)
@settings(max_examples=60)
def test_layer_on_any_graph_equals_algorithm_1(problem, options, cutoff):
    graph, sets = problem
    if graph.weights is not None and options["gate"] == "vector":
        options["gate"] = "scalar"  # a vector gate reads codes; see the test of its refusal
    assert_layer_is_algorithm_1(PGNNLayer(2, 5, **options), graph, sets, cutoff=cutoff)


@pytest.mark.parametrize("agg_s", ["mean", "max"])
@pytest.mark.parametrize("directed", [True, False])
def test_own_message_equals_algorithm_1(agg_s, directed):
    graph = Graph.from_edges(GRAPH.edges(), num_nodes=10, directed=directed)
    layer = PGNNLayer(3, 4, message=OwnMessage(3, 4), agg_s=agg_s, sigma="sigmoid")
    assert_layer_is_algorithm_1(layer, graph, SETS, cutoff=2)


@pytest.mark.parametrize("kernel", ["fused", "eager"])
def test_one_node_and_one_set_equal_algorithm_1(kernel):
    lone = Graph.from_edges(np.empty((0, 2), dtype=np.int64), num_nodes=1)
    layer = PGNNLayer(1, 1, kernel=kernel)
    assert_layer_is_algorithm_1(layer, lone, AnchorSets.from_sets([[0]], 1))


# ---------------------------------------------------------------------- memory and blocks


def big_case(message="released", gate="scalar", num_nodes=500, num_sets=40, **options):
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(rng.integers(0, num_nodes, (600, 2)), num_nodes=num_nodes)
    sets = AnchorSets.from_sets(
        [rng.choice(num_nodes, 1 + i, replace=False) for i in range(num_sets)], num_nodes
    )
    layer = PGNNLayer(32, 32, message=message, gate=gate, **options)
    return randomised(layer, dtype=torch.float32), anchor_distances(graph, sets)


@pytest.mark.parametrize("gate", ["none", "vector"])
@pytest.mark.parametrize("message", ["paper", "released"])
def test_fused_and_eager_agree_on_a_larger_graph(message, gate):
    layer, distances = big_case(message, gate)
    x = features(500, 32, dtype=torch.float32)
    leaves = [x, *layer.parameters()]
    results = []
    for layer.kernel in ("fused", "eager"):
        results.append(outputs_and_gradients(layer(x, distances), leaves))
    assert_same(results[0], results[1], 1e-5)


@pytest.mark.parametrize("options", [{}, {"agg_s": "max"}, {"message": OwnMessage(3, 4)}])
def test_blocks_do_not_change_the_eager_result(options, monkeypatch):
    layer = randomised(PGNNLayer(3, 4, kernel="eager", **options))
    x, distances = features(10, 3), anchor_distances(GRAPH, SETS)
    leaves = [x, *layer.parameters()]
    expected = outputs_and_gradients(layer(x, distances), leaves)
    for block in (1, 3 * len(SETS) * 4):  # one row at a time, and three
        monkeypatch.setattr(layer_module, "_BLOCK_NUMBERS", block)
        assert_same(outputs_and_gradients(layer(x, distances), leaves), expected)


def test_blocks_do_not_change_the_gate_of_exact_proximities(monkeypatch):
    graph = Graph.from_edges(GRAPH.edges(), num_nodes=10, weights=[0.5, 1, 2, 0.25, 3, 1, 1])
    layer = PGNNLayer(3, 4, gate="scalar", kernel="fused")
    monkeypatch.setattr(layer_module, "_BLOCK_NUMBERS", 1)
    assert_layer_is_algorithm_1(layer, graph, SETS)


@pytest.mark.parametrize("kernel", ["fused", "eager"])
@pytest.mark.parametrize("gate", ["none", "scalar"])
@pytest.mark.parametrize("weighted", [False, True])
def test_nothing_of_the_size_of_all_messages_is_saved(kernel, gate, weighted, monkeypatch):
    monkeypatch.setattr(layer_module, "_BLOCK_NUMBERS", 1 << 12)
    layer, distances = big_case(gate=gate, kernel=kernel, num_nodes=200)
    if weighted:
        distances = SimpleNamespace(nearest=distances.nearest, lengths=distances.hops + 1.5)
        distances.lengths[distances.nearest < 0] = np.inf
    saved = {}  # by address: blocks save what they share again and again

    def pack(tensor: Tensor) -> Tensor:
        saved[tensor.data_ptr()] = tensor
        return tensor

    x = features(200, 32, dtype=torch.float32)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        z, h = layer(x, distances)
    sizes = [tensor.numel() for tensor in saved.values()]
    assert 0 < sum(sizes) < 200 * 40 * 32 / 4
    assert max(sizes) <= max(200 * 64, 200 * 40)
    (z.sum() + h.sum()).backward()
    assert x.grad.abs().sum() > 0


# ---------------------------------------------------------------------- AGG_M over whole sets

AGGREGATES = ["mean", "min", "max", "sum"]


def assert_whole_sets_are_algorithm_1(layer, graph, sets, cutoff=None, dtype=torch.float64):
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
    assert_whole_sets_are_algorithm_1(layer, GRAPH, SETS)


@pytest.mark.parametrize("agg_m", AGGREGATES)
def test_whole_sets_in_float32_equal_algorithm_1(agg_m):
    layer = PGNNLayer(3, 5, agg_m=agg_m)
    assert_whole_sets_are_algorithm_1(layer, GRAPH, SETS, dtype=torch.float32)


@pytest.mark.parametrize("agg_m", AGGREGATES)
def test_own_message_over_whole_sets_equals_algorithm_1(agg_m):
    layer = PGNNLayer(3, 4, message=OwnMessage(3, 4), agg_m=agg_m, agg_s="sum")
    assert_whole_sets_are_algorithm_1(layer, GRAPH, SETS)


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
    assert_whole_sets_are_algorithm_1(layer, graph, sets, cutoff)


@pytest.mark.parametrize("agg_m", AGGREGATES)
def test_union_of_whole_sets_equals_each_graph_alone(agg_m):
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
def test_set_without_a_member_in_the_graph_is_as_if_not_reached(agg_m):
    """As an unreached set is for the closest anchor: F(0, h_v, 0)."""
    union = Graph.disjoint_union([GRAPH, GRAPH])
    layer = randomised(PGNNLayer(3, 5, agg_m=agg_m, gate="scalar", message="released"))
    x = features(20, 3)
    z, h = layer(x, MemberDistances(union, [[0]], batch=[0] * 10 + [1] * 10))
    message = (x[10:] @ layer.weight[0].T + layer.bias).relu()
    assert_same([h[10:], z[10:, 0]], [message, message @ layer.w + layer.w_bias])


class Recorder:
    """Members' proximity that notes which rows were read."""

    def __init__(self, distances: MemberDistances) -> None:
        self.distances, self.read = distances, []
        self.num_nodes, self.num_sets = distances.num_nodes, distances.num_sets

    def blocks(self, max_rows: int):
        return self.distances.blocks(max_rows)

    def proximity(self, start: int, stop: int):
        self.read.append((start, stop))
        return self.distances.proximity(start, stop)


@pytest.mark.parametrize("message", ["paper", "own"])
@pytest.mark.parametrize("rows", [1, 3])
def test_rows_are_read_in_blocks_which_do_not_change_the_result(rows, message, monkeypatch):
    options = {"message": OwnMessage(3, 4)} if message == "own" else {"gate": "vector"}
    layer = randomised(PGNNLayer(3, 4, agg_m="mean", **options))
    x = features(10, 3)
    leaves = [x, *layer.parameters()]
    once = Recorder(MemberDistances(GRAPH, SETS))
    expected = outputs_and_gradients(layer(x, once), leaves)
    assert set(once.read) == {(0, 10)}
    width = 3 if message == "own" else 4
    monkeypatch.setattr(layer_module, "_BLOCK_NUMBERS", rows * 10 * width)
    blocks = Recorder(MemberDistances(GRAPH, SETS))
    assert_same(outputs_and_gradients(layer(x, blocks), leaves), expected)
    assert max(stop - start for start, stop in blocks.read) == rows
    nodes = {node for start, stop in blocks.read for node in range(start, stop)}
    assert nodes == set(range(10))


def test_messages_of_whole_sets_are_not_saved(monkeypatch):
    monkeypatch.setattr(layer_module, "_BLOCK_NUMBERS", 100)
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


# ---------------------------------------------------------------------- parameters


def test_reset_parameters_draws_as_documented():
    layer = PGNNLayer(40, 50, gate="vector")
    with torch.random.fork_rng():
        torch.manual_seed(3)
        layer.reset_parameters()
    bound = 2**0.5 * (6 / (2 * 40 + 50)) ** 0.5
    assert 0.95 * bound < layer.weight.abs().max() <= bound
    assert layer.bias.abs().max() == layer.w_bias == 0
    first = [parameter.clone() for parameter in layer.parameters()]
    layer.reset_parameters()
    drawn = [name for name, _ in layer.named_parameters() if "bias" not in name]
    changed = [
        name
        for (name, now), before in zip(layer.named_parameters(), first, strict=True)
        if not torch.equal(now, before)
    ]
    assert changed == drawn


def test_reset_parameters_reaches_an_own_message():
    own = OwnMessage(2, 3)
    own.reset_parameters = own.linear.reset_parameters
    layer = PGNNLayer(2, 3, message=own)
    before = own.linear.weight.clone()
    layer.reset_parameters()
    assert not torch.equal(own.linear.weight, before)


def test_layer_without_bias_has_none():
    names = [name for name, _ in PGNNLayer(2, 3, bias=False).named_parameters()]
    assert names == ["weight", "w"]


# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"in_channels": 0}, r"in_channels must be a positive integer \(got 0\)"),
        ({"out_channels": -1}, r"out_channels must be a positive integer \(got -1\)"),
        ({"message": "sum"}, r"message must be one of paper, released or a Module \(got 'sum'\)"),
        ({"gate": "both"}, r"gate must be one of none, scalar, vector \(got 'both'\)"),
        ({"agg_m": "median"}, r"agg_m must be one of closest, mean, .*\(got 'median'\)"),
        ({"agg_s": "closest"}, r"agg_s must be one of mean, min, max, sum \(got 'closest'\)"),
        ({"sigma": "gelu"}, r"sigma must be one of relu, sigmoid, tanh \(got 'gelu'\)"),
        ({"kernel": "cuda"}, r"kernel must be one of auto, eager, fused \(got 'cuda'\)"),
        ({"message": OwnMessage(2, 3), "gate": "scalar"}, "gate belongs to the built-in messages"),
        ({"kernel": "fused", "agg_s": "max"}, "agg_s 'mean' or 'sum'; use kernel='auto'"),
        ({"kernel": "fused", "message": OwnMessage(2, 3)}, "compiled kernels need a built-in"),
    ],
)
def test_layer_refuses_settings(options, match):
    with pytest.raises(PGNNError, match=match):
        PGNNLayer(**{"in_channels": 2, "out_channels": 3, **options})


@pytest.mark.parametrize(
    ("result", "match"),
    [
        (lambda s, h_v, h_u: h_v, r"must return \[m, 4\], here \[50, 4\] \(got \[50, 3\]\)"),
        (lambda s, h_v, h_u: h_v[:1], r"here \[50, 4\] \(got \[1, 3\]\)"),
        (lambda s, h_v, h_u: 1.0, r"here \[50, 4\] \(got float\)"),
    ],
)
def test_own_message_of_the_wrong_shape_is_named(result, match):
    own = OwnMessage(3, 4)
    own.forward = result
    with pytest.raises(PGNNError, match=match):
        PGNNLayer(3, 4, message=own)(torch.rand(10, 3), anchor_distances(GRAPH, SETS))


def test_vector_gate_of_exact_proximities_says_what_to_do():
    positions = Positions(torch.zeros(3, 1).int(), proximity=torch.rand(3, 1))
    layer = PGNNLayer(2, 3, gate="vector")
    with pytest.raises(PGNNError, match=r"use positions.quantised\(\)"):
        layer(torch.rand(3, 2), positions)
    assert layer(torch.rand(3, 2), positions.quantised())[0].shape == (3, 1)
