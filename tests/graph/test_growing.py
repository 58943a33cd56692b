"""Arrays that grow are what was appended."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pgnn.graph.growing import GrowingArray


@given(st.lists(st.integers(0, 3000), max_size=6), st.sampled_from([(), (2,)]))
def test_a_growing_array_is_its_blocks_together(lengths, width):
    rng = np.random.default_rng(len(lengths))
    blocks = [rng.integers(0, 9, (length, *width)) for length in lengths]
    array = GrowingArray(np.int32, width)
    for block in blocks:
        array.append(block)
    whole = np.concatenate([np.empty((0, *width), dtype=np.int32), *blocks])
    assert len(array) == len(whole)
    assert np.array_equal(array.rows, whole)
    taken = array.taken()
    assert taken.flags.owndata
    assert taken.dtype == np.int32
    assert np.array_equal(taken, whole)
    assert len(array) == 0


def test_widening_keeps_the_numbers_and_takes_larger_ones():
    array = GrowingArray(np.int32)
    array.append(np.array([1, 2]))
    array.widen(np.int64)
    array.append(np.array([2**40]))
    assert array.taken().tolist() == [1, 2, 2**40]
