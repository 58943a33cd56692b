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
_FEWEST_FOR_DISCS = 100  # a smaller graph is readable as springs leave it
_SOURCES = 20  # nodes from which hops are counted
_FLAT = 0.35  # of sqrt(n) hops between nodes: 0.67 in a square grid, 0.15 in a network of flights
_DISC = 0.6  # radius of a disc of one node, in units of the drawing
_DISC_STEPS = 300
_DENSE = 700  # nodes up to which all eigenvectors are at hand sooner than a few
_FEWEST_FOR_TSNE = 12
# Coarser than scikit-learn's defaults: twice as fast, and the map looks the same.
_TSNE_STEPS = 600
_TSNE_ANGLE = 0.6


# ---------------------------------------------------------------------- which nodes and edges


def sample_nodes(
    graph: Graph, count: int, rng: np.random.Generator, *, required: Nodes | None = None
) -> Nodes:
    """Choose the nodes to draw: all, or those of a few breadth-first balls; sorted.

    A ball is connected, so distances change gradually across it, and several balls show several
    parts of the graph. The search follows at most eight neighbours per node, so that a hub does not
    fill its ball. Balls start at nodes with edges as long as there are any left.

    Args:
        graph: The graph.
        count: How many nodes to choose; all if there are no more.
        rng: Draws the first node of each ball.
        required: Nodes that are drawn whatever else is, at most `count`. Half of the room that they
            leave goes to their neighbourhoods.
    """
    if graph.num_nodes <= count:
        return np.arange(graph.num_nodes)
    around = graph if not graph.directed else Graph.from_edges(graph.edges(), graph.num_nodes)
    taken = np.zeros(graph.num_nodes, dtype=bool)
    left = count
    if required is not None and len(required):
        taken[required] = True
        left -= int(taken.sum())
        share = left // (2 * len(required)) + 1
        for start in required.tolist():
            left -= _take_ball(around, start, min(share, left), taken, rng)
    size = -(-count // _BALLS)
    order = rng.permutation(graph.num_nodes)
    starts = order[np.argsort(around.degrees[order] == 0, kind="stable")]
    for start in starts.tolist():
        if left == 0:
            break
        if not taken[start]:
            left -= _take_ball(around, start, min(size, left), taken, rng)
    return np.flatnonzero(taken)


def _take_ball(
    graph: Graph, start: int, size: int, taken: NDArray[np.bool_], rng: np.random.Generator
) -> int:
    """Mark up to `size` more nodes around a node, nearest first; return how many."""
    num_new = 0 if taken[start] else min(1, size)
    taken[start] = True
    queue = [start]
    for node in queue:
        if num_new >= size:
            break
        neighbours = graph.neighbors(node)
        neighbours = neighbours[~taken[neighbours]]
        room = min(_BRANCHES, size - num_new)
        if len(neighbours) > room:
            neighbours = rng.choice(neighbours, room, replace=False)
        taken[neighbours] = True
        queue += neighbours.tolist()
        num_new += len(neighbours)
    return num_new


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
    """Draw an undirected graph: points `[num_nodes, 2]`, neighbours about one unit apart.

    Each component is drawn alone, and components are put side by side, the largest first. One that
    fits into the plane, as a grid or a tree does, is drawn by the spring layout of networkx. One
    that does not would become a ball of edges; there communities are drawn apart, each as a disc.
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
        sizes = np.bincount(component)
        for label in np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes > 1)]:
            members = np.flatnonzero(component == label)
            drawings.append((members, _place_component(adjacency[members][:, members])))
    lone = np.flatnonzero(sizes[component] == 1)
    if len(lone):
        drawings.append((lone, _place_lone(len(lone))))
    return _side_by_side(drawings, num_nodes)


def _place_lone(count: int) -> Points:
    """Put nodes without edges in rows of a block."""
    width = int(np.ceil(np.sqrt(1.6 * count)))
    return 1.5 * np.stack(np.divmod(np.arange(count), width)[::-1], axis=1).astype(np.float64)


def _place_component(adjacency: Any) -> Points:
    size = adjacency.shape[0]
    if size == 2:
        return np.array([[0.0, 0.0], [1.0, 0.0]])
    if is_tangled(adjacency):
        return _place_communities(adjacency)
    points = _place_by_springs(adjacency)
    entries = adjacency.tocoo()
    edges = points[entries.row] - points[entries.col]
    return _turn(points / np.median(np.hypot(edges[:, 0], edges[:, 1])), edges)


def is_tangled(adjacency: Any) -> bool:
    """Return whether a connected graph has no room in the plane, so that springs would ball it up.

    In a drawing with neighbours a unit apart, n nodes lie about sqrt(n) units apart, and so many
    hops must lie between them. Where nodes are much closer, edges must cross the whole drawing.
    """
    from scipy.sparse.csgraph import dijkstra

    size = adjacency.shape[0]
    if size < _FEWEST_FOR_DISCS:
        return False
    sources = np.linspace(0, size - 1, _SOURCES).astype(np.int64)
    hops = dijkstra(adjacency, indices=sources, unweighted=True)
    return bool(hops.mean() < _FLAT * np.sqrt(size))


def _place_by_springs(adjacency: Any) -> Points:
    """Start from two eigenvectors of the Laplacian; from random points, grids do not unfold."""
    import networkx as nx

    size = adjacency.shape[0]
    placed = nx.spring_layout(
        nx.from_scipy_sparse_array(adjacency),
        pos=dict(enumerate(_spectral_start(adjacency))),
        iterations=_STEPS if size < _LARGE else _STEPS_LARGE,
        method="force",
        scale=None,
        seed=0,
    )
    return np.array([placed[node] for node in range(size)])


# ---------------------------------------------------------------------- communities


def find_communities(edges: NDArray[np.int64], num_nodes: int) -> Nodes:
    """Return the community of each node by Louvain's method, the largest first."""
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(range(num_nodes))
    graph.add_edges_from(edges.tolist())
    parts = nx.community.louvain_communities(graph, seed=0)
    community = np.empty(num_nodes, dtype=np.int64)
    for code, part in enumerate(sorted(parts, key=lambda part: (-len(part), min(part)))):
        community[list(part)] = code
    return community


def _place_communities(adjacency: Any) -> Points:
    """Draw each community as a disc, and discs apart, those with many edges between them close."""
    entries = adjacency.tocoo()
    edges = np.stack([entries.row, entries.col], axis=1)
    community = find_communities(edges[edges[:, 0] < edges[:, 1]], adjacency.shape[0])
    sizes = np.bincount(community)
    radii = _DISC * np.sqrt(sizes)
    between = np.zeros((len(sizes), len(sizes)))
    np.add.at(between, (community[entries.row], community[entries.col]), 1.0)
    centres = _place_discs(between, radii)
    points = np.empty((adjacency.shape[0], 2))
    for code in range(len(sizes)):
        members = np.flatnonzero(community == code)
        within = adjacency[members][:, members]
        disc = _fill_disc(_place_by_springs(within) if len(members) > 2 else None, within)
        # Turn the disc so that nodes with edges to other discs face these.
        outside = (centres[community] - centres[code]) * (community != code)[:, None]
        pull = adjacency[members] @ outside
        turn = (disc[:, 0] - 1j * disc[:, 1]) @ (pull[:, 0] + 1j * pull[:, 1])
        turned = (disc[:, 0] + 1j * disc[:, 1]) * np.exp(1j * np.angle(turn))
        points[members] = centres[code] + radii[code] * np.stack([turned.real, turned.imag], axis=1)
    return points


def _fill_disc(points: Points | None, adjacency: Any) -> Points:
    """Spread points evenly over the unit disc: their angles and their order from the centre stay.

    Nodes with more edges come closer to the centre.
    """
    size = adjacency.shape[0]
    if points is None:
        return np.array([[0.0, 0.0]] if size == 1 else [[-0.7, 0.0], [0.7, 0.0]])
    degrees = np.diff(adjacency.indptr)
    centred = points - np.average(points, axis=0, weights=degrees + 1)
    distance = np.hypot(centred[:, 0], centred[:, 1])
    order = np.argsort(distance.argsort().argsort() / size - 0.3 * _ranks(degrees), kind="stable")
    radius = np.empty(size)
    radius[order] = np.sqrt((np.arange(size) + 0.5) / size)
    angle = np.arctan2(centred[:, 1], centred[:, 0])
    # Half of the way to angles that are evenly spread, so that no sector stays empty.
    even = _ranks(angle) * 2 * np.pi - np.pi
    angle = angle + 0.5 * (even - angle)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


def _ranks(values: NDArray[Any]) -> Points:
    """Return the place of each value in their order, from 0 to 1."""
    order = np.argsort(values, kind="stable")
    ranks = np.empty(len(values))
    ranks[order] = np.arange(len(values)) / max(1, len(values) - 1)
    return ranks


def _place_discs(between: NDArray[np.float64], radii: NDArray[np.float64]) -> Points:
    """Place discs without overlap; `between[i, j]` counts the edges between two of them."""
    import networkx as nx

    count = len(radii)
    if count == 1:
        return np.zeros((1, 2))
    share = between / np.sqrt(np.outer(radii, radii))
    np.fill_diagonal(share, 0)
    graph = nx.from_numpy_array(share / max(share.max(), 1e-12))
    placed = nx.spring_layout(graph, pos=nx.circular_layout(graph), iterations=200, seed=0)
    points = np.array([placed[node] for node in range(count)]) * radii.sum() / 2
    points[:, 0] *= 1.5  # screens are wider than high
    least = radii[:, None] + radii + 0.35 * np.minimum(radii[:, None], radii) + 1.5
    np.fill_diagonal(least, 0)
    for step in range(_DISC_STEPS):
        points = points * (0.97 if step < _DISC_STEPS // 2 else 1.0)  # first close up, then part
        apart = points[:, None] - points
        distance = np.hypot(apart[..., 0], apart[..., 1]) + 1e-9
        overlap = np.maximum(least - distance, 0)
        points = points + 0.5 * ((overlap / distance)[..., None] * apart).sum(axis=1)
    return np.asarray(points)


def _spectral_start(adjacency: Any) -> Points:
    """Return two coordinates per node that differ little along edges, each from -1 to 1.

    They are the eigenvectors of the normalised Laplacian after the constant one. networkx has them
    as well, but finds them by a search that starts at random and on a long path does not end.
    """
    from scipy.linalg import eigh
    from scipy.sparse.csgraph import laplacian
    from scipy.sparse.linalg import eigsh

    matrix, root_degrees = laplacian(adjacency, normed=True, return_diag=True)
    size = len(root_degrees)
    if size <= _DENSE:
        _, vectors = eigh(matrix.toarray(), subset_by_index=[1, 2])
    else:
        # Just below 0 the matrix can be inverted, and its smallest eigenvalues become the largest.
        begin = np.random.default_rng(0).normal(size=size)
        values, vectors = eigsh(matrix.tocsc(), k=3, sigma=-1e-5, v0=begin)
        vectors = vectors[:, np.argsort(values)[1:]]
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
