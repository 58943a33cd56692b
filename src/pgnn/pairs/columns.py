"""PairColumns: all that a head reads about pairs of nodes, on scales that compare across graphs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pgnn.graph import Graph
from pgnn.names import Task
from pgnn.pairs.codes import as_pairs
from pgnn.pairs.positions import POSITION_COLUMNS, pair_positions
from pgnn.pairs.proximities import PairProximities, pair_proximities, proximity_columns
from pgnn.pairs.similarity import SIMILARITY_COLUMNS, pair_similarities

MAX_HOPS = 9  # farther pairs are equally far: positions tell them apart
# Larger components are equally large. Without this, a component that has lost the few nodes behind
# the pair's own edge would have a size that only links have.
MAX_COMPONENT = 50
_FLOOR = 1e-8  # below it a probability is none: rounding must not tell links apart


@dataclass(frozen=True, eq=False)
class PairColumns:
    """Named numbers of pairs of nodes; the array is read-only.

    Attributes:
        values: float32 `[m, len(names)]`, finite.
        names: The columns.
        estimated: A sentence that says which values are estimated; empty where all are exact.
    """

    values: NDArray[np.float32]
    names: tuple[str, ...]
    estimated: str = ""


def column_names(task: Task = "link") -> tuple[str, ...]:
    """Names of the columns of `describe_pairs`.

    Example:
        >>> "walk_3" in column_names(), "joined" in column_names(), "joined" in column_names("pair")
        (True, False, True)
    """
    if task == "pair":
        return SIMILARITY_COLUMNS
    return (*proximity_columns(), "hub_promoted", *POSITION_COLUMNS)


def describe_pairs(
    graph: Graph,
    pairs: NDArray[np.int64],
    *,
    task: Task = "link",
    weights: Literal["length", "strength"] = "length",
    num_draws: int = 2,
    num_sets: int | None = None,
    rng: int | np.random.Generator = 0,
    num_threads: int | None = None,
) -> PairColumns:
    """Describe pairs by what tells links, or equal labels, from other pairs.

    Links are described by proximities and positions, each from the graph without the pair's own
    edge. For task "pair" an edge between both nodes is evidence and not the answer, and the pair is
    described by `pair_similarities` of the whole graph. These are few on purpose: all that is known
    about links as well makes a head worse on graphs that it has not seen.

    What is not a count of hops, a share or a cosine is given by its logarithm. Directions of edges
    are not read.

    Args:
        graph: The graph.
        pairs: Node indices of different nodes, `[m, 2]`.
        task: What is asked about the pairs.
        weights: What weights of edges say.
        num_draws: Draws of anchor-sets for the positions.
        num_sets: Number of sets per draw; by default log^2 n.
        rng: Seed or generator for these draws.
        num_threads: By default all cores. It does not change the result.

    Example:
        >>> ring = Graph.from_edges([(v, (v + 1) % 8) for v in range(8)])
        >>> describe_pairs(ring, np.array([(0, 4)])).values.shape == (1, len(column_names()))
        True
    """
    checked = as_pairs(pairs, graph.num_nodes)
    if graph.directed:
        graph = undirected(graph)
    if task == "pair":
        similar = pair_similarities(
            graph, checked, weights=weights, rng=rng, num_threads=num_threads
        )
        return PairColumns(similar, column_names(task))
    near = pair_proximities(
        graph, checked, weights=weights, max_hops=MAX_HOPS, num_threads=num_threads
    )
    where = pair_positions(
        graph, checked, num_draws=num_draws, num_sets=num_sets, rng=rng, num_threads=num_threads
    )
    values = np.concatenate([_scaled(near), _hub_promoted(near), where.values], axis=1)
    return PairColumns(values.astype(np.float32), column_names(), near.estimated)


def undirected(graph: Graph) -> Graph:
    """Return the graph without directions; weights of both directions of an edge add up."""
    plain = Graph.from_edges(
        graph.edges(), graph.num_nodes, weights=graph.edge_weights(), repeats="sum"
    )
    return replace(plain, x=graph.x, y=graph.y, classes=graph.classes, node_ids=graph.node_ids)


def blocks_of_pairs(pairs: NDArray[np.int64], size: int) -> Iterator[NDArray[np.int64]]:
    """Cut pairs into blocks, so that columns of many pairs need no room of their own."""
    for first in range(0, max(len(pairs), 1), size):
        yield pairs[first : first + size]


def _scaled(near: PairProximities) -> NDArray[np.float64]:
    values = near.values.astype(np.float64)
    for place, name in enumerate(near.columns):
        column = values[:, place]
        if name.startswith("component_"):
            np.minimum(column, MAX_COMPONENT, out=column)
        if name.startswith(("walk_", "pagerank_", "resource_", "three_paths")):
            np.log(np.maximum(column, _FLOOR), out=column)
        elif not name.startswith(("hops", "jaccard", "clustering", "same_")):
            np.log1p(column, out=column)
    return values


def _hub_promoted(near: PairProximities) -> NDArray[np.float64]:
    """Common neighbours as a share of the smaller neighbourhood, `[m, 1]`."""
    smaller = np.maximum(near.column("degree_min"), 1)
    return np.asarray(near.column("common_neighbours") / smaller, dtype=np.float64)[:, None]
