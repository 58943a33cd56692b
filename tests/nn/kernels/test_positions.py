"""Groups of members and standing within groups, against slow loops and torch."""

import itertools

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nn.test_positions import proximities_with_sets
from pgnn.nn import Positions
from pgnn.nn.kernels.positions import group_members, standardise_groups


@given(st.data())
@settings(max_examples=60)
def test_groups_are_the_members_of_a_set_in_a_graph(data):
    n, k = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 4))
    node = st.integers(0, n - 1)
    sets = data.draw(st.lists(st.lists(node, unique=True), min_size=k, max_size=k))
    graph = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    indptr = np.cumsum([0, *map(len, sets)])
    flat = np.array([v for members in sets for v in members], dtype=np.int64)
    results = group_members(indptr, flat, np.array(graph), max(graph) + 1)
    bounds, nodes, nearest = (array.tolist() for array in results)
    groups = [nodes[start:stop] for start, stop in itertools.pairwise(bounds)]
    assert groups == [[v for v in s if graph[v] == g] for g in range(max(graph) + 1) for s in sets]
    speaking = [[g * k + i if groups[g * k + i] else -1 for i in range(k)] for g in graph]
    assert nearest == speaking


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
@given(
    proximities_with_sets(max_nodes=40), st.sampled_from([np.float32, np.float64]), st.booleans()
)
def test_standardised_equals_the_same_sums_by_torch(problem, dtype, everywhere):
    proximity, sets = problem
    proximity = (proximity + 1e-3 if everywhere else proximity).astype(dtype)
    batch = np.arange(len(proximity)) % 2
    positions = Positions.from_proximity(proximity, sets, batch=batch)
    standing, wanted = positions.standardised().proximity, torch_standing(positions)
    # Not to the bit: torch computes the end of an array, past its vectors, in another way.
    torch.testing.assert_close(
        standing, wanted, rtol=1e-12 if dtype is np.float64 else 1e-6, atol=0
    )


@given(st.lists(st.tuples(st.floats(-50, 50), st.integers(0, 3)), min_size=1, max_size=30))
def test_standing_is_the_value_minus_mean_over_deviation_of_its_group(pairs):
    values = np.array([value for value, _ in pairs])
    group = np.array([g for _, g in pairs])
    standing = values.copy()
    standardise_groups(standing, group, 5, 1e-9)
    for g in set(group.tolist()):
        own = values[group == g]
        expected = (own - own.mean()) / max(own.std(), 1e-9)
        if own.std() > 1e-6:  # else only the rounding of the mean would be compared
            np.testing.assert_allclose(standing[group == g], expected, rtol=1e-6, atol=1e-6)
