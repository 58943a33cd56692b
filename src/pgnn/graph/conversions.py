"""Graphs of networkx, scipy.sparse and PyTorch Geometric, as arguments of `Graph.from_edges`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pgnn.errors import PGNNError

if TYPE_CHECKING:
    import networkx as nx
    import scipy.sparse as sp
    from torch_geometric.data import Data


def from_networkx(graph: nx.Graph, weight: str | None) -> dict[str, Any]:
    """Read nodes in their order, edges, and the attributes that all of them have."""
    nodes = list(graph.nodes)
    index = {node: position for position, node in enumerate(nodes)}
    pairs = np.fromiter(
        (index[node] for edge in graph.edges() for node in edge),
        dtype=np.int64,
        count=2 * graph.number_of_edges(),
    ).reshape(-1, 2)
    weights = None
    if weight is not None:
        weights = _attribute(
            [w for _, _, w in graph.edges(data=weight)], f"edge attribute {weight!r}"
        )
    return {
        "edges": pairs,
        "num_nodes": len(nodes),
        "weights": weights,
        "directed": graph.is_directed(),
        "x": _attribute([value for _, value in graph.nodes(data="x")], "node attribute 'x'"),
        "y": _attribute([value for _, value in graph.nodes(data="y")], "node attribute 'y'"),
        "node_ids": nodes,
    }


def _attribute(values: list[Any], name: str) -> list[Any] | None:
    """Return the values if all are there, None if none is."""
    missing = sum(value is None for value in values)
    if missing == len(values):
        return None
    if missing:
        raise PGNNError(
            f"{name} is missing on {missing} of {len(values)}; set it on all or on none"
        )
    return values


def from_scipy(matrix: sp.sparray, directed: bool | None, weighted: bool | None) -> dict[str, Any]:
    """Read the entries; decide from them what the caller left open."""
    import scipy.sparse as sp

    if not sp.issparse(matrix):
        raise PGNNError(f"from_scipy needs a scipy.sparse matrix (got {type(matrix).__name__})")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise PGNNError(f"an adjacency matrix must be square (got shape {matrix.shape})")
    if np.iscomplexobj(matrix):
        raise PGNNError("an adjacency matrix must be real (got complex numbers)")
    entries = matrix.tocoo()
    if directed is None:
        directed = (entries.tocsr() != entries.T.tocsr()).nnz > 0
    if weighted is None:
        weighted = bool((entries.data != 1).any())
    return {
        "edges": np.stack([entries.coords[0], entries.coords[1]], axis=1),
        "num_nodes": matrix.shape[0],
        "weights": entries.data if weighted else None,
        "directed": directed,
    }


def from_pyg(data: Data, directed: bool | None) -> dict[str, Any]:
    """Read the tensors of a Data."""
    if data.edge_index is None:
        raise PGNNError("data.edge_index is missing")
    y = data.y if data.y is not None and data.y.shape == (data.num_nodes,) else None
    weights = data.edge_weight if "edge_weight" in data else None
    if directed is None:
        from torch_geometric.utils import is_undirected

        directed = not is_undirected(data.edge_index, weights, data.num_nodes)
    ids = data.node_ids if "node_ids" in data else None
    labels = None if y is None else y.cpu().numpy()
    if labels is not None and "classes" in data:
        labels = np.array(data.classes)[labels]
    return {
        "edges": data.edge_index.cpu().numpy().T,
        "num_nodes": data.num_nodes,
        "weights": None if weights is None else weights.detach().cpu().numpy(),
        "directed": directed,
        "x": None if data.x is None else data.x.detach().cpu().numpy(),
        "y": labels,
        "node_ids": ids.cpu().numpy() if ids is not None and hasattr(ids, "cpu") else ids,
    }
