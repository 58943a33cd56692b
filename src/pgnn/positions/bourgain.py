"""The Bourgain embedding, which P-GNNs generalise, and the distortion of any embedding."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pgnn.checks import as_generator, checked, integer
from pgnn.errors import Parameter, PGNNError
from pgnn.graph import Graph
from pgnn.graph.graph import check_graph
from pgnn.positions.anchors import AnchorSets, sample_anchor_sets
from pgnn.positions.distances import anchor_distances

_BLOCK_PAIRS = 1 << 21  # pairs of nodes looked at together: about 100 MB


class Distortion(float):
    """How far an embedding is from keeping the distances of a graph up to scale; 1 is perfect.

    The distortion is a number, expansion * contraction, to be compared, rounded and printed as any
    other; so this is a float, which also carries what it was computed from. Over the measured
    pairs, with d the distance in the graph and d' in the embedding:

    Attributes:
        expansion: max d' / d; at most 1 for `bourgain_embedding` with p = 1.
        contraction: max d / d'; infinite if two of the nodes are embedded at the same place.
        mean: expansion * sum(d) / sum(d'), the average distortion of Rabinovich (2003), between 1
            and the distortion itself.
        num_pairs: How many ordered pairs were measured. If none, the three above are 1.

    Example:
        >>> measured = Distortion(expansion=0.5, contraction=6.0, mean=1.5, num_pairs=12)
        >>> measured, measured.contraction
        (3.0, 6.0)
    """

    expansion: float
    contraction: float
    mean: float
    num_pairs: int

    def __new__(
        cls, expansion: float, contraction: float, mean: float, num_pairs: int
    ) -> Distortion:
        """Multiply, and keep the factors."""
        value = math.inf if math.isinf(contraction) else expansion * contraction
        self = super().__new__(cls, value)
        self.expansion, self.contraction = expansion, contraction
        self.mean, self.num_pairs = mean, num_pairs
        return self

    def __getnewargs__(self) -> tuple[float, float, float, int]:  # type: ignore[override]
        """Say how to make a copy, which float would make of the product alone."""
        return self.expansion, self.contraction, self.mean, self.num_pairs


@checked
def bourgain_embedding(
    graph: Graph, c: float = 1.0, *, rng: int | np.random.Generator
) -> NDArray[np.float64]:
    """Embed the nodes by their distances to random anchor-sets (Theorem 2 of the paper).

        f(v) = (d(v, S_(1,1)) / k, ..., d(v, S_(L,cL)) / k),  d(v, S) = min over u in S of d(v, u),

    with the sets of `sample_anchor_sets`, L = floor(log2 n), k = L * floor(c L). f never expands a
    distance in l1, ||f(u) - f(v)||_1 <= d(u, v), and with high probability, for c large enough,
    shrinks none by more than a factor O(log n).

    Weights are lengths. A set that a node cannot reach counts as one longest edge (1 in an
    unweighted graph) farther away than any node is from any set it does reach.

    Args:
        graph: An undirected graph, connected or not.
        c: The paper's constant: more sets, less distortion.
        rng: Seed or generator of the sets.

    Returns:
        float64 `[num_nodes, num_sets]`.

    Raises:
        PGNNError: If the graph is directed (its distances are no metric) or c is not positive.

    Example:
        >>> path = Graph.from_edges([(0, 1), (1, 2), (2, 3)])
        >>> f = bourgain_embedding(path, rng=0)
        >>> f.shape, bool(np.abs(f[0] - f[3]).sum() <= 3)
        ((4, 4), True)
    """
    _check_undirected(graph)
    return _embed(graph, sample_anchor_sets(graph.num_nodes, c, rng=rng))


@checked
def distortion(
    graph: Graph,
    embedding: ArrayLike,
    *,
    p: float = 1,
    num_sources: int | None = None,
    rng: int | np.random.Generator = 0,
) -> Distortion:
    """Measure the distortion of an embedding over the pairs of nodes that a path joins.

    Distances are computed from blocks of sources: time grows with num_sources * num_nodes * k, but
    memory stays at about 100 MB.

    Args:
        graph: An undirected graph; weights are lengths.
        embedding: Finite numbers, one row per node.
        p: Distances in the embedding are those of l_p, p >= 1 (`math.inf` for the maximum).
        num_sources: Measure only the pairs of this many random nodes with all nodes. The worst pair
            may then be missed: the result is a lower bound.
        rng: Seed or generator of the sources.

    Raises:
        PGNNError: If the graph is directed, or an argument is out of range.

    Example:
        >>> square = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)])
        >>> distortion(square, [[0, 0], [0, 1], [1, 1], [1, 0]])
        1.0
        >>> round(distortion(square, [[0, 0], [0, 1], [1, 1], [1, 0]], p=2), 3)
        1.414
    """
    from scipy.spatial.distance import cdist

    _check_undirected(graph)
    is_number = isinstance(p, int | float | np.integer | np.floating)
    if isinstance(p, bool) or not is_number or not p >= 1:
        raise PGNNError(Parameter("p"), f" must be at least 1 (got {p!r})")
    positions = _as_positions(embedding, graph.num_nodes)
    sources = _choose_sources(graph.num_nodes, num_sources, rng)
    at_once = max(1, _BLOCK_PAIRS // graph.num_nodes)
    smallest, largest, total, total_embedded, num_pairs = math.inf, 0.0, 0.0, 0.0, 0
    for block in np.split(sources, range(at_once, len(sources), at_once)):
        lengths = _lengths(graph, AnchorSets.from_sets(block[:, None], graph.num_nodes)).T
        joined = np.isfinite(lengths) & (lengths > 0)  # a node is no pair with itself
        if not joined.any():
            continue
        lengths = lengths[joined]
        embedded = cdist(positions[block], positions, "minkowski", p=p)[joined]
        ratios = embedded / lengths
        smallest, largest = min(smallest, ratios.min()), max(largest, ratios.max())
        total, total_embedded = total + lengths.sum(), total_embedded + embedded.sum()
        num_pairs += len(lengths)
    if num_pairs == 0:
        return Distortion(expansion=1.0, contraction=1.0, mean=1.0, num_pairs=0)
    return Distortion(
        expansion=float(largest),
        contraction=float(1 / smallest) if smallest > 0 else math.inf,
        mean=float(largest * total / total_embedded) if largest > 0 else math.inf,
        num_pairs=num_pairs,
    )


def _embed(graph: Graph, sets: AnchorSets) -> NDArray[np.float64]:
    """Return d(v, S_i) / k, `[num_nodes, num_sets]`."""
    lengths = _lengths(graph, sets)
    # Why this never expands: within a component a set is reached from all nodes or from none. In
    # the first case |d(u, S) - d(v, S)| <= d(u, v) by the triangle inequality; in the second all
    # get the same number, whatever it is. The mean of k such differences is at most d(u, v).
    reached = np.isfinite(lengths)
    weights = np.ones(1) if graph.weights is None or not graph.num_edges else graph.weights
    lengths[~reached] = lengths[reached].max() + weights.max()
    lengths /= len(sets)
    return lengths


def _lengths(graph: Graph, sets: AnchorSets) -> NDArray[np.float64]:
    """Return d(v, S_i) `[num_nodes, num_sets]`, infinite where the set is not reached."""
    distances = anchor_distances(graph, sets)
    if distances.lengths is not None:
        return np.array(distances.lengths, dtype=np.float64)
    lengths = np.array(distances.hops, dtype=np.float64)
    lengths[lengths < 0] = np.inf
    return lengths


def _choose_sources(
    num_nodes: int, num_sources: int | None, rng: int | np.random.Generator
) -> NDArray[np.int64]:
    """Return all nodes, or `num_sources` random ones."""
    if num_sources is None:
        return np.arange(num_nodes)
    if integer("num_sources", num_sources, at_least=0) not in range(1, num_nodes + 1):
        raise PGNNError(
            Parameter("num_sources"), f" must lie in 1..{num_nodes} (got {num_sources})"
        )
    return as_generator(rng).choice(num_nodes, num_sources, replace=False)


def _as_positions(embedding: ArrayLike, num_nodes: int) -> NDArray[np.float64]:
    """Return finite float64 positions `[num_nodes, k]`."""
    try:
        positions = np.asarray(embedding, dtype=np.float64)
    except (TypeError, ValueError, RuntimeError) as error:
        raise PGNNError(f"the embedding must be numbers, one row per node ({error})") from error
    if positions.ndim != 2 or positions.shape[0] != num_nodes:
        raise PGNNError(
            f"the embedding must have one row per node, [{num_nodes}, k] "
            f"(got {list(positions.shape)})"
        )
    if not np.isfinite(positions).all():
        raise PGNNError("the embedding must be finite (got NaN or infinity)")
    return positions


def _check_undirected(graph: Graph) -> None:
    check_graph(graph)
    if graph.directed:
        raise PGNNError(
            "the graph must be undirected, since distances in a directed one are no metric; "
            "make one with Graph.from_edges(graph.edges(), graph.num_nodes)"
        )
