"""The peers that benchmarks/peers.py sets beside pgnn-best are what they are said to be."""

from pathlib import Path
from runpy import run_path

import networkx as nx
import numpy as np
import pytest

from pgnn import Graph
from pgnn.evaluation.metrics import roc_auc
from pgnn.experiments.link_run import hide_links

SEAL = run_path(str(Path(__file__).parents[1] / "benchmarks" / "seal.py"))
neighbourhood, seal_scores = SEAL["neighbourhood"], SEAL["seal_scores"]


def around(graph, pair, hops):
    """Return the subgraph that SEAL reads, by networkx: without the edge of the pair."""
    near = set(pair)
    for end in pair:
        near |= set(nx.ego_graph(graph, end, radius=hops))
    part = graph.subgraph(near).copy()
    if part.has_edge(*pair):
        part.remove_edge(*pair)
    return part


@pytest.mark.parametrize("hops", [1, 2])
def test_neighbourhood_is_what_is_within_the_hops_without_the_edge_itself(hops):
    whole = nx.gnm_random_graph(60, 110, seed=4)
    graph = Graph.from_networkx(whole)
    for pair in [*list(whole.edges)[:10], (0, 59), (3, 41)]:
        data = neighbourhood(graph, pair, np.random.default_rng(0), hops)
        truth = around(whole, pair, hops)
        assert data.num_nodes == truth.number_of_nodes()
        assert data.edge_index.shape[1] == 2 * truth.number_of_edges()
        assert data.z[:2].tolist() == [1, 1]


def test_labels_are_numbers_of_both_distances():
    # A path u - a - b - v: without the other end, a is 1 from u and 2 from nothing but b.
    path = Graph.from_edges([(0, 2), (2, 3), (3, 1)])
    data = neighbourhood(path, (0, 1), np.random.default_rng(0), 2)
    # a: distances 1 and 2, b: 2 and 1, so 1 + 1 + 1 * (1 + 1 - 1) = 3 for both.
    assert data.z.tolist() == [1, 1, 3, 3]


def test_neighbourhood_of_a_hub_is_cut():
    star = Graph.from_edges([(0, leaf) for leaf in range(1, 500)])
    data = neighbourhood(star, (0, 1), np.random.default_rng(0), 2)
    assert data.num_nodes == 202


def test_seal_learns_that_links_close_triangles():
    cliques = nx.connected_caveman_graph(6, 7)
    visible, test = hide_links(Graph.from_networkx(cliques), "honest", seed=0)
    scores = seal_scores(visible, test.pairs, seed=0, hops=1)
    assert roc_auc(test.labels, scores) > 0.9
