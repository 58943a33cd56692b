import networkx as nx
import numpy as np
import pytest

import pgnn
from pgnn.report.drawing import (
    edges_among,
    find_communities,
    is_tangled,
    map_embedding,
    place_nodes,
    sample_nodes,
)

GRAPHS = {
    "grid": pgnn.Graph.from_networkx(
        nx.convert_node_labels_to_integers(nx.grid_2d_graph(40, 40)), weight=None
    ),
    "star": pgnn.Graph.from_networkx(nx.star_graph(1000)),
    "pairs": pgnn.Graph.from_edges(np.arange(1000).reshape(-1, 2)),
    "isolated": pgnn.Graph.from_edges(np.empty((0, 2), dtype=int), 1000),
    "directed": pgnn.Graph.from_edges([(i, i + 1) for i in range(999)], directed=True),
}


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("count", [1, 7, 60, 999])
def test_sample_has_the_number_of_nodes_wanted(name, count):
    nodes = sample_nodes(GRAPHS[name], count, np.random.default_rng(0))
    assert len(nodes) == count
    assert (np.diff(nodes) > 0).all()


def test_small_graph_is_taken_whole():
    nodes = sample_nodes(GRAPHS["grid"], 1600, np.random.default_rng(0))
    assert nodes.tolist() == list(range(1600))


@pytest.mark.parametrize("name", ["grid", "directed"])
def test_sample_is_a_few_connected_pieces(name):
    graph = GRAPHS[name]
    nodes = sample_nodes(graph, 120, np.random.default_rng(1))
    drawn = nx.Graph(edges_among(graph, nodes).tolist())
    drawn.add_nodes_from(range(len(nodes)))
    assert nx.number_connected_components(drawn) <= 6


def test_hub_does_not_fill_the_sample_before_other_parts():
    hub = nx.disjoint_union(nx.star_graph(5000), nx.path_graph(5000))
    nodes = sample_nodes(pgnn.Graph.from_networkx(hub), 120, np.random.default_rng(0))
    assert (nodes > 5000).sum() >= 40


def test_nodes_with_edges_come_before_isolated_ones():
    graph = pgnn.Graph.from_edges([(0, 1), (5, 6), (8, 9)], 500)
    nodes = sample_nodes(graph, 8, np.random.default_rng(0))
    assert {0, 1, 5, 6, 8, 9} <= set(nodes.tolist())


@pytest.mark.parametrize("name", GRAPHS)
def test_required_nodes_are_always_in_the_sample(name):
    required = np.array([3, 500, 998])
    nodes = sample_nodes(GRAPHS[name], 40, np.random.default_rng(0), required=required)
    assert set(required) <= set(nodes)
    assert len(nodes) == 40


@pytest.mark.parametrize("directed", [False, True])
def test_edges_among_nodes_are_those_of_the_graph(directed):
    rng = np.random.default_rng(0)
    graph = pgnn.Graph.from_edges(rng.integers(0, 60, (300, 2)), 60, directed=directed)
    nodes = np.sort(rng.choice(60, 25, replace=False))
    whole = {tuple(sorted(pair)) for pair in graph.edges().tolist()}
    expected = {pair for pair in whole if set(pair) <= set(nodes.tolist())}
    edges = [tuple(sorted(nodes[pair].tolist())) for pair in edges_among(graph, nodes)]
    assert len(edges) == len(set(edges))
    assert set(edges) == expected


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


def planted(groups=8, size=40, *, inside=0.25, across=0.02, seed=0):
    """Communities with so many edges between them that springs alone make one ball."""
    return nx.planted_partition_graph(groups, size, inside, across, seed=seed)


def test_communities_of_a_tangled_graph_are_drawn_apart_and_do_not_overlap():
    graph = planted()
    points = place(graph)
    edges = np.array(graph.edges)
    community = find_communities(edges, len(graph))
    discs = [points[community == code] for code in range(community.max() + 1)]
    assert len(discs) == 8
    centres = np.array([disc.mean(axis=0) for disc in discs])
    radii = [np.linalg.norm(d - c, axis=1).max() for d, c in zip(discs, centres, strict=True)]
    for i in range(len(discs)):
        for j in range(i):
            assert np.linalg.norm(centres[i] - centres[j]) > 0.9 * (radii[i] + radii[j])


def test_nodes_of_a_community_fill_its_disc_evenly():
    points = place(planted())
    apart = distances(points) + 99 * np.eye(len(points))
    nearest = apart.min(axis=1)
    assert np.median(nearest) > 0.25 * nearest.max()


@pytest.mark.parametrize(
    ("graph", "tangled"),
    [
        (planted(), True),
        (nx.barabasi_albert_graph(500, 4, seed=0), True),
        (nx.grid_2d_graph(20, 20), False),
        (nx.path_graph(300), False),
        (nx.connected_caveman_graph(20, 6), False),
        (nx.complete_graph(30), False),  # few nodes can be read as they are
    ],
)
def test_only_graphs_without_room_in_the_plane_are_tangled(graph, tangled):
    assert is_tangled(nx.to_scipy_sparse_array(graph)) is tangled


def test_communities_are_found_largest_first():
    graph = nx.disjoint_union_all([nx.complete_graph(n) for n in (4, 9, 6)])
    community = find_communities(np.array(graph.edges), len(graph))
    assert np.bincount(community).tolist() == [9, 6, 4]
    assert len({*community[:4]}) == len({*community[4:13]}) == 1


def test_nodes_without_edges_are_a_block_beside_the_rest():
    graph = nx.disjoint_union(nx.cycle_graph(30), nx.empty_graph(20))
    lone = place(graph)[30:]
    assert np.ptp(lone[:, 0]) < 12
    assert np.ptp(lone[:, 1]) > 0


@pytest.mark.parametrize("length", [12, 200])
def test_path_is_unrolled(length):
    points = place(nx.path_graph(length))
    apart = distances(points) + 99 * np.eye(length)
    hops = np.abs(np.arange(length)[:, None] - np.arange(length))
    nearest = hops[np.arange(length), apart.argmin(axis=1)]
    assert np.mean(nearest <= 2) > 0.95  # a few touch where the line bends
    assert apart[0, -1] > 2


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


def test_map_of_one_number_per_node_is_possible():
    points, method = map_embedding(np.arange(40.0)[:, None], 0)
    assert method == "t-SNE"
    assert np.isfinite(points).all()
