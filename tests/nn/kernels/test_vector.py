"""Vectors of 128 bytes against numpy: loads and stores, arithmetic, gates."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from pgnn.nn.kernels import vector
from pgnn.nn.kernels.vector import VECTOR_BYTES

DTYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64])
SEEDS = given(seed=st.integers(0, 999))


def random_rows(dtype, seed, num_rows=5):
    """Rows of two vectors, as a view with gaps between them."""
    lanes = VECTOR_BYTES // np.dtype(dtype).itemsize
    wide = np.random.default_rng(seed).normal(size=(num_rows, 2 * lanes + 3)).astype(dtype)
    return wide[:, : 2 * lanes], lanes


@njit
def arithmetic(rows, column, out):
    a, b, c = (vector.load(rows, 0, column), vector.load(rows, 1, column), vector.load(rows, 2, 0))
    vector.store(out, 0, column, vector.add(a, b))
    vector.store(out, 1, column, vector.multiply(a, b))
    vector.store(out, 2, column, vector.multiply_add(a, b, c))
    vector.store(out, 3, column, vector.where_positive(a, b))
    vector.store(out, 4, column, vector.splat(vector.at(rows, 3, column)))
    return vector.total(a)


@DTYPES
@SEEDS
@settings(max_examples=20)
def test_arithmetic_is_numpys(dtype, seed):
    rows, lanes = random_rows(dtype, seed)
    rows[0, lanes + 1] = 0
    out = np.zeros_like(rows)
    total = arithmetic(rows, lanes, out)
    (a, b), c = rows[:2, lanes:], rows[2, :lanes]
    tolerance = 1e-5 if dtype is np.float32 else 1e-12
    expected = [a + b, a * b, a * b + c, np.where(a > 0, b, 0), np.full(lanes, rows[3, lanes])]
    np.testing.assert_allclose(out[:, lanes:], expected, rtol=tolerance, atol=tolerance)
    assert not out[:, :lanes].any()
    assert total == pytest.approx(a.sum(dtype=np.float64), abs=100 * tolerance)


@DTYPES
def test_not_a_number_counts_as_positive(dtype):
    rows, lanes = random_rows(dtype, 0)
    rows[0] = np.nan
    out = np.zeros_like(rows)
    arithmetic(rows, 0, out)
    np.testing.assert_array_equal(out[3, :lanes], rows[1, :lanes])


@njit
def read_or_zeros(rows, row, zeros, out):
    vector.prefetch(rows, row, 0)
    vector.store(out, 0, 0, vector.load_or_zeros(rows, row, 0, zeros))


@DTYPES
@pytest.mark.parametrize("row", [-1, 0, 3])
def test_absent_row_is_zeros(dtype, row):
    rows, lanes = random_rows(dtype, 1)
    out = np.ones((1, lanes), dtype=dtype)
    read_or_zeros(rows, row, np.zeros(lanes, dtype=dtype), out)
    assert out[0].tolist() == (rows[row, :lanes].tolist() if row >= 0 else [0] * lanes)


@njit
def copy_number(numbers, out):
    vector.put(out, 0, 1, vector.at(numbers, 1, 1))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.int64])
def test_integers_of_any_type_keep_their_sign(dtype):
    largest, least = np.iinfo(dtype).max, np.iinfo(dtype).min
    for number in (largest, least):
        numbers, out = np.full((2, 2), 7, dtype=dtype), np.zeros((1, 2), dtype=np.int64)
        numbers[1, 1] = number
        copy_number(numbers, out)
        assert out.tolist() == [[0, number]]


@njit
def gate_of(table, codes, row, i, first_code, column, out):
    vector.store(out, 0, 0, vector.gate(table, codes, row, i, first_code, column))


@njit
def gate_gradient(grad, codes, row, i, first_code, column, rows):
    a, b = vector.load(rows, 0, column), vector.load(rows, 1, column)
    vector.add_to_gate(grad, codes, row, i, first_code, column, a, b)


@DTYPES
def test_gate_is_the_entry_of_the_code_or_the_number_of_the_pair(dtype):
    rows, lanes = random_rows(dtype, 2)
    out, codes = np.empty((1, lanes), dtype=dtype), np.array([[4, 6], [5, 4]], dtype=np.int16)
    pairs = np.array([[0.5, 1.5], [2.5, 3.5]], dtype=dtype)
    table = np.array([10, 20, 30], dtype=dtype)
    gate_of(table, codes, 0, 1, 4, lanes, out)
    assert out[0].tolist() == [30] * lanes
    gate_of(rows, codes, 1, 0, 4, lanes, out)
    assert out[0].tolist() == rows[1, lanes:].tolist()
    gate_of(pairs, pairs, 1, 0, 4, lanes, out)
    assert out[0].tolist() == [2.5] * lanes


@DTYPES
def test_gradient_of_the_gate_goes_to_the_code_or_to_the_pair(dtype):
    rows, lanes = random_rows(dtype, 3)
    codes = np.array([[4, 6], [5, 4]], dtype=np.int16)
    product = (rows[0] * rows[1])[lanes:]
    by_code = np.ones((3, 2 * lanes), dtype=dtype)
    gate_gradient(by_code, codes, 1, 0, 4, lanes, rows)
    expected = np.ones_like(by_code)
    expected[1, lanes:] += product
    np.testing.assert_allclose(by_code, expected, rtol=1e-5)
    by_pair, pairs = np.ones((2, 2), dtype=dtype), np.zeros((2, 2), dtype=dtype)
    gate_gradient(by_pair, pairs, 0, 1, 4, lanes, rows)
    np.testing.assert_allclose(by_pair, [[1, 1 + product.sum()], [1, 1]], rtol=1e-4)


@pytest.mark.parametrize("function", [vector.gate, vector.add_to_gate])
def test_gates_are_for_kernels_alone(function):
    with pytest.raises(NotImplementedError, match="only kernels"):
        function(*[None] * (6 if function is vector.gate else 8))
