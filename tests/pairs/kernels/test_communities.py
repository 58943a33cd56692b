"""Annealed groups: the compiled loop against the same loop in plain Python."""

import networkx as nx
import numpy as np
import pytest

from pgnn.pairs.kernels.communities import anneal_groups


def annealed_slowly(edges, n, order, uniforms, temperatures, resolution, num_groups, groups):
    weight = np.zeros((n, n))
    for u, v in edges:
        weight[u, v] = weight[v, u] = 1.0
    strength, groups = weight.sum(axis=1), groups.copy()
    for sweep, temperature in enumerate(temperatures):
        for v in order:
            if not strength[v]:
                continue
            gain = np.empty(num_groups)
            for c in range(num_groups):
                others = [u for u in range(n) if u != v and groups[u] == c]
                mass = strength[others].sum()
                gain[c] = weight[v, others].sum() - resolution * strength[v] * mass / strength.sum()
            chance = np.exp((gain - gain.max()) / temperature)
            target = uniforms[sweep, v] * chance.sum()
            groups[v] = min(np.searchsorted(np.cumsum(chance), target), num_groups - 1)
    return groups


@pytest.mark.parametrize("seed", range(4))
def test_annealed_groups_equal_those_of_plain_loops(seed):
    graph = nx.gnp_random_graph(12, 0.3, seed=seed)
    matrix = nx.to_scipy_sparse_array(graph, dtype=float, format="csr")
    rng = np.random.default_rng(seed)
    order, uniforms = rng.permutation(12), rng.random((5, 12))
    temperatures = np.geomspace(2.0, 0.2, 5)
    start = rng.integers(4, size=12).astype(np.int8)
    groups = start.copy()
    rows = (
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int32),
        matrix.data,
        np.asarray(matrix.sum(axis=1)).ravel(),
    )
    anneal_groups(rows, order, uniforms, temperatures, 1.0, 4, groups)
    wanted = annealed_slowly(graph.edges, 12, order, uniforms, temperatures, 1.0, 4, start)
    assert groups.tolist() == wanted.tolist()
