"""Graph: the one currency type of pgnn, a frozen CSR value object validated at its door."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import pgnn.graph.conversions as conversions
from pgnn.checks import checked, fits_memory, integer, one_of, true_or_false
from pgnn.errors import Parameter, PGNNError
from pgnn.graph.arrays import (
    REPEATS,
    Repeats,
    as_edges,
    as_features,
    as_labels,
    as_node_ids,
    as_weights,
    build_csr,
    check_array,
    check_rows,
    check_symmetric,
    sealed,
    symmetric,
)
from pgnn.graph.columns import Column
from pgnn.graph.sides import Sides, sides_of_types

if TYPE_CHECKING:
    import networkx as nx
    import scipy.sparse as sp
    from torch_geometric.data import Data

_ARRAYS = ("indptr", "indices", "weights", "x", "y", "classes", "node_ids")


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """A graph in compressed rows: v's neighbours are `indices[indptr[v]:indptr[v + 1]]`.

    Make one with `from_edges`, `from_frame`, `from_networkx`, `from_scipy`, `from_pyg` or
    `pgnn.read_graph`; they validate. Neighbours are sorted. An undirected edge is stored in both
    rows. Self-loops and repeated edges were dropped (and counted), isolated nodes kept. The arrays
    are read-only, and checked however the graph was made, `dataclasses.replace` and pickle
    included, because kernels address memory by them.

    Attributes:
        indptr: Row bounds, int64 `[num_nodes + 1]`.
        indices: Neighbours (of a directed graph: the targets of v's edges), int32.
        weights: A positive number for each entry of `indices`, float64, or None. Searches read it
            as the length of the edge, random walks as its strength.
        directed: Whether an edge goes one way only.
        x: Node features, float32 `[num_nodes, num_features]`, or None.
        y: Node labels, int64 `[num_nodes]`, or None.
        classes: What the labels stand for, where they were not integers, or some are unknown:
            `classes[y[v]]`. With classes, a label of -1 is unknown.
        node_ids: The name each node had in its source (integers or strings).
        dropped_self_loops: How many self-loops the source had.
        dropped_repeats: How many edges of the source repeated an earlier one. What such an edge
            weighs was decided by `repeats` when the graph was made.
        sides: The two kinds of nodes that links are asked about, or None where any two nodes may
            be joined; see `with_sides`.

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
    sides: Sides | None = None

    def __post_init__(self) -> None:
        # Numbers of another width are what `from_edges` takes, too.
        for name, dtype in (("weights", np.float64), ("x", np.float32), ("y", np.int64)):
            array = getattr(self, name)
            kinds = "iu" if name == "y" else "iuf"
            if isinstance(array, np.ndarray) and array.dtype != dtype and array.dtype.kind in kinds:
                with np.errstate(over="ignore"):  # infinite then, which is refused
                    object.__setattr__(self, name, array.astype(dtype))
        check_rows(self.indptr, self.indices, self.weights)
        self._check_nodes()
        for name in _ARRAYS:
            array = getattr(self, name)
            if array is not None:
                object.__setattr__(self, name, sealed(array))
        if not self.directed:
            check_symmetric(self.indptr, self.indices)

    def _check_nodes(self) -> None:
        """Check what is known of each node; rows are checked already."""
        true_or_false("directed", self.directed)
        check_array("node_ids", self.node_ids)
        if self.x is not None:
            check_array("x", self.x, np.float32, ndim=2)
            if not np.isfinite(self.x).all():
                raise PGNNError("features ", Parameter("x"), " must be finite")
        if self.y is not None:
            check_array("y", self.y, np.int64)
        for name in ("node_ids", "x", "y"):
            array = getattr(self, name)
            if array is not None and len(array) != self.num_nodes:
                raise PGNNError(
                    Parameter(name),
                    f" must have one entry per node, [{self.num_nodes}] (got [{len(array)}])",
                )
        if self.sides is not None and not isinstance(self.sides, Sides):
            raise PGNNError(Parameter("sides"), " must be Sides; use with_sides")
        if self.sides is not None and len(self.sides.left) != self.num_nodes:
            raise PGNNError(Parameter("sides"), f" must have {self.num_nodes} nodes")
        if self.classes is not None:
            check_array("classes", self.classes)
            if self.y is None or not -1 <= self.y.min() <= self.y.max() < len(self.classes):
                raise PGNNError(Parameter("classes"), " must have an entry for every label")

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Check again what was pickled or copied: arrays come back writable."""
        for name, value in state.items():
            object.__setattr__(self, name, value)
        self.__post_init__()

    # ------------------------------------------------------------------ constructors

    @classmethod
    @checked
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
        repeats: Repeats = "shortest",
    ) -> Graph:
        """Build a graph from pairs of node indices.

        Args:
            edges: Integer pairs, `[num_edges, 2]`.
            num_nodes: How many nodes there are; by default as many as `node_ids`, `x` or `y` has
                rows, else the largest index + 1.
            weights: One positive finite number per edge.
            directed: Whether (u, v) goes from u to v only.
            x: Features, one row per node.
            y: Labels, one per node: integers, or strings that become `classes`. An unknown label is
                None, NaN or an empty string.
            node_ids: Names of the nodes, all different.
            repeats: What an edge weighs that is listed more than once (of an undirected graph, in
                either direction): "shortest", the smallest of its weights, which is right for
                lengths; or "sum", all of them together, which is right for strengths.

        Raises:
            PGNNError: For anything that is not such a graph, with what was got.

        Example:
            >>> Graph.from_edges([(0, 1), (0, 1)], num_nodes=4, weights=[2.0, 1.5])
            Graph(num_nodes=4, num_edges=1, weighted)
        """
        return build_graph(
            edges,
            num_nodes,
            weights=weights,
            directed=directed,
            x=x,
            y=y,
            node_ids=node_ids,
            repeats=repeats,
        )

    @classmethod
    @checked
    def from_frame(
        cls,
        frame: conversions.Frame,
        *,
        source: Column | None = None,
        target: Column | None = None,
        weight: Column | None = None,
        directed: bool = False,
        repeats: Repeats = "shortest",
    ) -> Graph:
        """Build a graph from a data frame of polars or pandas with one row per edge.

        Columns are chosen as `pgnn.read_graph` chooses them. Ids may be integers, strings or any
        other values, such as dates, and keep their type: integers are sorted, other ids stand in
        the order of the rows. (A column of integers beside one of strings is read as strings.)

        Args:
            frame: The frame; of another library, one that hands over Arrow columns.
            source: Column of the edges' first ids, by name or position. By default the columns of
                a known pair of names (`source, target`, `src, dst`, ...), else the first two.
            target: Column of the second ids; passed together with `source`.
            weight: Column of the weights. By default one named `weight`, if there is one; False
                ignores weights.
            directed: Whether edges go one way.
            repeats: As for `from_edges`.

        Raises:
            PGNNError: If a column does not exist, an id is missing, or a weight is not positive.

        Example:
            >>> import polars as pl
            >>> frame = pl.DataFrame({"buyer": ["ann", "bob"], "item": ["pen", "pen"]})
            >>> Graph.from_frame(frame).node_ids.tolist()
            ['ann', 'pen', 'bob']
        """
        parts = conversions.from_frame(frame, source, target, weight, directed)
        return cls.from_edges(**parts._asdict(), repeats=repeats)

    @classmethod
    @checked
    def from_networkx(
        cls, graph: nx.Graph, *, weight: str | None = "weight", repeats: Repeats = "shortest"
    ) -> Graph:
        """Build a graph from a networkx graph; its nodes become `node_ids`.

        Edge attribute `weight` is used where every edge has it, node attributes `x` and `y` where
        every node has them (a label may be missing on some). Repeated edges of a multigraph become
        one.

        Args:
            graph: Any networkx graph.
            weight: Name of the edge attribute, or None for an unweighted graph.
            repeats: As for `from_edges`.

        Example:
            >>> import networkx as nx
            >>> Graph.from_networkx(nx.path_graph(["a", "b", "c"]))
            Graph(num_nodes=3, num_edges=2)
        """
        return cls.from_edges(**conversions.from_networkx(graph, weight)._asdict(), repeats=repeats)

    @classmethod
    @checked
    def from_scipy(
        cls,
        matrix: sp.sparray,
        *,
        directed: bool | None = None,
        weighted: bool | None = None,
        repeats: Repeats = "shortest",
    ) -> Graph:
        """Build a graph from a sparse adjacency matrix (row v holds the edges from v).

        Args:
            matrix: Square scipy.sparse matrix or array.
            directed: By default, whether the matrix differs from its transpose.
            weighted: Whether the entries are weights; by default, whether any of them is not 1.
            repeats: As for `from_edges`, for repeated entries and, where an undirected graph is
                made of a matrix that is not symmetric, for (u, v) and (v, u). The two equal halves
                of a symmetric matrix are not repeats.

        Example:
            >>> import scipy.sparse as sp
            >>> Graph.from_scipy(sp.coo_array([[0, 1], [0, 0]]))
            Graph(num_nodes=2, num_edges=1, directed)
        """
        parts = conversions.from_scipy(matrix, directed, weighted)
        return cls.from_edges(**parts._asdict(), repeats=repeats)

    @classmethod
    @checked
    def from_pyg(
        cls, data: Data, *, directed: bool | None = None, repeats: Repeats = "shortest"
    ) -> Graph:
        """Build a graph from a PyTorch Geometric `Data`.

        Reads `edge_index`, `edge_weight`, `x`, `y` (one label per node; a label of the whole graph
        is left out), `classes` and `node_ids`.

        Args:
            data: One homogeneous graph.
            directed: By default, whether `data.is_directed()`.
            repeats: As for `from_edges`. The two entries of an undirected edge are not repeats.
        """
        return cls.from_edges(**conversions.from_pyg(data, directed)._asdict(), repeats=repeats)

    @staticmethod
    @checked
    def disjoint_union(graphs: Sequence[Graph]) -> Graph:
        """Put graphs side by side in one graph: the nodes of `graphs[0]` first, then `graphs[1]`'s.

        Node ids of the union are 0, 1, ...; features, labels and weights are kept if all have them.

        Example:
            >>> Graph.disjoint_union([Graph.from_edges([(0, 1)]), Graph.from_edges([(0, 1)])])
            Graph(num_nodes=4, num_edges=2)
        """
        if not graphs:
            raise PGNNError("a union needs at least one graph (got none)")
        if len({graph.directed for graph in graphs}) > 1:
            raise PGNNError("a union cannot mix directed and undirected graphs")
        shifts = np.cumsum([0] + [graph.num_nodes for graph in graphs])
        starts = np.cumsum([0] + [len(graph.indices) for graph in graphs])
        if shifts[-1] > np.iinfo(np.int32).max:
            raise PGNNError(
                f"at most {np.iinfo(np.int32).max} nodes are supported (got {shifts[-1]})"
            )

        def stacked(name: str) -> Any:
            arrays = [getattr(graph, name) for graph in graphs]
            return None if any(array is None for array in arrays) else np.concatenate(arrays)

        if len({None if graph.x is None else graph.x.shape[1] for graph in graphs} - {None}) > 1:
            raise PGNNError("a union needs graphs with equally many features")
        indices = [g.indices + np.int32(s) for g, s in zip(graphs, shifts, strict=False)]
        indptr = [g.indptr[1:] + s for g, s in zip(graphs, starts, strict=False)]
        joined = np.concatenate(indices)
        return Graph(
            indptr=np.concatenate([np.zeros(1, dtype=np.int64), *indptr]),
            indices=joined if graphs[0].directed else symmetric(joined),
            weights=stacked("weights"),
            directed=graphs[0].directed,
            x=stacked("x"),
            y=stacked("y") if all(graph.labelled.all() for graph in graphs) else None,
            classes=None,
            node_ids=np.arange(shifts[-1], dtype=np.int64),
            dropped_self_loops=sum(graph.dropped_self_loops for graph in graphs),
            dropped_repeats=sum(graph.dropped_repeats for graph in graphs),
            sides=_union_of_sides(graphs),
        )

    # ------------------------------------------------------------------ exporters

    def to_networkx(self) -> nx.Graph:
        """Return a networkx `Graph` or `DiGraph` on `node_ids`; attributes `weight`, `x`, `y`."""
        import networkx as nx

        result = nx.DiGraph() if self.directed else nx.Graph()
        names = self.node_ids.tolist()
        result.add_nodes_from(names)
        ends = [(names[u], names[v]) for u, v in self.edges().tolist()]
        weights = self.edge_weights()
        if weights is None:
            result.add_edges_from(ends)
        else:
            triples = ((u, v, w) for (u, v), w in zip(ends, weights.tolist(), strict=True))
            result.add_weighted_edges_from(triples)
        if self.x is not None:
            nx.set_node_attributes(result, dict(zip(names, self.x.tolist(), strict=True)), "x")
        if self.y is not None:
            labels = zip(names, self.labels(), strict=True)
            nx.set_node_attributes(result, {v: y for v, y in labels if y is not None}, "y")
        return result

    def to_scipy(self) -> sp.csr_array:
        """Return the adjacency matrix: the weights (float64), or ones (int8)."""
        import scipy.sparse as sp

        data = np.ones(len(self.indices), dtype=np.int8) if self.weights is None else self.weights
        shape = (self.num_nodes, self.num_nodes)
        return sp.csr_array((data.copy(), self.indices.copy(), self.indptr.copy()), shape=shape)

    def to_pyg(self) -> Data:
        """Return a PyTorch Geometric `Data` with edges in both directions if undirected."""
        import torch
        from torch_geometric.data import Data

        def tensor(array: NDArray[Any] | None) -> torch.Tensor | None:
            return None if array is None else torch.from_numpy(array.copy())

        data = Data(
            x=tensor(self.x),
            edge_index=tensor(self._entries().T.astype(np.int64)),
            y=tensor(self.y),
            num_nodes=self.num_nodes,
        )
        if self.weights is not None:
            data.edge_weight = tensor(self.weights)
        if self.classes is not None:
            data.classes = self.classes.tolist()
        if self.node_ids.dtype != np.int64:
            data.node_ids = self.node_ids.tolist()
        elif not np.array_equal(self.node_ids, np.arange(self.num_nodes)):
            data.node_ids = tensor(self.node_ids)
        return data

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

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """Whether the label of each node is known, `[num_nodes]`."""
        if self.y is None:
            return np.zeros(self.num_nodes, dtype=bool)
        return np.ones(self.num_nodes, dtype=bool) if self.classes is None else self.y >= 0

    @property
    def num_classes(self) -> int:
        """Number of different labels that are known."""
        return 0 if self.y is None else len(np.unique(self.y[self.labelled]))

    def labels(self) -> list[Any]:
        """Return the label of each node as its source has it, None where it is unknown.

        Example:
            >>> Graph.from_edges([(0, 1), (1, 2)], y=["a", "", "b"]).labels()
            ['a', None, 'b']
        """
        if self.y is None:
            return [None] * self.num_nodes
        if self.classes is None:
            return list(self.y.tolist())
        names = [*self.classes.tolist(), None]  # -1 is the last
        return [names[label] for label in self.y.tolist()]

    @checked
    def neighbors(self, node: int) -> NDArray[np.int32]:
        """Sorted neighbours of one node."""
        if integer("node", node, at_least=0) >= self.num_nodes:
            raise PGNNError(Parameter("node"), f" must lie in 0..{self.num_nodes - 1} (got {node})")
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
        if not self.directed:
            return self
        turned = self.to_scipy().T.tocsr()
        return replace(
            self,
            indptr=turned.indptr.astype(np.int64),
            indices=turned.indices.astype(np.int32),
            weights=None if self.weights is None else turned.data,
        )

    @checked
    def with_edges(self, kept: NDArray[np.integer] | NDArray[np.bool_]) -> Graph:
        """The graph with only these of its edges, named by their places in `edges()`.

        Args:
            kept: Places, or one truth value per edge.

        Raises:
            PGNNError: If it is neither.
        """
        weights = self.edge_weights()
        try:
            edges = self.edges()[kept].reshape(-1, 2)
        except (IndexError, TypeError, ValueError, RuntimeError) as error:
            raise PGNNError(
                Parameter("kept"), f" must be places of edges, or a truth value for each ({error})"
            ) from error
        rows = build_csr(
            edges,
            None if weights is None else weights[kept],
            self.num_nodes,
            self.directed,
        )
        indices = rows.indices if self.directed else symmetric(rows.indices)
        return replace(self, indptr=rows.indptr, indices=indices, weights=rows.weights)

    @checked
    def with_sides(self, types: ArrayLike, between: Sequence[str] | None = None) -> Graph:
        """The graph with two kinds of nodes: links are then asked about across them only.

        Args:
            types: The type of each node, words or numbers, `[num_nodes]`.
            between: The types of the left and of the right side; by default the two that there are.

        Raises:
            PGNNError: If there is not one type per node, or no such type.

        Example:
            >>> Graph.from_edges([(0, 1), (0, 2)]).with_sides(["c", "p", "p"]).sides
            Sides(c=1, p=2)
        """
        sides = sides_of_types(types, between)
        if len(sides.left) != self.num_nodes:
            raise PGNNError(
                Parameter("types"),
                f" must have one entry per node, [{self.num_nodes}] (got {len(sides.left)})",
            )
        return replace(self, sides=sides)

    @property
    def has_ordered_links(self) -> bool:
        """Whether a link from u to v is another one than from v to u.

        It is in a directed graph, unless it has two sides: then who points to whom is known.
        """
        return self.directed and (self.sides is None or self.sides.same)

    def links(self) -> NDArray[np.int64]:
        """The edges that links are asked about, int64 `[m, 2]`: all, or those across the sides.

        Of a graph with two sides the left node comes first, and each pair is there once.
        """
        edges = self.edges().astype(np.int64)
        if self.sides is None:
            return edges
        across = self.sides.left_first(edges[self.sides.contain(edges)])
        if self.directed and not self.sides.same:
            across = np.unique(across, axis=0).reshape(-1, 2)
        return across

    @property
    def num_free_pairs(self) -> int:
        """How many pairs that may be links are no edges; ordered ones if links are ordered."""
        n = self.num_nodes
        pairs = n * (n - 1) // 2 if self.sides is None else self.sides.num_pairs
        return pairs * (1 + self.has_ordered_links) - len(self.links())

    def _entries(self) -> NDArray[np.int32]:
        """(row, column) of every stored entry, int32 `[len(indices), 2]`."""
        rows = np.repeat(np.arange(self.num_nodes, dtype=np.int32), self.degrees)
        return np.stack([rows, self.indices], axis=1)

    def __eq__(self, other: object) -> bool:
        """Whether both are the same graph with the same data (what was dropped does not matter)."""
        if not isinstance(other, Graph):
            return NotImplemented
        same_kind = (self.directed, self.sides) == (other.directed, other.sides)
        return same_kind and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in _ARRAYS
        )

    def __hash__(self) -> int:
        return hash((self.num_nodes, self.num_edges, self.directed))

    def __repr__(self) -> str:
        parts = [f"num_nodes={self.num_nodes}", f"num_edges={self.num_edges}"]
        parts += ["directed"] * self.directed + ["weighted"] * (self.weights is not None)
        if self.x is not None:
            parts.append(f"num_features={self.x.shape[1]}")
        if self.y is not None:
            parts.append(f"num_classes={self.num_classes}")
        if self.sides is not None:
            parts.append(f"between={','.join(self.sides.names)}")
        return f"Graph({', '.join(parts)})"


def _union_of_sides(graphs: Sequence[Graph]) -> Sides | None:
    """Return the sides of a union: those of all its graphs, if they are called the same."""
    sides = [graph.sides for graph in graphs if graph.sides is not None]
    if len(sides) < len(graphs) or len({each.names for each in sides}) > 1:
        return None
    left, right = (np.concatenate([getattr(s, side) for s in sides]) for side in ("left", "right"))
    return Sides(left, right, sides[0].names)


def check_graph(graph: Any, parameter: str = "graph") -> None:
    """Refuse what is no Graph, with how to make one."""
    if not isinstance(graph, Graph):
        raise PGNNError(
            Parameter(parameter),
            f" must be a pgnn.Graph (got {type(graph).__name__}); make one with Graph.from_edges, "
            "from_networkx, from_scipy, from_pyg or pgnn.read_graph",
        )


def _length(per_node: Any) -> int:
    """Return how many nodes an argument with an entry per node says there are."""
    try:
        return len(per_node)
    except TypeError as error:
        raise PGNNError(f"node_ids, x and y must have an entry per node ({error})") from error


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
        num_nodes = largest + 1 if per_node is None else _length(per_node)
    else:
        num_nodes = integer("num_nodes", num_nodes, at_least=0)
    if num_nodes < 1:
        raise PGNNError(
            "the graph has no nodes; give ",
            Parameter("edges"),
            ", or ",
            Parameter("num_nodes"),
            " for nodes without edges",
        )
    if num_nodes > np.iinfo(np.int32).max:
        raise PGNNError(f"at most {np.iinfo(np.int32).max} nodes are supported (got {num_nodes})")
    fits_memory("num_nodes", num_nodes, 24 * num_nodes)
    if pairs.size and (largest >= num_nodes or pairs.min() < 0):
        bad = int(np.flatnonzero(((pairs < 0) | (pairs >= num_nodes)).any(axis=1))[0])
        raise PGNNError(
            Parameter("edges"),
            f"[{bad}] is ({pairs[bad, 0]}, {pairs[bad, 1]}), but node indices must lie in "
            f"0..{num_nodes - 1} (num_nodes={num_nodes})",
        )
    return num_nodes


def build_graph(
    edges: ArrayLike,
    num_nodes: int | None = None,
    *,
    weights: ArrayLike | None = None,
    directed: bool = False,
    x: ArrayLike | None = None,
    y: ArrayLike | None = None,
    node_ids: ArrayLike | None = None,
    repeats: Repeats = "shortest",
    overwrite: bool = False,
) -> Graph:
    """Do what `Graph.from_edges` does; with `overwrite`, in the memory of the edges if they fit."""
    one_of("repeats", repeats, REPEATS)
    directed = true_or_false("directed", directed)
    pairs = as_edges(edges)
    num_nodes = _resolve_num_nodes(pairs, num_nodes, node_ids, x, y)
    lengths = as_weights(weights, len(pairs))
    rows = build_csr(pairs, lengths, num_nodes, directed, repeats, overwrite=overwrite)
    labels, classes = as_labels(y, num_nodes)
    return Graph(
        indptr=rows.indptr,
        indices=rows.indices if directed else symmetric(rows.indices),
        weights=rows.weights,
        directed=directed,
        x=as_features(x, num_nodes),
        y=labels,
        classes=classes,
        node_ids=as_node_ids(node_ids, num_nodes),
        dropped_self_loops=rows.self_loops,
        dropped_repeats=rows.repeats,
    )
