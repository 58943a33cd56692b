"""The drawings of a page: which nodes and edges of a graph are drawn, and where."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgnn.graph import Graph

Nodes = NDArray[np.int64]
Points = NDArray[np.float64]

_BALLS = 6  # parts of the graph that are drawn when the whole is too large
_BRANCHES = 8  # neighbours that the search follows per node, so that hubs do not fill a ball
_STEPS = 50  # of the spring layout
# networkx goes through nodes one by one from 500 nodes on. A drawing that starts from the spectrum
# hardly changes after 20 steps, so larger ones are not given more.
_STEPS_LARGE = 20
_LARGE = 500
_FEWEST_FOR_TSNE = 12
# Coarser than scikit-learn's defaults: twice as fast, and the map looks the same.
_TSNE_STEPS = 600
_TSNE_ANGLE = 0.6


# ---------------------------------------------------------------------- which nodes and edges


def sample_nodes(graph: Graph, count: int, rng: np.random.Generator) -> Nodes:
    """Choose the nodes to draw: all, or those of a few breadth-first balls; sorted.

    A ball is connected, so distances change gradually across it, and several balls show several
    parts of the graph. The search follows at most eight neighbours per node, so that a hub does not
    fill its ball. Balls start at nodes with edges as long as there are any left.
    """
    if graph.num_nodes <= count:
        return np.arange(graph.num_nodes)
    around = graph if not graph.directed else Graph.from_edges(graph.edges(), graph.num_nodes)
    taken = np.zeros(graph.num_nodes, dtype=bool)
    size = -(-count // _BALLS)
    order = rng.permutation(graph.num_nodes)
    starts = order[np.argsort(around.degrees[order] == 0, kind="stable")]
    left = count
    for start in starts.tolist():
        if left == 0:
            break
        if not taken[start]:
            left -= _take_ball(around, start, min(size, left), taken, rng)
    return np.flatnonzero(taken)


def _take_ball(
    graph: Graph, start: int, size: int, taken: NDArray[np.bool_], rng: np.random.Generator
) -> int:
    """Mark up to `size` nodes around a node, nearest first; return how many."""
    queue = [start]
    taken[start] = True
    for node in queue:
        neighbours = graph.neighbors(node)
        neighbours = neighbours[~taken[neighbours]]
        room = min(_BRANCHES, size - len(queue))
        if len(neighbours) > room:
            neighbours = rng.choice(neighbours, room, replace=False)
        taken[neighbours] = True
        queue += neighbours.tolist()
        if len(queue) >= size:
            break
    return len(queue)


def add_nodes(nodes: Nodes, num_nodes: int, count: int, rng: np.random.Generator) -> Nodes:
    """Return the nodes and, after them, other nodes drawn at random until there are `count`."""
    others = np.setdiff1d(np.arange(num_nodes), nodes, assume_unique=True)
    room = min(count - len(nodes), len(others))
    if room <= 0:
        return nodes
    return np.concatenate([nodes, np.sort(rng.choice(others, room, replace=False))])


def edges_among(graph: Graph, nodes: Nodes) -> NDArray[np.int64]:
    """Return each edge between the nodes once, without direction, as positions in `nodes`."""
    place = np.full(graph.num_nodes, -1)
    place[nodes] = np.arange(len(nodes))
    rows = np.repeat(np.arange(len(nodes)), graph.degrees[nodes])
    targets = np.concatenate([graph.neighbors(node) for node in nodes.tolist()])
    pairs = np.stack([rows, place[targets]], axis=1)
    return np.unique(np.sort(pairs[pairs[:, 1] >= 0], axis=1), axis=0)


# ---------------------------------------------------------------------- where nodes are drawn


def place_nodes(edges: NDArray[np.int64], num_nodes: int) -> Points:
    """Draw an undirected graph: points `[num_nodes, 2]`, typical edges one unit long.

    Each component is drawn by the spring layout of networkx. It starts from two eigenvectors of the
    Laplacian, which unfold a grid and pull communities apart; from random points it would do
    neither. Components are then put side by side, the largest first.
    """
    import scipy.sparse as sp
    from scipy.sparse.csgraph import connected_components
    from threadpoolctl import threadpool_limits

    both = np.concatenate([edges, edges[:, ::-1]])
    ones = np.ones(len(both))
    adjacency = sp.csr_array((ones, (both[:, 0], both[:, 1])), shape=(num_nodes, num_nodes))
    _, component = connected_components(adjacency, directed=False)
    drawings = []
    with threadpool_limits(limits=1):  # a drawing must not depend on the number of cores
        for label in np.argsort(-np.bincount(component), kind="stable"):
            members = np.flatnonzero(component == label)
            drawings.append((members, _place_component(adjacency[members][:, members])))
    return _side_by_side(drawings, num_nodes)


def _place_component(adjacency: Any) -> Points:
    import networkx as nx

    size = adjacency.shape[0]
    if size <= 2:
        return np.array([[0.0, 0.0], [1.0, 0.0]])[:size]
    placed = nx.spring_layout(
        nx.from_scipy_sparse_array(adjacency),
        pos=dict(enumerate(_spectral_start(adjacency))),
        iterations=_STEPS if size < _LARGE else _STEPS_LARGE,
        method="force",
        scale=None,
        seed=0,
    )
    points = np.array([placed[node] for node in range(size)])
    entries = adjacency.tocoo()
    edges = points[entries.row] - points[entries.col]
    return _turn(points / np.median(np.hypot(edges[:, 0], edges[:, 1])), edges)


def _spectral_start(adjacency: Any) -> Points:
    """Return two coordinates per node that differ little along edges, each from -1 to 1.

    They are the eigenvectors of the normalised Laplacian after the constant one. networkx has them
    as well, but finds them by a search that starts at random and on a long path does not end.
    """
    from scipy.linalg import eigh
    from scipy.sparse.csgraph import laplacian

    matrix, root_degrees = laplacian(adjacency, normed=True, return_diag=True)
    _, vectors = eigh(matrix.toarray(), subset_by_index=[1, 2])
    points = vectors / root_degrees[:, None]
    points /= points[np.abs(points).argmax(axis=0), [0, 1]]  # an eigenvector's sign is arbitrary
    # Nodes with the same neighbours have one point, from which springs could not part them.
    jitter = np.random.default_rng(0).normal(size=points.shape)
    return np.asarray(points + 0.5 / len(points) * jitter)


def _turn(points: Points, edges: Points) -> Points:
    """Turn a drawing so that a grid stands upright and anything else lies along the x axis."""
    angles = np.arctan2(edges[:, 1], edges[:, 0])
    crossing = np.exp(4j * angles).mean()
    if np.abs(crossing) > 0.5:
        angle = np.angle(crossing) / 4
    else:
        longest = np.linalg.eigh(np.cov(points.T))[1][:, -1]
        angle = np.arctan2(longest[1], longest[0])
    cosine, sine = np.cos(angle), np.sin(angle)
    return np.asarray(points @ np.array([[cosine, -sine], [sine, cosine]]))


def _side_by_side(drawings: list[tuple[Nodes, Points]], num_nodes: int) -> Points:
    """Put drawings of components, largest first, on shelves that are wider than high."""
    boxes = [np.ptp(points, axis=0) + 1.5 for _, points in drawings]
    width = max(np.sqrt(sum(box.prod() for box in boxes)) * 1.4, max(box[0] for box in boxes))
    result = np.empty((num_nodes, 2))
    left = top = shelf = 0.0
    for (members, points), box in zip(drawings, boxes, strict=True):
        if left and left + box[0] > width:
            left, top, shelf = 0.0, top - shelf, 0.0
        corner = np.array([points[:, 0].min(), points[:, 1].max()])
        result[members] = points - corner + np.array([left, top])
        left, shelf = left + box[0], max(shelf, box[1])
    return result


def map_embedding(rows: NDArray[Any], seed: int) -> tuple[Points, str]:
    """Map the rows of an embedding to the plane, `[m, 2]`; also name the method: t-SNE or PCA."""
    from threadpoolctl import threadpool_limits

    centred = rows.astype(np.float64) - rows.mean(axis=0)
    # One thread: several add numbers up in any order, and t-SNE magnifies the difference.
    with threadpool_limits(limits=1):
        left, scales, _ = np.linalg.svd(centred, full_matrices=False)
        signs = np.sign(left[np.abs(left).argmax(axis=0), np.arange(left.shape[1])])
        components = left * signs * scales
        if len(rows) < _FEWEST_FOR_TSNE or scales[0] < 1e-12:
            flat = np.zeros((len(rows), 2))
            flat[:, : components.shape[1]] = components[:, :2]
            return flat, "PCA"
        from sklearn.manifold import TSNE

        kept = components[:, :50]
        start = kept[:, :2] if kept.shape[1] > 1 else np.pad(kept, ((0, 0), (0, 1)))
        mapped = TSNE(
            perplexity=min(30.0, (len(rows) - 1) / 3),
            init=1e-4 * start / start[:, 0].std(),
            max_iter=_TSNE_STEPS,
            angle=_TSNE_ANGLE,
            random_state=seed,
        ).fit_transform(kept)
    return np.asarray(mapped, dtype=np.float64), "t-SNE"
