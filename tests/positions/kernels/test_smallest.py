"""The smallest keys of rows: those that sorting puts first."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pgnn.positions.kernels.smallest import mark_smallest

KEYS = st.floats(0, 1, exclude_max=True) | st.sampled_from([0.0, 0.5, 1 / 256, 1 - 2**-53])


@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_marked_are_those_that_sorting_puts_first(data):
    sizes = data.draw(st.lists(st.integers(1, 12), min_size=1, max_size=3))
    num_sets = data.draw(st.integers(1, 3))
    starts = np.cumsum([0, *sizes])
    row = st.lists(KEYS, min_size=sum(sizes), max_size=sum(sizes))
    keys = np.array(data.draw(st.lists(row, min_size=num_sets, max_size=num_sets)))
    counts = np.array(
        [[data.draw(st.integers(1, size)) for size in sizes] for _ in range(num_sets)]
    )
    marked = np.zeros(keys.shape, dtype=bool)
    mark_smallest(keys, starts, counts, marked)
    for t in range(num_sets):
        for g in range(len(sizes)):
            part = slice(starts[g], starts[g + 1])
            largest = np.sort(keys[t, part])[counts[t, g] - 1]
            assert np.array_equal(marked[t, part], keys[t, part] <= largest)


def test_marked_are_as_many_as_wanted_of_many_keys():
    keys = np.random.default_rng(0).random((4, 5000))
    counts = np.array([[1], [17], [2500], [5000]])
    marked = np.empty(keys.shape, dtype=bool)
    mark_smallest(keys, np.array([0, 5000]), counts, marked)
    assert marked.sum(1).tolist() == [1, 17, 2500, 5000]
