"""What bounds the layer's kernels on this machine, and how close they come, on one thread.

Two bounds of a (node, set) pair with 32 channels, each measured here:

- arithmetic: the vector operations the formula cannot do without (a row of 32 floats is four AVX2
  vectors; forward: multiply-add, ReLU, sum, dot = 16; backward: 40), at the rate of multiply-adds
  that do nothing else;
- memory: reading the anchor's row (forward), or reading two and writing one (backward), in the
  order the kernel does, and nothing else.

Run: python benchmarks/layer_bounds.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numba import njit
from rich.console import Console
from rich.table import Table

from pgnn.bench.graphs import random_graph
from pgnn.bench.measure import best_time
from pgnn.nn.fused import Arrays, Inputs
from pgnn.nn.kernels.rows import backward_rows, forward_rows
from pgnn.nn.kernels.vector import add, at, load, multiply_add, prefetch, store
from pgnn.positions import anchor_distances
from pgnn.positions.anchors import sample_anchor_sets

CHANNELS = 32
FORWARD_OPERATIONS, BACKWARD_OPERATIONS = 16, 40


@njit(nogil=True)
def multiply_adds(rows: Any, count: int) -> None:
    """Do 8 * count multiply-adds of AVX2 vectors, in eight independent chains."""
    a, b = load(rows, 0, 0), load(rows, 1, 0)
    factor, term = load(rows, 2, 0), load(rows, 3, 0)
    for _ in range(count):
        a = multiply_add(a, factor, term)
        b = multiply_add(b, factor, term)
    store(rows, 0, 0, a)
    store(rows, 1, 0, b)


@njit(nogil=True)
def read_rows(anchor: Any, nearest: Any, out: Any) -> None:
    """Read the anchor row of every pair."""
    total = load(out, 0, 0)
    last = nearest.shape[0] * nearest.shape[1] - 1
    for j in range(last + 1):
        prefetch(anchor, at(nearest, 0, min(j + 12, last)), 0)
        total = add(total, load(anchor, at(nearest, 0, j), 0))
    store(out, 0, 0, total)


@njit(nogil=True)
def update_rows(anchor: Any, nearest: Any, out: Any) -> None:
    """Read the anchor row of every pair and add it to the same row of another array."""
    last = nearest.shape[0] * nearest.shape[1] - 1
    for j in range(last + 1):
        ahead = at(nearest, 0, min(j + 12, last))
        prefetch(anchor, ahead, 0)
        prefetch(out, ahead, 0)
        a = at(nearest, 0, j)
        store(out, a, 0, add(load(out, a, 0), load(anchor, a, 0)))


def measure(nodes: int, repeats: int) -> list[str]:
    """Return a row of the table."""
    graph = random_graph(nodes, 5 * nodes, rng=0)
    distances = anchor_distances(graph, sample_anchor_sets(nodes, rng=0))
    assert distances.hops is not None
    pairs = distances.nearest.size
    random = torch.Generator().manual_seed(0)
    table = 1 / torch.arange(1, int(distances.hops.max()) + 3, dtype=torch.float32)
    inputs = Inputs(
        torch.randn(nodes, 2 * CHANNELS, generator=random),
        None,
        table,
        torch.zeros(CHANNELS),
        torch.randn(CHANNELS, generator=random),
        torch.zeros(()),
        torch.from_numpy(distances.nearest.copy()),
        torch.from_numpy(distances.hops.copy()),
        first_code=-1,
        paper=False,
        scale=1.0,
    )
    arrays = Arrays.of(inputs).kernel
    z = np.ones(distances.nearest.shape, dtype=np.float32)
    h = np.ones((nodes, CHANNELS), dtype=np.float32)
    sums = [np.zeros((rows, CHANNELS), np.float32) for rows in (nodes + 1, len(table), 1, 1)]
    grad_own = np.empty((nodes, CHANNELS), dtype=np.float32)
    anchor, flat = np.ascontiguousarray(arrays[1]), np.maximum(distances.nearest, 0)
    scratch = np.zeros((nodes, CHANNELS), dtype=np.float32)

    def per_pair(call: Any) -> float:
        call()
        return 1e9 * best_time(call, repeats) / pairs

    forward = per_pair(lambda: forward_rows(*arrays, z, h, 0, nodes))
    backward = per_pair(lambda: backward_rows(*arrays, z, h, grad_own, *sums, 0, nodes))
    count = 100_000
    multiply_adds(scratch, 1)
    operation = 1e9 * best_time(lambda: multiply_adds(scratch, count), 20) / (8 * count)
    read = per_pair(lambda: read_rows(anchor, flat, scratch))
    update = per_pair(lambda: update_rows(anchor, flat, scratch))
    bounds = (
        (forward, FORWARD_OPERATIONS * operation, read),
        (backward, BACKWARD_OPERATIONS * operation, update),
    )
    cells = [f"{nodes:,}", f"{distances.nearest.shape[1]}"]
    for took, arithmetic, memory in bounds:
        cells += [f"{took:.1f}", f"{arithmetic:.1f}", f"{memory:.1f}"]
        cells += [f"{took / max(arithmetic, memory):.1f}x"]
    return cells


def main() -> None:
    """Measure three sizes and print the table."""
    table = Table(title="ns per (node, set) pair, one thread, 32 channels, float32")
    for name in ("nodes", "sets", "forward", "arith.", "memory", "ratio"):
        table.add_column(name, justify="right")
    for name in ("backward", "arith.", "memory", "ratio"):
        table.add_column(name, justify="right")
    for nodes, repeats in ((400, 300), (3_000, 50), (20_000, 10), (200_000, 3)):
        table.add_row(*measure(nodes, repeats))
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
