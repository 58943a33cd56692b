"""Where nodes stand along directed edges: against dense algebra and networkx, own edge unseen."""

import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pgnn import Graph
from pgnn.pairs.codes import fold_of_pairs
from pgnn.pairs.orders import ORDER_COLUMNS, node_levels, pair_orders
from strategies import graphs


def every_pair(n):
    return np.array([(u, v) for u in range(n) for v in range(n) if u != v]).reshape(-1, 2)


@settings(max_examples=30)
@given(graph=graphs(directed=True, weighted=False))
def test_levels_minimise_how_far_edges_are_from_one_step_down(graph):
    n = graph.num_nodes
    laplacian, target = 0.1 * np.eye(n), np.zeros(n)
    for u, v in graph.edges().tolist():
        step = np.zeros(n)
        step[u], step[v] = 1, -1
        laplacian += np.outer(step, step)
        target += step
    np.testing.assert_allclose(node_levels(graph), np.linalg.solve(laplacian, target), atol=1e-4)


@settings(max_examples=20)
@given(graph=graphs(max_nodes=10, directed=True, weighted=False), seed=st.integers(0, 3))
def test_bounds_are_below_distances_and_nothing_bars_a_path(graph, seed):
    pairs = every_pair(graph.num_nodes)
    values = dict(zip(ORDER_COLUMNS, pair_orders(graph, pairs, rng=seed).T, strict=True))
    folds = fold_of_pairs(graph.edges().astype(np.int64))
    for row, (u, v) in enumerate(pairs.tolist()):
        seen = nx.DiGraph(graph.edges()[folds != fold_of_pairs(pairs[row : row + 1])[0]].tolist())
        seen.add_nodes_from(range(graph.num_nodes))
        if nx.has_path(seen, u, v):
            hops = nx.shortest_path_length(seen, u, v)
            assert values["bound_out_forward"][row] <= hops
            assert values["bound_in_forward"][row] <= hops
            assert values["barred_out_forward"][row] == values["barred_in_forward"][row] == 0


@settings(max_examples=20)
@given(graph=graphs(max_nodes=10, directed=True))
def test_the_own_edge_either_way_changes_nothing_and_turning_swaps_ways(graph):
    pairs = every_pair(graph.num_nodes)
    values = pair_orders(graph, pairs)
    half = len(ORDER_COLUMNS) // 2
    turned = pair_orders(graph, pairs[:, ::-1])
    np.testing.assert_allclose(values, np.roll(turned, half, axis=1), atol=1e-6)
    for place, (u, v) in enumerate(graph.edges().tolist()):
        without = graph.with_edges(np.arange(graph.num_edges) != place)
        for pair in ([(u, v)], [(v, u)]):
            np.testing.assert_array_equal(pair_orders(graph, pair), pair_orders(without, pair))


def test_levels_tell_time_in_a_citation_network():
    rng = np.random.default_rng(0)
    edges = [(t, int(c)) for t in range(20, 200) for c in rng.integers(t, size=4)]
    graph = Graph.from_edges(edges, 200, directed=True)
    pairs = np.array(edges[::5])
    drop = pair_orders(graph, pairs)[:, 0]
    assert np.mean(drop > 0) > 0.8
