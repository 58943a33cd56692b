"""A node order in which neighbours are close, for kernels that sweep over all nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgnn.graph import Graph

_KEPT_ENTRIES = 1 << 20


def row_arrays(graph: Graph) -> tuple[NDArray[Any], ...]:
    """Row bounds and neighbours of the graph and of its reverse, as the kernels take them."""
    turned = graph.reversed()
    return (
        graph.indptr,
        graph.indices.view(np.uint32),
        turned.indptr,
        turned.indices.view(np.uint32),
    )


def relabelled(graph: Graph) -> tuple[NDArray[np.uint32], Graph]:
    """Put the nodes in Cuthill-McKee order: (where each node went, the graph so labelled).

    Neighbours within a row are not sorted. Training searches the same small graph thousands of
    times, so a small graph's order is kept as long as the graph lives.
    """
    kept: tuple[NDArray[np.uint32], Graph] | None = graph.__dict__.get("_relabelled")
    if kept is None:
        kept = _relabel(graph)
        if len(graph.indices) <= _KEPT_ENTRIES:
            object.__setattr__(graph, "_relabelled", kept)  # graphs are frozen
    return kept


def is_kept(graph: Graph) -> bool:
    """Return whether the graph's order is known from an earlier search."""
    return "_relabelled" in graph.__dict__


def _relabel(graph: Graph) -> tuple[NDArray[np.uint32], Graph]:
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    matrix = graph.to_scipy()
    order = reverse_cuthill_mckee(matrix, symmetric_mode=not graph.directed)
    places = np.empty(graph.num_nodes, dtype=np.int32)
    places[order] = np.arange(graph.num_nodes, dtype=np.int32)
    matrix = matrix[order]
    moved = replace(
        graph,
        indptr=matrix.indptr.astype(np.int64),
        indices=places[matrix.indices],
        weights=None if graph.weights is None else matrix.data,
        x=None,
        y=None,
    )
    return places.view(np.uint32), moved
