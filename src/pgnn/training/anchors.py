"""RunAnchors: the anchor-sets of a run by node id: embeddings stay put when a graph grows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pgnn.checks import integer, one_of
from pgnn.errors import Parameter, PGNNError
from pgnn.graph import Graph
from pgnn.io import id_array
from pgnn.names import ANCHOR_CHOICES
from pgnn.positions.anchors import AnchorSets

Floats = NDArray[np.float32]

_NUM_EDGES = 256  # remembered, to tell a graph that grew from another with the same ids
_MOST = 0.5  # the least share of nodes and of remembered edges that a graph that grew still has


@dataclass(frozen=True, eq=False)
class PlacedAnchors:
    """The anchor-sets of a run on a graph.

    Attributes:
        sets: The sets; members that the graph has not are left out.
        known: Which nodes of the graph the run knew.
        redrawn: Whether each set had lost all its members and has one drawn anew, `[k]`.
        is_same_graph: Whether the graph is the run's, perhaps changed: it has most of the nodes
            and of the edges.
    """

    sets: AnchorSets
    known: NDArray[np.int64]
    redrawn: NDArray[np.bool_]
    is_same_graph: bool

    def measure(self, graph: Graph, rows_of: Callable[[Graph], Floats]) -> Floats:
        """Return one row per node; new nodes do not move those that the run knew.

        A node that the run knew is measured in the graph without the edges of new nodes, a new node
        in the whole graph.

        Args:
            graph: The graph that the sets were placed on.
            rows_of: Returns one row per node of a graph with these nodes.
        """
        is_new = np.ones(graph.num_nodes, dtype=bool)
        is_new[self.known] = False
        if not is_new.any():
            return rows_of(graph)
        is_kept = np.asarray(~is_new[graph.edges()].any(axis=1))
        rows = rows_of(graph.with_edges(is_kept))
        rows[is_new] = rows_of(graph)[is_new]
        return rows


@dataclass(frozen=True, eq=False)
class RunAnchors:
    """Anchor-sets of the nodes of the graph that a run was trained on.

    Attributes:
        node_ids: The id of each of its nodes, int64 or strings.
        sets: The sets, by rows of `node_ids`.
        edges: Some of its edges, int32 `[m, 2]`.
        mean: Mean over its nodes of each column of an embedding by positions alone, or None.
        scale: The standard deviation, or None.
    """

    node_ids: NDArray[Any]
    sets: AnchorSets
    edges: NDArray[np.int32]
    mean: Floats | None = None
    scale: Floats | None = None

    @classmethod
    def of(cls, graph: Graph, sets: AnchorSets) -> RunAnchors:
        """Keep the sets of a graph."""
        edges = graph.edges()
        some = np.linspace(0, len(edges) - 1, min(_NUM_EDGES, len(edges))).astype(np.int64)
        return cls(id_array(graph), sets, edges[some])

    def measured(self, columns: Floats) -> RunAnchors:
        """Keep mean and deviation of columns of this graph, `[n, k]`."""
        scale = np.maximum(columns.std(axis=0), 1e-6)
        return replace(self, mean=columns.mean(axis=0), scale=scale.astype(np.float32))

    def place(self, graph: Graph) -> PlacedAnchors:
        """Return the sets on a graph, whose nodes are found by their ids.

        A set that has lost all its members gets one node, the same one for the same graph.

        Raises:
            PGNNError: If the graph has none of the run's nodes.
        """
        rows = _rows_of(self.node_ids, id_array(graph))
        known = rows[rows >= 0]
        if not len(known):
            raise PGNNError(
                "the graph has none of the nodes that the run was trained on; use ",
                Parameter("anchors=fresh"),
            )
        members = rows[self.sets.nodes]
        numbers = np.repeat(np.arange(len(self.sets)), self.sets.sizes)
        there = members >= 0
        redrawn = np.bincount(numbers[there], minlength=len(self.sets)) == 0
        empty = np.flatnonzero(redrawn)
        drawn = np.random.default_rng(len(known)).integers(0, graph.num_nodes, len(empty))
        members = np.concatenate([members[there], drawn])
        numbers = np.concatenate([numbers[there], empty])
        order = np.lexsort((members, numbers))
        indptr = np.searchsorted(numbers[order], np.arange(len(self.sets) + 1))
        sets = AnchorSets(
            indptr.astype(np.int64),
            members[order].astype(np.int32),
            graph.num_nodes,
            self.sets.size_class,
        )
        has_nodes = len(known) >= _MOST * len(rows)
        return PlacedAnchors(sets, known, redrawn, has_nodes and self._has_edges(graph, rows))

    def _has_edges(self, graph: Graph, rows: NDArray[np.int64]) -> bool:
        """Return whether a graph has most of the remembered edges."""
        ends = rows[self.edges]
        ends = ends[(ends >= 0).all(axis=1)]
        count = sum(bool(np.isin(v, graph.neighbors(u))) for u, v in ends.tolist())
        return count >= _MOST * len(self.edges)

    def standardise(self, columns: Floats, placed: PlacedAnchors) -> Floats:
        """Standardise columns as those of the run's graph were.

        Where those were not measured, and for sets drawn anew, the nodes that the run knew count.
        """
        of_known = columns[placed.known]
        mean, scale = of_known.mean(axis=0), np.maximum(of_known.std(axis=0), 1e-6)
        if self.mean is not None and self.scale is not None:
            mean = np.where(placed.redrawn, mean, self.mean)
            scale = np.where(placed.redrawn, scale, self.scale)
        return np.asarray((columns - mean) / scale, dtype=np.float32)

    # ------------------------------------------------------------------ files

    def to_tensors(self) -> dict[str, Tensor]:
        """Return all of it as tensors under names that begin with "anchors."."""
        arrays: dict[str, NDArray[Any]] = {
            "bounds": self.sets.indptr,
            "nodes": self.sets.nodes,
            "size_class": self.sets.size_class,
            "edges": self.edges,
        }
        if self.node_ids.dtype == np.int64:
            arrays["ids"] = self.node_ids
        else:
            texts = [str(name).encode() for name in self.node_ids]
            arrays["id_bytes"] = np.frombuffer(b"".join(texts), dtype=np.uint8)
            arrays["id_ends"] = np.cumsum([len(text) for text in texts], dtype=np.int64)
        if self.mean is not None and self.scale is not None:
            arrays |= {"mean": self.mean, "scale": self.scale}
        return {f"anchors.{name}": torch.tensor(array) for name, array in arrays.items()}

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, Tensor], num_sets: int) -> RunAnchors | None:
        """Read what `to_tensors` gave; None if it is not among the tensors.

        Raises:
            ValueError: If the tensors do not fit each other.
            LookupError: If one is missing.
        """
        if "anchors.bounds" not in tensors:
            return None
        arrays = {
            name.removeprefix("anchors."): tensor.numpy()
            for name, tensor in tensors.items()
            if name.startswith("anchors.")
        }
        if "ids" in arrays:
            ids: NDArray[Any] = arrays["ids"]
        else:
            content, ends = arrays["id_bytes"].tobytes(), arrays["id_ends"].tolist()
            if ends != sorted(ends) or not ends or ends[-1] != len(content):
                raise ValueError("its ids are cut short")
            pieces = zip([0, *ends[:-1]], ends, strict=True)
            ids = np.array([content[start:stop].decode() for start, stop in pieces])
        sets = AnchorSets(arrays["bounds"], arrays["nodes"], len(ids), arrays["size_class"])
        edges = arrays["edges"]
        is_in = edges.ndim == 2 and edges.shape[1] == 2 and edges.dtype == np.int32
        if not is_in or (edges.size and not 0 <= edges.min() <= edges.max() < len(ids)):
            raise ValueError("its edges are not of its nodes")
        if ids.ndim != 1 or len(np.unique(ids)) < len(ids) or len(sets) != num_sets:
            raise ValueError("its anchors are not of its nodes, or not as many as its sets")
        mean, scale = arrays.get("mean"), arrays.get("scale")
        for array in (mean, scale):
            if array is not None and not (array.shape == (num_sets,) and np.isfinite(array).all()):
                raise ValueError("mean and deviation of its positions make no sense")
        if (mean is None) != (scale is None) or (scale is not None and (scale <= 0).any()):
            raise ValueError("mean and deviation of its positions make no sense")
        return cls(ids, sets, edges, mean, scale)


def place_anchors(
    kept: RunAnchors | None, graph: Graph, choice: str | None, draw: int
) -> PlacedAnchors | None:
    """Return the run's anchor-sets on a graph; None if fresh ones are to be drawn.

    Args:
        kept: The run's anchors, if it has any.
        graph: The graph to embed.
        choice: "run", "fresh", or None: the run's if the graph is the run's own, perhaps changed,
            and `draw` is 0.
        draw: Number of the draw; the run's anchors are draw 0.

    Raises:
        PGNNError: If the run's anchors are wanted and there are none.
    """
    draw = integer("draw", draw, at_least=0)
    if choice is not None:
        one_of("anchors", choice, ANCHOR_CHOICES)
    if choice == "fresh" or (choice is None and (kept is None or draw)):
        return None
    if kept is None:
        raise PGNNError(
            "the run keeps no anchors (its model has none, it was trained on several graphs, or an "
            "earlier version made it); leave out ", Parameter("anchors"),
        )  # fmt: skip
    if draw:
        raise PGNNError(
            Parameter("draw"), " decides which anchors are drawn; with the run's own, leave it out"
        )
    if choice == "run":
        return kept.place(graph)
    try:
        placed = kept.place(graph)
    except PGNNError:
        return None
    return placed if placed.is_same_graph else None


def _rows_of(wanted: NDArray[Any], names: NDArray[Any]) -> NDArray[np.int64]:
    """Return the row of each wanted name among distinct names, -1 where it is not."""
    if (wanted.dtype == np.int64) != (names.dtype == np.int64):
        wanted, names = wanted.astype(str), names.astype(str)  # a file with one name that is text
    order = np.argsort(names, kind="stable")
    places = np.minimum(np.searchsorted(names, wanted, sorter=order), len(names) - 1)
    rows = order[places]
    return np.where(names[rows] == wanted, rows, -1)
