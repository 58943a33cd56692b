"""Slow, obvious twins: of `pair_proximities` and of the annealing of `pair_similarities`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pgnn.graph import Graph
from pgnn.pairs.proximities import proximity_columns

Array = NDArray[np.float64]

_LENGTHS = (2, 3, 4, 5, 6, 8, 12, 16, 24)
_RESTARTS = (0.15, 0.5)


def reference_proximities(
    graph: Graph, pairs: ArrayLike, *, weights: str = "strength", max_hops: int = 48
) -> Array:
    """Values of `pair_proximities`, float64 `[m, columns]`, a pair at a time.

    Example:
        >>> path = Graph.from_edges([(0, 1), (1, 2)])
        >>> reference_proximities(path, [(0, 2)]).shape
        (1, 32)
    """
    names = proximity_columns(graph.directed)
    whole = np.zeros((graph.num_nodes, graph.num_nodes))
    rows = np.repeat(np.arange(graph.num_nodes), graph.degrees)
    whole[rows, graph.indices] = 1.0 if graph.weights is None else graph.weights
    if weights == "length":
        whole[whole > 0] = 1 / whole[whole > 0]
    values = []
    for u, v in np.asarray(pairs, dtype=np.int64).reshape(-1, 2).tolist():
        strength = whole.copy()
        strength[u, v] = 0.0
        if not graph.directed:
            strength[v, u] = 0.0
        describe = _directed if graph.directed else _undirected
        row = describe(strength, u, v, max_hops)
        values.append([row[name] for name in names])
    return np.array(values).reshape(-1, len(names))


def _undirected(strength: Array, u: int, v: int, max_hops: int) -> dict[str, float]:
    joined = (strength > 0).astype(float)
    degree = joined.sum(axis=1)
    row = _walks(strength, u, v)
    common = np.flatnonzero(joined[u] * joined[v])
    row["common_neighbours"] = len(common)
    row["adamic_adar"] = sum(1 / np.log(degree[common]))
    row["resource_allocation"] = sum(1 / degree[common])
    row["jaccard"] = _ratio(len(common), np.count_nonzero(joined[u] + joined[v]))
    row["three_paths"] = _three_paths(joined, u, v)
    row["hops"] = _hops(joined, u, v, max_hops)
    ends = {"degree": degree, "strength": strength.sum(axis=1), **_node_columns(joined)}
    for name, numbers in ends.items():
        row[f"{name}_min"] = min(numbers[u], numbers[v])
        row[f"{name}_max"] = max(numbers[u], numbers[v])
    row["same_component"] = float(_reach(joined)[u, v])
    return row


def _directed(strength: Array, u: int, v: int, max_hops: int) -> dict[str, float]:
    arcs = (strength > 0).astype(float)
    out_degree, in_degree = arcs.sum(axis=1), arcs.sum(axis=0)
    row: dict[str, float] = {}
    for way, (a, b) in {"forward": (u, v), "backward": (v, u)}.items():
        row |= {f"{name}_{way}": value for name, value in _walks(strength, a, b).items()}
        between = np.flatnonzero(arcs[a] * arcs[:, b])
        row[f"two_paths_{way}"] = len(between)
        row[f"resource_allocation_{way}"] = sum(1 / out_degree[between])
        row[f"three_paths_{way}"] = _three_paths(arcs, a, b)
        row[f"hops_{way}"] = _hops(arcs, a, b, max_hops)
    for which, matrix, degree in (
        ("successors", arcs, in_degree),
        ("predecessors", arcs.T, out_degree),
    ):
        common = np.flatnonzero(matrix[u] * matrix[v])
        row[f"common_{which}"] = len(common)
        row[f"adamic_adar_{which}"] = sum(1 / np.log(degree[common]))
        row[f"jaccard_{which}"] = _ratio(len(common), np.count_nonzero(matrix[u] + matrix[v]))
    row["reverse_edge"] = arcs[v, u]
    plain = np.maximum(arcs, arcs.T)
    ends = {
        "out_degree": out_degree,
        "in_degree": in_degree,
        "out_strength": strength.sum(axis=1),
        "in_strength": strength.sum(axis=0),
        **_node_columns(plain),
    }
    for name, numbers in ends.items():
        row[f"{name}_source"], row[f"{name}_target"] = numbers[u], numbers[v]
    row["same_component"] = float(_reach(plain)[u, v])
    return row


def _walks(strength: Array, u: int, v: int) -> dict[str, float]:
    """S^l[u, v] and (I - (1 - a) S)^-1[u, v]."""
    out, into = strength.sum(axis=1), strength.sum(axis=0)
    s = strength / np.sqrt(np.outer(np.where(out > 0, out, 1), np.where(into > 0, into, 1)))
    row = {f"walk_{k}": float(np.linalg.matrix_power(s, k)[u, v]) for k in _LENGTHS}
    for a in _RESTARTS:
        row[f"pagerank_{a:g}"] = float(np.linalg.inv(np.eye(len(s)) - (1 - a) * s)[u, v])
    return row


def _three_paths(arcs: Array, u: int, v: int) -> float:
    """Sum of 1 / sqrt(out(a) in(b)) over u -> a -> b -> v, all four different."""
    out_degree, in_degree = arcs.sum(axis=1), arcs.sum(axis=0)
    total = 0.0
    for a in np.flatnonzero(arcs[u]):
        for b in np.flatnonzero(arcs[a] * arcs[:, v]):
            if len({u, v, int(a), int(b)}) == 4:
                total += 1 / np.sqrt(out_degree[a] * in_degree[b])
    return total


def _hops(arcs: Array, u: int, v: int, max_hops: int) -> float:
    """Length of a shortest path, by powers of the adjacency matrix."""
    reached = np.zeros(len(arcs))
    reached[u] = 1.0
    for level in range(1, max_hops + 1):
        reached = ((reached @ arcs) > 0).astype(float)
        if reached[v]:
            return level
    return max_hops + 1


def _reach(joined: Array) -> NDArray[np.bool_]:
    """Whether a path joins two nodes; every node reaches itself."""
    n = len(joined)
    return np.asarray(np.linalg.matrix_power(np.eye(n) + joined, n) > 0)


def _node_columns(joined: Array) -> dict[str, Array]:
    """Columns of endpoints that do not read directions, one number per node."""
    degree = joined.sum(axis=1)
    at_least_one = np.maximum(degree, 1)
    neighbour_degree = joined @ degree / at_least_one
    wedges = degree * (degree - 1)
    closed = np.diag(joined @ joined @ joined)
    return {
        "neighbour_degree": neighbour_degree,
        "two_hop_degree": joined @ neighbour_degree / at_least_one,
        "clustering": np.where(wedges > 0, closed / np.maximum(wedges, 1), 0.0),
        "core": _cores(joined),
        "component": _reach(joined).sum(axis=1).astype(float),
    }


def _cores(joined: Array) -> Array:
    """Largest k such that the node survives when nodes of fewer than k neighbours are removed."""
    core = np.zeros(len(joined))
    for k in range(1, len(joined)):
        stays = np.ones(len(joined), dtype=bool)
        while (falls := stays & (joined @ stays < k)).any():
            stays &= ~falls
        core[stays] = k
    return core


def _ratio(part: Any, whole: Any) -> float:
    return float(part / whole) if whole else 0.0


def reference_groups(
    graph: Graph,
    order: ArrayLike,
    uniforms: Array,
    temperatures: ArrayLike,
    resolution: float,
    num_groups: int,
    groups: ArrayLike,
) -> list[int]:
    """Groups as `anneal_groups` gives them, all sums made anew for each node; unweighted."""
    division = list(np.asarray(groups))
    degrees = graph.degrees.astype(float)
    for temperature, row in zip(np.asarray(temperatures), uniforms, strict=True):
        for v in np.asarray(order):
            if not degrees[v]:
                continue
            gains = np.zeros(num_groups)
            for u in range(graph.num_nodes):
                if u != v:
                    gains[division[u]] -= resolution * degrees[v] * degrees[u] / degrees.sum()
            for u in graph.neighbors(v):
                gains[division[u]] += 1
            chances = np.exp((gains - gains.max()) / temperature)
            reached = np.cumsum(chances)
            division[v] = min(int(np.searchsorted(reached, row[v] * reached[-1])), num_groups - 1)
    return [int(group) for group in division]
