"""Vector operations on rows of keys against the same in numpy, for every width of key."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from pgnn.positions.kernels import rows

WIDTHS = pytest.mark.parametrize("key_type", [np.uint16, np.uint32, np.uint64])
SHIFT = 8


@njit
def fill(key, row, mask, value, rest):
    rows.fill_row(key, row, mask, value, rest)


@njit
def relax(key, row, source, step):
    rows.relax_row(key, row, source, step)


@njit
def pull(key, row, step, indices, start, stop, ahead):
    return rows.pull_row(key, row, step, indices, start, stop, ahead)


@njit
def exchange(key, row, step, indices, start, stop):
    rows.exchange_row(key, row, step, indices, start, stop)


@njit
def first(key, row, level, indices, start, stop, front, need):
    return rows.first_row(key, row, level, indices, start, stop, front, need)


@njit
def below(key, row, bound):
    return rows.lanes_below(key, row, bound)


@njit
def emit(key, row, shift, bound, hops, nearest, out_row, column):
    rows.emit_row(key, row, shift, bound, hops, nearest, out_row, column)


@njit
def emit_ranked(key, row, shift, bound, hops, nearest, out_row, column, nodes, start, offsets):
    rows.emit_ranked_row(
        key, row, shift, bound, hops, nearest, out_row, column, nodes, start, offsets
    )


@njit
def lowest(word):
    return rows.lowest_bit(word)


@njit
def fetch_key(key, row):
    rows.fetch_row(key, row)
    return key[row, 0]


@njit
def fetch(array, index):
    rows.fetch_early(array, index)
    return array[index]


def test_lowest_bit_is_the_place_of_the_first_one():
    for place in (0, 1, 31, 63):
        assert lowest(np.uint64(1 << place)) == place
        assert lowest(np.uint64((1 << 63) | (1 << place))) == place


def test_fetching_early_changes_nothing():
    assert fetch(np.arange(5.0), 3) == 3
    assert fetch(np.arange(5, dtype=np.int32), 4) == 4
    assert fetch_key(np.arange(16, dtype=np.uint32).reshape(1, 16), 0) == 0


def test_aligned_arrays_start_at_a_cache_line():
    for shape, dtype in (((3, 5), np.int8), ((1000, 361), np.int32), ((0, 4), np.int16)):
        array = rows.empty_aligned(shape, dtype)
        assert (array.shape, array.dtype) == (shape, dtype)
        assert array.ctypes.data % rows.ROW_BYTES == 0 or array.size == 0
        assert array.flags.c_contiguous


def random_keys(key_type, seed, num_rows=6):
    """Keys of a few levels and anchors, so that lanes tie."""
    key = rows.empty_rows(num_rows, key_type)
    rng = np.random.default_rng(seed)
    key[:] = (rng.integers(0, 5, key.shape) << SHIFT) + rng.integers(0, 4, key.shape)
    return key, rng


def mask_of(lanes, key):
    """One bit per lane, in the type of masks."""
    mask = sum(1 << lane for lane, yes in enumerate(lanes) if yes)
    return (np.uint32 if key.shape[1] == 32 else np.uint16)(mask)


@WIDTHS
def test_rows_are_cache_lines(key_type):
    key = rows.empty_rows(5, key_type)
    assert key.shape == (5, rows.ROW_BYTES // np.dtype(key_type).itemsize)
    assert key.ctypes.data % rows.ROW_BYTES == 0


@WIDTHS
@given(seed=st.integers(0, 999))
@settings(max_examples=20)
def test_fill_and_relax_are_numpys_where_and_minimum(key_type, seed):
    key, rng = random_keys(key_type, seed)
    chosen = rng.random(key.shape[1]) < 0.5
    fill(key, 2, mask_of(chosen, key), key_type(7), key_type(9))
    assert key[2].tolist() == np.where(chosen, 7, 9).tolist()
    expected = np.minimum(key[3], key[4] + key_type(1 << SHIFT))
    relax(key, 3, 4, key_type(1 << SHIFT))
    assert key[3].tolist() == expected.tolist()


@WIDTHS
@given(seed=st.integers(0, 999), ahead=st.sampled_from([0, 3]), count=st.integers(0, 6))
@settings(max_examples=30)
def test_pull_takes_the_least_neighbour_and_tells_what_improved(key_type, seed, ahead, count):
    key, rng = random_keys(key_type, seed)
    indices = rng.integers(1, 6, 8).astype(np.uint32)
    step, before = key_type(1 << SHIFT), key[0].copy()
    neighbours = key[indices[1 : 1 + count]]
    offered = (
        neighbours.min(axis=0) + step if count else np.full_like(before, np.iinfo(key_type).max)
    )
    mask = pull(key, 0, step, indices, 1, 1 + count, ahead)
    assert key[0].tolist() == np.minimum(before, offered).tolist()
    assert mask == mask_of(offered < before, key)


@WIDTHS
@given(seed=st.integers(0, 999), count=st.integers(0, 5))
@settings(max_examples=30)
def test_exchange_lowers_a_row_and_its_neighbours_to_what_the_other_offers(key_type, seed, count):
    key, rng = random_keys(key_type, seed)
    before = key.copy()
    indices = np.concatenate([[0], rng.permutation(np.arange(1, 6))]).astype(np.uint32)
    step, neighbours = key_type(1 << SHIFT), indices[1 : 1 + count]
    exchange(key, 0, step, indices, 1, 1 + count)
    expected = before.copy()
    expected[neighbours] = np.minimum(before[neighbours], before[0] + step)
    expected[0] = np.min([before[0], *(before[neighbours] + step)], axis=0)
    assert key.tolist() == expected.tolist()


@WIDTHS
@given(seed=st.integers(0, 999))
@settings(max_examples=30)
def test_first_names_the_first_neighbour_in_front(key_type, seed):
    key, rng = random_keys(key_type, seed)
    lanes, indices = key.shape[1], rng.permutation(np.arange(1, 6)).astype(np.uint32)
    member = rng.random((6, lanes)) < 0.3
    needed = rng.random(lanes) < 0.7
    front = np.array([mask_of(row, key) for row in member])
    expected, served = key[0].copy(), np.zeros(lanes, dtype=bool)
    for lane in np.flatnonzero(needed):
        for u in indices[1:4]:
            if member[u, lane]:
                expected[lane], served[lane] = (1 << SHIFT) | int(u), True
                break
    mask = first(key, 0, key_type(1 << SHIFT), indices, 1, 4, front, mask_of(needed, key))
    assert key[0].tolist() == expected.tolist()
    assert mask == mask_of(served, key)


@WIDTHS
@given(seed=st.integers(0, 999), bound=st.integers(0, 5 << SHIFT))
@settings(max_examples=20)
def test_lanes_below_are_those_below(key_type, seed, bound):
    key, _ = random_keys(key_type, seed)
    assert below(key, 1, key_type(bound)) == mask_of(key[1] < bound, key)


@pytest.mark.parametrize("key_type", [np.uint32, np.uint64])  # keys of 16 bits hold ranks
@pytest.mark.parametrize("hops_type", [np.int8, np.int16])
@given(seed=st.integers(0, 999))
@settings(max_examples=20)
def test_emit_splits_keys_into_hops_and_anchors(key_type, hops_type, seed):
    key, _ = random_keys(key_type, seed)
    lanes, bound = key.shape[1], 3 << SHIFT
    hops = np.zeros((3, lanes + 5), dtype=hops_type)
    nearest = np.zeros((3, lanes + 5), dtype=np.int32)
    emit(key, 4, key_type(SHIFT), key_type(bound), hops, nearest, 1, 2)
    numbers = key[4].astype(np.int64)
    expected = np.where(numbers < bound, [numbers >> SHIFT, numbers % (1 << SHIFT)], -1)
    assert [
        hops[1, 2 : 2 + lanes].tolist(),
        nearest[1, 2 : 2 + lanes].tolist(),
    ] == expected.tolist()
    for out in (hops, nearest):
        assert not out[[0, 2]].any()
        assert not out[1, :2].any()
        assert not out[1, 2 + lanes :].any()


@given(seed=st.integers(0, 999))
@settings(max_examples=20)
def test_emit_ranked_looks_the_anchor_up_in_its_set(seed):
    key, rng = random_keys(np.uint16, seed)
    bound, start = 3 << SHIFT, 2
    offsets = (4 * np.arange(32)).astype(np.uint32)  # ranks are below 4
    nodes = rng.integers(0, 1000, 2 + 4 * 32).astype(np.uint32)
    hops, nearest = np.zeros((2, 40), dtype=np.int8), np.zeros((2, 40), dtype=np.int32)
    emit_ranked(
        key, 5, np.uint16(SHIFT), np.uint16(bound), hops, nearest, 1, 3, nodes, start, offsets
    )
    for lane, number in enumerate(key[5].tolist()):
        level, rank = divmod(number, 1 << SHIFT)
        anchor = int(nodes[start + 4 * lane + rank])
        expected = (level, anchor) if number < bound else (-1, -1)
        assert (hops[1, 3 + lane], nearest[1, 3 + lane]) == expected
