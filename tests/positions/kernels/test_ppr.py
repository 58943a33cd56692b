"""The step of the PageRank iteration against scipy's product and a loop over rows."""

import numpy as np
import pytest

from pgnn import Graph
from pgnn.positions.kernels.ppr import advance


@pytest.mark.parametrize("offset", [-9.0, 9.0])  # residuals of either sign are the largest
def test_step_is_the_formula_and_in_place_a_gauss_seidel_sweep(offset):
    rng = np.random.default_rng(0)
    matrix = Graph.from_edges(rng.integers(0, 30, (90, 2)), 30, directed=True).to_scipy()
    matrix.data = rng.random(len(matrix.data))
    source, current, previous = rng.random((3, 30, 4))
    current += offset
    landed = matrix @ current + source
    swept = current.copy()
    for v in range(30):
        swept[v] = (matrix[[v]] @ swept + source[v])[0]
    csr = (matrix.indptr.astype(np.int64), matrix.indices, matrix.data)

    stepped = previous.copy()
    residual = advance(*csr, source, current, stepped, 1.3)
    assert residual == pytest.approx(np.abs(landed - current).max())
    np.testing.assert_allclose(stepped, previous + 1.3 * (landed - previous))

    in_place = current.copy()
    change = advance(*csr, source, in_place, in_place, 1.0)
    assert change == pytest.approx(np.abs(swept - current).max())
    np.testing.assert_allclose(in_place, swept)
