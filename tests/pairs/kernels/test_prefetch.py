"""A prefetch changes nothing, wherever it points."""

import numpy as np
import pytest
from numba import njit

from pgnn.pairs.kernels.prefetch import prefetch


@njit
def sum_after_prefetch(array, place):
    prefetch(array, place)
    return array.sum()


@pytest.mark.parametrize("dtype", [np.int32, np.float64])
@pytest.mark.parametrize("place", [0, 3, 4, 10**12, -(10**12)])
def test_prefetch_reads_and_changes_nothing(dtype, place):
    array = np.arange(4, dtype=dtype)
    assert sum_after_prefetch(array, place) == 6
    assert array.tolist() == [0, 1, 2, 3]


def test_prefetch_in_an_empty_array_does_no_harm():
    assert sum_after_prefetch(np.empty(0), 0) == 0
