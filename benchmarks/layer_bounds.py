"""What bounds the layer's kernels on this machine, and how close they come, on one thread.

Two bounds of a (node, set) pair with 32 channels, each measured here:

- arithmetic: the vector operations the formula cannot do without (a row of 32 floats is four AVX2
  vectors; forward: multiply-add, ReLU, sum, dot = 16; backward: 40), at the rate of multiply-adds
  that do nothing else;
- memory: reading the anchor's row (forward), or reading two and writing one (backward), in the
  order the kernel does, and nothing else.

Run: python benchmarks/layer_bounds.py, which writes results/layer_bounds.json
"""

from __future__ import annotations

from time import process_time
from typing import Any

import numpy as np
import torch
from numba import njit
from result_files import write_rows

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


def measure(nodes: int, repeats: int) -> dict[str, float]:
    """Return nanoseconds per pair: what the kernels take, and both bounds of each."""
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
        return 1e9 * best_time(call, repeats, clock=process_time) / pairs

    forward = per_pair(lambda: forward_rows(*arrays, z, h, 0, nodes))
    backward = per_pair(lambda: backward_rows(*arrays, z, h, grad_own, *sums, 0, nodes))
    count = 100_000
    multiply_adds(scratch, 1)
    operation = (
        1e9 * best_time(lambda: multiply_adds(scratch, count), 20, clock=process_time) / (8 * count)
    )
    read = per_pair(lambda: read_rows(anchor, flat, scratch))
    update = per_pair(lambda: update_rows(anchor, flat, scratch))
    row = {
        "nodes": nodes,
        "sets": distances.nearest.shape[1],
        "forward_ns": forward,
        "forward_arithmetic_ns": FORWARD_OPERATIONS * operation,
        "forward_memory_ns": read,
        "backward_ns": backward,
        "backward_arithmetic_ns": BACKWARD_OPERATIONS * operation,
        "backward_memory_ns": update,
    }
    print("   ".join(f"{name} {value:.4g}" for name, value in row.items()), flush=True)
    return row


if __name__ == "__main__":
    sizes = ((400, 300), (3_000, 50), (20_000, 30), (200_000, 6))
    write_rows("layer_bounds", [measure(*size) for size in sizes], threads=1)
