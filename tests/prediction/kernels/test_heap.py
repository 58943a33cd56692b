"""The heap keeps the best, in order; ties go by steps on the circle."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgnn.prediction.kernels.heap import offer, word_of, write_best_first

COSTS = st.floats(-(2.0**100), 2.0**100, width=32)


def best_of(costs, u, order, room):
    """Offer every node at its cost, and list those that were kept, best first."""
    heap = np.empty(room, dtype=np.int64)
    size = 0
    for v, cost in enumerate(costs):
        size = offer(heap, size, room, word_of(cost, u, v, order))
    assert size == min(room, len(costs))
    nodes = np.empty(size, dtype=np.int32)
    write_best_first(heap, size, u, order, np.argsort(order), nodes)
    return nodes.tolist()


@given(costs=st.lists(COSTS, min_size=1, max_size=30), room=st.integers(1, 32), data=st.data())
def test_heap_keeps_the_best_in_order(costs, room, data):
    n = len(costs)
    order = np.array(data.draw(st.permutations(range(n))))
    u = data.draw(st.integers(0, n - 1))
    expected = sorted(range(n), key=lambda v: (np.float32(costs[v]), (order[v] - order[u]) % n))
    assert best_of(costs, u, order, room) == expected[:room]


@given(one=COSTS, other=COSTS)
def test_words_are_in_the_order_of_costs(one, other):
    order = np.arange(2)
    words = [int(word_of(cost, 0, 1, order)) for cost in (one, other)]
    assert (words[0] < words[1]) == (one < other)
    assert (words[0] == words[1]) == (one == other)


def test_zero_and_minus_zero_are_the_same_cost():
    assert word_of(0.0, 0, 1, np.arange(2)) == word_of(-0.0, 0, 1, np.arange(2))


@pytest.mark.parametrize(("u", "expected"), [(0, [0, 1, 2]), (3, [3, 4, 0]), (4, [4, 0, 1])])
def test_ties_differ_from_node_to_node(u, expected):
    assert best_of([1.0] * 5, u, np.arange(5), 3) == expected
