"""Graph to and from networkx, scipy.sparse and PyTorch Geometric.

The readers return keyword arguments of `Graph.from_edges`, which validates them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pgnn.errors import PGNNError

if TYPE_CHECKING:
    import networkx as nx
    import scipy.sparse as sp
    from torch_geometric.data import Data

    from pgnn.graph import Graph


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


def to_networkx(graph: Graph) -> nx.Graph:
    """Write nodes in order, edges, and attributes `weight`, `x`, `y`."""
    import networkx as nx

    result = nx.DiGraph() if graph.directed else nx.Graph()
    names = graph.node_ids.tolist()
    result.add_nodes_from(names)
    ends = [(names[u], names[v]) for u, v in graph.edges().tolist()]
    weights = graph.edge_weights()
    if weights is None:
        result.add_edges_from(ends)
    else:
        triples = ((u, v, w) for (u, v), w in zip(ends, weights.tolist(), strict=True))
        result.add_weighted_edges_from(triples)
    if graph.x is not None:
        nx.set_node_attributes(result, dict(zip(names, graph.x.tolist(), strict=True)), "x")
    if graph.y is not None:
        labels = graph.y if graph.classes is None else graph.classes[graph.y]
        nx.set_node_attributes(result, dict(zip(names, labels.tolist(), strict=True)), "y")
    return result


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


def to_scipy(graph: Graph) -> sp.csr_array:
    """Copy the rows into a csr_array of weights (float64) or ones (int8)."""
    import scipy.sparse as sp

    data = np.ones(len(graph.indices), dtype=np.int8) if graph.weights is None else graph.weights
    shape = (graph.num_nodes, graph.num_nodes)
    return sp.csr_array((data.copy(), graph.indices.copy(), graph.indptr.copy()), shape=shape)


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


def to_pyg(graph: Graph) -> Data:
    """Write a Data whose edge_index has an undirected edge both ways."""
    import torch
    from torch_geometric.data import Data

    def tensor(array: NDArray[Any] | None) -> torch.Tensor | None:
        return None if array is None else torch.from_numpy(array.copy())

    data = Data(
        x=tensor(graph.x),
        edge_index=tensor(graph._entries().T.astype(np.int64)),
        y=tensor(graph.y),
        num_nodes=graph.num_nodes,
    )
    if graph.weights is not None:
        data.edge_weight = tensor(graph.weights)
    if graph.classes is not None:
        data.classes = graph.classes.tolist()
    if graph.node_ids.dtype != np.int64:
        data.node_ids = graph.node_ids.tolist()
    elif not np.array_equal(graph.node_ids, np.arange(graph.num_nodes)):
        data.node_ids = tensor(graph.node_ids)
    return data


def disjoint_union(graphs: Sequence[Graph]) -> Graph:
    """Stack the rows of the graphs, shifting their indices."""
    from pgnn.graph import Graph

    if not graphs:
        raise PGNNError("a union needs at least one graph (got none)")
    if len({graph.directed for graph in graphs}) > 1:
        raise PGNNError("a union cannot mix directed and undirected graphs")
    shifts = np.cumsum([0] + [graph.num_nodes for graph in graphs])
    starts = np.cumsum([0] + [len(graph.indices) for graph in graphs])
    if shifts[-1] > np.iinfo(np.int32).max:
        raise PGNNError(f"at most {np.iinfo(np.int32).max} nodes are supported (got {shifts[-1]})")

    def stacked(name: str) -> Any:
        arrays = [getattr(graph, name) for graph in graphs]
        return None if any(array is None for array in arrays) else np.concatenate(arrays)

    if len({None if graph.x is None else graph.x.shape[1] for graph in graphs} - {None}) > 1:
        raise PGNNError("a union needs graphs with equally many features")
    indices = [g.indices + np.int32(s) for g, s in zip(graphs, shifts, strict=False)]
    indptr = [g.indptr[1:] + s for g, s in zip(graphs, starts, strict=False)]
    return Graph(
        indptr=np.concatenate([np.zeros(1, dtype=np.int64), *indptr]),
        indices=np.concatenate(indices),
        weights=stacked("weights"),
        directed=graphs[0].directed,
        x=stacked("x"),
        y=stacked("y"),
        classes=None,
        node_ids=np.arange(shifts[-1], dtype=np.int64),
        dropped_self_loops=sum(graph.dropped_self_loops for graph in graphs),
        dropped_repeats=sum(graph.dropped_repeats for graph in graphs),
    )


def reverse(graph: Graph) -> Graph:
    """Transpose the rows of a directed graph."""
    from dataclasses import replace

    if not graph.directed:
        return graph
    turned = to_scipy(graph).T.tocsr()
    return replace(
        graph,
        indptr=turned.indptr.astype(np.int64),
        indices=turned.indices.astype(np.int32),
        weights=None if graph.weights is None else turned.data,
    )
