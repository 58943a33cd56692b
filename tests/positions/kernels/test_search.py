"""Each search kernel by itself against the oracle and scipy, on any graph and on families."""

from contextlib import contextmanager

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra

from pgnn import Graph, anchor_distances, sample_anchor_sets
from pgnn.positions import hops as _hops
from pgnn.positions.reference import reference_distances
from strategies import graphs_with_sets


def assert_same(result, distance, nearest):
    expected = np.where(np.isinf(distance), -1, distance)
    np.testing.assert_array_equal(result.hops, expected)
    np.testing.assert_array_equal(result.nearest, nearest)


@contextmanager
def only(kernel):
    """Let one kernel do all the work: the rule's choice, or a later one of its choices."""
    with pytest.MonkeyPatch.context() as patch:
        if "without ranks" in kernel:
            patch.setattr(_hops, "MAX_RANKED", 0)
        if "push" in kernel:
            patch.setattr(_hops, "PUSH_ADVANTAGE", 0)
        if "pull" in kernel or "exchange" in kernel:
            patch.setattr(_hops, "PUSH_ADVANTAGE", 1 << 40)
            patch.setattr(_hops, "EXCHANGE_ADVANTAGE", 0 if "pull" in kernel else 1 << 40)
        if kernel.startswith(("sweeps", "queue")):
            patch.setattr(_hops, "search_by_levels", lambda job: None)
        if kernel.startswith("queue"):
            patch.setattr(_hops, "MAX_VISITS", -1)
        if "64 bits" in kernel:
            sweeps = _hops.search_by_sweeps
            wide = lambda job, key_type, hops_type: (  # noqa: E731
                sweeps(job, key_type, hops_type) if key_type is np.uint64 else None
            )
            patch.setattr(_hops, "search_by_sweeps", wide)
        yield


KERNELS = [
    "rule",
    "levels: push",
    "levels: pull",
    "levels: exchange",
    "levels without ranks: push",
    "levels without ranks: pull",
    "levels without ranks: exchange",
    "sweeps",
    "sweeps of 64 bits",
    "queue",
    "queue of 64 bits",
]


@pytest.mark.parametrize("kernel", KERNELS)
@given(case=graphs_with_sets(weighted=False), cutoff=st.none() | st.integers(0, 5))
def test_hops_equal_oracle(kernel, case, cutoff):
    graph, sets = case
    with only(kernel):
        result = anchor_distances(graph, sets, cutoff=cutoff)
    assert_same(result, *reference_distances(graph, sets, np.inf if cutoff is None else cutoff))


def assert_equals_scipy(graph, sets, **options):
    """Compare with scipy's search from each set, and the nearest anchor with its definition."""
    result = anchor_distances(graph, sets, **options)
    apart = dijkstra(graph.to_scipy(), unweighted=True)  # [from, to]
    for i, anchors in enumerate(sets):
        distance = apart[:, anchors].min(axis=1)
        lowest = np.where(np.isinf(distance), -1, anchors[apart[:, anchors].argmin(axis=1)])
        np.testing.assert_array_equal(result.hops[:, i], np.where(np.isinf(distance), -1, distance))
        np.testing.assert_array_equal(result.nearest[:, i], lowest)
    return result


def random_edges(num_nodes, num_edges, seed):
    return np.random.default_rng(seed).integers(0, num_nodes, (num_edges, 2))


def maze(side, seed):
    """A grid that lost a third of its edges."""
    edges = Graph.from_networkx(nx.grid_2d_graph(side, side)).edges()
    return Graph.from_edges(edges[np.random.default_rng(seed).random(len(edges)) < 0.65], side**2)


FAMILIES = {
    "random": Graph.from_edges(random_edges(700, 2500, 0), 700),
    "random directed": Graph.from_edges(random_edges(700, 2500, 1), 700, directed=True),
    "many components": Graph.from_edges(random_edges(700, 420, 2), 700),
    "islands": Graph.from_networkx(nx.caveman_graph(40, 15)),
    "grid": Graph.from_networkx(nx.grid_2d_graph(26, 27)),
    "long strip": Graph.from_networkx(nx.grid_2d_graph(3, 230)),
    "maze": maze(30, 15),
    "tree": Graph.from_networkx(nx.random_labeled_tree(600, seed=3)),
    "caveman": Graph.from_networkx(nx.connected_caveman_graph(30, 20)),
    "hubs": Graph.from_networkx(nx.barabasi_albert_graph(800, 3, seed=4)),
    "star": Graph.from_networkx(nx.star_graph(300)),
    "directed cycle": Graph.from_networkx(nx.cycle_graph(300, create_using=nx.DiGraph)),
}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", FAMILIES)
def test_hops_equal_scipy_on_families(name, kernel):
    graph = FAMILIES[name]
    with only(kernel):
        assert_equals_scipy(graph, sample_anchor_sets(graph.num_nodes, rng=5))


@given(case=graphs_with_sets(weighted=False))
def test_neighbours_of_higher_index_begin_where_it_says(case):
    graph, _ = case
    indices = graph.indices.view(np.uint32)
    above = np.empty(graph.num_nodes, dtype=np.int64)
    _hops.kernels.starts_above(graph.indptr, indices, above)
    for v in range(graph.num_nodes):
        start, stop = graph.indptr[v], graph.indptr[v + 1]
        assert start <= above[v] <= stop
        assert (indices[start : above[v]] <= v).all()
        assert (indices[above[v] : stop] > v).all()
