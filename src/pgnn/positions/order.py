"""A node order in which neighbours are close, for kernels that sweep over all nodes."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgnn.graph import Graph
from pgnn.positions.kernels.search import Rows

_KEPT_ENTRIES = 1 << 20  # orders of graphs with at most this many entries of `indices` are kept

# Training searches the same small graph thousands of times, so its order is kept, by the graph's id
# (graphs are compared by their arrays, which takes longer than a search), until the graph is gone.
_kept: dict[int, tuple[NDArray[np.uint32], Rows]] = {}


def row_arrays(graph: Graph) -> Rows:
    """Return the rows of the graph and of its reverse, as the kernels read them."""
    turned = graph.reversed()
    return (
        graph.indptr,
        graph.indices.view(np.uint32),
        turned.indptr,
        turned.indices.view(np.uint32),
    )


def relabelled(graph: Graph) -> tuple[NDArray[np.uint32], Rows]:
    """Put the nodes in Cuthill-McKee order.

    Returns:
        The new index of each node, and the rows of the graph with nodes so numbered; neighbours
        within a row are not sorted. A small graph's order is kept as long as the graph lives.
    """
    order = _kept.get(id(graph))
    if order is None:
        order = _relabel(graph)
        if len(graph.indices) <= _KEPT_ENTRIES:
            _kept[id(graph)] = order
            weakref.finalize(graph, _kept.pop, id(graph), None)
    return order


def is_kept(graph: Graph) -> bool:
    """Return whether the graph's order is known from an earlier search."""
    return id(graph) in _kept


def _relabel(graph: Graph) -> tuple[NDArray[np.uint32], Rows]:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    matrix = graph.to_scipy()
    order = reverse_cuthill_mckee(matrix, symmetric_mode=not graph.directed)
    places = np.empty(graph.num_nodes, dtype=np.int32)
    places[order] = np.arange(graph.num_nodes, dtype=np.int32)
    matrix = matrix[order]
    matrix = csr_array((matrix.data, places[matrix.indices], matrix.indptr), matrix.shape)
    turned = matrix.T.tocsr() if graph.directed else matrix
    return places.view(np.uint32), (*_row_arrays(matrix), *_row_arrays(turned))


def _row_arrays(matrix: Any) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32).view(np.uint32)
