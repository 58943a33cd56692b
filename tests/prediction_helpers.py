"""Lists of all pairs, and what holds for any list of candidates."""

from itertools import combinations

import networkx as nx
import numpy as np

from pgnn import Graph


def undirected(graph):
    plain = nx.Graph()
    plain.add_nodes_from(range(graph.num_nodes))
    plain.add_edges_from(graph.edges().tolist())
    return plain


def every_pair(graph, nodes=None, include_edges=False):
    joined = undirected(graph)
    asked = set(range(graph.num_nodes) if nodes is None else nodes)
    return [
        [u, v]
        for u, v in combinations(range(graph.num_nodes), 2)
        if asked & {u, v} and (include_edges or not joined.has_edge(u, v))
    ]


def pairs_at(graph, distances, nodes=None):
    apart = dict(nx.all_pairs_shortest_path_length(undirected(graph)))
    pairs = every_pair(graph, nodes, include_edges=True)
    return [[u, v] for u, v in pairs if apart[u].get(v) in distances]


def gaps_to(x, u, metric):
    x = np.asarray(x, dtype=np.float64)
    return -(x @ x[u]) if metric == "dot" else ((x - x[u]) ** 2).sum(axis=1)


def assert_well_formed(found, graph, nodes=None, include_edges=False):
    pairs = found.pairs
    assert pairs.dtype == np.int64
    assert pairs.shape == (len(pairs), 2)
    keys = pairs[:, 0] * graph.num_nodes + pairs[:, 1]
    assert (np.diff(keys) > 0).all()
    assert (pairs[:, 0] < pairs[:, 1]).all()
    assert np.isin(pairs, np.arange(graph.num_nodes)).all()
    joined = set(map(tuple, graph.edges().tolist()))
    asked = set(range(graph.num_nodes) if nodes is None else nodes)
    for u, v in pairs.tolist():
        assert u in asked or v in asked
        assert include_edges or not {(u, v), (v, u)} & joined


def star(leaves):
    return Graph.from_edges([(0, leaf) for leaf in range(1, leaves + 1)])
