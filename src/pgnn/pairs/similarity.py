"""pair_similarities: do two nodes play the same part in a graph whose edges are all known?"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pgnn.graph import Graph
from pgnn.pairs.codes import as_pairs, edge_codes, is_among
from pgnn.positions import anchor_ppr
from pgnn.threads import columns_of, in_blocks, resolve_threads, rows_of

Floats = NDArray[np.float32]

RESTARTS = (0.05, 0.15, 0.5)
RESOLUTIONS = (0.5, 0.7, 1.0, 1.4)
NUM_GROUPS = 12
MAX_ANCHORS = 512  # nodes that PageRank is compared at; smaller graphs are compared at all nodes
MAX_ENTRIES = 1 << 24  # numbers in a table of PageRank: larger graphs have fewer anchors
NUM_RUNS = 50  # of annealing, per resolution
MAX_WORK = 1 << 30  # groups and edges looked at in all runs, a few seconds: fewer runs beyond it
MIN_RUNS = 4  # a graph that allows fewer runs is not divided into groups
_SWEEPS = 10
_TEMPERATURES = (2.0, 0.2)  # first and last, in units of a typical edge
_FLOOR = 1e-7  # below it PageRank is none
_BLOCK_PAIRS = 8192
_ONE_THREAD_NODES = 1 << 7  # to start threads for fewer takes longer than they save

SIMILARITY_COLUMNS = (
    "joined",
    *(f"rank_{kind}_{a:g}" for a in RESTARTS for kind in ("cosine", "correlation", "distance")),
    *(f"together_{resolution:g}" for resolution in RESOLUTIONS),
    *("degree_min", "degree_max"),
)


def pair_similarities(
    graph: Graph,
    pairs: ArrayLike,
    *,
    weights: Literal["length", "strength"] = "length",
    rng: int | np.random.Generator,
    num_threads: int | None = None,
) -> Floats:
    """Compare the places of two nodes in an undirected graph, float32 `[m, columns]`.

    Other than for missing links, an edge between both nodes is evidence here and not the answer,
    so it is not left out. The columns:

    - `joined`: 1 if the nodes are neighbours, else 0.
    - `rank_cosine`, `rank_correlation`, `rank_distance`, each for three restarts: cosine,
      correlation and log mean square difference of two nodes' rows of log PageRank to the same
      nodes, each column standardised over all nodes. These are all nodes, of larger graphs 512
      random ones, and beyond 32,000 nodes as many as a table of 2^24 numbers holds.
    - `together`, for four resolutions: in which share of many random divisions of the graph into
      twelve groups of large modularity both nodes are in one group. A division comes of ten sweeps
      of annealing, so that it is good and yet differs from run to run where the graph does not
      decide. There are 50 runs, fewer beyond about 20,000 nodes and 150,000 edges, and none beyond
      about 300,000 nodes and 1,500,000 edges: the columns are then 0.
    - `degree_min`, `degree_max`: the logarithm of one plus the smaller and the larger degree.

    Args:
        graph: The graph.
        pairs: Node indices, `[m, 2]`.
        weights: What weights of edges say.
        rng: Seed or generator for anchors and divisions.
        num_threads: By default all cores. It does not change the result.

    Example:
        >>> cliques = [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5), (2, 3)]
        >>> same, other = pair_similarities(Graph.from_edges(cliques), [(0, 1), (0, 5)], rng=0)
        >>> bool((same[[1, 2, 12]] > other[[1, 2, 12]]).all())
        True
    """
    checked = np.sort(as_pairs(pairs, graph.num_nodes), axis=1)  # (v, u) has the same values
    threads = resolve_threads(num_threads)
    if graph.num_nodes <= _ONE_THREAD_NODES:
        threads = 1
    generator = np.random.default_rng(rng)
    if graph.weights is not None and weights == "length":
        graph = replace(graph, weights=1 / graph.weights)
    edges = np.sort(edge_codes(graph.edges(), graph.num_nodes, directed=False))
    values = np.empty((len(checked), len(SIMILARITY_COLUMNS)), dtype=np.float32)
    values[:, 0] = is_among(edge_codes(checked, graph.num_nodes, directed=False), edges)
    anchors = _draw_anchors(graph.num_nodes, generator)
    place = 1
    for restart in RESTARTS:
        rows = _rank_rows(graph, anchors, restart, threads)
        values[:, place : place + 3] = _compare(rows, checked, threads)
        place += 3
    for resolution in RESOLUTIONS:
        groups = divide(graph, resolution, rng=generator, num_threads=threads)
        values[:, place] = _share_together(groups, checked)
        place += 1
    values[:, place:] = np.log1p(np.sort(graph.degrees[checked], axis=1))
    return values


def divide(
    graph: Graph, resolution: float, *, rng: np.random.Generator, num_threads: int
) -> NDArray[np.int8]:
    """Divide a graph into groups again and again; group of each node in each run, `[n, runs]`.

    Args:
        graph: An undirected graph; weights are strengths.
        resolution: A larger one gives smaller groups.
        rng: Each run has a seed of its own, drawn from it.
        num_threads: It does not change the result.
    """
    from pgnn.pairs.kernels.communities import anneal_groups

    n, num_entries = graph.num_nodes, len(graph.indices)
    work = len(RESOLUTIONS) * _SWEEPS * (NUM_GROUPS * n + num_entries)
    num_runs = min(NUM_RUNS, MAX_WORK // max(work, 1))
    if num_runs < MIN_RUNS or not num_entries:
        return np.empty((n, 0), dtype=np.int8)
    strengths = np.ones(num_entries)
    if graph.weights is not None:
        strengths = graph.weights / graph.weights.mean()
    of_node = np.bincount(np.repeat(np.arange(n), graph.degrees), strengths, minlength=n)
    rows = (graph.indptr, graph.indices, strengths, of_node)
    temperatures = np.geomspace(*_TEMPERATURES, _SWEEPS)
    seeds = rng.integers(1 << 62, size=num_runs)
    groups = np.empty((n, num_runs), dtype=np.int8)

    def work_on(block: range, _: None) -> None:
        for run in block:
            own = np.random.default_rng(seeds[run])
            division = own.integers(NUM_GROUPS, size=n)
            order, uniforms = own.permutation(n), own.random((_SWEEPS, n))
            anneal_groups(rows, order, uniforms, temperatures, resolution, NUM_GROUPS, division)
            groups[:, run] = division

    in_blocks(work_on, num_runs, 1, lambda: None, num_threads, fills=columns_of(groups))
    return groups


def _draw_anchors(num_nodes: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw the nodes that rows of PageRank are compared at; all nodes if there are few."""
    count = min(num_nodes, MAX_ANCHORS, max(1, MAX_ENTRIES // max(num_nodes, 1)))
    if count == num_nodes:
        return np.arange(num_nodes)
    return np.sort(rng.choice(num_nodes, count, replace=False))


def _rank_rows(
    graph: Graph, anchors: NDArray[np.int64], restart: float, num_threads: int
) -> Floats:
    """Return log PageRank to the anchors, each column standardised, `[n, anchors]`."""
    sets = list(anchors[:, None])
    near = anchor_ppr(graph, sets, alpha=restart, tol=_FLOOR, num_threads=num_threads)
    rows = np.log(near + _FLOOR)
    rows -= rows.mean(axis=0)
    return np.asarray(rows / (rows.std(axis=0) + 1e-6), dtype=np.float32)


def _compare(rows: Floats, pairs: NDArray[np.int64], num_threads: int) -> NDArray[np.float64]:
    """Return cosine, correlation and log mean square difference of two rows, `[m, 3]`."""
    sums = np.einsum("ij->i", rows, dtype=np.float64)
    squares = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
    spread = np.maximum(squares - sums**2 / rows.shape[1], 0.0)
    values = np.empty((len(pairs), 3))

    def work_on(block: range, _: None) -> None:
        u, v = pairs[block.start : block.stop].T
        dot = np.einsum("ij,ij->i", rows[u], rows[v], dtype=np.float64)
        values[block.start : block.stop] = np.stack(
            [
                dot / np.sqrt(squares[u] * squares[v] + 1e-12),
                (dot - sums[u] * sums[v] / rows.shape[1]) / np.sqrt(spread[u] * spread[v] + 1e-12),
                np.log(np.maximum(squares[u] + squares[v] - 2 * dot, 1e-6 * rows.shape[1])),
            ],
            axis=1,
        )

    fills = rows_of(values)
    in_blocks(work_on, len(pairs), _BLOCK_PAIRS, lambda: None, num_threads, fills=fills)
    values[:, 2] -= np.log(rows.shape[1])
    return values


def _share_together(groups: NDArray[np.int8], pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the share of runs in which both nodes are in one group, 0 without runs, `[m]`."""
    count = np.zeros(len(pairs))
    for division in groups.T:
        count += division[pairs[:, 0]] == division[pairs[:, 1]]
    return np.asarray(count / max(groups.shape[1], 1))
