"""Candidate pairs against lists of all pairs, and the best of them against sorting everything."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgnn import Graph, PGNNError
from pgnn.prediction import candidates as candidates_module
from pgnn.prediction.candidates import Candidates, both_ways, candidate_pairs, top_pairs
from pgnn.prediction.kernels import hops as hops_module
from pgnn.prediction.kernels import nearest as nearest_module
from prediction_helpers import assert_well_formed, every_pair, gaps_to, pairs_at, star, undirected
from strategies import graphs

METRICS = ["distance", "dot"]


def resource_allocation(graph, pairs):
    pairs = [tuple(pair) for pair in pairs]
    return [s for _, _, s in nx.resource_allocation_index(undirected(graph), pairs)]


def some_graph(num_nodes=150, degree=5, seed=0):
    return Graph.from_networkx(nx.gnm_random_graph(num_nodes, num_nodes * degree // 2, seed=seed))


# ------------------------------------------------------------------ all pairs


@settings(max_examples=60)
@given(graph=graphs(), include_edges=st.booleans(), data=st.data())
def test_few_pairs_are_all_listed(graph, include_edges, data):
    index = st.integers(0, graph.num_nodes - 1)
    nodes = data.draw(st.none() | st.lists(index, min_size=1, max_size=5))
    expected = every_pair(graph, nodes, include_edges)
    limit = max(1, len(expected))
    found = candidate_pairs(graph, nodes=nodes, include_edges=include_edges, limit=limit)
    assert found.pairs.tolist() == expected
    assert found.exact
    assert f"{len(expected):,}" in found.how or (not expected and "no pair" in found.how)
    if len(expected) > 1:
        less = candidate_pairs(graph, nodes=nodes, include_edges=include_edges, limit=limit - 1)
        assert not less.exact


@pytest.mark.parametrize(
    ("graph", "arguments", "how"),
    [
        (Graph.from_networkx(nx.complete_graph(5)), {}, "there are no pairs without an edge"),
        (Graph.from_edges([], 1), {}, "there are no pairs without an edge"),
        (star(4), {"nodes": 0}, "there are no pairs of 1 node without an edge"),
        (star(2), {}, "all 1 pair without an edge"),
        (star(60), {}, "all 1,770 pairs without an edge"),
        (star(60), {"nodes": [4, 2, 4]}, "all 117 pairs of 2 nodes without an edge"),
        (star(4), {"include_edges": True}, "all 10 pairs"),
    ],
)
def test_how_says_that_all_pairs_are_listed(graph, arguments, how):
    found = candidate_pairs(graph, **arguments)
    assert (found.exact, found.how) == (True, how)
    assert found.pairs.shape[1] == 2


# ------------------------------------------------------------------ near in the graph


@settings(max_examples=60)
@given(
    graph=graphs(),
    include_edges=st.booleans(),
    limit=st.integers(1, 60),
    metric=st.sampled_from(METRICS),
    data=st.data(),
)
def test_likely_pairs_are_well_formed(graph, include_edges, limit, metric, data):
    n = graph.num_nodes
    nodes = data.draw(st.none() | st.lists(st.integers(0, n - 1), min_size=1, max_size=5))
    kind = data.draw(st.sampled_from(["none", "zero", "repeated", "any", "huge"]))
    x = np.random.default_rng(0).normal(size=(n, 3))
    x = {"zero": 0 * x, "repeated": x[np.arange(n) % 2], "any": x, "huge": x * 1e37}.get(kind)
    options = {"nodes": nodes, "include_edges": include_edges, "limit": limit, "metric": metric}
    found = candidate_pairs(graph, x, num_neighbours=4, **options)
    assert_well_formed(found, graph, nodes, include_edges)
    assert len(found.pairs) <= limit
    total = len(every_pair(graph, nodes, include_edges))
    assert found.exact == (total <= limit)
    if not found.exact:
        assert f": {len(found.pairs):,} of {total:,} pair" in found.how
        near = pairs_at(graph, {1, 2} if include_edges else {2}, nodes)
        assert len(found.pairs) >= min(limit, len(near))
        if x is not None:  # every node has nearest ones, so that isolated nodes are not left out
            assert len(found.pairs) > 0


@settings(max_examples=60)
@given(graph=graphs(), include_edges=st.booleans(), data=st.data())
def test_pairs_within_hops_are_all_listed_where_they_fit(graph, include_edges, data):
    index = st.integers(0, graph.num_nodes - 1)
    nodes = data.draw(st.none() | st.lists(index, min_size=1, max_size=5))
    first = {1} if include_edges else set()
    total = len(every_pair(graph, nodes, include_edges))
    for hops in ({2}, {2, 3}):
        expected = pairs_at(graph, first | hops, nodes)
        if not 0 < len(expected) < total:
            continue
        found = candidate_pairs(
            graph, nodes=nodes, include_edges=include_edges, limit=len(expected)
        )
        assert found.pairs.tolist() == expected
        assert found.how.startswith("pairs within ")


@pytest.mark.parametrize("hops", [2, 3])
@pytest.mark.parametrize("node", [0, 7, 31])
def test_pairs_of_a_node_are_its_best(hops, node):
    # Has triangles: what a neighbour gives to another neighbour must not count.
    graph = Graph.from_networkx(nx.watts_strogatz_graph(80, 6, 0.3, seed=0))
    plain = undirected(graph)
    parts = {v: 1.0 / max(1, plain.degree(v)) for v in plain}
    two = pairs_at(graph, {2}, [node])
    pairs = pairs_at(graph, {hops}, [node])
    matrix = nx.to_numpy_array(plain)
    # What flows outwards only: paths of shortest length, each worth 1 / degrees of inner nodes.
    worth = np.diag(list(parts.values()))
    flow = (matrix @ worth @ matrix)[node]
    if hops == 3:
        at_two = np.isin(np.arange(80), [v if u == node else u for u, v in two])
        flow = (flow * at_two) @ worth @ matrix
    scores = np.array([flow[v if u == node else u] for u, v in pairs])
    if hops == 2:
        np.testing.assert_allclose(scores, resource_allocation(graph, pairs))
    room = len(pairs) // 3
    before = [] if hops == 2 else two
    found = candidate_pairs(graph, nodes=[node], limit=len(before) + room).pairs.tolist()
    kept = np.array([pair in found for pair in pairs])
    assert kept.sum() == room > 0
    assert all(pair in found for pair in before)
    assert scores[kept].min() >= scores[~kept].max() - 1e-6
    assert scores[kept].max() > scores[~kept].min() + 1e-6


def test_every_node_has_its_best_pairs():
    graph = some_graph(200, 6)
    pairs = pairs_at(graph, {2})
    scores = dict(zip(map(tuple, pairs), resource_allocation(graph, pairs), strict=True))
    found = set(map(tuple, candidate_pairs(graph, limit=600).pairs.tolist()))
    assert len(found) == 600
    for node in range(200):
        own = sorted((s for pair, s in scores.items() if node in pair), reverse=True)
        if own:
            assert max(scores[pair] for pair in found if node in pair) >= own[0] - 1e-6


def test_directions_are_not_read():
    graph = some_graph()
    turned = np.random.default_rng(0).permuted(graph.edges(), axis=1)
    directed = Graph.from_edges(turned, graph.num_nodes, directed=True)
    for limit in (300, 10_000_000):
        expected = candidate_pairs(graph, limit=limit)
        found = candidate_pairs(directed, limit=limit)
        assert found.how == expected.how
        np.testing.assert_array_equal(found.pairs, expected.pairs)


def test_edges_are_cut_where_they_do_not_fit():
    graph = some_graph()
    found = candidate_pairs(graph, limit=100, include_edges=True)
    assert len(found.pairs) == 100
    assert found.how.startswith("some edges, likely pairs 2 hops apart: 100 of ")
    joined = undirected(graph)
    assert all(joined.has_edge(u, v) for u, v in found.pairs.tolist())


# ------------------------------------------------------------------ near in the embedding


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("include_edges", [False, True])
def test_nearest_embeddings_are_the_nearest(metric, include_edges):
    graph = Graph.from_edges(np.random.default_rng(1).integers(30, size=(20, 2)), 90)
    x = np.random.default_rng(0).normal(size=(90, 5)).astype(np.float32)
    lonely = np.flatnonzero(graph.degrees == 0)[:5]
    linked = np.flatnonzero(graph.degrees == graph.degrees.max())[:1]
    for node in [*lonely, *linked]:
        gaps = gaps_to(x, node, metric)
        allowed = every_pair(graph, [node], include_edges)
        others = np.array([v if u == node else u for u, v in allowed])
        nearest = others[np.argsort(gaps[others])[:6]]
        found = candidate_pairs(
            graph, x, nodes=[node], include_edges=include_edges,
            limit=50, num_neighbours=6, metric=metric,
        )  # fmt: skip
        near = {int(u + v - node) for u, v in found.pairs}
        assert near >= set(nearest.tolist())
        if not len(graph.neighbors(node)):
            assert near == set(nearest.tolist())
            assert "the 6 nearest embeddings of each node: 6 of 89" in found.how


def test_nearest_share_the_limit_with_hops():
    graph = some_graph(200, 6)
    x = np.random.default_rng(0).normal(size=(200, 4))
    nearest = {(min(u, v), max(u, v)) for u in range(200) for v in
               [w for w in np.argsort(gaps_to(x, u, "distance")).tolist()
                if w != u and w not in graph.neighbors(u)][:10]}  # fmt: skip
    found = candidate_pairs(graph, x, limit=1000, num_neighbours=10)
    chosen = set(map(tuple, found.pairs.tolist()))
    two = set(map(tuple, pairs_at(graph, {2})))
    assert len(chosen) == 1000
    assert chosen <= nearest | two
    assert len(chosen & nearest) >= 500
    assert len(chosen - nearest) >= 400
    assert "likely pairs 2 hops apart and up to 10 nearest embeddings" in found.how


def test_huge_embeddings_are_compared():
    x = np.arange(50.0)[:, None] * 1e36
    found = candidate_pairs(Graph.from_edges([], 50), x, limit=200, num_neighbours=1)
    assert set(np.diff(found.pairs, axis=1).ravel().tolist()) == {1}


# ------------------------------------------------------------------ what holds for all


@pytest.mark.parametrize("products", [0, 1 << 60])
def test_pairs_do_not_depend_on_threads_but_on_the_seed(monkeypatch, products):
    monkeypatch.setattr(nearest_module, "_EXACT_PRODUCTS", products)
    monkeypatch.setattr(hops_module, "_MAX_STEPS", 30_000)
    graph = Graph.from_networkx(nx.barabasi_albert_graph(1200, 4, seed=0))
    x = np.random.default_rng(0).normal(size=(1200, 6)).round(1)
    found = {}
    for threads in (1, 2, 5):
        for module in (hops_module, nearest_module):
            monkeypatch.setattr(module, "resolve_threads", lambda _, count=threads: count)
        found[threads] = candidate_pairs(graph, x, limit=9000, rng=3)
    np.testing.assert_array_equal(found[1].pairs, found[2].pairs)
    np.testing.assert_array_equal(found[1].pairs, found[5].pairs)
    again = candidate_pairs(graph, x, limit=9000, rng=np.random.default_rng(3))
    np.testing.assert_array_equal(found[1].pairs, again.pairs)
    other = candidate_pairs(graph, x, limit=9000, rng=4)
    assert not np.array_equal(found[1].pairs, other.pairs)


def test_of_a_huge_graph_the_best_pairs_of_all_are_listed(monkeypatch):
    monkeypatch.setattr(candidates_module, "_MANY_NODES", 400)
    # A few dense groups among many nodes: the lists of all nodes would have one pair each.
    groups = [nx.gnp_random_graph(20, 0.7, seed=seed) for seed in range(4)]
    sparse = nx.random_regular_graph(6, 400, seed=0)
    graph = Graph.from_networkx(nx.disjoint_union_all([*groups, sparse]))
    listed = candidate_pairs(graph, limit=150)
    assert_well_formed(listed, graph)
    assert len(listed.pairs) == 150
    assert (listed.pairs < 80).all()
    some = candidate_pairs(graph, limit=150, nodes=[100, 101])
    assert np.isin(some.pairs, [100, 101]).any(axis=1).all()


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", ["caveman", "blocks"])
def test_held_out_links_are_among_likely_pairs(kind, seed):
    if kind == "caveman":
        whole = nx.connected_caveman_graph(40, 8)
        limit, expected = 4 * 320, 0.9
    else:
        inside, outside = 0.3, 0.002
        odds = np.full((10, 10), outside) + np.eye(10) * (inside - outside)
        whole = nx.stochastic_block_model([30] * 10, odds, seed=seed)
        limit, expected = 12 * 300, 0.75  # as many as there are pairs inside blocks
    whole = Graph.from_networkx(whole)
    generator = np.random.default_rng(seed)
    edges = generator.permutation(whole.edges())
    cut = len(edges) // 10
    held_out = np.sort(edges[:cut], axis=1)
    graph = Graph.from_edges(edges[cut:], whole.num_nodes)
    found = candidate_pairs(graph, limit=limit)
    keys = found.pairs @ [whole.num_nodes, 1]
    recall = np.isin(held_out @ [whole.num_nodes, 1], keys).mean()
    by_chance = len(found.pairs) / len(every_pair(graph))
    assert recall >= expected
    assert recall >= 8 * by_chance


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"nodes": [9]}, r"nodes must be node indices, in 0..5 \(got 9\)"),
        ({"nodes": [-1]}, r"\(got -1\)"),
        ({"nodes": []}, "one or more node indices"),
        ({"nodes": [0.5]}, "got float64"),
        ({"nodes": [[0, 1]]}, r"of shape \[1, 2\]"),
        ({"limit": 0}, r"limit must be a positive integer \(got 0\)"),
        ({"limit": 2.5}, "limit must be a positive integer"),
        ({"num_neighbours": 0}, "num_neighbours must be a positive integer"),
        ({"metric": "cosine"}, "metric must be"),
        ({"embedding": np.ones((5, 2))}, r"\[6, d\] \(got \[5, 2\]\)"),
        ({"embedding": np.ones(6)}, r"\(got \[6\]\)"),
        ({"embedding": np.ones((6, 0))}, r"\(got \[6, 0\]\)"),
        ({"embedding": [["a"]] * 6}, "embedding must be numbers"),
        ({"embedding": [[1.0]] * 5 + [[np.nan]]}, r"embedding\[5, 0\] = nan"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    with pytest.raises(PGNNError, match=message):
        candidate_pairs(star(5), **arguments)


# ------------------------------------------------------------------ the best by a score


def coarse(pairs):
    """Scores with many ties, the same for a pair wherever it is."""
    return ((pairs * [7, 3]).sum(axis=1) % 5).astype(np.float64)


def best_by_sorting(pairs, top):
    order = sorted(range(len(pairs)), key=lambda i: (-coarse(pairs)[i], *pairs[i]))
    return pairs[order[:top]]


@settings(max_examples=40)
@given(graph=graphs(), top=st.integers(1, 300), chunk=st.integers(1, 40))
def test_top_pairs_equal_sorting_in_any_chunks(graph, top, chunk):
    found = candidate_pairs(graph)
    pairs, scores = top_pairs(found, coarse, top, chunk=chunk)
    np.testing.assert_array_equal(pairs, best_by_sorting(found.pairs, top))
    np.testing.assert_array_equal(scores, coarse(pairs))
    assert len(pairs) == min(top, len(found.pairs))


@settings(max_examples=40)
@given(graph=graphs(), top=st.integers(1, 30), chunk=st.integers(1, 40), data=st.data())
def test_top_pairs_per_node_equal_sorting(graph, top, chunk, data):
    index = st.integers(0, graph.num_nodes - 1)
    nodes = data.draw(st.lists(index, min_size=1, max_size=6, unique=True))
    found = candidate_pairs(graph)
    pairs, scores = top_pairs(found, coarse, top, per_node=np.array(nodes), chunk=chunk)
    expected, values = [], []
    for node in nodes:
        own = best_by_sorting(found.pairs[(found.pairs == node).any(axis=1)], top)
        expected += [[node, int(u + v - node)] for u, v in own]
        values += coarse(own).tolist()
    assert pairs.tolist() == expected
    assert scores.tolist() == values


def test_top_pairs_may_have_infinite_scores():
    found = candidate_pairs(star(3))
    values = np.array([-np.inf, np.inf, 0.0])
    pairs, scores = top_pairs(found, lambda _: values, 2)
    assert pairs.tolist() == [[1, 3], [2, 3]]
    assert scores.tolist() == [np.inf, 0.0]


def test_scores_are_asked_for_in_chunks_and_only_for_asked_nodes():
    sizes = []

    def score(pairs):
        sizes.append(len(pairs))
        return coarse(pairs)

    found = candidate_pairs(star(8))
    top_pairs(found, score, 3, chunk=10)
    assert sizes == [10, 10, 8]
    sizes.clear()
    top_pairs(found, score, 3, per_node=np.array([2, 2]))
    assert sizes == [7]


def test_top_pairs_of_no_candidates_are_none():
    empty = Candidates(np.empty((0, 2), dtype=np.int64), True, "there are none")
    for per_node in (None, np.array([1])):
        pairs, scores = top_pairs(empty, coarse, 5, per_node=per_node)
        assert pairs.shape == (0, 2)
        assert scores.shape == (0,)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"top": 0}, r"top must be a positive integer \(got 0\)"),
        ({"top": True}, "top must be a positive integer"),
        ({"chunk": -1}, "chunk must be a positive integer"),
        ({"per_node": np.array([-2])}, r"per_node must be node indices, 0 or more \(got -2\)"),
        ({"per_node": np.array([1.5])}, "per_node must be a list"),
        ({"score": lambda pairs: np.ones(2)}, r"a number a pair, \[3\] \(got \[2\]\)"),
        ({"score": lambda pairs: np.full(3, np.nan)}, r"NaN for the pair \(1, 2\)"),
    ],
)
def test_wrong_arguments_of_top_pairs_are_named(arguments, message):
    arguments = {"score": coarse, "top": 3, **arguments}
    with pytest.raises(PGNNError, match=message):
        top_pairs(candidate_pairs(star(3)), **arguments)


@settings(max_examples=25)
@given(graph=graphs(max_nodes=12), limit=st.sampled_from([3, 1000]), data=st.data())
def test_of_a_graph_with_sides_only_pairs_across_are_listed(graph, limit, data):
    n = graph.num_nodes
    if n < 2:
        return
    between = data.draw(st.sampled_from([("a", "b"), ("a", "a")]))
    types = ["ab"[v % 2] for v in range(n)]
    nodes = data.draw(st.none() | st.lists(st.integers(0, n - 1), min_size=1, unique=True))
    typed = graph.with_sides(types, between)
    listed = candidate_pairs(typed, nodes=nodes, limit=limit)
    joined = {tuple(sorted(edge)) for edge in graph.edges().tolist()}
    wanted = {
        (u, v) for u in range(n) for v in range(u + 1, n)
        if {types[u], types[v]} == set(between) and (u, v) not in joined
        and (nodes is None or u in nodes or v in nodes)
    }  # fmt: skip
    pairs = set(map(tuple, listed.pairs.tolist()))
    assert pairs <= wanted
    if listed.exact:
        assert pairs == wanted


@settings(max_examples=25)
@given(graph=graphs(max_nodes=10, directed=True))
def test_both_ways_lists_every_ordered_pair_that_is_no_edge(graph):
    n = graph.num_nodes
    edges = set(map(tuple, graph.edges().tolist()))
    wanted = {(u, v) for u in range(n) for v in range(n) if u != v and (u, v) not in edges}
    listed = both_ways(candidate_pairs(graph), graph)
    assert sorted(map(tuple, listed.pairs.tolist())) == sorted(wanted)
    assert listed.exact


def test_ordered_pairs_of_a_node_keep_their_order():
    path = Graph.from_edges([(0, 1), (1, 2)], directed=True)
    listed = both_ways(candidate_pairs(path), path)
    pairs, _ = top_pairs(
        listed, lambda p: p[:, 0] - p[:, 1], 9, per_node=np.array([1]), ordered=True
    )
    assert pairs.tolist() == [[1, 0], [2, 1]]
