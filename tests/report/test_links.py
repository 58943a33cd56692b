"""What lies between two nodes, against networkx as the slow obvious twin."""

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pgnn
from pgnn.report.links import Surroundings


@st.composite
def graphs_and_pairs(draw):
    size = draw(st.integers(2, 12))
    pairs = list(itertools.combinations(range(size), 2))
    edges = draw(st.lists(st.sampled_from(pairs), max_size=30))
    ends = draw(st.sampled_from(pairs))
    return size, edges, ends if draw(st.booleans()) else ends[::-1], draw(st.booleans())


@settings(max_examples=150, deadline=None)
@given(graphs_and_pairs())
def test_between_agrees_with_networkx_without_the_pairs_own_edge(case):
    size, edges, (source, target), directed = case
    array = np.array(edges, dtype=np.int64).reshape(-1, 2)
    graph = pgnn.Graph.from_edges(array, size, directed=directed)
    twin = nx.Graph(edges)
    twin.add_nodes_from(range(size))
    twin.remove_edges_from([(source, target)])
    between = Surroundings(graph).between(source, target)

    shared = set(nx.common_neighbors(twin, source, target))
    assert between.num_shared == len(shared)
    assert set(between.shared) <= shared
    assert len(between.shared) == min(len(shared), 12)
    for end, others, count in zip(
        (source, target), between.others, between.num_neighbours, strict=True
    ):
        assert set(others) <= set(twin[end]) - shared
        assert count == twin.degree[end]
    expected = []
    if nx.has_path(twin, source, target):
        expected = [tuple(path) for path in nx.all_shortest_paths(twin, source, target)]
    paths = [tuple(path) for path in between.paths]
    assert set(paths) <= set(expected)
    assert len(set(paths)) == len(paths) == min(len(expected), 3)


def test_nodes_with_few_neighbours_come_first():
    # 1 is a hub that both know; 2 knows nobody else.
    edges = [(0, 1), (0, 2), (3, 1), (3, 2), *((1, other) for other in range(4, 9))]
    between = Surroundings(pgnn.Graph.from_edges(edges)).between(0, 3)
    assert between.shared == [2, 1]
    assert between.paths == [[0, 2, 3], [0, 1, 3]]


@pytest.mark.parametrize(
    ("edges", "sentence"),
    [
        ([(0, 1), (1, 3)], "share 1 neighbour, b"),
        ([(0, 1), (1, 3), (0, 2), (2, 3)], "share 2 neighbours, b and c"),
        (
            [(0, 1), (1, 3), (0, 2), (2, 3), (0, 4), (4, 3)],
            "share 3 neighbours, among them b and c",
        ),
        ([(0, 1), (1, 2), (2, 3)], "3 hops apart, through b and c"),
        ([(0, 1), (1, 2), (2, 4), (4, 3)], "4 hops apart"),
        ([(0, 1), (0, 3)], "no path joins them"),
    ],
)
def test_sentence_says_what_joins_them(edges, sentence):
    graph = pgnn.Graph.from_edges(edges, 5)
    assert Surroundings(graph).between(0, 3).sentence(list("abcde")) == sentence
