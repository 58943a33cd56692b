"""Positions: what codes and exact proximities mean, and that layers read them alike."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nn.test_layer import (
    GRAPH,
    SETS,
    assert_same,
    features,
    outputs_and_gradients,
    plain_gate,
    randomised,
)
from pgnn import AnchorSets, Graph, PGNNError, anchor_distances, anchor_ppr
from pgnn.nn import PGNNLayer, Positions
from pgnn.nn.positions import shared_positions

HOPS = anchor_distances(GRAPH, SETS)


def with_hops(dtype) -> SimpleNamespace:
    return SimpleNamespace(nearest=HOPS.nearest, hops=HOPS.hops.astype(dtype))


def proximities(positions: Positions) -> torch.Tensor:
    """s of every pair, whichever way it is held."""
    if positions.proximity is not None:
        return positions.proximity
    return positions.levels[positions.codes.long() - positions.first_code]


# ---------------------------------------------------------------------- from distances


@pytest.mark.parametrize("kernel", ["fused", "eager"])
@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.int64])
def test_hops_of_any_type_give_the_same(dtype, kernel):
    layer = randomised(PGNNLayer(2, 3, gate="scalar", kernel=kernel))
    x = features(10, 2)
    leaves = [x, *layer.parameters()]
    got = outputs_and_gradients(layer(x, with_hops(dtype)), leaves)
    assert_same(got, outputs_and_gradients(layer(x, HOPS), leaves), 0)


def test_hops_become_one_over_hops_plus_one():
    hops = torch.from_numpy(HOPS.hops.astype(np.float64))
    expected = torch.where(hops < 0, 0, 1 / (hops + 1))
    assert (hops < 0).any()
    assert torch.equal(proximities(Positions.from_distances(HOPS)), expected)


@pytest.mark.parametrize("number", [200, 40_000])
def test_long_paths_keep_their_hops(number):
    """Codes of 8 and of 16 bits do not suffice; the table has an entry for each."""
    hops = torch.tensor([[0], [number], [-1]])
    far = SimpleNamespace(nearest=torch.tensor([[0], [0], [-1]]), hops=hops)
    assert proximities(Positions.from_distances(far)).tolist() == [[1], [1 / (number + 1)], [0]]


def test_sets_that_nobody_reaches_have_proximity_zero():
    nobody = SimpleNamespace(nearest=np.full((3, 2), -1), hops=np.full((3, 2), -1, dtype=np.int8))
    assert proximities(Positions.from_distances(nobody)).tolist() == [[0, 0]] * 3


@pytest.mark.parametrize("kernel", ["fused", "eager"])
def test_lengths_become_one_over_length_plus_one(kernel):
    """Lengths that are the hops give what the hops give."""
    graph = Graph.from_edges(GRAPH.edges(), num_nodes=10, weights=np.ones(7))
    weighted = anchor_distances(graph, SETS)
    positions = Positions.from_distances(weighted)
    torch.testing.assert_close(positions.proximity, torch.from_numpy(1 / (weighted.lengths + 1)))
    layer = randomised(PGNNLayer(2, 3, gate="scalar", kernel=kernel))
    x = features(10, 2)
    leaves = [x, *layer.parameters()]
    got = outputs_and_gradients(layer(x, weighted), leaves)
    assert_same(got, outputs_and_gradients(layer(x, HOPS), leaves))


def test_read_only_arrays_work_without_a_warning():
    nearest, hops = HOPS.nearest.copy(), HOPS.hops.copy()
    for array in (nearest, hops):
        array.setflags(write=False)
    positions = Positions.from_distances(SimpleNamespace(nearest=nearest, hops=hops))
    assert torch.equal(positions.codes, torch.from_numpy(HOPS.hops.copy()))
    s = np.array([[0.5], [0.25]])
    s.setflags(write=False)
    assert Positions.from_proximity(s, [[0]]).proximity.tolist() == s.tolist()


# ---------------------------------------------------------------------- from proximities


def mean_of_members(layer, x, s, sets):
    """F(s(v, S_i), h_v, mean of h_u) with all messages in memory."""
    speakers = torch.stack([x[nodes.tolist()].mean(0) for nodes in sets])  # [k, d]
    own, anchor = x @ layer.weight[0].T, speakers @ layer.weight[1].T
    t = s[..., None] if layer.gate is None else plain_gate(layer.gate, s[..., None])
    own = own[:, None]
    before = t * (own + anchor) if layer.message == "paper" else own + t * anchor
    messages = (before + layer.bias).relu()
    return messages @ layer.w + layer.w_bias, messages.mean(1)


@pytest.mark.parametrize("kernel", ["fused", "eager"])
@pytest.mark.parametrize("gate", ["none", "scalar"])
@pytest.mark.parametrize("message", ["paper", "released"])
def test_proximity_to_whole_sets_speaks_with_the_mean(message, gate, kernel):
    s = torch.from_numpy(anchor_ppr(GRAPH, SETS)).double()
    layer = randomised(PGNNLayer(2, 3, agg_m="mean", message=message, gate=gate, kernel=kernel))
    x = features(10, 2)
    leaves = [x, *layer.parameters()]
    got = outputs_and_gradients(layer(x, Positions.from_proximity(s, SETS)), leaves)
    assert_same(got, outputs_and_gradients(mean_of_members(layer, x, s, SETS), leaves))


@pytest.mark.parametrize("kernel", ["fused", "eager"])
@pytest.mark.parametrize("gate", ["none", "scalar", "vector"])
def test_layer_reads_quantised_levels(gate, kernel):
    positions = Positions.from_proximity(anchor_ppr(GRAPH, SETS), SETS).to(dtype=torch.float64)
    coarse = positions.quantised()
    assert coarse.codes.dtype == torch.uint8
    assert int(coarse.codes.max()) == 255
    layer = randomised(PGNNLayer(2, 3, agg_m="mean", gate=gate, kernel=kernel))
    x = features(10, 2)
    leaves = [x, *layer.parameters()]
    dense = mean_of_members(layer, x, proximities(coarse), SETS)
    got = outputs_and_gradients(layer(x, coarse), leaves)
    assert_same(got, outputs_and_gradients(dense, leaves))


@pytest.mark.parametrize("kernel", ["fused", "eager"])
def test_union_equals_each_graph_alone(kernel):
    other = Graph.from_edges([(0, 1), (1, 2), (0, 2), (2, 3)])
    other_sets = AnchorSets.from_sets([[3], [0, 1], [2], [0, 1, 2, 3], [1]], 4)
    s = [torch.from_numpy(anchor_ppr(*each)) for each in ((GRAPH, SETS), (other, other_sets))]
    union = AnchorSets.union([SETS, other_sets])
    positions = Positions.from_proximity(torch.cat(s), union, batch=[0] * 10 + [1] * 4)
    layer = randomised(PGNNLayer(2, 3, agg_m="mean", gate="scalar", kernel=kernel))
    x = features(14, 2)
    leaves = [x, *layer.parameters()]
    alone = [
        layer(x[:10], Positions.from_proximity(s[0], SETS)),
        layer(x[10:], Positions.from_proximity(s[1], other_sets)),
    ]
    expected = outputs_and_gradients(map(torch.cat, zip(*alone, strict=True)), leaves)
    assert_same(outputs_and_gradients(layer(x, positions), leaves), expected)


def test_set_without_a_member_in_the_graph_is_not_reached():
    s = torch.tensor([[0.5], [0.25]])
    assert Positions.from_proximity(s, [[0]], batch=[0, 1]).nearest.tolist() == [[0], [-1]]


def test_anchor_sets_and_lists_are_grouped_alike():
    s, batch = torch.rand(10, 5), np.arange(10) % 3
    one = Positions.from_proximity(s, SETS, batch=batch)
    other = Positions.from_proximity(s, [nodes.tolist() for nodes in SETS], batch=batch)
    assert torch.equal(one.nearest, other.nearest)
    assert all(map(torch.equal, one.members, other.members))


# ---------------------------------------------------------------------- standardised


def slow_standing(proximity):
    """The formula of one graph, column by column, number by number."""
    result = np.zeros_like(proximity, dtype=np.float64)
    for i in range(proximity.shape[1]):
        logs = {v: math.log(s) for v, s in enumerate(proximity[:, i].tolist()) if s > 0}
        if not logs:
            continue
        mean = sum(logs.values()) / len(logs)
        deviation = math.sqrt(sum((log - mean) ** 2 for log in logs.values()) / len(logs))
        for v, log in logs.items():
            result[v, i] = 1 / (1 + math.exp(-(log - mean) / max(deviation, 1e-9)))
    return result


@st.composite
def proximities_with_sets(draw, max_nodes=9):
    """Numbers of many magnitudes, with zeros, and a non-empty set for each column."""
    n, k = draw(st.integers(1, max_nodes)), draw(st.integers(1, 4))
    number = st.sampled_from([0.0, 1e-30, 1e-6]) | st.floats(1e-8, 1.0)
    rows = draw(st.lists(st.lists(number, min_size=k, max_size=k), min_size=n, max_size=n))
    sets = [draw(st.lists(st.integers(0, n - 1), min_size=1, unique=True)) for _ in range(k)]
    return np.array(rows), [sorted(nodes) for nodes in sets]


def standing(proximity, sets, **options):
    return Positions.from_proximity(proximity, sets, **options).standardised().proximity.numpy()


@settings(max_examples=60)
@given(proximities_with_sets())
def test_standardised_equals_the_formula(problem):
    proximity, sets = problem
    np.testing.assert_allclose(standing(proximity, sets), slow_standing(proximity), atol=1e-6)


@settings(max_examples=40)
@given(st.lists(proximities_with_sets(), min_size=2, max_size=4))
def test_standardised_union_equals_each_graph_alone(graphs):
    k = min(len(sets) for _, sets in graphs)
    graphs = [(proximity[:, :k], sets[:k]) for proximity, sets in graphs]
    sizes = [len(proximity) for proximity, _ in graphs]
    starts = np.cumsum([0, *sizes])
    union_sets = [
        [v + start for (_, sets), start in zip(graphs, starts, strict=False) for v in sets[i]]
        for i in range(k)
    ]
    batch = np.repeat(np.arange(len(graphs)), sizes)
    union = standing(np.concatenate([p for p, _ in graphs]), union_sets, batch=batch)
    alone = np.concatenate([standing(p, sets) for p, sets in graphs])
    np.testing.assert_allclose(union, alone, rtol=1e-12)


@settings(max_examples=40)
@given(proximities_with_sets())
def test_standardised_keeps_zeros_and_lies_between_zero_and_one(problem):
    proximity, sets = problem
    result = standing(proximity, sets)
    assert np.array_equal(result == 0, proximity == 0)
    assert (result < 1).all()


def test_standardised_does_not_depend_on_the_scale():
    proximity = np.random.default_rng(0).random((20, 3))
    sets = [[0], [1, 2], [3]]
    np.testing.assert_allclose(standing(proximity, sets), standing(proximity * 1e-5, sets))


@pytest.mark.parametrize("number", [1.0, 0.1, 1e-7])
def test_standardised_of_equal_numbers_is_one_half(number):
    result = standing(np.full((7, 2), number, dtype=np.float32), [[0], [1]])
    np.testing.assert_allclose(result, 0.5, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_standardised_keeps_type_speakers_and_input(dtype):
    s = torch.tensor([[0.5], [0.2], [0.0]], dtype=dtype)
    before = Positions.from_proximity(s, [[0, 2]])
    after = before.standardised()
    assert after.proximity.dtype == dtype
    assert after.members is before.members
    assert torch.equal(after.nearest, before.nearest)
    assert s.tolist() == torch.tensor([[0.5], [0.2], [0.0]], dtype=dtype).tolist()


def test_standardised_set_without_a_member_in_the_graph_is_not_reached():
    s = torch.tensor([[0.5], [0.2], [0.3], [0.4]])
    result = Positions.from_proximity(s, [[0]], batch=[0, 0, 1, 1]).standardised().proximity
    assert (result[:2] > 0).all()
    assert result[2:].tolist() == [[0.0], [0.0]]


def test_standardised_refuses_hops_and_levels():
    hops = Positions(torch.zeros(2, 1, dtype=torch.int32), proximity=torch.ones(2, 1))
    levels = Positions.from_proximity(torch.ones(2, 1), [[0]]).quantised()
    for positions in (hops, levels):
        with pytest.raises(PGNNError, match="see from_proximity"):
            positions.standardised()


def test_standardised_leaves_its_input():
    proximity = torch.rand(6, 2, dtype=torch.float64) + 0.1
    before = proximity.clone()
    Positions.from_proximity(proximity, [[0], [1]]).standardised()
    assert torch.equal(proximity, before)


# ---------------------------------------------------------------------- quantised


def plain_codes(s):
    """Codes pair by pair, zeros set apart; logarithms by torch, whose rounding is its own."""
    bounds = s[s > 0].double().log()
    low, high = (float(bounds.min()), float(bounds.max())) if len(bounds) else (0.0, 0.0)
    step = max((high - low) / 254, 1e-12)
    scaled = ((s.log() - low) / step).tolist()
    return [
        [1 + min(max(round(c), 0), 254) if c > -torch.inf else 0 for c in row] for row in scaled
    ]


@given(st.data(), st.booleans())
@settings(max_examples=60)
def test_quantised_codes_are_the_nearest_levels(data, zeros):
    value = st.floats(2**-20, 1.0, width=32) | st.just(0.0 if zeros else 0.5)
    row = st.lists(value, min_size=3, max_size=3)
    s = torch.tensor(data.draw(st.lists(row, min_size=1, max_size=20)))
    result = Positions.from_proximity(s, [[0]] * 3).quantised()
    assert result.codes.tolist() == plain_codes(s)


@given(st.data(), st.sampled_from([torch.float32, torch.float64]))
@settings(max_examples=60)
def test_quantised_error_is_as_small_as_documented(data, dtype):
    exponent = st.floats(-12, 2)
    value = st.just(0.0) | exponent.map(lambda e: 10**e)
    rows = data.draw(st.lists(st.tuples(value, value), min_size=1, max_size=30))
    s = torch.tensor(rows, dtype=dtype)
    exact = Positions.from_proximity(s, [[0], [0]])
    got = proximities(exact.quantised())
    assert got.dtype == dtype
    assert torch.equal(got == 0, s == 0)
    positive = s[s > 0].double()
    if positive.numel():
        bound = float(positive.max() / positive.min()) ** (1 / 508) - 1
        error = ((got[s > 0].double() - positive).abs() / positive).max()
        assert error <= bound + (1e-5 if dtype == torch.float32 else 1e-10)


def test_quantised_error_is_not_far_below_the_bound():
    """So that the bound says something: evenly spread logarithms reach most of it."""
    s = torch.logspace(-6, 0, 5000, dtype=torch.float64)[:, None]
    got = proximities(Positions.from_proximity(s, [[0]]).quantised())
    bound = 1e6 ** (1 / 508) - 1
    assert 0.9 * bound < ((got - s).abs() / s).max() <= bound
    assert bound == pytest.approx(0.028, abs=5e-4)


def test_quantised_codes_are_left_as_they_are():
    positions = Positions.from_distances(HOPS)
    assert positions.quantised() is positions


def test_quantised_of_nothing_but_zeros_is_zero():
    positions = Positions.from_proximity(torch.zeros(2, 1), [[0]]).quantised()
    assert proximities(positions).tolist() == [[0], [0]]


# ---------------------------------------------------------------------- copies and errors


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_to_changes_floats_alone(dtype):
    codes = Positions.from_distances(HOPS).to(dtype=dtype)
    assert (codes.levels.dtype, codes.codes.dtype) == (dtype, torch.int8)
    exact = Positions.from_proximity(anchor_ppr(GRAPH, SETS), SETS).to(dtype=dtype)
    assert (exact.proximity.dtype, exact.nearest.dtype) == (dtype, torch.int32)
    assert exact.members[0].dtype == torch.int64


def test_to_moves_every_tensor():
    moved = Positions.from_proximity(anchor_ppr(GRAPH, SETS), SETS).to("meta")
    tensors = [moved.nearest, moved.proximity, *moved.members]
    assert {str(tensor.device) for tensor in tensors} == {str(moved.device)} == {"meta"}


def test_repr_says_what_is_held():
    exact = Positions.from_proximity(anchor_ppr(GRAPH, SETS), SETS)
    assert repr(exact) == "Positions(exact, mean, num_nodes=10, num_sets=5)"
    assert repr(exact.quantised()) == "Positions(256 levels, mean, num_nodes=10, num_sets=5)"
    closest = Positions.from_distances(HOPS)
    assert repr(closest) == "Positions(6 levels, closest, num_nodes=10, num_sets=5)"


@pytest.mark.parametrize(
    ("fields", "match"),
    [
        ({}, r"result of pgnn.anchor_distances or Positions \(got SimpleNamespace\)"),
        ({"nearest": [[0]]}, "either hops or lengths"),
        ({"nearest": [[0]], "hops": [[0]], "lengths": [[0.0]]}, "either hops or lengths"),
        ({"nearest": [[0]], "hops": [[0, 1]]}, r"same shape .*\(got \[1, 1\] and \[1, 2\]\)"),
        ({"nearest": [0], "hops": [0]}, r"same shape \[n, k\] \(got \[1\] and \[1\]\)"),
        ({"nearest": np.empty((3, 0), int), "hops": np.empty((3, 0), int)}, "at least one anchor-"),
        ({"nearest": [[0.0]], "hops": [[0]]}, r"nearest must be integers \(got torch.float64\)"),
        ({"nearest": [[0]], "hops": [[0.5]]}, r"hops must be integers \(got torch.float64\)"),
        ({"nearest": [[0]], "hops": [[-2]]}, r"or -1 for not reached \(got -2\)"),
        ({"nearest": [[0], [2]], "hops": [[0], [1]]}, "names node 2, but there are 2 nodes"),
        ({"nearest": [[0], [-2]], "hops": [[0], [1]]}, "names node -2, but there are 2 nodes"),
        ({"nearest": [[0]], "lengths": [[-0.5]]}, "lengths must be numbers >= 0"),
        ({"nearest": [[0]], "lengths": [[float("nan")]]}, "lengths must be numbers >= 0"),
    ],
)
def test_distances_that_cannot_be_are_named(fields, match):
    with pytest.raises(PGNNError, match=match):
        Positions.from_distances(SimpleNamespace(**fields))


@pytest.mark.parametrize(
    ("proximity", "sets", "options", "match"),
    [
        ([0.5], [[0]], {}, r"floats \[n, k\], k >= 1 \(got torch.float64 of shape \[1\]\)"),
        ([[1]], [[0]], {}, r"must be floats .*\(got torch.int64"),
        (np.empty((2, 0)), [], {}, r"k >= 1 .*shape \[2, 0\]"),
        ([[-0.5]], [[0]], {}, "must be finite numbers >= 0"),
        ([[float("nan")]], [[0]], {}, "must be finite numbers >= 0"),
        ([[float("inf")]], [[0]], {}, "must be finite numbers >= 0"),
        ([[0.5, 0.5]], [[0]], {}, "has 2 columns, but there are 1 sets"),
        ([[0.5]], [[1]], {}, r"nodes that are not in 0..0"),
        ([[0.5]], [[-1]], {}, r"nodes that are not in 0..0"),
        ([[0.5]], [[0]], {"batch": [0, 0]}, r"batch must have shape \[1\] \(got \[2\]\)"),
        ([[0.5]], [[0]], {"batch": [-1]}, r"number the graphs from 0 \(got -1\)"),
    ],
)
def test_proximities_that_cannot_be_are_named(proximity, sets, options, match):
    with pytest.raises(PGNNError, match=match):
        Positions.from_proximity(proximity, sets, **options)


PPR = Positions.from_proximity(anchor_ppr(GRAPH, SETS), SETS)


@pytest.mark.parametrize("change", ["once", "twice"])
@pytest.mark.parametrize(
    ("positions", "changes", "match"),
    [
        (HOPS, {"nearest": torch.full((10, 5), 99)}, "nearest names node 99, but there are 10"),
        (HOPS, {"nearest": torch.full((10, 5), -2)}, "nearest names node -2, but there are 10"),
        (HOPS, {"codes": torch.full((10, 5), 99)}, r"codes must lie in -1..4.*\(got 99\)"),
        (HOPS, {"codes": torch.zeros(3, 5).int()}, r"same shape .*\[10, 5\] and \[3, 5\]"),
        (HOPS, {"levels": torch.ones(2)}, r"codes must lie in -1..0"),
        (HOPS, {"levels": torch.ones(6, 2)}, r"levels must be floats \[codes\]"),
        (HOPS, {"first_code": 7}, r"codes must lie in 7..12"),
        (PPR, {"nearest": torch.full((10, 5), 5)}, "nearest names group 5, but there are 5 groups"),
        (PPR, {"proximity": -torch.ones(10, 5)}, "finite numbers >= 0"),
        (PPR, {"members": (torch.tensor([0, 9]), torch.tensor([0]))}, "bounds of members"),
        (PPR, {"members": (torch.tensor([0, 1]), torch.tensor([77]))}, "not in 0..9"),
    ],
)
def test_replaced_positions_are_checked_again(positions, changes, match, change):
    """What was valid before says nothing about the changed tensors, which kernels index by."""
    if not isinstance(positions, Positions):
        positions = Positions.from_distances(positions)
    if change == "twice":
        positions = replace(positions.to(dtype=torch.float32))
    with pytest.raises(PGNNError, match=match):
        replace(positions, **changes)


def test_replaced_positions_that_are_right_are_taken():
    positions = Positions.from_distances(HOPS)
    closer = replace(positions, levels=positions.levels / 2)
    assert torch.equal(proximities(closer), proximities(positions) / 2)


# ---------------------------------------------------------------------- changed past the check


def codes_of_a_path():
    path = Graph.from_edges([(0, 1), (1, 2), (2, 3)])
    return Positions.from_distances(anchor_distances(path, [[0], [3]]))


@pytest.mark.parametrize("name", ["nearest", "codes"])
@pytest.mark.parametrize("value", [10**6, -5])
def test_a_tensor_changed_in_place_is_checked_before_a_kernel_reads_it(name, value):
    positions = codes_of_a_path()
    layer = PGNNLayer(2, 4)
    layer(torch.ones(4, 2), positions)
    tensor = getattr(positions, name)
    tensor[0, 0] = value if tensor.dtype != torch.int8 else max(-128, min(value, 127))
    with pytest.raises(PGNNError, match=r"nearest names node|codes must lie"):
        layer(torch.ones(4, 2), positions)


def test_a_wide_index_does_not_wrap():
    with pytest.raises(PGNNError, match="nearest names node 4294967296"):
        replace(codes_of_a_path(), nearest=torch.full((4, 2), 2**32))


def test_wide_indices_and_expanded_tensors_give_what_plain_ones_give():
    positions = codes_of_a_path()
    layer, x = PGNNLayer(2, 4), torch.ones(4, 2)
    wide = replace(positions, nearest=positions.nearest.long(), codes=positions.codes.long())
    for got, expected in zip(layer(x, wide), layer(x, positions), strict=True):
        assert torch.equal(got, expected)
    row = torch.zeros(1, 2, dtype=torch.int32)
    expanded = replace(positions, nearest=row.expand(4, 2))
    plain = replace(positions, nearest=row.repeat(4, 1))
    for got, expected in zip(layer(x, expanded), layer(x, plain), strict=True):
        assert torch.equal(got, expected)


def test_arrays_that_may_be_written_to_are_copied():
    d = SimpleNamespace(hops=np.zeros((2, 1), dtype=np.int8), nearest=np.zeros((2, 1), np.int32))
    positions = Positions.from_distances(d)
    d.nearest[:] = 10**8
    assert positions.nearest.max() == 0


def test_writing_to_positions_changes_neither_distances_nor_other_positions():
    """Torch counts changes of each tensor alone; another of the same memory once went unseen."""
    distances = anchor_distances(Graph.from_edges([(0, 1)]), [[0]])
    first, second = (Positions.from_distances(distances) for _ in range(2))
    first.nearest.fill_(10**8)
    first.codes.fill_(100)
    assert second.nearest.tolist() == distances.nearest.tolist() == [[0], [0]]
    assert second.codes.tolist() == distances.hops.tolist() == [[0], [1]]


def test_positions_that_are_not_handed_on_share_the_memory_of_distances():
    distances = anchor_distances(Graph.from_edges([(0, 1)]), [[0]])
    shared = shared_positions(distances).codes.numpy()
    assert np.shares_memory(shared, distances.hops)
    assert not distances.hops.flags.writeable


def test_unpickled_positions_are_checked():
    positions = codes_of_a_path()
    positions.nearest[0, 0] = 99
    with pytest.raises(PGNNError, match="nearest names node 99"):
        copy.deepcopy(positions)


# ---------------------------------------------------------------------- parts


def test_split_gives_each_part_what_it_would_be_alone():
    sets = [SETS[i] for i in range(3)] + [[4], [0, 9], [2, 3]]
    parts = Positions.from_distances(anchor_distances(GRAPH, sets)).split(2)
    for part, some in zip(parts, (sets[:3], sets[3:]), strict=True):
        alone = Positions.from_distances(anchor_distances(GRAPH, some))
        assert torch.equal(part.nearest, alone.nearest)
        assert torch.equal(part.codes, alone.codes)
        assert torch.equal(part.levels, alone.levels)
        assert part.nearest.is_contiguous()
        part.codes.fill_(100)
        with pytest.raises(PGNNError, match="codes must lie in"):
            part.checked()


@pytest.mark.parametrize("num_parts", [0, 4, 2])
def test_split_refuses_parts_that_are_not_equal(num_parts):
    positions = Positions.from_distances(anchor_distances(GRAPH, [[0], [1], [2]]))
    with pytest.raises(PGNNError, match="num_parts must"):
        positions.split(num_parts)


def test_split_refuses_positions_of_whole_sets():
    with pytest.raises(PGNNError, match="only positions that are hops"):
        Positions.from_proximity(anchor_ppr(GRAPH, SETS), SETS).split(1)
