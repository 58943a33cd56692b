"""Heuristics against networkx, and against the documented results without learning."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgnn import Graph, PGNNError
from pgnn.evaluation import heuristics
from pgnn.evaluation.heuristics import HEURISTICS, heuristic_scores
from pgnn.evaluation.metrics import roc_auc
from pgnn.training.splits import split_links, split_pairs
from strategies import graphs


def all_pairs(num_nodes):
    return np.array([(u, v) for u in range(num_nodes) for v in range(num_nodes) if u != v])


def networkx_scores(graph, pairs, name):
    pairs = [(int(u), int(v)) for u, v in pairs]
    if name == "shortest path":
        hops = dict(nx.all_pairs_shortest_path_length(graph))
        return [-hops[u].get(v, len(graph)) for u, v in pairs]
    if name == "ppr":
        ranks = {
            v: nx.pagerank(graph, alpha=0.85, personalization={v: 1}, tol=1e-12, max_iter=500)
            for v in graph
        }
        return [ranks[u][v] / max(1, graph.degree(v)) for u, v in pairs]
    if name == "common neighbours":
        return [len(list(nx.common_neighbors(graph, u, v))) for u, v in pairs]
    function = {
        "resource allocation": nx.resource_allocation_index,
        "preferential attachment": nx.preferential_attachment,
    }[name]
    return [score for _, _, score in function(graph, pairs)]


@pytest.mark.parametrize("name", HEURISTICS)
@pytest.mark.parametrize("seed", range(3))
def test_scores_equal_networkx(name, seed):
    graph = nx.gnp_random_graph(30, 0.08, seed=seed)  # sparse: several parts, isolated nodes
    assert nx.number_connected_components(graph) > 1
    pairs = all_pairs(30)
    found = heuristic_scores(Graph.from_networkx(graph), pairs, name)
    np.testing.assert_allclose(found, networkx_scores(graph, pairs, name), atol=2e-7)


@pytest.mark.parametrize("name", HEURISTICS)
@settings(max_examples=15)
@given(graph=graphs(), data=st.data())
def test_scores_are_symmetric_and_finite_and_blind_to_weights_and_directions(name, graph, data):
    index = st.integers(0, graph.num_nodes - 1)
    pairs = data.draw(st.lists(st.tuples(index, index), max_size=20))
    pairs = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    found = heuristic_scores(graph, pairs, name)
    assert found.shape == (len(pairs),)
    assert found.dtype == np.float64
    assert np.isfinite(found).all()
    np.testing.assert_array_equal(found, heuristic_scores(graph, pairs[:, ::-1], name))
    plain = Graph.from_edges(graph.edges(), graph.num_nodes)
    np.testing.assert_array_equal(found, heuristic_scores(plain, pairs, name))


@pytest.mark.parametrize("name", HEURISTICS)
def test_isolated_nodes_score_lowest(name):
    graph = Graph.from_edges([(0, 1), (1, 2), (0, 2), (2, 3)], num_nodes=6)
    with_isolated, with_both, among_others = heuristic_scores(graph, [(0, 4), (4, 5), (0, 1)], name)
    assert with_isolated == with_both < among_others


@pytest.mark.parametrize("name", HEURISTICS)
def test_blocks_do_not_change_scores(name, monkeypatch):
    graph = Graph.from_networkx(nx.gnp_random_graph(60, 0.1, seed=5))
    pairs = np.random.default_rng(0).integers(0, 60, (500, 2))
    whole = heuristic_scores(graph, pairs, name)
    monkeypatch.setattr(heuristics, "_BLOCK_NUMBERS", 1)
    monkeypatch.setattr(heuristics, "_BLOCK_NEIGHBOURS", 7)
    np.testing.assert_array_equal(heuristic_scores(graph, pairs, name), whole)


def test_unknown_name_lists_the_known():
    graph = Graph.from_edges([(0, 1)])
    with pytest.raises(PGNNError, match="no heuristic 'katz'; choose one of shortest path, common"):
        heuristic_scores(graph, [(0, 1)], "katz")


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(0, 1), (0, 2)], r"pairs\[1\] is \(0, 2\), but node indices must lie in 0..1"),
        ([(-1, 0)], r"pairs\[0\] is \(-1, 0\)"),
        ([0, 1], r"got int64 of shape \[2\]"),
        ([(0.5, 1.0)], "got float64 of shape"),
    ],
)
def test_bad_pairs_are_one_clear_error(pairs, message):
    with pytest.raises(PGNNError, match=message):
        heuristic_scores(Graph.from_edges([(0, 1)]), pairs, "ppr")


# ---------------------------------------------------------------------- documented results


def grid():
    return Graph.from_networkx(nx.convert_node_labels_to_integers(nx.grid_2d_graph(20, 20)))


def communities(seed):
    """Connected caveman graph with 1% of its edges rewired at one end."""
    graph = nx.connected_caveman_graph(20, 20)
    rng = np.random.default_rng(seed)
    for u, v in list(graph.edges):
        target = int(rng.integers(len(graph)))
        if rng.random() < 0.01 and target != u and not graph.has_edge(u, target):
            graph.remove_edge(u, v)
            graph.add_edge(u, target)
    return Graph.from_edges(np.array(graph.edges), 400, y=np.arange(400) // 20)


def area_on_test(split, name="shortest path"):
    scores = heuristic_scores(split.graph, split.test.pairs, name)
    return roc_auc(split.test.labels, scores)


def test_shortest_paths_predict_links_of_the_grid_as_documented():
    areas = [area_on_test(split_links(grid(), rng=seed)) for seed in range(12)]
    assert np.mean(areas) == pytest.approx(0.927, abs=0.03)


def test_shortest_paths_and_common_neighbours_predict_links_of_communities_as_documented():
    splits = [split_links(communities(seed), rng=seed) for seed in range(4)]
    hops = [area_on_test(split) for split in splits]
    common = [area_on_test(split, "common neighbours") for split in splits]
    assert np.mean(hops) == pytest.approx(0.983, abs=0.02)
    assert np.mean(common) == pytest.approx(0.992, abs=0.02)


def test_shortest_paths_tell_communities_apart_as_documented():
    areas = [area_on_test(split_pairs(communities(seed), rng=seed)) for seed in range(4)]
    assert np.mean(areas) == pytest.approx(0.999, abs=0.01)
