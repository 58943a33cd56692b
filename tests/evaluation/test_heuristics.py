"""Heuristics against networkx, and against the documented results without learning."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgnn import Graph, PGNNError
from pgnn.evaluation import heuristics
from pgnn.evaluation.heuristics import (
    DIRECTED_HEURISTICS,
    HEURISTICS,
    SIDED_HEURISTICS,
    all_heuristics,
    heuristic_named,
    heuristic_names,
    heuristic_scores,
)
from pgnn.evaluation.metrics import roc_auc
from pgnn.training.splits import split_links, split_pairs
from strategies import graphs


def all_pairs(num_nodes):
    return np.array([(u, v) for u in range(num_nodes) for v in range(num_nodes) if u != v])


def networkx_score(graph, u, v, name, beta):
    """The score of one pair, from the graph without its edge, by the definition."""
    graph = graph.copy()
    graph.remove_edges_from([(u, v)] if graph.has_edge(u, v) else [])
    if name == "shortest path":
        return -nx.shortest_path_length(graph, u, v) if nx.has_path(graph, u, v) else -1001
    if name == "common neighbours":
        return len(list(nx.common_neighbors(graph, u, v)))
    if name == "3-paths":
        return sum(
            1 / np.sqrt(graph.degree(a) * graph.degree(b))
            for _, a, b, _ in (p for p in nx.all_simple_paths(graph, u, v, 3) if len(p) == 4)
        )
    if name == "pagerank per degree":
        nodes = sorted(graph)
        degrees = np.maximum([graph.degree(node) for node in nodes], 1)
        steps = nx.to_numpy_array(graph, nodes) / degrees[:, None]  # D^-1 A
        return np.linalg.inv(np.eye(len(nodes)) - 0.85 * steps)[u, v] / degrees[v]
    if name in ("pagerank", "katz"):
        nodes = sorted(graph)
        matrix = nx.to_numpy_array(graph, nodes)
        if name == "katz":
            return np.linalg.inv(np.eye(len(nodes)) - beta * matrix)[u, v]
        scale = 1 / np.sqrt(np.maximum(matrix.sum(axis=0), 1))
        return np.linalg.inv(np.eye(len(nodes)) - 0.85 * scale[:, None] * matrix * scale)[u, v]
    function = {
        "Adamic-Adar": nx.adamic_adar_index,
        "resource allocation": nx.resource_allocation_index,
        "preferential attachment": nx.preferential_attachment,
    }[name]
    ((_, _, score),) = function(graph, [(u, v)])
    return score


def largest_eigenvalue(graph):
    return max(1, np.linalg.eigvalsh(nx.to_numpy_array(graph))[-1])


GRAPHS = {
    "sparse": nx.gnp_random_graph(30, 0.08, seed=0),  # several parts, isolated nodes
    "dense": nx.gnp_random_graph(16, 0.5, seed=1),
    "bipartite": nx.complete_bipartite_graph(3, 7),
    "star": nx.star_graph(6),
    "path": nx.path_graph(12),
    "no edges": nx.empty_graph(4),
}


@pytest.mark.parametrize("kind", GRAPHS)
@pytest.mark.parametrize("name", HEURISTICS)
def test_scores_equal_networkx_on_the_graph_without_the_pair(name, kind):
    graph = GRAPHS[kind]
    pairs = all_pairs(len(graph))
    pairs = pairs[np.random.default_rng(0).permutation(len(pairs))[:150]]
    scores = heuristic_scores(Graph.from_networkx(graph), pairs, name)
    beta = 0.5 / largest_eigenvalue(graph)
    wanted = [networkx_score(graph, int(u), int(v), name, beta) for u, v in pairs]
    np.testing.assert_allclose(scores, wanted, rtol=1e-6, atol=2e-8)


@settings(max_examples=40)
@given(graph=graphs(max_nodes=9, directed=False), data=st.data())
def test_scores_of_any_graph_equal_networkx(graph, data):
    plain = nx.Graph(graph.edges().tolist())
    plain.add_nodes_from(range(graph.num_nodes))
    if graph.num_nodes < 2:
        return
    u, v = data.draw(st.sampled_from(all_pairs(graph.num_nodes).tolist()))
    beta = 0.5 / max(1, np.linalg.eigvalsh(nx.to_numpy_array(plain))[-1])
    for name, (score,) in all_heuristics(graph, [(u, v)]).items():
        wanted = networkx_score(plain, u, v, name, beta)
        assert score == pytest.approx(wanted, rel=1e-6, abs=2e-8), name


@pytest.mark.parametrize("name", HEURISTICS)
@settings(max_examples=15)
@given(graph=graphs(directed=False), data=st.data())
def test_scores_are_symmetric_and_finite_and_blind_to_weights(name, graph, data):
    index = st.integers(0, graph.num_nodes - 1)
    different = st.tuples(index, index).filter(lambda pair: pair[0] != pair[1])
    pairs = data.draw(st.lists(different, max_size=20)) if graph.num_nodes > 1 else []
    pairs = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    found = heuristic_scores(graph, pairs, name)
    assert found.shape == (len(pairs),)
    assert found.dtype == np.float64
    assert np.isfinite(found).all()
    np.testing.assert_array_equal(found, heuristic_scores(graph, pairs[:, ::-1], name))
    plain = Graph.from_edges(graph.edges(), graph.num_nodes)
    np.testing.assert_array_equal(found, heuristic_scores(plain, pairs, name))


@pytest.mark.parametrize("name", HEURISTICS)
def test_the_own_edge_of_a_pair_is_never_seen(name):
    whole = nx.gnp_random_graph(24, 0.2, seed=4)
    for u, v in list(whole.edges)[:5]:
        without = whole.copy()
        without.remove_edge(u, v)
        seen, unseen = (
            heuristic_scores(Graph.from_networkx(g), [(u, v)], name) for g in (whole, without)
        )
        # Of Katz, beta is that of the graph as it is.
        np.testing.assert_allclose(seen, unseen, rtol=0.2 if name == "katz" else 1e-6, atol=1e-9)


def test_all_heuristics_are_those_asked_for_one_by_one_in_their_order():
    graph = Graph.from_networkx(nx.karate_club_graph())
    pairs = all_pairs(34)[::7]
    scores = all_heuristics(graph, pairs)
    assert tuple(scores) == HEURISTICS
    for name, values in scores.items():
        np.testing.assert_array_equal(values, heuristic_scores(graph, pairs, name))


def test_katz_is_left_out_where_it_is_much_work(monkeypatch):
    graph = Graph.from_networkx(nx.karate_club_graph())
    pairs = [(0, 9), (0, 14), (0, 15)]  # one source
    monkeypatch.setattr(heuristics, "KATZ_WORK", 30 * 2 * graph.num_edges)
    assert tuple(all_heuristics(graph, pairs)) == HEURISTICS
    assert tuple(all_heuristics(graph, [*pairs, (2, 16)])) == HEURISTICS[:-1]
    assert np.isfinite(heuristic_scores(graph, [*pairs, (2, 16)], "katz")).all()  # asked for


@pytest.mark.parametrize("name", HEURISTICS)
def test_isolated_nodes_score_lowest(name):
    edges = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 0), (3, 1)]
    graph = Graph.from_edges(edges, num_nodes=6)
    with_isolated, with_both, among_others = heuristic_scores(graph, [(0, 4), (4, 5), (0, 1)], name)
    assert with_isolated == with_both < among_others


def test_unknown_name_lists_the_known():
    graph = Graph.from_edges([(0, 1)])
    with pytest.raises(PGNNError, match="no heuristic 'ppr'; choose one of shortest path, common"):
        heuristic_scores(graph, [(0, 1)], "ppr")


@pytest.mark.parametrize("score", [lambda g, p: heuristic_scores(g, p, "katz"), all_heuristics])
@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(0, 1), (0, 2)], r"pairs\[1\] is \(0, 2\), but node indices must lie in 0..1"),
        ([(-1, 0)], r"pairs\[0\] is \(-1, 0\)"),
        ([0, 1], r"got int64 of shape \[2\]"),
        ([(0.5, 1.0)], "got float64 of shape"),
        ([(0, 1), (1, 1)], r"two different nodes \(got pairs\[1\] = \(1, 1\)\)"),
    ],
)
def test_bad_pairs_are_one_clear_error(pairs, message, score):
    with pytest.raises(PGNNError, match=message):
        score(Graph.from_edges([(0, 1)]), pairs)


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


def test_shortest_paths_tell_communities_apart_though_own_edges_are_not_seen():
    areas = [area_on_test(split_pairs(communities(seed), rng=seed)) for seed in range(4)]
    assert np.mean(areas) == pytest.approx(0.988, abs=0.005)  # 0.999 with own edges


RING = Graph.from_edges([(v, (v + 1) % 8) for v in range(8)])


@pytest.mark.parametrize("name", HEURISTICS)
def test_a_heuristic_is_found_by_its_name_however_it_is_written(name):
    for written in (name, name.upper(), name.replace(" ", "-"), name.replace("-", "_")):
        assert heuristic_named(written, RING) == name


def test_an_unknown_heuristic_is_refused_with_the_list():
    with pytest.raises(PGNNError, match=r"model must be one of shortest path, .* \(got 'cat'\)"):
        heuristic_named("cat", RING)


def directed_score(graph, u, v, name, beta):
    """A heuristic of the directed graph without the edge from u to v, the slow and obvious way."""
    matrix = nx.to_numpy_array(graph, nodelist=sorted(graph)) > 0
    matrix = matrix.astype(float)
    matrix[u, v] = 0
    out, into = matrix.sum(axis=1), matrix.sum(axis=0)
    successors = [w for w in range(len(matrix)) if matrix[u, w] and matrix[v, w]]
    predecessors = [w for w in range(len(matrix)) if matrix[w, u] and matrix[w, v]]
    between = [w for w in range(len(matrix)) if matrix[u, w] and matrix[w, v]]
    if name == "katz":
        return (np.linalg.inv(np.eye(len(matrix)) - beta * matrix) - np.eye(len(matrix)))[u, v]
    if name == "pagerank":
        scaled = matrix / np.sqrt(np.maximum(out, 1))[:, None] / np.sqrt(np.maximum(into, 1))
        return np.linalg.inv(np.eye(len(matrix)) - 0.85 * scaled)[u, v]
    if name == "shortest path":
        hops = nx.single_source_shortest_path_length(nx.DiGraph(matrix), u)
        return -hops.get(v, 1001)
    if name == "3-paths":
        return sum(
            1 / np.sqrt(out[a] * into[b])
            for a in range(len(matrix))
            for b in range(len(matrix))
            if matrix[u, a] and matrix[a, b] and matrix[b, v] and a != v and b != u
        )
    return {
        "2-paths": len(between),
        "common successors": len(successors),
        "common predecessors": len(predecessors),
        "Adamic-Adar": sum(1 / np.log(into[w]) for w in successors)
        + sum(1 / np.log(out[w]) for w in predecessors),
        "resource allocation": sum(1 / out[w] for w in between),
        "preferential attachment": out[u] * into[v],
    }[name]


@pytest.mark.parametrize("name", DIRECTED_HEURISTICS)
def test_scores_of_a_directed_graph_go_from_source_to_target(name):
    graph = nx.gnp_random_graph(14, 0.15, seed=3, directed=True)
    pairs = [(u, v) for u in range(14) for v in range(14) if u != v]
    scores = heuristic_scores(Graph.from_networkx(graph), pairs, name)
    beta = 0.5 / largest_eigenvalue(graph.to_undirected())
    wanted = [directed_score(graph, u, v, name, beta) for u, v in pairs]
    np.testing.assert_allclose(scores, wanted, rtol=1e-5, atol=1e-6)


def shop(rng=0):
    edges = np.random.default_rng(rng).random((8, 6)) < 0.4
    pairs = [(c, 8 + p) for c in range(8) for p in range(6)]
    graph = Graph.from_edges([(c, p) for c, p in pairs if edges[c, p - 8]], 14)
    return graph.with_sides(["customer"] * 8 + ["product"] * 6), pairs


def test_across_two_sides_heuristics_are_those_of_shops():
    graph, pairs = shop()
    scores = all_heuristics(graph, pairs)
    assert tuple(scores) == SIDED_HEURISTICS == heuristic_names(graph)
    edges = set(map(tuple, graph.edges().tolist()))
    popularity = [graph.degrees[p] - ((c, p) in edges) for c, p in pairs]
    assert scores["popularity"].tolist() == popularity
    turned = all_heuristics(graph, [(p, c) for c, p in pairs])
    for name, values in scores.items():
        np.testing.assert_array_equal(values, turned[name])
    with pytest.raises(PGNNError, match="not across"):
        all_heuristics(graph, [(0, 1)])


def test_where_some_edges_are_within_a_side_common_neighbours_make_sense():
    graph, pairs = shop()
    more = Graph.from_edges([*graph.edges().tolist(), (0, 1)], 14)
    more = more.with_sides(["customer"] * 8 + ["product"] * 6)
    assert "common neighbours" in all_heuristics(more, pairs)
