import networkx as nx
import numpy as np
import pytest

from pgnn.report.layout import map_embedding, place_nodes


def place(graph):
    return place_nodes(np.array(list(graph.edges), dtype=np.int64).reshape(-1, 2), len(graph))


def distances(points):
    return np.linalg.norm(points[:, None] - points, axis=-1)


def test_grid_is_drawn_as_an_upright_grid():
    graph = nx.convert_node_labels_to_integers(nx.grid_2d_graph(9, 12))
    points = place(graph)
    steps = np.abs(points[[u for u, _ in graph.edges]] - points[[v for _, v in graph.edges]])
    assert np.median(np.minimum(steps[:, 0], steps[:, 1])) < 0.1
    np.testing.assert_allclose(steps.max(axis=1), 1, atol=0.45)


def test_communities_are_drawn_apart():
    points = place(nx.connected_caveman_graph(8, 10))
    clique = np.repeat(np.arange(8), 10)
    same = clique[:, None] == clique
    apart = distances(points)
    assert np.median(apart[~same]) > 4 * np.median(apart[same])


def test_distances_on_a_path_are_kept():
    points = place(nx.path_graph(12))
    hops = np.abs(np.arange(12)[:, None] - np.arange(12))
    np.testing.assert_allclose(distances(points), hops, atol=0.05)


def test_components_do_not_overlap():
    parts = [nx.cycle_graph(12), nx.path_graph(7), nx.complete_graph(5), nx.empty_graph(6)]
    graph = nx.disjoint_union_all(parts)
    points = place(graph)
    boxes = [points[list(part)] for part in nx.connected_components(graph)]
    for i, one in enumerate(boxes):
        for other in boxes[:i]:
            below, above = one.max(axis=0) < other.min(axis=0), one.min(axis=0) > other.max(axis=0)
            assert (below | above).any()


@pytest.mark.parametrize(
    "graph",
    [
        nx.empty_graph(1),
        nx.empty_graph(5),
        nx.path_graph(2),
        nx.complete_graph(3),
        nx.star_graph(9),
    ],
)
def test_nodes_of_small_graphs_have_places_of_their_own(graph):
    apart = distances(place(graph)) + np.eye(len(graph))
    assert apart.min() > 0.2


def test_drawing_is_the_same_each_time():
    graph = nx.gnp_random_graph(60, 0.08, seed=0)
    np.testing.assert_array_equal(place(graph), place(graph))


def test_map_keeps_clusters_together():
    rng = np.random.default_rng(0)
    cluster = np.repeat(np.arange(3), 30)
    rows = rng.normal(size=(3, 70))[cluster] * 10 + rng.normal(size=(90, 70))
    points, method = map_embedding(rows, 0)
    assert method == "t-SNE"
    apart = distances(points)
    same = cluster[:, None] == cluster
    assert apart[same].max() < apart[~same].min()


def test_map_is_the_same_for_the_same_seed():
    rows = np.random.default_rng(0).normal(size=(40, 8))
    np.testing.assert_array_equal(map_embedding(rows, 1)[0], map_embedding(rows, 1)[0])


def test_map_of_few_nodes_is_principal_components():
    rows = np.array([[0.0, 0, 0], [3, 0, 0], [0, 0, 1]])
    points, method = map_embedding(rows, 0)
    assert method == "PCA"
    np.testing.assert_allclose(distances(points), distances(rows))


@pytest.mark.parametrize("rows", [np.ones((30, 4)), np.ones((1, 1)), np.arange(5.0)[:, None]])
def test_map_of_degenerate_rows_is_finite(rows):
    points, method = map_embedding(rows, 0)
    assert method == "PCA"
    assert points.shape == (len(rows), 2)
    assert np.isfinite(points).all()


def test_map_of_one_number_a_node_is_possible():
    points, method = map_embedding(np.arange(40.0)[:, None], 0)
    assert method == "t-SNE"
    assert np.isfinite(points).all()
