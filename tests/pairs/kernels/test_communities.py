"""Annealed groups against the slow twin, and what they must find."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pgnn import Graph
from pgnn.pairs.kernels.communities import anneal_groups
from pgnn.pairs.reference import reference_groups
from strategies import graphs


def annealed(graph, *, seed, sweeps=6, resolution=1.0, num_groups=4, weights=None):
    """The arguments of one run, and the groups it ends with."""
    rng, n = np.random.default_rng(seed), graph.num_nodes
    start = rng.integers(num_groups, size=n)
    course = (rng.permutation(n), rng.random((sweeps, n)), np.geomspace(2, 0.2, sweeps))
    strengths = np.ones(len(graph.indices)) if weights is None else weights
    of_node = np.bincount(np.repeat(np.arange(n), graph.degrees), strengths, minlength=n)
    groups = start.copy()
    rows = (graph.indptr, graph.indices, strengths, of_node.astype(float))
    anneal_groups(rows, *course, resolution, num_groups, groups)
    return (*course, resolution, num_groups, start), groups


@given(
    graph=graphs(directed=False, weighted=False),
    seed=st.integers(0, 1000),
    resolution=st.sampled_from([0.5, 1.0, 1.4]),
)
def test_groups_equal_the_twin(graph, seed, resolution):
    course, groups = annealed(graph, seed=seed, resolution=resolution)
    assert groups.tolist() == reference_groups(graph, *course)


def test_same_seed_gives_the_same_groups():
    ring = Graph.from_edges([(v, (v + 1) % 30) for v in range(30)])
    assert (annealed(ring, seed=3)[1] == annealed(ring, seed=3)[1]).all()


def test_lone_node_keeps_its_group():
    graph = Graph.from_edges([(0, 1), (1, 2)], 4)
    (*_, start), groups = annealed(graph, seed=0)
    assert groups[3] == start[3]


def test_weak_edges_do_not_hold_groups_together():
    cliques = [(a + 8 * k, b + 8 * k) for k in (0, 1) for a in range(8) for b in range(a)]
    bridges = [(v, v + 8) for v in range(8)]
    graph = Graph.from_edges(cliques + bridges)
    rows = np.repeat(np.arange(16), graph.degrees)
    weights = np.where(rows // 8 == graph.indices // 8, 1.0, 1e-3)
    groups = annealed(graph, seed=1, sweeps=20, num_groups=2, weights=weights)[1]
    assert len(set(groups[:8])) == len(set(groups[8:])) == 1
    assert groups[0] != groups[8]
