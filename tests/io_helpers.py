"""Helpers of the tests that read and write files."""

import re

import pytest
from hypothesis import strategies as st

from pgnn import Graph, PGNNError


def edge_ids(graph):
    """The edges by node id, in the order of the graph."""
    return [tuple(graph.node_ids[[u, v]].tolist()) for u, v in graph.edges()]


def expected_graph(edges, weights=None, directed=False):
    """The slow and obvious reader: number the ids of (source, target) strings one by one."""
    names = list(dict.fromkeys(name for edge in edges for name in edge))
    if all(re.fullmatch("0|-?[1-9][0-9]*", n) and abs(int(n)) < 2**63 for n in names):
        names = sorted(names, key=int)
        ids = [int(name) for name in names]
    else:
        ids = names
    pairs = [(names.index(u), names.index(v)) for u, v in edges]
    return Graph.from_edges(pairs, weights=weights, directed=directed, node_ids=ids)


def message(call, *arguments, **keywords):
    with pytest.raises(PGNNError) as caught:
        call(*arguments, **keywords)
    text = str(caught.value)
    assert "\n" not in text
    return text


any_character = st.characters(exclude_categories=["Cs"], exclude_characters="\n\r\0")


any_ids = st.text(any_character, min_size=1, max_size=5) | st.text(
    '07 \t"#%,;+-', min_size=1, max_size=3
)
