"""Ways between two nodes, against networkx; edges that cut them cut all of them."""

from itertools import islice

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pgnn import Graph
from pgnn.pairs.paths import (
    common_neighbours,
    cut_of_paths,
    shortest_paths,
    three_step_paths,
    without_edges,
)
from strategies import graphs


@st.composite
def graphs_and_pairs(draw):
    """An undirected graph and two different nodes of it."""
    graph = draw(graphs(max_nodes=14, directed=False, weighted=False))
    assume(graph.num_nodes > 1)
    nodes = st.integers(0, graph.num_nodes - 1)
    u, v = draw(st.tuples(nodes, nodes).filter(lambda pair: pair[0] != pair[1]))
    return graph, u, v


def without_own_edge(graph, u, v):
    plain = nx.Graph()
    plain.add_nodes_from(range(graph.num_nodes))
    plain.add_edges_from(graph.edges().tolist())
    plain.remove_edges_from([(u, v)])
    return plain


@given(graphs_and_pairs())
def test_common_neighbours_are_those_of_networkx_fewest_neighbours_first(case):
    graph, u, v = case
    found = common_neighbours(graph, u, v).tolist()
    assert sorted(found) == sorted(nx.common_neighbors(without_own_edge(graph, u, v), u, v))
    degrees = graph.degrees[found].tolist()
    assert degrees == sorted(degrees)


@given(graphs_and_pairs())
def test_three_step_paths_are_all_simple_paths_of_three_steps(case):
    graph, u, v = case
    paths = nx.all_simple_paths(without_own_edge(graph, u, v), u, v, cutoff=3)
    wanted = sorted(path[1:3] for path in paths if len(path) == 4)
    found = three_step_paths(graph, u, v)
    assert sorted(found.tolist()) == wanted
    strength = [graph.degrees[a] * graph.degrees[b] for a, b in found]
    assert strength == sorted(strength)


@given(graphs_and_pairs(), st.integers(1, 6))
def test_shortest_paths_are_those_of_networkx_without_the_own_edge(case, most):
    graph, u, v = case
    plain = without_own_edge(graph, u, v)
    wanted = list(nx.all_shortest_paths(plain, u, v)) if nx.has_path(plain, u, v) else []
    found = shortest_paths(graph, u, v, most=most)
    assert len(found) == min(most, len(wanted))
    assert len(set(map(tuple, found))) == len(found)
    assert all(path in wanted for path in found)


@given(graphs_and_pairs(), st.sampled_from([(2,), (3,), (2, 3), (2, 3, 0)]))
def test_without_the_cut_there_are_no_such_paths(case, lengths):
    graph, u, v = case
    cut = cut_of_paths(graph, u, v, lengths=lengths)
    less = without_edges(graph, cut)
    assert less.num_edges == graph.num_edges - len(cut)  # edges of the graph, each once
    left = {len(path) - 1 for path in paths_up_to_three(less, u, v)}
    assert not left & set(lengths)
    before = shortest_paths(graph, u, v, most=1)
    if before and 0 in lengths:
        after = shortest_paths(less, u, v, most=1)
        assert not after or len(after[0]) > len(before[0])


def paths_up_to_three(graph, u, v):
    return islice(nx.all_simple_paths(without_own_edge(graph, u, v), u, v, cutoff=3), 500)


def test_a_cut_leaves_both_ends_an_edge_where_it_can():
    twins = Graph.from_edges([(0, 2), (1, 2), (0, 3), (1, 3)])
    less = without_edges(twins, cut_of_paths(twins, 0, 1, lengths=(2,)))
    assert less.degrees.tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("directed", [False, True])
def test_edges_are_removed_in_either_direction(directed):
    graph = Graph.from_edges([(0, 1), (1, 0), (1, 2)], directed=directed)
    assert without_edges(graph, np.array([(1, 0)])).edges().tolist() == [[1, 2]]
    assert without_edges(graph, np.empty((0, 2), dtype=np.int64)) is graph
