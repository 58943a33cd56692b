"""PGNN: layers chained as Algorithm 1 chains them, its state, and what it refuses."""

from __future__ import annotations

import copy
import io
import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch

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
from pgnn import AnchorSets, Graph, MemberDistances, PGNNError, anchor_distances, anchor_ppr
from pgnn.nn import PGNN, PGNNLayer, Positions
from pgnn.nn.reference import run_algorithm_1

DISTANCES = anchor_distances(GRAPH, SETS)
OTHER_SETS = AnchorSets.from_sets([[2], [7, 8, 9], [3]], 10)


def by_algorithm_1(model: PGNN, x, sets_of_layers):
    h = x if model.input is None else model.input(x)
    proximity = dense_proximity(GRAPH)
    layers = [
        reference_of(layer, sets, proximity)
        for layer, sets in zip(model.layers, sets_of_layers, strict=True)
    ]
    return run_algorithm_1(h, layers)


def used_parameters(model: PGNN):
    """All but w of the layers before the last, whose z nobody reads."""
    unused = {id(value) for layer in model.layers[:-1] for value in (layer.w, layer.w_bias)}
    return [value for value in model.parameters() if id(value) not in unused]


# ---------------------------------------------------------------------- Algorithm 1


@pytest.mark.parametrize("num_layers", [1, 2, 3])
@pytest.mark.parametrize("project_input", [True, False])
@pytest.mark.parametrize(
    ("message", "width"),  # kernels run all layers of 16 channels at once
    [("paper", 5), ("paper", 16), ("released", 5), ("released", 16), (OwnMessage, 5)],
)
def test_model_equals_algorithm_1(num_layers, project_input, message, width):
    model = PGNN(3, width, num_layers, message=message, sigma="tanh", project_input=project_input)
    randomised(model).eval()
    x = features(10, 3)
    leaves = [x, *used_parameters(model)]
    expected = outputs_and_gradients(by_algorithm_1(model, x, [SETS] * num_layers), leaves)
    assert_same(outputs_and_gradients(model.encode(x, DISTANCES), leaves), expected, 1e-9)
    assert torch.equal(model(x, DISTANCES), model.encode(x, DISTANCES)[0])


def test_layers_may_have_anchors_of_their_own():
    model = randomised(PGNN(3, 5, 2, gate="scalar"))
    x = features(10, 3)
    leaves = [x, *used_parameters(model)]
    distances = [DISTANCES, anchor_distances(GRAPH, OTHER_SETS)]
    got = outputs_and_gradients(model.encode(x, distances), leaves)
    expected = by_algorithm_1(model, x, [SETS, OTHER_SETS])
    assert got[0].shape == (10, 3)
    assert_same(got, outputs_and_gradients(expected, leaves), 1e-9)
    assert torch.equal(model(x, DISTANCES), model(x, [DISTANCES] * 2))


@pytest.mark.parametrize("agg_m", ["mean", "max"])
def test_model_over_whole_sets_equals_algorithm_1(agg_m):
    model = randomised(PGNN(3, 5, 2, agg_m=agg_m, agg_s="max"))
    x = features(10, 3)
    got = model.encode(x, MemberDistances(GRAPH, SETS))
    assert_same(got, by_algorithm_1(model, x, [SETS, SETS]))


@pytest.mark.parametrize("gate", ["scalar", "vector"])
def test_union_of_graphs_equals_each_alone(gate):
    other = Graph.from_edges([(0, 1), (1, 2), (0, 2), (2, 3)])
    other_sets = AnchorSets.from_sets([[3], [0, 1], [2], [0, 1, 2, 3], [1]], 4)
    union = anchor_distances(
        Graph.disjoint_union([GRAPH, other]), AnchorSets.union([SETS, other_sets])
    )
    model = randomised(PGNN(2, 5, 2, gate=gate, message="released", normalize=True))
    x = features(14, 2)
    leaves = [x, *used_parameters(model)]
    alone = [model(x[:10], DISTANCES), model(x[10:], anchor_distances(other, other_sets))]
    expected = outputs_and_gradients([torch.cat(alone)], leaves)
    assert_same(outputs_and_gradients([model(x, union)], leaves), expected, 1e-9)


def test_the_same_model_reads_any_number_of_sets():
    model = PGNN(3)
    assert model(features(10, 3, dtype=torch.float32), DISTANCES).shape == (10, 5)
    other = anchor_distances(GRAPH, OTHER_SETS)
    assert model(features(10, 3, dtype=torch.float32), other).shape == (10, 3)


def test_order_of_sets_is_the_order_of_columns_and_nothing_else():
    model = randomised(PGNN(3, 5, 2))
    x = features(10, 3)
    order = [3, 0, 4, 2, 1]
    turned = anchor_distances(GRAPH, [SETS[i] for i in order])
    z, h = model.encode(x, DISTANCES)
    assert_same(model.encode(x, turned), [z[:, order], h])


# ---------------------------------------------------------------------- training and state


def test_dropout_acts_between_layers_in_training_alone():
    x = features(10, 3, dtype=torch.float32)
    model = PGNN(3, dropout=0.5)
    assert not torch.equal(model(x, DISTANCES), model(x, DISTANCES))
    model.eval()
    assert torch.equal(model(x, DISTANCES), model(x, DISTANCES))
    single = PGNN(3, num_layers=1, dropout=0.5)  # nothing lies between layers
    assert_same(single.encode(x, DISTANCES), single.encode(x, DISTANCES), 0)


def test_everything_dropped_leaves_what_zeros_give():
    x = features(10, 3)
    model = randomised(PGNN(3, 5, 2, dropout=1.0))
    expected, _ = model.layers[1](torch.zeros(10, 5, dtype=torch.float64), DISTANCES)
    assert_same([model(x, DISTANCES)], [expected])


def test_normalize_gives_rows_of_length_one():
    x = features(10, 3)
    model = randomised(PGNN(3, normalize=True))
    z = model(x, DISTANCES)
    torch.testing.assert_close(z.norm(dim=1), torch.ones(10, dtype=torch.float64))
    model.normalize = False
    plain = model(x, DISTANCES)
    assert_same([z], [plain / plain.norm(dim=1, keepdim=True)])


def test_names_in_the_state_are_stable():
    """Saved models are read by these names; a new one needs a way to read the old."""
    assert list(PGNN(1).state_dict()) == [
        "input.weight", "input.bias",
        "layers.0.weight", "layers.0.bias", "layers.0.w", "layers.0.w_bias",
        "layers.1.weight", "layers.1.bias", "layers.1.w", "layers.1.w_bias",
    ]  # fmt: skip
    gated = PGNN(1, num_layers=1, gate="scalar", project_input=False)
    assert list(gated.state_dict()) == [
        "layers.0.weight", "layers.0.bias", "layers.0.w", "layers.0.w_bias",
        "layers.0.gate.hidden.weight", "layers.0.gate.hidden.bias",
        "layers.0.gate.out.weight", "layers.0.gate.out.bias",
    ]  # fmt: skip
    assert {name: list(value.shape) for name, value in gated.state_dict().items()} == {
        "layers.0.weight": [2, 32, 1], "layers.0.bias": [32],
        "layers.0.w": [32], "layers.0.w_bias": [],
        "layers.0.gate.hidden.weight": [32, 1], "layers.0.gate.hidden.bias": [32],
        "layers.0.gate.out.weight": [1, 32], "layers.0.gate.out.bias": [1],
    }  # fmt: skip


def test_state_survives_a_file():
    x = features(10, 3)
    model = randomised(PGNN(3, 5, gate="vector"))
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    other = PGNN(3, 5, gate="vector").double()
    assert not torch.equal(other(x, DISTANCES), model(x, DISTANCES))
    other.load_state_dict(torch.load(file, weights_only=True))
    assert torch.equal(other(x, DISTANCES), model(x, DISTANCES))


def test_deep_copy_is_equal_and_apart():
    x = features(10, 3)
    model = randomised(PGNN(3, 5, gate="scalar", sigma="relu"))
    twin = copy.deepcopy(model)
    assert torch.equal(twin(x, DISTANCES), model(x, DISTANCES))
    randomised(twin, seed=9)
    assert not torch.equal(twin(x, DISTANCES), model(x, DISTANCES))


def test_reset_parameters_is_repeatable_and_draws_anew():
    model = PGNN(3, gate="scalar")

    def drawn(seed: int):
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            model.reset_parameters()
        return {name: value.clone() for name, value in model.named_parameters()}

    first, again, other = drawn(0), drawn(0), drawn(1)
    assert all(torch.equal(first[name], again[name]) for name in first)
    changed = {name for name in first if not torch.equal(first[name], other[name])}
    assert changed == {name for name in first if "bias" not in name} | {"input.bias"}


def test_attributes_and_repr():
    model = PGNN(3, 8, 1)
    assert (model.in_channels, model.hidden_channels, model.num_layers) == (3, 8, 1)
    assert repr(model) == "PGNN(3, 8, num_layers=1)"


# ---------------------------------------------------------------------- bad input

X = torch.ones(10, 3)
PPR = Positions.from_proximity(anchor_ppr(GRAPH, SETS), SETS)
MEMBERS = MemberDistances(GRAPH, SETS)

NO_SETS = torch.empty(10, 0, dtype=torch.int32)


def with_value(row: int, value: float):
    x = torch.ones(10, 3)
    x[row, 1] = value
    return x


@pytest.mark.parametrize(
    ("x", "distances", "match"),
    [
        (X[:9], DISTANCES, "x has 9 rows, but the distances are of a graph of 10 nodes"),
        (X[:9], MEMBERS, "agg_m='closest' reads pgnn.anchor_distances"),
        (X[:, :2], DISTANCES, r"x must have shape \[n, 3\] \(got \[10, 2\]\)"),
        (X[0], DISTANCES, r"x must have shape \[n, 3\] \(got \[3\]\)"),
        (X.long(), DISTANCES, r"must be floating-point .*\(got torch.int64\); use x.float\(\)"),
        (X.half(), DISTANCES, r"x is torch.float16 but the model is torch.float32; use x.to"),
        (X.double(), DISTANCES, r"x is torch.float64 but the model is torch.float32"),
        (with_value(4, float("nan")), DISTANCES, "row 4 holds NaN or infinity"),
        (with_value(7, float("-inf")), DISTANCES, "row 7 holds NaN or infinity"),
        (
            X.numpy(),
            DISTANCES,
            r"x must be a tensor \(got ndarray of shape \[10, 3\]\); use torch.as_tensor",
        ),
        (X, anchor_distances(Graph.from_edges([(0, 1)]), [[0]]), "of a graph of 2 nodes"),
        (X, GRAPH, r"must be the result of pgnn.anchor_distances .*\(got Graph\)"),
        (X, None, r"must be the result of pgnn.anchor_distances .*\(got NoneType\)"),
        (X, [DISTANCES], r"one entry per layer, 2 \(got 1\)"),
        (X, [DISTANCES] * 3, r"one entry per layer, 2 \(got 3\)"),
        (X, [DISTANCES, GRAPH], r"must be the result of pgnn.anchor_distances"),
        (X, Positions.from_distances(DISTANCES).to("meta"), "x is on cpu but the positions are on"),
        (X, MEMBERS, "agg_m='closest' reads pgnn.anchor_distances"),
        (X, PPR, "the layer has agg_m='closest', make it with agg_m='mean'"),
        (X, SimpleNamespace(nearest=NO_SETS, hops=NO_SETS), "at least one anchor-set is needed"),
    ],
)
@pytest.mark.parametrize("kind", ["model", "layer"])
def test_bad_input_is_named(kind, x, distances, match):
    if kind == "layer" and isinstance(distances, list):
        match = r"\(got list\)"  # only a model takes one
    model = PGNN(3) if kind == "model" else PGNNLayer(3, 4)
    with pytest.raises(PGNNError, match=match):
        model(x, distances)


@pytest.mark.parametrize(
    ("agg_m", "distances", "match"),
    [
        ("mean", DISTANCES, "agg_m='mean' needs the distance to every member"),
        ("max", DISTANCES, "agg_m='max' needs the distance to every member"),
        ("max", PPR, "the layer has agg_m='max', make it with agg_m='mean'"),
        ("sum", MemberDistances(Graph.from_edges([(0, 1)]), [[0]]), "of a graph of 2 nodes"),
    ],
)
def test_distances_that_do_not_fit_agg_m_are_named(agg_m, distances, match):
    with pytest.raises(PGNNError, match=match):
        PGNN(3, agg_m=agg_m)(X, distances)


def test_model_on_another_device_is_named():
    with pytest.raises(PGNNError, match="x is on cpu but the model is on meta"):
        PGNN(3).to("meta")(X, DISTANCES)


def test_huge_features_whose_sum_overflows_are_let_in():
    x = torch.full((10, 3), 3e38)
    assert x.sum().isinf()
    model = PGNN(3, project_input=False, num_layers=1, bias=False)
    with torch.no_grad():
        model.layers[0].weight.fill_(1e-30)
    assert model(x, DISTANCES).isfinite().all()


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"in_channels": 0}, r"in_channels must be a positive integer \(got 0\)"),
        ({"hidden_channels": 0}, r"hidden_channels must be a positive integer \(got 0\)"),
        ({"num_layers": 0}, r"num_layers must be a positive integer \(got 0\)"),
        ({"dropout": 1.5}, r"dropout must lie in 0..1 \(got 1.5\)"),
        ({"dropout": float("nan")}, r"dropout must lie in 0..1 \(got nan\)"),
        ({"message": OwnMessage(3, 32)}, "give a class or function"),
        ({"message": "sum"}, r"message must be one of paper, released or a function \(got 'sum'\)"),
        ({"message": OwnMessage, "gate": "scalar"}, "gate belongs to the built-in messages"),
        ({"gate": "matrix"}, r"gate must be one of none, scalar, vector \(got 'matrix'\)"),
        ({"agg_m": "median"}, r"agg_m must be one of closest, mean"),
        ({"agg_s": "median"}, r"agg_s must be one of mean, min, max, sum \(got 'median'\)"),
        ({"sigma": "gelu"}, r"sigma must be one of relu, sigmoid, tanh \(got 'gelu'\)"),
    ],
)
def test_settings_that_cannot_be_are_named(options, match):
    with pytest.raises(PGNNError, match=match):
        PGNN(**{"in_channels": 3, **options})


# ---------------------------------------------------------------------- the package


def run_python(code: str) -> str:
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return process.stdout.strip()


def test_torch_is_loaded_when_nn_is_first_named():
    code = """
import sys, pgnn
before = "torch" in sys.modules
print(before, pgnn.nn.PGNN.__name__, "torch" in sys.modules, "nn" in dir(pgnn))
"""
    assert run_python(code) == "False PGNN True True"


def test_unknown_name_of_the_package_is_an_attribute_error():
    import pgnn

    with pytest.raises(AttributeError, match="module 'pgnn' has no attribute 'graphs'"):
        pgnn.graphs  # noqa: B018
