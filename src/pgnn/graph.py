"""Graph: the one currency type of pgnn, a frozen CSR value object validated at its door."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pgnn import _interop
from pgnn._check import as_edges, as_features, as_labels, as_node_ids, as_weights
from pgnn._csr import build_csr
from pgnn.errors import PGNNError

if TYPE_CHECKING:
    import networkx as nx
    import scipy.sparse as sp
    from torch_geometric.data import Data


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """A graph in compressed rows: v's neighbours are `indices[indptr[v]:indptr[v + 1]]`.

    Make one with `from_edges`, `from_networkx`, `from_scipy`, `from_pyg` or `pgnn.read_graph`; they
    validate. Neighbours are sorted. An undirected edge is stored in both rows. Self-loops and
    repeated edges were dropped (and counted), isolated nodes kept. The arrays are read-only.

    Attributes:
        indptr: Row bounds, int64 `[num_nodes + 1]`.
        indices: Neighbours (of a directed graph: the targets of v's edges), int32.
        weights: A positive number for each entry of `indices`, float64, or None. Searches read it
            as the length of the edge, random walks as its strength.
        directed: Whether an edge goes one way only.
        x: Node features, float32 `[num_nodes, num_features]`, or None.
        y: Node labels, int64 `[num_nodes]`, or None.
        classes: What the labels stand for, where they were not integers: `classes[y[v]]`.
        node_ids: The name each node had in its source (integers or strings).
        dropped_self_loops: How many self-loops the source had.
        dropped_repeats: How many edges of the source repeated an earlier one. Of repeated weighted
            edges the smallest weight is kept.

    Example:
        >>> g = Graph.from_edges([(0, 1), (1, 2), (2, 2)])
        >>> g
        Graph(num_nodes=3, num_edges=2)
        >>> g.neighbors(1).tolist(), g.dropped_self_loops
        ([0, 2], 1)
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.float64] | None
    directed: bool
    x: NDArray[np.float32] | None
    y: NDArray[np.int64] | None
    classes: NDArray[Any] | None
    node_ids: NDArray[Any]
    dropped_self_loops: int = 0
    dropped_repeats: int = 0

    def __post_init__(self) -> None:
        for array in (self.indptr, self.indices, self.weights, self.x, self.y, self.node_ids):
            if array is not None:
                array.setflags(write=False)

    # ------------------------------------------------------------------ constructors

    @classmethod
    def from_edges(
        cls,
        edges: ArrayLike,
        num_nodes: int | None = None,
        *,
        weights: ArrayLike | None = None,
        directed: bool = False,
        x: ArrayLike | None = None,
        y: ArrayLike | None = None,
        node_ids: ArrayLike | None = None,
    ) -> Graph:
        """Build a graph from pairs of node indices.

        Args:
            edges: Integer pairs, `[num_edges, 2]`.
            num_nodes: How many nodes there are; by default as many as `node_ids`, `x` or `y` has
                rows, else the largest index + 1.
            weights: A positive finite number an edge.
            directed: Whether (u, v) goes from u to v only.
            x: Features, a row a node.
            y: Labels, one a node: integers, or strings that become `classes`.
            node_ids: Names of the nodes, all different.

        Raises:
            PGNNError: For anything that is not such a graph, with what was got.

        Example:
            >>> Graph.from_edges([(0, 1), (0, 1)], num_nodes=4, weights=[2.0, 1.5])
            Graph(num_nodes=4, num_edges=1, weighted)
        """
        pairs = as_edges(edges)
        num_nodes = _resolve_num_nodes(pairs, num_nodes, node_ids, x, y)
        csr = build_csr(pairs, as_weights(weights, len(pairs)), num_nodes, directed)
        labels, classes = as_labels(y, num_nodes)
        return cls(
            indptr=csr.indptr,
            indices=csr.indices,
            weights=csr.weights,
            directed=bool(directed),
            x=as_features(x, num_nodes),
            y=labels,
            classes=classes,
            node_ids=as_node_ids(node_ids, num_nodes),
            dropped_self_loops=csr.self_loops,
            dropped_repeats=csr.repeats,
        )

    @classmethod
    def from_networkx(cls, graph: nx.Graph, *, weight: str | None = "weight") -> Graph:
        """Build a graph from a networkx graph; its nodes become `node_ids`.

        Edge attribute `weight` is used where every edge has it, node attributes `x` and `y` where
        every node has them. Multigraphs lose their repeated edges.

        Args:
            graph: Any networkx graph.
            weight: Name of the edge attribute, or None for an unweighted graph.

        Example:
            >>> import networkx as nx
            >>> Graph.from_networkx(nx.path_graph(["a", "b", "c"]))
            Graph(num_nodes=3, num_edges=2)
        """
        return cls.from_edges(**_interop.from_networkx(graph, weight))

    @classmethod
    def from_scipy(
        cls, matrix: sp.sparray, *, directed: bool | None = None, weighted: bool | None = None
    ) -> Graph:
        """Build a graph from a sparse adjacency matrix (row v holds the edges from v).

        Args:
            matrix: Square scipy.sparse matrix or array.
            directed: By default, whether the matrix differs from its transpose.
            weighted: Whether the entries are weights; by default, whether any of them is not 1.

        Example:
            >>> import scipy.sparse as sp
            >>> Graph.from_scipy(sp.coo_array([[0, 1], [0, 0]]))
            Graph(num_nodes=2, num_edges=1, directed)
        """
        return cls.from_edges(**_interop.from_scipy(matrix, directed, weighted))

    @classmethod
    def from_pyg(cls, data: Data, *, directed: bool | None = None) -> Graph:
        """Build a graph from a PyTorch Geometric `Data`.

        Reads `edge_index`, `edge_weight`, `x`, `y` (a label a node; a label of the whole graph is
        left out), `classes` and `node_ids`.

        Args:
            data: One homogeneous graph.
            directed: By default, whether `data.is_directed()`.
        """
        return cls.from_edges(**_interop.from_pyg(data, directed))

    @staticmethod
    def disjoint_union(graphs: Sequence[Graph]) -> Graph:
        """Put graphs side by side in one graph: the nodes of `graphs[0]` first, then `graphs[1]`'s.

        Node ids of the union are 0, 1, ...; features, labels and weights are kept if all have them.

        Example:
            >>> Graph.disjoint_union([Graph.from_edges([(0, 1)]), Graph.from_edges([(0, 1)])])
            Graph(num_nodes=4, num_edges=2)
        """
        return _interop.disjoint_union(graphs)

    # ------------------------------------------------------------------ exporters

    def to_networkx(self) -> nx.Graph:
        """Return a networkx `Graph` or `DiGraph` on `node_ids`; attributes `weight`, `x`, `y`."""
        return _interop.to_networkx(self)

    def to_scipy(self) -> sp.csr_array:
        """Return the adjacency matrix: the weights, or ones."""
        return _interop.to_scipy(self)

    def to_pyg(self) -> Data:
        """Return a PyTorch Geometric `Data` with edges in both directions if undirected."""
        return _interop.to_pyg(self)

    # ------------------------------------------------------------------ reading

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return len(self.indptr) - 1

    @property
    def num_edges(self) -> int:
        """Number of edges; an undirected edge counts once."""
        return len(self.indices) if self.directed else len(self.indices) // 2

    @property
    def degrees(self) -> NDArray[np.int64]:
        """Number of neighbours of each node (of a directed graph: of outgoing edges)."""
        return np.diff(self.indptr)

    def neighbors(self, node: int) -> NDArray[np.int32]:
        """Sorted neighbours of one node."""
        return self.indices[self.indptr[node] : self.indptr[node + 1]]

    def edges(self) -> NDArray[np.int32]:
        """Every edge once, int32 `[num_edges, 2]`, by source; undirected: source < target."""
        pairs = self._entries()
        return pairs if self.directed else pairs[pairs[:, 0] < pairs[:, 1]]

    def edge_weights(self) -> NDArray[np.float64] | None:
        """The weights in the order of `edges()`, or None."""
        if self.weights is None or self.directed:
            return self.weights
        pairs = self._entries()
        return self.weights[pairs[:, 0] < pairs[:, 1]]

    def reversed(self) -> Graph:
        """The graph with every edge turned round (itself if undirected)."""
        return _interop.reverse(self)

    def _entries(self) -> NDArray[np.int32]:
        """(row, column) of every stored entry, int32 `[len(indices), 2]`."""
        rows = np.repeat(np.arange(self.num_nodes, dtype=np.int32), self.degrees)
        return np.stack([rows, self.indices], axis=1)

    def __eq__(self, other: object) -> bool:
        """Whether both are the same graph with the same data (what was dropped does not matter)."""
        if not isinstance(other, Graph):
            return NotImplemented
        names = ("indptr", "indices", "weights", "x", "y", "classes", "node_ids")
        return self.directed == other.directed and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in names
        )

    def __hash__(self) -> int:
        return hash((self.num_nodes, self.num_edges, self.directed))

    def __repr__(self) -> str:
        parts = [f"num_nodes={self.num_nodes}", f"num_edges={self.num_edges}"]
        parts += ["directed"] * self.directed + ["weighted"] * (self.weights is not None)
        if self.x is not None:
            parts.append(f"num_features={self.x.shape[1]}")
        if self.y is not None:
            parts.append(f"num_classes={len(np.unique(self.y))}")
        return f"Graph({', '.join(parts)})"


def _resolve_num_nodes(
    pairs: NDArray[np.integer[Any]],
    num_nodes: int | None,
    node_ids: ArrayLike | None,
    x: ArrayLike | None,
    y: ArrayLike | None,
) -> int:
    """Decide the number of nodes and check that every index fits."""
    largest = int(pairs.max()) if pairs.size else -1
    if num_nodes is None:
        per_node = next((a for a in (node_ids, x, y) if a is not None), None)
        num_nodes = largest + 1 if per_node is None else len(np.asarray(per_node, dtype=object))
    elif isinstance(num_nodes, bool) or not isinstance(num_nodes, int | np.integer):
        raise PGNNError(f"num_nodes must be an integer (got {num_nodes!r})")
    if num_nodes < 1:
        raise PGNNError("the graph has no nodes; give edges, or num_nodes for nodes without edges")
    if num_nodes > np.iinfo(np.int32).max:
        raise PGNNError(f"at most {np.iinfo(np.int32).max} nodes are supported (got {num_nodes})")
    if pairs.size and (largest >= num_nodes or pairs.min() < 0):
        bad = int(np.flatnonzero(((pairs < 0) | (pairs >= num_nodes)).any(axis=1))[0])
        raise PGNNError(
            f"edges[{bad}] is ({pairs[bad, 0]}, {pairs[bad, 1]}), but node indices must lie in "
            f"0..{num_nodes - 1} (num_nodes={num_nodes})"
        )
    return int(num_nodes)
