"""Algorithm 1 against numbers worked out by hand and the invariances the paper states."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from pgnn import PGNNError
from pgnn.nn.reference import (
    ReferenceLayer,
    linear_message,
    run_algorithm_1,
    run_algorithm_1_layers,
)

AGGREGATES = ["mean", "min", "max", "sum"]

# The path 0 - 1 - 2 with sets {0} and {0, 2}; node 1 is as near to 0 as to 2.
X = torch.tensor([[1.0], [2.0], [3.0]])
SETS = [[0], [2, 0]]
PATH_PROXIMITY = torch.tensor([[1, 1 / 2, 1 / 3], [1 / 2, 1, 1 / 2], [1 / 3, 1 / 2, 1]])
LINEAR = torch.tensor([[1.0, 0.0], [-1.0, 1.0]])
LINEAR_BIAS = torch.tensor([0.0, 0.5])
W = torch.tensor([2.0, 1.0])


def path_layer(form="paper", **changes) -> ReferenceLayer:
    layer = ReferenceLayer(SETS, PATH_PROXIMITY, linear_message(form, LINEAR, LINEAR_BIAS), W)
    return replace(layer, **changes)


def proximity_from_hops(hops: Tensor) -> Tensor:
    """1/(d+1), and 0 for the -1 of an unreachable node."""
    return torch.where(hops < 0, 0.0, 1 / (hops + 1.0))


def random_problem(seed: int, num_nodes=7, channels=3, r=4, num_layers=2, **options):
    """Features, layers of random weights, and a proximity without ties."""
    rng = torch.Generator().manual_seed(seed)

    def draw(*shape: int) -> Tensor:
        return torch.randn(shape, generator=rng, dtype=torch.float64)

    sets = [torch.randperm(num_nodes, generator=rng)[:size].tolist() for size in (1, 3, 2, 4, 1)]
    proximity = torch.rand(num_nodes, num_nodes, generator=rng, dtype=torch.float64)
    widths = [channels] + [r] * num_layers
    options.setdefault("sigma", torch.tanh)
    layers = [
        ReferenceLayer(
            sets, proximity, linear_message("released", draw(r, 2 * d), draw(r)), draw(r),
            bias=draw(), **options,
        )
        for d in widths[:-1]
    ]  # fmt: skip
    return draw(num_nodes, channels), layers


# ---------------------------------------------------------------------- by hand


@pytest.mark.parametrize(
    ("form", "z", "h"),
    [
        ("paper", [[2.5, 2.5], [2, 2], [2, 6.5]], [[1, 0.5], [1, 0], [2, 0.25]]),
        ("released", [[2.5, 2.5], [3, 3], [23 / 6, 6.5]], [[1, 0.5], [0.5, 2], [5 / 3, 11 / 6]]),
    ],
)
def test_path_of_three_nodes_matches_hand_computation(form, z, h):
    got = run_algorithm_1(X, [path_layer(form)])
    torch.testing.assert_close(got[0], torch.tensor(z))
    torch.testing.assert_close(got[1], torch.tensor(h))


@pytest.mark.parametrize(
    ("agg_m", "message"),
    [
        ("mean", [2 / 3, 5 / 6]),
        ("min", [1 / 3, 1 / 2]),
        ("max", [1, 7 / 6]),
        ("sum", [4 / 3, 5 / 3]),
        ("closest", [1, 1 / 2]),
    ],
)
def test_agg_m_matches_hand_computation(agg_m, message):
    """Node 0 hears [1, 1/2] from itself and [1/3, 7/6] from node 2."""
    _, h = run_algorithm_1(X, [path_layer(sets=[[0, 2]], agg_m=agg_m)])
    torch.testing.assert_close(h[0], torch.tensor(message))


@pytest.mark.parametrize(
    ("agg_s", "message"),
    [("mean", [2, 0.25]), ("min", [1.0, 0]), ("max", [3, 0.5]), ("sum", [4, 0.5])],
)
def test_agg_s_matches_hand_computation(agg_s, message):
    """Node 2 has the messages [1, 0] and [3, 1/2]."""
    z, h = run_algorithm_1(X, [path_layer(agg_s=agg_s)])
    torch.testing.assert_close(h[2], torch.tensor(message))
    torch.testing.assert_close(z, run_algorithm_1(X, [path_layer()])[0])


def test_sigma_comes_after_the_bias():
    z, _ = run_algorithm_1(X, [path_layer()])
    got, _ = run_algorithm_1(X, [path_layer(bias=torch.tensor(-2.25), sigma=torch.relu)])
    torch.testing.assert_close(got, (z - 2.25).relu())


@pytest.mark.parametrize("nodes", [[0, 2], [2, 0]])
def test_closest_anchor_of_a_tie_is_the_lowest_index(nodes):
    layer = path_layer(sets=[nodes], message=lambda s, h_v, h_u: s * h_u, weight=torch.ones(1))
    z, _ = run_algorithm_1(X, [layer])
    assert z[1].item() == 0.5 * X[0].item()


def test_closest_of_an_unreachable_set_is_nobody():
    heard = []

    def message(s: Tensor, h_v: Tensor, h_u: Tensor) -> Tensor:
        heard.append((s.item(), h_v.item(), h_u.item()))
        return h_u

    hops = torch.tensor([[0, 1, -1], [1, 0, -1], [-1, -1, 0]])
    layer = ReferenceLayer([[0, 1]], proximity_from_hops(hops), message, torch.ones(1))
    run_algorithm_1(X, [layer])
    assert heard == [(1, 1, 1), (1, 2, 2), (0, 3, 0)]


def test_gate_does_not_choose_the_closest_anchor():
    """A gate that falls with s scales the nearest anchor's message, not the farthest's."""
    weight = torch.tensor([[1.0, 0.0]])
    message = linear_message("released", weight, gate=lambda s: 2 - s)
    z, _ = run_algorithm_1(X, [path_layer(sets=[[0, 2]], message=message, weight=torch.ones(1))])
    torch.testing.assert_close(z, torch.tensor([[1.0], [1.5], [3.0]]))


def test_proximity_as_a_function_equals_its_matrix():
    given = path_layer(proximity=lambda v, u: 1 / (abs(v - u) + 1))
    for got, expected in zip(
        run_algorithm_1(X, [given]), run_algorithm_1(X, [path_layer()]), strict=True
    ):
        torch.testing.assert_close(got, expected)


def test_proximity_is_read_from_the_node_to_the_anchor():
    proximity = torch.tensor([[1.0, 0.25], [0.75, 1.0]])
    layer = ReferenceLayer([[1]], proximity, lambda s, h_v, h_u: s[None], torch.ones(1))
    assert run_algorithm_1(X[:2], [layer])[0][:, 0].tolist() == [0.25, 1.0]


# ---------------------------------------------------------------------- layers


@pytest.mark.parametrize("agg_m", ["closest", *AGGREGATES])
def test_each_layer_reads_h_of_the_layer_before(agg_m):
    x, layers = random_problem(0, num_layers=3, agg_m=agg_m)
    layers[1] = replace(layers[1], sets=[[0], [5, 6]])  # sets may differ from layer to layer
    outputs = run_algorithm_1_layers(x, layers)
    h = x
    for layer, (z, h_next) in zip(layers, outputs, strict=True):
        alone = run_algorithm_1(h, [layer])
        assert torch.equal(z, alone[0])
        assert torch.equal(h_next, alone[1])
        h = h_next
    assert [z.shape[1] for z, _ in outputs] == [5, 2, 5]
    assert torch.equal(outputs[-1][0], run_algorithm_1(x, layers)[0])


@pytest.mark.parametrize("agg_m", ["closest", *AGGREGATES])
@pytest.mark.parametrize("agg_s", AGGREGATES)
def test_permuting_sets_permutes_z_and_leaves_h(agg_m, agg_s):
    x, layers = random_problem(1, agg_m=agg_m, agg_s=agg_s)
    order = [3, 0, 4, 2, 1]
    permuted = [replace(layer, sets=[layer.sets[i] for i in order]) for layer in layers]
    z, h = run_algorithm_1(x, layers)
    z_permuted, h_permuted = run_algorithm_1(x, permuted)
    torch.testing.assert_close(z_permuted, z[:, order])
    torch.testing.assert_close(h_permuted, h)


@pytest.mark.parametrize("agg_m", ["closest", *AGGREGATES])
def test_relabelling_nodes_permutes_rows(agg_m):
    """Without ties: among equally near anchors the index decides, and relabelling changes it."""
    x, layers = random_problem(2, agg_m=agg_m)
    old = torch.tensor([4, 2, 6, 0, 1, 5, 3])  # new node i is old[i]
    new = old.argsort()
    relabelled = [
        replace(
            layer,
            sets=[new[nodes].tolist() for nodes in layer.sets],
            proximity=layer.proximity[old][:, old],
        )
        for layer in layers
    ]
    for got, expected in zip(
        run_algorithm_1(x[old], relabelled), run_algorithm_1(x, layers), strict=True
    ):
        torch.testing.assert_close(got, expected[old])


@pytest.mark.parametrize("form", ["paper", "released"])
@pytest.mark.parametrize("agg_m", AGGREGATES)
def test_closest_equals_any_aggregate_of_singletons(form, agg_m):
    hops = torch.tensor([[0, 1, -1], [1, 0, -1], [-1, -1, 0]])
    layer = path_layer(form, sets=[[2], [0], [1]], proximity=proximity_from_hops(hops))
    for got, expected in zip(
        run_algorithm_1(X, [layer, layer_after(layer, form)]),
        run_algorithm_1(X, [replace(i, agg_m=agg_m) for i in (layer, layer_after(layer, form))]),
        strict=True,
    ):
        assert torch.equal(got, expected)


def layer_after(layer: ReferenceLayer, form) -> ReferenceLayer:
    """A second layer, which reads two channels."""
    weight = torch.tensor([[1.0, -1.0, 0.5, 2.0], [0.0, 1.0, 1.0, -1.0]])
    return replace(layer, message=linear_message(form, weight))


# ---------------------------------------------------------------------- the paper's claims


def test_gcn_is_a_special_case():
    """Section 5.1: S_i = {v_i}, F = h_u / (d + 1) of the 1-hop distance, MEAN twice."""
    rng = torch.Generator().manual_seed(3)
    adjacency = torch.rand(8, 8, generator=rng) < 0.4
    adjacency = adjacency.triu(1) | adjacency.triu(1).T
    one_hop = torch.where(adjacency, 1, -1).fill_diagonal_(0)
    layer = ReferenceLayer(
        [[v] for v in range(8)], proximity_from_hops(one_hop), lambda s, h_v, h_u: s * h_u,
        weight=torch.ones(3), agg_m="mean", agg_s="mean",
    )  # fmt: skip
    x = torch.randn(8, 3, generator=rng)
    _, h = run_algorithm_1(x, [layer, layer])
    propagate = (torch.eye(8) + adjacency / 2) / 8  # [n, n]
    torch.testing.assert_close(h, propagate @ (propagate @ x))


def test_anchor_breaks_the_symmetry_of_figure_1():
    """Two triangles joined by an edge: nodes 0 and 5 differ by their distance to node 1 alone."""
    hops = torch.tensor([[0, 1, 1, 2, 3, 3], [1, 0, 1, 2, 3, 3], [1, 1, 0, 1, 2, 2]])
    hops = torch.cat([hops, hops.flip(0, 1)])
    message = linear_message("paper", torch.ones(1, 2))
    layer = ReferenceLayer([[1]], proximity_from_hops(hops), message, torch.ones(1))
    z, _ = run_algorithm_1(torch.ones(6, 1), [layer])
    assert z[0].item() != z[5].item()


@pytest.mark.parametrize("agg_m", ["closest", *AGGREGATES])
@pytest.mark.parametrize("form", ["paper", "released"])
def test_gradients_are_those_of_finite_differences(form, agg_m):
    rng = torch.Generator().manual_seed(4)

    def draw(*shape: int) -> Tensor:
        return torch.randn(shape, generator=rng, dtype=torch.float64, requires_grad=True)

    def run(x: Tensor, root: Tensor, first: Tensor, second: Tensor, w: Tensor, b: Tensor) -> Tensor:
        layers = [
            ReferenceLayer(
                [[0, 2], [1, 3, 2]], root.square(), linear_message(form, weight), w, bias=b,
                sigma=torch.tanh, agg_m=agg_m, agg_s="max",
            )
            for weight in (first, second)
        ]  # fmt: skip
        return torch.cat(run_algorithm_1(x, layers), dim=1)

    inputs = (draw(4, 2), draw(4, 4), draw(3, 4), draw(3, 6), draw(3), draw())
    assert torch.autograd.gradcheck(run, inputs)
    run(*inputs).sum().backward()
    assert all(value.grad is not None and value.grad.abs().sum() > 0 for value in inputs)


# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"agg_m": "median"}, r"agg_m must be one of closest, mean.*got 'median'"),
        ({"agg_s": "closest"}, r"agg_s must be one of mean, min, max, sum \(got 'closest'\)"),
        ({"sets": []}, "at least one anchor-set"),
        ({"sets": [[0], []]}, "each at least one node"),
        ({"sets": [[0, -1]]}, r"node indices >= 0 \(got -1\)"),
    ],
)
def test_layer_rejects(changes, match):
    with pytest.raises(PGNNError, match=match):
        path_layer(**changes)


def test_message_of_the_wrong_shape_is_rejected():
    with pytest.raises(PGNNError, match=r"shape of w, \[2\] \(got \[1\]\)"):
        run_algorithm_1(X, [path_layer(message=lambda s, h_v, h_u: s * h_u)])


@pytest.mark.parametrize("value", [-0.5, float("nan")])
def test_proximity_below_zero_is_rejected(value):
    with pytest.raises(PGNNError, match=r"proximity must be a number >= 0 \(got .* from 0 to 0\)"):
        run_algorithm_1(X, [path_layer(proximity=lambda v, u: value)])


def test_no_layer_is_rejected():
    with pytest.raises(PGNNError, match="at least one layer"):
        run_algorithm_1(X, [])


def test_unknown_form_is_rejected():
    with pytest.raises(PGNNError, match=r"one of paper, released \(got 'sum'\)"):
        linear_message("sum", LINEAR)
