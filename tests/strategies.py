"""Hypothesis strategies shared by the tests: graphs of every kind, and node sets on them."""

from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from pgnn import AnchorSets, Graph


@st.composite
def graphs(draw, max_nodes=24, directed=None, weighted=None):
    """Graphs with isolated nodes, several components, self-loops and repeats in the source."""
    num_nodes = draw(st.integers(1, max_nodes))
    index = st.integers(0, num_nodes - 1)
    shape = draw(st.sampled_from(["any", "path", "dense", "two parts", "no edges"]))
    pairs = draw(st.lists(st.tuples(index, index), max_size=3 * num_nodes))
    if shape == "path":
        order = draw(st.permutations(range(num_nodes)))
        pairs = list(pairwise(order))
    elif shape == "dense":
        pairs += [(u, v) for u in range(num_nodes) for v in range(u) if (u * v) % 3]
    elif shape == "two parts":
        pairs = [(u, v) for u, v in pairs if (u < num_nodes // 2) == (v < num_nodes // 2)]
    elif shape == "no edges":
        pairs = []
    if directed is None:
        directed = draw(st.booleans())
    if weighted is None:
        weighted = draw(st.booleans())
    weights = None
    if weighted:
        # Dyadic fractions add up exactly in any order, so that ties are ties for every method.
        quarter = st.integers(1, 12).map(lambda count: count / 4)
        weights = draw(st.lists(quarter, min_size=len(pairs), max_size=len(pairs)))
    return Graph.from_edges(
        np.array(pairs, dtype=np.int64).reshape(-1, 2),
        num_nodes,
        weights=weights,
        directed=directed,
    )


@st.composite
def anchor_sets(draw, num_nodes, max_sets=20):
    """Any non-empty sets: singletons, the whole graph, and what lies between."""
    index = st.integers(0, num_nodes - 1)
    some = st.lists(index, min_size=1, max_size=num_nodes, unique=True)
    one = index.map(lambda node: [node])
    everything = st.just(list(range(num_nodes)))
    sets = draw(st.lists(some | one | everything, min_size=1, max_size=max_sets))
    return AnchorSets.from_sets(sets, num_nodes)


@st.composite
def graphs_with_sets(draw, **kinds):
    """A graph and anchor-sets of it."""
    graph = draw(graphs(**kinds))
    return graph, draw(anchor_sets(graph.num_nodes))
