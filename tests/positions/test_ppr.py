"""anchor_ppr against a dense solve, networkx and the invariants of a walk with restarts."""

from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgnn import AnchorSets, Graph, PGNNError, sample_anchor_sets
from pgnn.positions import ppr as _ppr
from pgnn.positions.kernels import ppr as _ppr_kernels
from pgnn.positions.ppr import anchor_ppr
from pgnn.positions.reference import reference_ppr


@st.composite
def graphs(draw: st.DrawFn, directed: bool | None = None, max_nodes: int = 12) -> Graph:
    """Any graph: one node, none or many edges, isolated nodes, dead ends, weights."""
    num_nodes = draw(st.integers(1, max_nodes))
    node = st.integers(0, num_nodes - 1)
    edges = draw(st.lists(st.tuples(node, node), max_size=3 * num_nodes))
    weight = st.floats(1e-3, 1e3)
    weighted = draw(st.booleans())
    weights = draw(st.lists(weight, min_size=len(edges), max_size=len(edges))) if weighted else None
    if directed is None:
        directed = draw(st.booleans())
    return Graph.from_edges(edges, num_nodes, weights=weights, directed=directed)


@st.composite
def anchor_sets(draw: st.DrawFn, num_nodes: int) -> AnchorSets:
    members = st.sets(st.integers(0, num_nodes - 1), min_size=1)
    return AnchorSets.from_sets(
        [sorted(nodes) for nodes in draw(st.lists(members, min_size=1, max_size=20))], num_nodes
    )


def every_node(graph: Graph) -> AnchorSets:
    return AnchorSets.from_sets([[v] for v in range(graph.num_nodes)], graph.num_nodes)


def random_graph(num_nodes: int, num_edges: int, directed: bool = False) -> Graph:
    pairs = np.random.default_rng(0).integers(0, num_nodes, (num_edges, 2))
    return Graph.from_edges(pairs, num_nodes, directed=directed)


def largest_values(graph: Graph, sets: AnchorSets, per_degree: bool) -> np.ndarray:
    """What the documentation says the error is relative to, `[num_sets]`."""
    if not per_degree:
        return 1 / sets.sizes
    degrees = np.asarray(graph.to_scipy().sum(axis=1)).ravel()
    degrees[graph.degrees == 0] = 1
    return np.array([1 / (len(nodes) * degrees[nodes].min()) for nodes in sets])


@pytest.fixture
def count_products(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list that grows by the number of rows with each sparse product."""
    products: list[int] = []

    def count(compiled: Callable[..., float]) -> Callable[..., float]:
        def counted(*arguments: Any) -> float:
            first, end = arguments[1]
            products.append(end - first)
            return compiled(*arguments)

        return counted

    for name in ("advance", "settle"):
        monkeypatch.setattr(_ppr_kernels, name, count(getattr(_ppr_kernels, name)))
    return products


# ---------------------------------------------------------------------- against oracles


@settings(deadline=None, max_examples=300)
@given(
    st.data(),
    graphs(),
    st.floats(0.02, 0.98),
    st.sampled_from([1e-2, 1e-4, 1e-6, 1e-7]),
    st.booleans(),
)
def test_anchor_ppr_is_within_tol_of_the_dense_solve(
    data: st.DataObject, graph: Graph, alpha: float, tol: float, per_degree: bool
) -> None:
    sets = data.draw(anchor_sets(graph.num_nodes))
    ppr = anchor_ppr(graph, sets, alpha=alpha, tol=tol, per_degree=per_degree)
    exact = reference_ppr(graph, sets, alpha, per_degree=per_degree)
    assert ppr.dtype == np.float32
    assert ppr.shape == (graph.num_nodes, len(sets))
    error = np.abs(ppr - exact) / largest_values(graph, sets, per_degree)
    assert error.max() <= tol * (1 + 1e-6)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("alpha", [0.001, 0.15])
def test_anchor_ppr_is_within_tol_on_a_larger_graph(directed: bool, alpha: float) -> None:
    graph = random_graph(200, 500, directed)  # has isolated nodes and, if directed, dead ends
    assert (graph.degrees == 0).any()
    sets = sample_anchor_sets(200, rng=0)
    exact = reference_ppr(graph, sets, alpha)
    for tol in (1e-3, 1e-7):
        error = np.abs(anchor_ppr(graph, sets, alpha=alpha, tol=tol) - exact)
        assert (error * sets.sizes).max() <= tol


@pytest.mark.parametrize("alpha", [1e-5, 0.15])
@pytest.mark.parametrize("directed", [False, True])
def test_steps_in_float64_take_over_where_float32_gets_no_further(
    monkeypatch: pytest.MonkeyPatch, directed: bool, alpha: float
) -> None:
    graph = random_graph(30, 60, directed)
    sets = sample_anchor_sets(30, rng=0)
    dtypes = set()
    compiled = _ppr_kernels.advance

    def blunt(matrix: Any, part: Any, source: Any, current: Any, *rest: Any) -> float:
        dtypes.add(current.dtype.name)
        if current.dtype == np.float32:
            return 0.0
        return float(compiled(matrix, part, source, current, *rest))

    monkeypatch.setattr(_ppr_kernels, "advance", blunt)
    monkeypatch.setattr(_ppr, "_ROUND_TOL", 1e-30)  # one round
    error = np.abs(anchor_ppr(graph, sets, alpha=alpha) - reference_ppr(graph, sets, alpha))
    assert (error * sets.sizes).max() <= 1e-6
    assert dtypes == ({"float64"} if alpha < 1e-3 else {"float32", "float64"})


@pytest.mark.parametrize("weighted", [False, True])
def test_a_hub_of_many_edges_is_within_tol(weighted: bool) -> None:
    leaves = np.arange(1, 20_000)
    edges = [*zip(np.zeros_like(leaves), leaves, strict=True), (1, 2)]
    weights = np.linspace(1, 2, len(edges)) if weighted else None
    graph = Graph.from_edges(edges, weights=weights)
    ppr = anchor_ppr(graph, [leaves, [0]])
    walk = graph.to_scipy().astype(np.float64)
    walk.data /= np.repeat(np.asarray(walk.sum(axis=1)).ravel(), graph.degrees)
    visits = source = np.stack([np.arange(20_000) > 0, np.arange(20_000) == 0], axis=1) * 0.15
    for _ in range(300):
        visits = source + 0.85 * (walk @ visits)
    assert np.abs(ppr * [len(leaves), 1] - visits).max() <= 1e-6


@settings(deadline=None, max_examples=60)
@given(graphs(max_nodes=8), st.floats(0.05, 0.9))
def test_anchor_ppr_agrees_with_networkx(graph: Graph, alpha: float) -> None:
    ppr = anchor_ppr(graph, every_node(graph), alpha=alpha)
    peer = graph.to_networkx()
    for v in range(graph.num_nodes):
        rank = nx.pagerank(peer, 1 - alpha, personalization={v: 1}, tol=1e-13, max_iter=10_000)
        np.testing.assert_allclose(ppr[v], [rank[u] for u in range(graph.num_nodes)], atol=2e-6)


def test_anchor_ppr_by_hand() -> None:
    # 0 -> 1 -> 2 and 2 is a dead end. With alpha = 1/2 the walk from 0 is at 0, 1, 2 in the ratio
    # 1 : 1/2 : 1/4 until it starts again, so 4/7, 2/7, 1/7; from 1 at 1, 2 in the ratio 2 : 1.
    graph = Graph.from_edges([(0, 1), (1, 2)], directed=True)
    sets = AnchorSets.from_sets([[0], [1], [2], [1, 2]], 3)
    expected = [[4 / 7, 2 / 7, 1 / 7, 3 / 14], [0, 2 / 3, 1 / 3, 1 / 2], [0, 0, 1, 1 / 2]]
    np.testing.assert_allclose(anchor_ppr(graph, sets, alpha=0.5), expected, atol=1e-6)


def test_weights_are_strengths_not_lengths() -> None:
    graph = Graph.from_edges([(0, 1), (0, 2)], weights=[3.0, 1.0])
    ppr = anchor_ppr(graph, every_node(graph))
    assert ppr[0, 1] == pytest.approx(3 * ppr[0, 2], abs=1e-5)


# ---------------------------------------------------------------------- invariants


@settings(deadline=None)
@given(graphs(), st.floats(0.05, 0.9))
def test_rows_over_all_nodes_sum_to_one(graph: Graph, alpha: float) -> None:
    ppr = anchor_ppr(graph, every_node(graph), alpha=alpha)
    np.testing.assert_allclose(ppr.sum(axis=1), 1, atol=1e-6 * graph.num_nodes)


@settings(deadline=None)
@given(graphs(), st.floats(0.05, 0.9))
def test_ppr_is_positive_only_where_the_walk_can_get(graph: Graph, alpha: float) -> None:
    ppr = anchor_ppr(graph, every_node(graph), alpha=alpha, tol=1e-7)
    assert (ppr >= 0).all()
    assert (np.diag(ppr) >= alpha * (1 - 1e-6)).all()
    peer = graph.to_networkx()
    for v in range(graph.num_nodes):
        beyond = np.setdiff1d(np.arange(graph.num_nodes), [v, *nx.descendants(peer, v)])
        assert (ppr[v, beyond] == 0).all()


@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-6])
def test_ppr_is_not_negative_where_walks_hardly_ever_turn_back(tol: float) -> None:
    # Edges of a chain get stronger on the way, and walks leave it for a heavy triangle at its side:
    # here the polynomials of Chebyshev's iteration have negative entries.
    chain = [(i, i + 1, 100.0**i) for i in range(13)]
    exits = [(i, 14 + i % 3, 9 * 100.0**i) for i in range(14)]
    triangle = [(a, b, 100.0**18) for a, b in itertools.combinations((14, 15, 16), 2)]
    edges = np.array(chain + exits + triangle)
    graph = Graph.from_edges(edges[:, :2].astype(int), weights=edges[:, 2])
    assert (anchor_ppr(graph, every_node(graph), tol=tol) >= 0).all()


@settings(deadline=None)
@given(graphs(directed=False), st.floats(0.05, 0.9))
def test_per_degree_is_symmetric_on_undirected_graphs(graph: Graph, alpha: float) -> None:
    ppr = anchor_ppr(graph, every_node(graph), alpha=alpha, per_degree=True)
    slack = 1e-6 * largest_values(graph, every_node(graph), per_degree=True)
    assert (np.abs(ppr - ppr.T) <= slack + slack[:, None] + 1e-12).all()


@pytest.mark.parametrize("directed", [False, True])
def test_threads_do_not_change_a_bit(directed: bool) -> None:
    graph = random_graph(500, 1500, directed)
    sets = sample_anchor_sets(500, num_sets=70, rng=0)
    one, two, many = (anchor_ppr(graph, sets, num_threads=t) for t in (1, 2, 7))
    assert np.array_equal(one, two)
    assert np.array_equal(one, many)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("width", [1, 3])
def test_block_size_does_not_change_the_answer(
    monkeypatch: pytest.MonkeyPatch, width: int, directed: bool
) -> None:
    graph = random_graph(300, 900, directed)
    sets = sample_anchor_sets(300, num_sets=65, rng=0)
    expected = anchor_ppr(graph, sets, tol=1e-7)
    monkeypatch.setattr(_ppr, "_BLOCK_SETS", width)
    error = np.abs(anchor_ppr(graph, sets, tol=1e-7) - expected) * sets.sizes
    assert error.max() <= 2e-7


# ---------------------------------------------------------------------- cost


@pytest.mark.parametrize(
    ("graph", "most"),
    [
        (nx.grid_2d_graph(40, 40), 31),
        (nx.cycle_graph(1001), 31),
        (nx.gnp_random_graph(1000, 0.01, seed=0), 31),
        (nx.gnp_random_graph(1000, 0.01, seed=0, directed=True), 50),
        (nx.cycle_graph(1001, create_using=nx.DiGraph), 88),
    ],
    ids=["grid", "cycle", "random", "directed-random", "directed-cycle"],
)
def test_products_are_as_few_as_promised(
    count_products: list[int], graph: nx.Graph, most: int
) -> None:
    sets = sample_anchor_sets(len(graph), num_sets=16, rng=0)
    anchor_ppr(Graph.from_networkx(graph), sets)
    assert len(count_products) <= most


def test_tol_below_what_rounding_allows_ends_by_the_bound_on_the_steps(
    monkeypatch: pytest.MonkeyPatch, count_products: list[int]
) -> None:
    # 1e-17 is less than the rounding of the residual: only the number of steps can stop it.
    monkeypatch.setattr(_ppr, "_SMALLEST_TOL", 0.0)
    monkeypatch.setattr(_ppr, "_FLOAT32_ROUNDING", 0.0)
    for directed in (False, True):
        graph = random_graph(100, 400, directed)
        sets = sample_anchor_sets(100, num_sets=16, rng=0)
        ppr = anchor_ppr(graph, sets, alpha=0.3, tol=1e-17)
        error = np.abs(ppr - reference_ppr(graph, sets, 0.3)) * sets.sizes
        assert error.max() <= 1e-7
    assert len(count_products) < 300


def test_memory_is_far_below_n_by_n() -> None:
    num_nodes = 20_000
    graph = random_graph(num_nodes, 5 * num_nodes)
    sets = sample_anchor_sets(num_nodes, num_sets=64, rng=0)
    anchor_ppr(random_graph(9, 9), sample_anchor_sets(9, rng=0))  # compile
    tracemalloc.start()
    try:
        anchor_ppr(graph, sets, num_threads=2)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 40e6  # n x n x 4 bytes would be 1,600e6


@pytest.mark.parametrize("directed", [False, True])
def test_products_are_done_in_parts_between_which_a_thread_can_leave(
    monkeypatch: pytest.MonkeyPatch, count_products: list[int], directed: bool
) -> None:
    graph = random_graph(400, 1200, directed)
    sets = sample_anchor_sets(400, num_sets=16, rng=0)
    whole = anchor_ppr(graph, sets)
    assert set(count_products) == {400}
    looks: list[None] = []
    monkeypatch.setattr(_ppr, "leave_if_stopped", lambda: looks.append(None))
    monkeypatch.setattr(_ppr, "_PART_ENTRIES", 300)
    count_products.clear()
    assert np.array_equal(anchor_ppr(graph, sets), whole)
    assert max(count_products) < 80
    assert len(looks) == len(count_products) + len(sets)


# ---------------------------------------------------------------------- progress, bad inputs


@pytest.mark.parametrize("num_threads", [1, 3])
def test_progress_rises_to_the_number_of_sets(num_threads: int) -> None:
    seen: list[tuple[int, int]] = []
    graph = random_graph(50, 100)
    sets = sample_anchor_sets(50, num_sets=70, rng=0)
    anchor_ppr(graph, sets, num_threads=num_threads, progress=lambda *told: seen.append(told))
    solved = [told[0] for told in seen]
    assert all(a < b for a, b in itertools.pairwise(solved))
    assert len(seen) == 5
    assert {told[1] for told in seen} == {70}
    assert seen[-1] == (70, 70)


def test_an_exception_of_progress_is_raised_and_stops_the_rest(count_products: list[int]) -> None:
    class StopHereError(Exception):
        pass

    def stop(solved: int, total: int) -> None:
        raise StopHereError

    sets = sample_anchor_sets(3000, num_sets=1600, rng=0)
    with pytest.raises(StopHereError):
        anchor_ppr(random_graph(3000, 9000), sets, num_threads=1, progress=stop)
    assert len(count_products) < 50 * 28  # of 100 blocks of up to 28 products


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 0.0}, r"alpha must be at least 1e-06 and below 1 \(got 0.0\)"),
        ({"alpha": 1.0}, "alpha must be"),
        ({"alpha": -0.5}, "alpha must be"),
        ({"alpha": float("nan")}, "alpha must be"),
        ({"tol": 0.0}, r"tol must be at least 1e-07, because results are float32"),
        ({"tol": 9e-8}, "tol must be"),
        ({"tol": 1.0}, "tol must be"),
        ({"tol": float("nan")}, "tol must be"),
        ({"num_threads": 0}, r"num_threads must be a positive integer \(got 0\)"),
        ({"num_threads": float("nan")}, r"num_threads must be an integer or None \(got nan\)"),
    ],
)
def test_bad_arguments_are_refused(options: dict[str, Any], message: str) -> None:
    graph = Graph.from_edges([(0, 1)])
    with pytest.raises(PGNNError, match=message):
        anchor_ppr(graph, every_node(graph), **options)


def test_sets_of_another_graph_are_refused() -> None:
    with pytest.raises(PGNNError, match="graph of 5 nodes, this one has 2"):
        anchor_ppr(Graph.from_edges([(0, 1)]), sample_anchor_sets(5, rng=0))


def test_weights_that_sum_to_infinity_are_refused() -> None:
    graph = Graph.from_edges([(0, 1), (0, 2)], weights=[1e308, 1e308])
    with pytest.raises(PGNNError, match="sum to infinity"):
        anchor_ppr(graph, every_node(graph))


def test_weights_of_any_finite_size_are_walked() -> None:
    graph = Graph.from_edges([(0, 1), (1, 2)], weights=[1e-300, 1e300])
    expected = anchor_ppr(Graph.from_edges([(1, 2)], 3), every_node(graph))
    np.testing.assert_allclose(anchor_ppr(graph, every_node(graph))[1:], expected[1:], atol=1e-6)
