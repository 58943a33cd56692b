"""Places of nodes in the plane: of a small graph, and of rows of an embedding."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]

_STEPS = 120  # of stress majorisation; what changes later is not seen
_FEWEST_FOR_TSNE = 12
# Coarser than scikit-learn's defaults: twice as fast, and the map looks the same.
_TSNE_STEPS = 600
_TSNE_ANGLE = 0.6


def place_nodes(edges: NDArray[np.int64], num_nodes: int) -> Points:
    """Return a drawing of an undirected graph, `[num_nodes, 2]`, of about one unit an edge.

    Each component is drawn so that distances in the plane are near to distances in the graph
    (stress majorisation), started from classical scaling. An edge between nodes that share
    neighbours is short, which pulls communities together and leaves a grid as it is. Components are
    then put side by side, the largest first.
    """
    import scipy.sparse as sp
    from scipy.sparse.csgraph import connected_components
    from threadpoolctl import threadpool_limits

    both = np.concatenate([edges, edges[:, ::-1]])
    ones = np.ones(len(both))
    adjacency = sp.csr_array((ones, (both[:, 0], both[:, 1])), shape=(num_nodes, num_nodes))
    _, component = connected_components(adjacency, directed=False)
    drawn = []
    with threadpool_limits(limits=1):  # a drawing must not depend on the number of cores
        for label in np.argsort(-np.bincount(component), kind="stable"):
            members = np.flatnonzero(component == label)
            drawn.append((members, _place_component(adjacency[members][:, members])))
    return _side_by_side(drawn, num_nodes)


def _place_component(adjacency: Any) -> Points:
    size = adjacency.shape[0]
    if size == 1:
        return np.zeros((1, 2))
    if size == 2:
        return np.array([[0.0, 0.0], [1.0, 0.0]])
    lengths = _path_lengths(adjacency)
    points = _majorise(_classical_scaling(lengths), lengths)
    entries = adjacency.tocoo()
    edges = points[entries.row] - points[entries.col]
    return _turn(points / np.median(np.hypot(edges[:, 0], edges[:, 1])), edges)


def _path_lengths(adjacency: Any) -> Points:
    """Return lengths of shortest paths; an edge is shorter the more neighbours its ends share."""
    from scipy.sparse.csgraph import shortest_path

    entries = adjacency.tocoo()
    degrees = np.asarray(adjacency.sum(axis=1)).ravel()
    shared = np.asarray((adjacency @ adjacency)[entries.row, entries.col]).ravel()
    unlike = 1 - 2 * shared / (degrees[entries.row] + degrees[entries.col])
    weighted = adjacency.copy()
    weighted[entries.row, entries.col] = np.sqrt(np.maximum(unlike, 0.05))
    return np.asarray(shortest_path(weighted, method="D", directed=False))


def _classical_scaling(lengths: Points) -> Points:
    """Return the plane in which squared distances are best kept."""
    squared = lengths**2
    centred = squared - squared.mean(axis=0) - squared.mean(axis=1)[:, None] + squared.mean()
    values, vectors = np.linalg.eigh(-centred / 2)
    vectors = vectors[:, -2:]
    # An eigenvector's sign is arbitrary; fixed, so that a drawing is the same everywhere.
    vectors = vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), [0, 1]])
    points = vectors * np.sqrt(np.maximum(values[-2:], 1e-9))
    # Nodes that are alike fall on one point, from which majorisation cannot part them.
    jitter = np.random.default_rng(0).normal(size=points.shape)
    return np.asarray(points + 1e-2 * jitter)


def _majorise(points: Points, lengths: Points) -> Points:
    """Move points so that the sum of (|p - q| - length)^2 / length^2 over pairs gets small."""
    size = len(points)
    off_diagonal = lengths + np.eye(size)
    weights = off_diagonal**-2.0 - np.eye(size)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    inverse = np.linalg.inv(laplacian + 1 / size) - 1 / size
    wanted = weights * lengths
    for _ in range(_STEPS):
        squares = (points**2).sum(axis=1)
        squared = squares[:, None] + squares - 2 * points @ points.T
        pull = wanted / np.sqrt(np.maximum(squared, 1e-12))
        points = inverse @ (pull.sum(axis=1)[:, None] * points - pull @ points)
    return points


def _turn(points: Points, edges: Points) -> Points:
    """Turn a drawing so that a grid stands upright and anything else lies along the x axis."""
    angles = np.arctan2(edges[:, 1], edges[:, 0])
    crossing = np.exp(4j * angles).mean()
    if np.abs(crossing) > 0.5:
        angle = np.angle(crossing) / 4
    else:
        spread = np.linalg.eigh(np.cov(points.T))[1][:, -1]
        angle = np.arctan2(spread[1], spread[0])
    cosine, sine = np.cos(angle), np.sin(angle)
    return np.asarray(points @ np.array([[cosine, -sine], [sine, cosine]]))


def _side_by_side(drawn: list[tuple[NDArray[np.int64], Points]], num_nodes: int) -> Points:
    """Put drawings of components, largest first, on shelves, rather wide than high."""
    boxes = [np.ptp(points, axis=0) + 1.5 for _, points in drawn]
    width = max(np.sqrt(sum(box.prod() for box in boxes)) * 1.4, max(box[0] for box in boxes))
    result = np.empty((num_nodes, 2))
    left = top = shelf = 0.0
    for (members, points), box in zip(drawn, boxes, strict=True):
        if left and left + box[0] > width:
            left, top, shelf = 0.0, top - shelf, 0.0
        corner = np.array([points[:, 0].min(), points[:, 1].max()])
        result[members] = points - corner + np.array([left, top])
        left, shelf = left + box[0], max(shelf, box[1])
    return result


def map_embedding(rows: NDArray[Any], seed: int) -> tuple[Points, str]:
    """Return a map of rows in the plane, `[m, 2]`, and how it was made: "t-SNE" or "PCA"."""
    from threadpoolctl import threadpool_limits

    centred = rows.astype(np.float64) - rows.mean(axis=0)
    # One thread: sums of several threads end in any order, and t-SNE makes much of the difference.
    with threadpool_limits(limits=1):
        left, scales, _ = np.linalg.svd(centred, full_matrices=False)
        signs = np.sign(left[np.abs(left).argmax(axis=0), np.arange(left.shape[1])])
        components = left * signs * scales
        few = len(rows) < _FEWEST_FOR_TSNE
        if few or scales[0] < 1e-12:
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
