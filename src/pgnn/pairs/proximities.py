"""pair_proximities: how close the endpoints of given pairs are, and what they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pgnn import checks
from pgnn.checks import checked, one_of
from pgnn.errors import Parameter, PGNNError
from pgnn.graph import Graph
from pgnn.graph.graph import check_graph
from pgnn.graph.keeping import keep
from pgnn.pairs.codes import as_pairs, low_high
from pgnn.pairs.estimates import Spectrum, component_tree, estimated_walks
from pgnn.pairs.walks import (
    LENGTHS,
    RESTARTS,
    WalkMatrix,
    Walks,
    choose_sources,
    exact_walks,
    steps_of,
)
from pgnn.threads import Progress, in_blocks, resolve_threads, rows_of, step

Array = NDArray[np.float64]
Pairs = NDArray[np.int64]
Method = Literal["auto", "exact", "estimated"]
Ends = Literal["sorted", "ordered"]

# Multiply-adds of walks from all nodes, up to which "auto" is exact: a few seconds.
EXACT_WORK = 1.5e11
# Nodes with more neighbours are not expanded in 3-paths where values are estimated.
HUB_DEGREE = 20_000
# Edges that the search for one shortest path may look at where values are estimated.
SEARCH_EDGES = 1 << 20
_NO_HUB = 1 << 62
_BLOCK_PAIRS = 16_384
_BLOCK_ROWS = 4096

_WHICH = {"sorted": ("min", "max"), "ordered": ("source", "target")}
_WALKS = (*(f"walk_{length}" for length in LENGTHS), *(f"pagerank_{a:g}" for a in RESTARTS))


def proximity_columns(directed: bool = False, ends: Ends = "sorted") -> tuple[str, ...]:
    """Names of the columns of `pair_proximities`.

    Args:
        directed: Whether the graph is directed.
        ends: As for `pair_proximities`.

    Example:
        >>> len(proximity_columns()), len(proximity_columns(directed=True))
        (32, 56)
    """
    of_ends: tuple[str, ...] = ("degree", "strength", *ENDPOINT_COLUMNS)
    if not directed:
        return (
            *_WALKS,
            *("common_neighbours", "adamic_adar", "resource_allocation", "jaccard", "three_paths"),
            "hops",
            *(f"{name}_{which}" for name in of_ends for which in _WHICH[ends]),
            "same_component",
        )
    of_ends = ("out_degree", "in_degree", "out_strength", "in_strength", *ENDPOINT_COLUMNS)
    return (
        *(f"{name}_{way}" for way in ("forward", "backward") for name in _WALKS),
        *(
            f"{kind}_{which}"
            for which in ("successors", "predecessors")
            for kind in ("common", "adamic_adar", "jaccard")
        ),
        *(
            f"{kind}_{way}"
            for way in ("forward", "backward")
            for kind in ("two_paths", "resource_allocation", "three_paths", "hops")
        ),
        "reverse_edge",
        *(f"{name}_{which}" for name in of_ends for which in ("source", "target")),
        "same_component",
    )


@checked
@dataclass(frozen=True, eq=False, repr=False)
class PairProximities:
    """Named numbers of pairs of nodes. The array is read-only.

    Attributes:
        values: float32 `[m, len(columns)]`, finite and not negative.
        columns: Their names, see `pair_proximities`.
        estimated: A sentence that says which values are estimated; empty where all are exact.
    """

    values: NDArray[np.float32]
    columns: tuple[str, ...]
    estimated: str = ""

    def __post_init__(self) -> None:
        values = checks.numbers("values", self.values, None)
        if values.ndim != 2 or values.shape[1] != len(self.columns):
            raise PGNNError(
                Parameter("values"),
                f" must have one column per name, [m, {len(self.columns)}] "
                f"(got {list(values.shape)})",
            )
        values.setflags(write=False)
        object.__setattr__(self, "values", values)

    @property
    def is_exact(self) -> bool:
        """Whether no value is estimated."""
        return not self.estimated

    @checked
    def column(self, name: str) -> NDArray[np.float32]:
        """Values of one column, `[m]`.

        Raises:
            PGNNError: If there is no column of this name.
        """
        if name not in self.columns:
            raise PGNNError(f"there is no column {name!r}; there are {', '.join(self.columns)}")
        return self.values[:, self.columns.index(name)]

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        kind = "exact" if self.is_exact else "partly estimated"
        return f"PairProximities(pairs={len(self)}, columns={len(self.columns)}, {kind})"


@checked
def pair_proximities(
    graph: Graph,
    pairs: ArrayLike,
    *,
    weights: Literal["strength", "length"] = "strength",
    max_hops: int = 48,
    method: Method = "auto",
    ends: Ends = "sorted",
    num_threads: int | None = None,
    progress: Progress | None = None,
) -> PairProximities:
    """Describe pairs of nodes by how close they are, and by what their endpoints are.

    The values of a pair come from the graph without the pair's own edge, so that a pair has the
    same values whether it is joined or not. (Of a directed graph only the edge from u to v is left
    out.)
    Walks are those of the symmetric normalisation S = D^-1/2 A D^-1/2; directed, of
    D_out^-1/2 A D_in^-1/2. The columns of an undirected graph, all the same for (u, v) and (v, u):

    - `walk_2` .. `walk_6`, `walk_8`, `walk_12`, `walk_16`, `walk_24`: S^l[u, v]; 0 below 1e-12.
    - `pagerank_0.15`, `pagerank_0.5`: (I - (1 - a) S)^-1[u, v] for a restart a; 0 below 1e-8.
    - `common_neighbours`, and over these nodes w, of degree d_w: `adamic_adar`, the sum of
      1 / log d_w; `resource_allocation`, the sum of 1 / d_w; `jaccard`, their share among the
      neighbours of either.
    - `three_paths`: the sum of 1 / sqrt(d_a d_b) over the paths u - a - b - v.
    - `hops`: edges on a shortest path; `max_hops` + 1 where it is longer or where there is none.
      This is the only column that counts hops.
    - of both endpoints, the smaller value (`_min`) and the larger (`_max`): `degree`; `strength`,
      the sum of the strengths of its edges; `neighbour_degree`, the mean degree of its neighbours;
      `two_hop_degree`, the mean of theirs; `clustering`; `core`, the core number; `component`, the
      number of nodes of its component.
    - `same_component`: 1 if a path of any length joins them, else 0.

    Columns of a directed graph are ordered. A column that ends in `_forward` is about u to v, in
    `_backward` about v to u; `_source` is about u and `_target` about v. `two_paths` counts
    u -> w -> v, `common_successors` the w with u -> w and v -> w, `common_predecessors` those with
    w -> u and w -> v; `adamic_adar` and `jaccard` go with these two (d_w is then the number of
    edges into or out of w), `resource_allocation` with `two_paths` (edges out of w). `three_paths`
    has d_a of outgoing and d_b of incoming edges. `reverse_edge` is 1 if v -> u is an edge. Columns
    of endpoints other than degrees and strengths, and `same_component`, do not read directions.

    Only walks, PageRank and strengths read weights.

    On small graphs (up to about 5,000 nodes and 200,000 edges, or 20,000 nodes and 40,000 edges;
    directed, a fifth of that) all values are exact; float32 apart, walks are within 1e-12 and
    PageRank within 1e-10 (directed: 3e-8). On larger ones walks longer than two balls of some
    thousand edges around the endpoints reach, and PageRank from there on, are estimated from
    eigenvectors: within a few percent where the graph mixes fast; where it mixes slowly, half of
    the long walks are within a fifth, while pairs farther apart than the balls reach may get 0.
    Paths over nodes of more than 20,000 neighbours, and searches that look at more than a million
    edges, are estimated too. `estimated` of the result says what was. The choice depends on the
    graph alone, so a pair has the same values whichever pairs are asked about with it.

    Args:
        graph: The graph.
        pairs: Node indices, `[m, 2]`, u != v. A pair may be repeated.
        weights: What weights of edges say: "strength" (larger is closer) or "length" (the strength
            is 1 / length).
        max_hops: The farthest shortest path to search.
        method: "exact", "estimated", or "auto" to choose by the size of the graph.
        ends: Columns of endpoints of an undirected graph: "sorted", the smaller value and the
            larger; or "ordered", that of the first node of each pair (`_source`) and of the second
            (`_target`), as for a directed graph.
        num_threads: Number of threads, by default one per core. It does not change the result.
        progress: Called with (steps finished, steps in all) as walks proceed.

    Raises:
        PGNNError: If a pair is not one of two different nodes, or an argument is out of range.

    Example:
        >>> square = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)])
        >>> q = pair_proximities(square, [(0, 2), (0, 1)])
        >>> q.column("common_neighbours").tolist(), q.column("hops").tolist()
        ([2.0, 0.0], [2.0, 3.0])
        >>> q.column("degree_min").tolist()
        [2.0, 1.0]
    """
    checked = _checked_pairs(pairs, graph)
    _check(weights, max_hops, method)
    threads = resolve_threads(num_threads)
    one_of("ends", ends, tuple(_WHICH))
    names = proximity_columns(graph.directed, ends)
    if not len(checked):
        return PairProximities(np.empty((0, len(names)), dtype=np.float32), names)
    turned = checked[:, 0] > checked[:, 1]
    if not graph.directed:
        checked = low_high(checked)  # one orientation, so that (v, u) has the same values
    with step(f"proximities of {len(checked):,} pairs"):
        job = _Job.of(graph, checked, weights, max_hops, method, threads)
        if graph.directed:
            columns, notes = _directed(job, progress)
        else:
            columns, notes = _undirected(job, progress, turned if ends == "ordered" else None)
    values = np.empty((len(checked), len(names)), dtype=np.float32)

    def write(block: range, _: None) -> None:
        rows = slice(block.start, block.stop)
        for place, name in enumerate(names):
            values[rows, place] = columns[name][rows]

    in_blocks(write, len(checked), _BLOCK_ROWS, lambda: None, 1)  # few rows stay in the cache
    return PairProximities(values, names, " ".join(filter(None, notes)))


@dataclass(frozen=True, eq=False)
class _Job:
    """What is asked for, and what all columns need."""

    graph: Graph
    reverse: Graph
    matrix: WalkMatrix
    pairs: Pairs
    places: Pairs  # of the pair's edge among the stored edges, -1 where it is none
    weights: str
    max_hops: int
    exact: bool
    num_threads: int

    @classmethod
    def of(
        cls, graph: Graph, pairs: Pairs, weights: str, max_hops: int, method: Method, threads: int
    ) -> _Job:
        work = float(graph.num_nodes) * len(graph.indices) * steps_of(graph)
        exact = method == "exact" or (method == "auto" and work <= EXACT_WORK)
        matrix = WalkMatrix.of(graph, _strengths(graph, weights))
        places = _edge_places(graph, pairs)
        reverse = graph.reversed() if graph.directed else graph
        return cls(graph, reverse, matrix, pairs, places, weights, max_hops, exact, threads)

    @property
    def is_edge(self) -> NDArray[np.bool_]:
        """Whether the pair is an edge, which is left out."""
        return self.places >= 0

    def walks(self, same_component: NDArray[np.bool_], progress: Progress | None) -> Walks:
        """Walk columns, exact or estimated."""
        if self.exact:
            walks = exact_walks(self.matrix, self.pairs, self.places, self.num_threads, progress)
            for way in walks.ways:
                way[~same_component] = 0.0  # rounding would tell that there was an edge
            return walks
        no_hubs = not self.graph.directed and self.graph.degrees.max(initial=0) <= HUB_DEGREE
        # Long lists of pairs are described block by block, and its eigenvalues belong to the graph.
        weights = None if self.graph.weights is None else self.weights
        with step("eigenvectors"):
            spectrum = keep(self.graph, f"spectrum by {weights}", lambda: Spectrum.of(self.matrix))
        where = (self.matrix, spectrum, self.pairs, self.places, same_component)
        return estimated_walks(*where, self.num_threads, progress, no_hubs)

    def hops(self, walks: Walks, *, backward: bool = False) -> tuple[Array, list[str]]:
        """Hops from u to v or, backward, from v to u (where the own edge is of no use anyway)."""
        pairs, forbidden = self.pairs, self.is_edge
        if backward:
            pairs, forbidden = np.ascontiguousarray(pairs[:, ::-1]), np.zeros_like(forbidden)
        graphs, limits = (self.graph, self.reverse), (self.max_hops, self.num_threads)
        if walks.hops is None:
            return hops_by_source(*graphs, pairs, forbidden, *limits).astype(np.float64), []
        hops = np.minimum(walks.hops[int(backward)], self.max_hops + 1)
        far = hops == 0
        hops[far], stopped = hops_by_pair(
            *graphs, pairs[far], forbidden[far], *limits, SEARCH_EDGES
        )
        notes = []
        if stopped:
            notes.append(f"Hops of {stopped} pairs are at least as many as written.")
        return hops.astype(np.float64), notes

    def shared(self, rows_u: Graph, rows_v: Graph, worth: Array) -> Array:
        """How many nodes are in both rows, and two sums of worth over them, `[m, 3]`."""
        from pgnn.pairs.kernels.counts import count_shared

        result = np.empty((len(self.pairs), 3))
        first, second = (rows_u.indptr, rows_u.indices), (rows_v.indptr, rows_v.indices)

        def work(block: range, _: None) -> None:
            pairs = self.pairs[block.start : block.stop]
            count_shared(first, second, pairs, worth, block.start, result)

        fills = rows_of(result)
        in_blocks(work, len(self.pairs), _BLOCK_PAIRS, lambda: None, self.num_threads, fills=fills)
        return result

    def three_paths(self, rows_u: Graph, rows_v: Graph, walks: Walks) -> Array:
        """Sums of 1 / sqrt(d_a d_b) over 3-paths, `[m]`; walks may know some already."""
        if walks.three_paths is None:
            return self._three_paths(rows_u, rows_v, self.pairs)
        result = walks.three_paths.copy()
        left = result < 0
        result[left] = self._three_paths(rows_u, rows_v, self.pairs[left])
        return result

    def _three_paths(self, rows_u: Graph, rows_v: Graph, pairs: Pairs) -> Array:
        from pgnn.pairs.kernels.counts import sum_three_paths

        first, second = (rows_u.indptr, rows_u.indices), (rows_v.indptr, rows_v.indices)
        worth = tuple(1 / np.sqrt(np.maximum(rows.degrees, 1)) for rows in (rows_u, rows_v))
        order = np.argsort(pairs[:, 0], kind="stable")
        sorted_pairs = pairs[order]
        result = np.empty(len(order))
        hub_degree = _NO_HUB if self.exact else HUB_DEGREE
        n = self.graph.num_nodes

        def work(block: range, scratch: tuple[Array, NDArray[np.int32]]) -> None:
            span = slice(block.start, block.stop)
            part = result[span]
            sum_three_paths(first, second, sorted_pairs[span], worth, hub_degree, part, scratch)

        def make_scratch() -> tuple[Array, NDArray[np.int32]]:
            return np.zeros(n), np.empty(n, dtype=np.int32)

        fills = rows_of(result)
        in_blocks(work, len(order), _BLOCK_PAIRS, make_scratch, self.num_threads, fills=fills)
        unsorted = np.empty_like(result)
        unsorted[order] = result
        return unsorted


def _undirected(
    job: _Job, progress: Progress | None, turned: NDArray[np.bool_] | None
) -> tuple[dict[str, Array], list[str]]:
    """Return all columns; of endpoints sorted ones, or where `turned` says which pairs were."""
    graph, lost = job.graph, job.is_edge
    shared = job.shared(graph, graph, _worth(graph.degrees))
    ends = describe_endpoints(graph, job.pairs, lost, shared[lost][:, [0, 2]])
    walks = job.walks(ends.same_component, progress)
    # Rounding may leave a trace of an edge that was the only way from one end to the other.
    joined = np.where(ends.same_component[:, None], walks.ways[0], 0.0)
    columns: dict[str, Array] = dict(zip(_WALKS, joined.T, strict=True))
    common, columns["adamic_adar"], columns["resource_allocation"] = shared.T
    columns["common_neighbours"] = common
    degree = graph.degrees[job.pairs].astype(np.float64) - lost[:, None]
    columns["jaccard"] = common / np.maximum(degree.sum(axis=1) - common, 1)
    columns["three_paths"] = job.three_paths(graph, graph, walks)
    columns["hops"], notes = job.hops(walks)
    strength = _without_own(
        job, job.matrix.out_strength[job.pairs], degree, np.stack([lost, lost], axis=1)
    )
    for name, values in {"degree": degree, "strength": strength, **ends.columns}.items():
        first, second = values.T  # much faster than values.min(axis=1)
        if turned is not None:
            columns[f"{name}_source"] = np.where(turned, second, first)
            columns[f"{name}_target"] = np.where(turned, first, second)
            continue
        columns[f"{name}_min"] = np.minimum(first, second)
        columns[f"{name}_max"] = np.maximum(first, second)
    columns["same_component"] = ends.same_component.astype(np.float64)
    return columns, [walks.note, *notes, *_core_note(ends.limited)]


def _directed(job: _Job, progress: Progress | None) -> tuple[dict[str, Array], list[str]]:
    graph, reverse, is_edge = job.graph, job.reverse, job.is_edge
    has_reverse = _edge_places(graph, np.ascontiguousarray(job.pairs[:, ::-1])) >= 0
    lost = is_edge & ~has_reverse  # what remains joined without directions is not lost
    plain = Graph.from_edges(graph.edges(), graph.num_nodes)
    undirected = _Job.of(plain, job.pairs[lost], "strength", 0, "exact", job.num_threads)
    shared = undirected.shared(plain, plain, _worth(plain.degrees))
    ends = describe_endpoints(plain, job.pairs, lost, shared[:, [0, 2]])
    walks = job.walks(ends.same_component, progress)
    columns: dict[str, Array] = {}
    notes: list[str] = []
    for way, values in zip(("forward", "backward"), walks.ways, strict=True):
        columns |= {f"{name}_{way}": column for name, column in zip(_WALKS, values.T, strict=True)}
    none = np.zeros_like(is_edge)
    of_source, of_target = np.stack([is_edge, none], axis=1), np.stack([none, is_edge], axis=1)
    out_degree = graph.degrees[job.pairs].astype(np.float64) - of_source
    in_degree = reverse.degrees[job.pairs].astype(np.float64) - of_target
    for which, rows, degree in (
        ("successors", graph, out_degree),
        ("predecessors", reverse, in_degree),
    ):
        across = reverse if rows is graph else graph
        common, adamic_adar, _ = job.shared(rows, rows, _worth(across.degrees)).T
        columns[f"common_{which}"] = common
        columns[f"adamic_adar_{which}"] = adamic_adar
        columns[f"jaccard_{which}"] = common / np.maximum(degree.sum(axis=1) - common, 1)
    for way, rows, across in (("forward", graph, reverse), ("backward", reverse, graph)):
        count, _, resource = job.shared(rows, across, _worth(graph.degrees)).T
        columns[f"two_paths_{way}"] = count
        columns[f"resource_allocation_{way}"] = resource
        columns[f"three_paths_{way}"] = job.three_paths(rows, across, walks)
        columns[f"hops_{way}"], more = job.hops(walks, backward=way == "backward")
        notes += more
    columns["reverse_edge"] = has_reverse.astype(np.float64)
    out_strength = job.matrix.out_strength[job.pairs]
    in_strength = job.matrix.in_strength[job.pairs]
    both = {
        "out_degree": out_degree,
        "in_degree": in_degree,
        "out_strength": _without_own(job, out_strength, out_degree, of_source),
        "in_strength": _without_own(job, in_strength, in_degree, of_target),
        **ends.columns,
    }
    for name, numbers in both.items():
        columns[f"{name}_source"], columns[f"{name}_target"] = numbers.T
    columns["same_component"] = ends.same_component.astype(np.float64)
    return columns, [walks.note, *notes, *_core_note(ends.limited)]


def _without_own(job: _Job, strength: Array, degree: Array, lost: NDArray[np.bool_]) -> Array:
    """Strengths `[m, 2]` less the own edge's where it is lost; exactly 0 where no edge is left."""
    own = np.zeros(len(degree))
    own[job.is_edge] = job.matrix.strengths[job.places[job.is_edge]]
    return np.where(degree == 0, 0.0, strength - np.where(lost, own[:, None], 0.0))


def _worth(degrees: NDArray[np.int64]) -> Array:
    """1 / log(degree) and 1 / degree of every node; a node that two others share has two."""
    at_least_two = np.maximum(degrees, 2).astype(np.float64)
    return np.stack([1 / np.log(at_least_two), 1 / np.maximum(degrees, 1)], axis=1)


def _edge_places(graph: Graph, pairs: Pairs) -> Pairs:
    from pgnn.pairs.kernels.counts import find_entries

    places = np.empty(len(pairs), dtype=np.int64)
    find_entries(graph.indptr, graph.indices, pairs, places)
    return places


def _strengths(graph: Graph, weights: str) -> Array:
    if graph.weights is None:
        return np.ones(len(graph.indices))
    with np.errstate(all="ignore"):  # what does not fit is refused below
        strengths = graph.weights if weights == "strength" else 1 / graph.weights
        total = float(np.sum(strengths))
    if not (np.isfinite(total) and (strengths > 0).all()):
        raise PGNNError(
            f"weights from {graph.weights.min():g} to {graph.weights.max():g} are too large or too "
            "small to add up as strengths; scale or clip them"
        )
    return np.array(strengths)


def _core_note(limited: int) -> list[str]:
    if not limited:
        return []
    return [f"The core number of {limited} pairs that are edges may be one too high."]


def _checked_pairs(pairs: ArrayLike, graph: Graph) -> Pairs:
    check_graph(graph)
    checked = as_pairs(pairs, graph.num_nodes)
    loops = np.flatnonzero(checked[:, 0] == checked[:, 1])
    if len(loops):
        at = int(loops[0])
        raise PGNNError(
            f"pairs must be of two different nodes (got pairs[{at}] = "
            f"({checked[at, 0]}, {checked[at, 1]}))"
        )
    return checked


def _check(weights: str, max_hops: int, method: str) -> None:
    if not isinstance(weights, str) or weights not in ("strength", "length"):
        raise PGNNError(f"weights must be one of strength, length (got {weights!r})")
    if not isinstance(method, str) or method not in ("auto", "exact", "estimated"):
        raise PGNNError(f"method must be one of auto, exact, estimated (got {method!r})")
    if isinstance(max_hops, bool) or not isinstance(max_hops, int) or max_hops < 1:
        raise PGNNError(f"max_hops must be a positive integer (got {max_hops!r})")
    if max_hops >= 2**31:
        raise PGNNError(f"max_hops must be below 2^31 (got {max_hops})")


# ---------------------------------------------------------------------- what the endpoints are

# Columns of both endpoints, in this order. Directions of edges are not read.
ENDPOINT_COLUMNS = (
    "neighbour_degree",
    "two_hop_degree",
    "clustering",
    "core",
    "component",
)
# Nodes that lose their core number with an edge are followed so far.
_MAX_FALLS = 10_000


@dataclass(frozen=True, eq=False)
class Endpoints:
    """Numbers of both endpoints of each pair.

    Attributes:
        columns: By name of `ENDPOINT_COLUMNS`, `[m, 2]`: of the first and of the second node.
        same_component: Whether a path joins both, `[m]`.
        limited: For how many pairs the core number may be one too high.
    """

    columns: dict[str, Array]
    same_component: NDArray[np.bool_]
    limited: int


def describe_endpoints(
    graph: Graph, pairs: NDArray[np.int64], lost: NDArray[np.bool_], shared: Array
) -> Endpoints:
    """Describe both endpoints of each pair in an undirected graph, without the pair's own edge.

    Args:
        graph: An undirected graph.
        pairs: Node indices, `[m, 2]`.
        lost: Whether the pair is an edge, which is then left out.
        shared: Of lost pairs, `[num_lost, 2]`: the number of common neighbours, and the sum of
            1 / degree over them.
    """
    from pgnn.pairs.kernels.nodes import cores_without_edges

    with step("facts about nodes"):
        nodes = keep(graph, "endpoints", lambda: _NodeFacts.of(graph))
    columns = {name: nodes.columns[name][pairs] for name in ENDPOINT_COLUMNS}
    component = nodes.tree[0][pairs]
    same = component[:, 0] == component[:, 1]
    if not lost.any():
        return Endpoints(columns, same, 0)
    edges = pairs[lost]
    other = edges[:, ::-1]
    count, resource = shared.T[:, :, None]
    left = nodes.degree[edges] - 1  # degrees without the own edge
    at_least_one = np.maximum(left, 1)
    neighbour_sum = nodes.degree_sum[edges] - nodes.degree[other]
    # Of the neighbours that stay, each has u, and common ones also v, with a degree less by one.
    changed = nodes.columns["neighbour_degree"][other] + nodes.inverse_sum[edges]
    two_hop_sum = nodes.mean_sum[edges] - (changed - nodes.inverse[other] + resource)
    triangles = nodes.triangles[edges] - count
    cores = np.empty((len(edges), 2), dtype=np.int64)
    limited = cores_without_edges(graph.indptr, graph.indices, nodes.core, edges, _MAX_FALLS, cores)
    columns["neighbour_degree"][lost] = np.where(left > 0, neighbour_sum / at_least_one, 0)
    columns["two_hop_degree"][lost] = np.where(left > 0, two_hop_sum / at_least_one, 0)
    columns["clustering"][lost] = 2 * triangles / np.maximum(left * (left - 1), 1)
    columns["core"][lost] = cores
    # A bridge that is lost parts the nodes below it from the others.
    _, parent, entered, earliest, subtree = nodes.tree
    is_bridge = (parent[edges] == other) & (earliest == entered)[edges]
    below, sizes = subtree[edges], columns["component"][lost]
    sizes = np.where(is_bridge, below, sizes)
    columns["component"][lost] = sizes - np.where(is_bridge[:, ::-1], below[:, ::-1], 0)
    same[lost] &= ~is_bridge.any(axis=1)
    return Endpoints(columns, same, int(limited))


@dataclass(frozen=True, eq=False)
class _NodeFacts:
    """What `describe_endpoints` has to know about all nodes of an undirected graph, `[n]` each.

    Attributes:
        columns: By name of `ENDPOINT_COLUMNS`, with all edges.
        degree, inverse: The degree, and 1 / degree.
        degree_sum, mean_sum, inverse_sum: Sums over the neighbours: of their degrees, of the mean
            degrees of their neighbours, and of 1 / degree.
        triangles, core: Number of triangles, and core number.
        tree: What `components_and_bridges` gives.
    """

    columns: dict[str, Array]
    degree: Array
    inverse: Array
    degree_sum: Array
    mean_sum: Array
    inverse_sum: Array
    triangles: NDArray[np.int64]
    core: NDArray[np.int64]
    tree: tuple[NDArray[np.int64], ...]

    @classmethod
    def of(cls, graph: Graph) -> _NodeFacts:
        from pgnn.pairs.kernels.nodes import core_numbers, count_triangles

        degree = graph.degrees.astype(np.float64)
        rows = np.repeat(np.arange(graph.num_nodes), graph.degrees)

        def over_neighbours(values: Array) -> Array:
            sums = np.bincount(rows, weights=values[graph.indices], minlength=graph.num_nodes)
            return sums.astype(np.float64)  # of no edges at all, bincount makes integers

        inverse = 1 / np.maximum(degree, 1)
        degree_sum = over_neighbours(degree)
        mean_degree = degree_sum * inverse
        mean_sum = over_neighbours(mean_degree)
        triangles = count_triangles(graph.indptr, graph.indices)
        core = core_numbers(graph.indptr, graph.indices)
        tree = component_tree(graph)
        sizes = np.bincount(tree[0], minlength=graph.num_nodes)[tree[0]]
        columns = {
            "neighbour_degree": mean_degree,
            "two_hop_degree": mean_sum * inverse,
            "clustering": 2 * triangles / np.maximum(degree * (degree - 1), 1),
            "core": core.astype(np.float64),
            "component": sizes.astype(np.float64),
        }
        inverse_sum = over_neighbours(inverse)
        return cls(
            columns, degree, inverse, degree_sum, mean_sum, inverse_sum, triangles, core, tree
        )


# ---------------------------------------------------------------------- shortest paths of pairs

Nodes = NDArray[np.int64]
Hops = NDArray[np.int64]

_BITS = 64
_SEARCH_PAIRS = 2048
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

    def fills(block: range) -> list[tuple[Hops, Nodes]]:
        return [(hops, order[slice(*np.searchsorted(places, [block.start, block.stop]))])]

    in_blocks(work, len(sources), _BITS, make_words, num_threads, fills=fills)
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

    stopped = np.zeros(-(-len(pairs) // _SEARCH_PAIRS), dtype=np.int64)  # in each block

    def work(block: range, lists: tuple[Nodes, ...]) -> None:
        span = slice(block.start, block.stop)
        number = block.start // _SEARCH_PAIRS
        stopped[number] = search_pairs(*rows, pairs[span], is_edge[span], limits, hops[span], lists)

    def make_lists() -> tuple[Nodes, ...]:
        n = graph.num_nodes
        return np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)

    def fills(block: range) -> list[tuple[Hops, slice]]:
        number = block.start // _SEARCH_PAIRS
        return [(hops, slice(block.start, block.stop)), (stopped, slice(number, number + 1))]

    in_blocks(work, len(pairs), _SEARCH_PAIRS, make_lists, num_threads, fills=fills)
    return hops, int(stopped.sum())
