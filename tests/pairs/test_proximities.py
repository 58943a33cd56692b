"""Pair proximities against the slow twin, and the invariants that must hold."""

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgnn import Graph, PGNNError, pair_proximities
from pgnn.pairs import estimates, proximities
from pgnn.pairs.proximities import proximity_columns
from pgnn.pairs.reference import reference_proximities
from strategies import graphs


@st.composite
def graphs_with_pairs(draw, min_pairs=0, **kinds):
    """A graph of two nodes or more, and pairs of it; about half of them are edges."""
    graph = draw(graphs(**kinds).filter(lambda graph: graph.num_nodes > 1))
    index = st.integers(0, graph.num_nodes - 1)
    pair = st.tuples(index, index).filter(lambda pair: pair[0] != pair[1])
    edges = graph.edges().tolist()
    if edges:
        pair = pair | st.sampled_from(edges).map(tuple)
        if not graph.directed:
            pair = pair | st.sampled_from(edges).map(lambda edge: (edge[1], edge[0]))
    return graph, draw(st.lists(pair, min_size=min_pairs, max_size=24))


def assert_close(values, expected, columns, rtol=2e-5, atol=3e-8):
    """Compare column by column, so that a failure names the column."""
    for place, name in enumerate(columns):
        np.testing.assert_allclose(
            values[:, place], expected[:, place], rtol=rtol, atol=atol, err_msg=name
        )


def without_edge(graph, u, v):
    """The graph without the edge from u to v."""
    edges, weights = graph.edges(), graph.edge_weights()
    gone = (edges == (u, v)).all(axis=1)
    if not graph.directed:
        gone |= (edges == (v, u)).all(axis=1)
    weights = None if weights is None else weights[~gone]
    return Graph.from_edges(edges[~gone], graph.num_nodes, weights=weights, directed=graph.directed)


def all_pairs(graph):
    n = graph.num_nodes
    return [(u, v) for u in range(n) for v in range(n) if u != v]


FAMILIES = {
    "karate": Graph.from_networkx(nx.karate_club_graph(), weight=None),
    "strong karate": Graph.from_networkx(nx.karate_club_graph()),
    "grid": Graph.from_networkx(nx.grid_2d_graph(5, 6)),
    "path": Graph.from_networkx(nx.path_graph(31)),
    "star": Graph.from_networkx(nx.star_graph(40)),
    "tree": Graph.from_networkx(nx.random_labeled_tree(30, seed=1)),
    "cycle": Graph.from_networkx(nx.cycle_graph(30)),
    "two cliques": Graph.from_networkx(nx.barbell_graph(8, 3)),
    "complete": Graph.from_networkx(nx.complete_graph(12)),
    "weighted path": Graph.from_edges([(0, 4), (1, 2), (1, 4)], weights=[0.25, 0.25, 1.0]),
    "two nodes": Graph.from_edges([(0, 1)]),
    "no edges": Graph.from_edges(np.empty((0, 2), dtype=int), 3),
    "directed cycle": Graph.from_networkx(nx.cycle_graph(20, create_using=nx.DiGraph)),
    "directed random": Graph.from_networkx(nx.gnp_random_graph(25, 0.15, seed=2, directed=True)),
    "layers": Graph.from_edges([(i, j) for i in range(24) for j in range(i + 1, 24) if j - i < 4],
                               directed=True),
}  # fmt: skip


@given(case=graphs_with_pairs(), weights=st.sampled_from(["strength", "length"]))
@settings(max_examples=200)
def test_proximities_equal_the_twin(case, weights):
    graph, pairs = case
    q = pair_proximities(graph, pairs, weights=weights)
    assert q.is_exact
    assert q.values.shape == (len(pairs), len(proximity_columns(graph.directed)))
    assert_close(q.values, reference_proximities(graph, pairs, weights=weights), q.columns)


@pytest.mark.parametrize("name", FAMILIES)
def test_all_pairs_of_families_equal_the_twin(name):
    graph = FAMILIES[name]
    q = pair_proximities(graph, all_pairs(graph))
    assert_close(q.values, reference_proximities(graph, all_pairs(graph)), q.columns)


@pytest.mark.parametrize("hub", [0, 79])
def test_hub_beside_a_small_node_equals_the_twin(hub):
    """A row much longer than the other is searched, not scanned, whichever comes first."""
    ring = [v for v in range(80) if v != hub]
    edges = [(hub, v) for v in ring] + list(pairwise(ring[:41]))
    graph = Graph.from_edges(edges)
    pairs = [(hub, ring[5]), (ring[5], ring[7]), (ring[6], hub), (ring[5], ring[60])]
    q = pair_proximities(graph, pairs)
    assert_close(q.values, reference_proximities(graph, pairs), q.columns)


@given(case=graphs_with_pairs(directed=False))
def test_turned_pairs_have_the_same_values_to_the_bit(case):
    graph, pairs = case
    turned = [(v, u) for u, v in pairs]
    np.testing.assert_array_equal(
        pair_proximities(graph, pairs).values, pair_proximities(graph, turned).values
    )


SWAPPED = {"forward": "backward", "source": "target"}
SWAPPED |= {new: old for old, new in SWAPPED.items()}


@given(case=graphs_with_pairs(directed=True))
def test_turned_pairs_of_a_directed_graph_swap_their_columns(case):
    graph, pairs = case
    joined = {tuple(edge) for edge in graph.edges().tolist()}
    pairs = [(u, v) for u, v in pairs if (u, v) not in joined and (v, u) not in joined]
    q = pair_proximities(graph, pairs)
    turned = pair_proximities(graph, [(v, u) for u, v in pairs])
    for name in q.columns:
        start, _, end = name.rpartition("_")
        other = f"{start}_{SWAPPED[end]}" if end in SWAPPED else name
        np.testing.assert_allclose(turned.column(other), q.column(name), rtol=1e-6, err_msg=name)


@given(case=graphs_with_pairs(min_pairs=1))
def test_pair_has_the_same_values_with_and_without_its_edge(case):
    graph, pairs = case
    for u, v in pairs[:6]:
        with_it = pair_proximities(graph, [(u, v)])
        without = pair_proximities(without_edge(graph, u, v), [(u, v)])
        assert_close(with_it.values, without.values, with_it.columns, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("name", ["tree", "path", "weighted path", "star", "two cliques", "layers"])
def test_zero_stays_zero_when_an_edge_is_left_out(name):
    """A trace of rounding where a pair without an edge has 0 would tell a model the answer."""
    graph = FAMILIES[name]
    for u, v in graph.edges().tolist():
        with_it = pair_proximities(graph, [(u, v)]).values
        without = pair_proximities(without_edge(graph, u, v), [(u, v)]).values
        np.testing.assert_array_equal(with_it == 0, without == 0)


@given(data=st.data(), case=graphs_with_pairs())
def test_relabelling_nodes_changes_nothing(data, case):
    graph, pairs = case
    order = np.array(data.draw(st.permutations(range(graph.num_nodes))))  # old -> new
    turned = Graph.from_edges(
        order[graph.edges()],
        graph.num_nodes,
        weights=graph.edge_weights(),
        directed=graph.directed,
    )
    there = pair_proximities(turned, order[np.array(pairs, dtype=int).reshape(-1, 2)])
    here = pair_proximities(graph, pairs)
    assert_close(there.values, here.values, here.columns, rtol=1e-5, atol=1e-9)


def random_pairs(graph, count, seed):
    drawn = np.random.default_rng(seed).integers(0, graph.num_nodes, (count, 2))
    return np.concatenate([graph.edges(), drawn[drawn[:, 0] != drawn[:, 1]]])


LARGER = {
    "hubs": Graph.from_networkx(nx.barabasi_albert_graph(400, 3, seed=3)),
    "grid": Graph.from_networkx(nx.grid_2d_graph(20, 20)),
    "directed": Graph.from_networkx(nx.scale_free_graph(300, seed=4)),
}


@pytest.mark.parametrize("name", LARGER)
@pytest.mark.parametrize("num_threads", [2, 3])
def test_threads_do_not_change_a_bit(name, num_threads):
    graph = LARGER[name]
    pairs = random_pairs(graph, 3000, seed=5)
    one = pair_proximities(graph, pairs, num_threads=1)
    many = pair_proximities(graph, pairs, num_threads=num_threads)
    np.testing.assert_array_equal(one.values, many.values)


@pytest.mark.parametrize("name", LARGER)
def test_order_and_company_of_pairs_do_not_matter(name):
    graph = LARGER[name]
    pairs = random_pairs(graph, 500, seed=6)
    q = pair_proximities(graph, pairs)
    order = np.random.default_rng(7).permutation(len(pairs))
    shuffled = pair_proximities(graph, pairs[order])
    np.testing.assert_array_equal(shuffled.values, q.values[order])
    alone = pair_proximities(graph, pairs[order[:5]])
    assert_close(alone.values, q.values[order[:5]], q.columns, rtol=1e-6, atol=1e-9)
    twice = pair_proximities(graph, np.concatenate([pairs, pairs]))
    np.testing.assert_array_equal(twice.values[: len(pairs)], twice.values[len(pairs) :])


def test_hops_equal_networkx_beyond_the_cap_too():
    graph = LARGER["grid"]
    theirs = dict(nx.all_pairs_shortest_path_length(graph.to_networkx()))
    ids = graph.node_ids.tolist()
    pairs = [(u, v) for u, v in random_pairs(graph, 500, seed=8).tolist()]
    joined = {tuple(edge) for edge in graph.edges().tolist()}
    pairs = [pair for pair in pairs if tuple(sorted(pair)) not in joined]
    for cap in (1, 7, 48):
        expected = [min(theirs[ids[u]][ids[v]], cap + 1) for u, v in pairs]
        hops = pair_proximities(graph, pairs, max_hops=cap).column("hops")
        assert hops.tolist() == expected


def test_counts_equal_networkx():
    graph = LARGER["hubs"]
    theirs, pairs = graph.to_networkx(), random_pairs(graph, 500, seed=9).tolist()
    q = pair_proximities(graph, pairs)
    common = [len(list(nx.common_neighbors(theirs, u, v))) for u, v in pairs]
    assert q.column("common_neighbours").tolist() == common
    for name, function in (
        ("adamic_adar", nx.adamic_adar_index),
        ("resource_allocation", nx.resource_allocation_index),
    ):
        expected = [score for _, _, score in function(theirs, pairs)]
        np.testing.assert_allclose(q.column(name), expected, rtol=1e-6)
    far = [(u, v) for u, v in pairs if not theirs.has_edge(u, v)]
    q = pair_proximities(graph, far)
    core, clustering = nx.core_number(theirs), nx.clustering(theirs)
    for name, of_node in (("core", core), ("clustering", clustering)):
        expected = np.sort([[of_node[u], of_node[v]] for u, v in far], axis=1)
        np.testing.assert_allclose(q.column(f"{name}_min"), expected[:, 0], rtol=1e-6)
        np.testing.assert_allclose(q.column(f"{name}_max"), expected[:, 1], rtol=1e-6)


def test_pagerank_equals_the_inverse_on_a_larger_graph():
    for graph in LARGER.values():
        pairs = random_pairs(graph, 300, seed=10)
        pairs = pairs[len(graph.edges()) :]
        matrix = (graph.to_scipy().toarray() > 0).astype(float)
        out, into = np.maximum(matrix.sum(axis=1), 1), np.maximum(matrix.sum(axis=0), 1)
        for u, v in graph.edges().tolist():  # only pairs that are no edges are compared
            pairs = pairs[~((pairs == (u, v)).all(axis=1) | (pairs == (v, u)).all(axis=1))]
        walk = matrix / np.sqrt(np.outer(out, into))
        inverse = np.linalg.inv(np.eye(len(walk)) - 0.85 * walk)
        q = pair_proximities(graph, pairs)
        name = "pagerank_0.15" + "_forward" * graph.directed
        np.testing.assert_allclose(
            q.column(name), inverse[pairs[:, 0], pairs[:, 1]], rtol=2e-6, atol=3e-8
        )


@pytest.mark.parametrize("directed", [False, True])
def test_no_pairs_have_no_rows(directed):
    graph = Graph.from_edges([(0, 1), (1, 2)], directed=directed)
    q = pair_proximities(graph, [])
    assert q.values.shape == (0, len(q.columns))
    assert q.columns == proximity_columns(directed)
    assert q.is_exact


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(0, 3)], r"pairs\[0\] is \(0, 3\), but node indices must lie in 0..2"),
        ([(0, 1), (-1, 2)], r"pairs\[1\] is \(-1, 2\)"),
        ([(0.5, 1.0)], r"pairs must be integer node indices of shape \[num_pairs, 2\]"),
        ([(0, 1, 2)], r"pairs must be integer node indices"),
        ([(0, 1), (2, 2)], r"pairs must be of two different nodes \(got pairs\[1\] = \(2, 2\)\)"),
    ],
)
def test_bad_pairs_are_named(pairs, message):
    with pytest.raises(PGNNError, match=message):
        pair_proximities(Graph.from_edges([(0, 1), (1, 2)]), pairs)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": "cost"}, r"weights must be one of strength, length \(got 'cost'\)"),
        ({"method": "fast"}, r"method must be one of auto, exact, estimated \(got 'fast'\)"),
        ({"max_hops": 0}, r"max_hops must be a positive integer \(got 0\)"),
        ({"max_hops": 2.0}, r"max_hops must be an integer \(got 2.0\)"),
        ({"num_threads": 0}, r"num_threads must be a positive integer \(got 0\)"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(PGNNError, match=message):
        pair_proximities(Graph.from_edges([(0, 1), (1, 2)]), [(0, 2)], **options)


@pytest.mark.parametrize(("weight", "weights"), [(1e308, "strength"), (1e-320, "length")])
def test_weights_beyond_numbers_are_refused(weight, weights):
    graph = Graph.from_edges([(0, 1), (1, 2)], weights=[weight, weight])
    with pytest.raises(PGNNError, match="too large or too small to add up as strengths"):
        pair_proximities(graph, [(0, 2)], weights=weights)


def test_result_is_read_only_and_names_its_columns():
    q = pair_proximities(FAMILIES["karate"], [(0, 33)])
    assert repr(q) == "PairProximities(pairs=1, columns=32, exact)"
    with pytest.raises(ValueError, match="read-only"):
        q.values[0, 0] = 1
    with pytest.raises(PGNNError, match="there is no column 'paths'; there are walk_2, "):
        q.column("paths")


def test_progress_rises_to_all_sources():
    calls = []
    graph = LARGER["grid"]
    pairs = random_pairs(graph, 500, seed=11)
    pair_proximities(graph, pairs, progress=lambda done, total: calls.append((done, total)))
    assert calls == sorted(set(calls))
    assert calls[-1][0] == calls[-1][1] > 100


# ---------------------------------------------------------------------- estimated

WALKS = [f"walk_{length}" for length in (2, 3, 4, 5, 6, 8, 12, 16, 24)]


@given(case=graphs_with_pairs(min_pairs=1), weights=st.sampled_from(["strength", "length"]))
@settings(max_examples=100)
def test_estimated_values_of_small_graphs_equal_the_twin(case, weights):
    """Balls hold all of a small graph: only the end of PageRank's sum is estimated."""
    graph, pairs = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(estimates, "BALL_EDGES", (1 << 20, 1 << 20))
        q = pair_proximities(graph, pairs, weights=weights, method="estimated")
    assert not q.is_exact
    expected = reference_proximities(graph, pairs, weights=weights)
    is_pagerank = np.array([name.startswith("pagerank_0.15") for name in q.columns])
    columns = np.array(q.columns)
    assert_close(q.values[:, ~is_pagerank], expected[:, ~is_pagerank], columns[~is_pagerank])
    np.testing.assert_allclose(
        q.values[:, is_pagerank], expected[:, is_pagerank], rtol=0.05, atol=0.02
    )


@given(case=graphs_with_pairs(min_pairs=1))
def test_estimated_pair_has_the_same_values_with_and_without_its_edge(case):
    graph, pairs = case
    for u, v in pairs[:4]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(estimates, "BALL_EDGES", (1 << 20, 1 << 20))
            with_it = pair_proximities(graph, [(u, v)], method="estimated")
            without = pair_proximities(without_edge(graph, u, v), [(u, v)], method="estimated")
        is_exact = np.array([not name.startswith("pagerank") for name in with_it.columns])
        assert_close(
            with_it.values[:, is_exact],
            without.values[:, is_exact],
            np.array(with_it.columns)[is_exact],
            rtol=1e-5,
            atol=1e-9,
        )


def test_long_walks_are_estimated_without_the_own_edge(monkeypatch):
    monkeypatch.setattr(estimates, "BALL_EDGES", (1, 1))
    graph = FAMILIES["complete"]
    with_it = pair_proximities(graph, [(0, 1)], method="estimated")
    without = pair_proximities(without_edge(graph, 0, 1), [(0, 1)], method="estimated")
    exact = pair_proximities(graph, [(0, 1)], method="exact")
    for name in ("walk_16", "walk_24"):
        np.testing.assert_allclose(with_it.column(name), without.column(name), rtol=1e-5)
        np.testing.assert_allclose(with_it.column(name), exact.column(name), rtol=5e-3)


def mixing_graph(directed):
    edges = np.random.default_rng(12).integers(0, 1500, (15_000, 2))
    return Graph.from_edges(edges, 1500, directed=directed)


@pytest.mark.parametrize("directed", [False, True])
def test_estimates_of_a_mixing_graph_are_close(directed):
    graph = mixing_graph(directed)
    pairs = random_pairs(graph, 2000, seed=13)[-4000:]
    exact = pair_proximities(graph, pairs, method="exact")
    q = pair_proximities(graph, pairs, method="estimated")
    ends = ("_forward", "_backward") if directed else ("",)
    for name in q.columns:
        if name.startswith(("pagerank", "walk_8", "walk_12", "walk_16", "walk_24")):
            rtol = {"walk_8": 0.15, "pagerank_0.15": 0.05, "pagerank_0.5": 0.05}
            bound = next((rtol[key] for key in rtol if name.startswith(key)), 0.02)
            np.testing.assert_allclose(
                q.column(name), exact.column(name), rtol=bound, atol=1e-7, err_msg=name
            )
        elif name not in [f"walk_{k}{end}" for k in (5, 6) for end in ends]:
            np.testing.assert_allclose(
                q.column(name), exact.column(name), rtol=1e-5, atol=1e-9, err_msg=name
            )
    assert "Walks are exact up to" in q.estimated


def test_method_is_chosen_by_the_graph_alone(monkeypatch):
    graph = LARGER["grid"]
    assert pair_proximities(graph, [(0, 1)]).is_exact
    monkeypatch.setattr(proximities, "EXACT_WORK", 1e6)
    for count in (1, 300):
        assert not pair_proximities(graph, random_pairs(graph, count, seed=14)).is_exact
    assert pair_proximities(graph, [(0, 1)], method="exact").is_exact


@pytest.mark.parametrize("name", LARGER)
def test_threads_do_not_change_a_bit_of_estimates(name, monkeypatch):
    monkeypatch.setattr(estimates, "BALL_EDGES", (50, 200))
    graph = LARGER[name]
    pairs = random_pairs(graph, 3000, seed=15)
    one = pair_proximities(graph, pairs, method="estimated", num_threads=1)
    many = pair_proximities(graph, pairs, method="estimated", num_threads=3)
    np.testing.assert_array_equal(one.values, many.values)


def test_short_walks_are_exact_however_small_the_balls(monkeypatch):
    monkeypatch.setattr(estimates, "BALL_EDGES", (1, 1))
    graph = LARGER["hubs"]
    pairs = random_pairs(graph, 500, seed=16)
    exact = pair_proximities(graph, pairs, method="exact").column("walk_2")
    q = pair_proximities(graph, pairs, method="estimated")
    np.testing.assert_allclose(q.column("walk_2"), exact, rtol=1e-5)
    assert np.isfinite(q.values).all()
    assert (q.values >= 0).all()


def test_estimated_walks_between_components_are_zero():
    graph = Graph.disjoint_union([mixing_graph(False), LARGER["grid"], LARGER["hubs"]])
    q = pair_proximities(graph, [(0, 1600), (1600, 2100), (0, 2100)], method="estimated")
    for name in WALKS:
        assert not q.column(name).any()


def test_search_that_is_stopped_gives_a_lower_bound(monkeypatch):
    graph = LARGER["grid"]
    pairs = random_pairs(graph, 200, seed=17)
    exact = pair_proximities(graph, pairs).column("hops")
    monkeypatch.setattr(proximities, "SEARCH_EDGES", 100)
    q = pair_proximities(graph, pairs, method="estimated")
    assert (q.column("hops") <= exact).all()
    assert (q.column("hops") < exact).any()
    assert "Hops of " in q.estimated


def test_paths_over_hubs_are_estimated_by_their_number(monkeypatch):
    graph = LARGER["hubs"]
    pairs = random_pairs(graph, 2000, seed=18)
    exact = pair_proximities(graph, pairs).column("three_paths")
    monkeypatch.setattr(proximities, "HUB_DEGREE", 25)
    q = pair_proximities(graph, pairs, method="estimated").column("three_paths")
    assert not np.array_equal(q, exact)
    assert np.corrcoef(q, exact)[0, 1] > 0.8
    assert 0.8 < q.mean() / exact.mean() < 1.25


def test_core_numbers_that_were_not_followed_are_reported(monkeypatch):
    # Without (0, 1) node 1 falls, then 2, 3, 4 and 5 in turn, and at last 0, which had support.
    edges = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (0, 6)]
    graph = Graph.from_edges(edges)
    assert pair_proximities(graph, [(0, 1)]).column("core_max").tolist() == [1]
    ladder = Graph.from_networkx(nx.ladder_graph(6))
    monkeypatch.setattr(proximities, "_MAX_FALLS", 0)
    corner = pair_proximities(ladder, [(0, 1), (1, 2)])
    assert "may be one too high" in corner.estimated
