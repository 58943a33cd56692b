"""One table of nodes and edges to many graphs."""

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pgnn.datasets.parts import components, split
from strategies import graphs


@given(graphs(directed=False), st.integers(0, 3))
def test_components_are_those_of_networkx(graph, more_than):
    label = components(graph.edges().astype(np.int64), graph.num_nodes, more_than=more_than)
    expected = [sorted(nodes) for nodes in nx.connected_components(graph.to_networkx())]
    expected = sorted(nodes for nodes in expected if len(nodes) > more_than)
    assert [np.flatnonzero(label == number).tolist() for number in range(len(expected))] == expected
    assert (label == -1).sum() == graph.num_nodes - sum(map(len, expected))


def test_split_keeps_order_inside_a_group_and_drops_edges_between_groups():
    group = np.array([1, 0, -1, 1, 0])
    edges = np.array([(0, 3), (1, 4), (0, 1), (2, 3)])
    x = np.arange(5, dtype=np.float32)[:, None]
    first, second = split(edges, group, x=x, node_ids=np.arange(5) + 10, y=np.arange(5) % 2)
    assert (first.node_ids.tolist(), second.node_ids.tolist()) == ([11, 14], [10, 13])
    assert (first.num_edges, second.num_edges) == (1, 1)
    assert second.x[:, 0].tolist() == [0, 3]
    assert second.y.tolist() == [0, 1]
