"""PairColumns: all that a head reads about pairs of nodes, on scales that compare across graphs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pgnn.errors import Parameter, PGNNError
from pgnn.graph import Graph
from pgnn.graph.arrays import as_written_ids
from pgnn.names import Task
from pgnn.pairs.codes import as_pairs
from pgnn.pairs.collaborative import TASTE_COLUMNS, pair_tastes
from pgnn.pairs.orders import ORDER_COLUMNS, pair_orders
from pgnn.pairs.positions import POSITION_COLUMNS, pair_positions
from pgnn.pairs.proximities import PairProximities, pair_proximities, proximity_columns
from pgnn.pairs.similarity import SIMILARITY_COLUMNS, pair_similarities

MAX_HOPS = 9  # farther pairs are equally far: positions tell them apart
# Larger components are equally large. Without this, a component that has lost the few nodes behind
# the pair's own edge would have a size that only links have.
MAX_COMPONENT = 50
Links = Literal["any", "across", "ordered"]
LINKS: tuple[Links, ...] = ("any", "across", "ordered")
_ROLES = ("role_source", "role_target")  # log of outgoing over incoming edges
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


def kind_of_links(graph: Graph) -> Links:
    """Return which pairs of a graph may be links, and so what is to be read about them.

    Example:
        >>> kind_of_links(Graph.from_edges([(0, 1)], directed=True))
        'ordered'
    """
    if graph.has_ordered_links:
        return "ordered"
    return "any" if graph.sides is None or graph.sides.same else "across"


def column_names(task: Task = "link", links: Links = "any") -> tuple[str, ...]:
    """Names of the columns of `describe_pairs`.

    Example:
        >>> "walk_3" in column_names(), "joined" in column_names(), "joined" in column_names("pair")
        (True, False, True)
        >>> "walk_3_forward" in column_names(links="ordered"), "item_cosine" in column_names()
        (True, False)
    """
    if task == "pair":
        return SIMILARITY_COLUMNS
    if links == "across":
        near = proximity_columns(ends="ordered")
        return (*near, "hub_promoted", *TASTE_COLUMNS, *POSITION_COLUMNS)
    plain = (*proximity_columns(), "hub_promoted", *POSITION_COLUMNS)
    if links == "any":
        return plain
    return (*plain, *_ordered_columns(), *_ROLES, *ORDER_COLUMNS)


def turned_columns(names: tuple[str, ...]) -> NDArray[np.int64]:
    """Return which column of (u, v) is each column of (v, u), `[len(names)]`.

    That holds where neither edge between u and v is read.

    Example:
        >>> turned_columns(("walk_2", "hops_forward", "hops_backward")).tolist()
        [0, 2, 1]
    """
    other = {"forward": "backward", "backward": "forward", "source": "target", "target": "source"}
    places = []
    for name in names:
        stem, _, last = name.rpartition("_")
        places.append(names.index(f"{stem}_{other[last]}" if last in other else name))
    return np.array(places)


def describe_pairs(
    graph: Graph,
    pairs: NDArray[np.int64],
    *,
    task: Task = "link",
    links: Links = "any",
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

    - "any": directions of edges are not read, and (u, v) has the columns of (v, u).
    - "across": the left node of a pair comes first, its endpoints are told apart, and collaborative
      filtering (`pair_tastes`) is read as well.
    - "ordered": beside all columns of "any", which leave out the edge of either direction, those
      that read directions: ordered proximities, in which an edge from v to u is evidence for
      (u, v), roles of both nodes, and `pair_orders`.

    What is not a count of hops, a share or a cosine is given by its logarithm.

    Args:
        graph: The graph.
        pairs: Node indices of different nodes, `[m, 2]`.
        task: What is asked about the pairs.
        links: Which pairs may be links.
        weights: What weights of edges say.
        num_draws: Draws of anchor-sets for the positions.
        num_sets: Number of sets per draw; by default log^2 n.
        rng: Seed or generator for these draws.
        num_threads: By default all cores. It does not change the result.

    Raises:
        PGNNError: If the graph has no sides, or no directions, that are to be read; or a pair is
            not across the sides.

    Example:
        >>> ring = Graph.from_edges([(v, (v + 1) % 8) for v in range(8)])
        >>> describe_pairs(ring, np.array([(0, 4)])).values.shape == (1, len(column_names()))
        True
    """
    checked = as_pairs(pairs, graph.num_nodes)
    plain = undirected(graph) if graph.directed else graph
    if task == "pair":
        similar = pair_similarities(
            plain, checked, weights=weights, rng=rng, num_threads=num_threads
        )
        return PairColumns(similar, column_names(task))
    if links == "across":
        checked = across_sides(graph, checked)
    generator = np.random.default_rng(rng)
    near = pair_proximities(
        plain,
        checked,
        weights=weights,
        max_hops=MAX_HOPS,
        ends="ordered" if links == "across" else "sorted",
        num_threads=num_threads,
    )
    parts = [_scaled(near), _hub_promoted(near)]
    if links == "across":
        tastes = pair_tastes(plain, checked, num_threads=num_threads)
        parts.append(np.log(np.maximum(tastes, _FLOOR)))
    where = pair_positions(
        plain,
        checked,
        num_draws=num_draws,
        num_sets=num_sets,
        rng=generator,
        num_threads=num_threads,
    )
    parts.append(where.values.astype(np.float64))
    if links == "ordered":
        parts += _describe_order(graph, checked, weights, num_sets, generator, num_threads)
    values = np.concatenate(parts, axis=1).astype(np.float32)
    return PairColumns(values, column_names(task, links), near.estimated)


def _describe_order(
    graph: Graph,
    pairs: NDArray[np.int64],
    weights: Literal["length", "strength"],
    num_sets: int | None,
    generator: np.random.Generator,
    num_threads: int | None,
) -> list[NDArray[np.float64]]:
    """Return the columns that read directions."""
    if not graph.directed:
        raise PGNNError(
            "the run judges ordered pairs of a directed graph, and this graph has no directions; "
            "read it with ", Parameter("directed=True"),
        )  # fmt: skip
    ahead = pair_proximities(
        graph, pairs, weights=weights, max_hops=MAX_HOPS, num_threads=num_threads
    )
    out, into = (
        np.log1p(
            np.stack([ahead.column(f"{way}_degree_{end}") for end in ("source", "target")], axis=1)
        )
        for way in ("out", "in")
    )
    kept = [ahead.columns.index(name) for name in _ordered_columns()]
    orders = pair_orders(graph, pairs, num_sets=num_sets, rng=generator, num_threads=num_threads)
    return [_scaled(ahead)[:, kept], (out - into).astype(np.float64), orders]


def _ordered_columns() -> tuple[str, ...]:
    """Proximities of a directed graph that an undirected one does not have."""
    return tuple(name for name in proximity_columns(directed=True) if name != "same_component")


def across_sides(graph: Graph, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return pairs with the left node first.

    Raises:
        PGNNError: If the graph has no two sides, or a pair is not across them.
    """
    sides = graph.sides
    if sides is None or sides.same:
        raise PGNNError(
            "the run judges pairs across two kinds of nodes, and this graph has one kind; name "
            "them with ", Parameter("between"),
        )  # fmt: skip
    within = ~sides.contain(pairs)
    if within.any():
        u, v = as_written_ids(graph.node_ids[pairs[np.flatnonzero(within)[0]]]).tolist()
        raise PGNNError(
            f"links are asked about between {' and '.join(sides.names)}, and "
            f"{np.count_nonzero(within):,} of {len(pairs):,} pairs are not across these sides "
            f"(first: {u!r} and {v!r}); leave them out"
        )
    return sides.left_first(pairs)


def undirected(graph: Graph) -> Graph:
    """Return the graph without directions; weights of both directions of an edge add up."""
    plain = Graph.from_edges(
        graph.edges(), graph.num_nodes, weights=graph.edge_weights(), repeats="sum"
    )
    carried = ("x", "y", "classes", "node_ids", "sides")
    return replace(plain, **{name: getattr(graph, name) for name in carried})


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
        elif not name.startswith(("hops", "jaccard", "clustering", "same_", "reverse_")):
            np.log1p(column, out=column)
    return values


def _hub_promoted(near: PairProximities) -> NDArray[np.float64]:
    """Common neighbours as a share of the smaller neighbourhood, `[m, 1]`."""
    ends = [name for name in near.columns if name.startswith("degree_")]
    smaller = np.maximum(np.minimum(*(near.column(name) for name in ends)), 1)
    return np.asarray(near.column("common_neighbours") / smaller, dtype=np.float64)[:, None]
