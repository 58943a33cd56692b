"""The order of nodes: a permutation, the same graph, and kept as long as the graph."""

import gc
import pickle

import numpy as np
from hypothesis import given, settings

from pgnn import Graph, anchor_distances
from pgnn.graph import keeping
from pgnn.positions import hops as order
from pgnn.positions.hops import has_order, relabelled, row_arrays
from strategies import graphs


def pairs(ptr, idx):
    """The entries of compressed rows as (row, neighbour), sorted."""
    rows = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    return sorted(zip(rows.tolist(), idx.tolist(), strict=True))


@given(graph=graphs(max_nodes=15))
@settings(max_examples=60)
def test_relabelled_rows_are_the_graph_under_the_new_indices(graph):
    places, rows = relabelled(graph)
    assert sorted(places.tolist()) == list(range(graph.num_nodes))
    own = row_arrays(graph)
    for which in (slice(0, 2), slice(2, 4)):
        moved = sorted((int(places[v]), int(places[u])) for v, u in pairs(*own[which]))
        assert pairs(*rows[which]) == moved


def test_row_arrays_hold_the_edges_both_ways():
    one_way = Graph.from_edges([(0, 1), (0, 2)], directed=True)
    out_ptr, out_idx, in_ptr, in_idx = row_arrays(one_way)
    assert pairs(out_ptr, out_idx) == [(0, 1), (0, 2)]
    assert pairs(in_ptr, in_idx) == [(1, 0), (2, 0)]


def strip(length=200):
    return Graph.from_edges([(v, v + 1) for v in range(length)])


def test_neighbours_are_close_in_the_order():
    shuffled = np.random.default_rng(0).permutation(201)
    graph = Graph.from_edges(shuffled[strip().edges()])
    places, _ = relabelled(graph)
    u, v = places.astype(int)[graph.edges()].T
    assert np.abs(u - v).max() == 1


def test_order_has_order_with_the_graph_and_gone_with_it():
    graph = strip()
    assert not has_order(graph)
    first = relabelled(graph)
    assert has_order(graph)
    assert relabelled(graph)[0] is first[0]
    assert not has_order(strip())  # an equal graph is not the same graph
    key = id(graph)
    assert key in keeping._kept
    del graph
    gc.collect()
    assert key not in keeping._kept


def test_search_attaches_nothing_to_the_graph():
    graph = strip()
    before, size = dict(vars(graph)), len(pickle.dumps(graph))
    anchor_distances(graph, [[0]])
    assert has_order(graph)
    assert vars(graph) == before
    assert len(pickle.dumps(graph)) == size


def test_order_of_a_large_graph_is_not_kept(monkeypatch):
    monkeypatch.setattr(order, "_KEPT_ENTRIES", 10)
    graph = strip()
    relabelled(graph)
    assert not has_order(graph)
