"""Kernels of one part: turned rows, masks, messages."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from pgnn.distributed.kernels import parts


@njit
def counted_and_lowest(mask):
    return parts.count_bits(mask), parts.lowest_bit(mask)


@given(bits=st.integers(1, 2**16 - 1), kind=st.sampled_from([np.uint16, np.uint32]))
def test_bits_are_those_of_python(bits, kind):
    lowest = (bits & -bits).bit_length() - 1
    assert counted_and_lowest(kind(bits)) == (bits.bit_count(), lowest)


def test_turned_rows_lead_back():
    indptr = np.array([0, 2, 2, 4])
    indices = np.array([1, 3, 0, 3], dtype=np.uint32)  # 3: a ghost
    turned_ptr, turned_idx = np.empty(5, dtype=np.int64), np.empty(4, dtype=np.uint32)
    parts.turn_rows(indptr, indices, turned_ptr, turned_idx)
    assert turned_ptr.tolist() == [0, 1, 2, 2, 4]
    assert turned_idx.tolist() == [2, 0, 0, 2]


def test_what_is_packed_is_unpacked_at_the_ghosts():
    link_ptr = np.array([0, 1, 1, 2])
    links = link_ptr, np.array([1, 1], dtype=np.uint16), np.array([4, 0], dtype=np.uint32)
    key = np.arange(48, dtype=np.uint32).reshape(3, 16)
    front = np.array([0b101, 0b1, 0b10], dtype=np.uint16)
    frontier = np.array([0, 1, 2], dtype=np.uint32)
    counts = np.full((2, 4), -1)
    parts.count_messages(links, 3, front, frontier, counts)
    assert counts.tolist() == [[0, 0, -1, -1], [2, 3, -1, -1]]
    places, masks = np.zeros(2, dtype=np.uint32), np.zeros(2, dtype=np.uint16)
    keys = np.zeros(3, dtype=np.uint32)
    heads = np.array([[-1, -1, -1], [0, 0, 0]])
    parts.pack(links, 3, key, front, frontier, heads, places, masks, keys)
    assert (places.tolist(), masks.tolist(), keys.tolist()) == ([4, 0], [0b101, 0b10], [0, 2, 33])

    other = np.full((8, 16), 99, dtype=np.uint32)  # two own nodes, six ghosts
    its_front, listed = np.zeros(8, dtype=np.uint16), np.zeros(9, dtype=np.uint32)
    in_ptr = np.arange(9) ** 2
    edges = parts.unpack(places, masks, keys, 2, in_ptr, 1, other, its_front, listed)
    assert listed.tolist() == [0, 6, 2, 0, 0, 0, 0, 0, 0]
    assert edges == (49 - 36) + (9 - 4)
    assert (other[6, 0], other[6, 2], other[2, 1]) == (0, 2, 33)
    assert (other == 99).sum() == 8 * 16 - 3
