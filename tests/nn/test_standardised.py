"""How proximities to whole sets stand among the nodes of a graph."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pgnn import PGNNError
from pgnn.nn import Positions


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
def proximities(draw, max_nodes=9):
    """Numbers of many magnitudes, with zeros, and a non-empty set for each column."""
    n, k = draw(st.integers(1, max_nodes)), draw(st.integers(1, 4))
    number = st.sampled_from([0.0, 1e-30, 1e-6]) | st.floats(1e-8, 1.0)
    rows = draw(st.lists(st.lists(number, min_size=k, max_size=k), min_size=n, max_size=n))
    sets = [draw(st.lists(st.integers(0, n - 1), min_size=1, unique=True)) for _ in range(k)]
    return np.array(rows), [sorted(nodes) for nodes in sets]


def standing(proximity, sets, **options):
    return Positions.from_proximity(proximity, sets, **options).standardised().proximity.numpy()


@settings(max_examples=60)
@given(proximities())
def test_standardised_equals_the_formula(given_numbers):
    proximity, sets = given_numbers
    np.testing.assert_allclose(standing(proximity, sets), slow_standing(proximity), atol=1e-6)


@settings(max_examples=40)
@given(st.lists(proximities(), min_size=2, max_size=4))
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
@given(proximities())
def test_standardised_keeps_zeros_and_lies_between_zero_and_one(given_numbers):
    proximity, sets = given_numbers
    found = standing(proximity, sets)
    assert np.array_equal(found == 0, proximity == 0)
    assert (found < 1).all()


def test_standardised_does_not_depend_on_the_scale():
    proximity = np.random.default_rng(0).random((20, 3))
    sets = [[0], [1, 2], [3]]
    np.testing.assert_allclose(standing(proximity, sets), standing(proximity * 1e-5, sets))


@pytest.mark.parametrize("number", [1.0, 0.1, 1e-7])
def test_standardised_of_equal_numbers_is_one_half(number):
    found = standing(np.full((7, 2), number, dtype=np.float32), [[0], [1]])
    np.testing.assert_allclose(found, 0.5, atol=1e-5)


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
    found = Positions.from_proximity(s, [[0]], batch=[0, 0, 1, 1]).standardised().proximity
    assert (found[:2] > 0).all()
    assert found[2:].tolist() == [[0.0], [0.0]]


def test_standardised_refuses_hops_and_levels():
    hops = Positions(torch.zeros(2, 1, dtype=torch.int32), proximity=torch.ones(2, 1))
    levels = Positions.from_proximity(torch.ones(2, 1), [[0]]).quantised()
    for positions in (hops, levels):
        with pytest.raises(PGNNError, match="see from_proximity"):
            positions.standardised()


def torch_standing(positions):
    """The same sums in the same order, by torch's operations."""
    s, reached = positions.proximity, (positions.proximity > 0) & (positions.nearest >= 0)
    group, logs = positions.nearest[reached].long(), s[reached].double().log()
    groups = len(positions.members[0]) - 1
    count = torch.bincount(group, minlength=groups).clamp(min=1)

    def mean(values):
        return values.new_zeros(groups).index_add_(0, group, values) / count

    logs = logs - mean(logs)[group]
    deviation = mean(logs.square()).sqrt()[group].clamp(min=1e-9)
    standing = torch.zeros_like(s)
    standing[reached] = torch.sigmoid(logs / deviation).to(s.dtype)
    return standing


@settings(max_examples=60)
@given(proximities(max_nodes=40), st.sampled_from([np.float32, np.float64]), st.booleans())
def test_standardised_equals_the_same_sums_by_torch(given_numbers, dtype, everywhere):
    proximity, sets = given_numbers
    proximity = (proximity + 1e-3 if everywhere else proximity).astype(dtype)
    batch = np.arange(len(proximity)) % 2
    positions = Positions.from_proximity(proximity, sets, batch=batch)
    found, wanted = positions.standardised().proximity, torch_standing(positions)
    # Not to the bit: torch computes the end of an array, past its vectors, in another way.
    torch.testing.assert_close(found, wanted, rtol=1e-12 if dtype is np.float64 else 1e-6, atol=0)


def test_standardised_leaves_what_it_was_given():
    proximity = torch.rand(6, 2, dtype=torch.float64) + 0.1
    before = proximity.clone()
    Positions.from_proximity(proximity, [[0], [1]]).standardised()
    assert torch.equal(proximity, before)
