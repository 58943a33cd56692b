"""Sums over the neighbours of nodes as autograd functions that make no row for each edge."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.utils.weak import WeakIdKeyDictionary

from pgnn.errors import Parameter, PGNNError
from pgnn.nn.fused import as_array, as_tensor
from pgnn.nn.threads import run_parts

_NUMBERS_PER_PART = 1 << 18  # a thread for fewer products costs more than it saves


class Rows(NamedTuple):
    """The neighbours of node v: indices[indptr[v] : indptr[v + 1]]."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many neighbours each node has."""
        return np.diff(self.indptr)


class Neighbours(NamedTuple):
    """Who reads whom: the sources of edges into each node, and the targets of edges out of it."""

    sources: Rows
    targets: Rows


_kept: Any = WeakIdKeyDictionary()


def neighbours_of(edge_index: Tensor, num_nodes: int, *, loops: bool) -> Neighbours:
    """Return the neighbours that edges make; kept as long as the tensor lives and is not changed.

    Args:
        edge_index: Sources and targets, int64 `[2, e]`, on the CPU.
        num_nodes: Number of nodes.
        loops: Whether each node is its own neighbour, once; otherwise loops are taken as they are.

    Raises:
        PGNNError: If an edge names a node that is not there.
    """
    key = (num_nodes, loops)
    version = None if edge_index.is_inference() else edge_index._version
    changes, known = _kept.get(edge_index, (None, {}))
    if version is None or changes != version:
        known = {}
    if key not in known:
        known = {**known, key: _sorted_rows(edge_index.numpy(), num_nodes, loops)}
        _kept[edge_index] = (version, known)
    neighbours: Neighbours = known[key]
    return neighbours


def _sorted_rows(edges: NDArray[np.int64], num_nodes: int, loops: bool) -> Neighbours:
    if edges.size and not 0 <= edges.min() <= edges.max() < num_nodes:
        bad = edges.min() if edges.min() < 0 else edges.max()
        raise PGNNError(
            Parameter("edge_index"), f" names node {bad}, but there are nodes 0..{num_nodes - 1}"
        )
    if loops:
        edges = edges[:, edges[0] != edges[1]]
        edges = np.concatenate([edges, np.tile(np.arange(num_nodes), (2, 1))], axis=1)
    sides = []
    for ends, others in (edges[::-1], edges):
        order = np.argsort(ends, kind="stable")
        indptr = np.zeros(num_nodes + 1, dtype=np.int64)
        np.cumsum(np.bincount(ends, minlength=num_nodes), out=indptr[1:])
        sides.append(Rows(indptr, others[order].astype(np.int32)))
    return Neighbours(*sides)


def sum_neighbours(
    x: Tensor, neighbours: Neighbours, own: NDArray[Any], other: NDArray[Any]
) -> Tensor:
    """Return own_v * (sum over sources u of v of other_u * x_u), `[n, d]`.

    Args:
        x: Features `[n, d]`, float32 or float64 on the CPU.
        neighbours: Of n nodes.
        own: A factor of each node that reads, `[n]`, of the type of x.
        other: A factor of each node that is read.
    """
    result: Tensor = _Sum.apply(x, neighbours, own, other)  # type: ignore[no-untyped-call]
    return result


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, neighbours: Neighbours, own: Any, other: Any) -> Tensor:
        ctx.turned = (neighbours.targets, other, own)
        return _sums(neighbours.sources, own, other, x)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None, None]:
        targets, own, other = ctx.turned
        return _sums(targets, own, other, grad), None, None, None


def _sums(rows: Rows, own: Any, other: Any, x: Tensor) -> Tensor:
    from pgnn.nn.kernels.neighbours import sum_rows

    array = as_array(x)
    out = np.empty_like(array)
    bounds = _bounds(rows, array)
    run_parts(
        lambda part: sum_rows(*rows, own, other, array, out, *bounds[part : part + 2]),
        len(bounds) - 1,
    )
    return as_tensor(out)


def attend_neighbours(
    x: Tensor, neighbours: Neighbours, own: Tensor, other: Tensor, slope: float
) -> Tensor:
    """Return the sum over sources u of v of a_vu x_u, `[n, d]`.

    a_vu is the softmax over u of LeakyReLU(own_v + other_u).

    Args:
        x: Features `[n, d]`, float32 or float64 on the CPU.
        neighbours: Of n nodes, each of which has a source.
        own: What each node that reads adds, `[n]`.
        other: What each node that is read adds, `[n]`.
        slope: Of the LeakyReLU, below 0.
    """
    result: Tensor = _Attend.apply(x, own, other, neighbours, slope)  # type: ignore[no-untyped-call]
    return result


class _Attend(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, own: Tensor, other: Tensor, neighbours: Neighbours, slope: float
    ) -> Tensor:
        from pgnn.nn.kernels.neighbours import attend

        arrays = [as_array(tensor) for tensor in (own, other)]
        rows, features = neighbours.sources, as_array(x)
        out = np.empty_like(features)
        tops, totals = np.empty_like(arrays[0]), np.empty_like(arrays[0])
        given = (*rows, *arrays, features.dtype.type(slope), features, out, tops, totals)
        bounds = _bounds(rows, features)
        run_parts(lambda part: attend(*given, *bounds[part : part + 2]), len(bounds) - 1)
        result = as_tensor(out)
        ctx.save_for_backward(x, own, other, result)
        ctx.given, ctx.bounds = given, bounds
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
        from pgnn.nn.kernels.neighbours import attend_backward

        _ = ctx.saved_tensors  # raises if one was changed in place since
        bounds, features = ctx.bounds, ctx.given[5]
        grad_rows, parts = as_array(grad), len(bounds) - 1
        grad_own = np.empty(len(features), dtype=features.dtype)
        # Each part adds to arrays of its own, summed in order: the same every time.
        grad_other = np.zeros((parts, len(features)), dtype=features.dtype)
        grad_x = np.zeros((parts, *features.shape), dtype=features.dtype)

        def work(part: int) -> None:
            attend_backward(
                *(*ctx.given, grad_rows, grad_own, grad_other[part], grad_x[part]),
                *bounds[part : part + 2],
            )

        run_parts(work, parts)
        sums = (each[0] if parts == 1 else each.sum(0) for each in (grad_x, grad_other))
        of_x, of_other = (as_tensor(total) for total in sums)
        return of_x, as_tensor(grad_own), of_other, None, None


def _bounds(rows: Rows, x: Any) -> list[int]:
    """Cut the nodes into parts for threads, with about as many edges each."""
    num_edges = len(rows.indices)
    work = num_edges * x.shape[1] // _NUMBERS_PER_PART
    parts = max(1, min(torch.get_num_threads(), work))
    shares = [num_edges * part // parts for part in range(1, parts)]
    return [0, *np.searchsorted(rows.indptr, shares).tolist(), len(x)]
