"""The steps of the PageRank iteration against scipy's product and a loop over rows."""

import numpy as np
import pytest

from pgnn import Graph
from pgnn.positions.kernels.ppr import LANES, advance, settle, write_block

NUM_NODES = 30
HUB = 7  # has more entries than rows are asked for ahead


def walk_of(*, weighted):
    """A matrix as the kernels read it, and as scipy does."""
    rng = np.random.default_rng(0)
    edges = [*rng.integers(0, NUM_NODES, (60, 2)), *([HUB, v] for v in range(NUM_NODES - 5))]
    csr = Graph.from_edges(edges, NUM_NODES, directed=True).to_scipy()
    assert (np.diff(csr.indptr) == 0).any()
    csr.data = rng.random(len(csr.data)) if weighted else np.ones(len(csr.data))
    scale = rng.random(NUM_NODES)
    entries = csr.data.copy() if weighted else None
    matrix = (csr.indptr.astype(np.int64), csr.indices, entries, scale)
    return matrix, csr.multiply(scale[:, None]).tocsr()


def in_two_parts(kernel, matrix, *arguments):
    parts = ((0, 11), (11, NUM_NODES))
    return max(kernel(matrix, part, *arguments) for part in parts)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("offset", [-9.0, 9.0])  # residuals of either sign are the largest
def test_step_is_the_formula_and_in_place_a_gauss_seidel_sweep(offset, weighted, dtype):
    matrix, csr = walk_of(weighted=weighted)
    shape = (3, NUM_NODES, LANES)
    source, current, previous = np.random.default_rng(1).random(shape).astype(dtype)
    current += offset
    landed = csr @ current.astype(np.float64) + source
    swept = current.astype(np.float64)
    for v in range(NUM_NODES):
        swept[v] = (csr[[v]] @ swept + source[v])[0]
    close = {"rtol": 1e-12 if dtype == np.float64 else 2e-5}

    stepped = previous.copy()
    residual = in_two_parts(advance, matrix, source, current, stepped, 1.3)
    np.testing.assert_allclose(residual, np.abs(landed - current).max(), **close)
    np.testing.assert_allclose(stepped, previous + 1.3 * (landed - previous), atol=1e-4, **close)

    in_place = current.copy()
    change = in_two_parts(advance, matrix, source, in_place, in_place, 1.0)
    np.testing.assert_allclose(change, np.abs(swept - current).max(), **close)
    np.testing.assert_allclose(in_place, swept, atol=1e-3, **close)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_settling_moves_a_correction_to_the_solution_in_float64(weighted, dtype, sign):
    matrix, csr = walk_of(weighted=weighted)
    left_over, solution, correction = np.random.default_rng(2).random((3, NUM_NODES, LANES))
    correction = (sign * 9 * correction).astype(dtype)
    exact = correction.astype(np.float64)
    expected = left_over - exact + csr @ exact
    largest = np.abs(expected).max()
    expected_solution = solution + exact
    assert in_two_parts(settle, matrix, correction, left_over, solution) == pytest.approx(largest)
    np.testing.assert_allclose(left_over, expected, atol=1e-13)
    np.testing.assert_array_equal(solution, expected_solution)


def test_a_block_is_written_to_its_columns_and_is_not_negative():
    rng = np.random.default_rng(3)
    solution, left_over = rng.normal(size=(2, NUM_NODES, LANES))
    survival, scale = 0.5 + rng.random(NUM_NODES), rng.random(3)
    result = np.full((NUM_NODES, 6), 7.0, dtype=np.float32)
    write_block(solution, left_over, survival, scale, 2, result)
    share = ((solution + left_over) / survival[:, None])[:, :3]
    np.testing.assert_allclose(result[:, 2:5], np.maximum(share, 0) * scale, rtol=1e-6)
    assert (result[:, [0, 1, 5]] == 7).all()
