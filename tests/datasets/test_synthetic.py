"""The generated data sets: which nodes are joined, what a seed decides, which sizes are refused."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgnn import PGNNError
from pgnn.datasets import communities, grid


def edge_set(graph):
    return {tuple(edge) for edge in graph.edges().tolist()}


@pytest.mark.parametrize(("rows", "columns"), [(20, 20), (1, 5), (5, 1), (3, 7), (1, 1)])
def test_grid_equals_networkx(rows, columns):
    truth = nx.convert_node_labels_to_integers(nx.grid_2d_graph(rows, columns), ordering="sorted")
    graph = grid(rows, columns)
    assert edge_set(graph) == {tuple(sorted(edge)) for edge in truth.edges}
    assert graph.num_nodes == rows * columns
    assert graph.x.dtype == np.float32
    np.testing.assert_array_equal(graph.x, np.ones((rows * columns, 1)))
    assert graph.y is None


@pytest.mark.parametrize(("num_communities", "size"), [(20, 20), (2, 3), (7, 4), (3, 10)])
def test_communities_without_rewiring_equals_networkx(num_communities, size):
    truth = nx.connected_caveman_graph(num_communities, size)
    graph = communities(num_communities, size, rewire=0, rng=0)
    assert edge_set(graph) == {tuple(sorted(edge)) for edge in truth.edges}
    assert nx.is_connected(graph.to_networkx())


def test_communities_is_the_papers_size():
    graph = communities(rng=3)
    assert (graph.num_nodes, graph.num_edges) == (400, 3800)
    np.testing.assert_array_equal(np.bincount(graph.y), np.full(20, 20))
    np.testing.assert_array_equal(graph.y, np.arange(400) // 20)
    np.testing.assert_array_equal(graph.x, np.ones((400, 1)))
    assert graph.x.dtype == np.float32


@given(
    num_communities=st.integers(2, 6),
    size=st.integers(3, 7),
    rewire=st.floats(0, 1),
    seed=st.integers(0, 1000),
)
@settings(max_examples=40)
def test_rewiring_keeps_the_number_of_edges(num_communities, size, rewire, seed):
    graph = communities(num_communities, size, rewire=rewire, rng=seed)
    whole = num_communities * size * (size - 1) // 2
    assert graph.num_edges == whole
    assert (graph.dropped_self_loops, graph.dropped_repeats) == (0, 0)


def test_rewiring_moves_about_one_percent():
    before = edge_set(communities(rewire=0, rng=0))
    moved = [len(before - edge_set(communities(rng=seed))) for seed in range(30)]
    # 38 expected a graph with deviation 6.1; the mean of 30 lies within 5 of its own deviations.
    assert abs(np.mean(moved) - 38) < 5 * 6.2 / np.sqrt(30)


def test_rewiring_keeps_one_end_of_every_moved_edge():
    before = edge_set(communities(4, 5, rewire=0, rng=0))
    stayed = []
    for seed in range(60):
        after = edge_set(communities(4, 5, rewire=0.03, rng=seed))
        gone, new = before - after, after - before
        assert len(gone) == len(new)
        if len(gone) == 1:
            ((old,), (moved,)) = gone, new
            assert len(set(old) & set(moved)) == 1
            stayed += [old.index(node) for node in set(old) & set(moved)]
    assert set(stayed) == {0, 1}  # either end, by a coin


def test_rewiring_all_edges_of_a_full_graph_ends():
    # Of 6 nodes, many are joined to all others on the way; those edges are left alone.
    assert communities(2, 3, rewire=1.0, rng=0).num_edges == 6


def test_communities_seed_decides():
    assert communities(rng=5) == communities(rng=5)
    assert communities(rng=5) == communities(rng=np.random.default_rng(5))
    assert communities(rng=5) != communities(rng=6)


@pytest.mark.parametrize("bad", [0, -1, 2.5, True, "3", None])
def test_grid_refuses_silly_sizes(bad):
    with pytest.raises(PGNNError, match=r"rows must be an? (positive )?integer \(got"):
        grid(bad, 3)
    with pytest.raises(PGNNError, match="columns must be"):
        grid(3, bad)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_communities": 1}, "num_communities must be an integer of at least 2"),
        ({"size": 2}, "size must be an integer of at least 3"),
        ({"size": 3.0}, "size must be"),
        ({"rewire": -0.1}, "rewire must be a probability"),
        ({"rewire": 1.1}, "rewire must be a probability"),
        ({"rewire": float("nan")}, "rewire must be a probability"),
        ({"rewire": "1%"}, "rewire must be a number"),
    ],
)
def test_communities_refuses_silly_arguments(arguments, message):
    with pytest.raises(PGNNError, match=message):
        communities(**arguments, rng=0)
