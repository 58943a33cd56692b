"""Shortest paths of pairs in hops, each without the pair's own edge."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pgnn.graph import Graph
from pgnn.pairs.blocks import in_blocks
from pgnn.pairs.walks import choose_sources

Nodes = NDArray[np.int64]
Hops = NDArray[np.int64]

_BITS = 64
_BLOCK_PAIRS = 2048
_NO_LIMIT = 1 << 62


def hops_by_source(
    graph: Graph,
    reverse: Graph,
    pairs: Nodes,
    is_edge: NDArray[np.bool_],
    max_hops: int,
    num_threads: int,
) -> Hops:
    """Hops from u to v, `[m]`, max_hops + 1 beyond: 64 sources at once, edges one by one.

    Args:
        graph: The graph.
        reverse: The reversed graph.
        pairs: Node indices, `[m, 2]`.
        is_edge: Whether the pair's edge may not be used.
        max_hops: The farthest level to search.
        num_threads: How many threads.
    """
    hops = np.empty(len(pairs), dtype=np.int64)
    edges = pairs[is_edge]
    hops[is_edge], _ = hops_by_pair(
        graph, reverse, edges, np.ones(len(edges), dtype=bool), max_hops, num_threads
    )
    from_first = choose_sources(pairs, graph.num_nodes)
    along, against = ~is_edge & from_first, ~is_edge & ~from_first
    hops[along] = _search(reverse, pairs[along, 0], pairs[along, 1], max_hops, num_threads)
    hops[against] = _search(graph, pairs[against, 1], pairs[against, 0], max_hops, num_threads)
    return hops


def _search(pulled: Graph, starts: Nodes, ends: Nodes, max_hops: int, num_threads: int) -> Hops:
    """Hops from each start to its end, `[len(starts)]`.

    Args:
        pulled: Its rows hold, for every node, the nodes one hop before it.
        starts: Nodes to search from; equal ones are searched once.
        ends: The nodes to reach.
        max_hops: The farthest level to search.
        num_threads: How many threads.
    """
    from pgnn.pairs.kernels.hops import search_block

    sources, places = np.unique(starts, return_inverse=True)
    order = np.argsort(places, kind="stable")
    places, nodes = places[order], ends[order]
    hops = np.empty(len(order), dtype=np.int64)

    def work(block: range, words: tuple[NDArray[np.uint64], ...]) -> None:
        span = slice(*np.searchsorted(places, [block.start, block.stop]))
        reads = (nodes[span], places[span] - block.start)
        levels = np.empty(len(reads[0]), dtype=np.int64)
        rows = (pulled.indptr, pulled.indices)
        search_block(rows, sources[block.start : block.stop], reads, max_hops, levels, words)
        hops[order[span]] = levels

    def make_words() -> tuple[NDArray[np.uint64], ...]:
        n = pulled.num_nodes
        return np.empty(n, np.uint64), np.empty(n, np.uint64), np.empty(n, np.uint64)

    in_blocks(work, len(sources), _BITS, make_words, num_threads)
    return hops


def hops_by_pair(
    graph: Graph,
    reverse: Graph,
    pairs: Nodes,
    is_edge: NDArray[np.bool_],
    max_hops: int,
    num_threads: int,
    max_edges: int = _NO_LIMIT,
) -> tuple[Hops, int]:
    """Hops from u to v, `[m]`, each searched from both ends, and how many searches were stopped.

    Args:
        graph: The graph.
        reverse: The reversed graph.
        pairs: Node indices, `[m, 2]`.
        is_edge: Whether the pair's edge may not be used.
        max_hops: The farthest level to search.
        num_threads: How many threads.
        max_edges: Edges that one search may look at.
    """
    from pgnn.pairs.kernels.hops import search_pairs

    hops = np.empty(len(pairs), dtype=np.int64)
    rows = (graph.indptr, graph.indices), (reverse.indptr, reverse.indices)
    limits = (max_hops, max_edges)

    def work(block: range, lists: tuple[Nodes, ...]) -> int:
        span = slice(block.start, block.stop)
        return int(search_pairs(*rows, pairs[span], is_edge[span], limits, hops[span], lists))

    def make_lists() -> tuple[Nodes, ...]:
        n = graph.num_nodes
        return np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)

    stopped = in_blocks(work, len(pairs), _BLOCK_PAIRS, make_lists, num_threads)
    return hops, sum(stopped)
