"""Collaborative filtering of pairs against its definition, the own edge left out."""

import numpy as np
from hypothesis import given, settings

from pgnn import Graph
from pgnn.pairs.collaborative import TASTE_COLUMNS, pair_tastes
from strategies import graphs


def reference_tastes(graph, u, v):
    """The three numbers of one pair, from sets of neighbours without the pair's own edge."""
    near = [set(graph.neighbors(w).tolist()) for w in range(graph.num_nodes)]
    near[u].discard(v)
    near[v].discard(u)

    def shared(a, b, left_out):
        return len((near[a] & near[b]) - {left_out})

    item = sum(shared(a, v, u) / np.sqrt(len(near[a])) for a in near[u])
    peer = sum(shared(u, b, v) / np.sqrt(len(near[b])) for b in near[v])
    basket = sum(shared(a, v, u) / len(near[a]) for a in near[u])
    degrees = [max(len(near[w]), 1) for w in (u, v)]
    return item / np.sqrt(degrees[1]), peer / np.sqrt(degrees[0]), basket / degrees[0]


@settings(max_examples=40)
@given(graph=graphs(max_nodes=12, directed=False, weighted=False))
def test_tastes_equal_their_definition(graph):
    n = graph.num_nodes
    pairs = np.array([(u, v) for u in range(n) for v in range(n) if u != v]).reshape(-1, 2)
    values = pair_tastes(graph, pairs)
    assert values.shape == (len(pairs), len(TASTE_COLUMNS))
    wanted = np.array([reference_tastes(graph, u, v) for u, v in pairs.tolist()]).reshape(-1, 3)
    np.testing.assert_allclose(values, wanted, atol=1e-9)


def test_a_product_bought_with_those_of_a_customer_is_nearer():
    edges = [(c, 10 + p) for c in range(10) for p in range(10) if (c < 5) == (p < 5) and c != p]
    shop = Graph.from_edges(edges, 20)
    same, other = pair_tastes(shop, [(0, 10), (0, 19)])
    assert (same > other).all()
