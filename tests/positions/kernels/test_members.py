"""Means over members: as plain sums say, for sets and graphs around the sizes of tiles."""

import numpy as np
import pytest

from pgnn.positions import AnchorSets
from pgnn.positions.kernels import members


@pytest.mark.parametrize("size", [1, 5, 15, 16, 17, 1025])
@pytest.mark.parametrize("count", [1, 3, 4, 5, 9])
def test_means_equal_plain_sums(size, count):
    rng = np.random.default_rng(size + count)
    sizes = np.array([size, 7])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    squares = [rng.random((n, n)).astype(np.float32) for n in sizes]
    tiles = [np.full(members.tiles_of(n), np.nan, dtype=np.float32) for n in sizes.tolist()]
    for square, tile in zip(squares, tiles, strict=True):
        members.fill_tiles(square.T, tile)
    kept = np.concatenate(tiles)
    assert np.isfinite(kept).all()
    chosen = [np.sort(rng.permutation(size + 7)[:count]) for _ in range(3)]
    sets = AnchorSets.from_sets(chosen, size + 7)
    result = np.full((size + 7, 3), np.nan, dtype=np.float32)
    members.mean_over_members(kept, starts, sets.indptr, sets.nodes, result)
    for square, start, stop in zip(squares, starts[:-1], starts[1:], strict=True):
        for i, nodes in enumerate(chosen):
            inside = nodes[(nodes >= start) & (nodes < stop)] - start
            mean = square[inside].mean(0) if len(inside) else 0
            np.testing.assert_allclose(result[start:stop, i], mean, rtol=1e-5)
