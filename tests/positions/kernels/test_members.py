"""Means over members: as plain sums say, for sets and graphs around the sizes of blocks."""

import numpy as np
import pytest

from pgnn.positions import AnchorSets
from pgnn.positions.kernels import members


@pytest.mark.parametrize("size", [1, 5, 1023, 1024, 1025])
@pytest.mark.parametrize("count", [1, 3, 4, 5, 9])
def test_means_equal_plain_sums(size, count):
    rng = np.random.default_rng(size + count)
    sizes = np.array([size, 7])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    squares = [rng.random((n, n)).astype(np.float32) for n in sizes]
    kept = np.concatenate([square.reshape(-1) for square in squares])
    chosen = [np.sort(rng.permutation(size + 7)[:count]) for _ in range(3)]
    sets = AnchorSets.from_sets(chosen, size + 7)
    result = np.full((size + 7, 3), np.nan, dtype=np.float32)
    members.mean_over_members(
        kept, starts, sets.indptr, sets.nodes, members.block_of_sums(), result
    )
    for square, start, stop in zip(squares, starts[:-1], starts[1:], strict=True):
        for i, nodes in enumerate(chosen):
            inside = nodes[(nodes >= start) & (nodes < stop)] - start
            mean = square[inside].mean(0) if len(inside) else 0
            np.testing.assert_allclose(result[start:stop, i], mean, rtol=1e-5)
